//! The places of an input that can be changed, and what the schema says of them.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::generate::{Checked, Choices, Demand, Document, Facts, Types, gather};

/// Maximum depth of places.
const DEEPEST: usize = 5;

/// Maximum number of places in an input.
const MOST: usize = 120;

/// A place in a valid input.
#[derive(Debug)]
pub(crate) struct Site<'a, 'v> {
    pub(crate) path: Vec<Step<'v>>,
    /// Requirements of the schema on the value here.
    pub(crate) facts: Facts<'a>,
    /// The valid value here.
    pub(crate) value: &'v Value,
}

/// One step on the way to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step<'v> {
    Name(&'v str),
    Index(usize),
}

impl Site<'_, '_> {
    pub(crate) fn is_top(&self) -> bool {
        self.path.is_empty()
    }

    /// True if values of these types are allowed here that no list of allowed values settles.
    pub(crate) fn may_be(&self, types: Types) -> bool {
        self.facts.types.has(types) && self.facts.allowed.is_none()
    }

    /// The way to this place as a reader writes it: `opts.tags[0]`.
    pub(crate) fn name(&self) -> String {
        let mut name = String::new();
        for step in &self.path {
            match step {
                Step::Name(step) if name.is_empty() => name.push_str(step),
                Step::Name(step) => {
                    name.push('.');
                    name.push_str(step);
                }
                Step::Index(index) => {
                    let _ = write!(name, "[{index}]");
                }
            }
        }
        name
    }

    /// The names of the properties on the way to this place.
    pub(crate) fn path_names(&self) -> Vec<&str> {
        let names = self.path.iter().filter_map(|step| match step {
            Step::Name(name) => Some(*name),
            Step::Index(_) => None,
        });
        names.collect()
    }
}

/// All places of a valid input, outer ones first, properties in the order of their names.
pub(crate) fn sites<'a, 'v>(document: &Document<'a>, checked: &Checked, input: &'v Value) -> Vec<Site<'a, 'v>> {
    let mut found = Vec::new();
    let mut open = vec![(Vec::new(), vec![Demand::must(document.root())], input)];
    // A queue rather than a stack: what is further out matters more when there are too many.
    let mut next = 0;
    while next < open.len() && found.len() < MOST {
        let (path, demands, value) = std::mem::take(&mut open[next]);
        next += 1;
        // A place whose schemas contradict each other at first sight is still a place.
        let facts = fitting(document, &demands, value);
        if path.len() < DEEPEST {
            open_inner(checked, &path, &facts, value, &mut open);
        }
        found.push(Site { path, facts, value });
    }
    found
}

/// The facts with the choices that the value there was made by, as far as types show it.
fn fitting<'a>(document: &Document<'a>, demands: &[Demand<'a>], value: &Value) -> Facts<'a> {
    let mut choices = Choices::default();
    let mut first = None;
    for _ in 0..12 {
        if let Ok(facts) = gather(demands, document, &mut choices, false) {
            if facts.types.has(Types::of(value)) && has_what_is_required(&facts, value) {
                return facts;
            }
            first.get_or_insert(facts);
        }
        if !choices.advance() {
            break;
        }
    }
    first.unwrap_or_else(Facts::none)
}

/// True if required properties are there: distinguishes the branches of a choice between objects.
fn has_what_is_required(facts: &Facts<'_>, value: &Value) -> bool {
    let Value::Object(map) = value else { return true };
    facts.record.required.iter().all(|name| map.contains_key(*name))
        && facts.record.absent.iter().all(|name| !map.contains_key(*name))
}

fn open_inner<'a, 'v>(
    checked: &Checked,
    path: &[Step<'v>],
    facts: &Facts<'a>,
    value: &'v Value,
    open: &mut Vec<(Vec<Step<'v>>, Vec<Demand<'a>>, &'v Value)>,
) {
    let mut add = |step: Step<'v>, demands: Vec<Demand<'a>>, value: &'v Value| {
        let mut path = path.to_vec();
        path.push(step);
        open.push((path, demands, value));
    };
    match value {
        Value::Object(map) => {
            for name in sorted_names(map) {
                let schemas = facts.record.shapes.iter().flat_map(|shape| shape.schemas_of(name, checked));
                add(Step::Name(name), schemas.map(Demand::must).collect(), &map[name]);
            }
        }
        Value::Array(items) => {
            // Items are alike unless a prefix distinguishes them.
            let prefix = facts.list.tuples.iter().map(|(prefix, _)| prefix.len()).max().unwrap_or(0);
            for (index, item) in items.iter().take(prefix.max(1)).enumerate() {
                let schemas = facts.list.tuples.iter().filter_map(|(prefix, rest)| prefix.get(index).or(*rest));
                add(Step::Index(index), schemas.map(Demand::must).collect(), item);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn sorted_names(map: &Map<String, Value>) -> Vec<&str> {
    let mut names: Vec<&str> = map.keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

/// An input with another value at a place; none when the place is not there.
pub(crate) fn replaced(input: &Value, path: &[Step<'_>], value: Value) -> Option<Value> {
    let mut changed = input.clone();
    replace(&mut changed, path, value).then_some(changed)
}

/// Puts another value at a place of an input; false when the place is not there.
pub(crate) fn replace(input: &mut Value, path: &[Step<'_>], value: Value) -> bool {
    let mut place = input;
    for step in path {
        let inner = match step {
            Step::Name(name) => place.get_mut(name),
            Step::Index(index) => place.get_mut(index),
        };
        let Some(inner) = inner else { return false };
        place = inner;
    }
    *place = value;
    true
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn places_are_found_with_what_is_asked_of_them() {
        let schema = json!({
            "$defs": {"name": {"type": "string", "maxLength": 5}},
            "type": "object",
            "properties": {
                "b": {"type": "array", "items": {"$ref": "#/$defs/name"}},
                "a": {"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 3}]}
            }
        });
        let input = json!({"b": ["x", "y"], "a": 3});
        let found = sites(&Document::new(&schema), &Checked::default(), &input);
        let names: Vec<String> = found.iter().map(Site::name).collect();
        assert_eq!(names, ["", "a", "b", "b[0]"]);
        assert!(found[1].facts.range.lower.is_some());
        assert_eq!((found[3].facts.length.most, found[3].path_names()), (5, vec!["b"]));
    }

    #[test]
    fn a_place_is_replaced_or_is_not_there() {
        let input = json!({"a": [{"b": 1}]});
        let path = [Step::Name("a"), Step::Index(0), Step::Name("b")];
        assert_eq!(replaced(&input, &path, json!(2)), Some(json!({"a": [{"b": 2}]})));
        assert_eq!(replaced(&input, &[Step::Name("c")], json!(2)), None);
        assert_eq!(replaced(&input, &[], Value::Null), Some(Value::Null));
    }
}
