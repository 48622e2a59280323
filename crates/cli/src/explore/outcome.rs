//! The result of a request, for people and programs.

use std::fmt::Write as _;
use std::time::Duration;

use mcprove_model::{Exchange, ExitStatus, Notification, Outcome};
use mcprove_report::{escape_terminal_line, to_safe_json};
use mcprove_wire::ServerRequest;
use serde_json::{Value, json};

use super::request_options::RequestOptions;
use crate::context::Context;
use crate::failure::Failure;
use crate::stdout::print;

/// Facts about a request that has ended.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) server: String,
    pub(crate) secrets: Vec<String>,
    pub(crate) params: Value,
    pub(crate) exchange: Exchange,
    pub(crate) notifications: Vec<Notification>,
    pub(crate) server_requests: Vec<ServerRequest>,
    /// From nothing to the end of the handshake.
    pub(crate) opened: Duration,
    /// Time to list what was needed before the request.
    pub(crate) listed: Option<Duration>,
    /// Problems of the reply, such as structured content that violates its schema.
    pub(crate) problems: Vec<String>,
    /// The end of the server's standard error.
    pub(crate) stderr: String,
}

/// The parts of the output that differ from command to command.
pub(crate) struct Shown {
    /// The result as text.
    pub(crate) text: String,
    /// The command that runs the saved test.
    pub(crate) saved: Option<String>,
}

/// Prints the end of a request; its exit status.
pub(crate) fn tell(
    facts: &Facts,
    shown: &Shown,
    request_options: &RequestOptions,
    context: &Context,
) -> Result<ExitStatus, Failure> {
    let redactor = crate::logins::redactor(facts.secrets.iter().map(String::as_str));
    if request_options.json {
        print(&redactor.text(&to_safe_json(&as_json(facts, shown))))?;
    } else if request_options.raw {
        let reply = facts.exchange.reply.as_deref().unwrap_or_default();
        print(&redactor.text(&format!("{}\n", String::from_utf8_lossy(reply))))?;
    } else {
        print(&redactor.text(&shown.text))?;
    }
    let mut told = String::new();
    if let Some(failure) = failure(&facts.exchange.outcome) {
        let _ = writeln!(told, "error: {}", escape_terminal_line(&failure));
        let lines: Vec<&str> = facts.stderr.lines().collect();
        for line in lines.iter().rev().take(5).rev() {
            let _ = writeln!(told, "  its standard error: {}", escape_terminal_line(line));
        }
    } else if is_tool_error(&facts.exchange.outcome) {
        told.push_str("the tool reports an error (`isError`)\n");
    }
    for problem in &facts.problems {
        let _ = writeln!(told, "warning: {}", escape_terminal_line(problem));
    }
    if request_options.timing {
        told.push_str(&timing(facts));
    }
    if let Some(command) = &shown.saved {
        let _ = writeln!(told, "saved; run it with: {command}");
    }
    if !request_options.json {
        context.write_stderr(&redactor.text(&told));
    }
    Ok(status(facts))
}

fn status(facts: &Facts) -> ExitStatus {
    match &facts.exchange.outcome {
        Outcome::Cancelled => ExitStatus::Interrupted,
        outcome if failure(outcome).is_some() || is_tool_error(outcome) || !facts.problems.is_empty() => {
            ExitStatus::Wrong
        }
        _ => ExitStatus::Good,
    }
}

fn is_tool_error(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Result(result) if result.get("isError") == Some(&Value::Bool(true)))
}

/// Why a request has no result, in one line.
fn failure(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Result(_) => None,
        Outcome::Error(error) => {
            let data = error.data.as_ref().map(|data| format!(" ({data})")).unwrap_or_default();
            Some(format!("the server answers with error {}: {}{data}", error.code, error.message))
        }
        Outcome::Malformed(malformed) => Some(malformed.fault.clone()),
        Outcome::Refused(refused) => Some(refused.what.clone()),
        Outcome::TimedOut { after_ms } => Some(format!("no answer after {after_ms} ms")),
        Outcome::Closed { what, .. } => Some(what.clone()),
        Outcome::Cancelled => Some("cancelled".to_owned()),
    }
}

fn timing(facts: &Facts) -> String {
    let ms = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1_000.0);
    let call = Duration::from_micros(facts.exchange.elapsed_us);
    let listed = facts.listed.map(|time| format!("listing {}, ", ms(time))).unwrap_or_default();
    format!("timing: start and handshake {}, {listed}{} {}\n", ms(facts.opened), facts.exchange.method, ms(call))
}

fn as_json(facts: &Facts, shown: &Shown) -> Value {
    let Exchange { method, outcome, elapsed_us, .. } = &facts.exchange;
    let (kind, result, error) = match outcome {
        Outcome::Result(result) => ("result", result.clone(), Value::Null),
        Outcome::Error(error) => ("error", Value::Null, json!(error)),
        Outcome::Malformed(_) => ("malformed", Value::Null, Value::Null),
        Outcome::Refused(_) => ("refused", Value::Null, Value::Null),
        Outcome::TimedOut { .. } => ("timed-out", Value::Null, Value::Null),
        Outcome::Closed { .. } => ("closed", Value::Null, Value::Null),
        Outcome::Cancelled => ("cancelled", Value::Null, Value::Null),
    };
    let notifications: Vec<Value> = facts
        .notifications
        .iter()
        .map(|seen| json!({"at_ms": seen.at_us / 1_000, "method": seen.method, "params": seen.params}))
        .collect();
    let asked: Vec<Value> = facts
        .server_requests
        .iter()
        .map(|asked| json!({"method": asked.method, "params": asked.params, "answered": asked.answered}))
        .collect();
    json!({
        "server": facts.server,
        "method": method,
        "params": facts.params,
        "outcome": kind,
        "result": result,
        "error": error,
        "message": failure(outcome),
        "problems": facts.problems,
        "notifications": notifications,
        "server_requests": asked,
        "opened_ms": millis(facts.opened),
        "elapsed_ms": elapsed_us / 1_000,
        "saved": shown.saved,
    })
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
