//! Every committed event log, rendered in every way, compared with what a reviewer read and accepted.
//!
//! `SNAPSHOTS=overwrite cargo test -p mcprove-report` writes the goldens anew.

mod committed;

use std::collections::BTreeMap;
use std::fs;

use committed::{here, logs, render};
use mcprove_model::{Event, Report};
use mcprove_report::{
    FORMATS, Terminal, TerminalOptions, Verbosity, compat_json, load_summary, openmetrics, otlp, read_events,
    to_safe_json, write_event,
};
use quick_xml::events::Event as XmlEvent;
use snapbox::data::DataFormat;
use snapbox::{Data, assert_data_eq};

/// The log of a load, whose page is made of plots.
const LOAD: &str = "load";

#[test]
fn terminal_plain() {
    for (name, events) in logs() {
        compare(&name, "terminal.txt", &shown(&events, TerminalOptions::default()));
    }
}

#[test]
fn terminal_with_colour() {
    for (name, events) in logs() {
        let options = TerminalOptions { color: true, width: Some(80), ..TerminalOptions::default() };
        // The escape character is shown as a sign, so that a golden can be read and cannot act.
        compare(&name, "terminal.color.txt", &shown(&events, options).replace('\u{1b}', "␛"));
    }
}

#[test]
fn terminal_verbose() {
    for (name, events) in logs() {
        let options = TerminalOptions { verbosity: Verbosity::Verbose, ..TerminalOptions::default() };
        compare(&name, "terminal.verbose.txt", &shown(&events, options));
    }
}

#[test]
fn terminal_quiet() {
    for (name, events) in logs() {
        let options = TerminalOptions { verbosity: Verbosity::Quiet, ..TerminalOptions::default() };
        compare(&name, "terminal.quiet.txt", &shown(&events, options));
    }
}

#[test]
fn known_list() {
    for (name, events) in logs() {
        let json = compat_json(&Report::fold(events));
        serde_json::from_str::<serde_json::Value>(&json).expect("it is JSON");
        compare(&name, "known.json", &json);
    }
}

#[test]
fn no_terminal_line_is_a_ci_command_or_moves_the_cursor() {
    for (name, events) in logs() {
        for verbosity in [Verbosity::Quiet, Verbosity::Normal, Verbosity::Verbose] {
            let text = shown(&events, TerminalOptions { verbosity, ..TerminalOptions::default() });
            assert_no_commands(&name, &text);
        }
    }
}

#[test]
fn a_log_survives_reading_and_writing() {
    for (name, events) in logs() {
        let mut written = Vec::new();
        for event in &events {
            write_event(&mut written, event).expect("memory takes it");
        }
        assert_eq!(read_events(written.as_slice()).expect("written by us"), events, "{name}");
    }
}

#[test]
fn every_format() {
    for (name, events) in logs() {
        let report = Report::fold(events);
        for format in FORMATS {
            let mut rendered = (format.render)(&report);
            let mut file = format!("{}.{}", format.name, format.extension);
            // The page of a load has no data apart from what it shows.
            if format.name == "html" && name != LOAD {
                // The page around the data is a source file; only the data differs from log to log.
                rendered = page_data(&rendered).to_owned();
                "html.data.json".clone_into(&mut file);
            }
            compare(&name, &file, &rendered);
        }
    }
}

#[test]
fn a_load_is_exported_for_dashboards() {
    let (name, events) = logs().into_iter().find(|(name, _)| name == LOAD).expect("the log");
    let report = Report::fold(events);
    compare(&name, "openmetrics.txt", &openmetrics(&report));
    compare(&name, "otlp.json", &to_safe_json(&otlp(&report)));
    compare(&name, "summary.json", &to_safe_json(&load_summary(&report)));
}

#[test]
fn the_event_log_format_gives_the_same_report() {
    for (name, events) in logs() {
        let report = Report::fold(events);
        let again = read_events(render("ndjson", &report).as_bytes()).expect("written by us");
        assert_eq!(Report::fold(again), report, "{name}");
    }
}

#[test]
fn junit_is_xml_and_its_counts_are_true() {
    for (name, events) in logs() {
        let report = Report::fold(events);
        let summary = report.summary();
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let xml = render("junit", &report);
        let mut reader = quick_xml::Reader::from_str(&xml);
        loop {
            match reader.read_event().unwrap_or_else(|error| panic!("{name}: {error}")) {
                XmlEvent::Start(tag) | XmlEvent::Empty(tag) => {
                    let element = String::from_utf8_lossy(tag.name().as_ref()).into_owned();
                    for attribute in tag.attributes() {
                        let attribute = attribute.expect("a well-formed attribute");
                        attribute.unescape_value().expect("known references only");
                    }
                    *seen.entry(element).or_default() += 1;
                }
                XmlEvent::Eof => break,
                _ => {}
            }
        }
        let count = |element: &str| seen.get(element).copied().unwrap_or(0);
        assert_eq!(count("testcase"), report.cases.len(), "{name}");
        assert_eq!(count("failure"), summary.failed, "{name}");
        assert_eq!(count("error"), summary.errors + summary.unfinished, "{name}");
        assert_eq!(count("skipped"), summary.skipped, "{name}");
        assert!(!xml.contains(|c: char| c.is_control() && c != '\n'), "{name}: a control character");
    }
}

