//! `oauth` with a `flow`: a login as hosts make it, in both kinds of files.

use mcprove_model::oauth::{OauthGrant, OauthKey, OauthSettings, split_scopes};
use mcprove_model::{Diagnostics, Node};
use serde_json::{Value, json};

use crate::assertion_file::texts;
use crate::environment::Environment;
use crate::schema::fragment;

/// The variable that holds the token of a person who signed in, where no other is named.
const ACCESS_TOKEN: &str = "MCP_ACCESS_TOKEN";

/// Flows, and how files of another tool call the first.
const FLOWS: &[&str] =
    &["authorization_code", "authorization_code_pkce", "client_credentials", "cross_app", "jwt_bearer"];

const KEYS: &[&str] = &[
    "assertion_env",
    "browser",
    "client_id",
    "client_metadata_url",
    "client_secret_env",
    "dpop",
    "flow",
    "identity_provider",
    "issuer",
    "key_id",
    "private_key_env",
    "redirect_port",
    "scope",
    "scopes",
    "token_env",
];

const PROVIDER_KEYS: &[&str] = &["client_id", "id_token_env", "token_endpoint"];

/// Login requested by a file.
#[derive(Debug)]
pub(crate) enum Login {
    /// A token that a variable holds.
    Token(String),
    /// A login.
    Settings(Box<OauthSettings>),
}

/// Decodes `oauth` with a `flow`.
pub(crate) fn decode(
    node: &Node,
    (environment, secrets): (&Environment<'_>, &mut Vec<String>),
    found: &mut Diagnostics<'_>,
) -> Option<Login> {
    found.map(node, "`oauth`")?;
    found.known_keys(node, "`oauth`", KEYS);
    let flow = node.get("flow")?;
    let Some(name) = found.text(flow, "`flow`").filter(|name| FLOWS.contains(name)) else {
        let help = format!("write one of {}", FLOWS.join(", "));
        found.error_with_help("wrong-type", flow.span, "unknown `flow`", help);
        return None;
    };
    let is_browser = name.starts_with("authorization_code");
    if is_browser {
        let variable = texts::optional(node, "token_env", found).unwrap_or(ACCESS_TOKEN);
        if let Some(token) = (environment.lookup)(variable).filter(|token| !token.is_empty()) {
            secrets.push(token.clone());
            return Some(Login::Token(token));
        }
    }
    let mut variable = |node: &Node, key: &str, found: &mut Diagnostics<'_>| -> Option<String> {
        let name = node.get(key).filter(|name| !name.is_null())?;
        let text = found.text(name, &format!("`{key}`"))?;
        let value = (environment.lookup)(text).filter(|value| !value.is_empty());
        if value.is_none() {
            let message = format!("the environment variable `{text}` is not set");
            found.error_with_help("required-variable", name.span, message, format!("set `{text}` and run again"));
        }
        secrets.extend(value.clone());
        value
    };
    let client_secret = variable(node, "client_secret_env", found);
    let pem = variable(node, "private_key_env", found);
    let assertion = variable(node, "assertion_env", found);
    let grant = match name {
        "client_credentials" => OauthGrant::ClientCredentials,
        "jwt_bearer" => OauthGrant::JwtBearer { assertion: needed(node, "assertion_env", assertion, found)? },
        "cross_app" => {
            let provider = needed(node, "identity_provider", node.get("identity_provider"), found)?;
            found.map(provider, "`identity_provider`")?;
            found.known_keys(provider, "`identity_provider`", PROVIDER_KEYS);
            let id_token = variable(provider, "id_token_env", found);
            let text = |key: &str, found: &mut Diagnostics<'_>| {
                let text = texts::optional(provider, key, found).map(str::to_owned);
                needed(provider, key, text, found)
            };
            OauthGrant::CrossApp {
                token_endpoint: text("token_endpoint", found)?,
                client_id: text("client_id", found)?,
                id_token: needed(provider, "id_token_env", id_token, found)?,
            }
        }
        _ => OauthGrant::AuthorizationCode,
    };
    let text = |key: &str, found: &mut Diagnostics<'_>| texts::optional(node, key, found).map(str::to_owned);
    let client_id = text("client_id", found);
    if !is_browser && client_id.is_none() {
        needed(node, "client_id", client_id, found)?;
        return None;
    }
    let flag = |key: &str, found: &mut Diagnostics<'_>| {
        node.get(key).filter(|flag| !flag.is_null()).and_then(|flag| found.boolean(flag, &format!("`{key}`")))
    };
    let port = node.get("redirect_port").filter(|port| !port.is_null());
    let port = port.and_then(|port| found.count_within(port, "`redirect_port`", 1..=65_535));
    let key_id = text("key_id", found);
    Some(Login::Settings(Box::new(OauthSettings {
        grant,
        client_id,
        client_secret,
        key: pem.map(|pem| OauthKey { pem, id: key_id }),
        issuer: text("issuer", found),
        client_metadata_url: text("client_metadata_url", found),
        scopes: scopes(node, found),
        redirect_port: port.and_then(|port| u16::try_from(port).ok()),
        browser: flag("browser", found).unwrap_or(false),
        dpop: flag("dpop", found).unwrap_or(false),
    })))
}

