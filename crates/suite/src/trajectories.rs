//! Expectations about sequences of calls, without the calls: for observers of a conversation.

use std::path::Path;
use std::sync::Arc;

use mcprove_judge::checks::decode_trajectory;
use mcprove_model::{Diagnostics, Expectation, Finding, Node, SourceFile, Span, Vocabulary};

use crate::load::Parsed;

/// Expectation about a sequence of calls.
#[derive(Clone, Debug)]
pub struct WantedTrajectory {
    /// Its name.
    pub name: String,
    /// The file it was written in.
    pub source: Arc<SourceFile>,
    /// Where in the file it begins.
    pub span: Span,
    /// The expectation.
    pub expect: Expectation,
}

/// Every `trajectory` of the files: one per document, or the tests of a list. Calls written next to it are passed over.
pub fn trajectories(files: &[Parsed]) -> (Vec<WantedTrajectory>, Vec<Finding>) {
    let mut wanted = Vec::new();
    let mut findings = Vec::new();
    for file in files {
        findings.extend(file.findings.iter().cloned());
        let mut found = Diagnostics::new(&file.source);
        let before = wanted.len();
        for document in &file.documents {
            for owner in owners(document) {
                wanted.extend(owner.get("trajectory").map(|block| decode(owner, block, &file.source, &mut found)));
            }
        }
        if wanted.len() == before && file.findings.is_empty() {
            let span = file.documents.first().map_or(Span::default(), |document| document.span);
            let help = "add `trajectory:`, for example `- {type: order, tools: [first, second]}`";
            found.error_with_help("missing-key", span, "there is no `trajectory` in this file", help);
        }
        findings.extend(found.into_findings());
    }
    (wanted, findings)
}

/// The maps that have a `trajectory`: the document itself, or the tests in its list.
fn owners(document: &Node) -> Vec<&Node> {
    let items = document.get("trajectory").and_then(Node::as_list).unwrap_or_default();
    let tests: Vec<&Node> = items.iter().filter(|item| item.get("trajectory").is_some()).collect();
    if tests.is_empty() { vec![document] } else { tests }
}

fn decode(owner: &Node, block: &Node, source: &Arc<SourceFile>, found: &mut Diagnostics<'_>) -> WantedTrajectory {
    let named = owner.get("name").and_then(Node::as_text).filter(|name| !name.trim().is_empty());
    let file = Path::new(source.path()).file_name().map(|name| name.to_string_lossy().into_owned());
    let checks = decode_trajectory(block, found);
    WantedTrajectory {
        name: named.map_or_else(|| file.unwrap_or_default(), str::to_owned),
        source: source.clone(),
        span: owner.span,
        expect: Expectation { vocabulary: Vocabulary::Trajectory, checks, ..Expectation::default() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Parsed {
        let source = SourceFile::new("t.yaml", text);
        let (documents, findings) = crate::yaml::parse(&source);
        Parsed { source: Arc::new(source), documents, findings }
    }

    #[test]
    fn both_kinds_of_files_are_understood() {
        let one = "name: one\ntrace: [{tool: a}]\ntrajectory:\n  - {type: presence, tools: [a]}\n";
        let many = "trajectory:\n  - name: two\n    trajectory: [{type: absence, tools: [b]}]\n  - name: three\n    \
                    trajectory: [{type: order, tools: [a, b]}]\n";
        let (wanted, findings) = trajectories(&[parsed(one), parsed(many)]);
        assert!(findings.is_empty(), "{findings:?}");
        let names: Vec<_> = wanted.iter().map(|wanted| (wanted.name.as_str(), wanted.expect.checks.len())).collect();
        assert_eq!(names, [("one", 1), ("two", 1), ("three", 2)]);
    }

    #[test]
    fn a_file_that_asks_for_nothing_is_a_mistake() {
        let (wanted, findings) = trajectories(&[parsed("assert: {tool: a}\n")]);
        assert!(wanted.is_empty());
        assert_eq!(findings[0].message, "there is no `trajectory` in this file");
        let (_, findings) = trajectories(&[parsed("trajectory: [{type: ordr, tools: [a]}]\n")]);
        assert_eq!(findings[0].rule, "unknown-type");
    }
}
