//! The tool calls of an agent against those a suite expects, in several modes.

mod args;
mod calls;

pub use args::ArgsMatcher;
pub use calls::{Divergence, ExpectedCall, Mode, divergence, mismatch_count};
