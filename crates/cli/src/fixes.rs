//! Suggested changes, made in the files they are about.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use mcprove_model::{Edit, Finding, Place, Report};

use crate::atomic_write;
use crate::failure::Failure;

/// Makes every change that the findings of a run suggest; returns what was done, a line each.
pub(crate) fn write_all(report: &Report) -> Result<Vec<String>, Failure> {
    let mut by_file: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for finding in report.cases.iter().filter_map(|case| case.finished.as_ref()).flat_map(|case| &case.findings) {
        if let (Some(Place::Text(place)), Some(_)) = (&finding.place, &finding.fix) {
            by_file.entry(&place.file).or_default().push(finding);
        }
    }
    let mut done = Vec::new();
    for (file, findings) in by_file {
        let bad = |what: &str, error: &dyn std::fmt::Display| {
            Failure::new(format!("`{file}` could not be {what}: {error}"), "make the change by hand")
        };
        let text = fs::read_to_string(file).map_err(|error| bad("read", &error))?;
        let fixes: Vec<_> = findings.iter().filter_map(|finding| finding.fix.as_ref()).collect();
        let edits: Vec<&Edit> = fixes.iter().flat_map(|fix| &fix.edits).collect();
        let edited = apply(&text, edits).ok_or_else(|| bad("changed", &"it is no longer what was run"))?;
        atomic_write::write(Path::new(file), edited.as_bytes()).map_err(|error| bad("written", &error))?;
        done.extend(fixes.iter().map(|fix| format!("{file}: {}", fix.title)));
    }
    Ok(done)
}

/// The text with the suggested fixes, and the number of findings that these fix. If two change the same place, the
/// first wins.
pub(crate) fn mended(text: &str, findings: &[Finding]) -> (String, usize) {
    let mut taken: Vec<&Edit> = Vec::new();
    let mut mended = 0;
    for fix in findings.iter().filter_map(|finding| finding.fix.as_ref()) {
        let clashes = |edit: &Edit| taken.iter().any(|other| edit.start < other.end && other.start < edit.end);
        if !fix.edits.iter().any(clashes) {
            taken.extend(&fix.edits);
            mended += 1;
        }
    }
    match apply(text, taken) {
        Some(text) => (text, mended),
        None => (text.to_owned(), 0),
    }
}

/// The text with its edits made; `None` when they do not fit it or each other.
fn apply(text: &str, mut edits: Vec<&Edit>) -> Option<String> {
    edits.sort_by_key(|edit| edit.start);
    edits.dedup();
    let mut edited = String::with_capacity(text.len());
    let mut from = 0;
    for edit in edits {
        edited.push_str(text.get(from..edit.start as usize)?);
        edited.push_str(&edit.text);
        from = edit.end as usize;
    }
    edited.push_str(text.get(from..)?);
    Some(edited)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_made_in_order_and_must_fit() {
        let edit = |start, end, text: &str| Edit { start, end, text: text.to_owned() };
        let (one, two) = (edit(6, 7, "12"), edit(0, 1, "B"));
        assert_eq!(apply("a: x, 3", vec![&one, &two, &one]), Some("B: x, 12".to_owned()));
        assert_eq!(apply("short", vec![&one]), None);
        assert_eq!(apply("overlaps", vec![&edit(0, 4, ""), &edit(2, 5, "")]), None);
    }
}
