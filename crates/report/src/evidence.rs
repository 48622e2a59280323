//! What a person needs to understand a case: the calls it made, the server's stderr, how the process ended, the times.

use std::borrow::Cow;
use std::fmt::Write as _;

use mcprove_model::{AgentRecord, CallRecord, CallRole, CaseFinished, Connected, Timings, shorten};

use crate::style::{Role, Style};
use crate::usage::Used;
use crate::wrap::wrapped;
use crate::{duration, harmless};

/// Columns before a request or a reply.
const MESSAGE_MARGIN: usize = 11;

/// Characters of a request or reply that are shown, and lines of stderr.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Characters of a request or a reply.
    pub(crate) message: usize,
    /// Lines of standard error, counted from the end.
    pub(crate) stderr: usize,
}

/// The calls that explain a failure: the act and what was verified after it, or, when the case never came that far, the
/// last call that was made. Of an agent, every call tells.
pub(crate) fn telling_calls(calls: &[CallRecord]) -> Vec<&CallRecord> {
    if calls.iter().any(|call| call.role == CallRole::Agent) {
        return calls.iter().filter(|call| matches!(call.role, CallRole::Agent | CallRole::Verify)).collect();
    }
    match calls.iter().rposition(|call| call.role == CallRole::Act) {
        Some(act) => {
            let after = calls[act + 1..].iter().filter(|call| call.role == CallRole::Verify);
            std::iter::once(&calls[act]).chain(after).collect()
        }
        None => calls.last().into_iter().collect(),
    }
}

/// A call with its request and its reply.
pub(crate) fn call(out: &mut String, call: &CallRecord, bounds: Bounds, style: &Style) {
    let role = match call.role {
        CallRole::Setup => "setup: ",
        CallRole::Act | CallRole::Agent => "",
        CallRole::Probe => "probe: ",
        CallRole::Verify => "verify: ",
        CallRole::Teardown => "teardown: ",
    };
    let mut title = match &call.server {
        Some(server) => format!("{role}{}: {}", harmless::name(server), harmless::name(&call.method)),
        None => format!("{role}{}", harmless::name(&call.method)),
    };
    if let Some(subject) = &call.subject {
        let _ = write!(title, " {}", harmless::name(subject));
    }
    if let Some(fault) = &call.fault {
        let _ = write!(title, ", answered by the fault {}", harmless::line(fault));
    }
    let elapsed = style.paint(Role::Faint, &format!("({})", duration::human(call.elapsed_us)));
    let _ = writeln!(out, "{} {elapsed}", style.paint(Role::Strong, &title));
    message(out, "request", &call.request, bounds, style);
    match &call.reply {
        Some(reply) => message(out, "reply", reply, bounds, style),
        None => {
            let _ = writeln!(out, "  {:<8} none came", "reply");
        }
    }
}

fn message(out: &mut String, label: &str, text: &str, bounds: Bounds, style: &Style) {
    let spaced = spaced_json(text);
    let label = style.paint(Role::Faint, &format!("{label:<8}"));
    let line = harmless::line_within(&spaced, bounds.message);
    let pieces = wrapped(&line, style.width.map(|width| width.saturating_sub(MESSAGE_MARGIN)));
    let gutter = style.paint(Role::Faint, "│");
    for (number, piece) in pieces.into_iter().enumerate() {
        let _ = match number {
            0 => writeln!(out, "  {label} {piece}"),
            // A gutter of our own, because no line may begin with what a server sent.
            _ => writeln!(out, "         {gutter} {piece}"),
        };
    }
}

/// JSON with a space after each comma and colon, so that it can be read and broken into lines. It may be cut off anywhere,
/// so it is not parsed; text that is not an object or a list stays as it is.
fn spaced_json(text: &str) -> Cow<'_, str> {
    if !text.starts_with(['{', '[']) {
        return Cow::Borrowed(text);
    }
    let mut spaced = String::with_capacity(text.len() + text.len() / 8);
    let mut in_string = false;
    let mut escaped = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        spaced.push(c);
        if in_string {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else if c == '"' {
            in_string = true;
        } else if matches!(c, ',' | ':') && chars.peek().is_some_and(|next| !next.is_whitespace()) {
            spaced.push(' ');
        }
    }
    Cow::Owned(spaced)
}

