//! Where the documents of a login are, in the order in which a client looks for them (2026-07-28, "Authorization Server
//! Discovery"), and what was found there.

use core::net::Ipv4Addr;

use serde_json::Value;

use super::obstacle::shown;

/// The origin (with scheme and host in lower case) and the path of a URL, without query and fragment.
pub fn split_url(url: &str) -> Option<(String, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let at = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(at);
    let host = authority.rsplit('@').next().unwrap_or_default();
    if host.is_empty() || scheme.is_empty() {
        return None;
    }
    Some((format!("{}://{}", scheme.to_ascii_lowercase(), host.to_ascii_lowercase()), path))
}

/// The query of a URL with its question mark, or nothing.
fn query_of(url: &str) -> &str {
    let url = url.split('#').next().unwrap_or_default();
    url.find('?').map_or("", |at| &url[at..])
}

/// The URL of a server as an audience of tokens: no fragment, no password, no lone slash.
pub fn canonical_resource(url: &str) -> String {
    let Some((origin, path)) = split_url(url) else { return url.to_owned() };
    let path = if path == "/" { "" } else { path };
    format!("{origin}{path}{}", query_of(url))
}

/// Where the metadata of a protected resource is: where its challenge says, else at the well-known paths. The path and the
/// query of the server are kept (RFC 9728 section 3.1). A slash at the end is what servers differ in, so both are tried.
pub fn resource_metadata_urls(server: &str, named: Option<&str>) -> Vec<String> {
    if let Some(named) = named {
        return vec![named.to_owned()];
    }
    let Some((origin, path)) = split_url(server) else { return Vec::new() };
    let root = format!("{origin}/.well-known/oauth-protected-resource");
    let (bare, query) = (path.trim_end_matches('/'), query_of(server));
    let mut urls = vec![format!("{root}{bare}{query}")];
    if !bare.is_empty() && bare != path {
        urls.push(format!("{root}{path}{query}"));
    }
    if urls[0] != root {
        urls.push(root);
    }
    urls
}

/// Where the metadata of an authorization server is.
pub fn server_metadata_urls(issuer: &str) -> Vec<String> {
    let Some((origin, path)) = split_url(issuer) else { return Vec::new() };
    match path.trim_end_matches('/') {
        "" => vec![
            format!("{origin}/.well-known/oauth-authorization-server"),
            format!("{origin}/.well-known/openid-configuration"),
        ],
        path => vec![
            format!("{origin}/.well-known/oauth-authorization-server{path}"),
            format!("{origin}/.well-known/openid-configuration{path}"),
            format!("{origin}{path}/.well-known/openid-configuration"),
        ],
    }
}

/// True if a URL leads to this machine, where plain HTTP is accepted.
pub fn is_loopback_url(url: &str) -> bool {
    let Some((origin, _)) = split_url(url) else { return false };
    let host = origin.split_once("://").map_or("", |(_, host)| host);
    if let Some(bracketed) = host.strip_prefix('[') {
        return bracketed.split(']').next().is_some_and(|host| host == "::1");
    }
    let host = host.split(':').next().unwrap_or_default();
    // A name may begin like an address.
    host == "localhost" || host.ends_with(".localhost") || host.parse::<Ipv4Addr>().is_ok_and(|host| host.is_loopback())
}

/// The answer to a request for a document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// Where it was looked for.
    pub url: String,
    /// The status of the answer.
    pub status: Option<u16>,
    /// Why there was no answer.
    pub error: Option<String>,
    /// Its headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// Its body, if that is a JSON object.
    pub json: Option<Value>,
}

impl Document {
    /// The document, if it is one.
    pub fn found(&self) -> Option<&Value> {
        self.json.as_ref().filter(|_| self.status == Some(200))
    }

