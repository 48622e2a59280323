//! `max_requests`: the server requested at most this many messages.

use mcprove_model::{Diagnostics, Node, PlannedCheck};

use super::{ONE, REQUESTS};
use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, Seen, bound, shape};

const NAME: &str = "max_requests";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "At most this many sampling requests arrived.",
    decode,
    schema: shape::count_schema,
    examples: &[holds("1", ONE), holds("0", Seen::Asked(r#"[{"method": "roots/list"}]"#)), fails("0", ONE)],
};

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    bound::most(&bound::CountCheck { name: NAME, node, counted: &REQUESTS }, found)
}
