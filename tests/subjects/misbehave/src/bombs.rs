//! Schemas that cost far more to judge than to send.

use serde_json::{Map, Value, json};

use crate::server::Server;

/// A schema and a value for it, by name.
pub(crate) struct Bomb {
    /// The argument of `input-bomb` and `output-bomb`.
    pub(crate) name: &'static str,
    /// The schema of the property `bomb`, and the definitions it refers to.
    schema: fn() -> (Value, Map<String, Value>),
    /// The value of the property `bomb` in structured content.
    value: fn() -> Value,
}

const fn bomb(name: &'static str, schema: fn() -> (Value, Map<String, Value>), value: fn() -> Value) -> Bomb {
    Bomb { name, schema, value }
}

/// Every bomb, sorted by name.
pub(crate) const BOMBS: &[Bomb] = &[
    bomb("all-of-chain", || chain(20_000, |next| json!({ "allOf": [next] })), || json!({})),
    bomb("all-of-doubling", || chain(40, |next| json!({ "allOf": [next, next] })), || json!({})),
    bomb("anchor-chain", anchor_chain, || json!({})),
    bomb("any-of-chain", || chain(20_000, |next| json!({ "anyOf": [{ "type": "null" }, next] })), || json!({})),
    bomb("any-of-doubling", || chain(40, |next| json!({ "anyOf": [next, next] })), || json!(1)),
    bomb(
        "backtracking-pattern",
        || plain(json!({ "type": "string", "pattern": "^(?=(a+)+$)(a|aa)+$" })),
        || json!(format!("{}!", "a".repeat(60))),
    ),
    bomb(
        "big-pattern",
        || plain(json!({ "type": "string", "pattern": "^((((x{0,99}){0,99}){0,99}){0,99}){0,99}$" })),
        || json!("x"),
    ),
    bomb("conditional-doubling", || chain(40, |next| json!({ "if": next, "then": next, "else": next })), || json!(1)),
    bomb(
        "contains-many",
        || plain(json!({ "type": "array", "contains": {}, "minContains": 4_000_000_000_u64 })),
        || json!([]),
    ),
    bomb(
        "deep-items",
        || plain(nested(40, |inner| json!({ "items": inner, "type": "array", "minItems": 2 }))),
        || nested(110, |inner| json!([inner])),
    ),
    bomb(
        "deep-properties",
        || plain(nested(40, |inner| json!({ "properties": { "a": inner }, "required": ["a"] }))),
        || nested(110, |inner| json!({ "a": inner })),
    ),
    bomb("dynamic-recursion", dynamic_recursion, || nested(110, |inner| json!({ "a": inner }))),
    bomb("huge-enum", || plain(json!({ "enum": (0..1_000_000).collect::<Vec<u32>>() })), || json!("none")),
    bomb(
        "item-doubling",
        || chain(40, |next| json!({ "type": "array", "prefixItems": [next, next], "minItems": 2 })),
        || json!([]),
    ),
    bomb("long-minimums", || plain(json!({ "type": "string", "minLength": 4_000_000_000_u64 })), || json!("")),
    bomb(
        "long-name",
        || plain(json!({ "properties": { "n".repeat(1 << 20): {} }, "required": ["n".repeat(1 << 20)] })),
        || json!({}),
    ),
    bomb("many-arguments", || many_properties(true), || json!({})),
    bomb(
        "many-definitions",
        || {
            let definitions = (0..100_000).map(|n| (format!("x{n}"), json!({ "type": "string" }))).collect();
            (json!({ "$ref": "#/$defs/x99999" }), definitions)
        },
        || json!(1),
    ),
    bomb(
        "many-items",
        || plain(json!({ "type": "array", "items": { "type": "string" }, "minItems": 4_000_000_000_u64 })),
        || json!([]),
    ),
    bomb(
        "many-patterns",
        || {
            let patterns: Map<String, Value> = (0..20_000).map(|n| (format!("^(a|b){n}.*x$"), json!({}))).collect();
            plain(json!({ "patternProperties": patterns }))
        },
        || json!({ "a": 1 }),
    ),
    bomb("many-properties", || many_properties(false), || json!({})),
    bomb("many-required", || many_properties(true), || json!({})),
    bomb(
        "mutual-reference",
        || {
            let definitions = [
                ("a", json!({ "anyOf": [{ "$ref": "#/$defs/b" }, { "$ref": "#/$defs/b" }] })),
                ("b", json!({ "anyOf": [{ "$ref": "#/$defs/a" }, { "$ref": "#/$defs/a" }] })),
            ];
            (
                json!({ "$ref": "#/$defs/a" }),
                definitions.map(|(name, schema)| (name.to_owned(), schema)).into_iter().collect(),
            )
        },
        || json!({}),
    ),
    bomb(
        "nested-defaults",
        || plain(json!({ "default": vec![json!({}); 200_000], "examples": vec![0; 200_000] })),
        || json!(1),
    ),
    bomb("not-chain", || chain(20_001, |next| json!({ "not": next })), || json!({})),
    bomb("one-of-chain", || chain(20_000, |next| json!({ "oneOf": [{ "type": "null" }, next] })), || json!({})),
    bomb("one-of-doubling", || chain(40, |next| json!({ "oneOf": [next, next] })), || json!({})),
    bomb(
        "property-doubling",
        || {
            chain(
                40,
                |next| json!({ "type": "object", "properties": { "a": next, "b": next }, "required": ["a", "b"] }),
            )
        },
        || json!({}),
    ),
    bomb("recursive-all-of", || recursive("allOf"), deep_value),
    bomb("recursive-any-of", || recursive("anyOf"), deep_value),
    bomb("recursive-one-of", || recursive("oneOf"), deep_value),
    bomb("ref-chain", || chain(20_000, Value::clone), || json!({})),
    bomb("self-all-of", || plain(json!({ "allOf": [{ "$ref": BOMB }, { "$ref": BOMB }] })), || json!({})),
    bomb("self-any-of", || plain(json!({ "anyOf": [{ "$ref": BOMB }, { "$ref": BOMB }] })), || json!({})),
    bomb("self-not", || plain(json!({ "not": { "$ref": BOMB } })), || json!({})),
    bomb("self-one-of", || plain(json!({ "oneOf": [{ "$ref": BOMB }, { "$ref": BOMB }] })), || json!({})),
    bomb(
        "self-property",
        || plain(json!({ "properties": { "a": { "$ref": BOMB } }, "required": ["a"] })),
        || json!({}),
    ),
    bomb("self-reference", || plain(json!({ "$ref": BOMB })), || json!({})),
    bomb(
        "tiny-multiple",
        || plain(json!({ "type": "number", "multipleOf": 1e-300, "minimum": 1e300 })),
        || json!(1e308),
    ),
    bomb(
        "unevaluated-doubling",
        || chain(40, |next| json!({ "anyOf": [next, next], "unevaluatedProperties": false })),
        || json!({ "a": 1 }),
    ),
    bomb(
        "unique-items",
        || plain(json!({ "type": "array", "uniqueItems": true, "items": { "enum": [1, 2] }, "minItems": 1_000_000 })),
        || json!((0..30_000).map(|n| json!({ "a": n })).collect::<Vec<Value>>()),
    ),
    bomb("wide-all-of", || plain(json!({ "allOf": wide() })), || json!("x")),
    bomb("wide-any-of", || plain(json!({ "anyOf": wide() })), || json!("x")),
    bomb("wide-one-of", || plain(json!({ "oneOf": wide() })), || json!("x")),
];

