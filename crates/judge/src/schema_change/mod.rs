//! Effect of a change of a JSON Schema: it accepts less than before, more, or the same in other words.
//!
//! Keywords are compared one by one, with local references followed. Where a keyword is too involved to determine the
//! direction of its change, the change counts as both: for callers of a tool, caution is right.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::json_pointer::escaped;

/// Effect of a change on the values that a schema accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Values that were accepted may not be any more.
    Narrows,
    /// Values that were not accepted may be now.
    Widens,
    /// Something that was known is gone or entirely different.
    Replaces,
    /// Something is known that was not spoken of before.
    Adds,
    /// Only what people and models read is different.
    Words,
}

/// A change of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaChange {
    /// The place in the schema, as a JSON Pointer.
    pub pointer: String,
    /// Its effect.
    pub effect: Effect,
    /// The change, in words.
    pub what: String,
}

/// Keywords that do not affect validation.
const WORDS: &[&str] = &["default", "deprecated", "description", "example", "examples", "title"];
/// Keywords that are looked at through the references to them, or that say nothing about values.
const IGNORED: &[&str] = &["$anchor", "$comment", "$defs", "$id", "$ref", "$schema", "definitions"];
/// Keywords whose larger value accepts less.
const LEAST: &[&str] = &["exclusiveMinimum", "minItems", "minLength", "minProperties", "minimum"];
/// Keywords whose larger value accepts more.
const MOST: &[&str] = &["exclusiveMaximum", "maxItems", "maxLength", "maxProperties", "maximum"];
/// Keywords that work together with others, so that no change of one has a direction of its own.
const ENTANGLED: &[&str] = &[
    "additionalItems",
    "contains",
    "else",
    "if",
    "maxContains",
    "minContains",
    "not",
    "patternProperties",
    "prefixItems",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords that have a comparison of their own below.
const OWN: &[&str] = &[
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "enum",
    "items",
    "oneOf",
    "properties",
    "required",
    "type",
    "uniqueItems",
];
/// Maximum depth of the comparison.
const DEEPEST: usize = 40;
/// Maximum number of pairs of schemas that are compared.
const MOST_STEPS: usize = 20_000;

/// Everything that changed between two schemas.
pub fn schema_changes(old: &Value, new: &Value) -> Vec<SchemaChange> {
    // The same text means the same, however much it describes.
    if old == new {
        return Vec::new();
    }
    let mut comparison = Comparison { roots: (old, new), open: BTreeSet::new(), changes: Vec::new(), left: MOST_STEPS };
    comparison.compare(old, new, "", 0);
    if comparison.left == 0 {
        comparison.add("", Effect::Replaces, "the schema changed and is too complex to compare");
    }
    comparison.changes
}

struct Comparison<'s> {
    roots: (&'s Value, &'s Value),
    /// Pairs of references that are being compared: schemas may go round in circles.
    open: BTreeSet<(String, String)>,
    changes: Vec<SchemaChange>,
    /// Number of pairs of schemas that may still be compared.
    left: usize,
}

impl<'s> Comparison<'s> {
    fn add(&mut self, pointer: &str, effect: Effect, what: impl Into<String>) {
        self.changes.push(SchemaChange { pointer: pointer.to_owned(), effect, what: what.into() });
    }

