//! Suites of the author: YAML with spans, decoded into cases.
//!
//! Text becomes a spanned tree ([`yaml`]), small decoders turn the tree into [`mcprove_model::Case`]s
//! ([`assertion_file`], [`suite_file`]) and collect findings on the way, and [`load`] does both for files and folders. Nothing here
//! prints, waits, or reads a clock, the environment or the network; files are read by [`load`] alone.

pub mod answers;
pub mod assertion_file;
pub mod context;
pub mod convert;
mod csv;
pub mod duration;
pub mod env_file;
pub mod environment;
mod field;
mod interpolate;
pub mod lint;
pub mod load;
pub mod recorded;
pub mod scenario_file;
pub mod schema;
mod server;
pub mod starter;
pub mod suite_file;
pub mod template;
pub mod trajectories;
mod variables;
pub mod written_server;
pub mod yaml;
