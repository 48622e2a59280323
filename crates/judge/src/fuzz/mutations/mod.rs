//! The kinds of mutation: one row each.

use serde_json::{Map, Value, json};

use super::mutation::{Label, Mutation, Variant};
use super::site::Site;
use crate::generate::Types;

mod bounds;
mod random;

const TEXT: &str = r#"{"type": "string"}"#;
const NUMBER: &str = r#"{"type": "number"}"#;
const LIST: &str = r#"{"type": "array", "items": {"type": "string"}}"#;
const RECORD: &str = r#"{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}"#;
const ENUM: &str = r#"{"enum": ["fast", "slow", 3]}"#;
const INPUT: &str = r#"{"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}"#;

/// Every kind of mutation, in the order of their names.
pub const MUTATIONS: &[Mutation] = &[
    Mutation::property("any-null", 0, TEXT, |site, _| {
        if site.value.is_null() { Vec::new() } else { below_top(site, [("null", Value::Null)]) }
    }),
    Mutation::property("any-wrong-type", 2, TEXT, |site, _| below_top(site, [of_wrong_type(site.value)])),
    Mutation::property("array-empty", 0, LIST, |site, _| inside(site, Types::LIST, [("empty list", json!([]))])),
    Mutation::property("array-mixed", 2, LIST, |site, _| {
        inside(site, Types::LIST, [("mixed list", json!([null, true, 1, 1.5, "a", [], {}]))])
    }),
    Mutation::property("array-nested", 1, LIST, |site, _| {
        let nested = |depth: usize| (0..depth).fold(json!([]), |inner, _| Value::Array(vec![inner]));
        inside(site, Types::LIST, [("list 20 deep", nested(20)), ("list 90 deep", nested(90))])
    }),
    Mutation::property("array-null-item", 2, LIST, |site, _| {
        inside(site, Types::LIST, [("list of null", json!([null]))])
    }),
    Mutation::property("array-thousand", 1, LIST, |site, _| {
        let item = site.value.get(0).cloned().unwrap_or_else(|| Value::from("a"));
        inside(site, Types::LIST, [("list of 1000", Value::Array(vec![item; 1000]))])
    }),
    Mutation::property("boolean-traps", 1, r#"{"type": "boolean"}"#, |site, _| {
        let (yes, no) = (("string for true", json!("true")), ("string for false", json!("false")));
        inside(site, Types::BOOLEAN, [yes, no, ("zero for false", json!(0)), ("one for true", json!(1))])
    }),
    Mutation::boundary("bound-enum-neighbour", 0, ENUM, bounds::enum_neighbour).labelled(Label::Rejected),
    Mutation::boundary("bound-enum-value", 3, ENUM, bounds::enum_value).labelled(Label::Accepted),
    Mutation::boundary("bound-format", 1, r#"{"type": "string", "format": "date"}"#, bounds::format),
    Mutation::boundary(
        "bound-items-above",
        0,
        r#"{"type": "array", "items": {"type": "integer"}, "maxItems": 2}"#,
        bounds::items_above,
    )
    .labelled(Label::Rejected),
    Mutation::boundary(
        "bound-items-below",
        0,
        r#"{"type": "array", "items": {"type": "integer"}, "minItems": 2}"#,
        bounds::items_below,
    )
    .labelled(Label::Rejected),
    Mutation::boundary(
        "bound-items-duplicate",
        1,
        r#"{"type": "array", "items": {"type": "integer"}, "uniqueItems": true, "minItems": 1}"#,
        bounds::items_duplicate,
    )
    .labelled(Label::Rejected),
    Mutation::boundary("bound-length-above", 0, r#"{"type": "string", "maxLength": 5}"#, bounds::length_above)
        .labelled(Label::Rejected),
    Mutation::boundary(
        "bound-length-at",
        3,
        r#"{"type": "string", "minLength": 2, "maxLength": 5}"#,
        bounds::length_at,
    ),
    Mutation::boundary("bound-length-below", 0, r#"{"type": "string", "minLength": 2}"#, bounds::length_below)
        .labelled(Label::Rejected),
    Mutation::boundary("bound-multiple", 1, r#"{"type": "integer", "multipleOf": 5}"#, bounds::multiple),
    Mutation::boundary("bound-pattern", 0, r#"{"type": "string", "pattern": "^[a-z]+$"}"#, bounds::pattern),
    Mutation::boundary(
        "bound-property-additional",
        1,
        r#"{"type": "object", "additionalProperties": false}"#,
        bounds::property_additional,
    ),
    Mutation::boundary("bound-property-missing", 0, RECORD, bounds::property_missing).labelled(Label::Rejected),
    Mutation::boundary("bound-range-above", 0, r#"{"type": "integer", "maximum": 10}"#, bounds::range_above)
        .labelled(Label::Rejected),
    Mutation::boundary("bound-range-at", 3, r#"{"type": "integer", "minimum": 1, "maximum": 10}"#, bounds::range_at),
    Mutation::boundary("bound-range-below", 0, r#"{"type": "integer", "minimum": 1}"#, bounds::range_below)
        .labelled(Label::Rejected),
    // The largest and the smallest, and where integers stop being exact.
    Mutation::property("number-extremes", 0, NUMBER, |site, _| {
        let values = [
            ("largest 64-bit integer", json!(i64::MAX)),
            ("beyond 32 bits", json!(2_147_483_648_i64)),
            ("smallest 64-bit integer", json!(i64::MIN)),
            ("largest float", json!(1e308)),
            ("beyond exact floats", json!(9_007_199_254_740_993_i64)),
        ];
        inside(site, Types::NUMBER, values)
    }),
    Mutation::property("number-fraction", 1, NUMBER, |site, _| inside(site, Types::NUMBER, [("fraction", json!(1.5))])),
    Mutation::property("number-negative", 0, NUMBER, |site, _| {
        inside(site, Types::NUMBER, [("minus one", json!(-1)), ("negative", json!(-999_999))])
    }),
    Mutation::property("number-negative-zero", 3, NUMBER, |site, _| {
        inside(site, Types::NUMBER, [("negative zero", json!(-0.0))])
    }),
    Mutation::property("number-precision", 3, NUMBER, |site, _| {
        inside(site, Types::NUMBER, [("float precision", json!(0.1 + 0.2)), ("tiny float", json!(1e-9))])
    }),
    Mutation::property("number-zero", 0, NUMBER, |site, _| inside(site, Types::NUMBER, [("zero", json!(0))])),
    // What breaks at 20 breaks at 90; the other way round there may be a limit in between.
    Mutation::property("object-deep", 0, RECORD, |site, _| {
        let nested = |depth: usize| (0..depth).fold(json!({}), |inner, _| json!({ "a": inner }));
        inside(site, Types::RECORD, [("object 90 deep", nested(90)), ("object 20 deep", nested(20))])
    }),
    Mutation::property("object-empty", 0, RECORD, |site, _| {
        inside(site, Types::RECORD, [("empty object", json!({}))])
    }),
    Mutation::property("object-hundred-keys", 1, RECORD, |site, _| {
        with_keys(site, "100 more keys", (0..100).map(|number| (format!("key{number:02}"), Value::from(number))))
    }),
    Mutation::property("object-reserved-key", 3, RECORD, |site, _| {
        with_keys(site, "reserved key", [("__proto__".to_owned(), json!({"polluted": true}))])
    }),
    Mutation::random("random-drop", 1, RECORD, random::drop),
    Mutation::random("random-number", 0, NUMBER, random::number),
    Mutation::random("random-text", 0, TEXT, random::text),
    Mutation::random("random-twice", 2, LIST, random::twice),
    Mutation::property("string-empty", 0, TEXT, |site, _| text(site, "empty string", "")),
    Mutation::property("string-format-directives", 4, TEXT, |site, _| {
        text(site, "format directives", "%s%d%n {0} {{x}} ${x} #{x}")
    }),
    Mutation::property("string-long", 1, TEXT, |site, _| text(site, "10 KB string", &"a".repeat(10 * 1024))),
    Mutation::property("string-newlines", 2, TEXT, |site, _| {
        text(site, "line breaks", "first\r\nsecond\n\tthird\u{2028}fourth\r")
    }),
    Mutation::property("string-nul", 1, TEXT, |site, _| text(site, "NUL byte", "before\0after")),
    // Files that cannot be changed, not even by a tool that writes and runs as root.
    Mutation::property("string-path-traversal", 1, TEXT, |site, _| {
        let files = ["proc/version", "System/Library/CoreServices/SystemVersion.plist"];
        let paths = files.map(|file| ("path traversal", Value::from(format!("../../../../../../{file}"))));
        inside(site, Types::TEXT, paths)
    }),
    // The text that makes careless regular expressions try everything.
    Mutation::property("string-repetitive", 2, TEXT, |site, _| {
        text(site, "repetitive string", &format!("{}!", "a".repeat(40)))
    }),
    Mutation::property("string-reserved-word", 4, TEXT, |site, _| text(site, "reserved word", "__proto__")),
    // What a shell would run, and a quote that ends an SQL string: harmless if they do.
    Mutation::property("string-shell", 3, TEXT, |site, _| {
        text(site, "shell syntax", "x; echo fuzz $(echo fuzz) `echo fuzz` | cat && echo \"fuzz\" #")
    }),
    Mutation::property("string-sql", 3, TEXT, |site, _| text(site, "SQL syntax", "x' OR '1'='1'; SELECT 1 --")),
    // Letters, marks, joiners and directions from all over Unicode.
    Mutation::property("string-unicode", 0, TEXT, |site, _| {
        text(site, "unicode", "Zoë 日本語 عربي 🎉👩‍👩‍👧 e\u{301} \u{200b}\u{202e}\u{feff}\u{10ffff}")
    }),
    Mutation::property("string-whitespace", 3, TEXT, |site, _| text(site, "white space", " \t\u{a0} ")),
    Mutation::structural("structural-empty-object", 0, INPUT, |site, _| whole(site, "empty object", json!({}))),
    Mutation::structural(
        "structural-missing-required",
        1,
        r#"{"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "integer"}}, "required": ["y", "x"]}"#,
        |site, _| if site.is_top() { bounds::without_required(site) } else { Vec::new() },
    )
    .labelled(Label::Rejected),
    Mutation::structural("structural-null-arguments", 0, r#"{"type": "object"}"#, |site, _| {
        whole(site, "null arguments", Value::Null)
    })
    .labelled(Label::Rejected),
    Mutation::structural("structural-required-null", 2, INPUT, |site, _| match site.value.as_object() {
        Some(map) if !map.is_empty() => {
            let nulls: Map<String, Value> = map.keys().map(|name| (name.clone(), Value::Null)).collect();
            whole(site, "everything null", Value::Object(nulls))
        }
        Some(_) | None => Vec::new(),
    }),
];

/// Values for a place below the top that may be of these types.
fn inside<const N: usize>(site: &Site<'_, '_>, types: Types, values: [(&'static str, Value); N]) -> Vec<Variant> {
    if site.may_be(types) { below_top(site, values) } else { Vec::new() }
}

/// Values for any place below the top.
fn below_top<const N: usize>(site: &Site<'_, '_>, values: [(&'static str, Value); N]) -> Vec<Variant> {
    if site.is_top() {
        return Vec::new();
    }
    values.into_iter().map(|(what, value)| Variant::new(what, value)).collect()
}

/// A text for a place below the top that may hold one.
fn text(site: &Site<'_, '_>, what: &'static str, text: &str) -> Vec<Variant> {
    inside(site, Types::TEXT, [(what, Value::from(text))])
}

/// A value for the whole input.
fn whole(site: &Site<'_, '_>, what: &'static str, value: Value) -> Vec<Variant> {
    if site.is_top() { Variant::one(what, value) } else { Vec::new() }
}

/// The object at a place with further keys.
fn with_keys(site: &Site<'_, '_>, what: &'static str, keys: impl IntoIterator<Item = (String, Value)>) -> Vec<Variant> {
    let Value::Object(map) = site.value else { return Vec::new() };
    let mut more = map.clone();
    more.extend(keys);
    Variant::one(what, more)
}

/// A value of another type that programs take for this one.
fn of_wrong_type(value: &Value) -> (&'static str, Value) {
    match value {
        Value::Null => ("a string for null", json!("null")),
        Value::Bool(_) => ("a string for a boolean", json!("yes")),
        Value::Number(number) => ("a string for a number", Value::from(number.to_string())),
        Value::String(_) => ("a number for a string", json!(12345)),
        Value::Array(_) => ("an object for a list", json!({"0": "a"})),
        Value::Object(_) => ("a list for an object", json!([])),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::mutation::{Label, Phase};
    use super::super::site::{replaced, sites};
    use super::*;
    use crate::generate::{Checked, Dice, Document, Oracle, valid_input};

    #[test]
    fn the_table_is_sorted() {
        assert!(MUTATIONS.is_sorted_by_key(|mutation| mutation.name));
    }

    #[test]
    fn every_mutation_applies_to_its_example_and_its_label_is_the_oracles() {
        for mutation in MUTATIONS {
            let name = mutation.name;
            let example: Value = serde_json::from_str(mutation.example).expect(name);
            let structural = mutation.phase == Phase::Structural;
            let schema = if structural {
                example
            } else {
                json!({"type": "object", "properties": {"x": example}, "required": ["x"]})
            };
            let oracle = Oracle::new(&schema).expect(name);
            let input = valid_input(&schema, 0).expect(name);
            let places = sites(&Document::new(&schema), &Checked::default(), &input);
            let place = &places[usize::from(!structural)];
            let variants = (mutation.make)(place, &mut Dice::new(0));
            assert!(!variants.is_empty(), "{name} makes nothing of its example");
            for variant in variants {
                assert_ne!(&variant.value, place.value, "{name} changes nothing");
                let changed = replaced(&input, &place.path, variant.value).expect(name);
                let accepted = oracle.accepts(&changed);
                let expected = match mutation.label {
                    Label::Accepted => true,
                    Label::Rejected => false,
                    Label::Either => accepted,
                };
                assert_eq!(accepted, expected, "{name}: {changed}");
            }
        }
    }
}
