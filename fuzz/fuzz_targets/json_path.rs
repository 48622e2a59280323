//! JSON paths: the first line is a path, the rest a document. A path is refused with a word or can be asked anything.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcprove_judge::JsonPath;
use serde_json::{Value, json};

fuzz_target!(|text: &str| {
    let (path, document) = text.split_once('\n').unwrap_or((text, ""));
    let Ok(path) = JsonPath::parse(path) else { return };
    let document: Value = serde_json::from_str(document)
        .unwrap_or_else(|_| json!({"a": {"b": [1, {"c": "x"}, [2, 3], null, true]}, "my-key": "y", "": {"é": 1e9}}));
    let found = path.query(&document).len();
    assert!(!path.is_singular() || found <= 1, "a path to one place found {found}");
});
