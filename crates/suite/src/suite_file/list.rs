//! Which lists of tests a suite file may have: its own kinds, and one for each block of assertion files.

use mcprove_model::{Act, Diagnostics, Expectation};

use super::{
    Suite, agents, calibration, compliance, compositions, conformance, evals, prompts, resources, scenarios, stepwise,
    tool_quality, tools,
};
use crate::assertion_file::block::{BLOCKS, Block, DecodedBlock, Input};
use crate::field::{self, Field};

/// The kinds of tests that only suite files have, sorted by key.
pub(super) const KINDS: &[Kind] = &[
    agents::KIND,
    calibration::KIND,
    compliance::KIND,
    compositions::KIND,
    conformance::KIND,
    evals::KIND,
    prompts::KIND,
    resources::KIND,
    scenarios::KIND,
    stepwise::KIND,
    tool_quality::KIND,
    tools::KIND,
];

/// One kind of test.
pub(super) struct Kind {
    /// The key of the list.
    pub(super) key: &'static str,
    /// One sentence for the documentation.
    pub(super) summary: &'static str,
    /// The keys of a test in addition to those that all tests have.
    pub(super) fields: &'static [&'static [Field]],
    /// Turns a test into what a case does and expects.
    pub(super) decode: fn(&Input<'_>, &Suite<'_>, &mut Diagnostics<'_>) -> Option<(Act, Expectation)>,
}

/// A list of tests.
#[derive(Clone, Copy)]
pub(super) enum List {
    /// Of a kind that only suite files have.
    Own(&'static Kind),
    /// Of a block of assertion files.
    Of(&'static Block),
}

impl List {
    /// Every list.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        KINDS.iter().map(Self::Own).chain(BLOCKS.iter().map(Self::Of))
    }

    /// The list under a key.
    pub(super) fn find(key: &str) -> Option<Self> {
        Self::all().find(|list| list.key() == key)
    }

    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Own(kind) => kind.key,
            Self::Of(block) => block.key,
        }
    }

    pub(super) fn summary(self) -> &'static str {
        match self {
            Self::Own(kind) => kind.summary,
            Self::Of(block) => block.summary,
        }
    }

    /// The keys of a test in addition to those that all tests have.
    pub(super) fn fields(self) -> impl Iterator<Item = &'static Field> {
        let (groups, own): (&[&[Field]], &[Field]) = match self {
            Self::Own(kind) => (kind.fields, &[]),
            Self::Of(block) => (&[], block.fields),
        };
        groups.iter().copied().flatten().chain(own)
    }

    /// True if its tests say for themselves which servers they are for.
    pub(super) fn names_servers(self) -> bool {
        self.key() == agents::KIND.key
    }

    pub(super) fn needs_server(self) -> bool {
        match self {
            Self::Own(kind) => ![calibration::KIND.key, evals::KEY, scenarios::KIND.key].contains(&kind.key),
            Self::Of(block) => block.needs_server,
        }
    }

    /// True if what every test expects is expected of these, too: only of those with a result.
    pub(super) fn takes_defaults(self) -> bool {
        let own_targets = [tool_quality::KIND.key, calibration::KIND.key, compositions::KEY, scenarios::KIND.key];
        field::has(self.fields(), "expect") && !own_targets.contains(&self.key())
    }

    /// Decodes what a test does and expects.
    pub(super) fn decode(
        self,
        test: &Input<'_>,
        suite: &Suite<'_>,
        found: &mut Diagnostics<'_>,
    ) -> Option<DecodedBlock> {
        match self {
            Self::Own(kind) => (kind.decode)(test, suite, found).map(|(act, expect)| DecodedBlock::new(act, expect)),
            Self::Of(block) if block.companions.is_empty() => (block.decode)(test, found),
            // Such a block is spread over its document: the test is the document.
            Self::Of(block) => match block.keys().find_map(|key| test.entry(key)) {
                Some(entry) => (block.decode)(&Input { key: &entry.key.text, place: entry.key.span, ..*test }, found),
                None => (block.decode)(test, found),
            },
        }
    }
}
