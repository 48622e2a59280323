//! The cases of one tool that the seed decides: valid inputs with one thing changed, and later two.

use std::sync::LazyLock;

use serde_json::Value;

use super::cases::{Desk, labelled};
use super::mutation::{Mutation, Phase};
use super::mutations::MUTATIONS;
use super::site::{Site, Step, replace, sites};
use crate::generate::{Dice, hash};

/// How many valid inputs are begun with.
const BASES: u64 = 5;

/// How far the random cases of a tool have been made.
#[derive(Debug)]
pub(super) struct Random {
    /// The valid inputs that are changed.
    bases: Vec<Value>,
    /// How many of them are sent as they are, and how many have been.
    plain: usize,
    sent_plain: usize,
    /// How many cases are wanted beside them.
    wanted: usize,
    /// How many tries were made.
    tries: usize,
}

impl Random {
    /// `count` is that of the whole plan, `wanted` what is left of it.
    pub(super) fn new(desk: &Desk<'_, '_>, count: usize, wanted: usize) -> Self {
        let seed = desk.seed;
        let small = desk.small();
        let base = |number: u64| {
            let mut dice = Dice::for_purpose(seed, "fed").turned(number);
            let made = desk.generator.varied(hash(seed, &number.to_le_bytes()));
            made.map_or_else(|_| small.clone(), |base| desk.fed(base, Some(&mut dice)))
        };
        let bases: Vec<Value> = (0..BASES).map(base).collect();
        Self { plain: (1 + count / 40).min(bases.len()), bases, sent_plain: 0, wanted, tries: 0 }
    }

    /// Adds cases to a desk until it has enough, or no more are found.
    pub(super) fn add_to(&mut self, desk: &mut Desk<'_, '_>) {
        while self.sent_plain < self.plain && desk.cases.len() < desk.most {
            let before = desk.cases.len();
            desk.add(Phase::Random, "valid, varied".to_owned(), self.bases[self.sent_plain].clone());
            self.sent_plain += 1;
            self.wanted = self.wanted.saturating_sub(desk.cases.len() - before);
        }
        let generator = desk.generator;
        let of = |base| sites(generator.document(), generator.checked(), base);
        let placed: Vec<Vec<Site<'_, '_>>> = self.bases.iter().map(of).collect();
        let random = Dice::for_purpose(desk.seed, "random");
        // Some tries make what was sent before: there are more tries than cases, and an end to them.
        while self.tries < self.wanted.saturating_mul(16).saturating_add(64) && desk.cases.len() < desk.most {
            let mut dice = random.turned(self.tries as u64);
            let at = dice.below(self.bases.len());
            let changes = if self.tries * 2 < self.wanted { 1 } else { 2 };
            self.tries += 1;
            let (label, arguments) = changed(&self.bases[at], &placed[at], changes, &mut dice);
            desk.add(Phase::Random, label, arguments);
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
        if replace(&mut input, &site.path, variant.value) {
            told.push(labelled(&site.name(), &variant.what));
            touched.push(&site.path);
        }
    }
    (if told.is_empty() { "valid, varied".to_owned() } else { told.join("; ") }, input)
}

/// The mutations that never make the same twice, and the others.
static KINDS: LazyLock<(Vec<&Mutation>, Vec<&Mutation>)> =
    LazyLock::new(|| MUTATIONS.iter().partition(|mutation| mutation.phase == Phase::Random));

/// Any mutation; half of them are of the kind that never makes the same twice.
fn any_mutation(dice: &mut Dice) -> Option<&'static Mutation> {
    let (endless, others) = &*KINDS;
    let fitting = if dice.chance(50) { endless } else { others };
    dice.pick(fitting).copied()
}
