//! `max_response_tokens`: the answer does not fill a model's context.
//!
//! Tokens are estimated: a quarter of the characters of the text, rounded up (`estimate`), or its words (`whitespace`).
//! The tables of real tokenizers are many megabytes and differ from model to model; a budget is not that exact.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck, nearest};
use serde_json::{Value, json};

use super::example::{fails, holds};
use super::{CheckKind, Seen, shape};

const NAME: &str = "max_response_tokens";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "The text of the result has at most this many tokens: an estimate of a quarter of its characters, or its \
              words under `tokenizer: whitespace`.",
    decode,
    schema,
    examples: &[
        holds("3", Seen::Text("eleven char")),
        fails("2", Seen::Text("eleven char")),
        holds(r#"{"budget": 2, "tokenizer": "whitespace"}"#, Seen::Text("eleven char")),
        fails(r#"{"budget": 1, "tokenizer": "whitespace"}"#, Seen::Text("eleven char")),
    ],
};

const TOKENIZERS: [(&str, Tokenizer); 2] = [("estimate", Tokenizer::Estimate), ("whitespace", Tokenizer::Whitespace)];

#[derive(Clone, Copy, Debug)]
enum Tokenizer {
    Estimate,
    Whitespace,
}

#[derive(Debug)]
struct MaxTokens {
    most: u64,
    tokenizer: Tokenizer,
}

fn schema() -> Value {
    let names = TOKENIZERS.map(|(name, _)| name);
    json!({"anyOf": [
        shape::count_schema(),
        {
            "type": "object",
            "additionalProperties": false,
            "required": ["budget"],
            "properties": {
                "budget": {"type": "integer", "minimum": 0, "description": "The most tokens."},
                "tokenizer": {"enum": names, "description": "How tokens are counted; `estimate` when left out."},
            },
        },
    ]})
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let (budget, tokenizer) = if node.as_map().is_some() {
        found.known_keys(node, "`max_response_tokens`", &["budget", "tokenizer"]);
        if node.get("budget").is_none() {
            let message = "`max_response_tokens` has no `budget`";
            found.error_with_help("missing-key", node.span, message, "add `budget:` with the most tokens");
        }
        let tokenizer = node.get("tokenizer").map_or(Some(Tokenizer::Estimate), |name| tokenizer(name, found));
        (node.get("budget"), tokenizer)
    } else {
        (Some(node), Some(Tokenizer::Estimate))
    };
    let most = budget.and_then(|budget| shape::count(NAME, budget, found));
    let (Some(most), Some(tokenizer)) = (most, tokenizer) else { return Vec::new() };
    vec![shape::planned(NAME, node.span, MaxTokens { most, tokenizer })]
}

fn tokenizer(node: &Node, found: &mut Diagnostics<'_>) -> Option<Tokenizer> {
    let name = found.text(node, "`tokenizer`")?;
    let known = TOKENIZERS.into_iter().find(|(known, _)| *known == name);
    if known.is_none() {
        let help = match nearest(name, TOKENIZERS.map(|(name, _)| name)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "write `estimate` (a quarter of the characters) or `whitespace` (words)".to_owned(),
        };
        found.error_with_help("unknown-tokenizer", node.span, format!("unknown tokenizer `{name}`"), help);
    }
    known.map(|(_, tokenizer)| tokenizer)
}

impl Check for MaxTokens {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let (count, how) = match self.tokenizer {
            Tokenizer::Estimate => (seen.text.chars().count().div_ceil(4), "by estimate"),
            Tokenizer::Whitespace => (seen.text.split_whitespace().count(), "counted as words"),
        };
        if count as u64 <= self.most {
            return Ok(());
        }
        Err(Mismatch {
            message: format!("the text has {count} tokens {how}, more than {}", self.most),
            expected: format!("at most {} tokens", self.most),
            actual: format!("{count} tokens {how}"),
            ..Mismatch::default()
        })
    }
}
