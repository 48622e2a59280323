//! Relations between the results of related calls: the arguments of the second call, and the check of its result
//! against the first.

use mcprove_model::Relation;
use serde_json::{Map, Value};

/// The arguments of the related call; the error says why the relation cannot be tried with these arguments.
pub fn related_args(relation: &Relation, args: &Value) -> Result<Value, String> {
    let Some(map) = args.as_object() else { return Err("the call has no arguments to change".to_owned()) };
    let related = match relation {
        // The same call once more is the relation.
        Relation::Idempotent => return Ok(args.clone()),
        Relation::ArgOrderInsensitive if map.len() < 2 => {
            return Err("the call has fewer than two arguments".to_owned());
        }
        Relation::ArgOrderInsensitive => {
            let reversed = map.iter().rev().map(|(key, value)| (key.clone(), value.clone()));
            return Ok(Value::Object(reversed.collect()));
        }
        Relation::CaseInsensitive => {
            let lower = with_texts(map, str::to_lowercase);
            if lower == *map { with_texts(map, str::to_uppercase) } else { lower }
        }
        Relation::WhitespaceInsensitive => with_texts(map, |text| format!("  {text} ")),
        Relation::NoopFilter { arg, value } | Relation::SubsetUnderFilter { arg, value } => {
            let mut items = match map.get(arg) {
                Some(Value::Array(items)) => items.clone(),
                Some(_) => return Err(format!("`{arg}` is not a list")),
                None => Vec::new(),
            };
            items.push(value.clone());
            with(map, arg, Value::Array(items))
        }
        Relation::Monotone { arg } | Relation::LimitSuperset { arg } => {
            let number = match map.get(arg) {
                Some(Value::Number(number)) => number,
                Some(_) => return Err(format!("`{arg}` is not a number")),
                None => return Err(format!("the call has no argument `{arg}`")),
            };
            let more = match (number.as_i64(), number.as_f64()) {
                (Some(whole), _) => Value::from(whole.saturating_mul(2).saturating_add(1)),
                (None, broken) => Value::from(broken.unwrap_or_default() * 2.0 + 1.0),
            };
            with(map, arg, more)
        }
        Relation::DuplicateInsensitive { arg } => match map.get(arg) {
            Some(Value::Array(items)) => match items.first() {
                Some(first) => {
                    let items = items.iter().chain([first]).cloned().collect();
                    with(map, arg, Value::Array(items))
                }
                None => return Err(format!("`{arg}` is empty")),
            },
            Some(_) => return Err(format!("`{arg}` is not a list")),
            None => return Err(format!("the call has no argument `{arg}`")),
        },
        Relation::SymmetricArgs { arg_a, arg_b } => {
            let (Some(a), Some(b)) = (map.get(arg_a), map.get(arg_b)) else {
                return Err(format!("the call does not have both `{arg_a}` and `{arg_b}`"));
            };
            with(&with(map, arg_a, b.clone()), arg_b, a.clone())
        }
        Relation::SubstitutionInsensitive { arg, from, to } => match map.get(arg) {
            Some(Value::String(text)) => with(map, arg, Value::String(text.replace(from.as_str(), to))),
            Some(_) => return Err(format!("`{arg}` is not a text")),
            None => return Err(format!("the call has no argument `{arg}`")),
        },
    };
    // A call that is the same by accident proves nothing.
    if related == *map { Err("it changes nothing in these arguments".to_owned()) } else { Ok(Value::Object(related)) }
}

/// Says how the result of the related call breaks the relation, if it does.
pub fn violation(relation: &Relation, base: &Value, related: &Value) -> Option<String> {
    let (before, after) = (items(base), items(related));
    match relation {
        Relation::Idempotent
        | Relation::ArgOrderInsensitive
        | Relation::CaseInsensitive
        | Relation::WhitespaceInsensitive
        | Relation::DuplicateInsensitive { .. }
        | Relation::SymmetricArgs { .. }
        | Relation::SubstitutionInsensitive { .. } => {
            (base != related).then(|| "the result changed, though it must not".to_owned())
        }
        Relation::NoopFilter { .. } | Relation::Monotone { .. } => {
            (after.len() < before.len()).then(|| format!("{} items became {}", before.len(), after.len()))
        }
        Relation::SubsetUnderFilter { .. } => {
            let new = after.iter().filter(|item| !before.contains(item)).count();
            (new > 0 || after.len() > before.len()).then(|| format!("{new} items came that were not there before"))
        }
        Relation::LimitSuperset { .. } => {
            let lost = before.iter().filter(|item| !after.contains(item)).count();
            (lost > 0).then(|| format!("{lost} items that were there before are gone"))
        }
    }
}

