//! The checks of a login, one row each, in the order in which a host meets them.
//!
//! Long because each has its function, and its break in the tests.

use mcprove_model::Severity::{self, Error, Warning};
use mcprove_model::oauth::LoginStep::{self, Access, Challenge, Registration, ResourceMetadata, ServerMetadata, Token};
use mcprove_model::oauth::{
    self, Document, ResourceMatch, bearer_challenge, check_endpoints, check_issuer, check_pkce, check_resource,
    is_exposed, is_loopback_url, match_resource, resource_metadata_urls, server_metadata_urls, split_url,
};
use mcprove_model::{escape_line, shorten};
use serde_json::Value;

use super::LoginCase;

/// A reason, and the fix.
type Fault = (String, String);

/// A check of a login.
#[derive(Debug)]
pub struct LoginCheck {
    /// Its id, which is also that of its finding.
    pub id: &'static str,
    /// The step at which a host notices.
    pub step: LoginStep,
    /// Its severity.
    pub severity: Severity,
    /// Finds the fault.
    pub run: fn(&LoginCase) -> Option<Fault>,
}

const fn row(
    id: &'static str,
    step: LoginStep,
    severity: Severity,
    run: fn(&LoginCase) -> Option<Fault>,
) -> LoginCheck {
    LoginCheck { id, step, severity, run }
}

/// All checks.
pub static LOGIN_CHECKS: &[LoginCheck] = &[
    row("login-unreachable", Challenge, Error, unreachable),
    row("login-redirected", Challenge, Error, redirected),
    row("login-forbidden", Challenge, Error, forbidden),
    row("login-page-instead-of-challenge", Challenge, Error, page_instead),
    row("login-server-not-encrypted", Challenge, Warning, server_not_encrypted),
    row("login-no-challenge", Challenge, Warning, no_challenge),
    row("login-other-scheme", Challenge, Error, other_scheme),
    row("login-unquoted-challenge", Challenge, Warning, unquoted),
    row("login-relative-metadata", Challenge, Error, relative),
    row("login-no-scope", Challenge, Warning, no_scope),
    row("login-resource-metadata-missing", ResourceMetadata, Error, resource_missing),
    row("login-resource-metadata-elsewhere", ResourceMetadata, Error, resource_elsewhere),
    row("login-metadata-not-encrypted", ResourceMetadata, Error, metadata_not_encrypted),
    row("login-resource-metadata-older", ResourceMetadata, Warning, resource_older),
    row("login-resource-metadata-guarded", ResourceMetadata, Error, resource_guarded),
    row("login-resource-metadata-not-json", ResourceMetadata, Error, resource_not_json),
    row("login-resource-mismatch", ResourceMetadata, Error, resource_mismatch),
    row("login-resource-parent", ResourceMetadata, Warning, resource_parent),
    row("login-no-authorization-server", ResourceMetadata, Error, no_authorization_server),
    row("login-query-token", ResourceMetadata, Error, query_token),
    row("login-server-metadata-missing", ServerMetadata, Error, server_missing),
    row("login-issuer-mismatch", ServerMetadata, Error, issuer_mismatch),
    row("login-endpoint-missing", ServerMetadata, Error, endpoint_missing),
    row("login-not-encrypted", ServerMetadata, Error, not_encrypted),
    row("login-no-pkce", ServerMetadata, Error, no_pkce),
    row("login-no-code-flow", ServerMetadata, Error, no_code_flow),
    row("login-no-keys", ServerMetadata, Warning, no_keys),
    row("login-registration-closed", Registration, Warning, registration_closed),
    row("login-key-unknown", Token, Error, key_unknown),
    row("login-token-audience", Token, Error, token_audience),
    row("login-token-other-audience", Token, Warning, token_other_audience),
    row("login-token-expired", Token, Error, token_expired),
    row("login-scope-not-granted", Token, Warning, scope_not_granted),
    row("login-token-refused", Access, Error, token_refused),
];

fn unreachable(case: &LoginCase) -> Option<Fault> {
    let error = case.found.first.error.as_ref()?;
    Some((format!("the server does not answer: {}", shown(error)), "start the server, or fix the URL".to_owned()))
}

