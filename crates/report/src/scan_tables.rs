//! Scans of a server's tools as tables: audit and the error contract.

use std::fmt::Write as _;

use mcprove_model::{
    CallRole, CaseReport, FailureCause, Finding, OFFER_TAG, Report, ScanCounts, Severity, ToolVerdict, Verdict, some_of,
};

use crate::evidence::{self, View};
use crate::explanation::Depth;
use crate::style::Role;
use crate::{Style, Verbosity, duration, escape};

/// Maximum number of tools named per finding; of a server with a thousand the rest is counted.
const NAMES: usize = 20;

/// The verdict about an audited tool.
pub fn tool_verdict(case: &CaseReport) -> ToolVerdict {
    let Some(finished) = &case.finished else { return ToolVerdict::Skipped };
    if matches!(finished.verdict, Verdict::Skipped { .. }) {
        return ToolVerdict::Skipped;
    }
    // A server that did not start says nothing about a tool; the case is an error, not a verdict.
    if finished.findings.iter().any(|finding| finding.rule == "no-session") {
        return ToolVerdict::Skipped;
    }
    let carried = finished.findings.iter().find_map(|finding| ToolVerdict::of_rule(&finding.rule));
    match carried {
        Some(verdict) => verdict,
        None if finished.verdict == Verdict::Error => ToolVerdict::Crashed,
        None => ToolVerdict::Works,
    }
}

/// The word for a verdict in the JSON that other tools read.
pub fn known_word(verdict: ToolVerdict) -> &'static str {
    match verdict {
        ToolVerdict::Works => "healthy",
        ToolVerdict::Fails(_) | ToolVerdict::ErrorAsSuccess => "failed",
        ToolVerdict::Crashed => "crash",
        ToolVerdict::TimedOut => "timeout",
        ToolVerdict::Skipped => "skipped",
    }
}

fn role(verdict: ToolVerdict) -> Role {
    match verdict {
        ToolVerdict::Works => Role::Good,
        ToolVerdict::ErrorAsSuccess | ToolVerdict::Crashed | ToolVerdict::TimedOut => Role::Bad,
        ToolVerdict::Fails(_) | ToolVerdict::Skipped => Role::Skipped,
    }
}

/// True for a case about a tool, false for one about a resource, a template or a prompt.
pub fn is_tool(case: &CaseReport) -> bool {
    !case.started.tags.iter().any(|tag| tag == OFFER_TAG)
}

/// The verdicts about tools, counted.
pub fn scan_counts(report: &Report) -> ScanCounts {
    report.cases.iter().filter(|case| is_tool(case)).map(tool_verdict).collect()
}

/// The share of tools that work among those about which something was proven, in percent; `None` when nothing was.
pub fn score(report: &Report) -> Option<usize> {
    scan_counts(report).score()
}

/// Facts about a server for an audit, in addition to the replies of its tools.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuditFacts {
    /// Approximate number of tokens that the list of tools takes of every request.
    pub tokens: usize,
    /// Level of detail: with `Verbose`, the requests and replies of every tool.
    pub verbosity: Verbosity,
}

/// The most bytes of the rows of a table: a server can list any number of tools.
const MOST_TABLE: usize = 512 << 10;

