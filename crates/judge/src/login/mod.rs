//! Why a host cannot log in to a server: every document on the way is looked at, and each fault has its fix.

mod checks;

use mcprove_model::Severity;
use mcprove_model::oauth::{LoginDiscovery, LoginStep};
use serde_json::Value;

pub use checks::{LOGIN_CHECKS, LoginCheck};

/// A token that a login ended with, as far as it can be read.
#[derive(Clone, Debug, Default)]
pub struct TokenFacts {
    /// Its claims, if it is a JWT.
    pub claims: Option<Value>,
    /// The scopes that were asked for.
    pub asked: Vec<String>,
    /// The scopes that were granted.
    pub granted: Vec<String>,
    /// The status that the server answered with, when it was used.
    pub status: Option<u16>,
    /// The id of the key that signed it.
    pub key: Option<String>,
}

/// Everything that is known about a login.
#[derive(Clone, Debug, Default)]
pub struct LoginCase {
    /// The documents.
    pub found: LoginDiscovery,
    /// The status that a session was refused with.
    pub refused: Option<u16>,
    /// The token, after a login.
    pub token: Option<TokenFacts>,
    /// Now, in seconds since the Unix epoch.
    pub now: i64,
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginFault {
    /// The id of the check.
    pub id: &'static str,
    /// The step at which a host notices.
    pub step: LoginStep,
    /// An error keeps hosts from going on; a warning keeps some of them.
    pub severity: Severity,
    /// The defect.
    pub what: String,
    /// The fix.
    pub help: String,
}

/// Everything that is wrong, in the order in which a host meets it. After an error, later steps are judged as far as their
/// documents are there.
pub fn diagnose_login(case: &LoginCase) -> Vec<LoginFault> {
    let mut faults: Vec<LoginFault> = Vec::new();
    for check in LOGIN_CHECKS {
        if let Some((what, help)) = (check.run)(case) {
            let LoginCheck { id, step, severity, .. } = *check;
            faults.push(LoginFault { id, step, severity, what, help });
        }
    }
    faults
}
