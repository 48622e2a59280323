//! Values from JSON Schemas: inputs that a tool says it accepts, small and such as a person might write.
//!
//! A value is made from what all schemas at its place ask together, choices are tried in order, and `jsonschema` has
//! the last word: what it refuses is never handed out.

use std::fmt;

use serde_json::{Map, Value};

mod accepts;
mod checked;
mod choices;
mod constraints;
mod decimal;
mod document;
mod facts;
mod format;
mod generator;
mod list;
mod names;
mod negate;
mod oracle;
mod pattern;
mod place;
mod placed;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod random_schema;
mod range;
mod record;
mod seeded_random;
mod text;
mod types;
mod value_builder;

pub use oracle::Oracle;
pub use placed::{Places, placed};

pub(crate) use accepts::same;
pub(crate) use checked::Checked;
pub(crate) use choices::Choices;
pub(crate) use constraints::gather;
pub(crate) use decimal::{Decimal, whole_number};
pub(crate) use document::Document;
pub(crate) use facts::{Demand, Facts};
pub(crate) use generator::Generator;
pub(crate) use names::{singular, words};
#[cfg(test)]
pub(crate) use oracle::is_deeper_than;
pub(crate) use seeded_random::Dice;
pub use seeded_random::hash;
pub(crate) use types::Types;
pub(crate) use value_builder::OptionalProperties;

#[cfg(test)]
pub(crate) mod test_schemas {
    //! Random schemas for the tests of those who use generated values.

    pub(crate) use super::properties::with_turned_keys;
    pub(crate) use super::random_schema::{random_schema, random_value};
}

/// Maximum number of inputs with optional properties.
const VARIANTS: usize = 24;

/// Reason why no value was made for a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ungeneratable {
    /// The JSON Pointer of the place in the input that could not be filled.
    pub pointer: String,
    /// The obstacle.
    pub reason: String,
}

impl fmt::Display for Ungeneratable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pointer.as_str() {
            "" => write!(f, "{} (at the top)", self.reason),
            pointer => write!(f, "{} (at {pointer})", self.reason),
        }
    }
}

impl std::error::Error for Ungeneratable {}

/// A small valid value: what the schema requires, with the author's defaults and examples where there are any.
///
/// The same schema and seed give the same value, whatever the order of keys in the schema.
pub fn valid_input(schema: &Value, seed: u64) -> Result<Value, Ungeneratable> {
    let oracle = Oracle::new(schema).map_err(|reason| Ungeneratable { pointer: String::new(), reason })?;
    Generator::new(schema, Some(&oracle)).plain(seed, OptionalProperties::None)
}

/// A valid value that also fills optional properties, except switches, which are left out.
pub fn fuller_input(schema: &Value, seed: u64) -> Option<Value> {
    let oracle = Oracle::new(schema).ok()?;
    let generator = Generator::new(schema, Some(&oracle));
    let small = generator.plain(seed, OptionalProperties::None).ok()?;
    // Null says as little as an argument that is left out.
    let filled = without_null(schema);
    let mut full =
        Generator::new(&filled, Oracle::new(&filled).ok().as_ref()).plain(seed, OptionalProperties::All).ok()?;
    remove_added_switches(&mut full, &small);
    (full != small && oracle.accepts(&full)).then_some(full)
}

/// The schema without the choice of null for properties, and without null as their default.
fn without_null(schema: &Value) -> Value {
    let mut schema = schema.clone();
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flat_map(|map| map.values_mut()).filter_map(Value::as_object_mut) {
        if property.get("default").is_some_and(Value::is_null) {
            property.remove("default");
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(choices) = property.get_mut(key).and_then(Value::as_array_mut).filter(|list| list.len() > 1) {
                choices.retain(|choice| choice.get("type").and_then(Value::as_str) != Some("null"));
            }
        }
    }
    schema
}

fn remove_added_switches(full: &mut Value, small: &Value) {
    match full {
        Value::Object(map) => {
            map.retain(|name, value| !value.is_boolean() || small.get(name).is_some());
            for (name, value) in map.iter_mut() {
                remove_added_switches(value, small.get(name).unwrap_or(&Value::Null));
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                remove_added_switches(item, small.get(at).unwrap_or(&Value::Null));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Valid values that also fill optional properties: all of them together, then each of the first level alone.
pub fn optional_variants(schema: &Value, seed: u64) -> Vec<Value> {
    let Ok(oracle) = Oracle::new(schema) else { return Vec::new() };
    let generator = Generator::new(schema, Some(&oracle));
    let Ok(small) = generator.plain(seed, OptionalProperties::None) else { return Vec::new() };
    let mut found: Vec<Value> = Vec::new();
    let mut add = |value: Value| {
        if value != small && !found.contains(&value) && found.len() < VARIANTS {
            found.push(value);
        }
    };
    let Ok(full) = generator.plain(seed, OptionalProperties::All) else { return Vec::new() };
    if let (Value::Object(full), Value::Object(small)) = (&full, &small) {
        add(Value::Object(full.clone()));
        let optional = full.iter().filter(|(name, _)| !small.contains_key(*name));
        for (name, value) in optional {
            let mut one: Map<String, Value> = small.clone();
            one.insert(name.clone(), value.clone());
            one.sort_keys();
            let one = Value::Object(one);
            if oracle.accepts(&one) {
                add(one);
            }
        }
    } else {
        add(full);
    }
    found
}
