//! A run as a person watches it: each result as it becomes known, failures with their evidence, a summary at the end.
//!
//! Long because one state decides what is printed at each event.
//!
//! No line begins with text that a server chose: text from outside comes after an indent and a word or a gutter
//! of ours, and is escaped on the way.

use std::fmt::Write as _;
use std::io;

use mcprove_model::{
    CaseFinished, CaseStarted, Connected, Event, Finding, Place, Report, RunFinished, ShardOf, Summary, Verdict,
};
use unicode_width::UnicodeWidthStr as _;

use crate::evidence::{self, View};
use crate::explanation::{Depth, explain};
use crate::load::table;
use crate::reliability::{Reliability, worst_message};
use crate::rerun_command::Known;
use crate::snippet::{render_finding, severity_role};
use crate::status::{UNFINISHED, title};
use crate::style::{Role, Style};
use crate::time_breakdown::{Times, is_long};
use crate::usage::Used;
use crate::{duration, escape, rerun_command, trials_tables};

/// Columns that a name is padded to, so that durations are aligned.
pub(crate) const NAME_WIDTH: usize = 60;
/// Prefix of every line about a case.
const INDENT: &str = "      ";
/// From this many cases on, a failure has scrolled away and is listed again.
pub(crate) const SCREENFUL: usize = 20;
/// Failures that are listed at the end.
const LISTED: usize = 100;
/// Failures that are remembered for that list, and for the command that runs them again.
const REMEMBERED: usize = 10_000;
/// Bytes of the cases of a log that are shown.
const MOST_OF_LOG: usize = 8 << 20;
/// Findings about the run itself that are shown; a log may have any number of them.
const MOST_RUN_FINDINGS: usize = 1_000;
/// Why a case was skipped that comes after the first failure.
const NOT_RUN: &str = "not run after the first failure";

/// Level of detail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verbosity {
    /// Failures and the summary.
    Quiet,
    /// Every result, and the evidence of failures.
    #[default]
    Normal,
    /// Also every call, the server's version and where the time went.
    Verbose,
}

/// Display options of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TerminalOptions {
    /// True if to write ANSI colours and signs in place of words.
    pub color: bool,
    /// Level of detail.
    pub verbosity: Verbosity,
    /// Columns of the terminal, when known.
    pub width: Option<usize>,
}

/// Writes a run, event by event.
#[derive(Debug)]
pub struct Terminal<W> {
    out: W,
    style: Style,
    verbosity: Verbosity,
    current: Option<Current>,
    strict: bool,
    planned: usize,
    shard: Option<ShardOf>,
    /// The command line that starts such a run again, when it is known.
    again: Option<String>,
    /// Which command is shown after a failure.
    next_step: NextStep,
    ended: usize,
    /// Cases that were skipped because the run was stopped.
    interrupted: usize,
    /// True if what was written last is an empty line (or nothing at all).
    after_gap: bool,
    summary: Summary,
    failed: Vec<FailedCase>,
    /// Number of failures, of which the first are remembered.
    failures: usize,
    /// Bytes of cases that may still be written, where there is a bound.
    room: Option<usize>,
    /// Cases beyond that bound.
    unshown: usize,
    /// Findings about the run itself that are worth showing.
    run_findings: usize,
    /// Cases that did not run after the first failure.
    unrun: usize,
    /// Results of the trials of each case; `None` if each has only one.
    reliability: Option<Reliability>,
    used: Used,
    times: Times,
}

/// Which command is shown after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextStep {
    /// One that runs the failed case of this run again.
    OfRun,
    /// One that runs the suite that a log names; a log may come from anywhere, so nothing else of it is repeated.
    OfLog,
    /// None, because the cases were recorded.
    None,
}

/// A case that did not pass, for the list at the end.
#[derive(Debug)]
struct FailedCase {
    started: CaseStarted,
    reason: String,
}

#[derive(Debug)]
struct Current {
    started: CaseStarted,
    sessions: Vec<Connected>,
}

/// The known facts about a case before its end.
#[derive(Clone, Copy, Debug)]
struct CaseHead<'c> {
    started: &'c CaseStarted,
    sessions: &'c [Connected],
}

