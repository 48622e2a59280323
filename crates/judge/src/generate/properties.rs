//! Properties of every generated value, over thousands of schemas.

use jsonschema::canonical::Satisfiability;
use proptest::prelude::*;
use serde_json::json;

use super::random_schema::{random_schema, satisfiable_schema};
use super::*;

/// Makes a value for each schema and asks the oracle; at least 99 of 100 must succeed.
fn nearly_all_are_satisfied(schemas: impl Iterator<Item = Value>, at_least: usize) {
    let mut all = 0;
    let mut missed = Vec::new();
    for schema in schemas {
        all += 1;
        match valid_input(&schema, 1) {
            Ok(value) => assert!(Oracle::new(&schema).expect("usable").accepts(&value), "{schema} {value}"),
            Err(error) => missed.push(format!("{error}: {schema}")),
        }
    }
    assert!(all >= at_least, "{all}");
    assert!(missed.len() * 100 <= all, "{} of {all} were missed:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn schemas_around_a_value_are_nearly_always_satisfied() {
    let schemas = (0..2000).filter_map(|seed| {
        let (schema, witness) = satisfiable_schema(seed);
        let oracle = Oracle::new(&schema).ok()?;
        oracle.accepts(&witness).then_some(schema)
    });
    nearly_all_are_satisfied(schemas, 1900);
}

#[test]
fn any_schemas_that_are_satisfiable_are_nearly_always_satisfied() {
    let schemas = (10_000..12_000).map(random_schema).filter(|schema| {
        Oracle::new(schema).is_ok()
            && jsonschema::canonicalize(schema).is_ok_and(|form| form.satisfiability() == Satisfiability::Yes)
    });
    nearly_all_are_satisfied(schemas, 1000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn whatever_is_made_is_valid_and_the_same_again(seed in any::<u64>()) {
        let schema = random_schema(seed);
        let made = valid_input(&schema, seed);
        prop_assert_eq!(&made, &valid_input(&with_turned_keys(&schema), seed), "{}", schema);
        let Ok(oracle) = Oracle::new(&schema) else { return Ok(()) };
        for value in made.into_iter().chain(optional_variants(&schema, seed)) {
            prop_assert!(oracle.accepts(&value), "{} {}", schema, value);
        }
    }

    #[test]
    fn varied_values_are_valid(seed in any::<u64>()) {
        let (schema, _) = satisfiable_schema(seed);
        let Ok(oracle) = Oracle::new(&schema) else { return Ok(()) };
        if let Ok(value) = Generator::new(&schema, Some(&oracle)).varied(seed) {
            prop_assert!(oracle.accepts(&value), "{} {}", schema, value);
        }
    }
}

/// The same schema with the keys of its objects in the opposite order.
pub(crate) fn with_turned_keys(schema: &Value) -> Value {
    match schema {
        Value::Array(items) => items.iter().map(with_turned_keys).collect(),
        Value::Object(map) => {
            map.iter().rev().map(|(key, value)| (key.clone(), with_turned_keys(value))).collect::<Map<_, _>>().into()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => schema.clone(),
    }
}

#[test]
fn values_look_as_if_a_person_had_written_them() {
    for (schema, expected) in [
        (json!({}), json!("example")),
        (json!({"type": "object"}), json!({})),
        (json!({"type": ["boolean", "string"]}), json!(false)),
        (json!({"description": "Whether to go on"}), json!(false)),
        (json!({"type": ["null", "integer", "string"]}), json!(1)),
        (
            json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "timezone": {"type": "string"},
                    "limit": {"type": "integer", "minimum": 1, "maximum": 100},
                    "when": {"type": "string", "format": "date-time"},
                    "mode": {"enum": ["fast", "slow"]},
                    "deep": {"type": "boolean"},
                    "unused": {"type": "string"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "greeting": {"type": "string", "default": "hi"},
                    "city": {"type": "string", "examples": ["Paris", "Rome"]},
                    "note": {"anyOf": [{"type": "null"}, {"type": "string"}]},
                    "ratio": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
                },
                "required": ["tags", "path", "timezone", "limit", "when", "mode", "deep", "greeting", "city", "note",
                             "ratio"]
            }),
            json!({
                "city": "Paris",
                "deep": false,
                "greeting": "hi",
                "limit": 10,
                "mode": "fast",
                "note": "hello",
                "path": "notes.txt",
                "ratio": 0.5,
                "tags": ["example"],
                "timezone": "Europe/London",
                "when": "2024-01-15T09:30:00Z"
            }),
        ),
        (
            json!({
                "$defs": {"node": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
                                   "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
                    "required": ["name", "next", "children"]
                }},
                "$ref": "#/$defs/node"
            }),
            json!({"children": [], "name": "example", "next": null}),
        ),
        (
            json!({"type": "array", "items": {"enum": ["r", "w", "x"]}, "uniqueItems": true, "minItems": 2}),
            json!(["r", "w"]),
        ),
        (
            json!({"type": "object", "minProperties": 2, "additionalProperties": {"type": "integer"}}),
            json!({"extra1": 1, "extra2": 1}),
        ),
        (
            json!({"oneOf": [
                {"properties": {"kind": {"const": "a"}, "x": {"type": "integer"}}, "required": ["kind", "x"]},
                {"properties": {"kind": {"const": "b"}}, "required": ["kind"]}
            ], "type": "object"}),
            json!({"kind": "a", "x": 1}),
        ),
        (
            json!({"type": "object", "properties": {"card": {"type": "string"}, "billing": {"type": "string"}},
                   "required": ["card"], "dependentRequired": {"card": ["billing"]}}),
            json!({"billing": "example", "card": "example"}),
        ),
        (
            json!({"type": "object", "properties": {"country": {"enum": ["US", "DE"]}, "zip": {"type": "string"}},
                   "required": ["country", "zip"],
                   "if": {"properties": {"country": {"const": "US"}}}, "then": {"properties": {"zip": {"pattern": "^[0-9]{5}$"}}}}),
            json!({"country": "DE", "zip": "example"}),
        ),
    ] {
        let made = valid_input(&schema, 0);
        if schema.get("if").is_some() {
            // Either way out of the condition is good.
            assert!(Oracle::new(&schema).expect("usable").accepts(&made.expect("made")));
            continue;
        }
        assert_eq!(made.as_ref(), Ok(&expected), "{schema}");
        let text = made.expect("made").to_string();
        assert_eq!(text, expected.to_string(), "keys are in order");
    }
}

