//! `min_progress`: the server reported progress at least this many times.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck};

use super::example::{fails, holds};
use super::{CheckKind, Seen, shape};

const NAME: &str = "min_progress";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "At least this many progress notifications arrived.",
    decode,
    schema: shape::count_schema,
    examples: &[
        holds("2", Seen::Progress(2)),
        holds("0", Seen::Progress(0)),
        fails("1", Seen::Progress(0)),
        fails("3", Seen::Progress(2)),
    ],
};

#[derive(Debug)]
struct MinProgress {
    least: u64,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let least = shape::count(NAME, node, found);
    least.map(|least| shape::planned(NAME, node.span, MinProgress { least })).into_iter().collect()
}

impl Check for MinProgress {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let count = seen.progress_count();
        if count >= self.least {
            return Ok(());
        }
        let others = seen.notifications.len() as u64 - count;
        let rest = if others > 0 { format!(" (and {others} other notifications)") } else { String::new() };
        Err(Mismatch {
            message: format!("{count} progress notifications arrived, fewer than {}", self.least),
            expected: format!("at least {} progress notifications", self.least),
            actual: format!("{count} progress notifications{rest}"),
            diff: None,
            help: Some(
                "the server must send `notifications/progress` for the `progressToken` it was given in `_meta`"
                    .to_owned(),
            ),
        })
    }
}