fn redirected(case: &LoginCase) -> Option<Fault> {
    let first = &case.found.first;
    let status = first.status.filter(|status| (300..400).contains(status))?;
    let to = first.header("location").next().unwrap_or("nowhere");
    let path = |url: &str| split_url(url).map_or(url, |(_, path)| path).trim_end_matches('/').to_owned();
    if path(to) == path(&case.found.server) {
        let what = format!("a request is redirected to `{}` (HTTP {status}), which not all hosts follow", shown(to));
        return Some((what, "connect to the URL that it redirects to, or serve both without a redirect".to_owned()));
    }
    Some((
        format!(
            "a request without a token is redirected to `{}` (HTTP {status}), which hosts do not follow",
            shown(to)
        ),
        "answer with 401 and a `WWW-Authenticate` header; a page to log in is the authorization server's".to_owned(),
    ))
}

fn forbidden(case: &LoginCase) -> Option<Fault> {
    let first = &case.found.first;
    let status = first.status?;
    let error = first.json.as_ref().and_then(|json| json.get("error")).filter(|error| !error.is_null());
    let is_refusal = match status {
        403 => true,
        // Only a server that has a login to offer hides it behind another answer.
        _ if case.refused != Some(status) || resource_document(case).is_none() => false,
        200..300 => error.is_some(),
        404 => resource(case)
            .and_then(|metadata| metadata.resource)
            .is_some_and(|resource| match_resource(&resource, &case.found.server) == ResourceMatch::Same),
        401 => false,
        _ => status >= 400,
    };
    is_refusal.then(|| {
        let message = error.and_then(|error| error["message"].as_str()).filter(|_| status < 300);
        let message = message.map(|text| format!(" and the error `{}`", shown(text))).unwrap_or_default();
        let what = format!(
            "a request without a token is answered with HTTP {status}{message}; hosts begin a login on 401 alone"
        );
        (what, "answer with 401 and a `WWW-Authenticate` header".to_owned())
    })
}

fn page_instead(case: &LoginCase) -> Option<Fault> {
    let first = &case.found.first;
    let kind = first.header("content-type").next().filter(|_| first.status == Some(200))?;
    kind.trim_start().to_ascii_lowercase().starts_with("text/html").then(|| {
        let what = format!("a request without a token is answered with a page: HTTP 200, `{}`", shown(kind));
        (what, "answer with 401 and a `WWW-Authenticate` header, or fix the URL: it often ends in `/mcp`".to_owned())
    })
}

fn server_not_encrypted(case: &LoginCase) -> Option<Fault> {
    let server = &case.found.server;
    (server.starts_with("http://") && !is_loopback_url(server)).then(|| {
        let what = format!("`{}` is not encrypted: tokens can be read on the way", shown(server));
        (what, "serve it over https; hosts accept plain http on this machine alone".to_owned())
    })
}

fn challenge_of(case: &LoginCase) -> Option<oauth::Challenge> {
    bearer_challenge(case.found.first.header("www-authenticate"))
}

fn is_challenged(case: &LoginCase) -> bool {
    case.found.first.status == Some(401)
}

fn metadata_url(case: &LoginCase) -> String {
    resource_metadata_urls(&case.found.server, None).into_iter().next().unwrap_or_default()
}

fn no_challenge(case: &LoginCase) -> Option<Fault> {
    let is_bare = is_challenged(case) && case.found.first.header("www-authenticate").next().is_none();
    is_bare.then(|| {
        let what =
            "the answer 401 has no `WWW-Authenticate` header; hosts have to guess where the metadata is".to_owned();
        (what, format!("send `WWW-Authenticate: Bearer resource_metadata=\"{}\"`", metadata_url(case)))
    })
}

fn other_scheme(case: &LoginCase) -> Option<Fault> {
    let header = case.found.first.header("www-authenticate").next().filter(|_| is_challenged(case))?;
    if challenge_of(case).is_some() {
        return None;
    }
    let what = format!("the challenge is `{}`, not one for bearer tokens", shown(header));
    Some((what, format!("send `WWW-Authenticate: Bearer resource_metadata=\"{}\"`", metadata_url(case))))
}