/// Where the schema of the property is.
const BOMB: &str = "#/properties/bomb";

/// The bomb as a parameter of the tool.
pub(crate) fn input(server: &Server, _: &Value, reply: &mut Value) {
    let (property, definitions) = (find(server).schema)();
    let schema = &mut reply["result"]["tools"][0]["inputSchema"];
    schema["properties"]["bomb"] = property;
    schema["$defs"] = Value::Object(definitions);
    schema["required"] = json!(["text", "bomb"]);
    if server.text == "many-arguments" {
        *schema = many_properties(true).0;
    }
}

/// The bomb in the schema of what the tool returns.
pub(crate) fn output(server: &Server, request: &Value, reply: &mut Value) {
    let bomb = find(server);
    if request["method"] == "tools/list" {
        let (property, definitions) = (bomb.schema)();
        reply["result"]["tools"][0]["outputSchema"] =
            json!({ "type": "object", "properties": { "bomb": property }, "$defs": definitions });
    } else if request["method"] == "tools/call" && reply.get("result").is_some() {
        reply["result"]["structuredContent"] = json!({ "bomb": (bomb.value)() });
    }
}

fn find(server: &Server) -> &'static Bomb {
    BOMBS.iter().find(|bomb| bomb.name == server.text).unwrap_or(&BOMBS[0])
}

