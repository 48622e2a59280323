//! Checks tried out in tests: decoded from JSON, judging made-up observations.

use std::sync::Arc;

use mcprove_model::{
    AskedOfClient, Check, Diagnostics, FileSeen, FileState, Finding, Mismatch, Node, Notification, Observation,
    Outcome, PlannedCheck, RpcError, SourceFile, Span, TracedCall,
};
use serde_json::{Value, json};

use super::{CHECKS, CheckKind, Seen};

/// A table of checks to be tried out.
#[derive(Clone, Copy)]
pub(super) struct Trial(pub(super) &'static [CheckKind]);

impl Trial {
    /// The checks that a value under a key decodes to; nothing may be wrong with it.
    pub(super) fn decoded(self, name: &str, value: &str) -> Vec<PlannedCheck> {
        let (checks, findings) = self.decode(name, value);
        assert!(findings.is_empty(), "{name}: {value}: {findings:?}");
        checks
    }

    /// Findings about a value under a key.
    pub(super) fn findings(self, name: &str, value: &str) -> Vec<Finding> {
        self.decode(name, value).1
    }

    /// Every mismatch between a value under a key and what is seen.
    pub(super) fn mismatches(self, name: &str, value: &str, seen: Seen) -> Vec<Mismatch> {
        let seen = observation(&seen);
        self.decoded(name, value).iter().filter_map(|planned| planned.check.judge(&seen).err()).collect()
    }

    /// The only mismatch between a value under a key and what is seen.
    pub(super) fn mismatch(self, name: &str, value: &str, seen: Seen) -> Mismatch {
        let mut mismatches = self.mismatches(name, value, seen);
        assert_eq!(mismatches.len(), 1, "{name}: {value}: {mismatches:?}");
        mismatches.remove(0)
    }

    fn decode(self, name: &str, value: &str) -> (Vec<PlannedCheck>, Vec<Finding>) {
        let kind = self.0.iter().find(|kind| kind.name == name).expect(name);
        let source = SourceFile::new("a.yaml", value);
        let mut found = Diagnostics::new(&source);
        let node = Node::from_json(Span::new(0, value.len()), serde_json::from_str(value).expect(value));
        let checks = (kind.decode)(&node, &mut found);
        (checks, found.into_findings())
    }
}

/// The checks of a result that a value under a key decodes to; nothing may be wrong with it.
pub(super) fn decoded(name: &str, value: &str) -> Vec<PlannedCheck> {
    Trial(CHECKS).decoded(name, value)
}

/// Findings about a value under a key.
pub(super) fn findings(name: &str, value: &str) -> Vec<Finding> {
    Trial(CHECKS).findings(name, value)
}

/// The only check that a value under a key decodes to.
pub(super) fn check(name: &str, value: &str) -> Arc<dyn Check> {
    let mut checks = decoded(name, value);
    assert_eq!(checks.len(), 1, "{name}: {value}");
    checks.remove(0).check
}

/// Every mismatch between a value under a key and what is seen.
pub(super) fn mismatches(name: &str, value: &str, seen: &Observation) -> Vec<Mismatch> {
    decoded(name, value).iter().filter_map(|planned| planned.check.judge(seen).err()).collect()
}

/// The only mismatch between a value under a key and what is seen.
pub(super) fn mismatch(name: &str, value: &str, seen: &Observation) -> Mismatch {
    let mut mismatches = mismatches(name, value, seen);
    assert_eq!(mismatches.len(), 1, "{name}: {value}: {mismatches:?}");
    mismatches.remove(0)
}

/// An observation of a tool result with one text.
pub(super) fn text(text: &str) -> Observation {
    result(json!({"content": [{"type": "text", "text": text}]}))
}

/// An observation of a tool result.
pub(super) fn result(result: Value) -> Observation {
    Observation::of_tool_call(Outcome::Result(result))
}

/// An observation of a file.
pub(super) fn file(path: &str, before: FileState, after: FileState) -> Observation {
    let mut seen = text("ok");
    seen.files.insert(path.to_owned(), FileSeen { before, after });
    seen
}

/// The observation an example speaks of.
pub(super) fn observation(seen: &Seen) -> Observation {
    match *seen {
        Seen::Text(content) => text(content),
        Seen::Result(json) => result(serde_json::from_str(json).expect(json)),
        Seen::ProtocolError(code) => {
            let error = RpcError { code, message: "no such tool".to_owned(), data: None };
            Observation::of_tool_call(Outcome::Error(error))
        }
        Seen::File { path, before, after } => {
            let state = |content: Option<&str>| content.map_or(FileState::Missing, |c| FileState::Content(c.into()));
            file(path, state(before), state(after))
        }
        Seen::Progress(count) => {
            let mut seen = text("ok");
            let progress =
                |n| Notification { at_us: n, method: "notifications/progress".to_owned(), params: Value::Null };
            seen.notifications = (0..count as u64).map(progress).collect();
            seen
        }
        Seen::Notifications(json) => {
            let mut seen = text("ok");
            let notification = |(method, params)| Notification { at_us: 0, method, params };
            seen.notifications = messages(json).map(notification).collect();
            seen
        }
        Seen::Asked(json) => {
            let mut seen = text("ok");
            seen.asked = messages(json).map(|(method, params)| AskedOfClient { method, params }).collect();
            seen
        }
        Seen::Trace(json) => {
            let mut seen = text("");
            let calls: Vec<Value> = serde_json::from_str(json).expect(json);
            let call = |call: Value| TracedCall {
                tool: call["tool"].as_str().expect("a tool").to_owned(),
                args: call.get("args").cloned().unwrap_or_else(|| json!({})),
            };
            seen.trace = calls.into_iter().map(call).collect();
            seen
        }
        Seen::Headers(json) => {
            let mut seen = text("ok");
            let headers: std::collections::BTreeMap<String, String> = serde_json::from_str(json).expect(json);
            seen.headers = Some(headers.into_iter().collect());
            seen
        }
        Seen::Elapsed(ms) => {
            let mut seen = text("ok");
            seen.elapsed_us = ms * 1000;
            seen
        }
        Seen::Nothing => Observation::of_tool_call(Outcome::Cancelled),
    }
}

fn messages(json: &str) -> impl Iterator<Item = (String, Value)> {
    let messages: Vec<Value> = serde_json::from_str(json).expect(json);
    messages.into_iter().map(|message| {
        let params = message.get("params").cloned().unwrap_or_default();
        (message["method"].as_str().expect("a method").to_owned(), params)
    })
}