fn unquoted(case: &LoginCase) -> Option<Fault> {
    let challenge = challenge_of(case)?;
    let name = challenge.unquoted.first()?;
    let value = shown(challenge.parameter(name).unwrap_or_default());
    let what = format!("`{name}` is not quoted in the challenge; strict hosts cannot read it");
    Some((what, format!("write `{name}=\"{value}\"`")))
}

fn relative(case: &LoginCase) -> Option<Fault> {
    let challenge = challenge_of(case)?;
    let named = challenge.parameter("resource_metadata").filter(|url| !url.contains("://"))?;
    let what = format!("`resource_metadata` in the challenge is `{}`, which is not a URL", shown(named));
    Some((what, format!("write the whole URL: `resource_metadata=\"{}\"`", metadata_url(case))))
}

fn no_scope(case: &LoginCase) -> Option<Fault> {
    let challenge = challenge_of(case).filter(|_| is_challenged(case))?;
    let is_listed = resource(case).is_some_and(|metadata| metadata.scopes_supported.is_some());
    (challenge.parameter("scope").is_none() && !is_listed).then(|| {
        let what = "neither the challenge nor the metadata names scopes; hosts ask for none, or for all".to_owned();
        (what, "add `scope=\"…\"` to the challenge, and `scopes_supported` to the metadata".to_owned())
    })
}

fn resource_document(case: &LoginCase) -> Option<&Value> {
    case.found.resource.iter().find_map(Document::found)
}

fn resource(case: &LoginCase) -> Option<oauth::ResourceMetadata> {
    resource_document(case).map(oauth::ResourceMetadata::read)
}

fn resource_missing(case: &LoginCase) -> Option<Fault> {
    let tried = &case.found.resource;
    let is_absent = |document: &Document| document.status.is_none_or(|status| !matches!(status, 200 | 401 | 403));
    if tried.is_empty() || !tried.iter().all(is_absent) || is_older(case) {
        return None;
    }
    let what = format!("no metadata of the server was found at {}", places(tried));
    // Nothing is missing where nothing answers.
    let help = if tried.iter().all(|document| document.status.is_none()) {
        "make these URLs reachable for clients, with a certificate that they trust".to_owned()
    } else {
        format!("serve the document of RFC 9728 at {}", metadata_url(case))
    };
    Some((what, help))
}

/// True for servers of 2025-03-26, which are their own authorization servers.
fn is_older(case: &LoginCase) -> bool {
    let is_absent = case.found.resource.iter().all(|document| document.status == Some(404));
    is_absent && named(case).is_none() && case.found.server_metadata.iter().any(|document| document.found().is_some())
}

fn resource_older(case: &LoginCase) -> Option<Fault> {
    is_older(case).then(|| {
        let what = format!(
            "no metadata of the server was found at {}; only hosts of 2025-03-26 look for an authorization server here",
            places(&case.found.resource)
        );
        (what, format!("serve the document of RFC 9728 at {}", metadata_url(case)))
    })
}

/// The URL of the metadata that the challenge names.
fn named(case: &LoginCase) -> Option<String> {
    challenge_of(case)?.parameter("resource_metadata").map(str::to_owned)
}

fn resource_elsewhere(case: &LoginCase) -> Option<Fault> {
    // A path is a fault of the challenge.
    let named = named(case).filter(|url| url.contains("://"))?;
    let found = case.found.resource.iter().find(|document| document.found().is_some())?;
    let missing = case.found.resource.iter().find(|document| document.url == named && document.found().is_none())?;
    let (at, place) = (shown(&named), shown(&found.url));
    let what = format!("the challenge names `{at}` as the metadata ({}), but it is at `{place}`", missing.answer());
    Some((what, format!("name the right URL in the challenge: `resource_metadata=\"{place}\"`")))
}

