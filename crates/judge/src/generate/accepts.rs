//! A quick check of a value against a part of a schema.
//!
//! The oracle compiles whole schemas and speaks only of whole values; while a value is being made, its parts are judged
//! here. Keywords that are not understood (`unevaluatedProperties`, dynamic scopes) are taken to accept: the oracle has
//! the last word on the result.

use std::cell::Cell;

use serde_json::{Map, Number, Value};

use super::checked::Checked;
use super::document::Document;
use super::range::Range;
use super::types::Types;
use crate::json_equality::{JsonEquality, compare};

/// Maximum depth of schemas: a reference that leads back to itself ends here.
const DEEPEST: usize = 96;

/// Judges values by parts of one document.
#[derive(Debug)]
pub(crate) struct Opinion<'d, 'a> {
    pub(crate) document: &'d Document<'a>,
    pub(crate) checked: &'d Checked,
    /// Remaining budget of work.
    pub(crate) fuel: &'d Cell<u32>,
}

impl<'a> Opinion<'_, 'a> {
    /// True if the schema accepts the value.
    pub(crate) fn accepts(&self, schema: &'a Value, value: &Value) -> bool {
        self.follow(schema, value, 0)
    }

    fn follow(&self, schema: &'a Value, value: &Value, depth: usize) -> bool {
        let fuel = self.fuel.get();
        if depth > DEEPEST || fuel == 0 {
            return true;
        }
        self.fuel.set(fuel - 1);
        let keywords = match schema {
            Value::Bool(accepts) => return *accepts,
            Value::Object(keywords) => keywords,
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => return true,
        };
        if let Some(target) = self.document.referred(schema) {
            if !self.follow(target, value, depth + 1) {
                return false;
            }
            if self.document.has_lonely_references() && keywords.contains_key("$ref") {
                return true;
            }
        }
        if keywords.get("type").is_some_and(|types| !Types::named(types).has(Types::of(value)))
            || keywords.get("const").is_some_and(|expected| !same(expected, value))
            || keywords
                .get("enum")
                .and_then(Value::as_array)
                .is_some_and(|options| !options.iter().any(|option| same(option, value)))
        {
            return false;
        }
        let fits = match value {
            Value::Null | Value::Bool(_) => true,
            Value::Number(number) => range_of(keywords).holds(number),
            Value::String(text) => self.text_fits(keywords, text),
            Value::Array(items) => self.list_fits(keywords, items, depth),
            Value::Object(map) => self.record_fits(keywords, map, depth),
        };
        fits && self.combinations_fit(keywords, value, depth)
    }

    fn combinations_fit(&self, keywords: &'a Map<String, Value>, value: &Value, depth: usize) -> bool {
        let accepts = |schema: &'a Value| self.follow(schema, value, depth + 1);
        let branches = |keyword: &str| keywords.get(keyword).and_then(Value::as_array);
        if branches("allOf").is_some_and(|branches| !branches.iter().all(accepts))
            || branches("anyOf").is_some_and(|branches| !branches.iter().any(accepts))
            || branches("oneOf").is_some_and(|branches| branches.iter().filter(|branch| accepts(branch)).count() != 1)
            || keywords.get("not").is_some_and(accepts)
        {
            return false;
        }
        let Some(condition) = keywords.get("if") else { return true };
        let consequence = if accepts(condition) { "then" } else { "else" };
        keywords.get(consequence).is_none_or(accepts)
    }

    fn text_fits(&self, keywords: &Map<String, Value>, text: &str) -> bool {
        let limits = ["minLength", "maxLength"].iter().any(|keyword| keywords.contains_key(*keyword));
        let length = if limits { text.chars().count() as u64 } else { 0 };
        let format = keywords.get("format").and_then(Value::as_str);
        count(keywords, "minLength").is_none_or(|least| length >= least)
            && count(keywords, "maxLength").is_none_or(|most| length <= most)
            && keywords.get("pattern").and_then(Value::as_str).is_none_or(|pattern| self.checked.matches(pattern, text))
            && (!self.document.asserts_formats() || format.is_none_or(|format| self.checked.has_format(format, text)))
    }

    fn list_fits(&self, keywords: &'a Map<String, Value>, items: &[Value], depth: usize) -> bool {
        let length = items.len() as u64;
        if count(keywords, "minItems").is_some_and(|least| length < least)
            || count(keywords, "maxItems").is_some_and(|most| length > most)
            || keywords.get("uniqueItems") == Some(&Value::Bool(true)) && has_twins(items)
        {
            return false;
        }
        let (prefix, rest) = tuple_of(keywords);
        let of_prefix = prefix.iter().zip(items).all(|(schema, item)| self.follow(schema, item, depth + 1));
        let of_rest = || {
            let Some(schema) = rest else { return true };
            items.iter().skip(prefix.len()).all(|item| self.follow(schema, item, depth + 1))
        };
        if !of_prefix || !of_rest() {
            return false;
        }
        let Some(contained) = keywords.get("contains") else { return true };
        let found = items.iter().filter(|item| self.follow(contained, item, depth + 1)).count() as u64;
        found >= count(keywords, "minContains").unwrap_or(1)
            && count(keywords, "maxContains").is_none_or(|most| found <= most)
    }

    fn record_fits(&self, keywords: &'a Map<String, Value>, map: &Map<String, Value>, depth: usize) -> bool {
        let size = map.len() as u64;
        if count(keywords, "minProperties").is_some_and(|least| size < least)
            || count(keywords, "maxProperties").is_some_and(|most| size > most)
            || names_in(keywords.get("required")).any(|name| !map.contains_key(name))
        {
            return false;
        }
        let shape = RecordShape::of(keywords);
        let fits = map.iter().all(|(name, item)| {
            let mut schemas = shape.schemas_of(name, self.checked);
            let named = keywords.get("propertyNames");
            schemas.all(|schema| self.follow(schema, item, depth + 1))
                && named.is_none_or(|schema| self.follow(schema, &Value::String(name.clone()), depth + 1))
        });
        fits && dependencies_of(keywords).all(|(name, dependency)| {
            !map.contains_key(name)
                || match dependency {
                    Dependency::Names(names) => names_in(Some(names)).all(|name| map.contains_key(name)),
                    Dependency::Schema(schema) => self.follow(schema, &Value::Object(map.clone()), depth + 1),
                }
        })
    }
}

