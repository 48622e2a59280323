//! Hosts under bad servers: what a client did, scored from the wire alone.
//!
//! [`evidence`] is what was observed, [`score`] compares it with what a scenario expects, and [`rules`] are the rules of the
//! protocol for clients that a server can observe. All of it is pure.

mod conversation;
mod evidence;
mod leaks;
mod lists;
mod rule;
mod rules;
mod score;
mod storms;
#[cfg(test)]
mod tests;

pub use conversation::Conversation;
pub use evidence::{ClientEnd, HostEvidence, HostFrame, HostServer, HostStrike, LeftOut};
pub use rule::{ClientRule, ClientRuleVerdict, ClientRuling, GradedClientRule, judge_client};
pub use rules::CLIENT_RULES;
pub use score::{HostExpectation, HostVerdict, Reaction, judge_host};
