//! The checks of a `trajectory`: a list of items, each with a `type` that names the check.

use mcprove_model::{Diagnostics, Node, Observation, PlannedCheck, nearest};
use serde_json::{Map, Value, json};

use super::named::Names;
use super::{CheckKind, Seen};

mod absence;
mod args_contain;
mod count;
mod exact;
mod only;
mod order;
mod presence;

/// Every check of a trajectory. Items are reported in the order they are written in, so the order here is that of the
/// documentation.
pub(super) const CHECKS: &[CheckKind] =
    &[order::KIND, presence::KIND, absence::KIND, args_contain::KIND, count::KIND, exact::KIND, only::KIND];

/// Shown for a sequence without calls.
const NONE: &str = "no calls";

/// Three calls, for the examples.
const THREE: Seen = Seen::Trace(r#"[{"tool": "read"}, {"tool": "edit"}, {"tool": "read"}]"#);

const TOOLS: Names = Names {
    of: tools_of,
    missing: |tool| format!("{tool} was never called"),
    present: |tool, count| format!("{tool} was called, {}", times(count)),
    too_early: |tool, previous| format!("{tool} was not called after {previous}"),
    empty: NONE,
};

/// Decodes a `trajectory`; a list without items asks for nothing.
pub fn decode_trajectory(block: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let is_empty = block.is_null() || block.as_list().is_some_and(<[Node]>::is_empty);
    if is_empty {
        let help = "list what the calls must be like, for example `- {type: order, tools: [first, second]}`";
        let message = "`trajectory` is empty, so it checks nothing";
        found.warning("nothing-asked", block.span, message, Some(help.to_owned()));
        return Vec::new();
    }
    found.list(block, "`trajectory`").iter().flat_map(|item| decode_item(item, found)).collect()
}

/// The JSON Schema of a `trajectory`.
pub fn trajectory_schema() -> Value {
    let items: Vec<Value> = CHECKS
        .iter()
        .map(|kind| {
            let mut schema = (kind.schema)();
            schema["description"] = kind.summary.into();
            schema
        })
        .collect();
    json!({"type": "array", "items": {"oneOf": items}})
}

fn decode_item(item: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let names: Vec<&str> = CHECKS.iter().map(|kind| kind.name).collect();
    let Some(entries) = found.map(item, "an item of `trajectory`") else { return Vec::new() };
    let Some(node) = item.get("type").filter(|node| !node.is_null()) else {
        // A caret under the first key reads better than one under the whole item.
        let place = entries.first().map_or(item.span, |entry| entry.key.span);
        let help = format!("add `type:` with one of {}", names.join(", "));
        found.error_with_help("no-type", place, "this item of `trajectory` has no `type`", help);
        return Vec::new();
    };
    let Some(name) = found.text(node, "`type`") else { return Vec::new() };
    let Some(kind) = CHECKS.iter().find(|kind| kind.name == name) else {
        let help = match nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("types are {}", names.join(", ")),
        };
        found.error_with_help("unknown-type", node.span, format!("unknown type `{name}` in `trajectory`"), help);
        return Vec::new();
    };
    (kind.decode)(item, found)
}

/// The value of a key that an item must have; its absence is reported.
fn required<'n>(item: &'n Node, name: &str, key: &str, found: &mut Diagnostics<'_>) -> Option<&'n Node> {
    let value = item.get(key).filter(|value| !value.is_null());
    let keys = item.as_map().unwrap_or_default().iter().map(|entry| entry.key.text.as_str());
    // A key that is misspelt has a finding of its own.
    let is_misspelt = || keys.filter(|other| *other != "type").any(|other| nearest(other, [key]).is_some());
    if value.is_none() && !is_misspelt() {
        let place = item.as_map().and_then(<[_]>::first).map_or(item.span, |entry| entry.key.span);
        found.error_with_help("missing-key", place, format!("`{name}` needs `{key}`"), format!("add `{key}:`"));
    }
    value
}

/// The names under `tools`, which may be none: an item that says so means it.
fn tools(item: &Node, name: &str, found: &mut Diagnostics<'_>) -> Option<Vec<String>> {
    let node = required(item, name, "tools", found)?;
    let names = found.one_or_many(node).iter().filter_map(|tool| found.text(tool, "an item of `tools`"));
    Some(names.map(str::to_owned).collect())
}

fn tools_of(seen: &Observation) -> Vec<String> {
    seen.trace.iter().map(|call| call.tool.clone()).collect()
}

fn times(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => format!("{count} times"),
    }
}

/// The JSON Schema of an item: its type, and keys of its own; the required ones are listed.
fn item_schema(name: &str, properties: &[(&str, Value)], required: &[&str]) -> Value {
    let mut all = Map::new();
    all.insert("type".to_owned(), json!({"const": name, "description": "The assertion."}));
    all.extend(properties.iter().map(|(key, schema)| ((*key).to_owned(), schema.clone())));
    let required: Vec<&str> = std::iter::once("type").chain(required.iter().copied()).collect();
    json!({"type": "object", "additionalProperties": false, "properties": all, "required": required})
}

/// The JSON Schema of `tool`.
fn tool_schema() -> Value {
    json!({"type": "string", "description": "The tool."})
}

/// The JSON Schema of `tools`.
fn tools_schema() -> Value {
    described(super::shape::texts_schema(), "The tools.")
}

fn described(mut schema: Value, description: &str) -> Value {
    schema["description"] = description.into();
    schema
}

#[cfg(test)]
mod tests {
    use mcprove_model::{Finding, Severity, SourceFile, Span};

    use super::*;

    fn findings(items: Value) -> Vec<Finding> {
        let source = SourceFile::new("a.yaml", "");
        let mut found = Diagnostics::new(&source);
        decode_trajectory(&Node::from_json(Span::default(), items), &mut found);
        found.into_findings()
    }

    #[test]
    fn types_are_known_or_near() {
        let told = findings(json!([{"type": "ordr", "tools": ["a"]}, {"type": "loops"}, {"tools": ["a"]}, "order"]));
        let told: Vec<(&str, &str)> =
            told.iter().map(|f| (f.rule.as_ref(), f.help.as_deref().unwrap_or_default())).collect();
        assert_eq!(
            told,
            [
                ("unknown-type", "did you mean `order`?"),
                ("unknown-type", "types are order, presence, absence, args_contain, count, exact, only"),
                ("no-type", "add `type:` with one of order, presence, absence, args_contain, count, exact, only"),
                ("wrong-type", ""),
            ]
        );
    }

    #[test]
    fn lists_that_ask_for_nothing_are_told() {
        for items in [json!([]), Value::Null, json!([{"type": "order", "tools": []}])] {
            let found = findings(items.clone());
            assert_eq!(found.len(), 1, "{items}: {found:?}");
            assert_eq!((found[0].rule.as_ref(), found[0].severity), ("nothing-asked", Severity::Warning));
        }
    }

    #[test]
    fn keys_of_items_are_known_and_there() {
        let told = findings(json!([
            {"type": "presence", "tool": "a"}, {"type": "args_contain", "tool": "a"}, {"type": "count", "tool": "a"},
        ]));
        let messages: Vec<&str> = told.iter().map(|f| f.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "unknown key `tool` in `presence`",
                "`args_contain` needs `args`",
                "`count` has neither `min` nor `max`, so it checks nothing",
            ]
        );
    }
}
