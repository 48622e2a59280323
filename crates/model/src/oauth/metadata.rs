//! The documents of a login, read leniently: what a field does not hold is as if it were absent.

use serde_json::Value;

use super::discovery::{canonical_resource, split_url};

/// The metadata of a protected resource (RFC 9728).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceMetadata {
    /// The resource that it is about.
    pub resource: Option<String>,
    /// The issuers of its tokens.
    pub authorization_servers: Vec<String>,
    /// The scopes that basic use takes.
    pub scopes_supported: Option<Vec<String>>,
    /// Ways to send tokens.
    pub bearer_methods_supported: Option<Vec<String>>,
}

impl ResourceMetadata {
    /// The metadata in a document.
    pub fn read(document: &Value) -> Self {
        Self {
            resource: text(document, "resource"),
            authorization_servers: texts(document, "authorization_servers").unwrap_or_default(),
            scopes_supported: texts(document, "scopes_supported"),
            bearer_methods_supported: texts(document, "bearer_methods_supported"),
        }
    }
}

/// The metadata of an authorization server (RFC 8414, OpenID Connect Discovery).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerMetadata {
    /// Its identifier.
    pub issuer: Option<String>,
    /// Where people sign in.
    pub authorization_endpoint: Option<String>,
    /// Where tokens are issued.
    pub token_endpoint: Option<String>,
    /// Where clients register.
    pub registration_endpoint: Option<String>,
    /// Where tokens are revoked.
    pub revocation_endpoint: Option<String>,
    /// Its keys.
    pub jwks_uri: Option<String>,
    /// PKCE methods.
    pub code_challenge_methods: Option<Vec<String>>,
    /// Response types.
    pub response_types: Option<Vec<String>>,
    /// Grants.
    pub grant_types: Option<Vec<String>>,
    /// Authentication methods of the token endpoint.
    pub token_auth_methods: Option<Vec<String>>,
    /// Scopes.
    pub scopes_supported: Option<Vec<String>>,
    /// Algorithms of DPoP proofs.
    pub dpop_algorithms: Option<Vec<String>>,
    /// True if redirects carry `iss`.
    pub sends_iss: bool,
    /// True if a client id may be the URL of a metadata document.
    pub takes_client_documents: bool,
}

impl ServerMetadata {
    /// The metadata in a document.
    pub fn read(document: &Value) -> Self {
        let is_true = |name: &str| document.get(name) == Some(&Value::Bool(true));
        Self {
            issuer: text(document, "issuer"),
            authorization_endpoint: text(document, "authorization_endpoint"),
            token_endpoint: text(document, "token_endpoint"),
            registration_endpoint: text(document, "registration_endpoint"),
            revocation_endpoint: text(document, "revocation_endpoint"),
            jwks_uri: text(document, "jwks_uri"),
            code_challenge_methods: texts(document, "code_challenge_methods_supported"),
            response_types: texts(document, "response_types_supported"),
            grant_types: texts(document, "grant_types_supported"),
            token_auth_methods: texts(document, "token_endpoint_auth_methods_supported"),
            scopes_supported: texts(document, "scopes_supported"),
            dpop_algorithms: texts(document, "dpop_signing_alg_values_supported"),
            sends_iss: is_true("authorization_response_iss_parameter_supported"),
            takes_client_documents: is_true("client_id_metadata_document_supported"),
        }
    }

    /// The endpoints of a server without metadata (2025-03-26, "Fallbacks for Servers without Metadata Discovery").
    pub fn fallback(origin: &str) -> Self {
        Self {
            issuer: Some(origin.to_owned()),
            authorization_endpoint: Some(format!("{origin}/authorize")),
            token_endpoint: Some(format!("{origin}/token")),
            registration_endpoint: Some(format!("{origin}/register")),
            code_challenge_methods: Some(vec!["S256".to_owned()]),
            ..Self::default()
        }
    }
}

/// Relation of a resource to the URL of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceMatch {
    /// It is the server.
    Same,
    /// It is a parent path of the server on the same host.
    Parent,
    /// It is another one.
    Other,
}

/// Compares the `resource` of a document with the URL of a server.
pub fn match_resource(resource: &str, server: &str) -> ResourceMatch {
    let (Some((origin, path)), Some((at, server_path))) = (split_url(resource), split_url(server)) else {
        return ResourceMatch::Other;
    };
    if without_default_port(&origin) != without_default_port(&at) {
        return ResourceMatch::Other;
    }
    if comparable(resource) == comparable(server) {
        return ResourceMatch::Same;
    }
    let (parent, path) = (path.trim_end_matches('/'), server_path.trim_end_matches('/'));
    let is_parent = path.strip_prefix(parent).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if is_parent { ResourceMatch::Parent } else { ResourceMatch::Other }
}

/// A URL in the form in which two of them are compared.
fn comparable(url: &str) -> String {
    let url = canonical_resource(url);
    let Some((origin, _)) = split_url(&url) else { return url };
    format!("{}{}", without_default_port(&origin), &url[origin.len()..])
}

/// An origin; the port that its scheme implies is the same as none (RFC 3986 section 6.2.3).
fn without_default_port(origin: &str) -> &str {
    let port = if origin.starts_with("https:") { ":443" } else { ":80" };
    origin.strip_suffix(port).unwrap_or(origin)
}

fn text(document: &Value, name: &str) -> Option<String> {
    document.get(name)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

fn texts(document: &Value, name: &str) -> Option<Vec<String>> {
    let list = document.get(name)?.as_array()?;
    Some(list.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_of_another_type_are_absent() {
        let odd = json!({"resource": 1, "authorization_servers": "https://x", "scopes_supported": [1, "a"]});
        let read = ResourceMetadata::read(&odd);
        assert_eq!((read.resource, read.authorization_servers), (None, Vec::new()));
        assert_eq!(read.scopes_supported, Some(vec!["a".to_owned()]));
        let odd = json!({"issuer": "", "authorization_response_iss_parameter_supported": "true"});
        assert_eq!(ServerMetadata::read(&odd), ServerMetadata::default());
        assert_eq!(ServerMetadata::read(&json!([])), ServerMetadata::default());
    }

    #[test]
    fn resources_are_compared_by_whole_segments() {
        for (resource, wanted) in [
            ("https://x/a/mcp", ResourceMatch::Same),
            ("https://X/a/mcp", ResourceMatch::Same),
            ("https://x/a", ResourceMatch::Parent),
            ("https://x/a/mcp/", ResourceMatch::Parent),
            ("https://x", ResourceMatch::Parent),
            ("https://x/a/mc", ResourceMatch::Other),
            ("https://x/b", ResourceMatch::Other),
            ("http://x/a/mcp", ResourceMatch::Other),
            ("https://y/a/mcp", ResourceMatch::Other),
            ("x", ResourceMatch::Other),
        ] {
            assert_eq!(match_resource(resource, "https://x/a/mcp"), wanted, "{resource}");
        }
        for (resource, server, wanted) in [
            ("https://x/mcp", "https://x:443/mcp", ResourceMatch::Same),
            ("http://x:80/mcp", "http://x/mcp", ResourceMatch::Same),
            ("https://x:443", "https://x/mcp", ResourceMatch::Parent),
            ("https://x:80/mcp", "https://x/mcp", ResourceMatch::Other),
            ("https://x/mcp?a=1", "https://x:443/mcp", ResourceMatch::Parent),
        ] {
            assert_eq!(match_resource(resource, server), wanted, "{resource} {server}");
        }
    }
}