#[test]
fn formats_bounds_and_old_drafts_are_met() {
    for schema in [
        json!({"type": "string", "format": "email", "maxLength": 7}),
        json!({"type": "string", "format": "uri", "minLength": 60}),
        json!({"type": "string", "pattern": "^[A-Z]{2}\\d{4}$", "minLength": 6}),
        json!({"type": "string", "pattern": "^[a-z]+$", "minLength": 500, "maxLength": 501}),
        json!({"type": "string", "pattern": "^(?=.*[A-Z])(?=.*[a-z])(?=.*\\d)[A-Za-z\\d]{8,}$"}),
        json!({"allOf": [{"pattern": "a"}, {"pattern": "[0-9]"}, {"type": "string", "maxLength": 5}]}),
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}, {"type": "integer"}],
               "additionalItems": false, "minItems": 2}),
        json!({"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer", "minimum": 5,
               "exclusiveMinimum": true, "maximum": 6}),
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "format": "date", "default": "soon", "type": "string"}),
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"a": ["b"], "b": {"required": ["c"]}},
               "required": ["a"], "type": "object"}),
        json!({"type": "integer", "multipleOf": 7, "minimum": 100, "not": {"enum": [105, 112]}}),
        json!({"type": "array", "contains": {"const": 3}, "minContains": 2, "maxContains": 2, "minItems": 4}),
        json!({"type": "object", "patternProperties": {"^x-": {"type": "boolean"}}, "additionalProperties": false,
               "minProperties": 2}),
        json!({"type": "object", "propertyNames": {"pattern": "^[a-z]{3}$"}, "minProperties": 3}),
        json!({"type": "object", "unevaluatedProperties": false, "allOf": [{"properties": {"a": {}}}], "required": ["a"]}),
        json!({"$ref": "#/$defs/list", "$defs": {"list": {"type": ["array", "null"], "items": {"$ref": "#/$defs/list"},
               "minItems": 1, "not": {"type": "null"}}, "x": {}}, "not": {"const": 3}, "maxItems": 3, "minItems": 0}),
    ] {
        let made = valid_input(&schema, 3);
        if schema.get("$ref").is_some() {
            assert!(made.is_err(), "a list of lists without an end");
            continue;
        }
        let made = made.unwrap_or_else(|error| panic!("{error}: {schema}"));
        let strict = jsonschema::options().should_validate_formats(true).build(&schema).expect("usable");
        assert!(strict.is_valid(&made), "{schema}: {made}");
    }
}

