//! Number of results in a result: the length of the list it holds.

use mcprove_model::{Mismatch, Observation};
use serde_json::Value;

use crate::excerpt;
use crate::json_path::{keys_seen, kind_of};

/// Keys under which servers put their lists, in search order.
const KEYS: [&str; 10] = [
    "locations",
    "items",
    "results",
    "references",
    "symbols",
    "resources",
    "prompts",
    "tools",
    "data",
    "resourceTemplates",
];

/// A list of results that was found.
#[derive(Debug)]
pub(super) struct Results {
    pub(super) count: u64,
    /// Description of the counted list.
    pub(super) place: String,
}

/// Finds and counts the results; `expected` goes into the mismatch if the result has no list.
pub(super) fn count(seen: &Observation, expected: &str) -> Result<Results, Mismatch> {
    let without = |message: String, actual: String| Mismatch {
        message,
        expected: expected.to_owned(),
        actual,
        diff: None,
        help: Some(format!("a list, or an object with a list under one of: {}, completion.values", KEYS.join(", "))),
    };
    let Some(document) = seen.json() else {
        let message = "nothing to count: the text is not JSON and structuredContent is missing".to_owned();
        return Err(without(message, excerpt::of_text(seen, 0..0)));
    };
    find(document).ok_or_else(|| {
        let seen = match document.as_object() {
            Some(map) => format!("the object has no list of results; {}", keys_seen(map.keys().map(String::as_str))),
            None => format!("nothing to count: the JSON is {}", kind_of(document)),
        };
        without(seen, excerpt::around(&document.to_string(), 0..0))
    })
}

fn find(document: &Value) -> Option<Results> {
    let results = |items: &Vec<Value>, place: String| Results { count: items.len() as u64, place };
    if let Some(items) = document.as_array() {
        return Some(results(items, "the list".to_owned()));
    }
    let found = KEYS.iter().find_map(|key| Some((*key, document.get(key)?.as_array()?)));
    let found = found.or_else(|| Some(("completion.values", document.pointer("/completion/values")?.as_array()?)));
    found.map(|(key, items)| results(items, format!("`{key}`")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::trial::text;
    use super::*;

    #[test]
    fn lists_are_found_where_servers_put_them() {
        for document in [json!([1, 2]), json!({"completion": {"values": ["a", "b"]}})] {
            assert_eq!(count(&text(&document.to_string()), "").expect("a list").count, 2, "{document}");
        }
        for key in KEYS {
            let found = count(&text(&json!({"other": [1], key: [1, 2]}).to_string()), "").expect("a list");
            assert_eq!((found.count, found.place), (2, format!("`{key}`")));
        }
        let both = count(&text(r#"{"results": [1], "items": "none"}"#), "").expect("a list");
        assert_eq!(both.place, "`results`");
    }

    #[test]
    fn without_a_list_the_keys_are_told() {
        let message = |content: &str| count(&text(content), "").expect_err("no list").message;
        assert_eq!(message(r#"{"hits": [1]}"#), "the object has no list of results; its keys are `hits`");
        assert_eq!(message("3"), "nothing to count: the JSON is a number");
        assert!(message("words").ends_with("not JSON and structuredContent is missing"));
    }
}
