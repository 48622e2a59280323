//! `${args.x}` in the answers of a mock.

use serde_json::Value;

/// Fills in every `${args.name}` of every text; what names no argument stays as it is.
pub(crate) fn fill(value: &Value, arguments: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(fill_text(text, arguments)),
        Value::Array(items) => Value::Array(items.iter().map(|item| fill(item, arguments)).collect()),
        Value::Object(map) => Value::Object(map.iter().map(|(k, v)| (k.clone(), fill(v, arguments))).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Fills in one text.
pub(crate) fn fill_text(text: &str, arguments: &Value) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${args.") {
        let (before, from) = rest.split_at(start);
        let Some(end) = from.find('}') else { break };
        filled.push_str(before);
        let (reference, after) = from.split_at(end + 1);
        match lookup(&reference["${args.".len()..end], arguments) {
            Some(Value::String(value)) => filled.push_str(value),
            Some(value) => filled.push_str(&value.to_string()),
            None => filled.push_str(reference),
        }
        rest = after;
    }
    filled.push_str(rest);
    filled
}

fn lookup<'v>(path: &str, arguments: &'v Value) -> Option<&'v Value> {
    path.split('.').try_fold(arguments, |value, key| value.get(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_are_filled_in_and_unknown_ones_stay() {
        let arguments = json!({"name": "Ada", "n": 3, "deep": {"x": true}});
        assert_eq!(
            fill_text("Hi ${args.name}, ${args.n} ${args.deep.x} ${args.gone} ${other} ${args.open", &arguments),
            "Hi Ada, 3 true ${args.gone} ${other} ${args.open"
        );
        assert_eq!(fill(&json!({"a": ["${args.n}"]}), &arguments), json!({"a": ["3"]}));
    }
}