#[test]
fn no_server_text_is_a_ci_command_in_markdown_or_annotations() {
    for (name, events) in logs() {
        let report = Report::fold(events);
        assert_no_commands(&name, &render("markdown", &report));
        for line in render("github", &report).lines() {
            // The command itself is ours; what follows it must not look like another.
            let rest = ["::error ", "::warning ", "::notice "].iter().find_map(|command| line.strip_prefix(command));
            assert_no_commands(&name, rest.unwrap_or_else(|| panic!("{name}: {line}")));
        }
    }
}

#[test]
fn nothing_in_a_page_can_end_its_data() {
    for (name, events) in logs().into_iter().filter(|(name, _)| name != LOAD) {
        let page = render("html", &Report::fold(events));
        let data = page_data(&page);
        assert!(!data.contains('<'), "{name}");
        serde_json::from_str::<serde_json::Value>(data).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn a_summary_of_many_failures_fits_what_github_takes() {
    let (_, events) = logs().into_iter().find(|(name, _)| name == "hostile").expect("the log");
    let mut report = Report::fold(events);
    let failing = report.cases[0].clone();
    report.cases = vec![failing; 10_000];
    let markdown = render("markdown", &report);
    assert!(markdown.len() < 1024 * 1024, "{} bytes", markdown.len());
    assert!(markdown.contains("more that did not pass; the HTML report has them all"));
    assert!(markdown.trim_end().ends_with("</details>"), "the fold is closed");
}

#[test]
fn a_page_of_large_frames_stays_small() {
    let (_, events) = logs().into_iter().find(|(name, _)| name == "pass").expect("the log");
    let mut report = Report::fold(events);
    let (session, mut frame) = report.cases[0].frames[0].clone();
    frame.body = vec![b'x'; 2 << 20].into();
    let mut case = report.cases[0].clone();
    case.frames = vec![(session, frame.clone()); 20];
    report.cases = vec![case; 40];
    for (number, case) in report.cases.iter_mut().enumerate() {
        // Most are the same, and every case has one of its own.
        case.frames[3].1.body = [number.to_string().as_bytes(), &frame.body].concat().into();
    }
    let page = render("html", &report);
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    let floods = 3_000_usize;
    report.cases[0].frames = (0..floods)
        .map(|number| {
            let body = [number.to_string().as_bytes(), &frame.body[..100_000]].concat().into();
            (session, mcprove_model::Frame { body, ..frame.clone() })
        })
        .collect();
    let page = render("html", &report);
    assert!(page.len() < 20_000_000, "{} bytes", page.len());
}

#[test]
fn a_log_puts_no_command_into_the_hands_of_its_reader() {
    let (_, events) = logs().into_iter().find(|(name, _)| name == "fail").expect("the log");
    let mut report = Report::fold(events);
    for run in &mut report.runs {
        run.started.as_mut().expect("a head").again =
            vec!["run".to_owned(), "--server".to_owned(), "rm -rf /".to_owned()];
    }
    let mut out = Vec::new();
    Terminal::new(&mut out, TerminalOptions::default()).from_log().report(&report).expect("memory takes it");
    let shown = String::from_utf8(out).expect("text");
    assert!(
        !shown.contains("rm -rf") && shown.contains("next (the suite is named by the log): mcprove run"),
        "{shown}"
    );
}

fn page_data(page: &str) -> &str {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"data\">").expect("the data");
    rest.split_once("</script>").expect("its end").0
}

fn assert_no_commands(name: &str, text: &str) {
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{name}: a control character");
    assert!(!text.contains("##["), "{name}: ##[");
    for line in text.lines() {
        let command = line.match_indices("::").any(|(at, _)| line[..at].ends_with(char::is_whitespace) || at == 0);
        assert!(!command, "{name}: {line}");
    }
}

fn shown(events: &[Event], options: TerminalOptions) -> String {
    let mut out = Vec::new();
    let mut terminal = Terminal::new(&mut out, options);
    for event in events {
        terminal.event(event).expect("memory takes it");
    }
    String::from_utf8(out).expect("text")
}

fn compare(log: &str, rendering: &str, actual: &str) {
    let golden = here().join("golden").join(log).join(rendering);
    fs::create_dir_all(golden.parent().expect("a folder")).expect("a writable folder");
    // `raw`, because wildcards and normalised paths would hide what these goldens are for.
    assert_data_eq!(Data::text(actual).raw(), Data::read_from(&golden, Some(DataFormat::Text)).raw());
}
