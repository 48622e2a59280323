//! Recovery of an agent from a tool that does not answer: pure scores over marks in time.
//!
//! [`score`] works on the milliseconds of one call; [`agent_run`] on a whole run in virtual time, where nothing sleeps;
//! [`error_recovery`] counts the errors that were made good later; [`fault`] is the effect of an injected fault on a
//! call.
//!
//! ```
//! use mcprove_judge::recovery::{RecoveryObservation, meets_recovery_budget, score_recovery};
//!
//! let report = score_recovery(&RecoveryObservation {
//!     call_start_ms: 0,
//!     detected_ms: Some(3_000),
//!     recovered_ms: Some(3_200),
//!     timeout_budget_ms: 3_000,
//! });
//! assert!(report.clean_timeout);
//! assert!(meets_recovery_budget(&report, 5_000));
//! ```

mod agent_run;
mod error_recovery;
mod fault;
mod score;

pub use agent_run::{AgentMarks, CLASS, FaultHits, RecoveryBudget, RecoveryVerdict, never_hit, score_agent_run};
pub use error_recovery::{ToolOutcome, error_recovery};
pub use fault::{FaultEffect, added_description, effect};
pub use score::{RecoveryObservation, RecoveryReport, meets_recovery_budget, score_recovery};