/// The result of an audit: the score, a table, and what to fix first.
pub fn audit_table(report: &Report, facts: AuditFacts, style: &Style) -> String {
    let mut text = String::new();
    run_findings(&mut text, report, style);
    let names = report.cases.iter().filter(|case| is_tool(case) || tool_verdict(case) != ToolVerdict::Works);
    let widest = names.map(|case| case.started.name.chars().count()).max().unwrap_or(0).clamp(4, 60);
    let mut left_out = 0;
    for case in &report.cases {
        let verdict = tool_verdict(case);
        if verdict == ToolVerdict::Works && !is_tool(case) && !has_warning(case) {
            continue;
        }
        if text.len() > MOST_TABLE {
            left_out += 1;
            continue;
        }
        let word = style.paint(role(verdict), &format!("{:<16}", verdict.word()));
        let name = escape::line(&case.started.name);
        let Some(finished) = &case.finished else { continue };
        let (elapsed, note) = match &finished.verdict {
            Verdict::Skipped { reason } => (String::new(), escape::line(reason)),
            Verdict::Passed | Verdict::Failed | Verdict::Error => {
                let call = finished.calls.last().map_or(finished.duration_us, |call| call.elapsed_us);
                let note = finished.findings.first().map(|finding| escape::line(&finding.message)).unwrap_or_default();
                (duration::human(call), note)
            }
        };
        let _ = writeln!(text, "{word}  {name:<widest$}  {elapsed:>6}  {}", style.paint(Role::Faint, &note));
        if facts.verbosity == Verbosity::Verbose {
            let view = View { bounds: Depth::FULL.bounds, focus: &[], style };
            for call in &finished.calls {
                evidence::call(&mut text, call, &view);
            }
        }
    }
    if left_out > 0 {
        let _ = writeln!(text, "{left_out} more are not shown; `--report FILE` has all of them");
    }
    text.push('\n');
    let counts = scan_counts(report);
    let role = if counts.score() == Some(100) { Role::Good } else { Role::Bad };
    let _ = writeln!(text, "{}", style.paint(role, &counts.summary()));
    let offers: ScanCounts = report.cases.iter().filter(|case| !is_tool(case)).map(tool_verdict).collect();
    if !offers.line().is_empty() {
        let _ = writeln!(text, "besides tools: {}", offers.line());
    }
    for cause in FailureCause::OUTSIDE {
        // Missing files have a hint of their own.
        let count = counts.of(ToolVerdict::Fails(cause));
        if let (Some(help), true) = (cause.help(), count > 0 && cause != FailureCause::InputNotFound) {
            let tools = if count == 1 { "1 tool".to_owned() } else { format!("{count} tools") };
            let _ = writeln!(text, "hint: {tools}: {}; {help}", cause.sentence());
        }
    }
    let wrong = report.findings.iter().filter(|finding| finding.severity.fails()).count();
    if wrong > 0 {
        let things = if wrong == 1 { "1 thing is".to_owned() } else { format!("{wrong} things are") };
        let _ =
            writeln!(text, "the server itself: {}", style.paint(Role::Bad, &format!("{things} wrong, see the top")));
    }
    if let Some((name, elapsed)) = slowest(report) {
        let _ = writeln!(text, "slowest: {} ({})", escape::line(name), duration::human(elapsed));
    }
    if facts.tokens > 0 {
        let tools = match report.cases.iter().filter(|case| is_tool(case)).count() {
            1 => "the tool takes".to_owned(),
            count => format!("the {count} tools take"),
        };
        let _ = writeln!(text, "catalog: {tools} about {} tokens of every request", facts.tokens);
    }
    to_mend(&mut text, report, style);
    text
}

/// Level of detail of the error contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The result of each probe.
    Results,
    /// Also every request and its answer.
    Requests,
}

/// The error contract: tools by probes, and every request that was not rejected.
pub fn contract_table(report: &Report, probes: &[&str], detail: Detail, style: &Style) -> String {
    let mut text = String::new();
    run_findings(&mut text, report, style);
    let widest = report.cases.iter().map(|case| case.started.name.chars().count()).max().unwrap_or(0).clamp(4, 40);
    let mut head = format!("{:<widest$}", "tool");
    for probe in probes {
        let _ = write!(head, "  {probe:<17}");
    }
    let _ = writeln!(text, "{}", style.paint(Role::Strong, head.trim_end()));
    for case in &report.cases {
        let name = escape::line(&case.started.name);
        let _ = write!(text, "{name:<widest$}");
        let findings = case.finished.as_ref().map(|finished| finished.findings.as_slice()).unwrap_or_default();
        if let Some(Verdict::Skipped { reason }) = case.finished.as_ref().map(|finished| &finished.verdict) {
            let _ = writeln!(text, "  {}", style.paint(Role::Skipped, &format!("skipped: {}", escape::line(reason))));
            continue;
        }
        for (number, probe) in probes.iter().enumerate() {
            let (role, cell) = cell(findings, probe);
            let padded = if number + 1 < probes.len() { format!("{cell:<17}") } else { cell };
            let _ = write!(text, "  {}", style.paint(role, &padded));
        }
        text.push('\n');
    }
    remarks_on_probes(&mut text, report, detail, style);
    to_mend(&mut text, report, style);
    text
}

/// Why something could not be asked and what looks like an accident; in detail, also what was asked and answered.
fn remarks_on_probes(text: &mut String, report: &Report, detail: Detail, style: &Style) {
    let mut remarks: Vec<(&Finding, Vec<&str>)> = Vec::new();
    for case in &report.cases {
        for finding in case.finished.iter().flat_map(|finished| &finished.findings) {
            if finding.severity != Severity::Note
                || !matches!(&*finding.rule, "probe-not-applicable" | "internal-error" | "control-failed")
            {
                continue;
            }
            match remarks.iter_mut().find(|(first, _)| first.message == finding.message) {
                Some((_, tools)) => tools.push(&case.started.name),
                None => remarks.push((finding, vec![&case.started.name])),
            }
        }
    }
    if !remarks.is_empty() {
        text.push('\n');
    }
    for (finding, tools) in remarks {
        let tools = some_of(tools.into_iter().map(|tool| escape::line(tool)), NAMES);
        let word = style.paint(Role::Note, "note:");
        let _ = writeln!(text, "{word} {} (in {})", escape::line(&finding.message), tools);
    }
    if detail == Detail::Results {
        return;
    }
    for case in &report.cases {
        let findings = case.finished.iter().flat_map(|finished| &finished.findings);
        for finding in findings.filter(|finding| finding.is_sub_result() && finding.expected.is_some()) {
            let name = escape::line(&case.started.name);
            let expected = finding.expected.as_deref();
            let _ = writeln!(text, "\n{name}, {}: {}", finding.rule, escape::line(&finding.message));
            let _ = writeln!(text, "  expected: {}", escape::line(expected.unwrap_or_default()));
            exchange(text, finding);
        }
    }
}

