//! The cases to run, in order.

use std::sync::Arc;

use crate::{Case, ShardOf};

/// The cases to run, in order. It is made by a pure function and valid by construction.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The cases in reporting order, their indices ascending.
    pub cases: Vec<PlannedCase>,
    /// The shard of a larger plan, if it is one.
    pub shard: Option<ShardOf>,
}

impl Plan {
    /// True if no case has several trials or columns.
    pub fn runs_each_once(&self) -> bool {
        self.cases.iter().all(|planned| planned.trial == 1 && planned.variant.is_none())
    }
}

/// A case at its place in the plan.
#[derive(Clone, Debug)]
pub struct PlannedCase {
    /// Its position, from 0, in the plan before any sharding; every event of the case carries it.
    pub index: usize,
    /// The case.
    pub case: Arc<Case>,
    /// Number of the repetition, from 1.
    pub trial: u32,
    /// The column of a matrix it belongs to.
    pub variant: Option<Arc<str>>,
}
