//! Evidence of a case for the reader: its calls, the server's stderr, the exit status of the process, the times.

use std::fmt::Write as _;

use mcprove_model::{AgentRecord, CallRecord, CallRole, CaseFinished, Connected, Timings, cause_line, shorten};

use crate::style::{Role, Style};
use crate::usage::Used;
use crate::{duration, escape, json_view};

/// Columns before a request or a reply.
const MESSAGE_MARGIN: usize = 11;

/// Characters of a request or reply that are shown, lines of stderr, and calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Characters of a request or a reply.
    pub(crate) message: usize,
    /// Lines of standard error, counted from the end.
    pub(crate) stderr: usize,
    /// Calls, half of them from the beginning and half from the end.
    pub(crate) calls: usize,
}

/// Display options for evidence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'v> {
    /// Limits on the amount of evidence shown.
    pub(crate) bounds: Bounds,
    /// Text to look for in a message that is cut.
    pub(crate) focus: &'v [String],
    /// Colours and width.
    pub(crate) style: &'v Style,
}

/// The calls that explain a failure: the act and what was verified after it, or, when the case never came that far, the
/// last call that was made. All calls of an agent are relevant.
pub(crate) fn relevant_calls(calls: &[CallRecord]) -> Vec<&CallRecord> {
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

/// Calls with their requests and replies, each a text of its own. Of very many, the first and the last are shown.
pub(crate) fn calls(calls: &[&CallRecord], view: &View<'_>) -> Vec<String> {
    let text = |record: &&CallRecord| {
        let mut text = String::new();
        call(&mut text, record, view);
        text
    };
    let most = view.bounds.calls;
    if calls.len() <= most {
        return calls.iter().map(text).collect();
    }
    let (first, last) = (&calls[..most / 2], &calls[calls.len() - most / 2..]);
    let left_out = format!("… {} more calls\n", calls.len() - first.len() - last.len());
    first.iter().map(text).chain([left_out]).chain(last.iter().map(text)).collect()
}

/// A call with its request and its reply.
pub(crate) fn call(out: &mut String, call: &CallRecord, view: &View<'_>) {
    let style = view.style;
    let role = match call.role {
        CallRole::Setup => "setup: ",
        CallRole::Act | CallRole::Agent => "",
        CallRole::Probe => "probe: ",
        CallRole::Verify => "verify: ",
        CallRole::Teardown => "teardown: ",
    };
    let mut title = match &call.server {
        Some(server) => format!("{role}{}: {}", escape::name(server), escape::name(&call.method)),
        None => format!("{role}{}", escape::name(&call.method)),
    };
    if let Some(subject) = &call.subject {
        let _ = write!(title, " {}", escape::name(subject));
    }
    if let Some(fault) = &call.fault {
        let _ = write!(title, ", answered by the fault {}", escape::line(fault));
    }
    let elapsed = style.paint(Role::Faint, &format!("({})", duration::human(call.elapsed_us)));
    let _ = writeln!(out, "{} {elapsed}", style.paint(Role::Strong, &title));
    message(out, "request", &call.request, view);
    match &call.reply {
        Some(reply) => message(out, "reply", reply, view),
        None => {
            let _ = writeln!(out, "  {:<8} none came", "reply");
        }
    }
}

fn message(out: &mut String, label: &str, text: &str, view: &View<'_>) {
    let style = view.style;
    let label = style.paint(Role::Faint, &format!("{label:<8}"));
    let narrow = Style { width: style.width.map(|width| width.saturating_sub(MESSAGE_MARGIN)), ..*style };
    let gutter = style.paint(Role::Faint, "│");
    for (number, piece) in json_view::lines(text, view.bounds.message, view.focus, &narrow).into_iter().enumerate() {
        let _ = match number {
            0 => writeln!(out, "  {label} {piece}"),
            // A gutter of our own, because no line may begin with what a server sent.
            _ => writeln!(out, "         {gutter} {piece}"),
        };
    }
}

/// The prompt of an agent, its answer, its stop reason and its usage.
pub(crate) fn agent(out: &mut String, agent: &AgentRecord, view: &View<'_>) {
    let style = view.style;
    let replayed = if agent.replayed { ", replayed" } else { "" };
    let turns = if agent.turns == 1 { "1 turn".to_owned() } else { format!("{} turns", agent.turns) };
    let title = format!("agent ({}{replayed})", escape::line(&agent.model));
    let used = Used::by(agent).text().map_or_else(String::new, |used| format!(", {used}"));
    let circumstances = format!("{turns}, {}{used}", agent.stop_reason.name());
    let _ = writeln!(out, "{} {}", style.paint(Role::Strong, &title), style.paint(Role::Faint, &circumstances));
    for prompt in &agent.prompts {
        message(out, "prompt", prompt, view);
    }
    match &agent.answer {
        Some(answer) => message(out, "answer", answer, view),
        None => {
            let _ = writeln!(out, "  {:<8} none came", "answer");
        }
    }
    if let Some(recovery) = &agent.recovery {
        message(out, "recovery", recovery, view);
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
    let raw: Vec<&str> = finished.stderr.trim_end().lines().collect();
    let hidden = raw.len().saturating_sub(bounds.stderr);
    let mut title = "server stderr".to_owned();
    if hidden > 0 {
        let _ = write!(title, " (first and last of {} lines)", raw.len());
    }
    let _ = writeln!(out, "{}", style.paint(Role::Strong, &title));
    let gutter = style.paint(Role::Faint, "│");
    let mut line = |text: &str| {
        let _ = writeln!(out, "  {gutter} {text}");
    };
    let shown = |text: &str| shorten(&escape::lines(text).next().unwrap_or_default(), bounds.message).into_owned();
    let mut next = 0;
    // Where the end does not have it, the first line and the one that says why are shown as well.
    for at in [(hidden > 0).then_some(0), cause_line(&raw)].into_iter().flatten().filter(|at| *at < hidden) {
        if at >= next {
            gap(&mut line, at - next);
            line(&shown(raw[at]));
            next = at + 1;
        }
    }
    gap(&mut line, hidden.saturating_sub(next));
    for text in &raw[hidden..] {
        line(&shown(text));
    }
    if let Some(end) = end {
        let _ = writeln!(out, "{}", style.paint(Role::Faint, &end));
    }
}

fn gap(line: &mut impl FnMut(&str), count: usize) {
    match count {
        0 => {}
        1 => line("… 1 line"),
        count => line(&format!("… {count} lines")),
    }
}

/// Name and version of the server, and the negotiated protocol revision.
pub(crate) fn session(out: &mut String, session: &Connected, style: &Style) {
    let server = format!("{} {}", escape::name(&session.server_name), escape::name(&session.server_version));
    let (transport, protocol) = (escape::name(&session.transport), escape::name(&session.protocol));
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
    fn of_much_stderr_the_first_the_telling_and_the_last_lines_are_shown() {
        let mut lines = vec!["starting up".to_owned(), "loading".to_owned(), "Error: no key".to_owned()];
        lines.extend((0..20).map(|number| format!("    at frame {number}")));
        let finished = CaseFinished { stderr: lines.join("\n"), ..finished() };
        let mut out = String::new();
        server_end(&mut out, &finished, Bounds { message: 100, stderr: 3, calls: 10 }, &Style::default());
        let expected = "server stderr (first and last of 23 lines)\n  │ starting up\n  │ … 1 line\n  │ Error: no key\n  │ … \
                        17 lines\n  │     at frame 17\n  │     at frame 18\n  │     at frame 19\n";
        assert_eq!(out, expected);
    }

    fn finished() -> CaseFinished {
        CaseFinished::new(0, mcprove_model::Verdict::Error, Vec::new())
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
            relevant_calls(calls).into_iter().filter_map(|call| call.subject.clone()).collect()
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
