//! `max_results`: the result lists at most this many.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck};

use super::example::{fails, holds};
use super::{CheckKind, Seen, results, shape};

const NAME: &str = "max_results";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "The JSON of the result is a list, or has one under a usual key, of at most this length.",
    decode,
    schema: shape::count_schema,
    examples: &[
        holds("2", Seen::Text("[1, 2]")),
        holds("0", Seen::Text(r#"{"completion": {"values": []}}"#)),
        fails("1", Seen::Text(r#"{"items": [1, 2]}"#)),
        fails("9", Seen::Text("no JSON")),
    ],
};

#[derive(Debug)]
struct MaxResults {
    most: u64,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let most = shape::count(NAME, node, found);
    most.map(|most| shape::planned(NAME, node.span, MaxResults { most })).into_iter().collect()
}

impl Check for MaxResults {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let expected = format!("at most {} results", self.most);
        let found = results::count(seen, &expected)?;
        if found.count <= self.most {
            return Ok(());
        }
        Err(Mismatch {
            message: format!("{} has {} results, more than {}", found.place, found.count, self.most),
            expected,
            actual: format!("{} results", found.count),
            ..Mismatch::default()
        })
    }
}
