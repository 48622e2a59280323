//! Differences that prove nothing: the order of a list, counters and stamps of use, values that a server trims, folds,
//! escapes or cuts.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::key::text_of;
use super::reply::Reply;
use crate::generate::words;

/// The shortest beginning of a value that counts as the value, cut.
const CUT: usize = 4;

/// Last words of fields that say when or how often something was used, and first ones.
const STAMPS: &[&str] = &[
    "accessed",
    "accesses",
    "ago",
    "at",
    "calls",
    "elapsed",
    "etag",
    "hits",
    "modified",
    "ms",
    "opened",
    "opens",
    "popularity",
    "read",
    "reads",
    "recency",
    "remaining",
    "requests",
    "rev",
    "revision",
    "seen",
    "timestamp",
    "ttl",
    "unread",
    "updated",
    "usage",
    "used",
    "uses",
    "version",
    "viewed",
    "views",
    "visits",
];
const FIRST: &[&str] = &["last", "request", "served"];

/// True if two replies to the same call show the same state.
pub(super) fn is_same_state(one: &Reply, other: &Reply) -> bool {
    one.is_fine == other.is_fine && (one.text == other.text || bleached(one) == bleached(other))
}

/// True if each part of a document is what it was before, or what it is on a fresh server.
pub(super) fn is_mixture(before: &Value, initial: &Value, now: &Value) -> bool {
    now == before
        || now == initial
        || match (before, initial, now) {
            (Value::Object(before), Value::Object(initial), Value::Object(now)) => {
                now.len() == before.len()
                    && now.iter().all(|(name, now)| {
                        let nothing = Value::Null;
                        let initial = initial.get(name).unwrap_or(&nothing);
                        before.get(name).is_some_and(|before| is_mixture(before, initial, now))
                    })
            }
            (_, _, _) => false,
        }
}

/// True if a value that is read may be the one that was written: trimmed, folded, escaped or cut.
pub(super) fn is_alike(written: &Value, actual: &Value) -> bool {
    match (written, actual) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::String(one), Value::String(other)) => {
            let (one, other) = (plain(one), plain(other));
            one == other || other.len() >= CUT && one.starts_with(&other)
        }
        (Value::Array(one), Value::Array(other)) => {
            let set = |items: &[Value]| items.iter().map(|item| plain(&shown(item))).collect::<BTreeSet<_>>();
            set(one) == set(other)
        }
        (one, other) => one == other || text_of(one).is_some() && text_of(one) == text_of(other),
    }
}

/// A text without what servers change for good reasons.
fn plain(text: &str) -> String {
    let mut text = Cow::Borrowed(text);
    for (escaped, letter) in
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#x27;", "'"), ("&amp;", "&")]
    {
        if text.contains(escaped) {
            text = Cow::Owned(text.replace(escaped, letter));
        }
    }
    let text = text.trim().trim_end_matches("...").trim_end_matches('…').to_lowercase();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The state that a reply shows: without stamps, and with lists in one order.
fn bleached(reply: &Reply) -> String {
    if let Some(doc) = &reply.doc {
        return settled(doc).to_string();
    }
    let mut lines: Vec<Cow<'_, str>> = reply
        .text
        .lines()
        .map(|line| {
            let has_stamp = words(line).iter().any(|word| STAMPS.contains(&word.as_str()));
            if has_stamp { Cow::Owned(line.replace(|c: char| c.is_ascii_digit(), "")) } else { Cow::Borrowed(line) }
        })
        .collect();
    lines.sort_unstable();
    lines.join("\n")
}

fn settled(value: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(settled).collect();
            items.sort_by_cached_key(Value::to_string);
            Value::Array(items)
        }
        Value::Object(map) => {
            let left = map.iter().filter(|(name, value)| !is_stamp(name, value));
            Value::Object(left.map(|(name, value)| (name.clone(), settled(value))).collect::<Map<_, _>>())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// True if a field says when or how often something was used.
pub(super) fn is_stamp(name: &str, value: &Value) -> bool {
    if value.is_object() || value.is_array() {
        return false;
    }
    let words = words(name);
    words.last().is_some_and(|word| STAMPS.contains(&word.as_str()))
        || words.len() > 1 && words.first().is_some_and(|word| FIRST.contains(&word.as_str()))
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use mcprove_model::Outcome;
    use serde_json::json;

    use super::*;

    fn reply(text: &str) -> Reply {
        Reply::of(&Outcome::Result(json!({"content": [{"type": "text", "text": text}]})))
    }

    #[test]
    fn stamps_and_order_are_no_state() {
        let same = |one: &str, other: &str| is_same_state(&reply(one), &reply(other));
        assert!(same(
            r#"{"notes":[{"id":"a","views":1},{"id":"b","views":0}]}"#,
            r#"{"notes":[{"id":"b","views":4},{"id":"a","views":1}]}"#
        ));
        assert!(same(r#"{"requestId":1,"notes":[]}"#, r#"{"requestId":2,"notes":[]}"#));
        assert!(same("- alpha, 3 views\n- beta", "- beta\n- alpha, 4 views"));
        assert!(!same(r#"{"notes":[{"id":"a","color":"red"}]}"#, r#"{"notes":[{"id":"a","color":"none"}]}"#));
        assert!(!same(r#"{"count":1}"#, r#"{"count":2}"#));
        assert!(!same("2 notes", "3 notes"));
    }

    #[test]
    fn values_may_be_trimmed_folded_escaped_and_cut() {
        for (written, actual) in [
            (json!(" Word12 "), json!("word12")),
            (json!("a & b"), json!("a &amp; b")),
            (json!("word12"), json!("word…")),
            (json!("word12"), json!("word1")),
            (json!(["b", "a", "a"]), json!(["a", "b"])),
            (json!(1), json!(1.0)),
            (json!("1"), json!(1)),
        ] {
            assert!(is_alike(&written, &actual), "{written} {actual}");
        }
        for (written, actual) in [
            (json!("word12"), json!("")),
            (json!("alpha"), json!("beta")),
            (json!("word12"), json!("wor")),
            (json!(["a"]), json!([])),
        ] {
            assert!(!is_alike(&written, &actual), "{written} {actual}");
        }
    }

    #[test]
    fn a_restart_may_keep_one_part_and_reset_another() {
        let (before, initial) = (json!({"notes": [1], "current": 1}), json!({"notes": [], "current": null}));
        assert!(is_mixture(&before, &initial, &json!({"notes": [1], "current": null})));
        assert!(!is_mixture(&before, &initial, &json!({"notes": [2], "current": null})));
    }
}
