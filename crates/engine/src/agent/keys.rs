//! Which keys of language models a plan needs and lacks.

use mcprove_model::Plan;

use super::cassette;

/// A key that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingKey {
    /// The variable of the environment that should hold it.
    pub variable: String,
    /// The first case that needs it.
    pub case: String,
}

/// The keys that a plan needs and lacks; a conversation that is recorded is played again without.
pub fn missing_keys(plan: &Plan, record: bool) -> Vec<MissingKey> {
    let mut missing: Vec<MissingKey> = Vec::new();
    for planned in plan.cases.iter().filter(|planned| planned.case.skip.is_none()) {
        let key = planned
            .case
            .agent()
            .and_then(cassette::named_model)
            .and_then(|named| named.provider.as_ref()?.key.as_ref());
        let Some(key) = key.filter(|key| key.value.is_none()) else { continue };
        let is_recorded = || cassette::path_of(&planned.case, planned.trial).is_some_and(|path| path.is_file());
        if missing.iter().all(|known| known.variable != key.variable) && (record || !is_recorded()) {
            missing.push(MissingKey { variable: key.variable.clone(), case: planned.case.name.clone() });
        }
    }
    missing
}
