//! Short forms of a suite file, rewritten to the long ones before anything is decoded: one `server`, a list of `servers`,
//! `target_versions`, `security.scan`, and `compliance` and `conformance` as maps.

use mcprove_model::{Diagnostics, Entry, Key, Kind, Node, Span, nearest};
use serde_json::{Value, json};

use super::{Servers, compliance, compositions, conformance, security, stepwise, tool_quality, unsupported_keys};
use crate::field;
use crate::schema::fragment;

/// The name of the one server that has none.
pub(super) const SERVER: &str = "server";

/// Keys of a file that holds settings of mcptest, and nothing to run.
const SETTINGS: &[&str] = &["color", "log_level", "output", "parallel", "reporter", "retry", "timeout_secs"];

/// True for a document that holds settings of mcptest or definitions of its rules, and nothing to run.
pub fn is_settings(document: &Node) -> bool {
    let entries = document.as_map().unwrap_or_default();
    let is_rules = matches!(entries, [only] if only.key.text == "corpus");
    is_rules || !entries.is_empty() && entries.iter().all(|entry| SETTINGS.contains(&entry.key.text.as_str()))
}

/// Rewrites the short forms of a document.
pub(super) fn expand(document: &mut Node, found: &mut Diagnostics<'_>) {
    let Kind::Map(entries) = &mut document.kind else { return };
    expand_server(entries, found);
    expand_target_versions(entries, found);
    for entry in entries.iter_mut() {
        match entry.key.text.as_str() {
            "servers" => expand_servers(&mut entry.value, found),
            compliance::KEY => expand_compliance(&mut entry.value, found),
            conformance::KEY => conformance::expand(&mut entry.value),
            compositions::KEY => entry.value = compositions::protected(&entry.value),
            // `${capture:NAME}` of a stepwise test is a value that the test captures, not a variable.
            stepwise::KEY => entry.value = stepwise::with_captures(&entry.value),
            _ => {}
        }
    }
    let scans = security::scan_tests(document);
    let Kind::Map(entries) = &mut document.kind else { return };
    let Some(span) = scans.first().map(|scan| scan.span) else { return };
    match entries.iter_mut().find(|entry| entry.key.text == tool_quality::KIND.key) {
        Some(Entry { value: Node { kind: Kind::List(own), .. }, .. }) => own.extend(scans),
        Some(_) => {}
        None => {
            let key = Key { text: tool_quality::KIND.key.into(), span };
            entries.push(Entry { key, value: Node { span, kind: Kind::List(scans) } });
        }
    }
}

/// The JSON Schema of `default_server`.
pub(super) fn default_server_schema() -> Value {
    fragment::text("The server of tests that name none.")
}

/// The JSON Schema of `target_versions`.
pub(super) fn target_versions_schema() -> Value {
    let revisions = mcprove_model::Revision::ALL.map(mcprove_model::Revision::as_str);
    json!({
        "type": ["array", "null"],
        "items": {"enum": revisions},
        "description": "Protocol revisions; every test runs once in each. Short for `matrix: {protocol: […]}`.",
    })
}

/// `server: {…}` is a map of one server.
fn expand_server(entries: &mut [Entry], found: &mut Diagnostics<'_>) {
    let has_servers = entries.iter().any(|entry| entry.key.text == "servers");
    let Some(entry) = entries.iter_mut().find(|entry| entry.key.text == SERVER && !entry.value.is_null()) else {
        return;
    };
    if has_servers {
        let message = "`server` and `servers` are mutually exclusive";
        found.error_with_help("two-places", entry.key.span, message, "move it into `servers`, under a name");
        return;
    }
    let span = entry.key.span;
    let named =
        Entry { key: Key { text: SERVER.into(), span }, value: std::mem::replace(&mut entry.value, null(span)) };
    entry.key.text = "servers".into();
    entry.value = Node { span: named.value.span, kind: Kind::Map(vec![named]) };
}

