//! The number of steps that the validation of a value takes at most, counted before it is done.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::TooComplex;
use crate::generate::Document;

/// The most steps that a validation may take.
pub(crate) const BUDGET: u64 = 300_000;
/// The deepest recursion of a validation.
const DEEPEST: usize = 10_000;

/// The cost of a validation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Steps {
    /// The number of times that a schema is applied to a value.
    pub(crate) count: u64,
    /// The deepest recursion.
    pub(crate) depth: usize,
}

/// Counts the steps of validating a value: every branch, without the shortcuts that a validator may take.
pub(crate) fn steps(document: &Document<'_>, value: &Value) -> Result<Steps, TooComplex> {
    let mut walk = Walk::new(document, BUDGET);
    walk.run(document.root(), value)?;
    Ok(Steps { count: BUDGET - walk.left, depth: walk.deepest })
}

/// Counts the schemas that apply to the same value as a schema, each as often as it is reached.
pub(super) fn unfolded<'a>(document: &Document<'a>, schema: &'a Value, budget: u64) -> Result<u64, TooComplex> {
    let mut walk = Walk::new(document, budget);
    walk.run(schema, &Value::Null)?;
    Ok(budget - walk.left)
}

struct Walk<'d, 'a, 'v> {
    document: &'d Document<'a>,
    left: u64,
    deepest: usize,
    tasks: Vec<Task<'a, 'v>>,
    /// References that are being followed, with the value they are followed for: a circle is entered once.
    followed: HashSet<Pair>,
    /// Targets of references, looked up once.
    targets: HashMap<*const Value, Option<&'a Value>>,
}

/// The addresses of a schema and a value.
type Pair = (*const Value, *const Value);

enum Task<'a, 'v> {
    Apply { schema: &'a Value, value: &'v Value, depth: usize },
    Leave(Pair),
}

impl<'d, 'a, 'v> Walk<'d, 'a, 'v> {
    fn new(document: &'d Document<'a>, left: u64) -> Self {
        Self { document, left, deepest: 0, tasks: Vec::new(), followed: HashSet::new(), targets: HashMap::new() }
    }

    fn run(&mut self, schema: &'a Value, value: &'v Value) -> Result<(), TooComplex> {
        self.tasks.push(Task::Apply { schema, value, depth: 1 });
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Leave(pair) => drop(self.followed.remove(&pair)),
                Task::Apply { schema, value, depth } => self.apply(schema, value, depth)?,
            }
        }
        Ok(())
    }

    fn spend(&mut self, steps: usize) -> Result<(), TooComplex> {
        let left = self.left.checked_sub(steps as u64);
        self.left = left.ok_or_else(|| TooComplex::because(format!("it takes more than {BUDGET} steps")))?;
        Ok(())
    }

    fn apply(&mut self, schema: &'a Value, value: &'v Value, depth: usize) -> Result<(), TooComplex> {
        self.spend(1)?;
        self.deepest = self.deepest.max(depth);
        if depth > DEEPEST {
            return Err(TooComplex::because(format!("it takes a recursion of more than {DEEPEST} levels")));
        }
        let Some(keywords) = schema.as_object() else { return Ok(()) };
        self.spend(keywords.get("enum").and_then(Value::as_array).map_or(0, Vec::len))?;
        let document = self.document;
        let target = *self.targets.entry(std::ptr::from_ref(schema)).or_insert_with(|| document.referred(schema));
        if let Some(target) = target {
            let pair = (std::ptr::from_ref(target), std::ptr::from_ref(value));
            if self.followed.insert(pair) {
                self.tasks.push(Task::Leave(pair));
                self.tasks.push(Task::Apply { schema: target, value, depth: depth + 1 });
            }
        }
        let children = children(keywords, value);
        // Validators look at everything twice that says what was evaluated.
        let times = if keywords.contains_key("unevaluatedProperties") || keywords.contains_key("unevaluatedItems") {
            2
        } else {
            1
        };
        for _ in 0..times {
            self.spend(children.len())?;
            self.tasks.extend(in_place(keywords).map(|schema| Task::Apply { schema, value, depth: depth + 1 }));
            self.tasks.extend(children.iter().map(|(schema, value)| Task::Apply { schema, value, depth: depth + 1 }));
        }
        Ok(())
    }
}

