//! Harmless values of a role, and replacements for others.

use serde_json::Value;

use super::role::Role;
use crate::generate::words;
use crate::tool_effect::{VerbKind, verb_of_name};

/// A process id above the largest one of Linux (2^22), and below 2^31 so that it stays positive everywhere.
const NO_PROCESS: i64 = 4_200_000;

/// The largest process id of Linux.
const LARGEST_PROCESS: f64 = 4_194_304.0;

/// The prefix of all names that are made up.
const PREFIX: &str = "mcprove-";

/// The longest part of another text that goes into a harmless one.
const LONGEST: usize = 1 << 20;

/// True if a path is in a folder and does not leave it.
pub(super) fn is_within(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) && !path.contains("..") && !path.contains('\0')
}

/// True if a value can do no harm in a role.
pub(super) fn is_harmless(value: &Value, role: Role, scratch: &str) -> bool {
    match (role, value) {
        (Role::ProcessId, Value::Number(number)) => {
            number.as_f64().is_some_and(|number| number > LARGEST_PROCESS && number <= f64::from(i32::MAX))
        }
        (Role::ProcessId, Value::String(text)) => is_no_process(text),
        // Some programs read an absent or an odd value as 0 or 1.
        (Role::ProcessId, Value::Null | Value::Bool(_)) | (Role::Host, Value::Number(_)) => false,
        (Role::ProcessId, Value::Array(items)) => !items.is_empty(),
        (Role::File | Role::Folder, Value::String(text)) => is_scratch_path(text, scratch),
        (Role::Command, Value::String(text)) => {
            text.strip_prefix("echo ").is_some_and(|rest| rest.chars().all(is_plain))
        }
        (Role::Sql, Value::String(text)) => is_plain_select(text),
        (Role::Url, Value::String(text)) => is_reserved_url(text),
        (Role::Host, Value::String(text)) => is_reserved_host(text) || is_no_host(text),
        (Role::Pattern, Value::String(text)) => {
            text.contains(PREFIX) && !text.contains("..") || !text.trim().is_empty() && text.chars().all(is_plain)
        }
        (Role::Operation, value) => !is_change(value),
        (_, _) => true,
    }
}

/// True if a value names an operation that changes something: `create`, `DELETE`.
pub(super) fn is_change(value: &Value) -> bool {
    let verb = value.as_str().and_then(|text| verb_of_name(&text[..text.floor_char_boundary(100)], false));
    verb.is_some_and(|(_, kind)| kind != VerbKind::Reads)
}

/// Values to send instead of one that might do harm, the best first.
pub(super) fn candidates(old: &Value, role: Option<Role>, name: &str, scratch: &str) -> Vec<Value> {
    let slug = words(name).join("-");
    let texts: Vec<String> = match role {
        Some(Role::ProcessId) => {
            let (number, text) = (Value::from(NO_PROCESS), Value::from(NO_PROCESS.to_string()));
            return if old.is_string() { vec![text, number] } else { vec![number, text] };
        }
        Some(Role::File) => {
            // What a pattern asks of the end of a name is kept.
            let old = old.as_str().unwrap_or_default();
            let kept = old.rsplit(['/', '\\']).next().map(cleaned).filter(|kept| kept.contains('.'));
            let mut texts = vec![format!("{scratch}/{PREFIX}{slug}-example.txt")];
            texts.extend(kept.map(|kept| format!("{scratch}/{PREFIX}{kept}")));
            texts.extend([format!("{PREFIX}{slug}-example.txt"), format!("{PREFIX}example")]);
            texts
        }
        Some(Role::Folder) => {
            vec![
                format!("{scratch}/{PREFIX}{slug}-example"),
                format!("{PREFIX}{slug}-example"),
                format!("{PREFIX}example"),
            ]
        }
        Some(Role::Command) => vec!["echo hello".to_owned()],
        Some(Role::Sql) => vec!["SELECT 1".to_owned()],
        Some(Role::Url) => [
            "https://example.invalid/",
            "http://example.invalid/",
            "wss://example.invalid/",
            "https://example.invalid",
            "example.invalid",
        ]
        .map(str::to_owned)
        .to_vec(),
        Some(Role::Host) => {
            ["example.invalid", "192.0.2.1", "2001:db8::1", "example.invalid:8080"].map(str::to_owned).to_vec()
        }
        Some(Role::Pattern) => vec![format!("{PREFIX}example"), format!("{PREFIX}*.txt")],
        Some(Role::Operation) => vec!["get".to_owned(), "list".to_owned(), "GET".to_owned()],
        None => vec![format!("{PREFIX}example"), "example".to_owned(), "x".to_owned()],
    };
    texts.into_iter().map(Value::from).collect()
}

