//! `auth`: how a client shows a remote server who it is.

use mcprove_model::{Auth, AwsKeySource, AwsKeys, AwsSigV4, ClientCredentials, Diagnostics, Entry, Node};
use serde_json::{Value, json};

use super::Reader;
use crate::assertion_file::{block, texts};
use crate::oauth::{self, Login};
use crate::schema::fragment;

pub(super) const KEYS: &[&str] = &["aws_sigv4", "bearer_token_env", "headers", "oauth"];

/// Ways of the other tool, and what to do instead.
pub(super) const OUTSIDE: &[(&str, &str)] = &[("web_bot_auth", "use `bearer_token_env`, or `headers`")];

const AWS_KEYS: &[&str] = &["credentials", "region", "service"];

const OAUTH_KEYS: &[&str] = &["client_id", "client_secret_env", "grant", "scope", "token_endpoint"];

/// The headers with those that `auth` adds, and what takes more than that.
pub(super) fn apply(
    auth: Option<&Node>,
    mut headers: Vec<(String, String)>,
    reader: &mut Reader<'_, '_>,
    found: &mut Diagnostics<'_>,
) -> (Vec<(String, String)>, Option<Auth>) {
    let Some(node) = auth else { return (headers, None) };
    let Some(entries) = found.map(node, "`auth`") else { return (headers, None) };
    super::unsupported_keys::known_keys(entries, "`auth`", KEYS, OUTSIDE, found);
    headers.extend(decode_headers(node, reader, found));
    let mut ways =
        entries.iter().filter(|entry| matches!(entry.key.text.as_str(), "aws_sigv4" | "bearer_token_env" | "oauth"));
    if let Some(way) = ways.next() {
        let rival = match ways.next() {
            Some(other) => {
                Some((other.key.span, format!("`{}` and `{}` are mutually exclusive", way.key.text, other.key.text)))
            }
            None if headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization")) => {
                Some((way.key.span, format!("`{}` and an `Authorization` header are mutually exclusive", way.key.text)))
            }
            None => None,
        };
        if let Some((span, message)) = rival {
            found.error_with_help("wrong-key", span, message, "keep one of the two");
        }
    }
    if let Some(entry) = entries.iter().find(|entry| entry.key.text == "aws_sigv4") {
        return (headers, decode_aws(entry, reader, found));
    }
    let oauth = entries.iter().find(|entry| entry.key.text == "oauth");
    if let Some(entry) = oauth.filter(|entry| entry.value.get("flow").is_some()) {
        return match oauth::decode(&entry.value, (&reader.context.environment, reader.secrets), found) {
            Some(Login::Token(token)) => {
                headers.push(("Authorization".to_owned(), format!("Bearer {token}")));
                (headers, None)
            }
            Some(Login::Settings(settings)) => (headers, Some(Auth::Oauth(settings))),
            None => (headers, None),
        };
    }
    let oauth = oauth.and_then(|entry| decode_oauth(entry, reader, found));
    let Some(name) = node.get("bearer_token_env") else { return (headers, oauth) };
    let token = from_environment(name, "`bearer_token_env`", reader, found);
    headers.extend(token.map(|token| ("Authorization".to_owned(), format!("Bearer {token}"))));
    (headers, oauth)
}

/// Headers whose values are never shown: a text, or `{env: NAME}`.
fn decode_headers(auth: &Node, reader: &mut Reader<'_, '_>, found: &mut Diagnostics<'_>) -> Vec<(String, String)> {
    let headers = super::servers::decode_headers(auth, reader, found);
    reader.secrets.extend(headers.iter().map(|(_, value)| value.clone()).filter(|value| !value.is_empty()));
    headers
}

/// Client credentials.
fn decode_oauth(entry: &Entry, reader: &mut Reader<'_, '_>, found: &mut Diagnostics<'_>) -> Option<Auth> {
    let node = &entry.value;
    found.map(node, "`oauth`")?;
    found.known_keys(node, "`oauth`", OAUTH_KEYS);
    if let Some(grant) = node.get("grant").filter(|grant| grant.as_text() != Some("client_credentials")) {
        found.error_with_help("wrong-type", grant.span, "unknown `grant`", "write `client_credentials`");
    }
    let mut named = |key: &str| {
        let is_misspelt = texts::is_misspelt(node.as_map().unwrap_or_default(), key, OAUTH_KEYS);
        if is_misspelt { None } else { block::named(node, key, entry.key.span, found) }
    };
    let (token_endpoint, client_id) = (named("token_endpoint"), named("client_id"));
    let secret = named("client_secret_env");
    let client_secret = from_environment(&secret?, "`client_secret_env`", reader, found);
    Some(Auth::ClientCredentials(ClientCredentials {
        token_endpoint: token_endpoint?.as_text()?.to_owned(),
        client_id: client_id?.as_text()?.to_owned(),
        client_secret: client_secret?,
        scope: texts::optional(node, "scope", found).map(str::to_owned),
    }))
}