#[test]
fn what_cannot_be_made_is_told_with_its_place() {
    for (schema, pointer, reason) in [
        (json!({"type": "strnig"}), "", "not usable"),
        (json!({"$ref": "https://example.com/x"}), "", "not usable"),
        (
            json!({"properties": {"a": {"type": "string", "minLength": 1_000_000_000_u64}}, "required": ["a"], "type": "object"}),
            "/a",
            "at least 1000000000",
        ),
        (json!({"type": "array", "minItems": 1_000_000_000_u64}), "", "at least 1000000000"),
        (json!({"type": "object", "minProperties": 1_000_000_000_u64}), "", "at least 1000000000"),
        (json!({"type": "integer", "minimum": 5, "maximum": 4}), "", "no number"),
        (json!({"allOf": [{"type": "string"}, {"type": "integer"}]}), "", "no type is allowed"),
        (json!(false), "", "no value is allowed"),
        (json!({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}), "/a", "refers to itself"),
        (json!({"not": {}}), "", "refused"),
        (json!({"enum": [1, 2], "type": "string"}), "", "none of the values"),
        (
            json!({"type": "object", "required": ["b"], "properties": {"a": {}}, "additionalProperties": false}),
            "/b",
            "no value is allowed",
        ),
    ] {
        let error = valid_input(&schema, 0).expect_err(&schema.to_string());
        assert_eq!(error.pointer, pointer, "{schema}: {error}");
        assert!(error.reason.contains(reason), "{schema}: {error}");
        assert!(optional_variants(&schema, 0).is_empty(), "{schema}");
    }
}

#[test]
fn hostile_schemas_end() {
    let mut deep = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    for _ in 0..50 {
        deep = json!({"type": "object", "properties": {"a": deep}, "required": ["a"]});
    }
    assert!(valid_input(&deep, 0).is_ok());
    let mut too_deep = json!({});
    for _ in 0..200 {
        too_deep = json!({"allOf": [too_deep]});
    }
    assert!(valid_input(&too_deep, 0).is_err());
    let wide: Map<String, Value> = (0..5000).map(|number| (format!("p{number}"), json!({"type": "string"}))).collect();
    let names: Vec<&String> = wide.keys().collect();
    let everything = json!({"type": "object", "properties": wide, "required": names});
    assert_eq!(valid_input(&everything, 0).expect("made").as_object().map(Map::len), Some(5000));
    for schema in [
        json!({"$defs": {"a": {"type": "object", "properties": {"x": {"$ref": "#/$defs/b"}, "y": {"$ref": "#/$defs/b"}}, "required": ["x", "y"]},
                         "b": {"type": "object", "properties": {"x": {"$ref": "#/$defs/a"}, "y": {"$ref": "#/$defs/a"}}, "required": ["x", "y"]}},
               "$ref": "#/$defs/a"}),
        json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a", "type": "integer"}),
        json!({"type": "array", "minItems": 1000, "items": {"type": "array", "minItems": 1000, "items": {"type": "array", "minItems": 1000, "items": {"type": "string"}}}}),
        json!({"type": "array", "minItems": 2000, "uniqueItems": true, "items": {"type": "boolean"}}),
        json!({"type": "string", "pattern": "^(a+)+$", "minLength": 60000}),
        json!({"type": "string", "pattern": "^(\\w+\\s?)*$(?!x)", "minLength": 5000}),
        json!({"type": "string", "pattern": "(?=b)a"}),
        json!({"type": "string", "pattern": "^(a|b)\\1$"}),
        json!({"allOf": (0..300).map(|_| json!({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]})).collect::<Vec<_>>()}),
        json!({"allOf": (0..30).map(|number| json!({"oneOf": [{"const": number}, {"const": number + 1}, {"const": -1}]})).collect::<Vec<_>>(), "not": {"const": -1}}),
        json!({"type": "number", "minimum": 1e308, "exclusiveMaximum": 1e308}),
        json!({"type": "number", "multipleOf": 1e-300, "minimum": 1}),
        json!({"type": "integer", "minimum": 1e300}),
        json!({"minLength": 1e300, "maxItems": -1}),
        json!([]),
        json!(null),
        json!({"properties": [], "required": {}, "enum": {}}),
        json!({"type": "object", "patternProperties": {"(": {}}}),
    ] {
        if let Ok(value) = valid_input(&schema, 0) {
            assert!(Oracle::new(&schema).expect("usable").accepts(&value), "{schema}");
        }
    }
}

#[test]
fn optional_properties_are_filled_together_and_alone() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "integer"}, "c": {"type": "object", "properties": {"d": {"const": 1}}}},
        "required": ["a"]
    });
    let expected = [
        json!({"a": "example", "b": 1, "c": {"d": 1}}),
        json!({"a": "example", "b": 1}),
        json!({"a": "example", "c": {"d": 1}}),
    ];
    assert_eq!(optional_variants(&schema, 0), expected);
    let recursive = json!({"type": "object", "properties": {"self": {"$ref": "#"}, "n": {"type": "integer"}}});
    assert_eq!(optional_variants(&recursive, 0).first(), Some(&json!({"n": 1})));
    let dependent = json!({"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 2}}, "dependentRequired": {"a": ["b"]}});
    assert_eq!(optional_variants(&dependent, 0), [json!({"a": 1, "b": 2}), json!({"b": 2})]);
}