/// Requirements of one schema on the properties of an object.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RecordShape<'a> {
    pub(crate) properties: Option<&'a Map<String, Value>>,
    pub(crate) patterns: Option<&'a Map<String, Value>>,
    pub(crate) others: Option<&'a Value>,
}

impl<'a> RecordShape<'a> {
    pub(crate) fn of(keywords: &'a Map<String, Value>) -> Self {
        Self {
            properties: keywords.get("properties").and_then(Value::as_object),
            patterns: keywords.get("patternProperties").and_then(Value::as_object),
            others: keywords.get("additionalProperties"),
        }
    }

    /// The schemas of a property: by its name, by patterns, or else as an additional one.
    pub(crate) fn schemas_of(self, name: &str, checked: &Checked) -> impl Iterator<Item = &'a Value> {
        let by_name = self.properties.and_then(|properties| properties.get(name));
        let by_pattern: Vec<&Value> = match self.patterns {
            Some(patterns) => {
                let mut matching: Vec<_> =
                    patterns.iter().filter(|(pattern, _)| checked.matches(pattern, name)).collect();
                matching.sort_by_key(|(pattern, _)| *pattern);
                matching.into_iter().map(|(_, schema)| schema).collect()
            }
            None => Vec::new(),
        };
        let known = by_name.is_some() || !by_pattern.is_empty();
        by_name.into_iter().chain(by_pattern).chain(self.others.filter(|_| !known))
    }
}