    fn compare(&mut self, old: &'s Value, new: &'s Value, pointer: &str, depth: usize) {
        let names = (reference(old), reference(new));
        self.left = self.left.saturating_sub(1);
        if self.left == 0 || depth > DEEPEST || old == new && names == (None, None) && !mentions_reference(old) {
            return;
        }
        let pair = (names.0.unwrap_or_default().to_owned(), names.1.unwrap_or_default().to_owned());
        let is_followed = names != (None, None);
        if is_followed && !self.open.insert(pair.clone()) {
            return;
        }
        match (followed(old, self.roots.0), followed(new, self.roots.1)) {
            (Some((there, old_way)), Some((then, new_way))) => {
                self.compare_followed(there, then, pointer, depth);
                // Keywords next to a reference hold as well, at every turn of the way.
                for turn in 0..old_way.len().max(new_way.len()) {
                    let beside = |way: &[&'s Value]| way.get(turn).copied().unwrap_or(&ANY);
                    self.compare_followed(beside(&old_way), beside(&new_way), pointer, depth);
                }
            }
            (None, None) if old == new => {}
            (_, _) => self.add(pointer, Effect::Replaces, "a reference that cannot be followed changed"),
        }
        if is_followed {
            self.open.remove(&pair);
        }
    }

    fn compare_followed(&mut self, old: &'s Value, new: &'s Value, pointer: &str, depth: usize) {
        match (old, new) {
            (Value::Bool(false), Value::Bool(false)) => {}
            (_, Value::Bool(false)) => self.add(pointer, Effect::Narrows, "nothing is accepted any more"),
            (Value::Bool(false), _) => self.add(pointer, Effect::Widens, "something is accepted now"),
            (old, new) => {
                let (old, new) = (keywords(old), keywords(new));
                if self.alternatives(old, new, pointer, depth) {
                    self.words(old, new, pointer);
                    return;
                }
                self.types(old, new, pointer);
                self.choices(old, new, pointer);
                self.bounds(old, new, pointer);
                self.properties(old, new, pointer, depth);
                self.items(old, new, pointer, depth);
                self.conditions(old, new, pointer, depth);
                self.other(old, new, pointer);
                self.words(old, new, pointer);
            }
        }
    }

    fn has_other_definitions(&self) -> bool {
        ["$defs", "definitions"].iter().any(|key| self.roots.0.get(key) != self.roots.1.get(key))
    }

    fn types(&mut self, old: Keywords<'_>, new: Keywords<'_>, pointer: &str) {
        let (before, after) = (type_bits(get(old, "type")), type_bits(get(new, "type")));
        let (lost, won) = (before & !after, after & !before);
        let what = format!("the type changed from {} to {}", shown(get(old, "type")), shown(get(new, "type")));
        self.directed(pointer, lost != 0, won != 0, what);
    }

    fn choices(&mut self, old: Keywords<'_>, new: Keywords<'_>, pointer: &str) {
        match (choice(old), choice(new)) {
            (None, None) => {}
            (None, Some(now)) => self.add(pointer, Effect::Narrows, format!("only {} is accepted now", listed(&now))),
            (Some(_), None) => self.add(pointer, Effect::Widens, "any value is accepted, not only those of a list"),
            (Some(before), Some(now)) => {
                let lost: Vec<&Value> = before.iter().filter(|value| !now.contains(value)).copied().collect();
                let won: Vec<&Value> = now.iter().filter(|value| !before.contains(value)).copied().collect();
                if !lost.is_empty() {
                    self.add(pointer, Effect::Narrows, format!("{} is not accepted any more", listed(&lost)));
                }
                if !won.is_empty() {
                    self.add(pointer, Effect::Widens, format!("{} is accepted now", listed(&won)));
                }
            }
        }
    }

    fn bounds(&mut self, old: Keywords<'_>, new: Keywords<'_>, pointer: &str) {
        for (keys, larger, smaller) in
            [(LEAST, Effect::Narrows, Effect::Widens), (MOST, Effect::Widens, Effect::Narrows)]
        {
            for key in keys {
                let number = |map| get(map, key).and_then(Value::as_f64);
                let what = || format!("`{key}` changed from {} to {}", shown(get(old, key)), shown(get(new, key)));
                match (number(old), number(new)) {
                    (None, Some(_)) => self.add(pointer, Effect::Narrows, what()),
                    (Some(_), None) => self.add(pointer, Effect::Widens, what()),
                    (Some(before), Some(now)) if now > before => self.add(pointer, larger, what()),
                    (Some(before), Some(now)) if now < before => self.add(pointer, smaller, what()),
                    (_, _) => {}
                }
            }
        }
    }

    fn properties(&mut self, old: Keywords<'s>, new: Keywords<'s>, pointer: &str, depth: usize) {
        let (before, now) = (map_at(old, "properties"), map_at(new, "properties"));
        let was_closed = get(old, "additionalProperties") == Some(&Value::Bool(false));
        for (name, schema) in before.into_iter().flatten() {
            let place = format!("{pointer}/properties/{}", escaped(name));
            match now.and_then(|now| now.get(name)) {
                Some(later) => self.compare(schema, later, &place, depth + 1),
                None => self.add(&place, Effect::Replaces, format!("`{name}` is not there any more")),
            }
        }
        for (name, _) in now.into_iter().flatten().filter(|(name, _)| before.is_none_or(|b| !b.contains_key(*name))) {
            let effect = if was_closed { Effect::Widens } else { Effect::Adds };
            self.add(&format!("{pointer}/properties/{}", escaped(name)), effect, format!("`{name}` is new"));
        }
        let required = |map| -> BTreeSet<&str> {
            get(map, "required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
        };
        let (before, now) = (required(old), required(new));
        for name in now.difference(&before) {
            self.add(&format!("{pointer}/required"), Effect::Narrows, format!("`{name}` is required now"));
        }
        for name in before.difference(&now) {
            self.add(&format!("{pointer}/required"), Effect::Widens, format!("`{name}` is not required any more"));
        }
        let place = format!("{pointer}/additionalProperties");
        match (get(old, "additionalProperties"), get(new, "additionalProperties")) {
            (None | Some(Value::Bool(true)), Some(Value::Bool(false))) => {
                self.add(&place, Effect::Narrows, "properties that are not listed are not accepted any more");
            }
            (Some(Value::Bool(false)), None | Some(Value::Bool(true))) => {
                self.add(&place, Effect::Widens, "properties that are not listed are accepted now");
            }
            (before, now) => self.compare(before.unwrap_or(&ANY), now.unwrap_or(&ANY), &place, depth + 1),
        }
    }

    fn items(&mut self, old: Keywords<'s>, new: Keywords<'s>, pointer: &str, depth: usize) {
        let (before, now) = (get(old, "items").unwrap_or(&ANY), get(new, "items").unwrap_or(&ANY));
        // Before 2020-12, a list here meant the items at each position.
        if before.is_array() || now.is_array() {
            if before != now {
                self.add(pointer, Effect::Replaces, "`items` changed");
            }
        } else {
            self.compare(before, now, &format!("{pointer}/items"), depth + 1);
        }
        let unique = |map| get(map, "uniqueItems") == Some(&Value::Bool(true));
        let (lost, won) = (unique(new) && !unique(old), unique(old) && !unique(new));
        self.directed(pointer, lost, won, "`uniqueItems` changed".to_owned());
    }

    /// `allOf`: each one more accepts less.
    fn conditions(&mut self, old: Keywords<'s>, new: Keywords<'s>, pointer: &str, depth: usize) {
        let (before, now) = (list_at(old, "allOf"), list_at(new, "allOf"));
        match unpaired(before, now) {
            (old, new) if old.len() == 1 && new.len() == 1 => {
                self.compare(old[0], new[0], &format!("{pointer}/allOf"), depth + 1);
            }
            (old, new) => {
                self.directed(
                    pointer,
                    !new.is_empty(),
                    !old.is_empty(),
                    "the conditions of `allOf` changed".to_owned(),
                );
            }
        }
        for branch in before.iter().filter(|branch| mentions_reference(branch) && now.contains(branch)) {
            self.compare(branch, branch, &format!("{pointer}/allOf"), depth + 1);
        }
    }

    /// `anyOf` and `oneOf`, where one side has one: a schema without any is the one alternative there is. True when the two
    /// were compared in this way and there is nothing more to compare.
    fn alternatives(&mut self, old: Keywords<'s>, new: Keywords<'s>, pointer: &str, depth: usize) -> bool {
        let key = |map: Keywords<'_>| ["anyOf", "oneOf"].into_iter().find(|key| get(map, key).is_some());
        let is_alone = |map: Keywords<'_>| {
            let own = map.into_iter().flatten().map(|(key, _)| key.as_str());
            let own = own.filter(|key| !WORDS.contains(key) && !IGNORED.contains(key));
            own.filter(|key| !matches!(*key, "anyOf" | "oneOf")).count() == 0
        };
        let (before_key, now_key) = (key(old), key(new));
        let (before, now) = match (before_key, now_key) {
            (None, None) => return false,
            (Some(key), None) if is_alone(old) && new.is_some() => {
                return self.one_of_many(list_at(old, key), new, pointer, Effect::Narrows);
            }
            (None, Some(key)) if is_alone(new) && old.is_some() => {
                return self.one_of_many(list_at(new, key), old, pointer, Effect::Widens);
            }
            (before, now) => {
                let list = |map, key: Option<&str>| key.map(|key| list_at(map, key));
                (list(old, before), list(new, now))
            }
        };
        match (before, now) {
            (Some(before), Some(now)) => match unpaired(before, now) {
                (old, new) if old.len() == 1 && new.len() == 1 => {
                    self.compare(old[0], new[0], &format!("{pointer}/anyOf"), depth + 1);
                }
                (old, new) => {
                    if !old.is_empty() {
                        self.add(pointer, Effect::Narrows, format!("{} is gone", alternatives_of(&old)));
                    }
                    if !new.is_empty() {
                        self.add(pointer, Effect::Widens, format!("{} is new", alternatives_of(&new)));
                    }
                }
            },
            (None, Some(_)) => self.add(pointer, Effect::Narrows, "one of several alternatives must hold now"),
            (Some(_), None) => self.add(pointer, Effect::Widens, "none of the alternatives has to hold any more"),
            (None, None) => {}
        }
        // An alternative that is the same by its words may lead elsewhere now.
        let both = before.unwrap_or_default().iter().filter(|branch| now.unwrap_or_default().contains(branch));
        for branch in both.filter(|branch| mentions_reference(branch)) {
            self.compare(branch, branch, &format!("{pointer}/anyOf"), depth + 1);
        }
        before_key.is_some() && now_key.is_some() && is_alone(old) && is_alone(new)
    }

    /// One side is a single schema, the other several alternatives. `more` is what it means that the others exist.
    fn one_of_many(&mut self, many: &'s [Value], one: Keywords<'s>, pointer: &str, more: Effect) -> bool {
        let bare = bare(one);
        if many.iter().any(|branch| self::bare(branch.as_object()) == bare) {
            let others: Vec<&Value> = many.iter().filter(|branch| self::bare(branch.as_object()) != bare).collect();
            if !others.is_empty() {
                let word = if more == Effect::Widens { "is new" } else { "is gone" };
                self.add(pointer, more, format!("{} {word}", alternatives_of(&others)));
            }
        } else {
            self.add(pointer, Effect::Replaces, "it has other alternatives now");
        }
        true
    }

    /// Keywords that are compared as a whole.
    fn other(&mut self, old: Keywords<'_>, new: Keywords<'_>, pointer: &str) {
        let keys: BTreeSet<&str> = [old, new].into_iter().flatten().flat_map(Map::keys).map(String::as_str).collect();
        for key in keys {
            if [WORDS, IGNORED, LEAST, MOST, OWN].iter().any(|known| known.contains(&key)) || key.starts_with("x-") {
                continue;
            }
            match (get(old, key), get(new, key)) {
                (before, now) if before != now && (ENTANGLED.contains(&key) || before.is_some() && now.is_some()) => {
                    self.add(pointer, Effect::Replaces, format!("`{key}` changed"));
                }
                (Some(before), Some(_)) if self.has_other_definitions() && mentions_reference(before) => {
                    self.add(pointer, Effect::Replaces, format!("what `{key}` refers to changed"));
                }
                (None, Some(_)) => self.add(pointer, Effect::Narrows, format!("`{key}` is new")),
                (Some(_), None) => self.add(pointer, Effect::Widens, format!("`{key}` is gone")),
                (_, _) => {}
            }
        }
    }

    fn words(&mut self, old: Keywords<'_>, new: Keywords<'_>, pointer: &str) {
        for key in WORDS {
            if get(old, key) != get(new, key) {
                self.add(pointer, Effect::Words, format!("`{key}` changed"));
            }
        }
    }

    fn directed(&mut self, pointer: &str, narrows: bool, widens: bool, what: String) {
        match (narrows, widens) {
            (true, true) => self.add(pointer, Effect::Replaces, what),
            (true, false) => self.add(pointer, Effect::Narrows, what),
            (false, true) => self.add(pointer, Effect::Widens, what),
            (false, false) => {}
        }
    }
}

/// The keywords of a schema; `true` has none.
type Keywords<'s> = Option<&'s Map<String, Value>>;

/// The schema that accepts everything.
static ANY: Value = Value::Bool(true);

fn keywords(schema: &Value) -> Keywords<'_> {
    schema.as_object()
}