/// Result of one probe of one tool.
fn cell(findings: &[Finding], probe: &str) -> (Role, String) {
    let of_probe: Vec<&Finding> = findings.iter().filter(|finding| finding.rule == probe).collect();
    let word = |finding: &Finding| finding.actual.clone().unwrap_or_default();
    if let Some(failed) = of_probe.iter().find(|finding| finding.severity.fails()) {
        return (Role::Bad, escape::line(&word(failed)).into_owned());
    }
    if let Some(unproven) = of_probe.iter().find(|finding| finding.is_not_proven()) {
        return (Role::Skipped, word(unproven));
    }
    match of_probe.first() {
        Some(finding) => (Role::Good, escape::line(&word(finding)).into_owned()),
        None => (Role::Skipped, "n/a".to_owned()),
    }
}

/// True if something is wrong with a case that is more than a note.
fn has_warning(case: &CaseReport) -> bool {
    let findings = case.finished.as_ref().map(|finished| finished.findings.as_slice()).unwrap_or_default();
    findings.iter().any(|finding| finding.severity >= Severity::Warning)
}

fn slowest(report: &Report) -> Option<(&str, u64)> {
    let called = report.cases.iter().filter(|case| is_tool(case)).filter_map(|case| {
        let call = case.finished.as_ref()?.calls.last()?;
        Some((case.started.name.as_str(), call.elapsed_us))
    });
    called.max_by_key(|(_, elapsed)| *elapsed).filter(|_| report.cases.len() > 1)
}

/// The first lines of the actual value, then the exchange.
fn evidence(text: &mut String, finding: &Finding) {
    for line in finding.actual.iter().flat_map(|actual| actual.lines()).take(6) {
        let _ = writeln!(text, "  │ {}", escape::line(line));
    }
    exchange(text, finding);
}

/// The request that shows it, and its reply.
fn exchange(text: &mut String, finding: &Finding) {
    let Some(evidence) = &finding.evidence else { return };
    let reply = evidence.reply.as_deref().unwrap_or("none came");
    for (label, part) in [("request", evidence.request.as_str()), ("reply", reply)] {
        let _ = writeln!(text, "  {label:<8} {}", escape::line(part));
    }
}

fn run_findings(text: &mut String, report: &Report, style: &Style) {
    for finding in &report.findings {
        let word = style.paint(Role::Note, &format!("{}:", finding.severity.word()));
        let _ = writeln!(text, "{word} {}", escape::line(&finding.message));
        evidence(text, finding);
        if let Some(help) = &finding.help {
            let _ = writeln!(text, "  help: {}", escape::line(help));
        }
    }
    if !report.findings.is_empty() {
        text.push('\n');
    }
}

/// The list of what to fix first, grouped by cause: the same message of several tools is one entry.
fn to_mend(text: &mut String, report: &Report, style: &Style) {
    let mut causes: Vec<(&Finding, Vec<&CaseReport>)> = Vec::new();
    for case in &report.cases {
        for finding in case.finished.iter().flat_map(|finished| &finished.findings) {
            if finding.severity < Severity::Warning {
                continue;
            }
            match causes.iter_mut().find(|(first, _)| first.rule == finding.rule && first.message == finding.message) {
                Some((_, cases)) => cases.push(case),
                None => causes.push((finding, vec![case])),
            }
        }
    }
    causes.sort_by_key(|(finding, cases)| (std::cmp::Reverse(finding.severity), std::cmp::Reverse(cases.len())));
    for (finding, cases) in causes {
        let names = some_of(cases.iter().map(|case| escape::line(&case.started.name)), NAMES);
        let role = if finding.severity.fails() { Role::Bad } else { Role::Note };
        let head = format!("{}[{}]", finding.severity.word(), finding.rule);
        let _ = writeln!(text, "\n{}: {}", style.paint(role, &head), escape::line(&finding.message));
        let _ = writeln!(text, "  in {names}");
        evidence(text, finding);
        if let Some(help) = &finding.help {
            let _ = writeln!(text, "  help: {}", escape::line(help));
        }
        // A probe is shown with the request it made.
        let calls = cases.first().and_then(|case| case.finished.as_ref()).map(|finished| &finished.calls);
        if let Some(call) = calls.and_then(|calls| calls.iter().rfind(|call| call.role == CallRole::Act)) {
            let _ = writeln!(text, "  request  {}", escape::line(&call.request));
        }
    }
}
