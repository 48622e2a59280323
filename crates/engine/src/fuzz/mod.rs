//! Adversarial calls: every tool gets inputs that break programs; failures are shrunk, reported and kept.
//!
//! A tool is worked on alone, on servers of its own (`tool.rs`), so that what is sent does not depend on how many are
//! fuzzed concurrently. `line.rs` is the server that its calls go to, `window.rs` has several in flight once a server
//! has proved steady, `minimal.rs` makes a failure small on fresh servers (`attempt.rs`), `load.rs` looks at what happens
//! to calls that are open at once.

mod attempt;
mod failure;
pub(crate) mod in_suite;
mod keep;
pub(crate) mod line;
mod load;
mod minimal;
pub(crate) mod survey;
pub(crate) mod telling;
pub(crate) mod tool;
mod window;
pub(crate) mod workshop;

pub use failure::{Failure, Reproduction};
pub use keep::{Keeping, KeptTest, kept_test};
pub use tool::Tally;
