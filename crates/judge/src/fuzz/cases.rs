//! The cases of one tool that its schema alone decides.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hasher as _};

use serde_json::{Map, Value};

use super::mutation::{Mutation, Phase, Variant};
use super::mutations::MUTATIONS;
use super::pool::ValuePool;
use super::site::{Site, replaced, sites};
use crate::generate::{Dice, Generator, OptionalProperties, Oracle, Types};
use crate::harm::HarmGuard;

/// An input to send.
#[derive(Clone, Debug, PartialEq)]
pub struct FuzzCase {
    /// Description of its special property.
    pub label: String,
    /// The arguments of the call.
    pub arguments: Value,
    /// The arguments as they are sent; empty where the key is left out.
    pub text: String,
    /// True if the tool's input schema accepts them; true when the schema cannot be used, since it refuses nothing.
    pub accepted: bool,
    /// The phase it belongs to.
    pub phase: Phase,
}

/// Makes the cases that the schema alone decides, until `enough` says so: structural ones, then values that break
/// programs for each property, then the schema's boundaries. Each phase has its share, so that a tool with many
/// properties still meets all of them.
pub(super) fn first(collector: &mut CaseCollector<'_, '_>, enough: &dyn Fn() -> bool) {
    let small = collector.small();
    let full = collector.full(&small);
    let generator = collector.generator;
    let places = places_of(generator, &small, &full);
    let count = collector.most;
    let share = count / 5;
    collector.structural(&small, &full, &places, share + 1);
    let boundaries = planned(&places, Phase::Boundary);
    let kept_for_random = count / 6;
    let kept_for_later = boundaries.len().min(share) + kept_for_random;
    collector.planned(planned(&places, Phase::Property), count.saturating_sub(kept_for_later), enough);
    collector.planned(boundaries, count.saturating_sub(kept_for_random), enough);
}

/// A place and the valid input it is a part of.
type Placed<'p, 'a, 'v> = (&'p Site<'a, 'v>, &'p Value);

/// A mutation to apply to a place.
type Planned<'p, 'a, 'v> = (Placed<'p, 'a, 'v>, &'static Mutation);

/// The places of the small input, and those that only the full one has.
struct Places<'a, 'v> {
    small: (&'v Value, Vec<Site<'a, 'v>>),
    full: (&'v Value, Vec<Site<'a, 'v>>),
}

fn places_of<'a, 'v>(generator: &Generator<'a>, small: &'v Value, full: &'v Value) -> Places<'a, 'v> {
    let of = |input: &'v Value| sites(generator.document(), generator.checked(), input);
    let known = of(small);
    let mut more = of(full);
    more.retain(|site| !known.iter().any(|known| known.path == site.path));
    Places { small: (small, known), full: (full, more) }
}

impl<'a, 'v> Places<'a, 'v> {
    fn all(&self) -> impl Iterator<Item = Placed<'_, 'a, 'v>> {
        let (small, full) = (self.small.0, self.full.0);
        self.small.1.iter().map(move |site| (site, small)).chain(self.full.1.iter().map(move |site| (site, full)))
    }
}

/// The mutations of a phase that may apply, in the order in which they are used: outer places first, and at each
/// depth the most telling mutation of every place before the next.
fn planned<'p, 'a, 'v>(places: &'p Places<'a, 'v>, phase: Phase) -> Vec<Planned<'p, 'a, 'v>> {
    let mutations = || MUTATIONS.iter().filter(|mutation| mutation.phase == phase);
    let mut planned: Vec<Planned<'p, 'a, 'v>> =
        places.all().flat_map(|placed| mutations().map(move |mutation| (placed, mutation))).collect();
    if phase == Phase::Boundary {
        // Few places have boundaries: those that have none take no part.
        planned.retain(|((site, _), mutation)| !(mutation.make)(site, &mut Dice::new(0)).is_empty());
    }
    planned.sort_by_key(|((site, _), mutation)| (site.path.len().max(1), mutation.rank));
    planned
}

