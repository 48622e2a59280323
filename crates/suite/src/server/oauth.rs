//! `oauth` with a `flow`: a login as hosts make it, in both kinds of files.

use std::ops::RangeInclusive;

use mcprove_model::oauth::{OauthGrant, OauthKey, OauthSettings, split_scopes};
use mcprove_model::{Auth, Diagnostics, Node};
use serde_json::{Value, json};

use crate::assertion_file::texts;
use crate::context::Reader;
use crate::field::{self, Field};
use crate::schema::fragment;

/// The variable that holds the token of a person who signed in, where no other is named.
const ACCESS_TOKEN: &str = "MCP_ACCESS_TOKEN";

/// Flows, and how files of another tool call the first.
const FLOWS: &[&str] =
    &["authorization_code", "authorization_code_pkce", "client_credentials", "cross_app", "jwt_bearer"];

const FIELDS: &[Field] = &[
    Field::optional("assertion_env", || {
        fragment::text("The variable of the environment that holds the assertion (`jwt_bearer`).")
    }),
    Field::optional("browser", || {
        json!({
            "type": "boolean",
            "description": "Open the browser in a run, also where no user is at the terminal; `false` when left out.",
        })
    }),
    Field::optional("client_id", || {
        fragment::text("The id of a client that is registered; otherwise one registers itself.")
    }),
    Field::optional("client_metadata_url", || fragment::text("The https URL of a document that describes the client.")),
    Field::optional("client_secret_env", || {
        fragment::text("The variable of the environment that holds the client's secret.")
    }),
    Field::optional("dpop", || json!({"type": "boolean", "description": "Bind tokens to a key (RFC 9449)."})),
    Field::required("flow", || json!({"enum": FLOWS, "description": "The way to a token."})),
    Field::optional("identity_provider", || {
        field::map("The identity provider whose login is exchanged (`cross_app`).", PROVIDER)
    }),
    Field::optional("issuer", || fragment::text("The authorization server that the client is registered with.")),
    Field::optional("key_id", || fragment::text("The id of the client's key.")),
    Field::optional("private_key_env", || {
        fragment::text("The variable of the environment that holds the client's private key, PKCS #8 in PEM.")
    }),
    Field::optional("redirect_port", || {
        fragment::count_within("The port of the redirect on 127.0.0.1; any that is free when left out.", &PORTS)
    }),
    Field::optional("scope", || fragment::text("The scopes to ask for, between spaces.")),
    Field::optional("scopes", || {
        json!({
            "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
            "description": "The scopes to ask for; those that the server names when left out.",
        })
    }),
    Field::optional("token_env", || {
        fragment::text("The variable of the environment that may hold a token; `MCP_ACCESS_TOKEN` when left out.")
    }),
];

const PROVIDER: &[Field] = &[
    Field::required("client_id", || fragment::text("The client's id at the identity provider.")),
    Field::required("id_token_env", || fragment::text("The variable of the environment that holds the ID token.")),
    Field::required("token_endpoint", || fragment::text("The token endpoint of the identity provider.")),
];

const PORTS: RangeInclusive<u64> = 1..=65_535;

/// Login requested by a file.
pub(super) enum Login {
    /// A token that a variable holds.
    Token(String),
    /// A login, or a client's own credentials.
    Auth(Auth),
}

/// Decodes `oauth` with a `flow`.
pub(super) fn decode(node: &Node, reader: &mut Reader<'_, '_>, found: &mut Diagnostics<'_>) -> Option<Login> {
    field::entries(node, "`oauth`", FIELDS, found)?;
    let flow = node.get("flow")?;
    let Some(name) = found.text(flow, "`flow`").filter(|name| FLOWS.contains(name)) else {
        let help = format!("write one of {}", FLOWS.join(", "));
        found.error_with_help("wrong-type", flow.span, "unknown `flow`", help);
        return None;
    };
    let is_browser = name.starts_with("authorization_code");
    if is_browser {
        let variable = texts::optional(node, "token_env", found).unwrap_or(ACCESS_TOKEN);
        if let Some(token) = reader.secret(variable) {
            return Some(Login::Token(token));
        }
    }
    let mut variable = |node: &Node, key: &str, found: &mut Diagnostics<'_>| -> Option<String> {
        let name = node.get(key).filter(|name| !name.is_null())?;
        reader.required_secret(name, &format!("`{key}`"), found)
    };
    let client_secret = variable(node, "client_secret_env", found);
    let pem = variable(node, "private_key_env", found);
    let assertion = variable(node, "assertion_env", found);
    let grant = match name {
        "client_credentials" => OauthGrant::ClientCredentials,
        "jwt_bearer" => OauthGrant::JwtBearer { assertion: needed(node, "assertion_env", assertion, found)? },
        "cross_app" => {
            let provider = needed(node, "identity_provider", node.get("identity_provider"), found)?;
            field::entries(provider, "`identity_provider`", PROVIDER, found)?;
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
    let port = port.and_then(|port| found.count_within(port, "`redirect_port`", PORTS));
    let key_id = text("key_id", found);
    Some(Login::Auth(Auth::Oauth(Box::new(OauthSettings {
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
    }))))
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
pub(super) fn schema() -> Value {
    field::map("A login as hosts make it: the authorization server is found from the URL.", FIELDS)
}
