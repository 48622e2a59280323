//! The full report: everything about a run but its raw frames, which the event log has.
//!
//! ```json
//! { "schema": 1, "program": "mcprove 0.1.0", "started": "2026-09-21T14:13:20.000Z", "duration_us": 271000,
//!   "interrupted": false, "strict": false, "jobs": 1, "planned": 3,
//!   "summary": { "passed": 2, "failed": 1, "skipped": 0, "errors": 0, "unfinished": 0 },
//!   "timings": { "servers_started": 3, "start": 1200, "handshake": 250000, … }, "hint": "…",
//!   "reliability": { "judged": 3, "capable": 3, "reliable": 2, "cases": [ … ] },
//!   "findings": [ … ], "cases": [ … ] }
//! ```
//!
//! `timings` is the sum over all cases, more than the duration of a run with concurrent cases; `hint` is there when something
//! would have made the run faster, and `reliability` when a case was tried more than once. Findings, calls, timings and sessions have the shapes of the
//! event log. A later program may add fields; one that changes or removes a field counts `schema` up.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use mcprove_model::{
    AgentRecord, CallRecord, CaseReport, Connected, Direction, Finding, Frame, FrameKind, LoadRecord, ProcessEnd,
    Report, RunContext, Timings, WirePart, utc_timestamp,
};
use serde::Serialize;

use super::{Format, LONG_FRAME, Shows};
use crate::json_text;
use crate::load::LoadTable;
use crate::reliability::{Reliability, Trials};
use crate::status::{Status, duration_us};
use crate::time_breakdown::Times;
use crate::usage::Used;

/// See the module.
pub(super) const FORMAT: Format =
    Format { name: "json", extension: "json", summary: "the full report, documented", shows: Shows::Calls, render };

fn render(report: &Report) -> String {
    json_text::pretty(&Whole::of(report))
}

/// A whole report.
#[derive(Serialize)]
pub(super) struct Whole<'a> {
    schema: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_us: Option<u64>,
    interrupted: bool,
    strict: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    jobs: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    planned: Option<usize>,
    summary: Counts,
    #[serde(skip_serializing_if = "Option::is_none")]
    timings: Option<Times>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reliability: Option<ReliabilityPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    models: Option<Used>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<Box<RunContext>>,
    findings: &'a [Finding],
    cases: Vec<Case<'a>>,
    /// The texts of frames, each once; frames name them by their position.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    texts: Vec<String>,
}

#[derive(Serialize)]
struct Counts {
    passed: usize,
    failed: usize,
    skipped: usize,
    errors: usize,
    unfinished: usize,
}

#[derive(Serialize)]
struct ReliabilityPart {
    judged: usize,
    capable: usize,
    reliable: usize,
    cases: Vec<TrialsPart>,
}

#[derive(Serialize)]
struct TrialsPart {
    name: String,
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<String>,
    run: u32,
    passed: u32,
    skipped: u32,
    pass_at_k: bool,
    pass_up_k: bool,
    flaky: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    shared_state: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failing_trial: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// One case of a report.
#[derive(Serialize)]
struct Case<'a> {
    name: &'a str,
    file: &'a str,
    line: u32,
    trial: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tags: &'a [String],
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    duration_us: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    timings: Option<&'a Timings>,
    findings: &'a [Finding],
    calls: &'a [CallRecord],
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a AgentRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    load: Option<&'a LoadRecord>,
    /// The measurements of the load for the page, which draws no histograms.
    #[serde(skip_serializing_if = "Option::is_none")]
    load_table: Option<LoadTable>,
    sessions: Vec<Session<'a>>,
    stderr: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    process_end: Option<&'a ProcessEnd>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    frames: Vec<FramePart<'a>>,
    #[serde(skip_serializing_if = "is_none")]
    frames_left_out: usize,
}

