//! `auth`: how a client shows a remote server who it is.

use mcprove_model::{Diagnostics, Node};
use serde_json::{Value, json};

use super::Context;
use crate::schema::fragment;

const KEYS: &[&str] = &["bearer_token_env", "oauth"];

/// Ways of the other tool, and what to do instead.
const OUTSIDE: &[(&str, &str)] = &[
    ("aws_sigv4", "put a signing proxy before the server, or use `bearer_token_env`"),
    ("web_bot_auth", "use `bearer_token_env`, or `headers`"),
];

/// The header fields with those that `auth` adds.
pub(super) fn apply(
    auth: Option<&Node>,
    mut headers: Vec<(String, String)>,
    (context, secrets): (&Context<'_>, &mut Vec<String>),
    found: &mut Diagnostics<'_>,
) -> Vec<(String, String)> {
    let Some(node) = auth else { return headers };
    let Some(entries) = found.map(node, "`auth`") else { return headers };
    super::outside::known_keys(entries, "`auth`", (KEYS, OUTSIDE), found);
    if let Some(oauth) = entries.iter().find(|entry| entry.key.text == "oauth") {
        let help = "get a token beforehand and name its variable in `bearer_token_env`";
        found.error_with_help("unsupported-key", oauth.key.span, "`oauth` is not supported yet", help);
    }
    let Some(name) = node.get("bearer_token_env") else { return headers };
    if headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization")) {
        let message = "`bearer_token_env` stands beside an `Authorization` header field";
        found.error_with_help("wrong-key", name.span, message, "keep one of the two");
    }
    let token = from_environment(name, "`bearer_token_env`", (context, secrets), found);
    headers.extend(token.map(|token| ("Authorization".to_owned(), format!("Bearer {token}"))));
    headers
}

/// The value of the environment variable that a node names; it must be set and is never shown.
pub(super) fn from_environment(
    node: &Node,
    what: &str,
    (context, secrets): (&Context<'_>, &mut Vec<String>),
    found: &mut Diagnostics<'_>,
) -> Option<String> {
    let name = found.text(node, what)?;
    let Some(value) = (context.environment.lookup)(name).filter(|value| !value.is_empty()) else {
        let message = format!("the environment variable `{name}` is not set");
        found.error_with_help("required-variable", node.span, message, format!("set `{name}` and run again"));
        return None;
    };
    if !secrets.contains(&value) {
        secrets.push(value.clone());
    }
    Some(value)
}

/// The JSON Schema of `auth`.
pub(super) fn schema() -> Value {
    let text = fragment::text;
    let oauth = fragment::map(
        "A token is asked for with the client's own credentials.",
        json!({
            "client_id": text("The client's id."),
            "client_secret_env": text("The variable of the environment that holds the client's secret."),
            "grant": {"const": "client_credentials"},
            "scope": text("The scope that is asked for."),
            "token_endpoint": text("Where tokens are given out."),
        }),
        &["client_id", "client_secret_env", "token_endpoint"],
    );
    let properties = json!({
        "bearer_token_env": text("The variable of the environment that holds the token."),
        "oauth": oauth,
    });
    fragment::map("How the client shows who it is.", properties, &[])
}
