//! Random event logs, for tests and for `examples/random_reports.rs`.

use std::borrow::Cow;

use mcprove_model::{
    AgentRecord, CallRecord, CallRole, CaseFinished, CaseStarted, Connected, Direction, Event, Evidence, Finding,
    Frame, FrameKind, Place, ProcessEnd, RunFinished, RunStarted, Severity, StopReason, TextPlace, Timings, Usage,
    Verdict, WirePart, WirePlace,
};
use proptest::prelude::*;

/// Pieces that mean something to somebody, and plain text between them.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "::", ":", "::error::x", "::set-output name=a::b", "::add-mask::", "##[", "##", "#", "[", "##vso[task]",
            "##teamcity[x]", "\n", "\r", "\r\n", "\t", " ", "\u{b}", "\u{c}", "\u{85}", "\u{a0}", "\u{2028}", "\u{3000}",
            "\u{feff}", "\u{200b}", "\u{1b}[2K", "\u{1b}]8;;http://x\u{7}", "\u{9b}", "\0", "\u{7f}", "\u{202e}", "|",
            "`", "```", "~~~", "<script>", "</details>", "<!--", "&#58;", "%0A", "%", ",", "\\", "\"", "'", "ok 1",
            "not ok 2", "1..3", "  ...", "Bail out!", "é", "名", "🎉", "e\u{301}", "\u{e0041}", "\u{61c}", "\u{ad}",
            "\u{fffe}", "]]>", "---", " # SKIP", "# TODO", "{0}", "[a](b)", "~", "- a: b", "|2", "\u{feff}", "&", "%41",
        ]).prop_map(str::to_owned),
        1 => "[a-z ]{1,12}",
        1 => "\\PC{1,4}",
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

/// A run with any number of cases, trials and verdicts, whose every text is hostile.
pub(crate) fn run() -> impl Strategy<Value = Vec<Event>> {
    let case = (0_u8..5, 1_u32..4, 0_u32..9, any::<u32>());
    let head = (any::<bool>(), any::<bool>(), 0_u64..5_000_000_000_000);
    (prop::collection::vec(hostile(), 24), prop::collection::vec(case, 0..8), head).prop_map(|(texts, cases, head)| {
        let (strict, interrupted, started_unix_ms) = head;
        let mut texts = texts.into_iter().cycle();
        let mut text = move || texts.next().unwrap_or_default();
        let mut events = vec![Event::RunStarted(RunStarted {
            format: RunStarted::FORMAT,
            program: text(),
            started_unix_ms,
            total: cases.len(),
            jobs: 1,
            strict,
            shard: None,
            again: vec!["run".to_owned(), text(), text()],
            context: None,
        })];
        events.push(Event::Finding { finding: finding(&mut text, Severity::Warning, 3) });
        let shared = [text(), text()];
        for (index, (kind, trial, line, duration)) in cases.into_iter().enumerate() {
            events.extend(case_events(&mut text, (index, kind, trial, line), u64::from(duration), &shared));
        }
        events.push(Event::RunFinished(RunFinished { duration_us: 9, interrupted, hint: Some(text()) }));
        events
    })
}

fn case_events(
    text: &mut impl FnMut() -> String,
    (index, kind, trial, line): (usize, u8, u32, u32),
    duration_us: u64,
    shared: &[String; 2],
) -> Vec<Event> {
    // Some cases are trials of one.
    let [name, file] = if trial > 1 { shared.clone() } else { [text(), text()] };
    let variant = (kind == 3).then(&mut *text);
    let started = CaseStarted { index, name, file, line, trial, server: Some(text()), variant, tags: vec![text()] };
    let connected = Connected {
        index,
        session: 0,
        server: Some(text()),
        began_us: 0,
        transport: text(),
        protocol: text(),
        server_name: text(),
        server_version: text(),
    };
    let body = if kind == 0 { bytes::Bytes::from_static(b"\xff<\x00") } else { text().into() };
    let frame =
        Frame { at_us: 5, direction: Direction::Received, part: WirePart::Message, kind: FrameKind::Reply, body };
    let verdict = match kind {
        0 => Verdict::Failed,
        1 => Verdict::Passed,
        2 => Verdict::Error,
        _ => Verdict::Skipped { reason: text() },
    };
    let severities: &[Severity] =
        if line == 0 { &[] } else { &[Severity::Critical, Severity::Warning, Severity::Note] };
    let finished = CaseFinished {
        index,
        verdict,
        findings: severities.iter().map(|severity| finding(text, *severity, line)).collect(),
        duration_us,
        timings: Timings { start: duration_us, ..Timings::default() },
        calls: [CallRole::Setup, CallRole::Act].map(|role| call(text, role)).to_vec(),
        stderr: text(),
        process_end: Some(ProcessEnd { code: None, signal: Some(9) }),
        snapshots: Vec::new(),
        agent: (index == 0).then(|| Box::new(agent(text))),
        load: None,
    };
    vec![
        Event::CaseStarted(started),
        Event::Connected(connected),
        Event::Frame { index, session: 0, frame },
        Event::CaseFinished(finished),
    ]
}

fn agent(text: &mut impl FnMut() -> String) -> AgentRecord {
    AgentRecord {
        scores: [("stability".to_owned(), 0.5)].into(),
        model: text(),
        replayed: true,
        prompts: vec![text()],
        answer: Some(text()),
        stop_reason: StopReason::TurnBudget,
        turns: 3,
        usage: Usage { prompt_tokens: 10, completion_tokens: 5 },
        cost_usd_micros: Some(1_234),
        recovery: Some(text()),
    }
}

fn finding(text: &mut impl FnMut() -> String, severity: Severity, column: u32) -> Finding {
    let place = if severity == Severity::Note {
        Place::Wire(WirePlace { server: text(), pointer: text() })
    } else {
        let (line, end_line, end_column) = (column, column, column + 2);
        Place::Text(TextPlace { file: text(), line, column, end_line, end_column, excerpt: text() })
    };
    let mut finding = Finding::new(Cow::Owned(text()), severity, text());
    finding.place = Some(place);
    finding.expected = Some(text());
    finding.actual = Some(text());
    finding.diff = (severity == Severity::Critical).then(&mut *text);
    finding.evidence = (severity == Severity::Warning).then(|| Evidence { request: text(), reply: Some(text()) });
    finding.help = Some(text());
    finding
}

fn call(text: &mut impl FnMut() -> String, role: CallRole) -> CallRecord {
    CallRecord {
        role,
        method: text(),
        subject: Some(text()),
        server: Some(text()),
        fault: Some(text()),
        request: text(),
        reply: Some(text()),
        elapsed_us: 5,
    }
}
