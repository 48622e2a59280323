//! `setup`: tool calls made before the block, and values captured from their replies.

use mcprove_judge::json_path::JsonPath;
use mcprove_model::{Capture, Diagnostics, Expectation, Node, Span, Step, StepCall};

use super::block::{self, Caller};
use super::templates::Scope;
use crate::template::FIXTURE;

const KEYS: &[&str] = &["allow_error", "args", "capture", "tool"];

/// Decodes the steps; what each captures becomes known to the ones after it and to the block.
pub(super) fn decode(node: &Node, scope: &mut Scope, found: &mut Diagnostics<'_>) -> Vec<Step> {
    if node.is_null() {
        return Vec::new();
    }
    found.list(node, "`setup`").iter().filter_map(|step| decode_step(step, scope, found)).collect()
}

fn decode_step(node: &Node, scope: &mut Scope, found: &mut Diagnostics<'_>) -> Option<Step> {
    let entries = found.map(node, "a `setup` step")?;
    // A caret under the first key reads better than one under the whole step.
    let place = entries.first().map_or(node.span, |entry| entry.key.span);
    found.known_keys(node, "a `setup` step", KEYS);
    let tool = block::tool(&Caller { node, what: "this `setup` step", span: place, keys: KEYS }, found);
    let args = block::arguments(node, found);
    let allow_error = match node.get("allow_error").filter(|flag| !flag.is_null()) {
        Some(flag) => found.boolean(flag, "`allow_error`").unwrap_or_default(),
        None => false,
    };
    if let Some(tool) = &tool {
        scope.check(tool, found);
    }
    scope.check(&args, found);
    let capture = node.get("capture").map(|capture| decode_captures(capture, found)).unwrap_or_default();
    for capture in &capture {
        scope.add_capture(&capture.name);
    }
    Some(Step {
        call: StepCall::Tool { tool: tool?, args },
        expect: Expectation::default(),
        capture,
        allow_error,
        span: node.span,
    })
}

fn decode_captures(node: &Node, found: &mut Diagnostics<'_>) -> Vec<Capture> {
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
