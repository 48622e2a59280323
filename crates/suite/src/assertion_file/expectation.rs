//! `expect`: the block as written, and the checks it decodes to.

use mcprove_judge::checks::decode_expect;
use mcprove_model::{Diagnostics, Expectation, Finding, Node, Place, TextPlace};

use super::templates::Scope;
use crate::template::templated_places;

/// Decodes an `expect` block; a block that was left out or left empty expects nothing.
pub(super) fn decode(block: Option<&Node>, scope: &Scope, found: &mut Diagnostics<'_>) -> Expectation {
    let Some(block) = block.filter(|block| !block.is_null()) else { return Expectation::default() };
    scope.check_with_keys(block, found);
    let source = found.source();
    let mut judged = Diagnostics::new(source);
    let checks = decode_expect(block, &mut judged);
    // A value that a template stands for is judged once it is known: `min_results: "{{count}}"` is no mistake.
    let open: Vec<TextPlace> =
        templated_places(block, &scope.names()).into_iter().map(|span| source.place(span)).collect();
    for finding in judged.into_findings() {
        if !is_within(&finding, &open) {
            found.add(finding);
        }
    }
    Expectation { block: Some(block.clone()), checks }
}

fn is_within(finding: &Finding, places: &[TextPlace]) -> bool {
    let Some(Place::Text(inner)) = &finding.place else { return false };
    places.iter().any(|outer| {
        (outer.line, outer.column) <= (inner.line, inner.column)
            && (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)
    })
}
