//! The shape of an invariant, and the table of all of them.

use serde_json::Value;

use super::facts::Facts;
use super::invariants;
use super::model::SequenceModel;
use super::reply::Reply;
use super::role::SequenceTool;
use super::step::{Step, StepTarget};
use super::world::{Thing, World};

/// Something that must hold after every call.
pub(super) struct Invariant {
    /// The id of the finding about it.
    pub(super) id: &'static str,
    /// Looks at one call; what was before it is in the scene.
    pub(super) check: fn(&Scene<'_>) -> Option<Fault>,
}

/// All invariants, the most telling first.
pub(super) const INVARIANTS: &[Invariant] = &[
    invariants::identity::ID_REUSED,
    invariants::deletion::STILL_READABLE,
    invariants::deletion::STILL_LISTED,
    invariants::deletion::STILL_USABLE,
    invariants::creation::NOT_READABLE,
    invariants::creation::NOT_LISTED,
    invariants::creation::NOT_USABLE,
    invariants::identity::LISTED_TWICE,
    invariants::content::NOT_AS_WRITTEN,
    invariants::content::LIST_DISAGREES,
    invariants::search::DISAGREES,
    invariants::paging::PAGES_DISAGREE,
    invariants::counting::COUNT_DISAGREES,
    invariants::state::ERROR_CHANGED,
    invariants::state::REPEAT_CHANGED,
    invariants::state::READ_CHANGED,
    invariants::state::RESTART_CHANGED,
];

/// The ids of all invariants.
pub fn invariant_ids() -> impl Iterator<Item = &'static str> {
    INVARIANTS.iter().map(|invariant| invariant.id)
}

/// A call, and everything before it.
pub(super) struct Scene<'s> {
    pub(super) model: &'s SequenceModel,
    pub(super) world: &'s World,
    pub(super) facts: &'s Facts,
    pub(super) step: &'s Step,
    /// The tool that was called; `None` for resources and restarts.
    pub(super) tool: Option<&'s SequenceTool>,
    pub(super) family: usize,
    /// The thing that the call names.
    pub(super) thing: Option<(&'s (usize, String), &'s Thing)>,
    pub(super) reply: &'s Reply,
}

impl Scene<'_> {
    pub(super) fn target(&self) -> StepTarget {
        self.step.target
    }

    /// True if a call names a thing and says nothing more about what is wanted of it.
    pub(super) fn is_about_key_alone(&self) -> bool {
        let parts = self.tool.map(|tool| tool.parts(&self.step.args)).unwrap_or_default();
        matches!(parts.as_slice(), [only] if only.as_object().is_some_and(|args| args.len() == 1))
    }

    /// Names under which the family of the tool has its keys.
    pub(super) fn key_names(&self) -> &[String] {
        self.model.families.get(self.family).map(|family| family.keys.as_slice()).unwrap_or_default()
    }
}

/// A broken invariant.
pub(super) struct Fault {
    pub(super) message: String,
    /// The thing that it is about.
    pub(super) subject: Option<(usize, String)>,
    /// The tool that is to blame, where that is not the one that was called.
    pub(super) blamed: Option<String>,
    pub(super) expected: Expected,
}

/// A broken invariant, as it is reported.
#[derive(Clone, Debug, PartialEq)]
pub struct Breach {
    /// The id of the finding.
    pub rule: String,
    /// The defect, in one line.
    pub message: String,
    /// Breaches with the same signature are taken for the same failure when a sequence is shrunk.
    pub signature: String,
    /// Breaches with the same cause are reported once.
    pub cause: String,
    /// The expected answer of the last call.
    pub expected: Expected,
}

/// The reply that a correct server gives to the last call.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    /// Checks of an `expect` block.
    Checks(Value),
    /// The same text as the reply to this step.
    SameAs(u32),
    /// The text has this key.
    Has(Value),
    /// The text does not have this key.
    HasNot(Value),
    /// Another value than the reply to this step has at this place.
    OtherThan(u32, String),
    /// It cannot be said in a test.
    Unsaid,
}
