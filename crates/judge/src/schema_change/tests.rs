//! Changes one by one, and the claim that holds of all: what is not said to narrow accepts everything it did.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::generate::test_schemas::{random_schema, random_value};
use crate::generate::{Oracle, optional_variants, valid_input};

fn effects(old: &Value, new: &Value) -> Vec<Effect> {
    let mut effects: Vec<Effect> = schema_changes(old, new).into_iter().map(|change| change.effect).collect();
    effects.sort_unstable();
    effects.dedup();
    effects
}

#[test]
fn each_change_has_its_direction() {
    use Effect::{Adds, Narrows, Replaces, Widens, Words};
    for (old, new, wanted) in [
        (json!({"type": "string"}), json!({"type": ["string", "null"]}), Widens),
        (json!({"type": "number"}), json!({"type": "integer"}), Narrows),
        (json!({"type": "string"}), json!({"type": "integer"}), Replaces),
        (json!({"enum": ["a"]}), json!({"enum": ["a", "b"]}), Widens),
        (json!({"enum": ["a", "b"]}), json!({"const": "a"}), Narrows),
        (json!({}), json!({"enum": ["a"]}), Narrows),
        (json!({"minimum": 1}), json!({"minimum": 2}), Narrows),
        (json!({"maxLength": 1}), json!({"maxLength": 2}), Widens),
        (json!({"maxLength": 1}), json!({}), Widens),
        (json!({"pattern": "a"}), json!({"pattern": "b"}), Replaces),
        (json!({"properties": {"a": {}}}), json!({"properties": {}}), Replaces),
        (json!({"properties": {}}), json!({"properties": {"a": {}}}), Adds),
        (
            json!({"additionalProperties": false}),
            json!({"additionalProperties": false, "properties": {"a": {}}}),
            Widens,
        ),
        (json!({}), json!({"required": ["a"]}), Narrows),
        (json!({"required": ["a"]}), json!({}), Widens),
        (json!({}), json!({"additionalProperties": false}), Narrows),
        (json!({"items": {"type": "string"}}), json!({}), Widens),
        (json!({"description": "a"}), json!({"description": "b"}), Words),
        (json!({"type": "string"}), json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), Widens),
        (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), json!({"type": "string"}), Narrows),
        (json!({"anyOf": [{"type": "string"}]}), json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), Widens),
        (
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"minLength": 1}}}),
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"minLength": 2}}}),
            Narrows,
        ),
        (
            json!({"properties": {"a": {"$ref": "#/definitions/a"}}, "definitions": {"a": {"type": "string"}}}),
            json!({"properties": {"a": {"type": ["string", "null"]}}}),
            Widens,
        ),
    ] {
        assert_eq!(effects(&old, &new), [wanted], "{old} → {new}: {:?}", schema_changes(&old, &new));
    }
}

#[test]
fn the_same_schema_in_other_words_is_no_change() {
    for (old, new) in [
        (json!({"type": "string"}), json!({"type": ["string"]})),
        (json!({"$defs": {"a": {"type": "string"}}, "$ref": "#/$defs/a"}), json!({"type": "string"})),
        (json!({"additionalProperties": true}), json!({})),
        (json!(true), json!({})),
    ] {
        assert_eq!(schema_changes(&old, &new), [], "{old} {new}");
    }
}

#[test]
fn schemas_that_go_round_in_circles_come_to_an_end() {
    let around = |least: u64| json!({"$ref": "#/$defs/n", "$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}, "v": {"minimum": least}}}}});
    assert_eq!(effects(&around(1), &around(1)), []);
    assert_eq!(effects(&around(1), &around(2)), [Effect::Narrows]);
}

#[test]
fn what_stands_beside_a_reference_on_the_way_counts() {
    let defs = json!({"a": {"$ref": "#/$defs/b", "maximum": 3}, "b": {"type": "integer"}});
    let old = json!({"$ref": "#/$defs/b", "$defs": defs});
    let new = json!({"$ref": "#/$defs/a", "$defs": defs});
    assert_eq!(effects(&old, &new), [Effect::Narrows]);
    assert_eq!(effects(&new, &old), [Effect::Widens]);
}

#[test]
fn changes_say_where_they_are() {
    let old = json!({"properties": {"a/b": {"items": {"enum": ["x", "y"]}}}});
    let new = json!({"properties": {"a/b": {"items": {"enum": ["x"]}}}});
    let changes = schema_changes(&old, &new);
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].pointer, "/properties/a~1b/items");
    assert_eq!(changes[0].what, "`\"y\"` is not accepted any more");
}

/// The schema with some keywords of another one: put in, taken away, or put in the place of its own.
fn mixed(base: &Value, other: &Value, seed: u64) -> Value {
    let (Value::Object(base), Value::Object(other)) = (base, other) else { return other.clone() };
    let mut mixed = base.clone();
    for (number, (key, value)) in other.iter().enumerate() {
        match (seed >> (2 * (number % 30))) & 3 {
            0 => {
                mixed.insert(key.clone(), value.clone());
            }
            1 => {
                mixed.remove(key);
            }
            2 => {
                if let Some(own) = base.get(key) {
                    mixed.insert(key.clone(), self::mixed(own, value, seed.rotate_left(7)));
                }
            }
            _ => {}
        }
    }
    Value::Object(mixed)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_is_not_said_to_narrow_accepts_all_that_it_did(seed in any::<u64>(), turns in any::<u64>()) {
        let old = random_schema(seed);
        let new = mixed(&old, &random_schema(seed ^ turns), turns);
        // The number of alternatives that hold can change in either direction when any of them changes.
        prop_assume!(!new.to_string().contains("oneOf") && !old.to_string().contains("oneOf"));
        let effects = effects(&old, &new);
        let claims = |effect: Effect| !effects.contains(&effect) && !effects.contains(&Effect::Replaces) && !effects.contains(&Effect::Adds);
        let (Ok(before), Ok(now)) = (Oracle::new(&old), Oracle::new(&new)) else { return Ok(()) };
        let made = |schema: &Value| (0..3).filter_map(|n| valid_input(schema, n).ok()).chain(optional_variants(schema, 1)).collect::<Vec<_>>();
        let values = made(&old).into_iter().chain(made(&new)).chain((0..40).map(|n| random_value(turns.wrapping_add(n))));
        for value in values {
            if claims(Effect::Narrows) && before.accepts(&value) {
                prop_assert!(now.accepts(&value), "{old} → {new} loses {value}");
            }
            if claims(Effect::Widens) && now.accepts(&value) {
                prop_assert!(before.accepts(&value), "{old} → {new} wins {value}");
            }
        }
    }
}
