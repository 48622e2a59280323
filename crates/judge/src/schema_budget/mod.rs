//! Budgets for the work that a schema of a server may cause.
//!
//! A schema of a few kilobytes can describe 2^40 paths, and one of a megabyte takes minutes to compile. What exceeds a
//! budget is not judged: the caller reports that, with the name of the tool, instead of running without end.

mod deep_stack;
mod steps;

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

use crate::generate::Document;

pub(crate) use deep_stack::on_deep_stack;
pub(crate) use steps::{Steps, steps};

/// The largest number of JSON values in a schema; the largest ones of published servers have a few thousand.
pub(crate) const NODES: usize = 50_000;
/// The largest number of maps in a schema: each may be a schema of its own.
pub(crate) const MAPS: usize = 10_000;
/// The most bytes in names and strings of a schema.
const TEXT: usize = 1 << 20;
/// The deepest nesting of a schema; messages of a server are never deeper than serde reads.
const DEPTH: usize = 128;
/// The longest chain of schemas, references followed, that a recursive walk may meet.
const CHAIN: usize = 1_000;
/// The largest number of different patterns; compiling one takes up to some milliseconds.
const PATTERNS: usize = 500;
/// The largest number of different patterns with counted repetitions, which may be large when they are compiled.
const COUNTED_PATTERNS: usize = 50;

/// Keywords that lead from one schema to another by name.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// A schema that is too complex to judge, and which budget it exceeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooComplex(String);

impl TooComplex {
    /// The budget that was exceeded, as a reason.
    pub(crate) fn because(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl fmt::Display for TooComplex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the schema is too complex to judge: {}", self.0)
    }
}

impl std::error::Error for TooComplex {}

/// Measures of a schema that is within its budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// The number of JSON values.
    pub(crate) nodes: usize,
    /// True if a schema refers to another by name.
    pub(crate) has_references: bool,
    /// The longest chain of schemas that a walk meets.
    pub(crate) chain: usize,
}

/// Reports a schema that no walk should begin with. Linear in the size of the schema.
pub fn too_complex(schema: &Value) -> Option<TooComplex> {
    measure(schema).err()
}

/// Measures a schema.
pub(crate) fn measure(schema: &Value) -> Result<Size, TooComplex> {
    let mut count = Count::default();
    count.all(schema)?;
    let unevaluated = std::mem::take(&mut count.unevaluated);
    let mut size = Size { nodes: count.nodes, has_references: count.references > 0, chain: count.depth };
    if size.has_references {
        let document = Document::new(schema);
        size.chain = longest_chain(&document);
        if size.chain > CHAIN {
            return Err(TooComplex::because(format!("its references form a chain of more than {CHAIN} schemas")));
        }
        // Compilers unfold everything that `unevaluatedProperties` has to know of, and validators the whole for any value.
        let mut left = steps::BUDGET;
        for schema in unevaluated.into_iter().chain([schema]) {
            left = left.saturating_sub(steps::unfolded(&document, schema, left)?);
        }
    }
    Ok(size)
}

#[derive(Default)]
struct Count<'a> {
    nodes: usize,
    maps: usize,
    text: usize,
    depth: usize,
    references: usize,
    patterns: BTreeSet<&'a str>,
    unevaluated: Vec<&'a Value>,
}