/// A harmless value that is as much like another as can be.
pub(super) fn altered(old: &Value, role: Option<Role>, scratch: &str) -> Value {
    let text = old.as_str().unwrap_or_default();
    match role {
        Some(Role::ProcessId) if old.is_string() => Value::from(NO_PROCESS.to_string()),
        Some(Role::ProcessId) => Value::from(NO_PROCESS),
        Some(Role::File | Role::Folder) => Value::from(format!("{scratch}/{PREFIX}{}", cleaned(text))),
        Some(Role::Command) => Value::from(format!("echo mcprove {}", plain(text))),
        Some(Role::Sql) => Value::from(format!("SELECT '{}'", plain(text))),
        Some(Role::Url) => Value::from(format!("https://example.invalid/{}", plain(text).replace(' ', "-"))),
        Some(Role::Host) if old.is_number() => Value::from("192.0.2.1"),
        Some(Role::Host) => {
            let label = plain(text).replace([' ', '_'], "-");
            Value::from(format!("{}.invalid", label.trim_matches('-')).trim_start_matches('.'))
        }
        Some(Role::Operation) => Value::from("get"),
        Some(Role::Pattern) | None => Value::from(format!("{PREFIX}{}", cleaned(text))),
    }
}

/// A text as part of a file name: it leads nowhere else and stands for nothing else.
fn cleaned(text: &str) -> String {
    let text = &text[..text.floor_char_boundary(LONGEST)];
    let letters =
        text.chars().map(|letter| if matches!(letter, '/' | '\\' | '~' | '*' | '?' | '\0') { '_' } else { letter });
    letters.collect::<String>().replace("..", "__")
}

/// The letters of a text that no shell and no database reads as more.
fn plain(text: &str) -> String {
    text[..text.floor_char_boundary(LONGEST)].chars().filter(|letter| is_plain(*letter)).collect()
}

fn is_plain(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, ' ' | '_')
}

/// True if no program reads a text as a process id that may exist.
fn is_no_process(text: &str) -> bool {
    let text = text.trim();
    if text.is_empty() {
        return false;
    }
    let digits = text.trim_start_matches(['+', '-']);
    let number = digits.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_number = number.len() < digits.len() && !number.starts_with(|letter: char| letter.is_alphanumeric());
    if !is_number {
        // `0x1` is a number as well.
        return !digits.starts_with("0x")
            && !digits.starts_with("0X")
            && !digits.starts_with(|c: char| c.is_numeric() && !c.is_ascii_digit());
    }
    let is_whole = number.is_empty() && digits.len() == text.len();
    is_whole && digits.parse::<f64>().is_ok_and(|value| value > LARGEST_PROCESS && value <= f64::from(i32::MAX))
}

fn is_scratch_path(text: &str, scratch: &str) -> bool {
    let name = text.strip_prefix(scratch).and_then(|rest| rest.strip_prefix('/')).unwrap_or(text);
    name.starts_with(PREFIX) && !name.contains("..") && !name.contains(['/', '\\', '~', '*', '?', '\0'])
}

fn is_plain_select(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("SELECT ") else { return false };
    let quoted = rest.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    rest == "1" || quoted.is_some_and(|inner| inner.chars().all(is_plain))
}

/// True if a URL leads to a reserved host, or to none at all.
fn is_reserved_url(text: &str) -> bool {
    if let Some((scheme, rest)) = text.split_once("://") {
        let is_remote =
            scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-' | '.'));
        let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        return is_remote && !scheme.eq_ignore_ascii_case("file") && is_reserved_host(host);
    }
    is_reserved_host(text.split('/').next().unwrap_or_default()) || is_no_host(text)
}

