//! Every committed event log, rendered in every way, compared with what a reviewer read and accepted.
//!
//! `SNAPSHOTS=overwrite cargo test -p mcprove-report` writes the goldens anew.

use std::fs;
use std::path::{Path, PathBuf};

use mcprove_model::{Event, Report};
use mcprove_report::{Terminal, TerminalOptions, Verbosity, known_json, read_events, write_event};
use snapbox::data::DataFormat;
use snapbox::{Data, assert_data_eq};

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
        let json = known_json(&Report::fold(events));
        serde_json::from_str::<serde_json::Value>(&json).expect("it is JSON");
        compare(&name, "known.json", &json);
    }
}

#[test]
fn no_terminal_line_is_a_ci_command_or_moves_the_cursor() {
    for (name, events) in logs() {
        for verbosity in [Verbosity::Quiet, Verbosity::Normal, Verbosity::Verbose] {
            let text = shown(&events, TerminalOptions { verbosity, ..TerminalOptions::default() });
            assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{name}: a control character");
            assert!(!text.contains("##["), "{name}: ##[");
            for line in text.lines() {
                let command =
                    line.match_indices("::").any(|(at, _)| line[..at].ends_with(char::is_whitespace) || at == 0);
                assert!(!command, "{name}: {line}");
            }
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

fn shown(events: &[Event], options: TerminalOptions) -> String {
    let mut out = Vec::new();
    let mut terminal = Terminal::new(&mut out, options);
    for event in events {
        terminal.event(event).expect("memory takes it");
    }
    String::from_utf8(out).expect("text")
}

fn logs() -> Vec<(String, Vec<Event>)> {
    let mut paths: Vec<PathBuf> = fs::read_dir(here().join("logs"))
        .expect("the logs are committed")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let log = fs::read(&path).expect("a readable log");
            (name, read_events(log.as_slice()).expect("a whole log"))
        })
        .collect()
}

fn compare(log: &str, rendering: &str, actual: &str) {
    let golden = here().join("golden").join(log).join(rendering);
    fs::create_dir_all(golden.parent().expect("a folder")).expect("a writable folder");
    // `raw`, because wildcards and normalised paths would hide what these goldens are for.
    assert_data_eq!(Data::text(actual).raw(), Data::read_from(&golden, Some(DataFormat::Text)).raw());
}

fn here() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"))
}
