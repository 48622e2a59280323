//! Answers of a bounded size: agents pay for every token.

use serde_json::Value;

/// About how many characters a token has.
const CHARACTERS: usize = 4;

/// The value, shortened to a number of tokens: long strings are cut first, then lists, and each cut is marked.
pub(super) fn within(mut value: Value, tokens: u64) -> Value {
    let most = usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(CHARACTERS).max(400);
    let mut string = most;
    let mut items = usize::MAX;
    while value.to_string().len() > most && (string > 40 || items > 1) {
        string = (string / 2).max(40);
        items = items.min(longest(&value)) * 2 / 3;
        cut(&mut value, string, items.max(1));
    }
    value
}

fn longest(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(longest).max().unwrap_or(0).max(items.len()),
        Value::Object(map) => map.values().map(longest).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

fn cut(value: &mut Value, string: usize, items: usize) {
    match value {
        Value::String(text) => {
            if text.chars().count() > string {
                let kept: String = text.chars().take(string).collect();
                *text = format!("{kept}… (cut)");
            }
        }
        Value::Array(list) => {
            list.truncate(items);
            for item in list.iter_mut() {
                cut(item, string, items);
            }
        }
        Value::Object(map) => {
            let mut left_out = Vec::new();
            for (key, value) in map.iter_mut() {
                if let Value::Array(list) = value
                    && list.len() > items
                {
                    left_out.push((format!("{key}_left_out"), list.len() - items));
                }
                cut(value, string, items);
            }
            for (key, count) in left_out {
                let before = map.get(&key).and_then(Value::as_u64).unwrap_or(0);
                map.insert(key, (before + count as u64).into());
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn large_answers_are_cut_and_say_so() {
        let tools: Vec<Value> = (0..500).map(|n| json!({"name": n, "description": "x".repeat(300)})).collect();
        let small = within(json!({"tools": tools, "ok": true}), 500);
        assert!(small.to_string().len() <= 2_000, "{}", small.to_string().len());
        let (kept, left_out) = (small["tools"].as_array().expect("tools").len(), small["tools_left_out"].as_u64());
        assert_eq!(left_out, Some(500 - kept as u64));
        let tiny = json!({"ok": true});
        assert_eq!(within(tiny.clone(), 1), tiny);
    }
}
