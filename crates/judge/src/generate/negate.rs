//! Negation of a schema: one of its keywords has to be broken.

use serde_json::{Map, Value};

use super::accepts::{count, names_in, range_of};
use super::constraints::Gatherer;
use super::facts::Demand;
use super::range::Bound;
use super::types::Types;

/// Keywords that say nothing about values.
const REMARKS: &[&str] =
    &["$comment", "$schema", "default", "deprecated", "description", "example", "examples", "title"];

/// One way not to satisfy a schema.
enum Way<'a> {
    /// Whatever is made may do: most values do not satisfy a narrow schema.
    Hope,
    NotType(Types),
    NotValues(Vec<&'a Value>),
    NotBelow(Bound<'a>),
    NotAbove(Bound<'a>),
    Shorter(u64),
    Longer(u64),
    FewerItems(u64),
    MoreItems(u64),
    FewerProperties(u64),
    MoreProperties(u64),
    Without(&'a str),
    Property(&'a str, &'a Value),
    Item(&'a Value),
    None(&'a [Value]),
    NotOne(&'a Value),
    Must(&'a Value),
    NotReferred(&'a Value),
}

/// Adds what it takes not to satisfy `schema`.
pub(crate) fn gather<'a>(gatherer: &mut Gatherer<'_, 'a>, schema: &'a Value, depth: usize) -> Result<(), String> {
    let keywords = match schema {
        Value::Bool(true) => return Err("every value is refused here".to_owned()),
        Value::Object(keywords) => keywords,
        Value::Bool(false) | Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => return Ok(()),
    };
    let mut ways = ways_of(keywords);
    if let Some((target, _)) = gatherer.referred(schema) {
        ways.push(Way::NotReferred(target));
    }
    let said = keywords.keys().filter(|keyword| !REMARKS.contains(&keyword.as_str())).count();
    if said == 0 {
        return Err("every value is refused here".to_owned());
    }
    // A single way is the only one; of several, the first choice is to hope.
    if said > 1 || ways.len() != 1 {
        ways.insert(0, Way::Hope);
    }
    let chosen = gatherer.choices.choose(ways.len());
    take(gatherer, ways.swap_remove(chosen), depth)
}

fn take<'a>(gatherer: &mut Gatherer<'_, 'a>, way: Way<'a>, depth: usize) -> Result<(), String> {
    let facts = &mut gatherer.facts;
    match way {
        Way::Hope => {}
        Way::NotType(types) => facts.types = facts.types.without(types),
        Way::NotValues(values) => facts.forbidden.extend(values),
        Way::NotBelow(bound) => {
            facts.types = facts.types.and(Types::NUMBER);
            facts.range.drop_upper(bound.limit, !bound.exclusive);
        }
        Way::NotAbove(bound) => {
            facts.types = facts.types.and(Types::NUMBER);
            facts.range.raise_lower(bound.limit, !bound.exclusive);
        }
        Way::Shorter(length) => {
            facts.types = facts.types.and(Types::TEXT);
            facts.length.at_most(length);
        }
        Way::Longer(length) => {
            facts.types = facts.types.and(Types::TEXT);
            facts.length.at_least(length);
        }
        Way::FewerItems(size) => {
            facts.types = facts.types.and(Types::LIST);
            facts.list.size.at_most(size);
        }
        Way::MoreItems(size) => {
            facts.types = facts.types.and(Types::LIST);
            facts.list.size.at_least(size);
        }
        Way::FewerProperties(size) => {
            facts.types = facts.types.and(Types::RECORD);
            facts.record.size.at_most(size);
        }
        Way::MoreProperties(size) => {
            facts.types = facts.types.and(Types::RECORD);
            facts.record.size.at_least(size);
        }
        Way::Without(name) => {
            facts.types = facts.types.and(Types::RECORD);
            facts.record.absent.insert(name);
        }
        Way::Property(name, schema) => {
            facts.types = facts.types.and(Types::RECORD);
            facts.record.required.insert(name);
            facts.record.demands.entry(name).or_default().push(Demand::must_not(schema));
        }
        Way::Item(schema) => {
            facts.types = facts.types.and(Types::LIST);
            facts.list.size.at_least(1);
            facts.list.broken_items.push(schema);
        }
        Way::None(branches) => {
            for branch in branches {
                gatherer.demand(Demand::must_not(branch), depth + 1)?;
            }
        }
        Way::NotOne(branch) | Way::NotReferred(branch) => gatherer.demand(Demand::must_not(branch), depth + 1)?,
        Way::Must(schema) => gatherer.demand(Demand::must(schema), depth + 1)?,
    }
    Ok(())
}

fn ways_of(keywords: &Map<String, Value>) -> Vec<Way<'_>> {
    let mut ways = Vec::new();
    ways.extend(keywords.get("type").map(|types| Way::NotType(Types::named(types))));
    ways.extend(keywords.get("const").map(|value| Way::NotValues(vec![value])));
    let options = keywords.get("enum").and_then(Value::as_array);
    ways.extend(options.map(|options| Way::NotValues(options.iter().collect())));
    ways.extend(keywords.get("not").map(Way::Must));
    let mut names: Vec<&str> = names_in(keywords.get("required")).collect();
    names.sort_unstable();
    ways.extend(names.into_iter().map(Way::Without));
    let range = range_of(keywords);
    ways.extend(range.lower.map(Way::NotBelow));
    ways.extend(range.upper.map(Way::NotAbove));
    let less = |keyword| count(keywords, keyword).and_then(|count| count.checked_sub(1));
    let more = |keyword| count(keywords, keyword).and_then(|count| count.checked_add(1));
    ways.extend(less("minLength").map(Way::Shorter));
    ways.extend(more("maxLength").map(Way::Longer));
    ways.extend(less("minItems").map(Way::FewerItems));
    ways.extend(more("maxItems").map(Way::MoreItems));
    ways.extend(less("minProperties").map(Way::FewerProperties));
    ways.extend(more("maxProperties").map(Way::MoreProperties));
    let properties = keywords.get("properties").and_then(Value::as_object).into_iter().flatten();
    let mut properties: Vec<(&String, &Value)> = properties.collect();
    properties.sort_by_key(|(name, _)| *name);
    ways.extend(properties.into_iter().map(|(name, schema)| Way::Property(name, schema)));
    ways.extend(keywords.get("items").filter(|items| !items.is_array()).map(Way::Item));
    let branches = |keyword: &str| keywords.get(keyword).and_then(Value::as_array);
    ways.extend(branches("anyOf").map(|branches| Way::None(branches)));
    ways.extend(branches("oneOf").map(|branches| Way::None(branches)));
    ways.extend(branches("allOf").into_iter().flatten().map(Way::NotOne));
    ways
}
