//! Manifests with mistakes, each with the findings it gives. `SNAPSHOTS=overwrite` writes them anew.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use mcprove_mock::load;
use mcprove_model::{Finding, Place};

fn show(path: &Path) -> String {
    let (offer, findings) = load(path);
    let mut text = String::new();
    for finding in &findings {
        show_finding(finding, &mut text);
    }
    let usable = if offer.is_some() { "usable" } else { "not usable" };
    writeln!(text, "{} findings, {usable}", findings.len()).expect("text grows");
    text
}

fn show_finding(finding: &Finding, text: &mut String) {
    let place = match &finding.place {
        Some(Place::Text(place)) => format!("{}:{}-{}", place.line, place.column, place.end_column),
        Some(Place::Wire(_)) | None => "-".to_owned(),
    };
    writeln!(text, "{place} {}[{}] {}", finding.severity.word(), finding.rule, finding.message).expect("text grows");
    if let Some(help) = &finding.help {
        writeln!(text, "    help: {help}").expect("text grows");
    }
}

#[test]
fn every_mistake_is_found_where_it_is() {
    let entries = fs::read_dir("tests/data").expect("the folder of test data is there");
    let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yml"));
    paths.sort();
    assert!(!paths.is_empty());
    for path in paths {
        let expected = snapbox::Data::read_from(&path.with_extension("txt"), None).raw();
        snapbox::Assert::new().action_env("SNAPSHOTS").eq(show(&path), expected);
    }
}
