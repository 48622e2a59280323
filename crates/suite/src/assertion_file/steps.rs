//! `setup`, `verify` and `teardown`: calls made around the block, and values captured from their replies.

use mcprove_judge::json_path::JsonPath;
use mcprove_model::{Capture, Diagnostics, Entry, Node, Span, Step, StepCall, Vocabulary};
use serde_json::{Value, json};

use super::block::{self, Caller};
use super::expectation;
use super::templates::Scope;
use crate::schema::fragment;
use crate::template::FIXTURE;

const KEYS: &[&str] = &["allow_error", "args", "capture", "expect", "read", "tool"];

/// Decodes the steps under a key; what each captures becomes known to the ones after it and to what follows.
pub(crate) fn decode(document: &Node, key: &'static str, scope: &mut Scope, found: &mut Diagnostics<'_>) -> Vec<Step> {
    let Some(node) = document.get(key).filter(|node| !node.is_null()) else { return Vec::new() };
    let steps = found.list(node, &format!("`{key}`"));
    steps.iter().filter_map(|step| decode_step(step, key, scope, found)).collect()
}

/// The JSON Schema of a step.
pub(crate) fn schema() -> Value {
    let properties = json!({
        "allow_error": fragment::flag("Whether an error of the tool is accepted."),
        "args": fragment::any_map("The arguments of the call."),
        "capture": super::capture_schema(),
        "expect": fragment::expect(Vocabulary::ToolStep),
        "read": fragment::text("The address of a resource to read."),
        "tool": fragment::text("The tool to call."),
    });
    let mut schema = fragment::map("A step.", properties, &[]);
    schema[fragment::DEFINITION] = "step".into();
    schema["oneOf"] = json!([{"required": ["tool"]}, {"required": ["read"]}]);
    schema
}

fn decode_step(node: &Node, key: &str, scope: &mut Scope, found: &mut Diagnostics<'_>) -> Option<Step> {
    let what = format!("a `{key}` step");
    let entries = found.map(node, &what)?;
    // A caret under the first key reads better than one under the whole step.
    let place = entries.first().map_or(node.span, |entry| entry.key.span);
    found.known_keys(node, &what, KEYS);
    let read = entries.iter().find(|entry| entry.key.text == "read");
    let (call, vocabulary) = match read {
        Some(read) => (decode_read(node, read, scope, found), Vocabulary::ReadStep),
        None => (decode_tool(node, key, place, scope, found), Vocabulary::ToolStep),
    };
    let allow_error = match node.get("allow_error").filter(|flag| !flag.is_null()) {
        Some(flag) => found.boolean(flag, "`allow_error`").unwrap_or_default(),
        None => false,
    };
    let expect = expectation::decode(node.get("expect"), vocabulary, scope, found);
    let capture = node.get("capture").map(|capture| decode_captures(capture, found)).unwrap_or_default();
    for capture in &capture {
        scope.add_capture(&capture.name);
    }
    let allow_error = allow_error || expects_error(node.get("expect"));
    Some(Step { call: call?, server: None, claims: None, expect, capture, allow_error, span: node.span })
}

fn decode_tool(node: &Node, key: &str, place: Span, scope: &Scope, found: &mut Diagnostics<'_>) -> Option<StepCall> {
    let what = format!("this `{key}` step");
    let call = block::call(&Caller { node, what: &what, span: place, keys: KEYS }, scope, found)?;
    Some(StepCall::Tool { tool: call.tool, args: call.args })
}

fn decode_read(node: &Node, read: &Entry, scope: &Scope, found: &mut Diagnostics<'_>) -> Option<StepCall> {
    for entry in node.as_map().unwrap_or_default() {
        if matches!(entry.key.text.as_str(), "args" | "tool") {
            let message = format!("`{}` stands beside `read`: a step does one thing", entry.key.text);
            found.error_with_help("two-acts", entry.key.span, message, "make it a step of its own");
        }
    }
    let uri = block::required_text(node, read, found)?;
    scope.check(&uri, found);
    Some(StepCall::Resource { uri })
}

/// A step that asks for an error accepts one.
fn expects_error(block: Option<&Node>) -> bool {
    let flag = |key: &str| block.and_then(|block| block.get(key)).and_then(Node::as_bool);
    flag("is_error") == Some(true) || flag("not_error") == Some(false)
}

/// Decodes `capture`: names, and a path into the reply for each.
pub(crate) fn decode_captures(node: &Node, found: &mut Diagnostics<'_>) -> Vec<Capture> {
    if node.is_null() {
        return Vec::new();
    }
    let mut captures = Vec::new();
    for entry in found.map(node, "`capture`").unwrap_or_default() {
        let name = entry.key.text.trim();
        if !is_usable_name(name, entry.key.span, found) {
            continue;
        }
        let path = if entry.value.is_null() { Some("") } else { found.text(&entry.value, "a captured path") };
        let Some(path) = path else { continue };
        // An empty path and `$` stand for the whole text, which need not be JSON.
        let parsed = if matches!(path, "" | "$") { Ok(()) } else { JsonPath::parse(path).map(|_| ()) };
        if let Err(message) = parsed {
            found.error_with_help(
                "bad-json-path",
                entry.value.span,
                message,
                "write a path such as `$.items[0].id`; `$` is the whole reply",
            );
        }
        // Also kept with a bad path, so that uses of the name give no second finding.
        captures.push(Capture { name: name.to_owned(), path: path.to_owned(), span: entry.value.span });
    }
    captures
}

fn is_usable_name(name: &str, span: Span, found: &mut Diagnostics<'_>) -> bool {
    if name == FIXTURE {
        found.error_with_help(
            "reserved-name",
            span,
            "`fixture` is the name of the fixture folder",
            "capture under another name",
        );
        return false;
    }
    if name.is_empty() || name.contains(['{', '}', '\n']) {
        found.error_with_help(
            "reserved-name",
            span,
            format!("`{name}` cannot be used as `{{{{name}}}}`"),
            "use letters, digits and underscores",
        );
        return false;
    }
    true
}
