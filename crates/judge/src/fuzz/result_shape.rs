//! The shape that every revision of the protocol asks of a tool result.

use mcprove_model::json_kind;
use serde_json::Value;

/// The first fault in the shape of a tool result; only what is wrong in every revision counts.
pub(crate) fn fault(result: &Value) -> Option<String> {
    let Value::Object(map) = result else { return Some(format!("the result is {}, not an object", json_kind(result))) };
    // A result that asks for more input, or points to a task, has no content yet.
    let unfinished = map.get("resultType").is_some_and(|kind| kind != "complete") || map.contains_key("task");
    if let Some(flag) = map.get("isError").filter(|flag| !flag.is_boolean()) {
        return Some(format!("`isError` is {}, not a boolean", json_kind(flag)));
    }
    match map.get("content") {
        None if unfinished => None,
        None => Some("the result has no `content`".to_owned()),
        Some(Value::Array(items)) => items
            .iter()
            .enumerate()
            .find_map(|(at, item)| item_fault(item).map(|fault| format!("`content[{at}]` {fault}"))),
        Some(other) => Some(format!("`content` is {}, not a list", json_kind(other))),
    }
}

fn item_fault(item: &Value) -> Option<String> {
    let Value::Object(map) = item else { return Some(format!("is {}, not an object", json_kind(item))) };
    let Some(Value::String(name)) = map.get("type") else { return Some("has no `type`".to_owned()) };
    let needed: &[&str] = match name.as_str() {
        "text" => &["text"],
        "image" | "audio" => &["data", "mimeType"],
        "resource_link" => &["uri", "name"],
        "resource" => {
            let inner = map.get("resource").and_then(Value::as_object);
            let whole = inner.is_some_and(|inner| {
                inner.get("uri").is_some_and(Value::is_string)
                    && ["text", "blob"].iter().any(|key| inner.get(*key).is_some_and(Value::is_string))
            });
            return (!whole).then(|| "is a resource without `uri` and `text` or `blob`".to_owned());
        }
        // Other kinds belong to revisions that are not known here.
        _ => &[],
    };
    let missing = needed.iter().find(|key| !map.get(**key).is_some_and(Value::is_string))?;
    Some(format!("is of type `{name}` and has no text in `{missing}`"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn faults_are_told_and_good_results_have_none() {
        for good in [
            json!({"content": []}),
            json!({"content": [{"type": "text", "text": ""}], "isError": false, "structuredContent": [1]}),
            json!({"content": [{"type": "image", "data": "", "mimeType": "image/png"}]}),
            json!({"content": [{"type": "resource", "resource": {"uri": "a:b", "blob": ""}}]}),
            json!({"content": [{"type": "resource_link", "uri": "a:b", "name": "x"}]}),
            json!({"content": [{"type": "hologram"}]}),
            json!({"resultType": "input_required", "inputRequests": {}}),
            json!({"task": {"taskId": "1"}}),
        ] {
            assert_eq!(fault(&good), None, "{good}");
        }
        for (bad, told) in [
            (json!(null), "is null"),
            (json!({}), "no `content`"),
            (json!({"content": "text"}), "a string, not a list"),
            (json!({"content": [1]}), "`content[0]` is a number"),
            (json!({"content": [{"text": "x"}]}), "no `type`"),
            (json!({"content": [{"type": "text"}]}), "`text`"),
            (json!({"content": [{"type": "image", "data": ""}]}), "`mimeType`"),
            (json!({"content": [{"type": "resource", "resource": {"uri": "a:b"}}]}), "resource without"),
            (json!({"content": [], "isError": "false"}), "`isError` is a string"),
        ] {
            let fault = fault(&bad).expect("a fault");
            assert!(fault.contains(told), "{bad}: {fault}");
        }
    }
}
