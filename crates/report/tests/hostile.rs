//! Whatever a server says, no line of what is printed or put into a summary can be read as a command of a CI system.
//!
//! GitHub obeys `::command::` after any white space at the start of a line and `##[command]` anywhere in it; Azure and
//! `TeamCity` know `##vso[` and `##teamcity[`. What is checked here is stricter: no `::` after white space anywhere.

use std::borrow::Cow;

use mcprove_model::{
    AgentRecord, CallRecord, CallRole, CaseFinished, CaseStarted, Connected, Event, Finding, Place, ProcessEnd, Report,
    RunFinished, RunStarted, Severity, StopReason, TextPlace, Timings, Usage, Verdict, WirePlace,
};
use mcprove_report::{Baseline, FORMATS, Format, Terminal, TerminalOptions, Verbosity, known_json, render_findings};
use proptest::prelude::*;

/// Pieces that mean something to somebody, and plain text between them.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "::", ":", "::error::x", "::set-output name=a::b", "::add-mask::", "##[", "##", "#", "[", "##vso[task]",
            "##teamcity[x]", "\n", "\r", "\r\n", "\t", " ", "\u{b}", "\u{c}", "\u{85}", "\u{a0}", "\u{2028}", "\u{3000}",
            "\u{feff}", "\u{200b}", "\u{1b}[2K", "\u{1b}]8;;http://x\u{7}", "\u{9b}", "\0", "\u{7f}", "\u{202e}", "|",
            "`", "```", "~~~", "<script>", "</details>", "<!--", "&#58;", "%0A", "%", ",", "\\", "\"", "'", "ok 1",
            "not ok 2", "1..3", "  ...", "Bail out!", "é", "名", "🎉", "e\u{301}",
        ]).prop_map(str::to_owned),
        1 => "[a-z ]{1,12}",
        1 => "\\PC{1,4}",
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

/// A run whose every text is hostile.
fn run() -> impl Strategy<Value = Vec<Event>> {
    (prop::collection::vec(hostile(), 24), 0_u32..3, 1_u32..9).prop_map(|(texts, kind, column)| {
        let mut texts = texts.into_iter().cycle();
        let mut text = move || texts.next().unwrap_or_default();
        let mut events = vec![Event::RunStarted(RunStarted {
            format: RunStarted::FORMAT,
            program: text(),
            started_unix_ms: 0,
            total: 3,
            jobs: 1,
            strict: kind == 1,
            shard: None,
            again: vec!["run".to_owned(), text(), text()],
            context: None,
        })];
        events.push(Event::Finding { finding: finding(&mut text, Severity::Warning, column) });
        for (index, trial) in [(0, 1), (1, 2), (2, 1)] {
            let started = CaseStarted {
                index,
                name: text(),
                file: text(),
                line: column,
                trial,
                server: Some(text()),
                variant: (kind == 2).then(&mut text),
                tags: Vec::new(),
            };
            events.push(Event::CaseStarted(started));
            events.push(Event::Connected(Connected {
                index,
                session: 0,
                server: Some(text()),
                began_us: 0,
                transport: text(),
                protocol: text(),
                server_name: text(),
                server_version: text(),
            }));
            let verdict = match index {
                0 => Verdict::Failed,
                1 => Verdict::Passed,
                _ => Verdict::Skipped { reason: text() },
            };
            events.push(Event::CaseFinished(CaseFinished {
                index,
                verdict,
                findings: [Severity::Critical, Severity::Warning, Severity::Note]
                    .map(|severity| finding(&mut text, severity, column))
                    .to_vec(),
                duration_us: 1_000,
                timings: Timings::default(),
                calls: [CallRole::Setup, CallRole::Act].map(|role| call(&mut text, role)).to_vec(),
                stderr: text(),
                process_end: Some(ProcessEnd { code: None, signal: Some(9) }),
                snapshots: Vec::new(),
                agent: (index == 0).then(|| Box::new(agent(&mut text))),
            }));
        }
        events.push(Event::RunFinished(RunFinished { duration_us: 9, interrupted: false, hint: Some(text()) }));
        events
    })
}

