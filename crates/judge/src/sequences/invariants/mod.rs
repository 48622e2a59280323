//! The invariants, grouped by what they are about, and what is learned from calls that keep them.

pub(super) mod content;
pub(super) mod counting;
pub(super) mod creation;
pub(super) mod deletion;
pub(super) mod identity;
pub(super) mod learning;
pub(super) mod paging;
pub(super) mod search;
pub(super) mod state;
