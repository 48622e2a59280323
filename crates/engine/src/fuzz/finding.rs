//! A failure as a finding.

use mcprove_judge::fuzz::FuzzVerdict;
use mcprove_model::{Finding, Severity, shorten};
use serde_json::Value;

use super::failure::{Failure, Reproduction};

/// The longest command that is worth pasting.
const LONGEST_COMMAND: usize = 2_000;

/// Maximum length of arguments shown.
const SHOWN: usize = 600;

/// Lines of a server's standard error that are shown.
const STDERR_LINES: usize = 12;

/// The finding about a failure; `again` is the command that reproduces it, `call` the beginning of one that
/// makes a single call.
pub(crate) fn finding(failure: &Failure, again: &str, call: Option<&str>) -> Finding {
    let severity = match (&failure.verdict, failure.fails) {
        (_, true) => Severity::Error,
        (FuzzVerdict::Slow, false) => Severity::Warning,
        (_, false) => Severity::Note,
    };
    let mut finding = Finding::new(rule(&failure.verdict), severity, message(failure));
    finding.actual = Some(evidence(failure));
    let again = call.and_then(|call| single_call(failure, call)).unwrap_or_else(|| again.to_owned());
    finding.help(format!("again: {again}"))
}

/// The command that makes the one call that fails; `None` where it takes more than that.
fn single_call(failure: &Failure, call: &str) -> Option<String> {
    let Reproduction::Alone { arguments: Value::Object(arguments) } = &failure.reproduction else { return None };
    let is_plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    let mut line = format!("{call} {}", quoted(&failure.tool));
    for (name, value) in arguments {
        if name.is_empty() || name.starts_with('-') || !is_plain(name) {
            return None;
        }
        line.push(' ');
        line.push_str(&quoted(&format!("{name}:={value}")));
    }
    (line.len() <= LONGEST_COMMAND && !line.contains(char::is_control)).then_some(line)
}

/// A word as a shell reads it.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/');
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The end of a server's standard error: from the last traceback or panic on, or its last lines.
fn stderr_lines(stderr: &str) -> String {
    let lines: Vec<&str> = stderr.trim_end().lines().collect();
    let is_begin = |line: &&str| line.starts_with("Traceback (") || line.contains("panicked at");
    let begin = lines.iter().rposition(is_begin).unwrap_or(0).max(lines.len().saturating_sub(STDERR_LINES));
    let shown: Vec<_> = lines[begin..].iter().map(|line| format!("stderr: {}", shorten(line, SHOWN))).collect();
    shown.join("\n")
}

fn rule(verdict: &FuzzVerdict) -> &'static str {
    verdict.kind()
}

/// The failure in one line.
pub(crate) fn message(failure: &Failure) -> String {
    let what = match &failure.verdict {
        FuzzVerdict::Handled => "handled".to_owned(),
        FuzzVerdict::Crash(evidence) => format!("the call crashed: {}", evidence.message),
        FuzzVerdict::Hang => "the call was not answered, and the server answers nothing any more".to_owned(),
        FuzzVerdict::Slow if failure.fails => {
            "no call was answered in time, also with valid input, but the server still answers a ping".to_owned()
        }
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

/// The reproduction, one line per step, and the server's last stderr lines.
fn evidence(failure: &Failure) -> String {
    let stderr = stderr_lines(&failure.stderr);
    if stderr.is_empty() { reproduction(failure) } else { format!("{}\n{stderr}", reproduction(failure)) }
}

fn reproduction(failure: &Failure) -> String {
    let shown = |arguments: &Value| match arguments {
        Value::Null if failure.is_left_out => "none".to_owned(),
        other => shorten(&other.to_string(), SHOWN).into_owned(),
    };
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
