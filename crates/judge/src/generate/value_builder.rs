//! Makes a value that satisfies schemas: gathers what is asked, makes what fits, and tries again.

use std::cell::Cell;
use std::collections::BTreeMap;

use serde_json::Value;

use super::Ungeneratable;
use super::accepts::{Opinion, same};
use super::checked::Checked;
use super::choices::Choices;
use super::constraints::gather;
use super::document::Document;
use super::facts::{Demand, Facts};
use super::pattern::Writer;
use super::place::Place;
use super::range::NumberKind;
use super::seeded_random::{Dice, hash};
use super::types::Types;
use super::{list, names, record, text};

/// Maximum depth of a value.
const DEEPEST: usize = 64;

/// Maximum number of combinations of choices at one place.
const COMBINATIONS: usize = 48;

/// Number of times all combinations are tried with other values.
const ROUNDS: u32 = 6;

/// Options for generated values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GeneratorOptions {
    pub(crate) seed: u64,
    /// True if values differ from seed to seed; else they are as plain as can be.
    pub(crate) varied: bool,
    /// True if defaults and examples are used.
    pub(crate) hints: bool,
    /// Share of the optional properties that are filled.
    pub(crate) optional: OptionalProperties,
    /// Maximum number of times a reference is followed into itself.
    pub(crate) reentries: usize,
}

/// Share of the optional properties that are filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptionalProperties {
    None,
    Some,
    All,
}

/// Reason for a missing value.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) told: Ungeneratable,
    pub(crate) cause: Cause,
}

/// Possible remedy for a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Nothing: what is asked contradicts itself or is too much.
    Impossible,
    /// Another try may succeed.
    Unlucky,
    /// A reference leads back to itself.
    Endless,
    /// The work that may be done is done.
    Spent,
}

/// Makes values for the parts of one document.
pub(crate) struct Maker<'d, 'a> {
    pub(crate) opinion: Opinion<'d, 'a>,
    pub(crate) options: GeneratorOptions,
    writers: BTreeMap<&'a str, Option<Writer>>,
    active: Vec<&'a Value>,
}

impl<'d, 'a> Maker<'d, 'a> {
    pub(crate) fn new(
        document: &'d Document<'a>,
        checked: &'d Checked,
        fuel: &'d Cell<u32>,
        options: GeneratorOptions,
    ) -> Self {
        let opinion = Opinion { document, checked, fuel };
        Self { opinion, options, writers: BTreeMap::new(), active: vec![document.root()] }
    }

