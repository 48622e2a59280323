//! What is true of an observation. Everything here is pure: no clock, no environment, no files, no waiting.

pub mod arguments;
pub mod catalog_change;
pub mod checks;
pub mod conformance;
pub mod coverage;
pub mod elicitation;
pub mod exception;
pub mod first_expectation;
pub mod fuzz;
pub mod generate;
pub mod harm;
pub mod hidden_text;
pub mod json_path;
pub mod log_level;
pub mod matchers;
pub mod negative;
pub mod output_schema;
pub mod progress;
pub mod recovery;
pub mod scan_verdict;
pub mod schema_change;
pub mod snapshot;
pub mod target;
pub mod tool_effect;
pub mod trace;
pub mod trajectory_match;
pub mod trust;

mod catalog;
mod catalog_file;
mod diff;
mod excerpt;
mod ignores;
mod input_schema;
mod json_style;
mod lint;
mod near;
mod quality;
mod rules;
mod sameness;
mod schema;
mod spanned_json;
mod tighten;

pub use arguments::argument_errors;
pub use catalog::Catalog;
pub use catalog_file::CatalogError;
pub use checks::{CHECKS, CheckKind, decode_expect, expect_schema};
pub use diff::text_diff;
pub use ignores::Ignores;
pub use json_path::JsonPath;
pub use lint::{Fault, lint};
pub use output_schema::violates_output_schema;
pub use quality::{GateFailure, Quality, ToolQuality};

pub use rules::{Example as RuleExample, Group, RULES, Rule, Selection, SelectionOptions, catalog_tokens, rules_page};
pub use tighten::{Required, TightenOptions, Tightened};
