//! The whole way to a login, walked without a person: every document, however broken, for a diagnosis.

use mcprove_model::oauth::{
    Document, LoginDiscovery, ResourceMetadata, ServerMetadata, bearer_challenge, resource_metadata_urls,
    server_metadata_urls, split_url,
};

use super::discover::first_of;
use super::exchanges::{Exchanges, LoginLog};
use super::login::first_message;
use crate::transport::HttpClient;

/// Collects everything that a host would look at.
pub async fn survey_login(server: &str, client: &HttpClient) -> LoginDiscovery {
    let log = LoginLog::default();
    let exchanges = Exchanges::new(client, &log);
    let first = first_request(&exchanges, server).await;
    let mut found = LoginDiscovery { server: server.to_owned(), first, ..LoginDiscovery::default() };
    let challenge = bearer_challenge(found.first.header("www-authenticate"));
    let named = challenge.as_ref().and_then(|challenge| challenge.parameter("resource_metadata"));
    let mut urls = resource_metadata_urls(server, named);
    // A diagnosis also looks where the document should be.
    for url in resource_metadata_urls(server, None) {
        if !urls.contains(&url) {
            urls.push(url);
        }
    }
    let (document, tried) = first_of(&exchanges, &urls).await;
    found.resource = tried;
    let metadata = document.as_ref().map(ResourceMetadata::read);
    let listed = metadata.as_ref().and_then(|metadata| metadata.authorization_servers.first().cloned());
    let origin = || split_url(server).map(|(origin, _)| origin);
    let issuer = if metadata.is_some() { listed } else { origin() };
    let Some(issuer) = issuer else { return found };
    let (document, tried) = first_of(&exchanges, &server_metadata_urls(&issuer)).await;
    found.server_metadata = tried;
    found.issuer = Some(issuer);
    let keys = document.as_ref().map(ServerMetadata::read).and_then(|metadata| metadata.jwks_uri);
    if let Some(url) = keys {
        found.keys = Some(exchanges.get(&url, Vec::new()).await);
    }
    found
}

/// The answer to the first request of a client without a token.
pub(super) async fn first_request(exchanges: &Exchanges<'_>, server: &str) -> Document {
    let accept = ("accept".to_owned(), "application/json, text/event-stream".to_owned());
    exchanges.post_json(server, &first_message(), vec![accept]).await
}