fn agent(text: &mut impl FnMut() -> String) -> AgentRecord {
    AgentRecord {
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

fn assert_harmless(what: &str, output: &str) -> Result<(), TestCaseError> {
    for line in output.split('\n') {
        prop_assert!(!line.contains(|c: char| c.is_control() && c != '\t'), "{what}: a control character in {line:?}");
        for (at, _) in line.match_indices("::") {
            let before = &line[..at];
            prop_assert!(!before.is_empty() && !before.ends_with(char::is_whitespace), "{what}: {line:?}");
        }
        for (at, _) in line.match_indices("##") {
            let after = line[at + 2..].trim_start_matches(|c: char| c.is_ascii_alphabetic());
            prop_assert!(!after.starts_with('['), "{what}: {line:?}");
        }
    }
    Ok(())
}

/// What GitHub goes by; behind the quote that opens a string, `::` begins nothing.
fn assert_no_command(what: &str, output: &str) -> Result<(), TestCaseError> {
    for line in output.split(['\n', '\r']) {
        prop_assert!(!line.trim_start().starts_with("::") && !line.contains("##["), "{what}: {line:?}");
    }
    Ok(())
}

fn shown(write: impl FnOnce(&mut Terminal<&mut Vec<u8>>), options: TerminalOptions) -> String {
    let mut out = Vec::new();
    write(&mut Terminal::new(&mut out, options));
    String::from_utf8(out).expect("text")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_printed_is_a_command(events in run(), width in prop::option::of(10_usize..200)) {
        let report = Report::fold(events.clone());
        for verbosity in [Verbosity::Quiet, Verbosity::Normal, Verbosity::Verbose] {
            let options = TerminalOptions { color: false, verbosity, width };
            let live = shown(|terminal| {
                for event in &events {
                    terminal.event(event).expect("memory takes it");
                }
            }, options);
            assert_harmless("terminal", &live)?;
            let afterwards = shown(|terminal| terminal.report(&report).expect("memory takes it"), options);
            prop_assert_eq!(&afterwards, &live, "a report shows what the run showed");
            let painted = shown(|terminal| terminal.report(&report).expect("memory takes it"), TerminalOptions { color: true, ..options });
            prop_assert!(!painted.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\u{1b}')), "{painted:?}");
        }
        assert_harmless("findings", &render_findings(&report.findings, &mcprove_report::Style::default()))?;
        assert_no_command("known list", &known_json(&report))?;
        let nothing_known = std::collections::BTreeSet::new();
        let changed = Baseline::of(&report).compare(&Report::default(), &nothing_known);
        assert_harmless("baseline", &changed.text())?;
        for finding in changed.findings(Severity::Error) {
            assert_harmless("baseline", &finding.message)?;
        }
    }

    #[test]
    fn nothing_in_a_file_that_ci_prints_is_a_command(events in run()) {
        let report = Report::fold(events);
        for format in FORMATS {
            let rendered = (format.render)(&report);
            match format.name {
                "github" => {
                    for line in rendered.lines() {
                        // The command itself is ours; what follows it must not look like another.
                        let rest = ["::error ", "::warning ", "::notice "].iter().find_map(|command| line.strip_prefix(command));
                        let Some((properties, message)) = rest.and_then(|rest| rest.split_once("::")) else {
                            return Err(TestCaseError::fail(format!("not an annotation: {line:?}")));
                        };
                        assert_harmless("annotation", properties)?;
                        // Behind the `::` that ends the properties a message may begin as it likes.
                        assert_harmless("annotation", &format!("x{message}"))?;
                        prop_assert!(!properties.contains(':'), "{properties:?}");
                    }
                }
                "markdown" => assert_harmless(format.name, &rendered)?,
                // An event log is data that nobody prints, and a page is no log.
                "html" | "ndjson" => {}
_ => assert_no_command(format.name, &rendered)?,
            }
        }
    }

    #[test]
    fn every_format_survives_every_text(events in run()) {
        let report = Report::fold(events);
        for name in ["badge", "json", "sarif"] {
            let rendered = (Format::find(name).expect("a format").render)(&report);
            prop_assert!(serde_json::from_str::<serde_json::Value>(&rendered).is_ok(), "{name}");
        }
        let xml = (Format::find("junit").expect("a format").render)(&report);
        let mut reader = quick_xml::Reader::from_str(&xml);
        loop {
            match reader.read_event() {
                Ok(quick_xml::events::Event::Eof) => break,
                Ok(_) => {}
                Err(error) => return Err(TestCaseError::fail(format!("{error}: {xml}"))),
            }
        }
    }
}
