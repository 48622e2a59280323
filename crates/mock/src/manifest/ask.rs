//! Requests to the client before an answer is given.
//!
//! In the legacy era these are requests of the server; in the modern era they come as a result that asks for input
//! (2026-07-28, "Multi Round-Trip Requests"). A manifest says what is asked, not how.

use mcprove_model::{Diagnostics, Node};
use serde_json::{Map, Value, json};

use super::block::Block;

pub(super) const ROUND_KEYS: &[&str] = &["requests", "state", "description"];
pub(super) const ASK_KEYS: &[&str] = &["method", "params", "key", "id"];

/// Requests that are sent together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Round {
    pub(crate) asks: Vec<Ask>,
    /// The state a client must give back as it is; made up when absent and needed.
    pub(crate) state: Option<String>,
    pub(crate) description: Option<String>,
}

/// One question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ask {
    pub(crate) key: String,
    pub(crate) method: AskMethod,
    pub(crate) params: Value,
}

/// Kinds of requests to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AskMethod {
    Elicitation,
    Roots,
    Sampling,
}

impl AskMethod {
    const ALL: [Self; 3] = [Self::Elicitation, Self::Roots, Self::Sampling];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation/create",
            Self::Roots => "roots/list",
            Self::Sampling => "sampling/createMessage",
        }
    }

    /// The name of the answer in placeholders, and the capability a client must have declared.
    pub(crate) fn capability(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation",
            Self::Roots => "roots",
            Self::Sampling => "sampling",
        }
    }
}

impl Ask {
    /// The capability this question needs, as a client would declare it.
    pub(crate) fn required_capability(&self) -> Value {
        let by_url = self.params.get("mode").and_then(Value::as_str) == Some("url");
        match self.method {
            AskMethod::Elicitation if by_url => json!({"elicitation": {"url": {}}}),
            AskMethod::Sampling if self.params.get("tools").is_some() => json!({"sampling": {"tools": {}}}),
            AskMethod::Elicitation | AskMethod::Roots | AskMethod::Sampling => {
                Value::Object(Map::from_iter([(self.method.capability().to_owned(), json!({}))]))
            }
        }
    }

    pub(crate) fn request(&self) -> Value {
        json!({"method": self.method.name(), "params": self.params})
    }
}

/// Decodes `sampling`, `elicitation` and `roots_list`.
pub(super) fn decode(block: &Block<'_>, found: &mut Diagnostics<'_>) -> Vec<Ask> {
    let mut asks = Vec::new();
    for method in [AskMethod::Sampling, AskMethod::Elicitation] {
        let key = method.capability();
        if let Some(params) = block.object(key, found) {
            asks.push(Ask { key: key.to_owned(), method, params });
        }
    }
    if block.flag("roots_list", found) {
        asks.push(Ask { key: "roots".to_owned(), method: AskMethod::Roots, params: json!({}) });
    }
    asks
}

/// Decodes `input_required`: one round, or a list of them.
pub(super) fn rounds_of(block: &Block<'_>, found: &mut Diagnostics<'_>) -> Vec<Round> {
    let Some(node) = block.get("input_required") else { return Vec::new() };
    let nodes = found.one_or_many(node);
    nodes.iter().filter_map(|node| round(node, found)).collect()
}

fn round(node: &Node, found: &mut Diagnostics<'_>) -> Option<Round> {
    let block = Block::open(node, "`input_required`", ROUND_KEYS, found)?;
    let requests = block.get("requests");
    let asks = requests.map(|node| asks_of(node, found)).unwrap_or_default();
    let state = block.text("state", found);
    if requests.is_none() && state.is_none() {
        let help = "give `requests`, `state`, or both";
        found.error_with_help("bad-ask", node.span, "`input_required` asks for nothing", help);
        return None;
    }
    Some(Round { asks, state, description: block.text("description", found) })
}

/// Requests by their keys, or a list of them.
pub(super) fn asks_of(node: &Node, found: &mut Diagnostics<'_>) -> Vec<Ask> {
    let mut asks = Vec::new();
    match (node.as_map(), node.as_list()) {
        (Some(entries), _) => {
            for entry in entries {
                asks.extend(ask(&entry.key.text, &entry.value, found));
            }
        }
        (None, Some(nodes)) => {
            for (at, node) in nodes.iter().enumerate() {
                let key = node.get("key").or_else(|| node.get("id")).and_then(Node::as_text);
                asks.extend(ask(&key.map_or_else(|| at.to_string(), str::to_owned), node, found));
            }
        }
        (None, None) => found.wrong_kind(node, "`requests`", "a map of requests by their keys"),
    }
    asks
}

fn ask(key: &str, node: &Node, found: &mut Diagnostics<'_>) -> Option<Ask> {
    let block = Block::open(node, "a request for input", ASK_KEYS, found)?;
    let written = block.required_text("method", found)?;
    let Some(method) = AskMethod::ALL.into_iter().find(|method| method.name() == written) else {
        let names = AskMethod::ALL.map(AskMethod::name).join(", ");
        let span = block.get("method").map_or(node.span, |node| node.span);
        found.error_with_help(
            "bad-ask",
            span,
            format!("`{written}` cannot be asked of a client"),
            format!("give one of {names}"),
        );
        return None;
    };
    let params = block.object("params", found).unwrap_or_else(|| json!({}));
    Some(Ask { key: key.to_owned(), method, params })
}
