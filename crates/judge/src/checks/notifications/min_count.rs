//! `min_count`: at least this many notifications arrived.

use mcprove_model::{Diagnostics, Node, PlannedCheck};

use super::{COUNTED, TWO};
use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, Seen, bound, shape};

const NAME: &str = "min_count";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "At least this many notifications arrived.",
    decode,
    schema: shape::count_schema,
    examples: &[holds("2", TWO), holds("0", Seen::Notifications("[]")), fails("3", TWO)],
};

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    bound::least(&bound::CountCheck { name: NAME, node, counted: &COUNTED }, found)
}
