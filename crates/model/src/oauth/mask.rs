//! The exchanges of a login as they are logged: secrets are left out where they are made, even if they are masked again later.

use serde_json::Value;

use super::callback::query_pairs;
use crate::bounded_json;
use crate::{is_unreserved, percent_encoded};

/// Replacement of a secret.
pub const HIDDEN_VALUE: &str = "(hidden)";

/// Names of fields whose values are secrets.
const SECRET: &[&str] = &[
    "access_token",
    "actor_token",
    "assertion",
    "client_assertion",
    "client_secret",
    "code",
    "code_verifier",
    "id_token",
    "id_token_hint",
    "password",
    "refresh_token",
    "registration_access_token",
    "state",
    "subject_token",
    "token",
];

/// A form without secrets.
pub fn masked_form(form: &str) -> String {
    let pairs = query_pairs(form);
    let shown = pairs.iter().map(|(name, value)| {
        let value = if is_secret_field(name) { HIDDEN_VALUE } else { value.as_str() };
        let plain = |byte: u8| is_unreserved(byte) || matches!(byte, b'(' | b')');
        format!("{}={}", percent_encoded(name, is_unreserved), percent_encoded(value, plain))
    });
    shown.collect::<Vec<_>>().join("&")
}

/// A URL without secrets in its query.
pub fn masked_query(url: &str) -> String {
    match url.split_once('?') {
        Some((place, query)) => format!("{place}?{}", masked_form(query)),
        None => url.to_owned(),
    }
}

/// A document without secrets; bytes that are not JSON are not shown at all.
pub fn masked_json(body: &[u8]) -> String {
    if body.is_empty() {
        return String::new();
    }
    match bounded_json::parse(body) {
        Some(mut value) => {
            mask(&mut value);
            value.to_string()
        }
        None => format!("({} bytes that are not JSON)", body.len()),
    }
}

/// The secrets in the answer of an endpoint. A `code` in it is the name of an error.
pub fn secrets_in(document: &Value) -> Vec<String> {
    let is_issued = |name: &str| is_secret_field(name) && (name.ends_with("_token") || name.ends_with("_secret"));
    match document {
        Value::Object(fields) => {
            let found = fields.iter().flat_map(|(name, value)| match value {
                Value::String(text) if is_issued(name) => vec![text.clone()],
                _ => secrets_in(value),
            });
            found.collect()
        }
        Value::Array(items) => items.iter().flat_map(secrets_in).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

fn mask(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if is_secret_field(name) && value.is_string() {
                    *value = HIDDEN_VALUE.into();
                } else {
                    mask(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// True if the value of a field is a secret.
pub fn is_secret_field(name: &str) -> bool {
    SECRET.contains(&name.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_by_their_names() {
        let form = masked_form("grant_type=authorization_code&code=hunter2&resource=https%3A%2F%2Fx&client_secret=s");
        assert_eq!(form, "grant_type=authorization_code&code=(hidden)&resource=https%3A%2F%2Fx&client_secret=(hidden)");
        assert_eq!(
            masked_query("http://127.0.0.1/callback?code=a&iss=b"),
            "http://127.0.0.1/callback?code=(hidden)&iss=b"
        );
        let json = masked_json(br#"{"access_token":"t","expires_in":1,"deep":[{"refresh_token":"r"}],"error":"e"}"#);
        assert_eq!(
            json,
            r#"{"access_token":"(hidden)","expires_in":1,"deep":[{"refresh_token":"(hidden)"}],"error":"e"}"#
        );
        assert_eq!(masked_json(b"token=abc"), "(9 bytes that are not JSON)");
        let document =
            serde_json::json!({"access_token": "t", "expires_in": 1, "deep": [{"id_token": "i"}], "code": "c"});
        assert_eq!(secrets_in(&document), ["t", "i"]);
    }
}
