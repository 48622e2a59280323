//! `compliance`: one request of the protocol per test, judged by its result.

use mcprove_model::{Act, Diagnostics, Entry, Expectation, Node, Protocol, Raw, Revision, Vocabulary, nearest};
use serde_json::{Value, json};

use super::Suite;
use super::list::Kind;
use crate::assertion_file::block::{self, Input};
use crate::assertion_file::expectation;
use crate::field::Field;
use crate::schema::fragment;

/// The key of the list.
pub(super) const KEY: &str = "compliance";

/// The revision a suite was written for, at the list or at a test.
pub(super) const SPEC_VERSION: &str = "spec_version";

/// Keys of the map around the list, and what to do instead.
pub(super) const OUTSIDE: &[(&str, &str)] = &[
    ("baseline", "`mcprove run --baseline FILE` compares with an earlier run"),
    ("grade_delta", "`mcprove run --baseline FILE` compares with an earlier run"),
    ("spec_version_check", "`target_versions` runs the tests in several revisions"),
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
    let properties =
        json!({SPEC_VERSION: fragment::text("The revision to speak, for example `v2025-06-18`."), "tests": list});
    let map = fragment::map("The tests and their revision.", properties, &["tests"]);
    json!({"anyOf": [list, map], "description": KIND.summary})
}

fn decode(input: &Input<'_>, _: &Suite<'_>, found: &mut Diagnostics<'_>) -> Option<(Act, Expectation)> {
    let node = &input.entry.value;
    let expect = expectation::decode(node.get("expect"), Vocabulary::Raw, input.scope, found);
    let method = block::named(node, "check", input.entry.key.span, found)?;
    let raw = if method.as_text() == Some("initialize") {
        Raw::Handshake(method)
    } else {
        Raw::Message { method, params: Some(Node::from_json(node.span, json!({}))), notification: false }
    };
    Some((Act::Raw(raw), expect))
}

/// The revision that a test names.
pub(super) fn protocol(test: &Entry, found: &mut Diagnostics<'_>) -> Option<Protocol> {
    let node = test.value.get(SPEC_VERSION).filter(|version| !version.is_null())?;
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
