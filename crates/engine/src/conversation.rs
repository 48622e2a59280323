//! State shared by the parts of a running case.

use std::sync::Arc;

use mcprove_model::{Case, Node, ServerSpec, Span, TextPlace};
use mcprove_suite::template::{Variables, filled};
use mcprove_wire::Session;
use serde_json::Value;
use tokio::time::Instant;

use crate::pipelining::Pipeline;
use crate::record::CaseRecord;
use crate::server::Opener;
use crate::stored_replies::Storing;

/// A case in conversation with its server.
#[derive(Debug)]
pub(crate) struct Conversation<'c> {
    pub(crate) case: &'c Case,
    pub(crate) session: &'c mut Session,
    /// The number of the session in the record.
    pub(crate) number: &'c mut usize,
    /// Sessions with other servers than the case's own.
    pub(crate) others: &'c mut ExtraSessions,
    pub(crate) opener: &'c Opener,
    pub(crate) variables: &'c mut Variables,
    pub(crate) record: &'c mut CaseRecord,
    pub(crate) deadline: Instant,
    /// Mode of stored values.
    pub(crate) storing: Storing,
    /// The calls that are sent before their case begins.
    pub(crate) pipeline: &'c mut Pipeline,
}

/// Sessions of a case with other servers than its own, each opened when the case first speaks to it.
#[derive(Debug, Default)]
pub(crate) struct ExtraSessions {
    open: Vec<ExtraSession>,
}

#[derive(Debug)]
struct ExtraSession {
    server: Arc<ServerSpec>,
    session: Session,
    /// Its number in the record.
    number: usize,
}

impl ExtraSessions {
    /// Ends them all.
    pub(crate) async fn close(self, record: &mut CaseRecord) {
        for other in self.open {
            record.closed_session(other.number, other.session.close().await);
        }
    }
}

impl Conversation<'_> {
    /// The session with a server, opened now if it was not before; `None` is the case's own. What keeps a server from
    /// being reached is a finding.
    pub(crate) async fn session_with(&mut self, server: Option<&Arc<ServerSpec>>) -> Option<&mut Session> {
        let server = server.filter(|server| self.case.server.as_ref() != Some(server));
        let Some(server) = server else { return Some(self.session) };
        let known = self.others.open.iter().position(|other| other.server == *server);
        let at = if let Some(at) = known {
            at
        } else {
            match Box::pin(self.opener.open(server, self.variables, self.deadline)).await {
                Ok(session) => {
                    let number = self.record.opened_at(&session, Some(&server.name));
                    self.others.open.push(ExtraSession { server: Arc::clone(server), session, number });
                    self.others.open.len() - 1
                }
                Err(mut failure) => {
                    failure.message = format!("server `{}`: {}", server.name, failure.message);
                    self.record.not_opened(*failure);
                    return None;
                }
            }
        };
        Some(&mut self.others.open[at].session)
    }

    /// Display name of a server of the case; `None` means its own.
    pub(crate) fn name_of(&self, server: Option<&Arc<ServerSpec>>) -> String {
        server.or(self.case.server.as_ref()).map(|server| server.name.clone()).unwrap_or_default()
    }
    /// A text with its templates filled in.
    pub(crate) fn text(&self, node: &Node) -> String {
        text(node, self.variables)
    }

    /// A value with its templates filled in, as it is sent.
    pub(crate) fn json(&self, node: &Node) -> Value {
        filled(node, self.variables)
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
    match filled(node, variables) {
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
