//! Typical bugs as predicates: the cases of the default number meet each, and shrinking leads to the minimum.

use serde_json::{Value, json};

use super::plan::all_cases;
use super::{Shrinker, ValuePool};

/// Default number of cases per tool.
const COUNT: usize = 50;

/// Maximum number of attempts to shrink a case.
const ATTEMPTS: usize = 300;

struct Bug {
    name: &'static str,
    schema: Value,
    fails: fn(&Value) -> bool,
    minimum: Value,
}

/// A tool as there are many: one property that matters, four that do not.
fn tool(name: &str, schema: &Value) -> Value {
    json!({
        "type": "object",
        "properties": {
            name: schema,
            "kind": {"enum": ["one", "two"]},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
            "note": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}}
        },
        "required": [name, "kind"]
    })
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

fn text<'v>(arguments: &'v Value, name: &str) -> &'v str {
    arguments[name].as_str().unwrap_or_default()
}

fn bugs() -> Vec<Bug> {
    let string = json!({"type": "string"});
    let number = json!({"type": "integer"});
    vec![
        Bug {
            name: "throws on null",
            schema: tool("name", &string),
            fails: |arguments| arguments.get("name").is_some_and(Value::is_null),
            minimum: json!({"name": null}),
        },
        Bug {
            name: "throws on a missing property",
            schema: tool("name", &string),
            fails: |arguments| arguments.is_object() && arguments.get("name").is_none(),
            minimum: json!({}),
        },
        Bug {
            name: "throws on an empty text",
            schema: tool("name", &string),
            fails: |arguments| arguments["name"] == "",
            minimum: json!({"name": ""}),
        },
        Bug {
            name: "recurses on depth",
            schema: tool("data", &json!({"type": "object"})),
            fails: |arguments| depth(&arguments["data"]) >= 7,
            minimum: json!({"data": {"a": {"a": {"a": {"a": {"a": {"a": {}}}}}}}}),
        },
        Bug {
            name: "blows up a regular expression",
            schema: tool("name", &string),
            fails: |arguments| {
                let name = text(arguments, "name");
                name.len() >= 25
                    && name.trim_end_matches('!').chars().all(|letter| letter == 'a')
                    && name.ends_with('!')
            },
            minimum: json!({"name": format!("{}!", "a".repeat(24))}),
        },
        Bug {
            name: "overflows an integer",
            schema: tool("size", &number),
            fails: |arguments| arguments["size"].as_i64().is_some_and(|size| size > i64::from(i32::MAX)),
            minimum: json!({"size": 2_147_483_648_i64}),
        },
        Bug {
            name: "divides by zero",
            schema: tool("size", &number),
            fails: |arguments| arguments["size"] == 0,
            minimum: json!({"size": 0}),
        },
        Bug {
            name: "indexes with a negative number",
            schema: tool("size", &number),
            fails: |arguments| arguments["size"].as_i64().is_some_and(|size| size < 0),
            minimum: json!({"size": -1}),
        },
        Bug {
            name: "follows a path out of the folder",
            schema: tool("path", &string),
            fails: |arguments| text(arguments, "path").starts_with("../"),
            minimum: json!({"path": "../"}),
        },
        Bug {
            name: "hangs on unicode",
            schema: tool("name", &string),
            fails: |arguments| !text(arguments, "name").is_ascii(),
            minimum: json!({"name": "é"}),
        },
        Bug {
            name: "has a buffer of 4096",
            schema: tool("name", &string),
            fails: |arguments| text(arguments, "name").len() > 4096,
            minimum: json!({"name": "a".repeat(4097)}),
        },
        Bug {
            name: "stops at a NUL",
            schema: tool("name", &string),
            fails: |arguments| text(arguments, "name").contains('\0'),
            minimum: json!({"name": "\0"}),
        },
        Bug {
            name: "trusts an inner property",
            schema: tool(
                "options",
                &json!({"type": "object", "properties": {"deep": {"type": "boolean"}}, "required": ["deep"]}),
            ),
            fails: |arguments| arguments["options"].is_object() && arguments["options"].get("deep").is_none(),
            minimum: json!({"options": {}}),
        },
    ]
}

#[test]
fn every_bug_is_met_with_any_seed_and_shrunk_to_its_minimum() {
    let pool = ValuePool::default();
    for bug in bugs() {
        for seed in 0..5 {
            let cases = all_cases(&bug.schema, seed, COUNT, &pool);
            let met = cases.iter().find(|case| (bug.fails)(&case.arguments));
            let met = met.unwrap_or_else(|| panic!("\"{}\" is not met with seed {seed}", bug.name));
            let mut shrinker = Shrinker::new(met.arguments.clone(), ATTEMPTS);
            while let Some(candidate) = shrinker.next_candidate() {
                shrinker.tell((bug.fails)(&candidate));
            }
            assert_eq!(shrinker.best(), &bug.minimum, "\"{}\" from {}", bug.name, met.label);
        }
    }
}