    /// Makes a value that satisfies the demands; another one for each variant, as far as there are others.
    pub(crate) fn make(&mut self, demands: &[Demand<'a>], place: &Place<'_>, variant: u32) -> Result<Value, Failure> {
        if place.depth() > DEEPEST {
            return Err(Failure::at(place, Cause::Endless, format!("it is nested more than {DEEPEST} deep")));
        }
        let turn = if self.options.varied { self.dice(place, variant).next() | 1 } else { 0 };
        let mut told: Option<Failure> = None;
        let mut endless = false;
        let mut unlucky = false;
        for round in 0..ROUNDS {
            let mut choices = Choices::turned(turn);
            unlucky = false;
            for _ in 0..COMBINATIONS {
                self.spend(place)?;
                let failure = match self.attempt(demands, place, variant.wrapping_add(round), &mut choices) {
                    Ok(value) => return Ok(value),
                    Err(failure) => failure,
                };
                match failure.cause {
                    Cause::Spent => return Err(failure),
                    Cause::Endless => endless = true,
                    Cause::Unlucky => unlucky = true,
                    Cause::Impossible => {}
                }
                // A dead end is reported only if no better cause is known.
                if told.as_ref().is_none_or(|known| known.cause == Cause::Endless) {
                    told = Some(failure);
                }
                if !choices.advance() {
                    break;
                }
            }
            if !unlucky {
                break;
            }
        }
        let told = told.unwrap_or_else(|| Failure::at(place, Cause::Unlucky, "nothing was made".to_owned()));
        let cause = match (endless, unlucky) {
            (true, _) => Cause::Endless,
            (false, true) => Cause::Unlucky,
            (false, false) => Cause::Impossible,
        };
        Err(Failure { cause, ..told })
    }

    /// A pattern to write texts for, read once.
    pub(crate) fn writer(&mut self, pattern: &'a str) -> Option<&Writer> {
        self.writers.entry(pattern).or_insert_with(|| Writer::new(pattern)).as_ref()
    }

    /// The choices of one place and variant.
    pub(crate) fn dice(&self, place: &Place<'_>, variant: u32) -> Dice {
        Dice::new(hash(self.options.seed ^ place.hash(), &variant.to_le_bytes()))
    }

    /// True if a value satisfies all demands.
    pub(crate) fn satisfies(&self, demands: &[Demand<'a>], value: &Value) -> bool {
        demands.iter().all(|demand| self.opinion.accepts(demand.schema, value) == demand.accepts)
    }

    /// Takes more work into account than one try.
    pub(crate) fn charge(&self, work: u32) {
        self.opinion.fuel.set(self.opinion.fuel.get().saturating_sub(work));
    }

    fn spend(&self, place: &Place<'_>) -> Result<(), Failure> {
        let fuel = self.opinion.fuel.get();
        if fuel < 10 {
            let reason = "no value was found within the tries allowed".to_owned();
            return Err(Failure::at(place, Cause::Spent, reason));
        }
        self.opinion.fuel.set(fuel - 10);
        Ok(())
    }

    fn attempt(
        &mut self,
        demands: &[Demand<'a>],
        place: &Place<'_>,
        variant: u32,
        choices: &mut Choices,
    ) -> Result<Value, Failure> {
        let optional = self.options.optional != OptionalProperties::None;
        let mut gathered = gather(demands, self.opinion.document, choices, optional);
        if optional && gathered.is_err() {
            choices.rewind();
            gathered = gather(demands, self.opinion.document, choices, false);
        }
        let facts = gathered.map_err(|reason| Failure::at(place, Cause::Impossible, reason))?;
        let entered = |target: &&'a Value| {
            self.active.iter().filter(|known| std::ptr::eq(**known, *target)).count() > self.options.reentries
        };
        if place.depth() > 0 && facts.references.iter().any(entered) {
            let reason = "the schema refers to itself without an end".to_owned();
            return Err(Failure::at(place, Cause::Endless, reason));
        }
        let before = self.active.len();
        self.active.extend(&facts.references);
        let made = self.of_facts(&facts, demands, place, variant, choices);
        self.active.truncate(before);
        made
    }

    fn of_facts(
        &mut self,
        facts: &Facts<'a>,
        demands: &[Demand<'a>],
        place: &Place<'_>,
        variant: u32,
        choices: &mut Choices,
    ) -> Result<Value, Failure> {
        if let Some(hint) = self.hint(facts, demands, place, variant) {
            return Ok(hint.clone());
        }
        if let Some(allowed) = &facts.allowed {
            let start =
                if self.options.varied { self.dice(place, variant).below(allowed.len()) } else { variant as usize };
            let turned = (0..allowed.len()).map(|at| allowed[(start + at) % allowed.len()]);
            let found = turned.into_iter().find(|value| self.satisfies(demands, value)).cloned();
            let reason = || "none of the values it may have satisfies everything that is asked".to_owned();
            return found.ok_or_else(|| Failure::at(place, Cause::Impossible, reason()));
        }
        let kinds = kinds_of(facts);
        let value = self.of_kind(kinds[choices.choose(kinds.len())], facts, place, variant)?;
        let forbidden = facts.forbidden.iter().any(|forbidden| same(forbidden, &value));
        if forbidden || facts.uncertain && !self.satisfies(demands, &value) {
            let reason = "no value was found that satisfies everything that is asked".to_owned();
            return Err(Failure::at(place, Cause::Unlucky, reason));
        }
        Ok(value)
    }

    fn hint(&self, facts: &Facts<'a>, demands: &[Demand<'a>], place: &Place<'_>, variant: u32) -> Option<&'a Value> {
        if !self.options.hints || facts.hints.is_empty() {
            return None;
        }
        let start = if self.options.varied {
            // One more than there are hints: now and then something else is made.
            self.dice(place, variant).below(facts.hints.len() + 1)
        } else {
            variant as usize
        };
        facts.hints.iter().skip(start).find(|hint| self.satisfies(demands, hint)).copied()
    }

    fn of_kind(&mut self, kind: Types, facts: &Facts<'a>, place: &Place<'_>, variant: u32) -> Result<Value, Failure> {
        if kind == Types::NULL {
            return Ok(Value::Null);
        }
        if kind == Types::BOOLEAN {
            let chosen = if self.options.varied { self.dice(place, variant).chance(50) } else { variant % 2 == 1 };
            return Ok(Value::Bool(chosen));
        }
        if kind == Types::TEXT {
            return text::make(self, facts, place, variant).map(Value::String);
        }
        if kind == Types::LIST {
            return list::make(self, facts, place, variant).map(Value::Array);
        }
        if kind == Types::RECORD {
            return record::make(self, facts, place, variant).map(Value::Object);
        }
        let wanted = match (kind.has(Types::WHOLE), kind.has(Types::FRACTION)) {
            (true, false) => NumberKind::Whole,
            (false, true) => NumberKind::Fraction,
            (_, _) => NumberKind::Any,
        };
        let mut preferred = names::number(place.name());
        if self.options.varied {
            let spread = self.dice(place, variant).below(1 << 10);
            preferred += i64::try_from(spread).unwrap_or(0);
        }
        let number = facts.range.number(wanted, preferred, variant);
        let reason = || "no number is within its bounds and steps".to_owned();
        number.map(Value::Number).ok_or_else(|| Failure::at(place, Cause::Impossible, reason()))
    }
}

impl Failure {
    pub(crate) fn at(place: &Place<'_>, cause: Cause, reason: String) -> Self {
        Self { told: Ungeneratable { pointer: place.pointer(), reason }, cause }
    }
}

/// The kinds of value to try, in order: those that keywords mention, those that the description suggests, the first of
/// the author's list, then strings, numbers and so on; null is last.
fn kinds_of(facts: &Facts<'_>) -> Vec<Types> {
    let all = [Types::TEXT, Types::NUMBER, Types::RECORD, Types::LIST, Types::BOOLEAN, Types::NULL];
    let mut kinds: Vec<Types> =
        all.into_iter().map(|kind| facts.types.and(kind)).filter(|kind| !kind.is_empty()).collect();
    if kinds.len() > 1 {
        let told = facts.description.map_or(Types::NONE, names::types_in_words);
        kinds.sort_by_key(|kind| {
            let listed = facts.listed.iter().position(|listed| listed.has(*kind)).unwrap_or(facts.listed.len());
            (*kind == Types::NULL, !facts.spoken_of.has(*kind), !told.has(*kind), listed)
        });
    }
    kinds
}
