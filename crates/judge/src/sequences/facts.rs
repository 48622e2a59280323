//! Facts learned about tools from their replies. An invariant that a server was never seen to keep is not demanded
//! of it: what looks like a reader may read something else.

use std::collections::{BTreeMap, BTreeSet};

use super::reply::Reply;
use super::step::StepTarget;

/// Texts kept for each tool.
const TEXTS: usize = 16;

/// Number of times that something must have held before its absence is a finding.
pub(super) const SEEN: usize = 2;

/// Evidence from all calls so far.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Replies of tools to keys that never existed.
    pub(super) missing: BTreeMap<StepTarget, Missing>,
    /// Reads of live things that worked.
    pub(super) reads: BTreeMap<StepTarget, usize>,
    /// Live things that a list showed.
    pub(super) listed: BTreeMap<StepTarget, usize>,
    /// Fields that were read as they had been written.
    pub(super) round_trips: BTreeMap<(StepTarget, String), usize>,
    /// The field that a reply in plain text is the content of.
    pub(super) text_field: BTreeMap<StepTarget, String>,
    /// Fields in which a list and a read of the same thing agreed.
    pub(super) agreed: BTreeMap<(StepTarget, StepTarget, String), usize>,
    /// Things that a search found by a text of theirs, and things that it left out because they do not have the text.
    pub(super) found: BTreeMap<StepTarget, usize>,
    pub(super) left_out: BTreeMap<StepTarget, usize>,
    /// Searches that show things which never had the text.
    pub(super) loose: BTreeSet<StepTarget>,
    /// The most items that a list showed.
    pub(super) longest: BTreeMap<StepTarget, usize>,
    /// Kinds of things whose keys the server folds: it answers with another key than it was given.
    pub(super) folds: BTreeSet<usize>,
    /// Reads that showed the state before the last change, and the right one when they were repeated.
    pub late: usize,
    /// Counts that agreed with a list.
    pub(super) counted: BTreeMap<StepTarget, usize>,
    /// Replies to these change by themselves.
    pub(super) unstable: BTreeSet<StepTarget>,
    /// Replies of a fresh server, before anything was changed.
    pub(super) initial: BTreeMap<(StepTarget, String), String>,
    /// Replies that a restart kept although something had been changed, and replies that it reset.
    pub(super) kept: BTreeMap<StepTarget, usize>,
    pub(super) reset: BTreeMap<StepTarget, usize>,
}

/// Replies of a tool to keys that never existed.
#[derive(Clone, Debug, Default)]
pub(super) struct Missing {
    pub(super) errors: usize,
    pub(super) fine: usize,
    /// Results without anything in them, which are among the errors.
    pub(super) nothing: usize,
    /// The texts, with a mark in the place of the key.
    texts: BTreeSet<String>,
}

impl Facts {
    /// Notes the reply of a tool to a key that never existed.
    pub(super) fn note_missing(&mut self, target: StepTarget, key: &str, reply: &Reply) {
        let missing = self.missing.entry(target).or_default();
        if reply.is_fine && !reply.is_nothing() {
            missing.fine += 1;
        } else {
            missing.errors += 1;
            missing.nothing += usize::from(reply.is_fine);
        }
        if missing.texts.len() < TEXTS {
            missing.texts.insert(without(&reply.text, key));
        }
    }

    /// True if a reply says that there is no thing of this key.
    pub(super) fn says_missing(&self, target: StepTarget, key: &str, reply: &Reply) -> bool {
        !reply.is_fine || reply.is_nothing() || self.is_text_of_missing(target, key, reply)
    }

    /// True if a reply is what the tool answers to keys that never existed.
    pub(super) fn is_text_of_missing(&self, target: StepTarget, key: &str, reply: &Reply) -> bool {
        let known = self.missing.get(&target);
        known.is_some_and(|known| known.texts.contains(&without(&reply.text, key)))
    }

    /// True if the tool always answers keys that never existed with an error.
    pub(super) fn refuses_missing(&self, target: StepTarget) -> bool {
        self.missing.get(&target).is_some_and(|known| known.errors > 0 && known.fine == 0)
    }

    /// True if the tool answers some keys that never existed with an empty result.
    pub(super) fn shows_nothing_for_missing(&self, target: StepTarget) -> bool {
        self.missing.get(&target).is_some_and(|known| known.nothing > 0)
    }

    pub(super) fn is_stable(&self, target: StepTarget) -> bool {
        !self.unstable.contains(&target)
    }

    /// Takes over that replies change by themselves: what is unstable once is never compared again.
    pub fn learn_instability(&mut self, other: &Self) {
        self.unstable.extend(other.unstable.iter().copied());
    }

    /// True if something new was found to be unstable since `other`.
    pub fn is_less_stable_than(&self, other: &Self) -> bool {
        self.unstable.len() > other.unstable.len()
    }
}

pub(super) fn count<K: Ord>(map: &mut BTreeMap<K, usize>, key: K) {
    *map.entry(key).or_default() += 1;
}

pub(super) fn seen<K: Ord>(map: &BTreeMap<K, usize>, key: &K) -> usize {
    map.get(key).copied().unwrap_or(0)
}

fn without(text: &str, key: &str) -> String {
    if key.is_empty() { text.to_owned() } else { text.replace(key, "\u{0}") }
}
