//! The parts of a value that are secrets by themselves: servers take values apart, and show a part.

use serde_json::Value;

use crate::{bounded_json, is_credential, passwords};

/// A part without a telling name is a secret from this length on.
const KEY: usize = 16;
/// A document of more bytes is no credential.
const MOST: usize = 64 << 10;

/// Passwords of URLs, fields of JSON, and parts of cookies, connection strings and lists.
pub(super) fn parts(value: &str) -> Vec<String> {
    if value.len() > MOST {
        return Vec::new();
    }
    let mut found: Vec<String> = passwords(value).into_iter().map(|range| value[range].to_owned()).collect();
    if value.starts_with(['{', '[']) {
        if let Some(document) = bounded_json::parse(value) {
            in_json(&document, "", &mut found);
        }
        return found;
    }
    let pieces: Vec<&str> =
        value.split([';', ',', '&', ' ']).map(str::trim).filter(|piece| !piece.is_empty()).collect();
    for piece in &pieces {
        let (name, text) = piece.split_once('=').unwrap_or(("", piece));
        let is_part = !name.is_empty() || pieces.len() > 1;
        if is_part && is_secret(name, text) {
            found.push(text.to_owned());
        }
    }
    found
}

fn in_json(value: &Value, name: &str, found: &mut Vec<String>) {
    match value {
        Value::String(text) if is_secret(name, text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| in_json(item, name, found)),
        Value::Object(map) => map.iter().for_each(|(name, item)| in_json(item, name, found)),
        Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {}
    }
}

/// True if a part is named as credentials are, or looks like a key.
fn is_secret(name: &str, text: &str) -> bool {
    let has = |is: fn(&u8) -> bool| text.bytes().any(|byte| is(&byte));
    let is_key = text.len() >= KEY
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && !text.contains("://")
        && !text.contains(|c: char| c.is_whitespace() || matches!(c, '/' | '\\' | '{' | '['));
    // Of keys of services, the file has the key itself.
    is_credential(name) || name == "private_key" || is_key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_are_secrets_are_found() {
        for (value, wanted) in [
            ("postgres://user:pa55-w0rd@host/x", &["pa55-w0rd"][..]),
            ("session=s3cr3tvalue0123456; theme=dark", &["s3cr3tvalue0123456"]),
            ("Server=db;User Id=me;Password=hunter22;", &["hunter22"]),
            ("key1abcdefghijkl99,key2abcdefghijkl99", &["key1abcdefghijkl99", "key2abcdefghijkl99"]),
            (r#"{"type": "service_account", "private_key": "abc-def"}"#, &["abc-def"]),
            ("filesystem,git,time", &[]),
            ("/usr/local/bin/python3.11", &[]),
            ("/usr/local/lib/python3.11, /opt/tool/1.2.3.4", &[]),
            ("a plain text with words", &[]),
            ("sk1234567890abcdefXYZ", &[]),
            ("https://example.com/a?b=c", &[]),
        ] {
            assert_eq!(parts(value), wanted, "{value}");
        }
    }
}
