//! From a challenge to the authorization server: the documents on the way, fetched in order and checked.

use mcprove_model::escape_line;
use mcprove_model::oauth::{
    Challenge, Document, LoginObstacle, LoginStep, ResourceMetadata, ServerMetadata, canonical_resource,
    check_endpoints, check_issuer, check_pkce, check_resource, is_exposed, resource_metadata_urls,
    server_metadata_urls, split_url,
};

use super::exchanges::Exchanges;

/// Everything a client needs to know to get a token.
#[derive(Clone, Debug)]
pub struct Discovered {
    /// The challenge that it began with.
    pub challenge: Option<Challenge>,
    /// The audience of tokens.
    pub resource: String,
    /// The metadata of the server.
    pub metadata: ResourceMetadata,
    /// The authorization server.
    pub issuer: String,
    /// Its metadata.
    pub server: ServerMetadata,
}

/// The wanted document.
#[derive(Clone, Debug)]
pub(super) struct Wanted<'w> {
    pub(super) server: &'w str,
    pub(super) challenge: Option<Challenge>,
    /// The status of a request without a token, if it was served.
    pub(super) opened: Option<u16>,
    /// The authorization server to choose among several.
    pub(super) issuer: Option<&'w str>,
    /// True if a person signs in, which takes PKCE and an authorization endpoint.
    pub(super) by_browser: bool,
}

/// Finds the authorization server of a server.
pub(super) async fn discover(exchanges: &Exchanges<'_>, wanted: Wanted<'_>) -> Result<Discovered, LoginObstacle> {
    let Wanted { server, challenge, opened, issuer, by_browser } = wanted;
    let named = challenge.as_ref().and_then(|challenge| challenge.parameter("resource_metadata"));
    if let Some(named) = named.filter(|named| is_exposed(named, server)) {
        let what = format!("`resource_metadata` in the challenge is `{}`, which is not encrypted", escape_line(named));
        return Err(LoginObstacle::new(LoginStep::ResourceMetadata, what, "serve the metadata over https"));
    }
    let urls = resource_metadata_urls(server, named);
    let (document, tried) = first_of(exchanges, &urls).await;
    let Some(document) = document else {
        if named.is_some() {
            let what = format!("the document that the challenge names is not there: {}", outcomes(&tried));
            let help = "serve the document of RFC 9728 at the URL of `resource_metadata`";
            return Err(LoginObstacle::new(LoginStep::ResourceMetadata, what, help));
        }
        return without_metadata(exchanges, server, (challenge, opened), &tried).await;
    };
    let metadata = ResourceMetadata::read(&document);
    check_resource(&metadata, server)?;
    let listed = &metadata.authorization_servers;
    let chosen = issuer.filter(|issuer| listed.iter().any(|one| one == issuer));
    let Some(chosen) = chosen.or_else(|| listed.first().map(String::as_str)) else {
        return Err(LoginObstacle::new(
            LoginStep::ResourceMetadata,
            "the metadata of the server lists no `authorization_servers`",
            "list the issuer of its tokens: `\"authorization_servers\": [\"https://…\"]`",
        ));
    };
    let urls = server_metadata_urls(chosen);
    if urls.is_empty() {
        let what = format!("`authorization_servers` lists `{}`, which is not a URL", escape_line(chosen));
        return Err(LoginObstacle::new(LoginStep::ResourceMetadata, what, "list the issuer: `https://…`"));
    }
    let (document, tried) = first_of(exchanges, &urls).await;
    let Some(document) = document else {
        let what = format!("no metadata of `{chosen}` was found: {}", outcomes(&tried));
        let help = "serve the document of RFC 8414 at the first of these URLs";
        return Err(LoginObstacle::new(LoginStep::ServerMetadata, what, help));
    };
    let found = ServerMetadata::read(&document);
    check_issuer(&found, chosen)?;
    check_server(&found, server, by_browser)?;
    let resource = metadata.resource.clone().unwrap_or_else(|| canonical_resource(server));
    Ok(Discovered { challenge, resource, issuer: chosen.to_owned(), metadata, server: found })
}

/// The way of 2025-03-26, when the server itself was the authorization server.
async fn without_metadata(
    exchanges: &Exchanges<'_>,
    server: &str,
    (challenge, opened): (Option<Challenge>, Option<u16>),
    tried: &[Document],
) -> Result<Discovered, LoginObstacle> {
    let Some((origin, _)) = split_url(server) else {
        return Err(LoginObstacle::new(LoginStep::Challenge, format!("`{server}` is not a URL"), "write `https://…`"));
    };
    let (document, _) = first_of(exchanges, &server_metadata_urls(&origin)).await;
    let found = match document {
        Some(document) => {
            let found = ServerMetadata::read(&document);
            let issuer = found.issuer.as_deref().unwrap_or_default();
            check_issuer(
                &ServerMetadata { issuer: Some(issuer.trim_end_matches('/').to_owned()), ..found.clone() },
                &origin,
            )?;
            found
        }
        None if challenge.is_none() => {
            if let Some(status) = opened {
                let what = format!("the server asks for no login: it serves requests without a token (HTTP {status})");
                let help = "use it without a login; if only some requests take one, let it publish its metadata";
                return Err(LoginObstacle::new(LoginStep::Challenge, what, help));
            }
            let what = format!("the server publishes no metadata: {}", outcomes(tried));
            let help = "serve the document of RFC 9728 at the first of these URLs, or log in another way";
            return Err(LoginObstacle::new(LoginStep::ResourceMetadata, what, help));
        }
        None => ServerMetadata::fallback(&origin),
    };
    let issuer = found.issuer.clone().unwrap_or(origin);
    let (metadata, resource) = (ResourceMetadata::default(), canonical_resource(server));
    Ok(Discovered { challenge, resource, metadata, issuer, server: found })
}

fn check_server(found: &ServerMetadata, server: &str, by_browser: bool) -> Result<(), LoginObstacle> {
    if !by_browser {
        return check_endpoints(found, server, &["token_endpoint"]);
    }
    check_endpoints(found, server, &["authorization_endpoint", "token_endpoint"])?;
    check_pkce(found)
}

/// The first document that is there, and all answers.
pub(super) async fn first_of(exchanges: &Exchanges<'_>, urls: &[String]) -> (Option<serde_json::Value>, Vec<Document>) {
    let mut tried = Vec::new();
    for url in urls {
        let document = exchanges.get(url, Vec::new()).await;
        let found = document.found().cloned();
        tried.push(document);
        if found.is_some() {
            return (found, tried);
        }
    }
    (None, tried)
}

/// The answers of all URLs, in one line.
pub(super) fn outcomes(tried: &[Document]) -> String {
    let outcome = |document: &Document| format!("{} ({})", document.url, document.answer());
    tried.iter().map(outcome).collect::<Vec<_>>().join(", ")
}
