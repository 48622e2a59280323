//! The fix on hand-written texts, where every byte counts, and on random schemas, where no meaning may be lost.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::lint::lint;
use crate::{Catalog, Selection, SelectionOptions, TightenOptions, Tightened};

fn tightened_by(text: &str, options: TightenOptions) -> Tightened {
    let catalog = Catalog::read("tools.json", text.as_bytes().to_vec()).expect(text);
    catalog.tighten(options).expect("a file")
}

fn tightened(text: &str) -> String {
    tightened_by(text, TightenOptions::default()).text
}

#[test]
fn what_has_a_default_stays_optional() {
    let text = r#"[{"name":"t","inputSchema":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer","default":3}}}}]"#;
    let result = tightened_by(text, TightenOptions::default());
    assert!(result.text.contains(r#""required":["a"]"#), "{}", result.text);
    let text = r#"[{"name":"t","inputSchema":{"type":"object","properties":{"b":{"type":"integer","default":3}},"additionalProperties":false}}]"#;
    assert_eq!(tightened_by(text, TightenOptions::default()).text, text);
}

#[test]
fn the_layout_of_the_file_is_kept() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"object","properties":{"b":{}}}}}"#;
    let strict = r#"{"type":"object","properties":{"a":{"type":"object","properties":{"b":{}},"required":["b"],"additionalProperties":false}},"required":["a"],"additionalProperties":false}"#;
    let pretty = |schema: &str, indent: &str| {
        let value: Value = serde_json::from_str(schema).expect(schema);
        let text = serde_json::to_string_pretty(&json!([{"name": "t", "inputSchema": value}])).expect("JSON");
        let line = |line: &str| {
            let bare = line.trim_start();
            indent.repeat((line.len() - bare.len()) / 2) + bare
        };
        text.lines().map(line).collect::<Vec<_>>().join("\n")
    };
    for indent in ["  ", "    ", "\t", " "] {
        assert_eq!(tightened(&pretty(schema, indent)), pretty(strict, indent));
        let (dos, dos_strict) =
            (pretty(schema, indent).replace('\n', "\r\n"), pretty(strict, indent).replace('\n', "\r\n"));
        assert_eq!(tightened(&(dos + "\r\n")), dos_strict + "\r\n");
    }
    let tools = |schema: &str| format!(r#"{{"tools":[{{"name":"t","inputSchema":{schema}}}]}}"#);
    assert_eq!(tightened(&tools(schema)), tools(strict));
    let spaced = |text: &str| text.replace(':', ": ").replace(',', ", ");
    assert_eq!(tightened(&spaced(&tools(schema))), spaced(&tools(strict)));
}