impl<'a> Count<'a> {
    fn all(&mut self, schema: &'a Value) -> Result<(), TooComplex> {
        let mut open = vec![(schema, 0)];
        while let Some((value, depth)) = open.pop() {
            self.nodes += 1;
            self.depth = self.depth.max(depth);
            match value {
                Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
                Value::Object(map) => {
                    self.maps += 1;
                    self.references += usize::from(REFERENCES.iter().any(|word| map.contains_key(*word)));
                    self.patterns.extend(map.get("pattern").and_then(Value::as_str));
                    let named = map.get("patternProperties").and_then(Value::as_object);
                    self.patterns.extend(named.into_iter().flatten().map(|(pattern, _)| pattern.as_str()));
                    if map.contains_key("unevaluatedProperties") || map.contains_key("unevaluatedItems") {
                        self.unevaluated.push(value);
                    }
                    self.text += map.keys().map(String::len).sum::<usize>();
                    open.extend(map.values().map(|item| (item, depth + 1)));
                }
                Value::String(text) => self.text += text.len(),
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
            self.within()?;
        }
        Ok(())
    }

    fn within(&self) -> Result<(), TooComplex> {
        let counted = || self.patterns.iter().filter(|pattern| pattern.contains('{')).count();
        let reason = if self.nodes > NODES {
            format!("it has more than {NODES} values")
        } else if self.maps > MAPS {
            format!("it has more than {MAPS} schemas")
        } else if self.text > TEXT {
            format!("it has more than {} MiB of text", TEXT >> 20)
        } else if self.depth > DEPTH {
            format!("it is nested more than {DEPTH} levels deep")
        } else if self.patterns.len() > PATTERNS
            || self.patterns.len() > COUNTED_PATTERNS && counted() > COUNTED_PATTERNS
        {
            format!("it has {} different patterns", self.patterns.len())
        } else {
            return Ok(());
        };
        Err(TooComplex::because(reason))
    }
}

/// The longest chain of schemas from the root that a walk meets which visits each schema once.
fn longest_chain(document: &Document<'_>) -> usize {
    let mut seen: BTreeSet<*const Value> = BTreeSet::new();
    let mut open = vec![(document.root(), 1)];
    let mut longest = 0;
    while let Some((value, depth)) = open.pop() {
        if !seen.insert(std::ptr::from_ref(value)) {
            continue;
        }
        longest = longest.max(depth);
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth))),
            Value::Object(map) => {
                open.extend(
                    map.values().filter(|item| item.is_object() || item.is_array()).map(|item| (item, depth + 1)),
                );
                // On top, because a walk follows a reference before it looks at definitions.
                open.extend(document.referred(value).map(|target| (target, depth + 1)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    pub(super) fn chain(length: usize, link: impl Fn(Value) -> Value) -> Value {
        let mut definitions = Map::new();
        for number in 0..length {
            definitions.insert(format!("d{number}"), link(json!({"$ref": format!("#/$defs/d{}", number + 1)})));
        }
        definitions.insert(format!("d{length}"), json!({"type": "object"}));
        json!({"$ref": "#/$defs/d0", "$defs": definitions})
    }

    #[test]
    fn what_exceeds_a_budget_is_named() {
        let many: Map<String, Value> = (0..11_000).map(|n| (format!("p{n}"), json!({}))).collect();
        let patterns: Map<String, Value> = (0..60).map(|n| (format!("^a{{{n}}}$"), json!({}))).collect();
        let deep = (0..200).fold(json!({}), |inner, _| json!({"not": inner}));
        for (schema, reason) in [
            (json!({"enum": vec![0; 60_000]}), "more than 50000 values"),
            (json!({"properties": many}), "more than 10000 schemas"),
            (json!({"title": "x".repeat(2 << 20)}), "more than 1 MiB of text"),
            (json!({"patternProperties": patterns}), "60 different patterns"),
            (deep, "nested more than 128 levels"),
            (chain(2_000, |next| next), "chain of more than 1000 schemas"),
            (chain(40, |next| json!({"anyOf": [next, next], "unevaluatedProperties": false})), "steps"),
        ] {
            let found = too_complex(&schema).expect(reason).to_string();
            assert!(found.starts_with("the schema is too complex to judge: ") && found.contains(reason), "{found}");
        }
    }

    #[test]
    fn what_people_write_is_within_the_budget() {
        let many: Map<String, Value> = (0..1_000).map(|n| (format!("p{n}"), json!({"type": "string"}))).collect();
        for schema in [
            json!({"type": "object", "properties": many}),
            json!({"enum": (0..10_000).collect::<Vec<i32>>()}),
            json!({"$ref": "#"}),
            json!({"properties": {"next": {"$ref": "#"}}, "unevaluatedProperties": false}),
            chain(100, |next| json!({"type": "object", "properties": {"a": next, "b": next}})),
        ] {
            assert_eq!(too_complex(&schema), None);
        }
    }
}
