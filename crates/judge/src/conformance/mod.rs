//! Conformance: rules of the protocol over recordings of a server, revision by revision. Everything here is pure.
//!
//! A probe (in the engine) makes an [`Evidence`]; [`judge`] gives each rule of [`RULES`] a verdict on it.

mod answer;
mod evidence;
mod findings;
mod hints;
mod plan;
mod rule;
mod rules;
mod schemas;
mod spec_change;
mod verdict;

pub use answer::Answer;
pub use evidence::{
    Channel, Entry, Evidence, ListDigest, Payload, Recording, ReplyMemory, Spot, Step, What, is_same_id, key_member,
    member_of,
};
pub use findings::findings;
pub use hints::{Change, HintTrial, StateView};
pub use plan::{CallOptions, CallPlan, CallPlans, calls, wrong_inputs};
pub use rule::{Absent, Level, Rule, Ruling, Violation};
pub use rules::RULES;
pub use schemas::{fault as schema_fault, message_type, result_type};
pub use spec_change::SpecChange;
pub use verdict::{Grade, Graded, STATIC_RULES, Verdict, judge};
