//! Lenient views of what servers send: they take what is there and never fail.

use serde_json::{Map, Value};

use crate::bounded_json::{self, BoundedValue};

/// Maps up to this size are searched key by key: hashing a key costs more.
const FEW: usize = 8;

/// The member of an object.
pub fn member<'v>(map: &'v Map<String, Value>, key: &str) -> Option<&'v Value> {
    if map.len() > FEW {
        return map.get(key);
    }
    map.iter().find(|(name, _)| *name == key).map(|(_, value)| value)
}

/// The member of a value; none unless it is an object.
pub fn member_of<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    member(value.as_object()?, key)
}

/// The text of a tool result: every `type: "text"` item, joined by line breaks.
pub fn text_of_tool_result(result: &Value) -> String {
    let Some(items) = member_of(result, "content").and_then(Value::as_array) else { return String::new() };
    let mut text = String::new();
    let mut first = true;
    for item in items {
        if member_of(item, "type").and_then(Value::as_str) != Some("text") {
            continue;
        }
        if !first {
            text.push('\n');
        }
        first = false;
        text.push_str(member_of(item, "text").and_then(Value::as_str).unwrap_or_default());
    }
    text
}

/// The text of a read resource: each item's text, or what kind of blob it is and how long, joined by line breaks.
pub fn text_of_contents(result: &Value) -> String {
    let items = result.get("contents").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let shown = items.iter().map(|item| match (item.get("text"), item.get("blob")) {
        (Some(Value::String(text)), _) => text.clone(),
        (_, Some(Value::String(blob))) => {
            let kind = item.get("mimeType").and_then(Value::as_str).unwrap_or_default();
            format!("<blob mimeType=\"{kind}\" len={}>", blob.len())
        }
        (_, _) => item.to_string(),
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// The text of a prompt: its description, then each message's text (or its content as JSON), joined by line breaks.
pub fn text_of_prompt(result: &Value) -> String {
    let description = result.get("description").and_then(Value::as_str).filter(|text| !text.is_empty());
    let messages = result.get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let contents = messages.iter().filter_map(|message| message.get("content")).map(|content| {
        match content.get("text").and_then(Value::as_str) {
            Some(text) => text.to_owned(),
            None => content.to_string(),
        }
    });
    description.map(str::to_owned).into_iter().chain(contents).collect::<Vec<_>>().join("\n")
}

/// The JSON document in a text: the whole text, else the first document that begins on a line of its own.
///
/// Servers like to add a hint after their JSON, on the same or on later lines; existing suites rely on it being
/// skipped. A bare number or word in prose is not taken for a document: only objects and arrays are searched for.
pub fn first_json(text: &str) -> Option<Value> {
    bounded_json::parse(text).or_else(|| documents_at_lines(text).next())
}

/// The JSON documents in a text that begin on lines of their own: objects and lists, one after the other.
pub fn documents_at_lines(text: &str) -> impl Iterator<Item = Value> {
    /// Lines that look like the beginning of a document and are none; each may be read to the end of the text.
    const ATTEMPTS: usize = 200;
    let (mut rest, mut attempts) = (text, 0);
    std::iter::from_fn(move || {
        while attempts < ATTEMPTS {
            let trimmed = rest.trim_start();
            if trimmed.starts_with(['{', '[']) {
                let mut documents = serde_json::Deserializer::from_str(trimmed).into_iter::<BoundedValue>();
                if let Some(Ok(BoundedValue(value))) = documents.next() {
                    rest = &trimmed[documents.byte_offset()..];
                    return Some(value);
                }
                attempts += 1;
            }
            rest = trimmed.split_once('\n')?.1;
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn text_items_are_joined_and_the_rest_is_left_out() {
        let result = json!({"content": [
            {"type": "text", "text": "a"}, {"type": "image", "data": ""}, {"type": "text", "text": "b"}
        ]});
        assert_eq!(text_of_tool_result(&result), "a\nb");
        assert_eq!(text_of_tool_result(&json!({"content": "no list"})), "");
    }

    #[test]
    fn json_is_found_before_and_after_prose() {
        assert_eq!(first_json("3"), Some(json!(3)));
        assert_eq!(first_json("{\n \"a\": 1\n}\n\nhint: more"), Some(json!({"a": 1})));
        assert_eq!(first_json("Found 2:\n[1, 2]"), Some(json!([1, 2])));
        assert_eq!(first_json("nothing here"), None);
        assert_eq!(
            documents_at_lines("{\"a\":1} [2]\nlog [3]\n[4]").collect::<Vec<_>>(),
            [json!({"a": 1}), json!([2]), json!([4])]
        );
    }

    #[test]
    fn what_would_take_too_much_memory_is_no_document() {
        let grows = format!("[{}0]", "[],".repeat(2 << 20));
        assert_eq!(first_json(&grows), None);
        assert_eq!(first_json(&format!("{}[5]", "[0,\n".repeat(1 << 20))), None);
    }
}