fn metadata_not_encrypted(case: &LoginCase) -> Option<Fault> {
    let named = named(case).filter(|named| is_exposed(named, &case.found.server))?;
    // Where it cannot be fetched, its URL is wrong in more than this.
    case.found.resource.iter().find(|document| document.url == named && document.found().is_some())?;
    let what = format!("`resource_metadata` in the challenge is `{}`, which is not encrypted", shown(&named));
    Some((what, "serve the metadata over https, and name that URL: others can change it on the way".to_owned()))
}

fn resource_guarded(case: &LoginCase) -> Option<Fault> {
    if resource_document(case).is_some() {
        return None;
    }
    let document = case.found.resource.iter().find(|document| matches!(document.status, Some(401 | 403)))?;
    let what = format!("{} wants a token itself (HTTP {})", shown(&document.url), document.status.unwrap_or_default());
    Some((what, "serve `/.well-known/` without a token: it is read before there is one".to_owned()))
}

fn resource_not_json(case: &LoginCase) -> Option<Fault> {
    if resource_document(case).is_some() {
        return None;
    }
    let document = case.found.resource.iter().find(|document| document.status == Some(200))?;
    let what = format!("{} answers with {}", shown(&document.url), document.answer());
    let help = match document.header("content-encoding").next() {
        Some(_) => "send plain bodies to clients that do not ask for another encoding",
        None => "serve the document of RFC 9728 there; a catch-all route for pages may be in its way",
    };
    Some((what, help.to_owned()))
}

fn resource_mismatch(case: &LoginCase) -> Option<Fault> {
    check_resource(&resource(case)?, &case.found.server).err().map(|obstacle| (obstacle.what, obstacle.help))
}

fn resource_parent(case: &LoginCase) -> Option<Fault> {
    let resource = resource(case)?.resource?;
    let server = &case.found.server;
    (match_resource(&resource, server) == ResourceMatch::Parent).then(|| {
        let what = format!("`resource` is `{}`, but you connect to `{}`", shown(&resource), shown(server));
        (what, format!("publish `\"resource\": \"{}\"`: strict hosts compare the two", shown(server)))
    })
}

fn no_authorization_server(case: &LoginCase) -> Option<Fault> {
    let listed = resource(case)?.authorization_servers;
    let Some(first) = listed.first() else {
        let given = &resource_document(case)?["authorization_servers"];
        let (what, wanted) = match given.as_str() {
            Some(text) => ("has a string as `authorization_servers`, not a list", shown(text)),
            None => ("lists no `authorization_servers`", "https://…".to_owned()),
        };
        let help = format!("list the issuer of its tokens: `\"authorization_servers\": [\"{wanted}\"]`");
        return Some((format!("the metadata of the server {what}"), help));
    };
    server_metadata_urls(first).is_empty().then(|| {
        let what = format!("`authorization_servers` lists `{}`, which is not a URL", shown(first));
        (what, "list the issuer as it is in its own metadata: `https://…`".to_owned())
    })
}

fn query_token(case: &LoginCase) -> Option<Fault> {
    let methods = resource(case)?.bearer_methods_supported?;
    let has = |name: &str| methods.iter().any(|method| method == name);
    (!has("header") && !methods.is_empty() || has("query")).then(|| {
        let what = format!(
            "`bearer_methods_supported` is [{}]; hosts send tokens in the header alone",
            shown(&methods.join(", "))
        );
        (what, "take tokens from the `Authorization` header: a token in a URL ends up in logs".to_owned())
    })
}

fn server_document(case: &LoginCase) -> Option<&Value> {
    case.found.server_metadata.iter().find_map(Document::found)
}

fn server(case: &LoginCase) -> Option<oauth::ServerMetadata> {
    server_document(case).map(oauth::ServerMetadata::read)
}

fn server_missing(case: &LoginCase) -> Option<Fault> {
    let issuer = case.found.issuer.as_ref().filter(|_| resource(case).is_some())?;
    if server_document(case).is_some() {
        return None;
    }
    let tried = &case.found.server_metadata;
    let place = server_metadata_urls(issuer).into_iter().next()?;
    let what = format!("no metadata of `{}` was found at {}", shown(issuer), places(tried));
    let is_unreachable = tried.iter().all(|document| document.status.is_none());
    let help = if let Some((base, _)) = issuer.split_once("/.well-known/") {
        format!("list the issuer, not the URL of its metadata: `\"authorization_servers\": [\"{}\"]`", shown(base))
    } else if is_unreachable {
        "fix the entry of `authorization_servers`, or make it reachable with a certificate that clients trust"
            .to_owned()
    } else {
        format!("serve the document of RFC 8414 at {}", shown(&place))
    };
    Some((what, help))
}

