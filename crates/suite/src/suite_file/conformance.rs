//! `conformance`: check a server against the rules of the protocol.

use mcprove_judge::conformance::RULES;
use mcprove_model::{
    Act, ConformanceBlock, Diagnostics, Entry, Expectation, Key, Kind as NodeKind, Node, ScanWork, nearest,
};
use serde_json::{Value, json};

use super::Suite;
use super::list::Kind;
use crate::assertion_file::block::Input;
use crate::field::Field;
use crate::schema::fragment;
use crate::server;

/// The key of the list.
pub(super) const KEY: &str = "conformance";

/// Keys of every test that mean nothing here: a rule has no call that others could be made around.
pub(super) const NOT_HERE: &[&str] =
    &["capture", "derivedMetrics", "elicitation", "known", "mask", "setup", "teardown", "threshold", "verify"];

pub(super) const KIND: Kind = Kind {
    key: KEY,
    summary: "Check a server against the rules of the protocol; each rule in each revision is a case.",
    fields: &[FIELDS],
    decode,
};

const FIELDS: &[Field] = &[
    Field::optional("except", || rules_schema("Rules that are left out.")),
    Field::optional("include_writes", || {
        fragment::flag("Call tools that write, too, and put their hints to the test.")
    }),
    Field::optional("protocol", || {
        let mut schema = server::keys::protocol_schema();
        schema["description"] = "The revisions to test; all that the server serves when left out.".into();
        schema
    }),
    Field::optional("read_only", || fragment::flag("Call only tools that say that they only read.")),
    Field::optional("rules", || rules_schema("The only rules that are checked; all when left out.")),
];

/// The JSON Schema of `conformance`: a list of tests, or one test.
pub(super) fn schema(list: &Value) -> Value {
    let mut list = list.clone();
    if let Some(Value::Object(properties)) = list.pointer_mut("/items/properties") {
        properties.retain(|key, _| !NOT_HERE.contains(&key.as_str()));
    }
    let mut one = list["items"].clone();
    one["required"] = json!([]);
    one["properties"]["target_version"] = fragment::text("Another name of `protocol`; a `v` may come first.");
    json!({"anyOf": [list, one], "description": KIND.summary})
}

fn rules_schema(description: &str) -> Value {
    let ids: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
    json!({"type": "array", "items": {"enum": ids}, "description": description})
}

fn decode(input: &Input<'_>, _: &Suite<'_>, found: &mut Diagnostics<'_>) -> Option<(Act, Expectation)> {
    let test = input.node;
    let flag = |key: &str, found: &mut Diagnostics<'_>| {
        let node = test.get(key).filter(|node| !node.is_null());
        node.is_some_and(|node| found.boolean(node, &format!("`{key}`")) == Some(true))
    };
    let (include_writes, read_only) = (flag("include_writes", found), flag("read_only", found));
    if include_writes && read_only {
        let message = "`include_writes` and `read_only` are mutually exclusive";
        found.error_with_help("two-places", test.span, message, "remove one of them");
        return None;
    }
    let before = found.count();
    let block = ConformanceBlock {
        protocol: test
            .get("protocol")
            .filter(|node| !node.is_null())
            .and_then(|protocol| server::decode_protocol(protocol, found)),
        rules: rules(test, "rules", found),
        except: rules(test, "except", found),
        include_writes,
        read_only,
    };
    (found.count() == before).then(|| (Act::Scan(ScanWork::new(KEY, block)), Expectation::default()))
}

/// The ids of rules; those that do not exist are reported.
fn rules(test: &Node, key: &str, found: &mut Diagnostics<'_>) -> Vec<String> {
    let Some(list) = test.get(key).filter(|list| !list.is_null()) else { return Vec::new() };
    let mut ids = Vec::new();
    for node in found.list(list, &format!("`{key}`")) {
        let Some(id) = found.text(node, "a rule") else { continue };
        if RULES.iter().any(|rule| rule.id == id) {
            ids.push(id.to_owned());
            continue;
        }
        let help = match nearest(id, RULES.iter().map(|rule| rule.id)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`mcprove explain conformance` lists all rules".to_owned(),
        };
        found.error_with_help("unknown-rule", node.span, format!("there is no rule `{id}`"), help);
    }
    ids
}

/// One test, written as a map, is a list of one; its name may be left out.
pub(super) fn expand(node: &mut Node) {
    let NodeKind::Map(entries) = &mut node.kind else { return };
    let span = node.span;
    if !entries.iter().any(|entry| entry.key.text == "name") {
        let key = Key { text: "name".into(), span };
        entries.insert(0, Entry { key, value: Node::from_json(span, json!(KEY)) });
    }
    // A revision is written `v2025-11-25` in suites of mcptest.
    for entry in entries.iter_mut().filter(|entry| entry.key.text == "target_version") {
        entry.key.text = "protocol".into();
        if let Some(version) = entry.value.as_text().and_then(|text| text.strip_prefix('v')) {
            entry.value = Node::from_json(entry.value.span, json!(version));
        }
    }
    let test = Node { span, kind: NodeKind::Map(std::mem::take(entries)) };
    node.kind = NodeKind::List(vec![test]);
}
