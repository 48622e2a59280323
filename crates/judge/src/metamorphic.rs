//! Relations between the results of related calls: the arguments of the second call, and the check of its result
//! against the first.

use mcprove_model::{Relation, bounded_json};
use serde_json::{Map, Value};

/// The arguments of the related calls, given the result of the call itself: one call, or one for each page of a list.
pub fn related_calls(relation: &Relation, args: &Value, base: &Value) -> Result<Vec<Value>, String> {
    let count = items(base).len();
    match relation {
        Relation::LimitPrefix { arg } => {
            let map = args.as_object().ok_or("the call has no arguments to change")?;
            if count < 2 {
                return Err("the result has fewer than two items".to_owned());
            }
            Ok(vec![Value::Object(with(map, arg, Value::from(count / 2)))])
        }
        Relation::PagesConcatenate { limit, offset } => {
            let map = args.as_object().ok_or("the call has no arguments to change")?;
            if count < 2 {
                return Err("the result has fewer than two items".to_owned());
            }
            let size = count.div_ceil(3).max(1);
            let page = |begin: usize| Value::Object(with(&with(map, limit, size.into()), offset, begin.into()));
            Ok((0..count).step_by(size).map(page).collect())
        }
        _ => related_args(relation, args).map(|args| vec![args]),
    }
}

/// Says how the results of the related calls break the relation, if they do.
pub fn violation_of(relation: &Relation, base: &Value, related: &[Value]) -> Option<String> {
    if let Relation::PagesConcatenate { .. } = relation {
        let (whole, pages) = (items(base), related.iter().flat_map(items).collect::<Vec<_>>());
        return (whole != pages).then(|| {
            let lost = whole.iter().filter(|item| !pages.contains(item)).count();
            format!("the pages have {} items, the whole has {}; {lost} are on no page", pages.len(), whole.len())
        });
    }
    related.iter().find_map(|related| violation(relation, base, related))
}

