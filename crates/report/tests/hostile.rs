//! Whatever a server says, no line of what is printed or put into a summary can be read as a command of a CI system.
//!
//! GitHub obeys `::command::` after any white space at the start of a line and `##[command]` anywhere in it; Azure and
//! `TeamCity` know `##vso[` and `##teamcity[`. What is checked here is stricter: no `::` after white space anywhere.

mod random;

use mcprove_model::{Report, Severity};
use mcprove_report::{Baseline, FORMATS, Format, Terminal, TerminalOptions, Verbosity, compat_json, render_findings};
use proptest::prelude::*;

use random::run;

fn assert_harmless(what: &str, output: &str) -> Result<(), TestCaseError> {
    for line in output.split('\n') {
        prop_assert!(
            !line.contains(|c: char| mcprove_model::is_active(c) && c != '\t'),
            "{what}: an active character in {line:?}"
        );
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
            prop_assert!(!painted.contains(|c: char| mcprove_model::is_active(c) && !matches!(c, '\n' | '\t' | '\u{1b}')), "{painted:?}");
        }
        assert_harmless("findings", &render_findings(&report.findings, &mcprove_report::Style::default()))?;
        assert_no_command("known list", &compat_json(&report))?;
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
