//! Lists: the items that are asked for, and no more than looks natural.

use serde_json::Value;

use super::accepts::same;
use super::facts::{Demand, Facts, ListFacts};
use super::place::Place;
use super::value_builder::{Cause, Failure, Maker, OptionalProperties};

/// The longest list that is made.
const LONGEST: u64 = 2000;

/// Maximum number of attempts to make an item that is not a duplicate.
const TRIES: u32 = 24;

/// Makes a list that satisfies the facts.
pub(crate) fn make<'a>(
    maker: &mut Maker<'_, 'a>,
    facts: &Facts<'a>,
    place: &Place<'_>,
    variant: u32,
) -> Result<Vec<Value>, Failure> {
    let list = &facts.list;
    if list.size.least > LONGEST {
        let reason = format!("at least {} items are asked for; at most {LONGEST} are made", list.size.least);
        return Err(Failure::at(place, Cause::Impossible, reason));
    }
    let mut first: Option<Failure> = None;
    for arrangement in arrangements(maker, list, place, variant) {
        match arranged(maker, list, place, variant, arrangement) {
            Ok(items) => return Ok(items),
            Err(failure) if failure.cause == Cause::Spent => return Err(failure),
            // The last arrangement is the smallest: its failure is the one that matters.
            Err(failure) => first = Some(failure),
        }
    }
    let none = || Failure::at(place, Cause::Impossible, "the items asked for are too many".to_owned());
    Err(first.unwrap_or_else(none))
}

/// Number of items, and the positions of those that must be contained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Arrangement {
    size: usize,
    /// True if one item may be several of those that must be contained.
    shared: bool,
    /// True if they are at the beginning rather than at the end.
    leading: bool,
}

fn arrangements(maker: &Maker<'_, '_>, list: &ListFacts<'_>, place: &Place<'_>, variant: u32) -> Vec<Arrangement> {
    let least = list.size.least;
    let most = list.size.most.min(LONGEST);
    let separate: u64 = list.contains.iter().map(|contains| contains.count.least).fold(0, u64::saturating_add);
    let shared = list.contains.iter().map(|contains| contains.count.least).max().unwrap_or(0);
    let known = list.tuples.iter().any(|(_, rest)| rest.is_some_and(|rest| *rest != Value::Bool(false)));
    let prefix = list.tuples.iter().map(|(prefix, _)| prefix.len() as u64).max().unwrap_or(0);
    let natural = if known || maker.options.optional != OptionalProperties::None { prefix.max(1) } else { prefix };
    let natural = if maker.options.varied { maker.dice(place, variant).below(4) as u64 } else { natural };
    let mut found = Vec::new();
    let mut add = |size: u64, shared: bool, leading: bool| {
        let size = size.max(least);
        if size <= most {
            let arrangement = Arrangement { size: usize::try_from(size).unwrap_or(usize::MAX), shared, leading };
            if !found.contains(&arrangement) {
                found.push(arrangement);
            }
        }
    };
    add(separate.max(natural), false, variant % 2 == 1);
    if separate > 0 {
        add(separate.saturating_add(prefix), false, false);
        add(separate, false, true);
        add(shared.max(prefix), true, true);
        add(shared, true, true);
    }
    add(prefix, true, true);
    add(0, true, true);
    found
}

fn arranged<'a>(
    maker: &mut Maker<'_, 'a>,
    list: &ListFacts<'a>,
    place: &Place<'_>,
    variant: u32,
    arrangement: Arrangement,
) -> Result<Vec<Value>, Failure> {
    let contained = contained_at(list, arrangement);
    let mut items: Vec<Value> = Vec::with_capacity(arrangement.size);
    for (index, contained) in contained.iter().enumerate() {
        let mut demands: Vec<Demand<'a>> = Vec::new();
        for (prefix, rest) in &list.tuples {
            demands.extend(prefix.get(index).or(*rest).map(Demand::must));
        }
        for (contains, here) in list.contains.iter().zip(contained) {
            if *here {
                demands.push(Demand::must(contains.schema));
            } else if contains.count.most < u64::MAX {
                demands.push(Demand::must_not(contains.schema));
            }
        }
        if index == 0 {
            demands.extend(list.broken_items.iter().map(|schema| Demand::must_not(schema)));
        }
        let item = another(maker, list, place, variant, &demands, &items)?;
        items.push(item);
    }
    Ok(items)
}

/// For each item, which of the schemas that must be contained it is to satisfy.
fn contained_at(list: &ListFacts<'_>, arrangement: Arrangement) -> Vec<Vec<bool>> {
    let size = arrangement.size;
    let mut contained = vec![vec![false; list.contains.len()]; size];
    let mut taken = 0;
    for (which, contains) in list.contains.iter().enumerate() {
        let wanted = usize::try_from(contains.count.least).unwrap_or(usize::MAX).min(size);
        let start = if arrangement.shared { 0 } else { taken };
        for nth in start..(start + wanted).min(size) {
            let index = if arrangement.leading { nth } else { size - 1 - nth };
            contained[index][which] = true;
        }
        taken += wanted;
    }
    contained
}

fn another<'a>(
    maker: &mut Maker<'_, 'a>,
    list: &ListFacts<'a>,
    place: &Place<'_>,
    variant: u32,
    demands: &[Demand<'a>],
    items: &[Value],
) -> Result<Value, Failure> {
    let place = place.item(items.len());
    let number = variant.wrapping_add(u32::try_from(items.len()).unwrap_or(0));
    let mut attempt = 0;
    loop {
        let item = maker.make(demands, &place, number.wrapping_add(attempt))?;
        if !list.unique || !items.iter().any(|earlier| same(earlier, &item)) {
            return Ok(item);
        }
        attempt += 1;
        if attempt > TRIES {
            let reason = "not enough different items were found".to_owned();
            return Err(Failure::at(&place, Cause::Unlucky, reason));
        }
    }
}