fn issuer_mismatch(case: &LoginCase) -> Option<Fault> {
    let issuer = case.found.issuer.as_ref().filter(|_| resource(case).is_some())?;
    check_issuer(&server(case)?, issuer).err().map(|obstacle| (obstacle.what, obstacle.help))
}

fn endpoint_missing(case: &LoginCase) -> Option<Fault> {
    let server = server(case)?;
    let endpoints =
        [("authorization_endpoint", &server.authorization_endpoint), ("token_endpoint", &server.token_endpoint)];
    let (name, _) = endpoints.into_iter().find(|(_, endpoint)| endpoint.is_none())?;
    let what = format!("the metadata of the authorization server has no `{name}`");
    Some((what, format!("publish `{name}`")))
}

fn not_encrypted(case: &LoginCase) -> Option<Fault> {
    let server = server(case)?;
    check_endpoints(&server, &case.found.server, &[]).err().map(|obstacle| (obstacle.what, obstacle.help))
}

fn no_pkce(case: &LoginCase) -> Option<Fault> {
    check_pkce(&server(case)?).err().map(|obstacle| (obstacle.what, obstacle.help))
}

fn no_code_flow(case: &LoginCase) -> Option<Fault> {
    let server = server(case)?;
    let grants = server.grant_types.unwrap_or_default();
    if !grants.is_empty() && !grants.iter().any(|one| one == "authorization_code") {
        let what = format!("`grant_types_supported` is [{}], without `authorization_code`", shown(&grants.join(", ")));
        return Some((what, "support the authorization code flow: people sign in with it".to_owned()));
    }
    let Some(types) = server.response_types else {
        let help = "publish `\"response_types_supported\": [\"code\"]`: RFC 8414 requires it, and some hosts insist";
        return Some(("`response_types_supported` is missing".to_owned(), help.to_owned()));
    };
    (!types.iter().any(|one| one == "code")).then(|| {
        let what = format!("`response_types_supported` is [{}], without `code`", shown(&types.join(", ")));
        (what, "support the authorization code flow, and publish `\"response_types_supported\": [\"code\"]`".to_owned())
    })
}

fn no_keys(case: &LoginCase) -> Option<Fault> {
    let keys = case.found.keys.as_ref()?;
    let has_keys = keys.found().is_some_and(|body| body["keys"].as_array().is_some_and(|all| !all.is_empty()));
    (!has_keys).then(|| {
        let what = format!("no keys are at `jwks_uri`: {}", places(std::slice::from_ref(keys)));
        (what, "serve the keys that tokens are signed with; servers cannot check tokens without them".to_owned())
    })
}

fn registration_closed(case: &LoginCase) -> Option<Fault> {
    let server = server(case)?;
    (server.registration_endpoint.is_none() && !server.takes_client_documents).then(|| {
        let what =
            "clients cannot register: no `registration_endpoint`, and no client id metadata documents".to_owned();
        let help =
            "allow one of the two, or give your users a client id: `mcprove login URL --client-id ID`".to_owned();
        (what, help)
    })
}

fn key_unknown(case: &LoginCase) -> Option<Fault> {
    let key = case.token.as_ref()?.key.as_ref()?;
    let keys = case.found.keys.as_ref()?.found()?["keys"].as_array()?;
    (!keys.iter().any(|known| known["kid"] == key.as_str())).then(|| {
        let what = format!("the token is signed with the key `{}`, which is not at `jwks_uri`", shown(key));
        (what, "publish a key before tokens are signed with it, and keep it until the last of them expires".to_owned())
    })
}

fn token_audience(case: &LoginCase) -> Option<Fault> {
    let what = other_audience(case).filter(|_| !is_taken(case))?;
    Some((what, "let the authorization server put the `resource` parameter into `aud` (RFC 8707)".to_owned()))
}

