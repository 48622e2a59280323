//! Gathers what schemas ask of a value: references followed, `allOf` merged, one branch of each choice taken.

use serde_json::{Map, Value};

use super::accepts::{Dependency, RecordShape, count, dependencies_of, names_in, range_of, tuple_of};
use super::choices::Choices;
use super::document::Document;
use super::facts::{Contains, Demand, Facts, Span};
use super::negate;
use super::types::Types;

/// Maximum depth of combinations of schemas at one place.
const DEEPEST: usize = 64;

/// Maximum number of schemas merged at one place.
const MOST: usize = 4000;

/// Gathers what is asked of a value; an error says why no value can be meant.
///
/// `optional` asks for the optional properties as well.
pub(crate) fn gather<'a>(
    demands: &[Demand<'a>],
    document: &Document<'a>,
    choices: &mut Choices,
    optional: bool,
) -> Result<Facts<'a>, String> {
    let mut gatherer = Gatherer { document, choices, facts: Facts::none(), merged: 0 };
    for demand in demands {
        gatherer.demand(*demand, 0)?;
    }
    gatherer.follow_dependencies(optional)?;
    let mut facts = gatherer.facts;
    facts.settle()?;
    Ok(facts)
}

/// The work in progress.
pub(crate) struct Gatherer<'g, 'a> {
    document: &'g Document<'a>,
    pub(crate) choices: &'g mut Choices,
    pub(crate) facts: Facts<'a>,
    merged: usize,
}

