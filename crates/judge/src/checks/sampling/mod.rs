//! The checks of `expect_sampling`: what the server asked a model for.

use mcprove_model::Observation;
use serde_json::Value;

use super::among::Texts;
use super::bound::Counted;
use super::{CheckKind, Seen};
use crate::excerpt;

mod contains;
mod max_requests;
mod max_tokens;
mod min_requests;
mod system_prompt_contains;

/// Every check of sampling requests, in the order failures are reported.
pub(super) const CHECKS: &[CheckKind] =
    &[min_requests::KIND, max_requests::KIND, contains::KIND, system_prompt_contains::KIND, max_tokens::KIND];

/// One request, for the examples.
const ONE: Seen = Seen::Asked(
    r#"[{"method": "sampling/createMessage", "params": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Summarize this"}},
                     {"role": "user", "content": [{"type": "text", "text": "and that"}]}],
        "systemPrompt": "You are brief.", "maxTokens": 100}}]"#,
);

const NONE: &str = "no sampling requests";

const REQUESTS: Counted = Counted {
    one: "sampling request",
    many: "sampling requests",
    shown: |seen| requests(seen).map(|params| excerpt::quoted(&text_of(params))).collect(),
};

const MESSAGES: Texts = Texts {
    none: "no message of a sampling request contains",
    some: "a message of a sampling request contains",
    empty: NONE,
    of: |seen| requests(seen).map(text_of).collect(),
};

const SYSTEM_PROMPTS: Texts = Texts {
    none: "no system prompt contains",
    some: "a system prompt contains",
    empty: "no system prompt",
    of: |seen| requests(seen).filter_map(|params| Some(params.get("systemPrompt")?.as_str()?.to_owned())).collect(),
};

/// The params of every sampling request.
fn requests(seen: &Observation) -> impl Iterator<Item = &Value> {
    seen.asked.iter().filter(|asked| asked.method == "sampling/createMessage").map(|asked| &asked.params)
}

/// The texts of all messages of a request. The content of a message is one item, or since 2025-11-25 a list of them.
fn text_of(params: &Value) -> String {
    let messages = params.get("messages").and_then(Value::as_array).into_iter().flatten();
    let contents = messages.filter_map(|message| message.get("content"));
    let items = contents.flat_map(|content| content.as_array().map_or(std::slice::from_ref(content), Vec::as_slice));
    let texts: Vec<&str> = items.filter_map(|item| item.get("text")?.as_str()).collect();
    texts.join("\n")
}