fn token_other_audience(case: &LoginCase) -> Option<Fault> {
    let what = other_audience(case).filter(|_| is_taken(case))?;
    let help = "if the server does not know itself by this name, let it refuse such tokens";
    Some((format!("{what}, and the server takes it"), help.to_owned()))
}

fn is_taken(case: &LoginCase) -> bool {
    case.token.as_ref().is_some_and(|token| token.status == Some(200))
}

fn other_audience(case: &LoginCase) -> Option<String> {
    let claims = case.token.as_ref()?.claims.as_ref()?;
    let wanted = resource(case).and_then(|metadata| metadata.resource).unwrap_or_else(|| case.found.server.clone());
    let audiences: Vec<&str> = match claims.get("aud")? {
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    };
    let is_meant = |audience: &&str| {
        audience.trim_end_matches('/') == wanted.trim_end_matches('/')
            || match_resource(audience, &wanted) == ResourceMatch::Same
    };
    (!audiences.is_empty() && !audiences.iter().any(is_meant))
        .then(|| format!("the token is for `{}`, not for `{}`", shown(&audiences.join(", ")), shown(&wanted)))
}

fn token_expired(case: &LoginCase) -> Option<Fault> {
    let claims = case.token.as_ref()?.claims.as_ref()?;
    let at = claims.get("exp")?.as_i64().filter(|at| *at <= case.now)?;
    let what = format!("the token expired {} s ago", case.now - at);
    Some((what, "log in again; if it is new, compare the clocks and the lifetime of tokens".to_owned()))
}

fn scope_not_granted(case: &LoginCase) -> Option<Fault> {
    let token = case.token.as_ref()?;
    let missing: Vec<&str> =
        token.asked.iter().filter(|scope| !token.granted.contains(scope)).map(String::as_str).collect();
    let missing: Vec<&str> = missing.into_iter().filter(|scope| *scope != "offline_access").collect();
    (!missing.is_empty()).then(|| {
        let what = format!("the scopes {} were asked for and not granted", shown(&missing.join(" ")));
        (what, "allow these scopes for the client and the person, or do not ask for them".to_owned())
    })
}

fn token_refused(case: &LoginCase) -> Option<Fault> {
    let status = case.token.as_ref()?.status.filter(|status| matches!(status, 401 | 403))?;
    let what = format!("the server refuses the token (HTTP {status})");
    let help = match status {
        403 => "grant the scopes that the server asks for, and name them in its challenge",
        _ => "compare the issuer, the audience and the keys that the server expects with those of the token",
    };
    Some((what, help.to_owned()))
}

/// Places, and what was answered there.
fn places(tried: &[Document]) -> String {
    let place = |document: &Document| format!("{} ({})", shown(&document.url), document.answer());
    tried.iter().map(place).collect::<Vec<_>>().join(", ")
}

fn shown(text: &str) -> String {
    shorten(&escape_line(text), 200).into_owned()
}

#[cfg(test)]
mod tests {
    use mcprove_model::oauth::LoginDiscovery;
    use serde_json::json;

    use super::*;
    use crate::login::{TokenFacts, diagnose_login};

    const SERVER: &str = "https://x.example/mcp";
    const METADATA: &str = "https://x.example/.well-known/oauth-protected-resource/mcp";

    fn document(url: &str, status: u16, json: Option<Value>) -> Document {
        Document { url: url.to_owned(), status: Some(status), json, ..Document::default() }
    }

