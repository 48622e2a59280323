//! Objects: what is required, what is wished, and as many properties as are asked for.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::facts::{Demand, Facts, RecordFacts};
use super::pattern::TextOptions;
use super::place::Place;
use super::value_builder::{Cause, Failure, Maker, OptionalProperties};

/// The most properties that an object is filled up to.
const MOST: u64 = 1000;

/// Makes an object that satisfies the facts; its keys are in order.
pub(crate) fn make<'a>(
    maker: &mut Maker<'_, 'a>,
    facts: &Facts<'a>,
    place: &Place<'_>,
    variant: u32,
) -> Result<Map<String, Value>, Failure> {
    let record = &facts.record;
    if record.size.least > MOST {
        let reason = format!("at least {} properties are asked for; at most {MOST} are made", record.size.least);
        return Err(Failure::at(place, Cause::Impossible, reason));
    }
    let mut made: BTreeMap<String, Value> = BTreeMap::new();
    for name in &record.required {
        let value = property(maker, record, place, name, variant)?;
        made.insert((*name).to_owned(), value);
    }
    let known = known_names(record);
    if maker.options.optional != OptionalProperties::None {
        grant_wishes(maker, record, place, variant, &known, &mut made)?;
    }
    if (made.len() as u64) < record.size.least {
        fill(maker, record, place, variant, &known, &mut made)?;
    }
    Ok(made.into_iter().collect())
}

fn grant_wishes<'a>(
    maker: &mut Maker<'_, 'a>,
    record: &RecordFacts<'a>,
    place: &Place<'_>,
    variant: u32,
    known: &BTreeSet<&'a str>,
    made: &mut BTreeMap<String, Value>,
) -> Result<(), Failure> {
    for name in known {
        let wished = match maker.options.optional {
            OptionalProperties::None => false,
            OptionalProperties::All => true,
            OptionalProperties::Some => maker.dice(&place.property(name), variant).chance(50),
        };
        if !wished || made.contains_key(*name) || made.len() as u64 >= record.size.most {
            continue;
        }
        match property(maker, record, place, name, variant) {
            Ok(value) => {
                made.insert((*name).to_owned(), value);
            }
            Err(failure) if failure.cause == Cause::Spent => return Err(failure),
            // What is only wished may be left out.
            Err(_) => {}
        }
    }
    Ok(())
}

/// Adds properties until there are enough: known ones, then names by patterns, then invented ones.
fn fill<'a>(
    maker: &mut Maker<'_, 'a>,
    record: &RecordFacts<'a>,
    place: &Place<'_>,
    variant: u32,
    known: &BTreeSet<&'a str>,
    made: &mut BTreeMap<String, Value>,
) -> Result<(), Failure> {
    let missing = |made: &BTreeMap<String, Value>| record.size.least.saturating_sub(made.len() as u64);
    // Properties that ask for more in turn come last, and another variant begins with another property.
    let asks = |name: &&str| record.dependencies.iter().any(|(asking, _)| asking == name);
    let (later, mut names): (Vec<&str>, Vec<&str>) = known.iter().copied().partition(asks);
    let turn = variant as usize % names.len().max(1);
    names.rotate_left(turn);
    names.extend(later);
    let mut last: Option<Failure> = None;
    let mut try_one = |maker: &mut Maker<'_, 'a>, name: &str, made: &mut BTreeMap<String, Value>| {
        if made.contains_key(name) || record.absent.contains(name) || !is_name(maker, record, name) {
            return Ok(());
        }
        match property(maker, record, place, name, variant) {
            Ok(value) => {
                made.insert(name.to_owned(), value);
            }
            Err(failure) if failure.cause == Cause::Spent => return Err(failure),
            Err(failure) => last = Some(failure),
        }
        Ok(())
    };
    for name in names {
        if missing(made) == 0 {
            return Ok(());
        }
        try_one(maker, name, made)?;
    }
    let tries = u32::try_from(missing(made)).unwrap_or(u32::MAX).saturating_mul(4).saturating_add(16);
    for number in 0..tries {
        if missing(made) == 0 {
            return Ok(());
        }
        if let Some(name) = invented(maker, record, place, variant, number) {
            try_one(maker, &name, made)?;
        }
    }
    if missing(made) == 0 {
        return Ok(());
    }
    let reason = format!("at least {} properties are asked for, and no more may be added", record.size.least);
    Err(last.unwrap_or_else(|| Failure::at(place, Cause::Impossible, reason)))
}

/// A name of a property that no schema names.
fn invented<'a>(
    maker: &mut Maker<'_, 'a>,
    record: &RecordFacts<'a>,
    place: &Place<'_>,
    variant: u32,
    number: u32,
) -> Option<String> {
    let mut patterns: Vec<&'a str> =
        record.shapes.iter().filter_map(|shape| shape.patterns).flat_map(Map::keys).map(String::as_str).collect();
    patterns.sort_unstable();
    let ways = patterns.len() + usize::from(!record.names.is_empty()) + 1;
    let way = number as usize % ways;
    if let Some(pattern) = patterns.get(way) {
        let mut dice = maker.dice(place, variant.wrapping_add(number));
        let checked = maker.opinion.checked;
        let writer = maker.writer(pattern)?;
        let length = writer.shortest() + number as usize % 5;
        let name = writer.text(TextOptions { length, mixed: number > 16 }, &mut dice);
        // Names for a pattern without an end are distinguished by numbers.
        let numbered = format!("{name}{}", number + 1);
        return [numbered, name].into_iter().find(|name| checked.matches(pattern, name));
    }
    if way == patterns.len() && !record.names.is_empty() {
        // Names are made like any other text, at a place of their own.
        let demands: Vec<Demand<'a>> = record.names.iter().map(|schema| Demand::must(schema)).collect();
        let place = place.property("name");
        let made = maker.make(&demands, &place, variant.wrapping_add(number)).ok()?;
        return made.as_str().map(str::to_owned);
    }
    Some(format!("extra{}", number + 1))
}

/// The value of one property, unless it may not be there.
fn property<'a>(
    maker: &mut Maker<'_, 'a>,
    record: &RecordFacts<'a>,
    place: &Place<'_>,
    name: &str,
    variant: u32,
) -> Result<Value, Failure> {
    let place = place.property(name);
    let mut demands: Vec<Demand<'a>> = Vec::new();
    let mut known = false;
    for shape in &record.shapes {
        demands.extend(shape.schemas_of(name, maker.opinion.checked).map(Demand::must));
        known |= shape.properties.is_some_and(|properties| properties.contains_key(name));
    }
    if record.closed && !known && demands.is_empty() {
        let reason = "the property is required, and the schema leaves no room for it".to_owned();
        return Err(Failure::at(&place, Cause::Impossible, reason));
    }
    demands.extend(record.demands.get(name).into_iter().flatten());
    maker.make(&demands, &place, variant)
}

fn known_names<'a>(record: &RecordFacts<'a>) -> BTreeSet<&'a str> {
    let names = record.shapes.iter().filter_map(|shape| shape.properties).flat_map(Map::keys).map(String::as_str);
    names.filter(|name| !record.absent.contains(name)).collect()
}

fn is_name<'a>(maker: &Maker<'_, 'a>, record: &RecordFacts<'a>, name: &str) -> bool {
    let text = Value::String(name.to_owned());
    record.names.iter().all(|schema| maker.opinion.accepts(schema, &text))
}
