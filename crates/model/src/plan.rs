//! What will run, in which order.

use std::sync::Arc;

use crate::Case;

/// What will run, in order. It is made by a pure function and valid by construction.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The cases in reporting order.
    pub cases: Vec<PlannedCase>,
}

/// A case at its place in the plan.
#[derive(Clone, Debug)]
pub struct PlannedCase {
    /// Its position, from 0; every event of the case carries it.
    pub index: usize,
    /// The case.
    pub case: Arc<Case>,
    /// Which repetition this is, from 1.
    pub trial: u32,
}
