//! Output of a server in a result: every text and object that another server could be handed.

use serde_json::Value;

use super::json_text::{self, Inside};
use super::parts::{self, NESTING, ValuePart, Want};

/// Something a server said.
#[derive(Clone, Copy, Debug)]
pub(super) enum Output<'a, 'v> {
    /// The text of a content block, or a whole string of structured content or of JSON text.
    Text(SaidPart<'a, 'v>),
    /// A whole object of structured content or of JSON text, by the hash of what it means.
    Object(u64),
}

/// A text a server said.
#[derive(Clone, Copy, Debug)]
pub(super) struct SaidPart<'a, 'v> {
    pub(super) text: &'a str,
    /// The same text where it lasts as long as the result; JSON text is read and forgotten.
    pub(super) lasting: Option<&'v str>,
    /// True if it also occurs verbatim in an earlier text.
    pub(super) repeated: bool,
}

/// Calls `see` with everything a result says, whatever kind of result it is.
pub(super) fn outputs<'v>(result: &'v Value, want: Want, see: &mut dyn FnMut(Output<'_, 'v>)) {
    for text in block_texts(result) {
        say(SaidPart { text, lasting: Some(text), repeated: false }, want, NESTING, see);
    }
    if let Some(structured) = result.get("structuredContent") {
        parts::walk(structured, want, &mut |_, part| match part {
            ValuePart::Text(text) => say(SaidPart { text, lasting: Some(text), repeated: false }, want, NESTING, see),
            ValuePart::Object(_, hash) => see(Output::Object(hash)),
        });
    }
}

fn say<'v>(said: SaidPart<'_, 'v>, want: Want, nesting: usize, see: &mut dyn FnMut(Output<'_, 'v>)) {
    see(Output::Text(said));
    if nesting == 0 {
        return;
    }
    // Without escapes, text inside JSON text is also in the text itself.
    let repeated = !said.text.contains('\\');
    json_text::read(said.text, want, &mut |inside| match inside {
        Inside::Text(text) => say(SaidPart { text, lasting: None, repeated }, want, nesting - 1, see),
        Inside::Object(hash) => see(Output::Object(hash)),
    });
}

/// The payload of every content block: of tool results, of read resources and of prompts.
fn block_texts(result: &Value) -> Vec<&str> {
    let messages = listed(result.get("messages")).filter_map(|message| message.get("content"));
    let blocks = result.get("content").into_iter().chain(result.get("contents")).chain(messages);
    blocks.flat_map(|block| listed(Some(block))).flat_map(payload).collect()
}

/// The items of a list; anything else stands for a list of one, because servers are not always right.
fn listed(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    let items = match value {
        Some(Value::Array(items)) => items.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    items.iter()
}

fn payload(block: &Value) -> Vec<&str> {
    if let Value::String(text) = block {
        return vec![text];
    }
    let is_link = block.get("type").and_then(Value::as_str) == Some("resource_link");
    let resource = block.get("resource");
    let fields = [
        block.get("text"),
        block.get("data"),
        block.get("blob"),
        block.get("uri").filter(|_| is_link),
        resource.and_then(|resource| resource.get("text")),
        resource.and_then(|resource| resource.get("blob")),
    ];
    fields.into_iter().flatten().filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn texts(result: &Value) -> Vec<String> {
        let mut texts = Vec::new();
        outputs(result, Want::Texts, &mut |output| match output {
            Output::Text(said) => texts.push(said.text.to_owned()),
            Output::Object(_) => unreachable!("only texts were asked for"),
        });
        texts
    }

    #[test]
    fn every_kind_of_block_says_its_payload() {
        let result = json!({"content": [
            {"type": "text", "text": "a"},
            {"type": "image", "data": "b", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "x:y", "text": "c"}},
            {"type": "resource_link", "uri": "d", "name": "n"},
            "e", 7, null,
        ]});
        assert_eq!(texts(&result), ["a", "b", "c", "d", "e"]);
        assert_eq!(texts(&json!({"content": "plain"})), ["plain"]);
        assert_eq!(texts(&json!({"contents": [{"uri": "x:y", "text": "f"}]})), ["f"]);
        assert_eq!(texts(&json!({"messages": [{"role": "user", "content": {"type": "text", "text": "g"}}]})), ["g"]);
        assert!(texts(&json!(null)).is_empty());
    }

    #[test]
    fn strings_are_found_inside_structured_content_and_json_text_and_json_in_json() {
        assert_eq!(texts(&json!({"structuredContent": {"a": {"c": "y"}, "b": ["x"]}})), ["y", "x"]);
        let inner = json!({"body": json!({"deep": "z"}).to_string()}).to_string();
        let said = texts(&json!({"content": [{"type": "text", "text": inner}]}));
        assert_eq!(said, [inner.as_str(), r#"{"deep":"z"}"#, "z"]);
    }

    #[test]
    fn only_what_stands_escaped_is_told_anew() {
        let repeated = |text: &str| {
            let result = json!({"content": [{"type": "text", "text": text}]});
            let mut seen = Vec::new();
            outputs(&result, Want::Texts, &mut |output| {
                if let Output::Text(said) = output {
                    seen.push(said.repeated);
                }
            });
            seen
        };
        assert_eq!(repeated(r#"{"a": "plain"}"#), [false, true]);
        assert_eq!(repeated(r#"{"a": "two\nlines"}"#), [false, false]);
    }
}
