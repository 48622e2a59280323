//! `min_results`: the result lists at least this many.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck};

use super::example::{fails, holds};
use super::{CheckKind, Seen, results, shape};

const NAME: &str = "min_results";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "The JSON of the result is a list, or has one under a usual key, of at least this length.",
    decode,
    schema: shape::count_schema,
    examples: &[
        holds("2", Seen::Text("[1, 2]")),
        holds("1", Seen::Text(r#"{"total": 1, "resources": [{}]}"#)),
        fails("3", Seen::Text(r#"{"items": [1, 2]}"#)),
        fails("0", Seen::Text("no JSON")),
        fails("1", Seen::Text(r#"{"hits": [1]}"#)),
    ],
};

#[derive(Debug)]
struct MinResults {
    least: u64,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let least = shape::count(NAME, node, found);
    least.map(|least| shape::planned(NAME, node.span, MinResults { least })).into_iter().collect()
}

impl Check for MinResults {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let expected = format!("at least {} results", self.least);
        let found = results::count(seen, &expected)?;
        if found.count >= self.least {
            return Ok(());
        }
        Err(Mismatch {
            message: format!("{} has {} results, fewer than {}", found.place, found.count, self.least),
            expected,
            actual: format!("{} results", found.count),
            ..Mismatch::default()
        })
    }
}
