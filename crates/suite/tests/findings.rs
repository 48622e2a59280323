//! Files and folders with mistakes, each with the findings it gives. `SNAPSHOTS=overwrite` writes them anew.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use mcprove_model::{Finding, Place};
use mcprove_suite::load::{LoadOptions, Loaded, load};

fn environment(name: &str) -> Option<String> {
    match name {
        "API_KEY" => Some("s3cret".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    }
}

fn load_one(path: &Path) -> Loaded {
    let known = ["API_KEY".to_owned(), "EMPTY".to_owned()];
    let options =
        LoadOptions { environment: &environment, known_variables: &known, fixture: None, server: None, ci: false };
    load(&[path.to_path_buf()], &options)
}

fn show(loaded: &Loaded) -> String {
    let mut text = String::new();
    for finding in &loaded.findings {
        show_finding(finding, &mut text);
    }
    let names: Vec<&str> = loaded.cases.iter().map(|case| case.name.as_str()).collect();
    writeln!(text, "{} findings, cases: {names:?}", loaded.findings.len()).expect("text grows");
    text
}

fn show_finding(finding: &Finding, text: &mut String) {
    let place = match &finding.place {
        Some(Place::Text(place)) if place.line == place.end_line => {
            format!("{}:{}:{}-{}", place.file, place.line, place.column, place.end_column)
        }
        Some(Place::Text(place)) => {
            format!("{}:{}:{}-{}:{}", place.file, place.line, place.column, place.end_line, place.end_column)
        }
        Some(Place::Wire(_)) | None => "-".to_owned(),
    };
    let word = finding.severity.word();
    writeln!(text, "{place} {word}[{}] {}", finding.rule, finding.message).expect("text grows");
    if let Some(help) = &finding.help {
        writeln!(text, "    help: {help}").expect("text grows");
    }
}

/// The files and folders of `tests/data` that are loaded, sorted.
fn subjects() -> Vec<PathBuf> {
    let entries = fs::read_dir("tests/data").expect("the folder of test data is there");
    let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.retain(|path| path.is_dir() || path.extension().is_some_and(|extension| extension == "yaml"));
    paths.sort();
    paths
}

#[test]
fn every_mistake_is_found_where_it_is() {
    for path in subjects() {
        let expected = snapbox::Data::read_from(&path.with_extension("txt"), None).raw();
        snapbox::Assert::new().action_env("SNAPSHOTS").eq(show(&load_one(&path)), expected);
    }
}

#[test]
fn thirty_mistakes_give_thirty_findings() {
    for path in ["tests/data/thirty-mistakes.yaml", "tests/data/thirty-mistakes-suite.yaml"] {
        let loaded = load_one(Path::new(path));
        assert_eq!(loaded.findings.len(), 30, "{}", show(&loaded));
    }
}