/// Bytes of the arguments of cases that are made at a time.
const MOST_BYTES: usize = 32 << 20;

/// Cases of a tool while they are made.
pub(super) struct CaseCollector<'d, 'a> {
    pub(super) generator: &'d Generator<'a>,
    pub(super) oracle: Option<&'d Oracle>,
    pub(super) seed: u64,
    pub(super) pool: &'d ValuePool,
    pub(super) guard: &'d HarmGuard,
    /// Maximum number of cases.
    pub(super) most: usize,
    pub(super) cases: Vec<FuzzCase>,
    /// Bytes of their arguments.
    pub(super) bytes: usize,
    /// The cases made before, here or by an earlier collector.
    pub(super) sent: HashSet<u64>,
}

impl FuzzCase {
    /// True if the call has no `arguments`.
    pub fn is_left_out(&self) -> bool {
        self.text.is_empty()
    }
}

impl CaseCollector<'_, '_> {
    fn accepts(&self, arguments: &Value) -> bool {
        self.oracle.is_none_or(|oracle| oracle.accepts(arguments))
    }

    /// Keeps a case; a schema may want inputs of megabytes, and few of them are enough at a time.
    fn push(&mut self, case: FuzzCase) {
        self.bytes += case.text.len();
        self.cases.push(case);
        if self.bytes > MOST_BYTES {
            self.most = self.cases.len();
        }
    }

    /// Adds a case, unless there is one with the same arguments or there are enough.
    pub(super) fn add(&mut self, phase: Phase, label: String, mut arguments: Value) {
        arguments.sort_all_objects();
        self.add_sorted(phase, label, arguments);
    }

    /// The same, where the keys are in order already.
    pub(super) fn add_sorted(&mut self, phase: Phase, label: String, arguments: Value) {
        if self.cases.len() >= self.most {
            return;
        }
        let arguments = self.guard.made_harmless(arguments);
        // Generated values always serialise.
        let text = serde_json::to_string(&arguments).unwrap_or_default();
        if !self.sent.insert(fingerprint(&text)) {
            return;
        }
        // What cannot be judged proves nothing.
        if self.oracle.is_some_and(|oracle| !oracle.can_judge(&arguments)) {
            return;
        }
        let accepted = self.accepts(&arguments);
        self.push(FuzzCase { label, arguments, text, accepted, phase });
    }

    /// Adds the call without `arguments`.
    fn add_left_out(&mut self) {
        if self.cases.len() < self.most {
            let (arguments, accepted) = (Value::Null, self.accepts(&Value::Null));
            let (label, text) = ("no arguments".to_owned(), String::new());
            self.push(FuzzCase { label, arguments, text, accepted, phase: Phase::Structural });
        }
    }

    /// A small valid input: one that was given, or one that is made.
    pub(super) fn small(&self) -> Value {
        let given = self.pool.given().iter().find(|given| self.accepts(given));
        if let Some(given) = given {
            return given.clone();
        }
        match self.generator.plain(self.seed, OptionalProperties::None) {
            Ok(small) => self.fed(small, None),
            Err(_) => Value::Object(Map::new()),
        }
    }

    /// A valid input with everything in it; when none can be made, each property on its own.
    fn full(&self, small: &Value) -> Value {
        let Ok(full) = self.generator.plain(self.seed, OptionalProperties::All) else {
            return self.generator.properties_one_by_one(self.seed);
        };
        let full = self.with_the_rest(full);
        let (Value::Object(full), Value::Object(small)) = (&full, small) else { return full };
        let mut merged: Map<String, Value> = full.clone();
        merged.extend(small.clone());
        let merged = Value::Object(merged);
        if self.accepts(&merged) { merged } else { self.fed(Value::Object(full.clone()), None) }
    }

