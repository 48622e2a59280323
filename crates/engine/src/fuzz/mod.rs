//! Adversarial calls: every tool gets inputs that break programs; failures are shrunk, reported and kept.
//!
//! A tool is worked on alone, on servers of its own (`tool.rs`), so that what is sent does not depend on how many are
//! fuzzed concurrently. `connection.rs` is the server that its calls go to, `window.rs` has several in flight once a
//! server has proved steady, `minimal.rs` makes a failure small on fresh servers (`attempt.rs`), `load.rs` looks at what
//! happens to calls that are open at once.

mod attempt;
pub(crate) mod connection;
pub(crate) mod context;
mod failure;
pub(crate) mod finding;
pub(crate) mod in_suite;
mod load;
mod minimal;
mod save_test;
pub(crate) mod survey;
pub(crate) mod tool;
mod window;

pub use failure::{Failure, Reproduction};
pub use save_test::{Keeping, KeptTest, kept_test};
pub use tool::CallCounts;
