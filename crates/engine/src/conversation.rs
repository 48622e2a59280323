//! What the parts of a running case share.

use mcprove_model::{Case, Node, Span, TextPlace};
use mcprove_suite::template::{Variables, substitute};
use mcprove_wire::Session;
use serde_json::Value;
use tokio::time::Instant;

use crate::record::CaseRecord;

/// A case in conversation with its server.
#[derive(Debug)]
pub(crate) struct Conversation<'c> {
    pub(crate) case: &'c Case,
    pub(crate) session: &'c mut Session,
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