/// A frame as text; bytes that are not UTF-8 are written as `\xff` and marked.
#[derive(Serialize)]
struct FramePart<'a> {
    session: u32,
    at_us: u64,
    direction: Direction,
    kind: FrameKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<&'a WirePart>,
    text: usize,
    /// Bytes that were left out of the text.
    #[serde(skip_serializing_if = "is_none")]
    cut: usize,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    binary: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_none(count: &usize) -> bool {
    *count == 0
}

#[derive(Serialize)]
struct Session<'a> {
    #[serde(rename = "session")]
    number: u32,
    transport: &'a str,
    protocol: &'a str,
    server_name: &'a str,
    server_version: &'a str,
}

impl<'a> Whole<'a> {
    /// The report as it is written.
    fn of(report: &'a Report) -> Self {
        let (head, end) = (report.head(), report.end());
        let mcprove_model::Summary { passed, failed, skipped, errors, unfinished } = report.summary();
        let reliability = Reliability::of(report);
        Self {
            schema: 1,
            started: head.as_ref().map(|head| utc_timestamp(head.started_unix_ms)),
            duration_us: end.as_ref().map(|end| end.duration_us),
            interrupted: end.as_ref().is_some_and(|end| end.interrupted),
            strict: report.strict(),
            jobs: head.as_ref().map(|head| head.jobs),
            planned: head.as_ref().map(|head| head.total),
            context: head.as_ref().and_then(|head| head.context.clone()),
            program: head.map(|head| head.program),
            summary: Counts { passed, failed, skipped, errors, unfinished },
            timings: Times::of(report),
            hint: end.and_then(|end| end.hint),
            reliability: reliability.repeated().then(|| ReliabilityPart::of(&reliability)),
            models: Used::of(report),
            findings: &report.findings,
            cases: report.cases.iter().map(Case::of).collect(),
            texts: Vec::new(),
        }
    }
}

impl<'a> Whole<'a> {
    /// The report with its raw frames, as far as they fit: those of cases that did not pass come first.
    pub(super) fn with_frames(report: &'a Report) -> Self {
        let mut whole = Self::of(report);
        let mut texts = FrameTexts::default();
        for (is_first, room) in [(true, FrameTexts::ALL_LONG), (false, FrameTexts::ALL_LONG / 4)] {
            for (part, case) in whole.cases.iter_mut().zip(&report.cases) {
                if (Status::of(case) != Status::Passed) != is_first {
                    continue;
                }
                for (position, (session, frame)) in case.frames.iter().enumerate() {
                    match FramePart::of(*session, frame, &mut texts, room) {
                        Some(mut frame) => {
                            frame.cut += case.cut_frames.get(&position).copied().unwrap_or_default();
                            part.frames.push(frame);
                        }
                        None => part.frames_left_out += 1,
                    }
                }
            }
        }
        for case in &mut whole.cases {
            case.load_table = case.load.take().map(LoadTable::of);
        }
        whole.texts = texts.texts;
        whole
    }
}

impl<'a> FramePart<'a> {
    /// A frame, as far as there is room for long ones; `None` when the page is full.
    fn of(session: u32, frame: &'a Frame, texts: &mut FrameTexts, room: usize) -> Option<Self> {
        let (shown, cut) = texts.bounded(&frame.body, room);
        let (text, binary) = match std::str::from_utf8(shown) {
            Ok(text) => (Cow::Borrowed(text), false),
            Err(_) => (Cow::Owned(escaped_bytes(shown)), true),
        };
        Some(Self {
            session,
            at_us: frame.at_us,
            direction: frame.direction,
            kind: frame.kind,
            part: (frame.part != WirePart::Message).then_some(&frame.part),
            text: texts.add(&text)?,
            cut,
            binary,
        })
    }
}

/// The texts of all frames of a page, each stored once and all of them bounded, because a page is opened by a browser. The
/// event log has everything.
#[derive(Default)]
struct FrameTexts {
    texts: Vec<String>,
    known: BTreeMap<String, usize>,
    frames: usize,
    bytes: usize,
    long_bytes: usize,
}