/// The schemas that a schema applies to the same value.
fn in_place(keywords: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let lists = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|word| keywords.get(word)?.as_array()).flatten();
    let single = ["not", "if", "then", "else"].into_iter().filter_map(|word| keywords.get(word));
    let maps = ["dependentSchemas", "dependencies"].into_iter().filter_map(|word| keywords.get(word)?.as_object());
    lists.chain(single).chain(maps.flat_map(Map::values))
}

/// The schemas that a schema applies to parts of the value.
fn children<'a, 'v>(keywords: &'a Map<String, Value>, value: &'v Value) -> Vec<(&'a Value, &'v Value)> {
    let words = |words: &'static [&'static str]| words.iter().filter_map(|word| keywords.get(*word));
    let mut found = Vec::new();
    match value {
        Value::Object(map) => {
            let named = keywords.get("properties").and_then(Value::as_object);
            found.extend(named.into_iter().flatten().filter_map(|(name, schema)| Some((schema, map.get(name)?))));
            let patterns = keywords.get("patternProperties").and_then(Value::as_object);
            let others = words(&["additionalProperties", "unevaluatedProperties", "propertyNames"]);
            for schema in others.chain(patterns.into_iter().flat_map(Map::values)) {
                found.extend(map.values().map(|value| (schema, value)));
            }
        }
        Value::Array(items) => {
            for schema in words(&["items", "additionalItems", "unevaluatedItems", "contains"]).filter(|s| !s.is_array())
            {
                found.extend(items.iter().map(|value| (schema, value)));
            }
            for tuple in words(&["items", "prefixItems"]).filter_map(Value::as_array) {
                found.extend(tuple.iter().zip(items));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::chain;
    use super::*;

    fn count(schema: &Value, value: &Value) -> Result<Steps, TooComplex> {
        steps(&Document::new(schema), value)
    }

    #[test]
    fn branches_that_double_at_every_level_exceed_the_budget() {
        let node = json!({"properties": {"a": {"$ref": "#"}}});
        let deep = (0..100).fold(json!(1), |inner, _| json!({"a": inner}));
        for word in ["allOf", "anyOf", "oneOf"] {
            assert!(count(&json!({word: [node, node]}), &deep).is_err(), "{word}");
            assert!(count(&chain(40, |next| json!({word: [next, next]})), &json!(1)).is_err(), "{word}");
        }
        assert_eq!(count(&node, &deep).map(|steps| steps.depth), Ok(201));
    }

    #[test]
    fn what_people_write_takes_few_steps() {
        let list: Vec<Value> = (0..10_000).map(|number| json!({"id": number, "tags": ["a", "b"]})).collect();
        let item = json!({"type": "object", "properties": {"id": {"type": "integer"}, "tags": {"items": {"enum": ["a", "b"]}}}});
        let steps = count(&json!({"items": {"$ref": "#/$defs/item"}, "$defs": {"item": item}}), &json!(list));
        assert!(steps.is_ok_and(|steps| steps.count < BUDGET && steps.depth < 10));
    }

    #[test]
    fn circles_end() {
        for schema in [
            json!({"$ref": "#"}),
            json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}),
            json!({"not": {"$ref": "#"}}),
            json!({"properties": {"a": {"$ref": "#"}}, "allOf": [{"$ref": "#/properties/a"}]}),
        ] {
            assert!(count(&schema, &json!({"a": {"a": {}}})).is_ok_and(|steps| steps.count < 1_000), "{schema}");
        }
    }
}