/// True if a host is reserved for documentation and tests.
fn is_reserved_host(host: &str) -> bool {
    let bare = host.trim_start_matches('[').split(']').next().unwrap_or_default();
    if bare.to_ascii_lowercase().starts_with("2001:db8:") {
        return bare.chars().all(|letter| letter.is_ascii_hexdigit() || letter == ':');
    }
    let name = host.split(':').next().unwrap_or_default();
    let is_name =
        !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '.'));
    let documentation = ["192.0.2.", "198.51.100.", "203.0.113."];
    let is_range =
        documentation.iter().any(|range| name.strip_prefix(range).is_some_and(|last| last.parse::<u8>().is_ok()));
    let lower = name.to_ascii_lowercase();
    let is_reserved = [".invalid", ".test", ".example"].iter().any(|end| lower.ends_with(end));
    is_name && (is_range || is_reserved) || lower == "invalid"
}

/// True if a string cannot be read as a host, a port or an IP address.
fn is_no_host(text: &str) -> bool {
    let is_word = |letter: char| letter.is_alphabetic() || matches!(letter, ' ' | '_' | '-');
    !text.trim().eq_ignore_ascii_case("localhost") && text.chars().all(is_word)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn roles_have_harmless_values() {
        let cases = [
            (Role::ProcessId, json!(4_200_000), true),
            (Role::ProcessId, json!(-1), false),
            (Role::ProcessId, json!(1), false),
            (Role::ProcessId, json!(4_294_967_295_i64), false),
            (Role::ProcessId, json!(i64::MAX), false),
            (Role::ProcessId, json!(null), false),
            (Role::ProcessId, json!(true), false),
            (Role::ProcessId, json!([]), false),
            (Role::ProcessId, json!(""), false),
            (Role::ProcessId, json!(" -1 "), false),
            (Role::ProcessId, json!("1; x"), false),
            (Role::ProcessId, json!("0x1"), false),
            (Role::ProcessId, json!("alice"), true),
            (Role::ProcessId, json!("f81d4fae-7dec"), true),
            (Role::ProcessId, json!("123e4567-e89b"), true),
            (Role::ProcessId, json!("4200000"), true),
            (Role::File, json!("/s/mcprove-x.txt"), true),
            (Role::File, json!("notes.txt"), false),
            (Role::File, json!("/s/mcprove-x/../../y"), false),
            (Role::File, json!("/etc/passwd"), false),
            (Role::File, json!(""), false),
            (Role::Folder, json!("."), false),
            (Role::Command, json!("echo hello"), true),
            (Role::Command, json!("echo hello; rm x"), false),
            (Role::Command, json!("rm"), false),
            (Role::Sql, json!("SELECT 1"), true),
            (Role::Sql, json!("SELECT 'a b'"), true),
            (Role::Sql, json!("DROP TABLE x"), false),
            (Role::Sql, json!("SELECT 1; DROP TABLE x"), false),
            (Role::Url, json!("https://example.invalid/a?b=http://x.com"), true),
            (Role::Url, json!("https://example.com/"), false),
            (Role::Url, json!("file:///etc/passwd"), false),
            (Role::Url, json!("http://example.invalid@127.0.0.1/"), false),
            (Role::Url, json!("http://127.0.0.1\\.invalid"), false),
            (Role::Url, json!("hello"), true),
            (Role::Host, json!("localhost"), false),
            (Role::Host, json!("192.0.2.7"), true),
            (Role::Host, json!("10.0.0.1"), false),
            (Role::Host, json!("2001:db8::1"), true),
            (Role::Host, json!("2130706433"), false),
            (Role::Pattern, json!("*"), false),
            (Role::Pattern, json!("mcprove-*.txt"), true),
        ];
        for (role, value, expected) in cases {
            assert_eq!(is_harmless(&value, role, "/s"), expected, "{role:?} {value}");
        }
    }

    #[test]
    fn what_is_altered_is_harmless() {
        let roles =
            [Role::ProcessId, Role::File, Role::Folder, Role::Command, Role::Url, Role::Host, Role::Sql, Role::Pattern];
        let texts = [
            "",
            "/",
            "-1",
            "../../x",
            "*",
            "a\0b",
            "x; rm -rf /",
            "'; DROP TABLE x",
            "http://10.0.0.1",
            "é",
            "\u{202e}",
            "..",
            "-",
            "a.b",
        ];
        for role in roles {
            let values = texts.iter().map(|text| json!(text)).chain([
                json!(-1),
                json!(1e308),
                json!(null),
                json!(true),
                json!([]),
            ]);
            for old in values.filter(|old| !is_harmless(old, role, "/s")) {
                let new = altered(&old, Some(role), "/s");
                assert!(is_harmless(&new, role, "/s"), "{role:?}: {old} became {new}");
            }
        }
    }
}
