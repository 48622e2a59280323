//! Agents compared without a judge: two sets of runs of the same cases, from their logs alone.
//!
//! [`statistics`] has the intervals and tests, [`comparison`] what two sets of runs differ in. Everything here is a fact
//! about calls, verdicts and tokens; no model grades anything.

mod comparison;
mod runs;
mod statistics;

pub use comparison::{CaseComparison, Comparison, Measured, compare};
pub use runs::{AgentCall, AgentRun, agent_runs};
pub use statistics::{Interval, Stratum, pass_at_k, pass_hat_k, runs_needed, stratified_p, wilson};
