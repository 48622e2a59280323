//! From a file to what a mock offers. What kind of file it is shows in its content.

use std::path::Path;

use mcprove_model::{Diagnostics, Finding, Node, Place, SourceFile, Span, bounded_json};
use mcprove_suite::load::bounded_read;
use mcprove_suite::yaml;
use serde_json::Value;

use crate::manifest::{self, Manifest, tools_of};
use crate::mock::Offer;
use crate::recording::{from_cassette, from_event_log};

/// Reads a file: a manifest, a `tools/list` snapshot, a cassette, or the event log of a run. Errors come with their
/// positions.
pub fn load(path: &Path) -> (Option<Offer>, Vec<Finding>) {
    let shown = path.display().to_string();
    match bounded_read::read_to_string(path) {
        Ok(text) => read(&SourceFile::new(shown, text)),
        Err(error) => {
            let finding = Finding::error("unreadable-file", format!("`{shown}` could not be read: {error}"))
                .help("give `--tools-from` a manifest file");
            (None, vec![finding])
        }
    }
}

/// Reads the same from its text.
pub fn read(source: &SourceFile) -> (Option<Offer>, Vec<Finding>) {
    let text = source.text().trim_start_matches('\u{feff}');
    if is_event_log(text) {
        let (recording, findings) = from_event_log(source);
        return (recording.map(Offer::Recording), findings);
    }
    let json = text.trim_start().starts_with(['{', '[']).then(|| bounded_json::value(text));
    match json {
        Some(Ok(value)) => from_json(source, &value),
        // Broken JSON is reported as JSON; flow style YAML may begin the same way.
        Some(Err(error)) if Path::new(source.path()).extension().is_some_and(|kind| kind == "json") => {
            let message = format!("`{}` is not JSON: {error}", source.path());
            (None, vec![Finding::error("bad-json", message).help("fix it, or record it again")])
        }
        Some(Err(_)) | None => from_yaml(source),
    }
}

/// True if the first line is an event.
fn is_event_log(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    bounded_json::parse(first).is_some_and(|value| value.get("event").is_some_and(Value::is_string))
}

fn from_json(source: &SourceFile, value: &Value) -> (Option<Offer>, Vec<Finding>) {
    if let Some((recording, findings)) = from_cassette(value, source) {
        return (Some(Offer::Recording(recording)), findings);
    }
    if value.get("mock_server").is_some() {
        // JSON is YAML nearly always, and then every place is known.
        let (documents, findings) = yaml::parse(source);
        let whole = || Node::from_json(Span::new(0, source.text().len()), value.clone());
        let document = documents.into_iter().next().filter(|_| findings.is_empty()).unwrap_or_else(whole);
        return from_node(source, &document);
    }
    if let Some(tools) = tools_of(value) {
        return (Some(Manifest { tools, ..Manifest::default() }.into()), Vec::new());
    }
    let message = format!("`{}` is nothing a mock could be made from", source.path());
    let help = "give a manifest (`mock_server`), the result of `tools/list` (every tool with a name), a cassette \
                (`exchanges`), or the log of a run";
    (None, vec![Finding::error("unknown-file", message).help(help)])
}

fn from_yaml(source: &SourceFile) -> (Option<Offer>, Vec<Finding>) {
    let (documents, mut findings) = yaml::parse(source);
    let Some(document) = documents.first().filter(|_| findings.is_empty()) else {
        if findings.is_empty() {
            findings.push(Finding::error("empty-file", format!("`{}` is empty", source.path())));
        }
        return (None, findings);
    };
    from_node(source, document)
}

/// Reads a manifest that is part of another file.
pub fn from_node(source: &SourceFile, document: &Node) -> (Option<Offer>, Vec<Finding>) {
    let mut found = Diagnostics::new(source);
    if document.is_null() {
        let message = format!("`{}` is empty", source.path());
        found.error_with_help("empty-file", document.span, message, "write a manifest: `tools:` with a list of them");
    }
    let manifest = manifest::decode(document, &mut found);
    let mut findings = found.into_findings();
    findings.sort_by_key(|finding| match &finding.place {
        Some(Place::Text(place)) => (place.line, place.column),
        Some(Place::Wire(_)) | None => (0, 0),
    });
    let is_usable = findings.iter().all(|finding| !finding.severity.fails());
    (manifest.filter(|_| is_usable).map(Offer::from), findings)
}