/// Requirement that follows from the presence of a property.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dependency<'a> {
    /// Other properties, a list of names.
    Names(&'a Value),
    /// A schema for the whole object.
    Schema(&'a Value),
}

/// The dependencies of a schema, by the names of properties.
pub(crate) fn dependencies_of<'a>(keywords: &'a Map<String, Value>) -> impl Iterator<Item = (&'a str, Dependency<'a>)> {
    let of = |keyword: &str| keywords.get(keyword).and_then(Value::as_object).into_iter().flatten();
    let read = |(name, value): (&'a String, &'a Value)| {
        let dependency = if value.is_array() { Dependency::Names(value) } else { Dependency::Schema(value) };
        (name.as_str(), dependency)
    };
    of("dependentRequired").map(read).chain(of("dependentSchemas").map(read)).chain(of("dependencies").map(read))
}

/// The schemas of the first items, and the schema of all items after them.
pub(crate) fn tuple_of(keywords: &Map<String, Value>) -> (&[Value], Option<&Value>) {
    match (keywords.get("prefixItems"), keywords.get("items")) {
        (Some(Value::Array(prefix)), rest) => (prefix, rest),
        (_, Some(Value::Array(prefix))) => (prefix, keywords.get("additionalItems")),
        (_, rest) => (&[], rest),
    }
}

/// The bounds and steps that a schema sets for numbers; the old form of exclusive bounds is a flag.
pub(crate) fn range_of(keywords: &Map<String, Value>) -> Range<'_> {
    let mut range = Range::default();
    let flag = |keyword: &str| keywords.get(keyword) == Some(&Value::Bool(true));
    if let Some(limit) = limit(keywords, "minimum") {
        range.raise_lower(limit, flag("exclusiveMinimum"));
    }
    if let Some(limit) = limit(keywords, "exclusiveMinimum") {
        range.raise_lower(limit, true);
    }
    if let Some(limit) = limit(keywords, "maximum") {
        range.drop_upper(limit, flag("exclusiveMaximum"));
    }
    if let Some(limit) = limit(keywords, "exclusiveMaximum") {
        range.drop_upper(limit, true);
    }
    range.steps.extend(limit(keywords, "multipleOf"));
    range
}

/// A keyword that counts something; `3.0` counts as well as `3`.
pub(crate) fn count(keywords: &Map<String, Value>, keyword: &str) -> Option<u64> {
    let value = keywords.get(keyword)?;
    value.as_u64().or_else(|| format!("{:.0}", value.as_f64()?).parse().ok())
}

/// The texts in a list of names.
pub(crate) fn names_in(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// True if two values are the same to JSON Schema.
pub(crate) fn same(one: &Value, other: &Value) -> bool {
    compare(one, other) == JsonEquality::Same
}

fn limit<'a>(keywords: &'a Map<String, Value>, keyword: &str) -> Option<&'a Number> {
    keywords.get(keyword).and_then(Value::as_number)
}

fn has_twins(items: &[Value]) -> bool {
    items.iter().enumerate().any(|(at, item)| items[..at].iter().any(|earlier| same(earlier, item)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::oracle::Oracle;
    use super::super::random_schema::{random_schema, random_value};
    use super::*;

    /// The standard leaves open the meaning of a schema that refers to itself at the same value.
    fn cut_loops(schema: &mut Value, in_definitions: bool) {
        match schema {
            Value::Array(items) => items.iter_mut().for_each(|item| cut_loops(item, in_definitions)),
            Value::Object(map) => {
                if in_definitions || map.get("$ref") == Some(&Value::from("#")) {
                    map.remove("$ref");
                }
                map.iter_mut().for_each(|(key, item)| cut_loops(item, in_definitions || key == "$defs"));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn the_second_opinion_is_the_oracles(seed in any::<u64>()) {
            let mut schema = random_schema(seed);
            cut_loops(&mut schema, false);
            let Ok(oracle) = Oracle::new(&schema) else { return Ok(()) };
            let document = Document::new(&schema);
            let (checked, fuel) = (Checked::default(), Cell::new(100_000));
            let opinion = Opinion { document: &document, checked: &checked, fuel: &fuel };
            for number in 0..12 {
                let value = random_value(seed.wrapping_add(number));
                prop_assert_eq!(opinion.accepts(&schema, &value), oracle.accepts(&value), "{} {}", schema, value);
            }
        }
    }
}