fn plain(schema: Value) -> (Value, Map<String, Value>) {
    (schema, Map::new())
}

/// Definitions that each refer to the next.
fn chain(length: usize, link: fn(&Value) -> Value) -> (Value, Map<String, Value>) {
    let mut definitions = Map::new();
    for number in 0..length {
        let next = json!({ "$ref": format!("#/$defs/d{}", number + 1) });
        definitions.insert(format!("d{number}"), link(&next));
    }
    definitions.insert(format!("d{length}"), json!({ "type": "object" }));
    (json!({ "$ref": "#/$defs/d0" }), definitions)
}

/// References by name, which are searched for.
fn anchor_chain() -> (Value, Map<String, Value>) {
    let link = |number: usize| json!({ "$anchor": format!("a{number}"), "$ref": format!("#a{}", number + 1) });
    let mut definitions: Map<String, Value> = (0..20_000).map(|number| (format!("d{number}"), link(number))).collect();
    definitions.insert("d20000".to_owned(), json!({ "$anchor": "a20000", "type": "object" }));
    (json!({ "$ref": "#a0" }), definitions)
}

fn nested(depth: usize, around: fn(Value) -> Value) -> Value {
    (0..depth).fold(json!({}), |inner, _| around(inner))
}

/// A schema that two branches repeat at every level of the value.
fn recursive(word: &str) -> (Value, Map<String, Value>) {
    let branch = json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/node" } }, "required": ["a"] });
    let leaf = json!({ "type": "null" });
    let node =
        if word == "allOf" { json!({ word: [branch, branch] }) } else { json!({ word: [branch, branch, leaf] }) };
    (json!({ "$ref": "#/$defs/node" }), Map::from_iter([("node".to_owned(), node)]))
}

fn dynamic_recursion() -> (Value, Map<String, Value>) {
    let branch = json!({ "properties": { "a": { "$dynamicRef": "#node" } }, "required": ["a"] });
    let node = json!({ "$dynamicAnchor": "node", "anyOf": [branch, branch], "unevaluatedProperties": false });
    (json!({ "$ref": "#/$defs/node" }), Map::from_iter([("node".to_owned(), node)]))
}

fn deep_value() -> Value {
    (0..110).fold(json!(1), |inner, _| json!({ "a": inner }))
}

fn many_properties(required: bool) -> (Value, Map<String, Value>) {
    let names = || (0..100_000).map(|number| format!("p{number}"));
    let properties: Map<String, Value> = names().map(|name| (name, json!({ "type": "string" }))).collect();
    let required: Vec<String> = if required { names().collect() } else { Vec::new() };
    plain(json!({ "type": "object", "properties": properties, "required": required }))
}

fn wide() -> Vec<Value> {
    (0..50_000).map(|number| json!({ "minLength": number })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_has_no_name_twice() {
        assert!(BOMBS.is_sorted_by(|a, b| a.name < b.name));
    }
}
