//! Trust boundaries between servers: what flows from one to another, and what requests claim.
//!
//! Both engines are pure functions over recorded values. [`propagation`] follows the output of one server into the
//! input of another (`SEC-060`); [`capabilities`] compares the claims of requests with the negotiation (`SEC-061`);
//! [`rules`] describes both.

pub mod capabilities;
pub mod propagation;
pub mod rules;

mod candidates;
mod flow;
mod haystack;
mod json_text;
mod needles;
mod outputs;
mod parts;
mod prior_text;
mod recording;
mod rolling;
mod routing;
mod runs;
mod trace;

pub use capabilities::{Coverage, RequestClaim, coverage, widenings};
pub use flow::{Carried, Flow, Hop, Unmet};
pub use mcprove_model::{Boundary, FlowPair};
pub use propagation::{carried, flows, flows_masked};
pub use recording::{Recording, recordings};
pub use routing::Routing;
pub use rules::{RULES, TrustRule, mapping_table};
pub use trace::{Call, TraceEvent};