/// Signatures of AWS: with keys of the environment, or of a profile.
fn decode_aws(entry: &Entry, reader: &mut Reader<'_, '_>, found: &mut Diagnostics<'_>) -> Option<Auth> {
    let node = &entry.value;
    found.map(node, "`aws_sigv4`")?;
    found.known_keys(node, "`aws_sigv4`", AWS_KEYS);
    let mut named = |key: &str| {
        let is_misspelt = texts::is_misspelt(node.as_map().unwrap_or_default(), key, AWS_KEYS);
        if is_misspelt { None } else { block::named(node, key, entry.key.span, found) }
    };
    let (region, service) = (named("region"), named("service"));
    let credentials = named_map(node, "credentials", entry, found)?;
    found.known_keys(credentials, "`credentials`", &["name", "source"]);
    let source = block::named(credentials, "source", entry.key.span, found)?;
    let lookup = reader.context.environment.lookup;
    let keys = match source.as_text() {
        Some("from_environment") => {
            let mut key =
                |name: &str| from_environment(&Node::text_at(source.span, name.to_owned()), "`source`", reader, found);
            let (access_key_id, secret_access_key) = (key("AWS_ACCESS_KEY_ID"), key("AWS_SECRET_ACCESS_KEY"));
            let session_token = lookup("AWS_SESSION_TOKEN").filter(|token| !token.is_empty());
            reader.secrets.extend(session_token.clone());
            AwsKeySource::Given(AwsKeys {
                access_key_id: access_key_id?,
                secret_access_key: secret_access_key?,
                session_token,
            })
        }
        Some("profile") => {
            let home = || lookup("HOME").or_else(|| lookup("USERPROFILE")).unwrap_or_default();
            let path = lookup("AWS_SHARED_CREDENTIALS_FILE").unwrap_or_else(|| format!("{}/.aws/credentials", home()));
            let name = texts::optional(credentials, "name", found).unwrap_or("default").to_owned();
            AwsKeySource::Profile { path, name }
        }
        _ => {
            let help = "write `from_environment`, or `profile` with a `name`";
            found.error_with_help("wrong-type", source.span, "unknown `source` of credentials", help);
            return None;
        }
    };
    let (region, service) = (region?.as_text()?.to_owned(), service?.as_text()?.to_owned());
    Some(Auth::AwsSigV4(AwsSigV4 { region, service, keys }))
}

/// A map that must be there.
fn named_map<'n>(node: &'n Node, key: &str, entry: &Entry, found: &mut Diagnostics<'_>) -> Option<&'n Node> {
    let Some(map) = node.get(key).filter(|map| !map.is_null()) else {
        let message = format!("`{}` has no `{key}`", entry.key.text);
        found.error_with_help("missing-key", entry.key.span, message, "add `credentials: {source: from_environment}`");
        return None;
    };
    found.map(map, &format!("`{key}`")).map(|_| map)
}

/// The value of the environment variable that a node names; it must be set and is never shown.
pub(super) fn from_environment(
    node: &Node,
    what: &str,
    reader: &mut Reader<'_, '_>,
    found: &mut Diagnostics<'_>,
) -> Option<String> {
    let name = found.text(node, what)?;
    let Some(value) = (reader.context.environment.lookup)(name).filter(|value| !value.is_empty()) else {
        let message = format!("the environment variable `{name}` is not set");
        found.error_with_help("required-variable", node.span, message, format!("set `{name}` and run again"));
        return None;
    };
    if !reader.secrets.contains(&value) {
        reader.secrets.push(value.clone());
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
            "grant": {"const": "client_credentials", "description": "The grant; the only one, so it can be left out."},
            "scope": text("The requested scope."),
            "token_endpoint": text("The token endpoint."),
        }),
        &["client_id", "client_secret_env", "token_endpoint"],
    );
    let credentials = fragment::map(
        "The keys.",
        json!({
            "name": text("The profile; `default` when left out."),
            "source": {
                "enum": ["from_environment", "profile"],
                "description": "`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`, or a profile of the credentials file.",
            },
        }),
        &["source"],
    );
    let aws = fragment::map(
        "Every request is signed with AWS Signature Version 4.",
        json!({
            "credentials": credentials,
            "region": text("The region, for example `us-east-1`."),
            "service": text("The service, for example `execute-api`."),
        }),
        AWS_KEYS,
    );
    let properties = json!({
        "aws_sigv4": aws,
        "headers": super::servers::headers_schema("Headers of every request, whose values are never shown."),
        "bearer_token_env": text("The variable of the environment that holds the token."),
        "oauth": {"anyOf": [oauth, crate::oauth::schema()], "description": "OAuth 2: a client's own credentials, or with `flow` a login as hosts make it."},
    });
    fragment::map("Authentication of the client.", properties, &[])
}
