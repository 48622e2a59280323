//! A failure as a finding.

use mcprove_judge::fuzz::FuzzVerdict;
use mcprove_model::{Finding, Severity, shorten};
use serde_json::Value;

use super::failure::{Failure, Reproduction};

/// How much of arguments is shown.
const SHOWN: usize = 600;

/// What there is to say about a failure; `again` is the command that finds it again.
pub(crate) fn finding(failure: &Failure, again: &str) -> Finding {
    let severity = match (&failure.verdict, failure.fails) {
        (_, true) => Severity::Error,
        (FuzzVerdict::Slow, false) => Severity::Warning,
        (_, false) => Severity::Note,
    };
    let mut finding = Finding::new(rule(&failure.verdict), severity, message(failure));
    finding.actual = Some(evidence(failure));
    finding.help(format!("again: {again}"))
}

fn rule(verdict: &FuzzVerdict) -> &'static str {
    verdict.kind()
}

/// What is wrong, in one line.
pub(crate) fn message(failure: &Failure) -> String {
    let what = match &failure.verdict {
        FuzzVerdict::Handled => "handled".to_owned(),
        FuzzVerdict::Crash(evidence) => format!("the call crashed: {}", evidence.message),
        FuzzVerdict::Hang => "the call was not answered, and the server answers nothing any more".to_owned(),
        FuzzVerdict::Slow => "the call was not answered in time, but the server still answers a ping".to_owned(),
        FuzzVerdict::Protocol(evidence) => format!("the reply breaks the protocol: {}", evidence.message),
        FuzzVerdict::Leak(evidence) => format!("the reply gives away too much: {}", evidence.message),
        FuzzVerdict::AcceptedInvalid => "an input that the tool's own schema refuses was accepted".to_owned(),
        FuzzVerdict::OutputMismatch(evidence) => {
            format!("the result does not match the tool's `outputSchema`: {}", evidence.message)
        }
    };
    if failure.times > 1 { format!("{what} ({} calls)", failure.times) } else { what }
}

/// What it takes, a line each.
fn evidence(failure: &Failure) -> String {
    let found = format!("found by {}: {}", failure.label, shown(&failure.original));
    match &failure.reproduction {
        Reproduction::Alone { arguments } => format!("arguments {}\n{found}", shown(arguments)),
        Reproduction::Repeated { arguments, times } => {
            format!("call {times} with the arguments {}\n{found}", shown(arguments))
        }
        Reproduction::After { before, arguments } => {
            let before: Vec<String> = before.iter().map(|arguments| format!("after {}", shown(arguments))).collect();
            format!("arguments {}\n{}\n{found}", shown(arguments), before.join("\n"))
        }
        Reproduction::Together { arguments, beside, .. } => {
            let beside: Vec<String> = beside.iter().map(|arguments| format!("beside {}", shown(arguments))).collect();
            format!("arguments {}\n{}\n{found}", shown(arguments), beside.join("\n"))
        }
        Reproduction::NotTried => found,
        Reproduction::Gone => format!("{found}\nit did not come again on a fresh server"),
    }
}

fn shown(arguments: &Value) -> String {
    match arguments {
        Value::Null => "none".to_owned(),
        other => shorten(&other.to_string(), SHOWN).into_owned(),
    }
}
