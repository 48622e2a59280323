//! Sequences of calls: bugs that one call does not show.
//!
//! `judge::sequences` decides which call comes next and what its reply means; this folder makes the calls. `life.rs` is one
//! server with its copy of the fixture, `explore.rs` makes sequences and finds failures, `replay.rs` repeats and shrinks
//! them on fresh servers, `interleave.rs` has two clients at once, `growth.rs` looks at what a server does not give
//! back, `corpus.rs` keeps sequences that showed something new, `save_test.rs` writes failures as ordinary tests.

mod corpus;
pub(crate) mod explore;
mod failure;
pub(crate) mod growth;
pub(crate) mod interleave;
pub(crate) mod life;
mod replay;
mod save_test;

pub use corpus::{CorpusEntry, read_entry, written_entry};
pub use failure::{Reproduced, SequenceFailure};
pub use save_test::kept_sequence;