#[test]
fn only_what_changes_is_touched() {
    for (before, after) in [
        // After `properties`, wherever it is; the rest of the object keeps its place.
        (
            r#"{ "properties": { "a": {} }, "type": "object" }"#,
            r#"{ "properties": { "a": {} }, "required": ["a"], "additionalProperties": false, "type": "object" }"#,
        ),
        (r#"{"properties":{"a":{}}}"#, r#"{"properties":{"a":{}},"required":["a"],"additionalProperties":false}"#),
        (r"{}", r#"{"additionalProperties":false}"#),
        (r#"{"type":"object"}"#, r#"{"type":"object","additionalProperties":false}"#),
        // A keyword with the opposite meaning is replaced in place.
        (
            r#"{"additionalProperties" : true, "properties": {"a": {}}, "required": [ ]}"#,
            r#"{"additionalProperties" : false, "properties": {"a": {}}, "required": ["a"]}"#,
        ),
        (
            r#"{"additionalProperties":{},"properties":{"a":{}},"required":true}"#,
            r#"{"additionalProperties":false,"properties":{"a":{}},"required":["a"]}"#,
        ),
        // A list that is there grows at its end, in its own style and order.
        (
            r#"{"properties":{"a":{},"b":{},"c":{}},"required":["c" , "x"],"additionalProperties":false}"#,
            r#"{"properties":{"a":{},"b":{},"c":{}},"required":["c" , "x", "a", "b"],"additionalProperties":false}"#,
        ),
        (
            "{\"properties\":{\"a\":{},\"b\":{}},\"required\":[\n \"b\"\n],\"additionalProperties\":false}",
            "{\"properties\":{\"a\":{},\"b\":{}},\"required\":[\n \"b\",\n \"a\"\n],\"additionalProperties\":false}",
        ),
        // Names are taken over as they are written.
        (
            r#"{"properties":{"\u0061\"b":{}},"additionalProperties":false}"#,
            r#"{"properties":{"\u0061\"b":{}},"required":["\u0061\"b"],"additionalProperties":false}"#,
        ),
        (
            r#"{"properties":{"\u0061":{},"a":{}},"required":["a"],"additionalProperties":false}"#,
            r#"{"properties":{"\u0061":{},"a":{}},"required":["a"],"additionalProperties":false}"#,
        ),
    ] {
        let tools = |schema: &str| format!(r#"[{{"name":"t","inputSchema":{schema}}}]"#);
        let before = if before.contains(": ") {
            tools(before).replace("\":{", "\": {").replace("\":\"", "\": \"")
        } else {
            tools(before)
        };
        let after = if after.contains(": ") {
            tools(after).replace("\":{", "\": {").replace("\":\"", "\": \"")
        } else {
            tools(after)
        };
        assert_eq!(tightened(&before), after);
    }
}

#[test]
fn what_it_would_break_is_left_alone() {
    for schema in [
        // Maps.
        r#"{"type":"object","properties":{"m":{"type":"object","additionalProperties":{"type":"integer"}}},"required":["m"],"additionalProperties":false}"#,
        r#"{"type":"object","additionalProperties":true}"#,
        r#"{"type":"object","properties":{"m":{"type":"object"}},"required":["m"],"additionalProperties":false}"#,
        // Alternatives that decide what is there.
        r#"{"type":"object","properties":{"a":{},"b":{}},"oneOf":[{"required":["a"]},{"required":["b"]}],"additionalProperties":false}"#,
        r#"{"type":"object","properties":{"a":{},"b":{}},"not":{"required":["a","b"]},"additionalProperties":false}"#,
        r#"{"type":"object","properties":{"a":{},"b":{}},"maxProperties":1,"additionalProperties":false}"#,
        // An object that would have to hold itself, and a name that is forbidden.
        r##"{"type":"object","properties":{"next":{"$ref":"#"}},"additionalProperties":false}"##,
        r#"{"type":"object","properties":{"a":false,"b":{"not":{}}},"additionalProperties":false}"#,
        // Conditions.
        r#"{"type":"object","properties":{"a":{}},"required":["a"],"additionalProperties":false,"if":{"properties":{"a":{}}},"not":{"properties":{"z":{}}}}"#,
    ] {
        let tools = format!(r#"[{{"name":"t","inputSchema":{schema}}}]"#);
        let result = tightened_by(&tools, TightenOptions::default());
        assert_eq!((result.text, result.changed), (tools, 0));
    }
}

#[test]
fn combined_schemas_are_closed_as_a_whole() {
    let before = r##"[{"name":"t","inputSchema":{"type":"object","allOf":[{"$ref":"#/$defs/A"},{"properties":{"b":{}}}],"$defs":{"A":{"properties":{"a":{}}}}}}]"##;
    let after = r##"[{"name":"t","inputSchema":{"type":"object","allOf":[{"$ref":"#/$defs/A"},{"properties":{"b":{}},"required":["b"]}],"$defs":{"A":{"properties":{"a":{}},"required":["a"]}},"unevaluatedProperties":false}}]"##;
    assert_eq!(tightened(before), after);
}

#[test]
fn alternatives_are_closed_one_by_one() {
    let tools = |end: &str| {
        let branch = |name: &str| {
            format!(
                r#"{{"type":"object","properties":{{"p":{{"type":"object","properties":{{"{name}":{{}}}}{}}}}}{}}}"#,
                end.replace('N', name),
                end.replace('N', "p")
            )
        };
        format!(
            r#"[{{"name":"t","inputSchema":{{"type":"object","properties":{{"q":{{"anyOf":[{},{}]}}}}{}}}}}]"#,
            branch("x"),
            branch("y"),
            end.replace('N', "q")
        )
    };
    assert_eq!(tightened(&tools("")), tools(r#","required":["N"],"additionalProperties":false"#));
}

#[test]
fn optional_parameters_can_be_kept() {
    let before = r#"[{"name":"t","inputSchema":{"properties":{"a":{},"b":{"properties":{"c":{}}}},"required":["a"]}}]"#;
    let kept = r#"[{"name":"t","inputSchema":{"properties":{"a":{},"b":{"properties":{"c":{}},"required":["c"],"additionalProperties":false}},"additionalProperties":false,"required":["a"]}}]"#;
    assert_eq!(tightened_by(before, TightenOptions { keep_optional: true }).text, kept);
}

#[test]
fn what_became_required_is_told() {
    let text = r##"{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"a":{},"b":{},"again":{"$ref":"#"}},"required":["a"]}}]}"##;
    let result = tightened_by(text, TightenOptions::default());
    assert_eq!(result.changed, 1);
    let [told] = result.required.as_slice() else { panic!("{:?}", result.required) };
    assert_eq!((told.tool.as_str(), told.pointer.as_str()), ("t", "/tools/0/inputSchema"));
    assert_eq!(
        (told.names.as_slice(), told.kept.as_slice()),
        (["b".to_owned()].as_slice(), ["again".to_owned()].as_slice())
    );
}

#[test]
fn several_pages_are_edited_where_they_stand() {
    let page = |schema: &str| format!("{{\"result\":{{\"tools\":[{{\"name\":\"t\",\"inputSchema\":{schema}}}]}}}}\n");
    let (loose, strict) = (r#"{"type":"object"}"#, r#"{"type":"object","additionalProperties":false}"#);
    assert_eq!(tightened(&(page(loose) + &page(loose))), page(strict) + &page(strict));
}

/// True if a schema differs only in what the fix may do to it.
fn only_tightened(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let kept: Vec<&String> = after.keys().filter(|key| before.contains_key(*key)).collect();
            let same_order = kept.into_iter().eq(before.keys());
            let added = |key: &str| ["required", "additionalProperties", "unevaluatedProperties"].contains(&key);
            same_order
                && after.iter().all(|(key, value)| match (key.as_str(), before.get(key)) {
                    ("required", None | Some(Value::Bool(_))) => true,
                    ("required", Some(Value::Array(old))) => value.as_array().is_some_and(|new| new.starts_with(old)),
                    ("additionalProperties", Some(old)) if *value == json!(false) => {
                        [json!(true), json!(false), json!({})].contains(old)
                    }
                    (_, Some(old)) => only_tightened(old, value),
                    (key, None) => added(key) && *value == json!(false),
                })
        }
        (Value::Array(before), Value::Array(after)) => {
            before.len() == after.len() && before.iter().zip(after).all(|(before, after)| only_tightened(before, after))
        }
        (before, after) => before == after,
    }
}

/// What `SCH-001` and `SCH-002` still say, as `RULE pointer`.
fn remaining(text: &str) -> Vec<String> {
    let catalog = Catalog::read("tools.json", text.as_bytes().to_vec()).expect(text);
    let select = ["SCH-001".to_owned(), "SCH-002".to_owned()];
    let rules = Selection::new(SelectionOptions { select: &select, ..SelectionOptions::default() }).expect("rules");
    let mut told = Vec::new();
    lint(&catalog, &rules, &mut |fault| {
        assert_eq!(fault.finding().fix, None, "{} could still be fixed at {}: {text}", fault.rule.id, fault.pointer());
        told.push(format!("{} {}", fault.rule.id, fault.pointer()));
    });
    told
}

fn leaf() -> BoxedStrategy<Value> {
    prop_oneof![
        3 => Just(json!({"type": "integer"})),
        2 => Just(json!({"type": "string"})),
        1 => Just(json!({})),
        1 => Just(json!({"const": 1, "title": "x"})),
        1 => Just(json!({"type": "null"})),
    ]
    .boxed()
}

/// An object; `maps` lets it say something about properties it does not declare.
fn object(inner: BoxedStrategy<Value>, typed: bool, maps: bool) -> BoxedStrategy<Value> {
    let properties = prop::collection::btree_map("[abc]", inner, 0..3);
    let required = prop::option::of(0..3_usize);
    let additional = prop_oneof![3 => Just(None), 1 => Just(Some(json!(true))), 1 => Just(Some(json!({})))];
    let closed = prop_oneof![Just(Some(json!(false))), Just(Some(json!({"type": "integer"})))];
    let additional = prop_oneof![2 => additional, u32::from(maps) => closed];
    (properties, required, additional, any::<bool>())
        .prop_map(move |(properties, required, additional, last)| {
            let mut map = Map::new();
            let required = required.map(|count| json!(properties.keys().rev().take(count).collect::<Vec<_>>()));
            let declared = Value::Object(properties.into_iter().collect());
            if !last {
                map.insert("properties".to_owned(), declared.clone());
            }
            if typed {
                map.insert("type".to_owned(), json!("object"));
            }
            map.extend(required.map(|required| ("required".to_owned(), required)));
            map.extend(additional.map(|additional| ("additionalProperties".to_owned(), additional)));
            if last {
                map.insert("properties".to_owned(), declared);
            }
            Value::Object(map)
        })
        .boxed()
}

/// Schemas in which every object stands for itself.
fn plain() -> BoxedStrategy<Value> {
    leaf()
        .prop_recursive(3, 20, 3, |inner| {
            prop_oneof![
                3 => object(inner.clone().boxed(), true, true),
                1 => inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
                1 => prop::collection::vec(inner, 1..3).prop_map(|items| json!({"prefixItems": items})),
            ]
        })
        .boxed()
}

/// Schemas that combine, refer and go round in circles. They are open and their alternatives do
/// not exclude each other: what is closed already may contradict itself, and `oneOf` may count what it should not.
fn combined() -> BoxedStrategy<Value> {
    let reference =
        prop_oneof![Just(json!({"$ref": "#/$defs/A"})), Just(json!({"$ref": "#/$defs/B", "description": "x"})),];
    prop_oneof![3 => leaf(), 2 => reference.boxed()]
        .prop_recursive(4, 30, 3, |inner| {
            let choice = prop::collection::vec(inner.clone(), 1..3);
            let with = |word: &'static str| {
                move |(object, list): (Value, Vec<Value>)| {
                    let mut object = object;
                    object[word] = Value::from(list);
                    object
                }
            };
            prop_oneof![
                3 => object(inner.clone().boxed(), true, false),
                1 => (object(inner.clone().boxed(), false, false), choice.clone()).prop_map(with("allOf")),
                1 => (object(inner.clone().boxed(), true, false), choice.clone()).prop_map(with("anyOf")),
                1 => choice.clone().prop_map(|list| json!({"anyOf": list})),
                1 => choice.prop_map(|list| json!({"allOf": list})),
                1 => inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
                1 => inner.prop_map(|then| json!({"if": {"required": ["z"]}, "then": then})),
            ]
        })
        .boxed()
}

fn layout(schema: &Value, style: u8) -> String {
    let tools = json!({"tools": [{"name": "t", "inputSchema": schema}]});
    match style % 3 {
        0 => tools.to_string(),
        1 => serde_json::to_string_pretty(&tools).expect("JSON") + "\n",
        _ => tools.to_string().replace("\":", "\": ").replace(",\"", ", \""),
    }
}

/// Stands for a value that may be anything.
const ANYTHING: &str = "*";

/// Values with every declared property in them; none when schemas of the same value contradict each other.
///
/// Of each alternative only what it accepts by itself is taken: an open one would otherwise accept what was built for
/// another.
fn full(schema: &Value, defs: &Value) -> Vec<Value> {
    let Value::Object(map) = schema else { return Vec::new() };
    let mut results = match map.get("type").and_then(Value::as_str) {
        Some("string") => vec![json!("x")],
        Some("null") => vec![Value::Null],
        Some("integer") => vec![json!(1)],
        Some("array") => {
            let items = map.get("items").map(|items| full(items, defs)).unwrap_or_default();
            items.into_iter().map(|item| json!([item])).chain([json!([])]).take(2).collect()
        }
        Some("object") => vec![json!({})],
        _ if map.contains_key("properties") => vec![json!({})],
        _ => vec![map.get("const").cloned().unwrap_or(json!(ANYTHING))],
    };
    if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
        results = merged(&results, &full(&defs[&reference["#/$defs/".len()..]], defs));
    }
    let list = |word: &str| map.get(word).and_then(Value::as_array).into_iter().flatten();
    for part in list("allOf") {
        results = merged(&results, &full(part, defs));
    }
    if map.contains_key("anyOf") {
        let built = |part: &Value| {
            let own = json!({"allOf": [part], "$defs": defs});
            full(part, defs).into_iter().filter(move |value| accepts(&own, value)).collect::<Vec<_>>()
        };
        results = merged(&results, &list("anyOf").flat_map(built).collect::<Vec<_>>());
    }
    for (name, schema) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let values: Vec<Value> = full(schema, defs).into_iter().map(|value| json!({ name: value })).collect();
        results = merged(&results, &values);
    }
    results
}

/// Every pair of values, as one that is both; a few are enough.
fn merged(left: &[Value], right: &[Value]) -> Vec<Value> {
    let pairs = left.iter().flat_map(|left| right.iter().map(move |right| (left, right)));
    pairs.filter_map(|(left, right)| merge(left, right)).take(4).collect()
}

fn merge(left: &Value, right: &Value) -> Option<Value> {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            let mut both = left.clone();
            for (name, value) in right {
                let value = both.get(name).map_or(Some(value.clone()), |own| merge(own, value))?;
                both.insert(name.clone(), value);
            }
            Some(Value::Object(both))
        }
        (left, right) if *left == json!(ANYTHING) => Some(right.clone()),
        (left, right) if *right == json!(ANYTHING) || left == right => Some(left.clone()),
        (_, _) => None,
    }
}

/// True if a definition refers to itself in any way, so that what is built of it is cut off somewhere.
fn is_circular(schema: &Value, defs: &Value, fuel: usize) -> bool {
    let Some(fuel) = fuel.checked_sub(1) else { return true };
    match schema {
        Value::Object(map) => map.iter().any(|(key, value)| match value.as_str() {
            Some(reference) if key == "$ref" => is_circular(&defs[&reference["#/$defs/".len()..]], defs, fuel),
            _ => is_circular(value, defs, fuel),
        }),
        Value::Array(list) => list.iter().any(|value| is_circular(value, defs, fuel)),
        _ => false,
    }
}

fn accepts(schema: &Value, value: &Value) -> bool {
    jsonschema::options().offline().build(schema).is_ok_and(|validator| validator.is_valid(value))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn plain_schemas_become_strict(properties in prop::collection::btree_map("[abcd]", plain(), 0..4), style in any::<u8>()) {
        let schema = json!({"type": "object", "properties": Value::Object(properties.into_iter().collect())});
        let text = layout(&schema, style);
        let once = tightened(&text);
        prop_assert_eq!(&tightened(&once), &once);
        prop_assert_eq!(remaining(&once), Vec::<String>::new());
        let after: Value = serde_json::from_str(&once).expect("JSON");
        prop_assert!(only_tightened(&schema, &after["tools"][0]["inputSchema"]), "{}", once);
        // The style is that of the text, so writing it anew in that style changes nothing.
        prop_assert_eq!(layout(&after["tools"][0]["inputSchema"], style), once);
    }

    #[test]
    fn no_meaning_is_lost(a in combined(), b in combined(), root in object(combined(), true, false), style in any::<u8>()) {
        let mut schema = root;
        schema["$defs"] = json!({"A": a, "B": b});
        let text = layout(&schema, style);
        let once = tightened(&text);
        prop_assert_eq!(&tightened(&once), &once);
        let _ = remaining(&once);
        let after: Value = serde_json::from_str(&once).expect("JSON");
        let after = &after["tools"][0]["inputSchema"];
        prop_assert!(only_tightened(&schema, after), "{}", once);
        prop_assert_eq!(accepts(&schema, &json!(3)), accepts(after, &json!(3)));
        if ["A", "B"].iter().any(|name| is_circular(&schema["$defs"][*name], &schema["$defs"], 40)) {
            return Ok(());
        }
        // A call that gives everything there is to give is still accepted.
        for value in full(&schema, &schema["$defs"]).into_iter().filter(|value| accepts(&schema, value)) {
            prop_assert!(accepts(after, &value), "{} was accepted by {} and is not by {}", value, schema, after);
        }
    }
}
