//! `max_count`: at most this many notifications arrived.

use mcprove_model::{Diagnostics, Node, PlannedCheck};

use super::{COUNTED, TWO};
use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, Seen, bound, shape};

const NAME: &str = "max_count";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "At most this many notifications arrived.",
    decode,
    schema: shape::count_schema,
    examples: &[holds("2", TWO), holds("0", Seen::Notifications("[]")), fails("1", TWO)],
};

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    bound::most(&bound::CountCheck { name: NAME, node, counted: &COUNTED }, found)
}
