//! The documents that lead to a login.

use serde_json::{Value, json};

use super::{Ask, Issuer, IssuerReply};

impl Issuer {
    /// The document at a path.
    pub(super) fn document(&self, path: &str, endpoint: &str, ask: &Ask<'_>) -> Option<IssuerReply> {
        if ask.head.method != hyper::Method::GET {
            return None;
        }
        let well_known = "/.well-known/oauth-protected-resource";
        let is_appended = self.has("appended-metadata");
        if is_appended && path == format!("{endpoint}{well_known}") {
            return Some(IssuerReply::json(200, &self.resource_metadata(endpoint)));
        }
        if path == format!("{well_known}{endpoint}") {
            if self.has("no-resource-metadata") || is_appended {
                return Some(IssuerReply::text(404, "not found"));
            }
            if self.has("guarded-metadata") {
                return Some(IssuerReply::text(401, "log in first").with("www-authenticate", "Bearer".to_owned()));
            }
            if self.has("html-metadata") {
                let page = "<!doctype html><title>Sign in</title>";
                return Some(IssuerReply { kind: "text/html; charset=utf-8", ..IssuerReply::text(200, page) });
            }
            return Some(IssuerReply::json(200, &self.resource_metadata(endpoint)));
        }
        match path {
            "/.well-known/oauth-authorization-server" | "/.well-known/openid-configuration" => {
                if self.has("no-metadata") {
                    return Some(IssuerReply::text(404, "not found"));
                }
                Some(IssuerReply::json(200, &self.metadata()))
            }
            "/jwks.json" if !self.has("no-keys") => Some(IssuerReply::json(200, &self.keys())),
            _ => None,
        }
    }

    fn resource_metadata(&self, endpoint: &str) -> Value {
        let resource = match () {
            () if self.has("wrong-resource") => "https://mcp.example.com/mcp".to_owned(),
            () if self.has("parent-resource") => self.base.clone(),
            () => format!("{}{endpoint}", self.base),
        };
        let servers = if self.has("no-authorization-servers") { json!([]) } else { json!([self.base]) };
        let methods = if self.has("query-tokens") { json!(["query"]) } else { json!(["header"]) };
        json!({
            "resource": resource,
            "authorization_servers": servers,
            "scopes_supported": [self.options.scope],
            "bearer_methods_supported": methods,
        })
    }

    fn metadata(&self) -> Value {
        let base = &self.base;
        let issuer = match () {
            () if self.has("wrong-issuer") => "https://login.example.com".to_owned(),
            () if self.has("slash-issuer") => format!("{base}/"),
            () => base.clone(),
        };
        let place = if self.has("http-endpoints") { "http://login.example.com" } else { base.as_str() };
        let types = if self.has("no-code-response") { json!(["token"]) } else { json!(["code"]) };
        let mut metadata = json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{place}/authorize"),
            "token_endpoint": format!("{place}/token"),
            "registration_endpoint": format!("{place}/register"),
            "introspection_endpoint": format!("{place}/introspect"),
            "revocation_endpoint": format!("{place}/revoke"),
            "jwks_uri": format!("{base}/jwks.json"),
            "response_types_supported": types,
            "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
            "code_challenge_methods_supported": ["S256"],
            "scopes_supported": self.scopes(),
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["ES256"],
            "authorization_response_iss_parameter_supported": true,
        });
        let fields = metadata.as_object_mut();
        let Some(fields) = fields else { return metadata };
        if self.has("no-pkce") {
            fields.shift_remove("code_challenge_methods_supported");
        }
        if self.has("plain-pkce") {
            fields.insert("code_challenge_methods_supported".to_owned(), json!(["plain"]));
        }
        if self.has("no-token-endpoint") {
            fields.shift_remove("token_endpoint");
        }
        if self.has("no-registration") {
            fields.shift_remove("registration_endpoint");
        }
        metadata
    }

    fn scopes(&self) -> Vec<&str> {
        let tools = self.options.tool_scopes.iter().map(|(_, scope)| scope.as_str());
        let mut all = vec![self.options.scope.as_str()];
        for scope in tools {
            if !all.contains(&scope) {
                all.push(scope);
            }
        }
        all
    }

    fn keys(&self) -> Value {
        let other = self.has("old-keys").then(mcprove_wire::oauth::JwtKey::generate);
        let key = other.as_ref().unwrap_or(&self.key);
        let mut jwk = key.public_jwk();
        jwk["kid"] = key.thumbprint().into();
        jwk["use"] = "sig".into();
        jwk["alg"] = "ES256".into();
        json!({"keys": [jwk]})
    }
}