/// A list of servers, each with its `name`, is a map.
fn expand_servers(servers: &mut Node, found: &mut Diagnostics<'_>) {
    let Kind::List(items) = &mut servers.kind else { return };
    let mut named = Vec::new();
    for mut item in std::mem::take(items) {
        let Kind::Map(parts) = &mut item.kind else {
            found.map(&item, "a server");
            continue;
        };
        let Some(at) = parts.iter().position(|part| part.key.text == "name") else {
            let message = "a server of the list has no `name`";
            found.error_with_help("missing-key", item.span, message, "add `name:`, by which tests refer to it");
            continue;
        };
        let name = parts.remove(at).value;
        let Some(text) = found.text(&name, "`name`") else { continue };
        if named.iter().any(|entry: &Entry| entry.key.text == text) {
            let message = format!("there is a server `{text}` already");
            found.error_with_help("duplicate-key", name.span, message, "give each server a name of its own");
            continue;
        }
        named.push(Entry { key: Key { text: text.into(), span: name.span }, value: item });
    }
    servers.kind = Kind::Map(named);
}

/// `target_versions: […]` is the protocol of the matrix.
fn expand_target_versions(entries: &mut [Entry], found: &mut Diagnostics<'_>) {
    let has_matrix = entries.iter().any(|entry| entry.key.text == "matrix" && !entry.value.is_null());
    let Some(entry) = entries.iter_mut().find(|entry| entry.key.text == "target_versions") else { return };
    if entry.value.is_null() || entry.value.as_list().is_some_and(<[Node]>::is_empty) {
        return;
    }
    if has_matrix {
        let message = "`matrix` and `target_versions` are mutually exclusive";
        found.error_with_help("wrong-key", entry.key.span, message, "write the revisions as `protocol` of `matrix`");
        return;
    }
    let span = entry.key.span;
    let protocol =
        Entry { key: Key { text: "protocol".into(), span }, value: std::mem::replace(&mut entry.value, null(span)) };
    entry.key.text = "matrix".into();
    entry.value = Node { span, kind: Kind::Map(vec![protocol]) };
}

/// `compliance: {tests: […]}` is the list of its tests, each with the revision that is named once.
fn expand_compliance(node: &mut Node, found: &mut Diagnostics<'_>) {
    let Some(entries) = node.as_map() else { return };
    unsupported_keys::known_keys(entries, "`compliance`", &field::keys(compliance::MAP), compliance::OUTSIDE, found);
    let version = node.get(compliance::SPEC_VERSION).filter(|version| !version.is_null()).cloned();
    let Some(mut tests) = node.get("tests").cloned() else {
        let message = "`compliance` has no `tests`";
        found.error_with_help("missing-key", node.span, message, "add `tests:`, or write a list of tests");
        return *node = Node { span: node.span, kind: Kind::List(Vec::new()) };
    };
    if let (Kind::List(items), Some(version)) = (&mut tests.kind, version) {
        for item in items {
            if let Kind::Map(parts) = &mut item.kind {
                let key = Key { text: compliance::SPEC_VERSION.into(), span: version.span };
                parts.push(Entry { key, value: version.clone() });
            }
        }
    }
    if let (Some(check), Kind::List(items)) = (compliance::version_check(node, found), &mut tests.kind) {
        items.push(check);
    }
    *node = tests;
}

/// Reports a default that does not name a server, even if no test needs it.
pub(super) fn report_unknown_default(default: Option<&Node>, servers: &Servers, found: &mut Diagnostics<'_>) {
    let Some(default) = default.filter(|default| !default.is_null()) else { return };
    let Some(name) = found.text(default, "`default_server`") else { return };
    if servers.iter().all(|(known, _)| known != name) {
        let names = || servers.iter().map(|(name, _)| name.as_str());
        let help = match nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("`servers` has {}", names().collect::<Vec<_>>().join(", ")),
        };
        found.error_with_help("unknown-server", default.span, format!("unknown server `{name}`"), help);
    }
}

fn null(span: Span) -> Node {
    Node::from_json(span, Value::Null)
}