impl<'a> Gatherer<'_, 'a> {
    pub(crate) fn demand(&mut self, demand: Demand<'a>, depth: usize) -> Result<(), String> {
        self.merged += 1;
        if depth > DEEPEST || self.merged > MOST {
            return Err("its schemas are combined too deeply".to_owned());
        }
        match demand {
            Demand { schema, accepts: true } => self.must(schema, depth),
            Demand { schema, accepts: false } => {
                self.facts.uncertain = true;
                negate::gather(self, schema, depth)
            }
        }
    }

    /// The schema that a schema refers to, and true if it has other keywords.
    pub(crate) fn referred(&self, schema: &'a Value) -> Option<(&'a Value, bool)> {
        let target = self.document.referred(schema)?;
        Some((target, self.document.has_lonely_references() && schema.get("$ref").is_some()))
    }

    fn must(&mut self, schema: &'a Value, depth: usize) -> Result<(), String> {
        let keywords = match schema {
            Value::Bool(false) => return Err("no value is allowed here".to_owned()),
            Value::Object(keywords) => keywords,
            Value::Bool(true) | Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => return Ok(()),
        };
        if let Some((target, alone)) = self.referred(schema) {
            // A reference to what is being gathered already adds nothing.
            if !self.facts.references.iter().any(|known| std::ptr::eq(*known, target)) {
                self.facts.references.push(target);
                self.demand(Demand::must(target), depth + 1)?;
            }
            if alone {
                return Ok(());
            }
        }
        self.values(keywords);
        self.scalars(keywords);
        self.lists(keywords);
        self.records(keywords);
        self.combinations(keywords, depth)
    }

    fn values(&mut self, keywords: &'a Map<String, Value>) {
        let facts = &mut self.facts;
        if let Some(types) = keywords.get("type") {
            facts.types = facts.types.and(Types::named(types));
            if facts.listed.is_empty() {
                facts.listed = types.as_array().into_iter().flatten().map(Types::named).collect();
            }
        }
        facts.spoken_of = facts.spoken_of.or(Types::spoken_of(keywords));
        if let Some(constant) = keywords.get("const") {
            facts.allow(std::iter::once(constant));
        }
        if let Some(options) = keywords.get("enum").and_then(Value::as_array) {
            facts.allow(options.iter());
        }
        facts.hints.extend(keywords.get("default"));
        facts.hints.extend(keywords.get("examples").and_then(Value::as_array).into_iter().flatten());
        facts.hints.extend(keywords.get("example"));
        facts.description = facts.description.or(keywords.get("description").and_then(Value::as_str));
    }

    fn scalars(&mut self, keywords: &'a Map<String, Value>) {
        let facts = &mut self.facts;
        let range = range_of(keywords);
        if let Some(lower) = range.lower {
            facts.range.raise_lower(lower.limit, lower.exclusive);
        }
        if let Some(upper) = range.upper {
            facts.range.drop_upper(upper.limit, upper.exclusive);
        }
        facts.range.steps.extend(range.steps);
        narrow(&mut facts.length, keywords, ["minLength", "maxLength"]);
        facts.patterns.extend(keywords.get("pattern").and_then(Value::as_str));
        facts.formats.extend(keywords.get("format").and_then(Value::as_str));
    }

    fn lists(&mut self, keywords: &'a Map<String, Value>) {
        let list = &mut self.facts.list;
        narrow(&mut list.size, keywords, ["minItems", "maxItems"]);
        list.unique |= keywords.get("uniqueItems") == Some(&Value::Bool(true));
        let (prefix, rest) = tuple_of(keywords);
        let rest = rest.or_else(|| keywords.get("unevaluatedItems").filter(|_| !keywords.contains_key("contains")));
        if !prefix.is_empty() || rest.is_some() {
            list.tuples.push((prefix, rest));
        }
        if let Some(schema) = keywords.get("contains") {
            let mut wanted = Span { least: 1, most: u64::MAX };
            if let Some(least) = count(keywords, "minContains") {
                wanted.least = least;
            }
            wanted.at_most(count(keywords, "maxContains").unwrap_or(u64::MAX));
            list.contains.push(Contains { schema, count: wanted });
            self.facts.uncertain = true;
        }
    }

    fn records(&mut self, keywords: &'a Map<String, Value>) {
        let record = &mut self.facts.record;
        narrow(&mut record.size, keywords, ["minProperties", "maxProperties"]);
        let shape = RecordShape::of(keywords);
        if shape.properties.is_some() || shape.patterns.is_some() || shape.others.is_some() {
            record.shapes.push(shape);
        }
        record.required.extend(names_in(keywords.get("required")));
        record.names.extend(keywords.get("propertyNames"));
        record.dependencies.extend(dependencies_of(keywords));
        record.closed |= keywords.get("unevaluatedProperties").is_some_and(|others| *others != Value::Bool(true));
        self.facts.uncertain |= !self.facts.record.names.is_empty() || !self.facts.record.dependencies.is_empty();
    }

    fn combinations(&mut self, keywords: &'a Map<String, Value>, depth: usize) -> Result<(), String> {
        let branches = |keyword: &str| keywords.get(keyword).and_then(Value::as_array).filter(|all| !all.is_empty());
        for branch in branches("allOf").into_iter().flatten() {
            self.demand(Demand::must(branch), depth + 1)?;
        }
        if let Some(branches) = branches("anyOf") {
            let chosen = self.choices.choose(branches.len());
            self.demand(Demand::must(plain_first(branches)[chosen]), depth + 1)?;
        }
        if let Some(branches) = branches("oneOf") {
            self.exactly_one(&plain_first(branches), depth)?;
        }
        if let Some(refused) = keywords.get("not") {
            self.demand(Demand::must_not(refused), depth + 1)?;
        }
        let Some(condition) = keywords.get("if") else { return Ok(()) };
        self.facts.uncertain = true;
        // The first choice is to let things be: most values satisfy a condition or its consequence as they are.
        let (condition, consequence) = match self.choices.choose(3) {
            0 => return Ok(()),
            1 => (Demand::must(condition), keywords.get("then")),
            _ => (Demand::must_not(condition), keywords.get("else")),
        };
        self.demand(condition, depth + 1)?;
        consequence.map_or(Ok(()), |schema| self.demand(Demand::must(schema), depth + 1))
    }

    /// One branch; after all branches were tried alone, each together with the refusal of the others.
    fn exactly_one(&mut self, branches: &[&'a Value], depth: usize) -> Result<(), String> {
        self.facts.uncertain |= branches.len() > 1;
        let ways = if branches.len() > 1 { branches.len() * 2 } else { 1 };
        let way = self.choices.choose(ways);
        let chosen = way % branches.len();
        self.demand(Demand::must(branches[chosen]), depth + 1)?;
        if way >= branches.len() {
            for (_, other) in branches.iter().enumerate().filter(|(at, _)| *at != chosen) {
                self.demand(Demand::must_not(other), depth + 1)?;
            }
        }
        Ok(())
    }

    /// Follows the dependencies of the required properties (and of the wished ones).
    fn follow_dependencies(&mut self, optional: bool) -> Result<(), String> {
        if self.facts.record.dependencies.is_empty() || !self.facts.types.has(Types::RECORD) {
            return Ok(());
        }
        let mut waiting: Vec<(&'a str, Dependency<'a>)> = Vec::new();
        loop {
            let record = &mut self.facts.record;
            waiting.append(&mut record.dependencies);
            waiting.sort_by_key(|(name, _)| *name);
            let known = |name: &str| {
                record.shapes.iter().any(|shape| shape.properties.is_some_and(|named| named.contains_key(name)))
            };
            let wished = |name: &str| optional && known(name) && !record.absent.contains(name);
            let Some(at) = waiting.iter().position(|(name, _)| record.required.contains(name) || wished(name)) else {
                self.facts.record.dependencies = waiting;
                return Ok(());
            };
            let (name, dependency) = waiting.remove(at);
            self.facts.record.required.insert(name);
            match dependency {
                Dependency::Names(names) => self.facts.record.required.extend(names_in(Some(names))),
                Dependency::Schema(schema) => self.demand(Demand::must(schema), 1)?,
            }
        }
    }
}

fn narrow(span: &mut Span, keywords: &Map<String, Value>, [least, most]: [&str; 2]) {
    span.at_least(count(keywords, least).unwrap_or(0));
    span.at_most(count(keywords, most).unwrap_or(u64::MAX));
}

/// Branches in their order, those that only allow null last: a value says more than its absence.
fn plain_first(branches: &[Value]) -> Vec<&Value> {
    let is_null = |branch: &&Value| branch.get("type").and_then(Value::as_str) == Some("null");
    let (nulls, mut others): (Vec<&Value>, Vec<&Value>) = branches.iter().partition(is_null);
    others.extend(nulls);
    others
}