fn get<'s>(map: Keywords<'s>, key: &str) -> Option<&'s Value> {
    map?.get(key)
}

fn map_at<'s>(map: Keywords<'s>, key: &str) -> Keywords<'s> {
    get(map, key)?.as_object()
}

fn list_at<'s>(map: Keywords<'s>, key: &str) -> &'s [Value] {
    get(map, key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref").and_then(Value::as_str)
}

/// The schema that a reference leads to, and the schemas with references on the way there; `None` when one leads nowhere.
fn followed<'s>(schema: &'s Value, root: &'s Value) -> Option<(&'s Value, Vec<&'s Value>)> {
    let mut at = schema;
    let mut way = Vec::new();
    for _ in 0..DEEPEST {
        let Some(name) = reference(at) else { return Some((at, way)) };
        way.push(at);
        at = root.pointer(name.strip_prefix('#')?)?;
    }
    None
}

fn mentions_reference(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.contains_key("$ref") || map.values().any(mentions_reference),
        Value::Array(items) => items.iter().any(mentions_reference),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The types as bits; a whole number is a number too.
fn type_bits(types: Option<&Value>) -> u8 {
    let bit = |name: &str| match name {
        "null" => 1,
        "boolean" => 2,
        "object" => 4,
        "array" => 8,
        "string" => 16,
        "integer" => 32,
        "number" => 96,
        _ => 0,
    };
    match types {
        Some(Value::String(name)) => bit(name),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(bit).fold(0, |all, one| all | one),
        Some(_) | None => 127,
    }
}

/// The values of `enum`, or the one of `const`; of both, what is in both.
fn choice(map: Keywords<'_>) -> Option<Vec<&Value>> {
    match (get(map, "enum").and_then(Value::as_array), get(map, "const")) {
        (None, Some(only)) => Some(vec![only]),
        (Some(values), Some(only)) => Some(values.iter().filter(|value| *value == only).collect()),
        (Some(values), None) => Some(values.iter().collect()),
        (None, None) => None,
    }
}

/// The items of each list that the other does not have.
fn unpaired<'s>(old: &'s [Value], new: &'s [Value]) -> (Vec<&'s Value>, Vec<&'s Value>) {
    (old.iter().filter(|item| !new.contains(item)).collect(), new.iter().filter(|item| !old.contains(item)).collect())
}

/// A schema without annotations.
fn bare(map: Keywords<'_>) -> Option<Map<String, Value>> {
    let kept = map?.iter().filter(|(key, _)| !WORDS.contains(&key.as_str()) && !IGNORED[..5].contains(&key.as_str()));
    Some(kept.map(|(key, value)| (key.clone(), value.clone())).collect())
}

fn alternatives_of(branches: &[&Value]) -> String {
    let name = |branch: &&Value| match branch.get("type").or_else(|| branch.get("$ref")).or_else(|| branch.get("const"))
    {
        Some(value) => shown(Some(value)),
        None => "one".to_owned(),
    };
    format!("the alternative {}", branches.iter().map(name).collect::<Vec<_>>().join(", "))
}

fn listed(values: &[&Value]) -> String {
    let shown: Vec<String> = values.iter().take(5).map(|value| format!("`{value}`")).collect();
    let more = if values.len() > 5 { format!(" and {} more", values.len() - 5) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

fn shown(value: Option<&Value>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(Value::String(text)) => format!("`{text}`"),
        Some(other) => format!("`{other}`"),
    }
}

#[cfg(test)]
mod tests;