/// `scopes: [a, b]`, or `scope: a b`.
fn scopes(node: &Node, found: &mut Diagnostics<'_>) -> Option<Vec<String>> {
    let given = node.get("scopes").or_else(|| node.get("scope")).filter(|scopes| !scopes.is_null())?;
    match given.as_list() {
        Some(_) => Some(texts::list(given, "`scopes`", found)),
        None => found.text(given, "`scopes`").map(split_scopes),
    }
}

/// A value that the flow needs.
fn needed<T>(node: &Node, key: &str, value: Option<T>, found: &mut Diagnostics<'_>) -> Option<T> {
    // One that is there and wrong has its own finding.
    if value.is_none() && node.get(key).is_none() {
        found.error_with_help("missing-key", node.span, format!("this `flow` needs `{key}`"), format!("add `{key}`"));
    }
    value
}

/// The JSON Schema of `oauth` with a `flow`.
pub(crate) fn schema() -> Value {
    let text = fragment::text;
    let provider = fragment::map(
        "The identity provider whose login is exchanged (`cross_app`).",
        json!({
            "client_id": text("The client's id at the identity provider."),
            "id_token_env": text("The variable of the environment that holds the ID token."),
            "token_endpoint": text("The token endpoint of the identity provider."),
        }),
        PROVIDER_KEYS,
    );
    fragment::map(
        "A login as hosts make it: the authorization server is found from the URL.",
        json!({
            "assertion_env": text("The variable of the environment that holds the assertion (`jwt_bearer`)."),
            "browser": {"type": "boolean", "description": "Open the browser in a run, also where no user is at the terminal; `false` when left out."},
            "client_id": text("The id of a client that is registered; otherwise one registers itself."),
            "client_metadata_url": text("The https URL of a document that describes the client."),
            "client_secret_env": text("The variable of the environment that holds the client's secret."),
            "dpop": {"type": "boolean", "description": "Bind tokens to a key (RFC 9449)."},
            "flow": {"enum": FLOWS, "description": "The way to a token."},
            "identity_provider": provider,
            "issuer": text("The authorization server that the client is registered with."),
            "key_id": text("The id of the client's key."),
            "private_key_env": text("The variable of the environment that holds the client's private key, PKCS #8 in PEM."),
            "redirect_port": {"type": "integer", "minimum": 1, "maximum": 65_535, "description": "The port of the redirect on 127.0.0.1; any that is free when left out."},
            "scope": text("The scopes to ask for, between spaces."),
            "scopes": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}], "description": "The scopes to ask for; those that the server names when left out."},
            "token_env": text("The variable of the environment that may hold a token; `MCP_ACCESS_TOKEN` when left out."),
        }),
        &["flow"],
    )
}