    /// A login that works.
    fn good() -> LoginCase {
        let challenge = format!("Bearer resource_metadata=\"{METADATA}\", scope=\"a\"");
        let headers = vec![("www-authenticate".to_owned(), challenge)];
        let first = Document { headers, ..document(SERVER, 401, None) };
        let resource = json!({"resource": SERVER, "authorization_servers": ["https://as.example"],
            "bearer_methods_supported": ["header"]});
        let server = json!({"issuer": "https://as.example", "authorization_endpoint": "https://as.example/authorize",
            "token_endpoint": "https://as.example/token", "registration_endpoint": "https://as.example/register",
            "code_challenge_methods_supported": ["S256"], "response_types_supported": ["code"]});
        let found = LoginDiscovery {
            server: SERVER.to_owned(),
            first,
            resource: vec![document(METADATA, 200, Some(resource))],
            issuer: Some("https://as.example".to_owned()),
            server_metadata: vec![document(
                "https://as.example/.well-known/oauth-authorization-server",
                200,
                Some(server),
            )],
            keys: Some(document("https://as.example/keys", 200, Some(json!({"keys": [{"kid": "k"}]})))),
            ..LoginDiscovery::default()
        };
        let token = TokenFacts {
            claims: Some(json!({"aud": SERVER, "exp": 100})),
            asked: vec!["a".to_owned()],
            granted: vec!["a".to_owned()],
            status: Some(200),
            key: Some("k".to_owned()),
        };
        LoginCase { found, refused: None, token: Some(token), now: 50 }
    }

    fn challenge(case: &mut LoginCase, text: &str) {
        case.found.first.headers = vec![("www-authenticate".to_owned(), text.to_owned())];
    }

    fn set(document: &mut Document, key: &str, value: Value) {
        if let Some(json) = &mut document.json {
            json[key] = value;
        }
    }

    fn server_field(case: &mut LoginCase, key: &str, value: Value) {
        set(&mut case.found.server_metadata[0], key, value);
    }

    fn resource_field(case: &mut LoginCase, key: &str, value: Value) {
        set(&mut case.found.resource[0], key, value);
    }

    fn token(case: &mut LoginCase) -> &mut TokenFacts {
        case.token.as_mut().expect("a token")
    }

    /// One break for each check, and nothing else that it sets off.
    #[expect(clippy::type_complexity, reason = "a table of names and changes")]
    const BREAKS: &[(&str, fn(&mut LoginCase))] = &[
        ("login-unreachable", |case| {
            *case = LoginCase::default();
            case.found.first.error = Some("the connection was refused".to_owned());
        }),
        ("login-redirected", |case| case.found.first = document(SERVER, 302, None)),
        ("login-forbidden", |case| case.found.first = document(SERVER, 403, None)),
        ("login-page-instead-of-challenge", |case| {
            let headers = vec![("content-type".to_owned(), "Text/HTML; charset=utf-8".to_owned())];
            case.found.first = Document { headers, ..document(SERVER, 200, None) };
        }),
        ("login-server-not-encrypted", |case| {
            case.found.server = "http://x.example/mcp".to_owned();
            resource_field(case, "resource", json!("http://x.example/mcp"));
            token(case).claims = None;
        }),
        ("login-no-challenge", |case| case.found.first.headers.clear()),
        ("login-other-scheme", |case| challenge(case, "Basic realm=\"x\"")),
        ("login-unquoted-challenge", |case| challenge(case, "Bearer scope=a, resource_metadata=https://x.example/y")),
        ("login-relative-metadata", |case| challenge(case, "Bearer scope=\"a\", resource_metadata=\"/y\"")),
        ("login-no-scope", |case| challenge(case, "Bearer resource_metadata=\"https://x.example/y\"")),
        ("login-resource-metadata-missing", |case| {
            case.found.resource = vec![document(METADATA, 404, None)];
            case.found.server_metadata.clear();
        }),
        ("login-resource-metadata-elsewhere", |case| {
            challenge(case, "Bearer scope=\"a\", resource_metadata=\"https://x.example/y\"");
            case.found.resource.insert(0, document("https://x.example/y", 404, None));
        }),
        ("login-metadata-not-encrypted", |case| {
            challenge(case, "Bearer scope=\"a\", resource_metadata=\"http://x.example/y\"");
            case.found.resource[0].url = "http://x.example/y".to_owned();
        }),
        ("login-resource-metadata-older", |case| {
            challenge(case, "Bearer scope=\"a\"");
            case.found.resource = vec![document(METADATA, 404, None)];
        }),
        ("login-resource-metadata-guarded", |case| case.found.resource = vec![document(METADATA, 401, None)]),
        ("login-resource-metadata-not-json", |case| case.found.resource = vec![document(METADATA, 200, None)]),
        ("login-resource-mismatch", |case| {
            resource_field(case, "resource", json!("https://y.example"));
            token(case).claims = None;
        }),
        ("login-resource-parent", |case| {
            resource_field(case, "resource", json!("https://x.example"));
            token(case).claims = None;
        }),
        ("login-no-authorization-server", |case| resource_field(case, "authorization_servers", json!([]))),
        ("login-query-token", |case| resource_field(case, "bearer_methods_supported", json!(["query"]))),
        ("login-server-metadata-missing", |case| {
            case.found.server_metadata = vec![document("https://as.example/a", 404, None)];
        }),
        ("login-issuer-mismatch", |case| server_field(case, "issuer", json!("https://as.example/"))),
        ("login-endpoint-missing", |case| server_field(case, "token_endpoint", Value::Null)),
        ("login-not-encrypted", |case| server_field(case, "token_endpoint", json!("http://as.example/token"))),
        ("login-no-pkce", |case| server_field(case, "code_challenge_methods_supported", Value::Null)),
        ("login-no-code-flow", |case| server_field(case, "response_types_supported", json!(["token"]))),
        ("login-no-keys", |case| case.found.keys = Some(document("https://as.example/keys", 404, None))),
        ("login-registration-closed", |case| server_field(case, "registration_endpoint", Value::Null)),
        ("login-key-unknown", |case| token(case).key = Some("other".to_owned())),
        ("login-token-audience", |case| {
            token(case).claims = Some(json!({"aud": ["https://other.example"]}));
            token(case).status = None;
        }),
        ("login-token-other-audience", |case| token(case).claims = Some(json!({"aud": "api://other"}))),
        ("login-token-expired", |case| case.now = 200),
        ("login-scope-not-granted", |case| token(case).granted.clear()),
        ("login-token-refused", |case| token(case).status = Some(401)),
    ];