    /// The answer in a few words, for those who looked for a JSON object.
    pub fn answer(&self) -> String {
        let header = |name| self.header(name).next().map(shown).filter(|value| value != "identity");
        match (self.status, &self.error) {
            (Some(status @ 200..300), _) if self.json.is_none() => {
                let kind = header("content-type").unwrap_or_else(|| "no content type".to_owned());
                let encoding = header("content-encoding").map(|name| format!(", which is encoded with `{name}`"));
                format!("HTTP {status}: `{kind}`, not a JSON object{}", encoding.unwrap_or_default())
            }
            (Some(status @ 300..400), _) => match header("location") {
                Some(place) => format!("HTTP {status} to `{place}`"),
                None => format!("HTTP {status}"),
            },
            (Some(status), _) => format!("HTTP {status}"),
            (None, error) => error.as_deref().map_or_else(|| "no answer".to_owned(), shown),
        }
    }

    /// The values of a header.
    pub fn header<'d>(&'d self, name: &'d str) -> impl Iterator<Item = &'d str> {
        self.headers.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Everything that was found on the way to a login, in the order of the requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoginDiscovery {
    /// The URL of the server.
    pub server: String,
    /// The answer to the first request, without a token.
    pub first: Document,
    /// The answer to a request with a token in the query.
    pub query: Option<Document>,
    /// The places of the resource's metadata that were tried.
    pub resource: Vec<Document>,
    /// The authorization server, if the metadata names one.
    pub issuer: Option<String>,
    /// The places of the authorization server's metadata that were tried.
    pub server_metadata: Vec<Document>,
    /// The keys of the authorization server.
    pub keys: Option<Document>,
    /// The answer of the registration endpoint, if a client was registered.
    pub registration: Option<Document>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_looked_for_in_the_specified_order() {
        assert_eq!(
            resource_metadata_urls("https://Example.com/public/mcp#c?d", None),
            [
                "https://example.com/.well-known/oauth-protected-resource/public/mcp",
                "https://example.com/.well-known/oauth-protected-resource"
            ]
        );
        assert_eq!(
            resource_metadata_urls("https://example.com/public/mcp/?a=b#c", None),
            [
                "https://example.com/.well-known/oauth-protected-resource/public/mcp?a=b",
                "https://example.com/.well-known/oauth-protected-resource/public/mcp/?a=b",
                "https://example.com/.well-known/oauth-protected-resource"
            ]
        );
        assert_eq!(resource_metadata_urls("http://x:1/", None), ["http://x:1/.well-known/oauth-protected-resource"]);
        assert_eq!(resource_metadata_urls("http://x/mcp", Some("http://y/z")), ["http://y/z"]);
        assert_eq!(
            server_metadata_urls("https://auth.example.com/tenant1/"),
            [
                "https://auth.example.com/.well-known/oauth-authorization-server/tenant1",
                "https://auth.example.com/.well-known/openid-configuration/tenant1",
                "https://auth.example.com/tenant1/.well-known/openid-configuration"
            ]
        );
        assert_eq!(
            server_metadata_urls("https://auth.example.com"),
            [
                "https://auth.example.com/.well-known/oauth-authorization-server",
                "https://auth.example.com/.well-known/openid-configuration"
            ]
        );
        assert!(resource_metadata_urls("nothing", None).is_empty() && server_metadata_urls("").is_empty());
    }

    #[test]
    fn resources_are_canonical() {
        for (url, wanted) in [
            ("HTTPS://MCP.Example.com/", "https://mcp.example.com"),
            ("https://me:pw@x/Mcp#top", "https://x/Mcp"),
            ("http://x:80/mcp?tenant=1", "http://x:80/mcp?tenant=1"),
            ("nothing", "nothing"),
        ] {
            assert_eq!(canonical_resource(url), wanted, "{url}");
        }
        for (url, wanted) in [
            ("http://localhost:1/x", true),
            ("http://127.0.0.2", true),
            ("http://[::1]:80/", true),
            ("http://localhost.evil.example", false),
            ("http://127.evil.example/", false),
            ("http://127.0.0.1@evil.example/", false),
            ("https://x", false),
        ] {
            assert_eq!(is_loopback_url(url), wanted, "{url}");
        }
    }
}