impl<W: io::Write> Terminal<W> {
    /// Starts with nothing written.
    pub fn new(out: W, options: TerminalOptions) -> Self {
        Self {
            out,
            style: Style { color: options.color, width: options.width },
            verbosity: options.verbosity,
            current: None,
            strict: false,
            planned: 0,
            shard: None,
            again: None,
            next_step: NextStep::OfRun,
            ended: 0,
            interrupted: 0,
            after_gap: true,
            summary: Summary::default(),
            failed: Vec::new(),
            room: None,
            failures: 0,
            unshown: 0,
            run_findings: 0,
            unrun: 0,
            reliability: Some(Reliability::default()),
            used: Used::default(),
            times: Times::default(),
        }
    }

    /// Says that each case runs once, so that those that passed need not be remembered.
    #[must_use]
    pub fn each_once(mut self) -> Self {
        self.reliability = None;
        self
    }

    /// Leaves out the command that runs a failed case again, for cases that were recorded.
    #[must_use]
    pub fn without_next_step(mut self) -> Self {
        self.next_step = NextStep::None;
        self
    }

    /// Marks what is shown as read from a log. A log may come from anywhere, so no command line is taken from it.
    #[must_use]
    pub fn from_log(mut self) -> Self {
        self.next_step = NextStep::OfLog;
        self
    }

