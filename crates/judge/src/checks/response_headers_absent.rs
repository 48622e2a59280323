//! `response_headers_absent`: headers that the HTTP response must not have.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck};
use serde_json::json;

use super::example::{fails, holds};
use super::{CheckKind, Seen, response_headers, shape};

const NAME: &str = "response_headers_absent";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "The HTTP response has none of these headers.",
    decode,
    schema: || json!({"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}}),
    examples: &[
        holds(r#"["set-cookie"]"#, Seen::Headers(r#"{"content-type": "application/json"}"#)),
        fails(r#"["Set-Cookie"]"#, Seen::Headers(r#"{"set-cookie": "a=b"}"#)),
        fails(r#"["set-cookie"]"#, Seen::Text("a reply over a pipe")),
    ],
};

#[derive(Debug)]
struct Absent {
    name: String,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let items = found.list(node, "`response_headers_absent`");
    let check = |item: &Node, found: &mut Diagnostics<'_>| {
        let name = found.text(item, "a header")?.to_lowercase();
        Some(shape::planned(NAME, item.span, Absent { name }))
    };
    items.iter().filter_map(|item| check(item, found)).collect()
}

impl Check for Absent {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let name = &self.name;
        let all = response_headers::values(seen, name)?;
        if all.is_empty() {
            return Ok(());
        }
        Err(Mismatch {
            message: format!("the response has a header `{name}`"),
            expected: format!("no header `{name}`"),
            actual: all.join(", "),
            ..Mismatch::default()
        })
    }

    fn wants_headers(&self) -> bool {
        true
    }
}
