//! What is true of an observation. Everything here is pure: no clock, no environment, no files, no waiting.

pub mod arguments;
pub mod checks;
pub mod json_path;
pub mod output_schema;
pub mod recovery;
pub mod trajectory_match;
pub mod trust;

mod diff;
mod excerpt;
mod near;
mod sameness;
mod schema;

pub use arguments::argument_errors;
pub use checks::{CHECKS, CheckKind, decode_expect, expect_schema};
pub use json_path::JsonPath;
pub use output_schema::violates_output_schema;
