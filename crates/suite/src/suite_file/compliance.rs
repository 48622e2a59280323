//! `compliance`: one request of the protocol per test, judged by its result.

use std::sync::Arc;

use mcprove_judge::conformance::SpecChange;
use mcprove_judge::target_sets;
use mcprove_model::{
    Act, Diagnostics, Entry, Expectation, Kind as NodeKind, Node, Protocol, Raw, Revision, Vocabulary, nearest,
};
use serde_json::{Value, json};

use super::Suite;
use super::list::Kind;
use crate::assertion_file::block::Input;
use crate::field::{self, Field};
use crate::schema::fragment;

/// The key of the list.
pub(super) const KEY: &str = "compliance";

/// The revision a suite was written for, at the list or at a test.
pub(super) const SPEC_VERSION: &str = "spec_version";

/// The comparison of the suite's revision with another, in the map around the list.
pub(super) const CHECK: &str = "spec_version_check";

const CHECK_TARGETS: Vocabulary = Vocabulary::Targets(&target_sets::SPEC_VERSION);

/// Keys of the map around the list.
pub(super) const MAP: &[Field] = &[
    Field::optional(SPEC_VERSION, || fragment::text("The revision to speak, for example `v2025-06-18`.")),
    Field::optional(CHECK, || {
        let summary = "Compare `spec_version` with another revision: the binding rules that apply to one of them only.";
        field::map(summary, SPEC_CHECK)
    }),
    // The schema of the list is added to it.
    Field::required("tests", || Value::Null),
];

const SPEC_CHECK: &[Field] = &[
    Field::optional("against", || {
        fragment::text("The other revision, for example `v2025-11-25`; `draft` is the newest.")
    }),
    Field::optional("expect", || fragment::expect(CHECK_TARGETS)),
];

/// Keys of that map in the other tool, and what to do instead.
pub(super) const OUTSIDE: &[(&str, &str)] = &[
    ("baseline", "`mcprove run --baseline FILE` compares with an earlier run"),
    ("grade_delta", "`mcprove run --baseline FILE` compares with an earlier run"),
];

pub(super) const KIND: Kind = Kind {
    key: KEY,
    summary: "Send one request of the protocol, without params, and judge its result; `initialize` is the handshake.",
    fields: &[FIELDS],
    decode,
};

const FIELDS: &[Field] = &[
    Field::required("check", || fragment::text("The method, for example `tools/list`.")),
    Field::optional("expect", || fragment::expect(Vocabulary::Raw)),
    Field::optional(SPEC_VERSION, || {
        let versions: Vec<String> = Revision::ALL.map(|revision| format!("v{}", revision.as_str())).into();
        json!({"enum": versions, "description": "The revision to speak."})
    }),
];

/// The JSON Schema of `compliance`: a list of tests, or a map with one.
pub(super) fn schema(list: &Value) -> Value {
    let mut map = field::map("The tests and their revision.", MAP);
    map["properties"]["tests"] = list.clone();
    json!({"anyOf": [list, map], "description": KIND.summary})
}

fn decode(input: &Input<'_>, _: &Suite<'_>, found: &mut Diagnostics<'_>) -> Option<(Act, Expectation)> {
    let node = input.node;
    if let Some((from, to)) = node.get("check").and_then(compared_revisions) {
        let expect = input.expect(CHECK_TARGETS, found);
        let has_default_gate = expect.checks.is_empty();
        return Some((Act::Offline(Arc::new(SpecChange { from, to, has_default_gate })), expect));
    }
    let expect = input.expect(Vocabulary::Raw, found);
    let method = input.named("check", found)?;
    let raw = if method.as_text() == Some("initialize") {
        Raw::Handshake(method)
    } else {
        Raw::Message { method, params: Some(Node::from_json(node.span, json!({}))), notification: false }
    };
    Some((Act::Raw(raw), expect))
}

/// `spec_version_check` as a test of its own; nothing is compared where a revision is missing.
pub(super) fn version_check(compliance: &Node, found: &mut Diagnostics<'_>) -> Option<Node> {
    let check = compliance.get(CHECK).filter(|check| !check.is_null())?;
    field::entries(check, "`spec_version_check`", SPEC_CHECK, found)?;
    let mut revision = |node: Option<&Node>, what: &str| {
        let Some(node) = node.filter(|node| !node.is_null()) else {
            let message = format!("`spec_version_check` compares nothing: there is no `{what}`");
            found.warning("unused-key", check.span, message, Some(format!("add `{what}: v2025-11-25`")));
            return None;
        };
        let revision = revision_of(node.as_text()?);
        if revision.is_none() && what == "against" {
            let message = format!("unknown revision `{}`", node.as_text().unwrap_or_default());
            found.error_with_help(
                "unknown-protocol",
                node.span,
                message,
                "write for example `v2025-11-25`, or `draft`",
            );
        }
        revision
    };
    let to = revision(check.get("against"), "against");
    let from = revision(compliance.get(SPEC_VERSION), SPEC_VERSION);
    let (from, to) = (from?, to?);
    let name = format!("spec version check of {from} against {to}");
    let mut test = Node::from_json(check.span, json!({"name": name, "check": format!("{CHECK} {from} {to}")}));
    if let NodeKind::Map(parts) = &mut test.kind {
        let tests = compliance.get("tests").and_then(Node::as_list).unwrap_or_default();
        let server = tests.iter().find_map(|test| entry_of(test, "server"));
        parts.extend(server.into_iter().chain(entry_of(check, "expect")));
    }
    Some(test)
}

fn entry_of(map: &Node, key: &str) -> Option<Entry> {
    map.as_map()?.iter().find(|entry| entry.key.text == key).cloned()
}

/// The revisions of a comparison that was rewritten as a test.
fn compared_revisions(check: &Node) -> Option<(Revision, Revision)> {
    let (from, to) = check.as_text()?.strip_prefix(CHECK)?.trim_start().split_once(' ')?;
    Some((Revision::parse(from)?, Revision::parse(to)?))
}

/// A revision as that tool writes it.
fn revision_of(text: &str) -> Option<Revision> {
    if text == "draft" { Some(Revision::NEWEST) } else { text.strip_prefix('v').and_then(Revision::parse) }
}

/// The revision that a test names.
pub(super) fn protocol(test: &Node, found: &mut Diagnostics<'_>) -> Option<Protocol> {
    let node = test.get(SPEC_VERSION).filter(|version| !version.is_null())?;
    let text = found.text(node, "`spec_version`")?;
    let revision = text.strip_prefix('v').and_then(Revision::parse);
    if revision.is_none() {
        let names = Revision::ALL.map(|revision| format!("v{}", revision.as_str()));
        let help = match nearest(text, names.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("write one of {}", names.join(", ")),
        };
        found.error_with_help("unknown-protocol", node.span, format!("unknown revision `{text}`"), help);
    }
    revision.map(Protocol::Exactly)
}