impl FrameTexts {
    /// Bytes of any frame.
    const SHORT: usize = 4 << 10;
    /// Bytes of a frame as long as there are few long ones.
    const LONG: usize = LONG_FRAME;
    /// Bytes of all frames beyond their first [`Self::SHORT`] ones; cases that passed get a quarter of it.
    const ALL_LONG: usize = 1 << 20;
    /// Bytes of all frames.
    const ALL: usize = 16 << 20;
    /// Maximum number of frames of a page.
    const FRAMES: usize = 100_000;

    /// The part of a frame that is shown, and the number of bytes left out.
    fn bounded<'b>(&self, body: &'b [u8], room: usize) -> (&'b [u8], usize) {
        let has_room = self.long_bytes < room;
        let limit = if has_room { Self::LONG } else { Self::SHORT };
        if body.len() <= limit {
            return (body, 0);
        }
        let shown = match std::str::from_utf8(body) {
            Ok(text) => text.floor_char_boundary(limit),
            Err(_) => limit,
        };
        (&body[..shown], body.len() - shown)
    }

    /// The position of a text; `None` when the page is full.
    fn add(&mut self, text: &str) -> Option<usize> {
        if self.frames == Self::FRAMES {
            return None;
        }
        let position = match self.known.get(text) {
            Some(position) => *position,
            None if self.bytes + text.len() > Self::ALL => return None,
            None => {
                self.bytes += text.len();
                self.long_bytes += text.len().saturating_sub(Self::SHORT);
                self.known.insert(text.to_owned(), self.texts.len());
                self.texts.push(text.to_owned());
                self.texts.len() - 1
            }
        };
        self.frames += 1;
        Some(position)
    }
}

fn escaped_bytes(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

impl ReliabilityPart {
    fn of(reliability: &Reliability) -> Self {
        Self {
            judged: reliability.judged(),
            capable: reliability.capable(),
            reliable: reliability.reliable(),
            cases: reliability.rows().iter().map(TrialsPart::of).collect(),
        }
    }
}

impl TrialsPart {
    fn of(trials: &Trials) -> Self {
        Self {
            name: trials.name.clone(),
            file: trials.file.clone(),
            variant: trials.variant.clone(),
            run: trials.run,
            passed: trials.passed,
            skipped: trials.skipped,
            pass_at_k: trials.capable(),
            pass_up_k: trials.reliable(),
            flaky: trials.flaky() && !trials.shared,
            shared_state: (trials.flaky() && trials.shared).then_some(true),
            failing_trial: trials.failing.as_ref().map(|failing| failing.trial),
            message: trials.failing.as_ref().map(|failing| failing.message.clone()),
        }
    }
}

impl<'a> Case<'a> {
    fn of(case: &'a CaseReport) -> Self {
        let finished = case.finished.as_ref();
        let status = Status::of(case);
        Self {
            name: &case.started.name,
            file: &case.started.file,
            line: case.started.line,
            trial: case.started.trial,
            server: case.started.server.as_deref(),
            variant: case.started.variant.as_deref(),
            tags: &case.started.tags,
            verdict: status.word(),
            reason: match status {
                Status::Skipped(reason) => Some(reason),
                Status::Passed | Status::Failed | Status::Error | Status::Unfinished => None,
            },
            duration_us: duration_us(case),
            timings: finished.map(|finished| &finished.timings),
            findings: finished.map_or(&[], |finished| &finished.findings),
            calls: finished.map_or(&[], |finished| &finished.calls),
            agent: finished.and_then(|finished| finished.agent.as_deref()),
            load: finished.and_then(|finished| finished.load.as_deref()),
            load_table: None,
            sessions: case.sessions.iter().map(Session::of).collect(),
            stderr: finished.map_or("", |finished| &finished.stderr),
            process_end: finished.and_then(|finished| finished.process_end.as_ref()),
            frames: Vec::new(),
            frames_left_out: 0,
        }
    }
}

impl<'a> Session<'a> {
    fn of(connected: &'a Connected) -> Self {
        Self {
            number: connected.session,
            transport: &connected.transport,
            protocol: &connected.protocol,
            server_name: &connected.server_name,
            server_version: &connected.server_version,
        }
    }
}
