//! `max_tokens`: no request asks for more tokens than this.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck};
use serde_json::Value;

use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, Seen, shape};
use crate::json_equality::truncated;

const NAME: &str = "max_tokens";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "There are sampling requests, and each sets `maxTokens` to this number or less.",
    decode,
    schema: shape::count_schema,
    examples: &[
        holds("100", Seen::Asked(r#"[{"method": "sampling/createMessage", "params": {"maxTokens": 100}}]"#)),
        fails("99", Seen::Asked(r#"[{"method": "sampling/createMessage", "params": {"maxTokens": 100}}]"#)),
        fails("100", Seen::Asked(r#"[{"method": "sampling/createMessage", "params": {}}]"#)),
        fails("100", Seen::Asked("[]")),
    ],
};

#[derive(Debug)]
struct MaxTokens {
    most: u64,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let most = shape::count(NAME, node, found);
    most.map(|most| shape::planned(NAME, node.span, MaxTokens { most })).into_iter().collect()
}

impl Check for MaxTokens {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let asked: Vec<Option<&Value>> = super::requests(seen).map(|params| params.get("maxTokens")).collect();
        let fits = |tokens: Option<&Value>| {
            let tokens = tokens.and_then(Value::as_number).and_then(truncated);
            tokens.is_some_and(|tokens| tokens <= i128::from(self.most))
        };
        let message = match asked.iter().find(|tokens| !fits(**tokens)) {
            None if asked.is_empty() => "the server made no sampling request".to_owned(),
            None => return Ok(()),
            Some(None) => "a sampling request does not set `maxTokens`".to_owned(),
            Some(Some(tokens)) => format!("a sampling request asks for {tokens} tokens, more than {}", self.most),
        };
        let shown: Vec<String> =
            asked.iter().map(|tokens| tokens.map_or("none".to_owned(), Value::to_string)).collect();
        Err(Mismatch {
            message,
            expected: format!("at most {} tokens", self.most),
            actual: if shown.is_empty() { super::NONE.to_owned() } else { format!("maxTokens: {}", shown.join(", ")) },
            ..Mismatch::default()
        })
    }
}