    /// Takes in the next event and writes what it has to say.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        let mut text = String::new();
        match event {
            Event::RunStarted(started) => {
                self.strict |= started.strict;
                self.planned += started.total;
                self.shard.clone_from(&started.shard);
                self.again = rerun_command::command_line(&started.again).filter(|_| self.next_step == NextStep::OfRun);
            }
            Event::Finding { finding } => self.run_finding(&mut text, finding),
            Event::CaseStarted(started) => {
                self.case_unfinished()?;
                self.current = Some(Current { started: started.clone(), sessions: Vec::new() });
            }
            Event::Connected(connected) => {
                if let Some(current) = &mut self.current {
                    current.sessions.push(connected.clone());
                }
            }
            Event::Frame { .. } => {}
            Event::CaseFinished(finished) => {
                if let Some(Current { started, sessions }) = self.current.take() {
                    self.case_finished(&mut text, CaseHead { started: &started, sessions: &sessions }, finished);
                }
            }
            Event::RunFinished(finished) => {
                self.case_unfinished()?;
                self.run_finished(&mut text, Some(finished));
            }
        }
        self.write(&text)
    }

    /// Takes in a whole case, in place of its events.
    pub fn case(&mut self, started: &CaseStarted, sessions: &[Connected], finished: &CaseFinished) -> io::Result<()> {
        let mut text = String::new();
        self.case_finished(&mut text, CaseHead { started, sessions }, finished);
        self.write(&text)
    }

    /// Writes a whole report as if it were happening now.
    pub fn report(&mut self, report: &Report) -> io::Result<()> {
        if let Some(head) = report.head() {
            self.event(&Event::RunStarted(head))?;
        }
        let mut text = String::new();
        for finding in &report.findings {
            self.run_finding(&mut text, finding);
        }
        self.write(&text)?;
        self.room = Some(MOST_OF_LOG);
        for case in &report.cases {
            if let Some(finished) = &case.finished {
                self.case(&case.started, &case.sessions, finished)?;
            } else {
                self.current = Some(Current { started: case.started.clone(), sessions: Vec::new() });
                self.case_unfinished()?;
            }
        }
        self.room = None;
        let mut text = String::new();
        if self.unshown > 0 {
            let _ = writeln!(text, "… {} more cases are not shown; `--html` and `--report` have them\n", self.unshown);
        }
        self.run_finished(&mut text, report.end().as_ref());
        if !report.is_complete() {
            let word = self.style.paint(Role::Bad, "incomplete:");
            let _ = writeln!(text, "{word} these are not all results of the run; what is missing is said above");
        }
        self.write(&text)
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        if let Some(room) = &mut self.room {
            let Some(left) = room.checked_sub(text.len()) else {
                self.unshown += 1;
                return Ok(());
            };
            *room = left;
        }
        self.after_gap = text.ends_with("\n\n");
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    fn run_finding(&mut self, text: &mut String, finding: &Finding) {
        let shown = match self.verbosity {
            Verbosity::Quiet => finding.fails(self.strict),
            Verbosity::Normal => finding.is_prominent(),
            Verbosity::Verbose => true,
        };
        if !shown {
            return;
        }
        self.run_findings += 1;
        match self.run_findings {
            ..=MOST_RUN_FINDINGS => {
                render_finding(text, finding, &self.style);
                text.push('\n');
            }
            count if count == MOST_RUN_FINDINGS + 1 => text.push_str("more findings about the run are not shown\n"),
            _ => {}
        }
    }

    fn case_finished(&mut self, text: &mut String, current: CaseHead<'_>, finished: &CaseFinished) {
        match &finished.verdict {
            Verdict::Passed => self.summary.passed += 1,
            Verdict::Failed => self.summary.failed += 1,
            Verdict::Skipped { reason } => {
                self.summary.skipped += 1;
                self.interrupted += usize::from(reason == "interrupted");
            }
            Verdict::Error => self.summary.errors += 1,
        }
        if finished.load.is_some() {
            self.next_step = NextStep::None; // The cases of a load cannot be run one by one.
        }
        self.remember(current.started, Some(finished));
        self.used.add(finished);
        self.times.add(finished, current.sessions);
        match &finished.verdict {
            Verdict::Passed => {
                if self.verbosity != Verbosity::Quiet {
                    self.result_line(text, current.started, finished);
                    let mut details = self.load_details(finished);
                    self.passing_details(&mut details, current, finished);
                    indent(text, &details);
                }
            }
            // Of a run that was stopped, one line counts the rest; a load has what was measured until then.
            Verdict::Skipped { reason } if reason == "interrupted" => {
                if finished.load.is_some() {
                    self.skip_line(text, current.started, reason);
                    let mut details = self.load_details(finished);
                    self.failing_details(&mut details, current, finished);
                    indent(text, &details);
                }
            }
            Verdict::Skipped { reason } if reason == NOT_RUN => self.unrun += 1,
            Verdict::Skipped { reason } => {
                if self.verbosity != Verbosity::Quiet {
                    self.skip_line(text, current.started, reason);
                }
            }
            Verdict::Failed | Verdict::Error => {
                let reason = worst_message(&finished.findings).to_owned();
                self.remember_failure(current.started.clone(), reason);
                self.result_line(text, current.started, finished);
                let mut details = self.load_details(finished);
                self.failing_details(&mut details, current, finished);
                indent(text, &details);
                text.push('\n');
            }
        }
    }

    /// A case whose end never came: its log breaks off.
    fn case_unfinished(&mut self) -> io::Result<()> {
        let Some(current) = self.current.take() else { return Ok(()) };
        self.summary.unfinished += 1;
        self.remember(&current.started, None);
        let text = format!("{}{}\n{INDENT}{UNFINISHED}\n\n", self.sign(&Verdict::Error), title(&current.started));
        self.remember_failure(current.started, UNFINISHED.to_owned());
        self.write(&text)
    }

    fn remember_failure(&mut self, started: CaseStarted, reason: String) {
        self.failures += 1;
        if self.failed.len() < REMEMBERED {
            self.failed.push(FailedCase { started, reason });
        }
    }

    /// Counts a case that is over; `None` is one that did not end.
    fn remember(&mut self, started: &CaseStarted, finished: Option<&CaseFinished>) {
        if let Some(reliability) = &mut self.reliability {
            reliability.add(self.ended, started, finished);
        }
        self.ended += 1;
    }

    fn result_line(&self, text: &mut String, started: &CaseStarted, finished: &CaseFinished) {
        let name = title(started);
        let room = self.style.width.map_or(NAME_WIDTH, |width| NAME_WIDTH.min(width.saturating_sub(14)));
        let padding = " ".repeat(room.saturating_sub(name.width()));
        let elapsed = format!("{:>6}", duration::human(finished.duration_us));
        let sign = self.sign(&finished.verdict);
        let _ = writeln!(text, "{sign}{name}{padding}  {}", self.style.paint(Role::Faint, &elapsed));
    }

    fn skip_line(&self, text: &mut String, started: &CaseStarted, reason: &str) {
        let sign = self.sign(&Verdict::Skipped { reason: String::new() });
        let reason = if reason.is_empty() { String::new() } else { format!(" ({})", escape::line(reason)) };
        let _ = writeln!(text, "{sign}{}{}", title(started), self.style.paint(Role::Faint, &reason));
    }

    /// The word for a verdict, or its sign where there is colour; always as wide as [`INDENT`] or narrower.
    fn sign(&self, verdict: &Verdict) -> String {
        let (word, sign, role) = match verdict {
            Verdict::Passed => ("PASS", "✓", Role::Good),
            Verdict::Failed => ("FAIL", "✗", Role::Bad),
            Verdict::Skipped { .. } => ("SKIP", "○", Role::Skipped),
            Verdict::Error => ("ERROR", "!", Role::Bad),
        };
        if self.style.color { format!("{} ", self.style.paint(role, sign)) } else { format!("{word:<6}") }
    }

    /// The table of a load.
    fn load_details(&self, finished: &CaseFinished) -> String {
        finished.load.as_deref().map(|load| table(load, &self.style)).unwrap_or_default()
    }

    fn passing_details(&self, text: &mut String, current: CaseHead<'_>, finished: &CaseFinished) {
        let mut sub_results = 0;
        for finding in &finished.findings {
            let always = finding.is_prominent();
            sub_results += usize::from(finding.is_sub_result());
            let has_room = finding.is_sub_result() && sub_results <= SCREENFUL;
            if always || has_room || self.verbosity == Verbosity::Verbose {
                remark(text, finding, &self.style);
            }
        }
        if sub_results > SCREENFUL && self.verbosity != Verbosity::Verbose {
            let _ = writeln!(text, "… and {} more; -v shows all", sub_results - SCREENFUL);
        }
        if self.verbosity == Verbosity::Verbose {
            self.circumstances(text, current, finished);
            let view = View { bounds: Depth::FULL.bounds, focus: &[], style: &self.style };
            if let Some(agent) = &finished.agent {
                evidence::agent(text, agent, &view);
            }
            let calls: Vec<_> = finished.calls.iter().collect();
            text.push_str(&evidence::calls(&calls, &view).concat());
        }
    }

    fn failing_details(&self, text: &mut String, current: CaseHead<'_>, finished: &CaseFinished) {
        let _ = writeln!(text, "{}", self.style.paint(Role::Faint, &escape::line(&current.started.place())));
        if self.verbosity == Verbosity::Verbose {
            self.circumstances(text, current, finished);
        }
        let narrow = Style { width: self.style.width.map(|width| width.saturating_sub(INDENT.len())), ..self.style };
        text.push('\n');
        text.push_str(&explain(finished, self.depth(), &narrow));
    }

    fn circumstances(&self, text: &mut String, current: CaseHead<'_>, finished: &CaseFinished) {
        for session in current.sessions {
            evidence::session(text, session, &self.style);
        }
        evidence::times(text, &finished.timings, &self.style);
    }

    fn depth(&self) -> Depth {
        match self.verbosity {
            Verbosity::Quiet | Verbosity::Normal => Depth::NORMAL,
            Verbosity::Verbose => Depth::FULL,
        }
    }

    fn run_finished(&self, text: &mut String, finished: Option<&RunFinished>) {
        if !self.after_gap {
            text.push('\n');
        }
        self.failures(text);
        if let Some(reliability) = &self.reliability {
            trials_tables::matrix(text, reliability, self.verbosity, &self.style);
        }
        self.counts(text, finished);
        if let Some(used) = self.used.text() {
            let _ = writeln!(text, "{} {used}", self.style.paint(Role::Strong, "models:"));
        }
        if let Some(times) = self.times.text().filter(|_| self.tells_times(finished)) {
            let _ = writeln!(text, "{} {times}", self.style.paint(Role::Strong, "time:"));
        }
        if let Some(reliability) = self.reliability.as_ref().filter(|reliability| reliability.repeated()) {
            trials_tables::trials(text, reliability, &self.style);
        }
        if let Some(hint) = finished.and_then(|finished| finished.hint.as_ref()) {
            let _ = writeln!(text, "{} {}", self.style.paint(Role::Note, "hint:"), escape::line(hint));
        }
        let is_verbose = self.verbosity == Verbosity::Verbose;
        let failed = self.failed.iter().map(|failed| &failed.started);
        let (label, known) = match (self.next_step, &self.again) {
            (NextStep::None, _) => return,
            (NextStep::OfLog, _) => ("next (the suite is named by the log):", Known::Log),
            (NextStep::OfRun, Some(command)) => ("next:", Known::Command(command)),
            (NextStep::OfRun, None) => ("next:", Known::Nothing),
        };
        if let Some(next) = rerun_command::next_step(failed, known, is_verbose) {
            let _ = writeln!(text, "{} {next}", self.style.paint(Role::Note, label));
        }
    }

    /// Each failure with place and cause, one line each; omitted for a single failure, which is still in view.
    fn failures(&self, text: &mut String) {
        if self.failed.len() < 2 && (self.failed.is_empty() || self.ended < SCREENFUL) {
            return;
        }
        let _ = writeln!(text, "failed:");
        for FailedCase { started, reason } in self.failed.iter().take(LISTED) {
            let place = if started.file.is_empty() {
                String::new()
            } else {
                format!(" ({}:{})", escape::name(&started.file), started.line)
            };
            let line = format!("  {}{}", title(started), self.style.paint(Role::Faint, &place));
            let _ = writeln!(text, "{line}: {}", escape::name(reason));
        }
        if self.failures > LISTED {
            let _ = writeln!(text, "  … and {} more", self.failures - LISTED);
        }
        text.push('\n');
    }

    /// True if it is worth a line where the time of the run went.
    fn tells_times(&self, finished: Option<&RunFinished>) -> bool {
        match self.verbosity {
            Verbosity::Quiet => false,
            Verbosity::Normal => finished.is_some_and(|finished| is_long(finished.duration_us)),
            Verbosity::Verbose => true,
        }
    }

    fn counts(&self, text: &mut String, finished: Option<&RunFinished>) {
        let Summary { passed, failed, skipped, errors, unfinished } = self.summary;
        let cases = match self.reliability.as_ref().map_or(self.ended, |reliability| reliability.rows().len()) {
            1 if self.ended == 1 => "1 case".to_owned(),
            1 => format!("{} trials of 1 case", self.ended),
            cases if cases < self.ended => format!("{} trials of {cases} cases", self.ended),
            cases => format!("{cases} cases"),
        };
        let cases = match &self.shard {
            Some(shard) => format!("{cases} (shard {} of {})", shard.number, shard.of),
            None => cases,
        };
        let mut parts =
            vec![self.style.paint(if passed > 0 { Role::Good } else { Role::Plain }, &format!("{passed} passed"))];
        if failed > 0 {
            parts.push(self.style.paint(Role::Bad, &format!("{failed} failed")));
        }
        if errors > 0 {
            parts.push(self.style.paint(Role::Bad, &format!("{errors} could not run")));
        }
        if unfinished > 0 {
            parts.push(self.style.paint(Role::Bad, &format!("{unfinished} did not end")));
        }
        if skipped > 0 {
            parts.push(self.style.paint(Role::Skipped, &format!("{skipped} skipped")));
        }
        let elapsed = finished.map_or_else(String::new, |end| format!(" in {}", duration::human(end.duration_us)));
        let _ = writeln!(text, "{}: {}{elapsed}", self.style.paint(Role::Strong, &cases), parts.join(", "));
        if self.unrun > 0 {
            let _ = writeln!(
                text,
                "{}: {}",
                NOT_RUN,
                if self.unrun == 1 { "1 case".to_owned() } else { format!("{} cases", self.unrun) }
            );
        }
        if finished.is_some_and(|end| end.interrupted) {
            let word = self.style.paint(Role::Bad, "interrupted:");
            let unrun = self.planned.saturating_sub(self.ended - unfinished) + self.interrupted;
            let _ = match unrun {
                0 => writeln!(text, "{word} the run was stopped before its end"),
                left => writeln!(text, "{word} {left} of {} cases were not run to their end", self.planned),
            };
        }
    }
}

/// A finding in one line, with where it is.
fn remark(text: &mut String, finding: &Finding, style: &Style) {
    let word = if finding.is_sub_result() {
        format!("{}[{}]:", finding.severity.word(), escape::line(&finding.rule))
    } else {
        format!("{}:", finding.severity.word())
    };
    let word = style.paint(severity_role(finding.severity), &word);
    let place = match &finding.place {
        Some(Place::Text(place)) => format!(" ({}:{})", escape::line(&place.file), place.line),
        Some(Place::Wire(place)) => {
            format!(" ({}, at `{}`)", escape::line(&place.server), escape::line(&place.pointer))
        }
        None => String::new(),
    };
    let _ = writeln!(text, "{word} {}{}", escape::line(&finding.message), style.paint(Role::Faint, &place));
}

fn indent(text: &mut String, details: &str) {
    for line in details.lines() {
        if !line.is_empty() {
            text.push_str(INDENT);
            text.push_str(line);
        }
        text.push('\n');
    }
}