/// Relations that a tool should keep, judged by its schema and annotations: `mcprove fuzz --propose`.
pub fn proposals(tool: &Value) -> Vec<Relation> {
    let schema = tool.get("inputSchema");
    let properties = schema.and_then(|schema| schema.get("properties")).and_then(Value::as_object);
    let hint = |name: &str| tool.get("annotations").and_then(|hints| hints.get(name)) == Some(&Value::Bool(true));
    let mut found = Vec::new();
    if !hint("readOnlyHint") {
        return found;
    }
    found.push(Relation::Idempotent);
    let find = |names: &[&str], kind: &str| {
        properties.into_iter().flatten().find_map(|(name, own)| {
            let plain = name.replace(['_', '-'], "").to_lowercase();
            let is_kind = own.get("type").and_then(Value::as_str) == Some(kind);
            (names.contains(&plain.as_str()) && is_kind).then(|| (name.clone(), own.clone()))
        })
    };
    if properties.is_some_and(|properties| properties.len() > 1) {
        found.push(Relation::ArgOrderInsensitive);
    }
    let limit = find(&["limit", "maxresults", "pagesize", "perpage", "top", "first"], "integer");
    if let Some((arg, _)) = &limit {
        found.push(Relation::LimitPrefix { arg: arg.clone() });
    }
    if let (Some((limit, _)), Some((offset, _))) = (&limit, find(&["offset", "skip"], "integer")) {
        found.push(Relation::PagesConcatenate { limit: limit.clone(), offset });
    }
    if let Some((arg, own)) = find(&["sort", "sortby", "orderby", "order"], "string") {
        let orders = own.get("enum").and_then(Value::as_array).into_iter().flatten();
        found.extend(orders.map(|value| Relation::SortPermutes { arg: arg.clone(), value: value.clone() }));
    }
    let description = tool.get("description").and_then(Value::as_str).unwrap_or_default().to_lowercase();
    if description.contains("case-insensitive") || description.contains("case insensitive") {
        found.push(Relation::CaseInsensitive);
    }
    found
}

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
        Relation::SortPermutes { arg, value } | Relation::FilterNarrows { arg, value } => with(map, arg, value.clone()),
        Relation::LimitPrefix { .. } | Relation::PagesConcatenate { .. } => {
            return Err("it depends on the result".to_owned());
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
        Relation::LimitPrefix { .. } => {
            let wanted = before.len() / 2;
            let is_prefix = after.len() <= wanted && before.starts_with(&after) && !after.is_empty();
            (!is_prefix).then(|| format!("a limit of {wanted} gives {} items, not the first of the list", after.len()))
        }
        Relation::PagesConcatenate { .. } => None,
        Relation::SortPermutes { .. } => {
            let is_same = before.len() == after.len() && before.iter().all(|item| after.contains(item));
            (!is_same).then(|| format!("{} items became {} others", before.len(), after.len()))
        }
        Relation::FilterNarrows { .. } | Relation::SubsetUnderFilter { .. } => {
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
    let structured = result.get("structuredContent").and_then(list_of);
    let content = || result.get("content").and_then(Value::as_array).cloned().unwrap_or_default();
    let text = || {
        let [one] = &content()[..] else { return None };
        list_of(&bounded_json::parse(one.get("text")?.as_str()?)?)
    };
    structured.or_else(text).unwrap_or_else(content)
}

/// The list that a value is, or that is the only one among its properties.
fn list_of(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(items) => Some(items.clone()),
        Value::Object(map) => {
            let mut lists = map.values().filter_map(Value::as_array);
            lists.next().filter(|_| lists.next().is_none()).cloned()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
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
    fn pages_and_limits_follow_the_length_of_the_list() {
        let list = |items: &[i64]| json!({"content": [{"type": "text", "text": json!(items).to_string()}]});
        let pages = Relation::PagesConcatenate { limit: "limit".to_owned(), offset: "offset".to_owned() };
        let calls = related_calls(&pages, &json!({}), &list(&[1, 2, 3, 4])).expect("calls");
        assert_eq!(calls, [json!({"limit": 2, "offset": 0}), json!({"limit": 2, "offset": 2})]);
        assert_eq!(violation_of(&pages, &list(&[1, 2, 3]), &[list(&[1, 2]), list(&[3])]), None);
        assert!(violation_of(&pages, &list(&[1, 2, 3]), &[list(&[1, 2]), list(&[2, 3])]).is_some());
        assert!(related_calls(&pages, &json!({}), &list(&[1])).is_err());
        let prefix = Relation::LimitPrefix { arg: "n".to_owned() };
        assert_eq!(related_calls(&prefix, &json!({}), &list(&[1, 2, 3, 4])), Ok(vec![json!({"n": 2})]));
        assert_eq!(violation_of(&prefix, &list(&[1, 2, 3, 4]), &[list(&[1, 2])]), None);
        assert!(violation_of(&prefix, &list(&[1, 2, 3, 4]), &[list(&[1, 2, 3])]).is_some());
        assert!(violation_of(&prefix, &list(&[1, 2, 3, 4]), &[list(&[2, 3])]).is_some());
        let sort = Relation::SortPermutes { arg: "sort".to_owned(), value: json!("id") };
        assert_eq!(violation_of(&sort, &list(&[1, 2]), &[list(&[2, 1])]), None);
        assert!(violation_of(&sort, &list(&[1, 2]), &[list(&[2])]).is_some());
        let narrows = Relation::FilterNarrows { arg: "q".to_owned(), value: json!("a") };
        assert_eq!(violation_of(&narrows, &list(&[1, 2]), &[list(&[2])]), None);
        assert!(violation_of(&narrows, &list(&[1, 2]), &[list(&[3])]).is_some());
    }

    #[test]
    fn relations_are_proposed_from_the_schema_of_tools_that_read() {
        let tool = |read_only: bool| {
            json!({"name": "list", "annotations": {"readOnlyHint": read_only}, "inputSchema": {
            "properties": {"limit": {"type": "integer"}, "offset": {"type": "integer"}, "sort": {"type": "string", "enum": ["id"]}}}})
        };
        let names: Vec<&str> = proposals(&tool(true)).iter().map(Relation::name).collect();
        assert_eq!(
            names,
            ["idempotent", "arg_order_insensitive", "limit_prefix", "pages_concatenate", "sort_permutes"]
        );
        assert!(proposals(&tool(false)).is_empty());
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
