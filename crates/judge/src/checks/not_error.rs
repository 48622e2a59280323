//! `not_error`: the tool did not report an error.

use mcprove_model::{Diagnostics, Node, PlannedCheck};

use super::example::{fails, holds};
use super::is_error::IsError;
use super::{CheckKind, Seen, shape};

const NAME: &str = "not_error";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "The result is not marked `isError`; `false` asks for one that is.",
    decode,
    schema: shape::flag_schema,
    examples: &[
        holds("true", Seen::Text("fine")),
        fails("true", Seen::Result(r#"{"content": [{"type": "text", "text": "no"}], "isError": true}"#)),
        holds("false", Seen::Result(r#"{"content": [], "isError": true}"#)),
        fails("false", Seen::Text("fine")),
    ],
};

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let flag = shape::flag(NAME, node, found);
    flag.map(|flag| shape::planned(NAME, node.span, IsError { wanted: !flag })).into_iter().collect()
}