    /// The input with the properties that no valid value was found for: they are worth trying all the more.
    fn with_the_rest(&self, full: Value) -> Value {
        let Value::Object(mut full) = full else { return full };
        let named = self.generator.document().root().get("properties").and_then(Value::as_object);
        if named.is_none_or(|named| named.keys().all(|name| full.contains_key(name))) {
            return Value::Object(full);
        }
        if let Value::Object(rest) = self.generator.properties_one_by_one(self.seed) {
            let missing: Vec<(String, Value)> = rest.into_iter().filter(|(name, _)| !full.contains_key(name)).collect();
            full.extend(missing);
        }
        Value::Object(full)
    }

    /// The input with values from the pool where their names fit and the schema agrees.
    pub(super) fn fed(&self, input: Value, dice: Option<&mut Dice>) -> Value {
        if self.pool.is_empty() {
            return input;
        }
        let mut fed = input.clone();
        let mut dice = dice;
        for site in sites(self.generator.document(), self.generator.checked(), &input) {
            let scalar = Types::TEXT.or(Types::NUMBER).has(Types::of(site.value));
            if !scalar || site.facts.allowed.is_some() {
                continue;
            }
            let mut known = self.pool.values_for(&site.path_names());
            // The author's own suggestion is better than anything that was merely seen, unless variety is asked for.
            if known.is_empty() || dice.is_none() && !site.facts.hints.is_empty() {
                continue;
            }
            if let Some(dice) = dice.as_deref_mut() {
                let turn = dice.below(known.len());
                known.rotate_left(turn);
            }
            let fitting = known.into_iter().take(4).filter_map(|value| replaced(&fed, &site.path, value.clone()));
            if let Some(better) = fitting.into_iter().find(|candidate| self.accepts(candidate)) {
                fed = better;
            }
        }
        fed
    }

    fn structural(&mut self, small: &Value, full: &Value, places: &Places<'_, '_>, most: usize) {
        self.add(Phase::Structural, "valid".to_owned(), small.clone());
        for given in self.pool.given() {
            self.add(Phase::Structural, "given arguments".to_owned(), given.clone());
        }
        self.add_left_out();
        let Some(top) = places.small.1.first() else { return };
        let mut mutations: Vec<&Mutation> =
            MUTATIONS.iter().filter(|mutation| mutation.phase == Phase::Structural).collect();
        mutations.sort_by_key(|mutation| mutation.rank);
        for mutation in mutations {
            for variant in (mutation.make)(top, &mut Dice::new(self.seed)) {
                if self.cases.len() <= most {
                    self.add(Phase::Structural, variant.what.into_owned(), variant.value);
                }
            }
        }
        self.add(Phase::Structural, "valid, with all optional properties".to_owned(), full.clone());
    }

    /// Works through mutations until there are `most` cases: the first variant of each, then the others.
    fn planned(&mut self, planned: Vec<Planned<'_, '_, '_>>, most: usize, enough: &dyn Fn() -> bool) {
        let mut later = Vec::new();
        for ((site, input), mutation) in planned {
            if self.cases.len() >= most || enough() {
                return;
            }
            let mut dice = Dice::for_purpose(self.seed, mutation.name);
            let mut variants = (mutation.make)(site, &mut dice).into_iter();
            if let Some(variant) = variants.next() {
                self.apply(mutation.phase, input, site, variant);
            }
            later.extend(variants.map(|variant| (site, input, mutation.phase, variant)));
        }
        for (site, input, phase, variant) in later {
            if self.cases.len() >= most || enough() {
                return;
            }
            self.apply(phase, input, site, variant);
        }
    }

    fn apply(&mut self, phase: Phase, input: &Value, site: &Site<'_, '_>, variant: Variant) {
        if let Some(arguments) = replaced(input, &site.path, variant.value) {
            self.add(phase, labelled(&site.name(), &variant.what), arguments);
        }
    }
}

/// Hash that distinguishes arguments; it only has to be stable within one run.
fn fingerprint(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(text.as_bytes());
    hasher.finish()
}

pub(super) fn labelled(place: &str, what: &str) -> String {
    if place.is_empty() { what.to_owned() } else { format!("`{place}`: {what}") }
}