    /// Answers that hide a login, and the same answers of servers that have none.
    #[test]
    fn only_servers_with_a_login_are_blamed_for_other_answers_than_401() {
        let error = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "Unauthorized"}});
        for (status, body) in [(400, None), (404, None), (407, None), (500, None), (200, Some(error))] {
            let mut case = LoginCase { refused: Some(status), token: None, ..good() };
            case.found.first = document(SERVER, status, body);
            let faults = |case: &LoginCase| diagnose_login(case).iter().map(|fault| fault.id).collect::<Vec<_>>();
            assert_eq!(faults(&case), ["login-forbidden"], "{status}");
            // A session was refused in another way, for example on the older transport.
            let other = LoginCase { refused: Some(401), ..case.clone() };
            assert!(!faults(&other).contains(&"login-forbidden"), "{status}");
            case.found.resource = vec![document(METADATA, 404, None)];
            assert!(!faults(&case).contains(&"login-forbidden"), "{status}");
        }
        // The path is wrong.
        let mut case = LoginCase { refused: Some(404), token: None, ..good() };
        case.found.first = document(SERVER, 404, None);
        case.found.server = "https://x.example/mpc".to_owned();
        assert_eq!(diagnose_login(&case).iter().map(|fault| fault.id).collect::<Vec<_>>(), ["login-resource-mismatch"]);
        // A result is not an error.
        let mut case = LoginCase { refused: Some(200), token: None, ..good() };
        case.found.first = document(SERVER, 200, Some(json!({"jsonrpc": "2.0", "id": 1, "result": {}})));
        assert_eq!(diagnose_login(&case), Vec::new());
    }

    #[test]
    fn each_check_finds_its_fault_and_no_other_does() {
        assert_eq!(diagnose_login(&good()), Vec::new());
        for check in LOGIN_CHECKS {
            let (_, change) = BREAKS.iter().find(|(id, _)| *id == check.id).unwrap_or_else(|| panic!("{}", check.id));
            let mut case = good();
            change(&mut case);
            let ids: Vec<&str> = diagnose_login(&case).iter().map(|fault| fault.id).collect();
            assert_eq!(ids, [check.id], "{}", check.id);
        }
    }
}
