//! Bugs that one call does not show: what tools make, read, change and delete is learned from their names, schemas and
//! replies; sequences of calls are generated from a seed, and invariants are checked over the history of the calls.
//!
//! Everything here is pure. The caller makes the calls and hands the replies back ([`Judge::take`]); the same steps and
//! replies always give the same verdict, so that a failing sequence can be replayed and shrunk.

mod arguments;
mod batch;
mod difference;
mod explore;
mod facts;
mod interleaving;
mod invariant;
mod invariants;
mod judgement;
mod key;
mod model;
mod reply;
mod role;
mod sameness;
mod shrink;
mod step;
mod world;

pub use arguments::Surroundings;
pub use difference::{Difference, difference};
pub use explore::Explorer;
pub use facts::Facts;
pub use interleaving::{Order, Programs, legal_orders, programs, same_history};
pub use invariant::{Breach, Expected, invariant_ids};
pub use judgement::{Judge, SequenceVerdict};
pub use model::SequenceModel;
pub use reply::Reply;
pub use role::{Role, SequenceTool};
pub use shrink::SequenceShrinker;
pub use step::{Bind, Step, StepTarget, bound, with_binds};
