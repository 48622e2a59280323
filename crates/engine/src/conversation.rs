//! What the parts of a running case share.

use mcprove_model::{Case, Node, Span, TextPlace};
use mcprove_suite::template::{Variables, substitute};
use mcprove_wire::Session;
use serde_json::Value;
use tokio::time::Instant;

use crate::record::CaseRecord;
use crate::server::Opener;

/// A case in conversation with its server.
#[derive(Debug)]
pub(crate) struct Conversation<'c> {
    pub(crate) case: &'c Case,
    pub(crate) session: &'c mut Session,
    /// The number of the session in the record.
    pub(crate) number: &'c mut u32,
    pub(crate) opener: &'c Opener,
    pub(crate) variables: &'c mut Variables,
    pub(crate) record: &'c mut CaseRecord,
    pub(crate) deadline: Instant,
}

impl Conversation<'_> {
    /// A text with its templates filled in.
    pub(crate) fn text(&self, node: &Node) -> String {
        text(node, self.variables)
    }

    /// A value with its templates filled in, as it is sent.
    pub(crate) fn json(&self, node: &Node) -> Value {
        substitute(node, self.variables).to_json()
    }

    /// A map of texts with its templates filled in: whatever a template stands for is sent as text.
    pub(crate) fn texts(&self, node: &Node) -> Value {
        match self.json(node) {
            Value::Object(map) => Value::Object(map.into_iter().map(|(key, value)| (key, as_text(value))).collect()),
            other => other,
        }
    }

    /// A place in the case's file.
    pub(crate) fn place(&self, span: Span) -> TextPlace {
        self.case.source.place(span)
    }
}

/// A text with its templates filled in.
pub(crate) fn text(node: &Node, variables: &Variables) -> String {
    match substitute(node, variables).to_json() {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn as_text(value: Value) -> Value {
    match value {
        Value::String(_) => value,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Value::String(value.to_string())
        }
    }
}
