//! Steps of a test: those of assertion files, and each may be for another server or claim what the client is not.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Entry, Key, Kind, Node, ServerSpec, Step};
use serde_json::{Value, json};

use super::tools::without;
use super::{Suite, claims, test};
use crate::assertion_file::steps;
use crate::assertion_file::templates::Scope;
use crate::schema::fragment;

const SERVER: &str = "server";

/// Decodes the steps under a key; what each captures becomes known to the ones after it and to what follows.
pub(super) fn decode(
    test: &Node,
    key: &'static str,
    (scope, suite, own): (&mut Scope, &Suite<'_>, Option<&Arc<ServerSpec>>),
    found: &mut Diagnostics<'_>,
) -> Vec<Step> {
    let Some(node) = test.get(key) else { return Vec::new() };
    let Some(items) = node.as_list() else { return steps::decode(test, key, scope, found) };
    let plain =
        |item: &Node| if item.as_map().is_some() { without(item, &[SERVER, claims::KEY]) } else { item.clone() };
    let list = Node { span: node.span, kind: Kind::List(items.iter().map(plain).collect()) };
    let entry = Entry { key: Key { text: key.into(), span: node.span }, value: list };
    let document = Node { span: test.span, kind: Kind::Map(vec![entry]) };
    let mut decoded = steps::decode(&document, key, scope, found);
    for item in items {
        let named = item.get(SERVER).filter(|named| !named.is_null());
        let server = named.and_then(|named| test::server_named(named, suite, found));
        let claims = claims::decode(item, found);
        if claims.is_some() {
            claims::report_legacy(item, server.as_ref().or(own), found);
        }
        // A step that could not be decoded is not there.
        if let Some(step) = decoded.iter_mut().find(|step| step.span == item.span) {
            step.server = server;
            step.claims = claims;
        }
    }
    decoded
}

/// The JSON Schema of a list of steps.
pub(super) fn schema(description: &str) -> Value {
    let mut step = steps::schema();
    step[fragment::DEFINITION] = "step-of-suite".into();
    step["properties"][claims::KEY] = claims::schema();
    step["properties"][SERVER] = fragment::text("The server it is for; the test's own when left out.");
    if let Some(Value::Object(properties)) = step.get_mut("properties") {
        properties.sort_keys();
    }
    json!({"type": ["array", "null"], "items": step, "description": description})
}