/// What an agent was asked, what it answered, why it ended, and what it used.
pub(crate) fn agent(out: &mut String, agent: &AgentRecord, bounds: Bounds, style: &Style) {
    let replayed = if agent.replayed { ", replayed" } else { "" };
    let turns = if agent.turns == 1 { "1 turn".to_owned() } else { format!("{} turns", agent.turns) };
    let title = format!("agent ({}{replayed})", harmless::line(&agent.model));
    let used = Used::by(agent).text().map_or_else(String::new, |used| format!(", {used}"));
    let circumstances = format!("{turns}, {}{used}", agent.stop_reason.name());
    let _ = writeln!(out, "{} {}", style.paint(Role::Strong, &title), style.paint(Role::Faint, &circumstances));
    for prompt in &agent.prompts {
        message(out, "prompt", prompt, bounds, style);
    }
    match &agent.answer {
        Some(answer) => message(out, "answer", answer, bounds, style),
        None => {
            let _ = writeln!(out, "  {:<8} none came", "answer");
        }
    }
    if let Some(recovery) = &agent.recovery {
        message(out, "recovery", recovery, bounds, style);
    }
}

/// The tail of the server's standard error behind a gutter, and how the process ended.
pub(crate) fn server_end(out: &mut String, finished: &CaseFinished, bounds: Bounds, style: &Style) {
    let end = finished.process_end.map(|end| format!("the server {end}"));
    if finished.stderr.trim().is_empty() {
        if let Some(end) = end {
            let _ = writeln!(out, "{}", style.paint(Role::Faint, &format!("{end} and wrote nothing to stderr")));
        }
        return;
    }
    let lines: Vec<_> = harmless::lines(finished.stderr.trim_end()).collect();
    let hidden = lines.len().saturating_sub(bounds.stderr);
    let mut title = "server stderr".to_owned();
    if hidden > 0 {
        let _ = write!(title, " (last {} of {} lines)", bounds.stderr, lines.len());
    }
    let _ = writeln!(out, "{}", style.paint(Role::Strong, &title));
    let gutter = style.paint(Role::Faint, "│");
    for line in &lines[hidden..] {
        let _ = writeln!(out, "  {gutter} {}", shorten(line, bounds.message));
    }
    if let Some(end) = end {
        let _ = writeln!(out, "{}", style.paint(Role::Faint, &end));
    }
}

/// Who answered, and in which revision.
pub(crate) fn session(out: &mut String, session: &Connected, style: &Style) {
    let server = format!("{} {}", harmless::name(&session.server_name), harmless::name(&session.server_version));
    let (transport, protocol) = (harmless::name(&session.transport), harmless::name(&session.protocol));
    let line = format!("server {server} over {transport}, protocol {protocol}");
    let _ = writeln!(out, "{}", style.paint(Role::Faint, &line));
}

/// Where the time went.
pub(crate) fn times(out: &mut String, timings: &Timings, style: &Style) {
    let parts: Vec<_> = timings
        .parts()
        .into_iter()
        .filter(|(_, us)| *us > 0)
        .map(|(name, us)| format!("{name} {}", duration::human(us)))
        .collect();
    if !parts.is_empty() {
        let _ = writeln!(out, "{}", style.paint(Role::Faint, &format!("time: {}", parts.join(", "))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_spaced_outside_its_strings() {
        assert_eq!(spaced_json(r#"{"a":1,"b":"x,\":y","c":[1, 2]}"#), r#"{"a": 1, "b": "x,\":y", "c": [1, 2]}"#);
        assert_eq!(spaced_json(r#"{"a":"cut"#), r#"{"a": "cut"#);
        assert_eq!(spaced_json("a:b,c"), "a:b,c");
    }

    #[test]
    fn a_case_that_failed_in_its_setup_shows_that_step() {
        let call = |role, subject: &str| CallRecord {
            role,
            method: "tools/call".to_owned(),
            subject: Some(subject.to_owned()),
            server: None,
            fault: None,
            request: String::new(),
            reply: None,
            elapsed_us: 0,
        };
        let told = |calls: &[CallRecord]| -> Vec<String> {
            telling_calls(calls).into_iter().filter_map(|call| call.subject.clone()).collect()
        };
        assert_eq!(told(&[call(CallRole::Setup, "a"), call(CallRole::Setup, "b")]), ["b"]);
        assert_eq!(
            told(&[
                call(CallRole::Setup, "a"),
                call(CallRole::Act, "b"),
                call(CallRole::Verify, "c"),
                call(CallRole::Teardown, "d")
            ]),
            ["b", "c"]
        );
        assert!(told(&[]).is_empty());
    }
}
