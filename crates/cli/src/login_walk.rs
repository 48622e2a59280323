//! The steps of a login at a server, as `doctor` shows them.

use std::fmt::Write as _;

use mcprove_judge::login::{LoginCase, LoginFault, TokenFacts, diagnose_login};
use mcprove_model::oauth::{Document, LoginRecord, LoginStep};
use mcprove_model::{ServerSpec, Severity, Target, without_password};
use mcprove_report::escape_terminal_line;
use mcprove_wire::HttpClient;
use mcprove_wire::oauth::{decode_claims, survey_login};
use serde_json::{Value, json};

use crate::context::Context;
use crate::logins::LoginStore;

/// Findings about the login at a server.
pub(crate) struct LoginWalk {
    url: String,
    faults: Vec<LoginFault>,
    is_logged_in: bool,
    status: Option<u16>,
}

/// Outcome of a step.
enum StepOutcome {
    Good,
    Warned,
    Failed,
    NotReached,
}

impl StepOutcome {
    fn word(&self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Warned => "warning",
            Self::Failed => "fails",
            Self::NotReached => "-",
        }
    }
}

impl LoginWalk {
    /// Walks through the login at a server, if it wants one: `status` is what it refused a session with.
    pub(crate) async fn of(server: &ServerSpec, status: Option<u16>, is_open: bool) -> Option<Self> {
        let Target::Remote { url, headers, .. } = &server.target else { return None };
        // With a token of the user's own, there is no login to look at.
        if headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization")) {
            return None;
        }
        let record = LoginStore::of_user().load(url).unwrap_or_default();
        let refused = status.filter(|_| !is_open);
        if refused.is_none() && record.is_none() {
            return None;
        }
        let found = survey_login(url, &HttpClient::default()).await;
        // Other answers are about a login only where there is something to log in with.
        let is_clear = refused.is_some_and(|status| (300..400).contains(&status) || matches!(status, 401 | 403));
        let has = |all: &[Document]| all.iter().any(|document| document.found().is_some());
        // A wrong path is not a login, even next to an authorization server.
        let is_documented = has(&found.resource) || refused == Some(200) && has(&found.server_metadata);
        if !is_clear && record.is_none() && !is_documented {
            return None;
        }
        let used = if is_open { Some(200) } else { status };
        let token = record.as_ref().map(|record| facts(record, used));
        let now = i64::try_from(Context::unix_ms() / 1000).unwrap_or(i64::MAX);
        let first = found.first.status;
        let faults = diagnose_login(&LoginCase { found, refused, token, now });
        Some(Self { url: without_password(url).into_owned(), faults, is_logged_in: record.is_some(), status: first })
    }

    /// For people.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("\nthe login at `{}`\n", escape_terminal_line(&self.url));
        for (step, outcome) in self.steps() {
            let note = match (&outcome, step) {
                (StepOutcome::Good | StepOutcome::NotReached, LoginStep::Challenge) => {
                    self.status.map(|status| format!("HTTP {status}")).unwrap_or_default()
                }
                (StepOutcome::NotReached, LoginStep::Authorization) if self.first_error().is_none() => {
                    format!("log in to try it: `mcprove login {}`", self.url)
                }
                _ => String::new(),
            };
            let line = format!("  {:8} {:30} {note}", outcome.word(), step.name());
            let _ = writeln!(text, "{}", escape_terminal_line(line.trim_end()));
            for fault in self.faults.iter().filter(|fault| fault.step == step) {
                let _ = writeln!(text, "           {} [{}]", escape_terminal_line(&fault.what), fault.id);
                let _ = writeln!(text, "           fix: {}", escape_terminal_line(&fault.help));
            }
        }
        text
    }

    /// For programs.
    pub(crate) fn json(&self) -> Value {
        let steps = self.steps().into_iter().map(|(step, outcome)| {
            let faults = self.faults.iter().filter(|fault| fault.step == step);
            let faults = faults.map(|fault| {
                json!({"id": fault.id, "severity": fault.severity.word(), "message": fault.what, "fix": fault.help})
            });
            let outcome = match outcome {
                StepOutcome::Good => "ok",
                StepOutcome::Warned => "warning",
                StepOutcome::Failed => "failed",
                StepOutcome::NotReached => "not-reached",
            };
            json!({"step": step.name(), "outcome": outcome, "faults": faults.collect::<Vec<_>>()})
        });
        json!({"logged_in": self.is_logged_in, "steps": steps.collect::<Vec<_>>()})
    }

    fn first_error(&self) -> Option<LoginStep> {
        let errors = self.faults.iter().filter(|fault| fault.severity >= Severity::Error);
        errors.map(|fault| fault.step).min()
    }

    fn steps(&self) -> Vec<(LoginStep, StepOutcome)> {
        let first_error = self.first_error();
        let of = |step: LoginStep| {
            let worst = self.faults.iter().filter(|fault| fault.step == step).map(|fault| fault.severity).max();
            let is_tried = self.is_logged_in || step <= LoginStep::ServerMetadata;
            match worst {
                Some(severity) if severity >= Severity::Error => StepOutcome::Failed,
                Some(_) => StepOutcome::Warned,
                // The answer is about something else than a login.
                None if step == LoginStep::Challenge
                    && self.status.is_some_and(|status| status >= 400 && status != 401) =>
                {
                    StepOutcome::NotReached
                }
                None if !is_tried || first_error.is_some_and(|error| error < step) => StepOutcome::NotReached,
                None => StepOutcome::Good,
            }
        };
        LoginStep::ALL.into_iter().map(|step| (step, of(step))).collect()
    }
}

fn facts(record: &LoginRecord, status: Option<u16>) -> TokenFacts {
    let decoded = decode_claims(&record.access_token);
    TokenFacts {
        key: decoded.as_ref().and_then(|(header, _)| header["kid"].as_str().map(str::to_owned)),
        claims: decoded.map(|(_, claims)| claims),
        asked: record.asked.clone(),
        granted: record.granted.clone(),
        status,
    }
}