/// The items of a result: the only list of its structured content, the list that its text is, or its content.
fn items(result: &Value) -> Vec<Value> {
    let structured = result.get("structuredContent").and_then(|value| match value {
        Value::Array(items) => Some(items.clone()),
        Value::Object(map) => {
            let mut lists = map.values().filter_map(Value::as_array);
            lists.next().filter(|_| lists.next().is_none()).cloned()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    });
    let content = || result.get("content").and_then(Value::as_array).cloned().unwrap_or_default();
    let text = || {
        let [one] = &content()[..] else { return None };
        serde_json::from_str::<Value>(one.get("text")?.as_str()?).ok()?.as_array().cloned()
    };
    structured.or_else(text).unwrap_or_else(content)
}

fn with(map: &Map<String, Value>, key: &str, value: Value) -> Map<String, Value> {
    let mut map = map.clone();
    map.insert(key.to_owned(), value);
    map
}

fn with_texts(map: &Map<String, Value>, change: impl Fn(&str) -> String) -> Map<String, Value> {
    let changed = |(key, value): (&String, &Value)| match value {
        Value::String(text) => (key.clone(), Value::String(change(text))),
        other => (key.clone(), other.clone()),
    };
    map.iter().map(changed).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn filter(is_noop: bool) -> Relation {
        let (arg, value) = ("tags".to_owned(), json!("x"));
        if is_noop { Relation::NoopFilter { arg, value } } else { Relation::SubsetUnderFilter { arg, value } }
    }

    #[test]
    fn arguments_are_changed_in_one_way_each() {
        let args = json!({"q": "Ab", "limit": 2, "tags": ["a"]});
        for (relation, related) in [
            (Relation::Idempotent, args.clone()),
            (Relation::ArgOrderInsensitive, json!({"tags": ["a"], "limit": 2, "q": "Ab"})),
            (Relation::CaseInsensitive, json!({"q": "ab", "limit": 2, "tags": ["a"]})),
            (Relation::WhitespaceInsensitive, json!({"q": "  Ab ", "limit": 2, "tags": ["a"]})),
            (filter(true), json!({"q": "Ab", "limit": 2, "tags": ["a", "x"]})),
            (Relation::Monotone { arg: "limit".to_owned() }, json!({"q": "Ab", "limit": 5, "tags": ["a"]})),
            (
                Relation::DuplicateInsensitive { arg: "tags".to_owned() },
                json!({"q": "Ab", "limit": 2, "tags": ["a", "a"]}),
            ),
            (
                Relation::SymmetricArgs { arg_a: "q".to_owned(), arg_b: "limit".to_owned() },
                json!({"q": 2, "limit": "Ab", "tags": ["a"]}),
            ),
            (
                Relation::SubstitutionInsensitive { arg: "q".to_owned(), from: "A".to_owned(), to: "O".to_owned() },
                json!({"q": "Ob", "limit": 2, "tags": ["a"]}),
            ),
        ] {
            assert_eq!(related_args(&relation, &args), Ok(related), "{relation:?}");
        }
        assert_eq!(related_args(&Relation::CaseInsensitive, &json!({"q": "ab"})), Ok(json!({"q": "AB"})));
    }

    #[test]
    fn a_relation_that_changes_nothing_cannot_be_tried() {
        for (relation, args) in [
            (Relation::CaseInsensitive, json!({"n": 1})),
            (Relation::WhitespaceInsensitive, json!({})),
            (Relation::ArgOrderInsensitive, json!({"a": 1})),
            (Relation::Monotone { arg: "n".to_owned() }, json!({"n": "1"})),
            (Relation::DuplicateInsensitive { arg: "a".to_owned() }, json!({"a": []})),
            (Relation::SymmetricArgs { arg_a: "a".to_owned(), arg_b: "b".to_owned() }, json!({"a": 1, "b": 1})),
        ] {
            assert!(related_args(&relation, &args).is_err(), "{relation:?}");
        }
    }

    #[test]
    fn each_relation_finds_its_violation_and_is_silent_otherwise() {
        let list = |items: &[i64]| json!({"content": [{"type": "text", "text": json!(items).to_string()}]});
        let limit = Relation::LimitSuperset { arg: "n".to_owned() };
        for (relation, base, good, bad) in [
            (Relation::Idempotent, list(&[1]), list(&[1]), list(&[2])),
            (filter(true), list(&[1, 2]), list(&[1, 2]), list(&[1])),
            (filter(false), list(&[1, 2]), list(&[1]), list(&[3])),
            (Relation::Monotone { arg: "n".to_owned() }, list(&[1, 2]), list(&[3, 4, 5]), list(&[1])),
            (limit, list(&[1, 2]), list(&[1, 2, 3]), list(&[2, 3, 4])),
        ] {
            assert_eq!(violation(&relation, &base, &good), None, "{relation:?}");
            assert!(violation(&relation, &base, &bad).is_some(), "{relation:?}");
        }
    }
}
