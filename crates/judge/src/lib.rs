//! What is true of an observation. Everything here is pure: no clock, no environment, no files, no waiting.

pub mod checks;
pub mod json_path;
