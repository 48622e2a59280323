//! `max_duration_ms`: the answer comes in time.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck};

use super::example::{fails, holds};
use super::{CheckKind, Seen, shape};

const NAME: &str = "max_duration_ms";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "The request under test takes at most this many milliseconds.",
    decode,
    schema: shape::count_schema,
    examples: &[holds("500", Seen::Elapsed(500)), fails("500", Seen::Elapsed(501))],
};

#[derive(Debug)]
struct MaxDuration {
    most: u64,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let most = shape::count(NAME, node, found);
    most.map(|most| shape::planned(NAME, node.span, MaxDuration { most })).into_iter().collect()
}

impl Check for MaxDuration {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        if seen.elapsed_us <= self.most.saturating_mul(1000) {
            return Ok(());
        }
        let took = seen.elapsed_us.div_ceil(1000);
        Err(Mismatch {
            message: format!("the answer took {took} ms, more than {}", self.most),
            expected: format!("at most {} ms", self.most),
            actual: format!("{took} ms"),
            ..Mismatch::default()
        })
    }

    fn judges_time(&self) -> bool {
        true
    }
}
