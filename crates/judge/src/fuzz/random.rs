//! The cases of one tool that the seed decides: valid inputs with one thing changed, and later two.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use serde_json::Value;

use super::cases::{CaseCollector, labelled};
use super::mutation::{Mutation, Phase};
use super::mutations::MUTATIONS;
use super::site::{Site, Step, replace, sites};
use crate::generate::{Dice, hash};

/// Number of valid inputs to start from.
const BASES: u64 = 5;

/// Progress in the random cases of a tool.
#[derive(Debug)]
pub(super) struct Random {
    /// The valid inputs that are changed.
    bases: Vec<Value>,
    /// Number of bases to send unchanged, and the number sent so far.
    plain: usize,
    sent_plain: usize,
    /// Number of other cases wanted.
    wanted: usize,
    /// Number of attempts.
    tries: usize,
    known: Known,
}

/// A base, a place in it, and a mutation that does not depend on the dice.
type Spot = (usize, usize, usize);

/// Results of deterministic mutations, so that they are not generated again only to be discarded.
#[derive(Debug, Default)]
struct Known {
    /// Number of variants of a mutation at a place.
    variants: HashMap<Spot, usize>,
    /// The variants that were made, each as the only change.
    made: HashSet<(Spot, usize)>,
}

impl Random {
    /// `count` is that of the whole plan, `wanted` what is left of it.
    pub(super) fn new(collector: &CaseCollector<'_, '_>, count: usize, wanted: usize) -> Self {
        let seed = collector.seed;
        let small = collector.small();
        // A schema that defeats the generator twice is not tried again: a failure costs more than all successes.
        let mut failures = 0;
        let base = |number: u64| {
            let mut dice = Dice::for_purpose(seed, "fed").turned(number);
            if failures < 2 {
                match collector.generator.varied(hash(seed, &number.to_le_bytes())) {
                    Ok(base) => return collector.fed(base, Some(&mut dice)),
                    Err(_) => failures += 1,
                }
            }
            small.clone()
        };
        let mut bases: Vec<Value> = (0..BASES).map(base).collect();
        bases.iter_mut().for_each(Value::sort_all_objects);
        let plain = (1 + count / 40).min(bases.len());
        Self { plain, bases, sent_plain: 0, wanted, tries: 0, known: Known::default() }
    }

    /// Adds cases to a collector until it has enough, or no more are found.
    pub(super) fn add_to(&mut self, collector: &mut CaseCollector<'_, '_>) {
        while self.sent_plain < self.plain && collector.cases.len() < collector.most {
            let before = collector.cases.len();
            collector.add(Phase::Random, "valid, varied".to_owned(), self.bases[self.sent_plain].clone());
            self.sent_plain += 1;
            self.wanted = self.wanted.saturating_sub(collector.cases.len() - before);
        }
        let generator = collector.generator;
        let of = |base| sites(generator.document(), generator.checked(), base);
        let placed: Vec<Vec<Site<'_, '_>>> = self.bases.iter().map(of).collect();
        let random = Dice::for_purpose(collector.seed, "random");
        // Some tries make what was sent before: there are more tries than cases, and an end to them.
        while self.tries < self.wanted.saturating_mul(16).saturating_add(64) && collector.cases.len() < collector.most {
            let mut dice = random.turned(self.tries as u64);
            let at = dice.below(self.bases.len());
            let changes = if self.tries * 2 < self.wanted { 1 } else { 2 };
            self.tries += 1;
            let base = Base { at, value: &self.bases[at], sites: &placed[at] };
            if let Some((label, arguments)) = changed(&base, changes, &mut dice, &mut self.known) {
                collector.add_sorted(Phase::Random, label, arguments);
            }
        }
    }
}

/// A valid input that is changed.
struct Base<'b, 'a> {
    at: usize,
    value: &'b Value,
    sites: &'b [Site<'a, 'b>],
}

/// A valid input with a number of random changes at different places; none if it is known to have been made before.
fn changed(base: &Base<'_, '_>, changes: usize, dice: &mut Dice, known: &mut Known) -> Option<(String, Value)> {
    let mut input: Option<Value> = None;
    let mut told: Vec<String> = Vec::new();
    let mut touched: Vec<&[Step<'_>]> = Vec::new();
    for _ in 0..changes * 8 {
        if told.len() == changes {
            break;
        }
        let place = dice.below(base.sites.len());
        let (mutations, nth, is_endless) = any_mutation(dice);
        let (Some(site), Some(mutation)) = (base.sites.get(place), mutations.get(nth)) else { break };
        let overlaps = touched.iter().any(|path| path.starts_with(&site.path) || site.path.starts_with(path));
        if overlaps || mutation.phase == Phase::Structural {
            continue;
        }
        let spot = (base.at, place, nth);
        let count = if is_endless { None } else { known.variants.get(&spot).copied() };
        if count == Some(0) {
            continue;
        }
        if let Some(count) = count.filter(|_| changes == 1)
            && known.made.contains(&(spot, dice.clone().below(count)))
        {
            return None;
        }
        let mut variants = (mutation.make)(site, dice);
        if !is_endless {
            known.variants.insert(spot, variants.len());
        }
        if variants.is_empty() {
            continue;
        }
        let chosen = dice.below(variants.len());
        let mut variant = variants.swap_remove(chosen);
        variant.value.sort_all_objects();
        if replace(input.get_or_insert_with(|| base.value.clone()), &site.path, variant.value) {
            told.push(labelled(&site.name(), &variant.what));
            touched.push(&site.path);
            if changes == 1 && !is_endless {
                known.made.insert((spot, chosen));
            }
        }
    }
    let label = if told.is_empty() { "valid, varied".to_owned() } else { told.join("; ") };
    Some((label, input.unwrap_or_else(|| base.value.clone())))
}

/// The mutations that never make the same twice, and the others.
static KINDS: LazyLock<(Vec<&Mutation>, Vec<&Mutation>)> =
    LazyLock::new(|| MUTATIONS.iter().partition(|mutation| mutation.phase == Phase::Random));

/// Any mutation of its kind, and true if it is of the kind that never makes the same twice; half of them are.
fn any_mutation(dice: &mut Dice) -> (&'static [&'static Mutation], usize, bool) {
    let (endless, others) = &*KINDS;
    let is_endless = dice.chance(50);
    let fitting = if is_endless { endless } else { others };
    (fitting, dice.below(fitting.len()), is_endless)
}
