//! Which inputs to send to one tool, in which order.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::mutation::{Mutation, Phase, Variant};
use super::mutations::MUTATIONS;
use super::pool::ValuePool;
use super::site::{Site, Step, replaced, sites};
use crate::generate::{Dice, Generator, Oracle, Types, Wishes, hash};

/// An input to send.
#[derive(Clone, Debug, PartialEq)]
pub struct FuzzCase {
    /// What is special about it, for people.
    pub label: String,
    /// The arguments of the call.
    pub arguments: Value,
    /// Whether the tool's input schema accepts them; true when the schema cannot be used, since it refuses nothing.
    pub accepted: bool,
    /// The phase it belongs to.
    pub phase: Phase,
}

/// How cases are made.
#[derive(Clone, Copy, Debug)]
pub struct FuzzOptions<'a> {
    /// Fixes every byte of every case.
    pub seed: u64,
    /// How many cases are made at most.
    pub count: usize,
    /// Values to feed in: what the user gave and what earlier replies held.
    pub pool: &'a ValuePool,
}

/// How many valid inputs the random phase starts from.
const BASES: u64 = 5;

/// The cases for one tool: the same for the same schema, seed and pool, whatever the order of keys.
///
/// Structural cases come first, then values that break programs for each property, then the schema's boundaries, then
/// seeded mutations of valid inputs, one at a time and later two. Each phase has its share, so that a tool with many
/// properties still meets all of them.
pub fn cases(schema: &Value, options: &FuzzOptions<'_>) -> Vec<FuzzCase> {
    let oracle = Oracle::new(schema).ok();
    let generator = Generator::new(schema, oracle.as_ref());
    let mut desk =
        Desk { generator: &generator, oracle: oracle.as_ref(), options, cases: Vec::new(), sent: BTreeSet::new() };
    let small = desk.small();
    let full = desk.full(&small);
    let places = places_of(&generator, &small, &full);
    let share = options.count / 5;
    desk.structural(&small, &full, &places, share + 1);
    let boundaries = planned(&places, Phase::Boundary);
    let kept_for_random = options.count / 6;
    let kept_for_later = boundaries.len().min(share) + kept_for_random;
    desk.planned(planned(&places, Phase::Property), options.count.saturating_sub(kept_for_later));
    desk.planned(boundaries, options.count.saturating_sub(kept_for_random));
    desk.random(&small);
    desk.cases
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

/// The work in progress.
struct Desk<'d, 'a> {
    generator: &'d Generator<'a>,
    oracle: Option<&'d Oracle>,
    options: &'d FuzzOptions<'d>,
    cases: Vec<FuzzCase>,
    sent: BTreeSet<u64>,
}

impl Desk<'_, '_> {
    fn accepts(&self, arguments: &Value) -> bool {
        self.oracle.is_none_or(|oracle| oracle.accepts(arguments))
    }

    /// Adds a case, unless there is one with the same arguments or there are enough.
    fn add(&mut self, phase: Phase, label: String, mut arguments: Value) {
        arguments.sort_all_objects();
        if self.cases.len() >= self.options.count || !self.sent.insert(fingerprint(&arguments)) {
            return;
        }
        let accepted = self.accepts(&arguments);
        self.cases.push(FuzzCase { label, arguments, accepted, phase });
    }

    /// A small valid input: one that was given, or one that is made.
    fn small(&self) -> Value {
        let given = self.options.pool.given().iter().find(|given| self.accepts(given));
        if let Some(given) = given {
            return given.clone();
        }
        match self.generator.plain(self.options.seed, Wishes::None) {
            Ok(small) => self.fed(small, None),
            Err(_) => Value::Object(Map::new()),
        }
    }

    /// A valid input with everything in it; when none can be made, each property on its own.
    fn full(&self, small: &Value) -> Value {
        let Ok(full) = self.generator.plain(self.options.seed, Wishes::All) else {
            return self.generator.properties_one_by_one(self.options.seed);
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
        if let Value::Object(rest) = self.generator.properties_one_by_one(self.options.seed) {
            let missing: Vec<(String, Value)> = rest.into_iter().filter(|(name, _)| !full.contains_key(name)).collect();
            full.extend(missing);
        }
        Value::Object(full)
    }

    /// The input with values from the pool where their names fit and the schema agrees.
    fn fed(&self, input: Value, dice: Option<&mut Dice>) -> Value {
        if self.options.pool.is_empty() {
            return input;
        }
        let mut fed = input.clone();
        let mut dice = dice;
        for site in sites(self.generator.document(), self.generator.checked(), &input) {
            let scalar = Types::TEXT.or(Types::NUMBER).has(Types::of(site.value));
            if !scalar || site.facts.allowed.is_some() {
                continue;
            }
            let mut known = self.options.pool.values_for(&site.path_names());
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
        for given in self.options.pool.given() {
            self.add(Phase::Structural, "given arguments".to_owned(), given.clone());
        }
        let Some(top) = places.small.1.first() else { return };
        let mut mutations: Vec<&Mutation> =
            MUTATIONS.iter().filter(|mutation| mutation.phase == Phase::Structural).collect();
        mutations.sort_by_key(|mutation| mutation.rank);
        for mutation in mutations {
            for variant in (mutation.make)(top, &mut Dice::new(self.options.seed)) {
                if self.cases.len() <= most {
                    self.add(Phase::Structural, variant.what.into_owned(), variant.value);
                }
            }
        }
        self.add(Phase::Structural, "valid, with all optional properties".to_owned(), full.clone());
    }

    /// Works through mutations until there are `most` cases: the first variant of each, then the others.
    fn planned(&mut self, planned: Vec<Planned<'_, '_, '_>>, most: usize) {
        let mut later = Vec::new();
        for ((site, input), mutation) in planned {
            if self.cases.len() >= most {
                return;
            }
            let mut dice = Dice::for_purpose(self.options.seed, mutation.name);
            let mut variants = (mutation.make)(site, &mut dice).into_iter();
            if let Some(variant) = variants.next() {
                self.apply(mutation.phase, input, site, variant);
            }
            later.extend(variants.map(|variant| (site, input, mutation.phase, variant)));
        }
        for (site, input, phase, variant) in later {
            if self.cases.len() >= most {
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

    /// Fills up with mutations of valid inputs.
    fn random(&mut self, small: &Value) {
        if self.cases.len() >= self.options.count {
            return;
        }
        let seed = self.options.seed;
        let bases: Vec<Value> = (0..BASES)
            .map(|number| {
                let mut dice = Dice::for_purpose(seed, "fed").turned(number);
                let made = self.generator.varied(hash(seed, &number.to_le_bytes()));
                made.map_or_else(|_| small.clone(), |base| self.fed(base, Some(&mut dice)))
            })
            .collect();
        let generator = self.generator;
        let placed: Vec<Vec<Site<'_, '_>>> =
            bases.iter().map(|base| sites(generator.document(), generator.checked(), base)).collect();
        for base in bases.iter().take(1 + self.options.count / 40) {
            self.add(Phase::Random, "valid, varied".to_owned(), base.clone());
        }
        let missing = self.options.count.saturating_sub(self.cases.len());
        // Some tries make what was sent before: there are more tries than cases, and an end to them.
        for number in 0..missing * 16 + 64 {
            if self.cases.len() >= self.options.count {
                return;
            }
            let mut dice = Dice::for_purpose(seed, "random").turned(number as u64);
            let at = dice.below(bases.len());
            let changes = if number * 2 < missing { 1 } else { 2 };
            let (label, arguments) = changed(&bases[at], &placed[at], changes, &mut dice);
            self.add(Phase::Random, label, arguments);
        }
    }
}

/// A valid input with a number of random changes at different places.
fn changed(base: &Value, sites: &[Site<'_, '_>], changes: usize, dice: &mut Dice) -> (String, Value) {
    let mut input = base.clone();
    let mut told: Vec<String> = Vec::new();
    let mut touched: Vec<&[Step<'_>]> = Vec::new();
    for _ in 0..changes * 8 {
        if told.len() == changes {
            break;
        }
        let (Some(site), Some(mutation)) = (dice.pick(sites), any_mutation(dice)) else { break };
        let overlaps = touched.iter().any(|path| path.starts_with(&site.path) || site.path.starts_with(path));
        if overlaps || mutation.phase == Phase::Structural {
            continue;
        }
        let mut variants = (mutation.make)(site, dice);
        if variants.is_empty() {
            continue;
        }
        let variant = variants.swap_remove(dice.below(variants.len()));
        if let Some(next) = replaced(&input, &site.path, variant.value) {
            input = next;
            told.push(labelled(&site.name(), &variant.what));
            touched.push(&site.path);
        }
    }
    (if told.is_empty() { "valid, varied".to_owned() } else { told.join("; ") }, input)
}

/// Any mutation; half of them are of the kind that never makes the same twice.
fn any_mutation(dice: &mut Dice) -> Option<&'static Mutation> {
    let endless = dice.chance(50);
    let fitting: Vec<&Mutation> =
        MUTATIONS.iter().filter(|mutation| (mutation.phase == Phase::Random) == endless).collect();
    dice.pick(&fitting).copied()
}

fn fingerprint(arguments: &Value) -> u64 {
    // Values of ours always serialise.
    hash(0, &serde_json::to_vec(arguments).unwrap_or_default())
}

fn labelled(place: &str, what: &str) -> String {
    if place.is_empty() { what.to_owned() } else { format!("`{place}`: {what}") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::generate::test_schemas::{random_schema, with_turned_keys};

    fn made(schema: &Value, seed: u64, count: usize) -> Vec<FuzzCase> {
        cases(schema, &FuzzOptions { seed, count, pool: &ValuePool::default() })
    }

    fn bytes_of(cases: &[FuzzCase]) -> String {
        let told = cases.iter().map(|case| format!("{} {} {}", case.label, case.accepted, case.arguments));
        told.collect::<Vec<_>>().join("\n")
    }

    fn tool() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "minLength": 1, "maxLength": 20},
                "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
                "mode": {"enum": ["fast", "slow"]},
                "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
                "options": {"type": "object", "properties": {"deep": {"type": "boolean"}}, "required": ["deep"]}
            },
            "required": ["path", "mode", "options"],
            "additionalProperties": false
        })
    }

    #[test]
    fn phases_come_in_order_and_each_has_its_share() {
        for count in [50, 200] {
            let cases = made(&tool(), 1, count);
            assert_eq!(cases.len(), count);
            assert!(cases.is_sorted_by_key(|case| case.phase));
            for phase in [Phase::Structural, Phase::Property, Phase::Boundary, Phase::Random] {
                let share = cases.iter().filter(|case| case.phase == phase).count();
                assert!(share >= 5, "{phase:?} has {share} of {count}");
            }
        }
        assert!(made(&tool(), 1, 0).is_empty());
        assert_eq!(made(&tool(), 1, 1)[0].label, "valid");
    }

    #[test]
    fn the_first_cases_are_what_a_reader_expects() {
        let labels: Vec<String> = made(&tool(), 1, 50).into_iter().map(|case| case.label).collect();
        assert_eq!(
            labels[..8],
            [
                "valid",
                "empty object",
                "null arguments",
                "missing `mode`",
                "missing `options`",
                "missing `path`",
                "everything null",
                "valid, with all optional properties",
            ]
        );
        for expected in ["`path`: null", "`path`: empty string", "`limit`: above 100", "`options`: empty object"] {
            assert!(labels.iter().any(|label| label == expected), "{expected} is not in {labels:#?}");
        }
    }

    #[test]
    fn a_small_tool_meets_every_category() {
        let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
        let labels: Vec<String> = made(&schema, 1, 50).into_iter().map(|case| case.label).collect();
        for what in
            ["empty string", "10 KB string", "NUL byte", "unicode", "path traversal", "white space", "line breaks"]
        {
            assert!(labels.iter().any(|label| label.ends_with(what)), "{what} is not in {labels:#?}");
        }
    }

    #[test]
    fn a_schema_that_cannot_be_used_refuses_nothing() {
        for schema in [
            json!({"type": "object", "properties": {"a": {"type": "strnig"}, "b": {"type": "integer"}}, "required": ["a"]}),
            json!({"type": "object", "properties": {"a": {"$ref": "https://example.com/x"}}}),
            json!({"type": "object", "properties": {"a": false}, "required": ["a"]}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "(?=b)a"}}}),
        ] {
            let cases = made(&schema, 1, 40);
            assert!(cases.len() > 20, "{schema}: {}", cases.len());
            if Oracle::new(&schema).is_err() {
                assert!(cases.iter().all(|case| case.accepted));
            }
        }
    }

    #[test]
    fn known_values_are_fed_in_by_name_and_given_arguments_come_first() {
        let schema = json!({
            "type": "object",
            "properties": {"user_id": {"type": "string"}, "size": {"type": "integer"}},
            "required": ["user_id", "size"]
        });
        let mut pool = ValuePool::default();
        pool.harvest(&json!({"structuredContent": {"users": [{"id": "u-77", "size": "large"}]}}));
        let fed = cases(&schema, &FuzzOptions { seed: 1, count: 10, pool: &pool });
        assert_eq!(fed[0].arguments, json!({"size": 10, "user_id": "u-77"}));
        pool.give(json!({"user_id": "mine", "size": 3}));
        let fed = cases(&schema, &FuzzOptions { seed: 1, count: 10, pool: &pool });
        assert_eq!(fed[0].arguments, json!({"size": 3, "user_id": "mine"}));
    }

    #[test]
    fn the_cases_of_a_seed_stay_the_same_for_ever() {
        let bytes = bytes_of(&made(&tool(), 7, 50));
        let known = 16_222_307_195_945_497_688;
        assert_eq!(hash(0, bytes.as_bytes()), known, "seeds no longer reproduce: say so in the release notes");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn labels_are_the_oracles_and_seeds_fix_every_byte(seed in any::<u64>()) {
            let schema = random_schema(seed);
            let one = made(&schema, seed, 40);
            let other = made(&with_turned_keys(&schema), seed, 40);
            prop_assert_eq!(bytes_of(&one), bytes_of(&other), "{}", schema);
            let oracle = Oracle::new(&schema);
            for case in &one {
                let expected = oracle.as_ref().map_or(true, |oracle| oracle.accepts(&case.arguments));
                prop_assert_eq!(case.accepted, expected);
                prop_assert!(!crate::generate::is_deeper_than(&case.arguments, 110));
            }
        }
    }
}
