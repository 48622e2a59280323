//! `expect`: the block as written, and the checks it decodes to.

use mcprove_judge::checks;
use mcprove_model::{Diagnostics, Expectation, Finding, Node, Place, PlannedCheck, TextPlace, Vocabulary};

use super::templates::Scope;
use crate::template::{Variables, is_literal, substitute_with_keys, templated_places};

/// Decodes `expect`; a missing or empty block expects nothing.
pub(crate) fn decode(
    block: Option<&Node>,
    vocabulary: Vocabulary,
    scope: &Scope,
    found: &mut Diagnostics<'_>,
) -> Expectation {
    let nothing = Expectation { vocabulary, ..Expectation::default() };
    let Some(block) = block.filter(|block| !block.is_null()) else { return nothing };
    // A block without templates, as nearly all are, is never decoded again.
    let (checks, templated) = if is_literal(block) {
        (checks::decode(vocabulary, block, found), None)
    } else {
        decode_templated(block, vocabulary, scope, found)
    };
    // Blocks with several parts have their `threshold` in the `expect` among them.
    let expect = match vocabulary {
        Vocabulary::Resources | Vocabulary::Sampling => block.get("expect").unwrap_or(block),
        Vocabulary::Tool
        | Vocabulary::ToolStep
        | Vocabulary::ReadStep
        | Vocabulary::Prompts
        | Vocabulary::Completion
        | Vocabulary::Logging
        | Vocabulary::Notifications
        | Vocabulary::Trajectory
        | Vocabulary::Agent
        | Vocabulary::AgentTrajectory
        | Vocabulary::Raw
        | Vocabulary::ToolQuality
        | Vocabulary::NegativePath
        | Vocabulary::Fuzz
        | Vocabulary::Targets(_) => block,
    };
    let threshold = expect.get("threshold").and_then(|share| share.as_number()?.as_f64());
    let update = expect.get("snapshot").and_then(|snapshot| snapshot.get("update")).and_then(Node::as_bool);
    let judged = Vec::new();
    Expectation { templated, vocabulary, checks, judged, threshold, updates_snapshots: update == Some(true) }
}

/// Decodes a block as far as it is known, and keeps it if more of it will be known when the case runs.
fn decode_templated(
    block: &Node,
    vocabulary: Vocabulary,
    scope: &Scope,
    found: &mut Diagnostics<'_>,
) -> (Vec<PlannedCheck>, Option<Box<Node>>) {
    scope.check_with_keys(block, found);
    let source = found.source();
    let mut judged = Diagnostics::new(source);
    // Escaped braces need no values to be known.
    let checks = checks::decode(vocabulary, &substitute_with_keys(block, &Variables::new()), &mut judged);
    // A templated value is judged once it is known: `min_results: "{{count}}"` is valid here.
    let open: Vec<TextPlace> =
        templated_places(block, &scope.names()).into_iter().map(|span| source.place(span)).collect();
    for finding in judged.into_findings() {
        if !is_within(&finding, &open) {
            found.add(finding);
        }
    }
    (checks, (!open.is_empty()).then(|| Box::new(block.clone())))
}

fn is_within(finding: &Finding, places: &[TextPlace]) -> bool {
    let Some(Place::Text(inner)) = &finding.place else { return false };
    places.iter().any(|outer| {
        (outer.line, outer.column) <= (inner.line, inner.column)
            && (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)
    })
}
