//! `fixtures`: errors by name, which `inject_error` of a tool test puts in the place of the answer.

use mcprove_model::{Diagnostics, InjectedError, Node, nearest};
use serde_json::{Value, json};

use super::{Suite, Unit};
use crate::assertion_file::block;
use crate::field::{self, Field};
use crate::schema::fragment;

/// The key of a tool test.
pub(super) const INJECT: &str = "inject_error";

const FIELDS: &[Field] = &[
    Field::optional("errors", || {
        let error = fragment::map("An error.", Value::Object(field::properties(ERROR)), &["name", "code", "message"]);
        fragment::list("Errors that `inject_error` names.", error)
    }),
    Field::optional("server", || fragment::text("The server they are like; for readers.")),
];

const ERROR: &[Field] = &[
    Field::optional(
        "applies_to",
        || json!({"const": "any", "description": "It may stand in for the answer of any tool."}),
    ),
    Field::required("code", || json!({"type": "integer", "description": "The code of JSON-RPC."})),
    Field::required("message", || fragment::text("The message.")),
    Field::required("name", || fragment::text("Its name.")),
    Field::optional("tool", || fragment::text("The only tool whose answer it may stand in for.")),
];

/// An error that tests may name.
#[derive(Clone, Debug)]
pub(super) struct NamedError {
    error: InjectedError,
    /// The tool it is for; any when absent.
    tool: Option<String>,
}

/// Decodes the errors of all files.
pub(super) fn decode(units: &[Unit], found: &mut [Diagnostics<'_>]) -> Vec<NamedError> {
    let mut errors: Vec<NamedError> = Vec::new();
    for (unit, found) in units.iter().zip(found) {
        let Some(node) = unit.node.get("fixtures").filter(|node| !node.is_null()) else { continue };
        found.known_keys(node, "`fixtures`", &field::keys(FIELDS));
        let Some(list) = node.get("errors").filter(|list| !list.is_null()) else { continue };
        for error in found.list(list, "`errors`") {
            let Some(decoded) = decode_error(error, found) else { continue };
            if errors.iter().any(|known| known.error.name == decoded.error.name) {
                let message = format!("there is an error `{}` already", decoded.error.name);
                found.error_with_help("duplicate-key", error.span, message, "give each a name of its own");
            }
            errors.push(decoded);
        }
    }
    errors
}

/// The JSON Schema of `fixtures`.
pub(super) fn schema() -> Value {
    field::map("Canned answers, by name.", FIELDS)
}

/// The error that a test names; it must be there, and for the tool of the test.
pub(super) fn named(test: &Node, suite: &Suite<'_>, found: &mut Diagnostics<'_>) -> Option<InjectedError> {
    let node = test.get(INJECT).filter(|node| !node.is_null())?;
    let name = found.text(node, "`inject_error`")?;
    let Some(named) = suite.errors.iter().find(|known| known.error.name == name) else {
        let help = match nearest(name, suite.errors.iter().map(|known| known.error.name.as_str())) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "add it to `fixtures: {errors: […]}`".to_owned(),
        };
        found.error_with_help("unknown-reference", node.span, format!("unknown error `{name}`"), help);
        return None;
    };
    let called = test.get("tool").and_then(Node::as_text);
    if named.tool.as_deref().is_some_and(|tool| called != Some(tool)) {
        let tool = named.tool.as_deref().unwrap_or_default();
        let message = format!("the error `{name}` is for the tool `{tool}`");
        found.error_with_help("wrong-key", node.span, message, "name another error, or write `applies_to: any`");
    }
    Some(named.error.clone())
}

fn decode_error(node: &Node, found: &mut Diagnostics<'_>) -> Option<NamedError> {
    let entries = field::entries(node, "an error", ERROR, found)?;
    let place = entries.first().map_or(node.span, |entry| entry.key.span);
    let name = block::named(node, "name", place, found)?.as_text()?.to_owned();
    let message = block::named(node, "message", place, found)?.as_text()?.to_owned();
    let code = block::named(node, "code", place, found)?;
    let Some(code) = code.as_number().and_then(serde_json::Number::as_i64) else {
        found.wrong_kind(&code, "`code`", "a whole number");
        return None;
    };
    let tool = node.get("tool").and_then(|tool| found.text(tool, "`tool`")).map(str::to_owned);
    let any = node.get("applies_to").and_then(Node::as_text);
    if tool.is_some() == (any == Some("any")) {
        let help = "write `tool: NAME`, or `applies_to: any`";
        found.error_with_help(
            "missing-key",
            place,
            format!("the error `{name}` must be for one tool, or for any"),
            help,
        );
        return None;
    }
    Some(NamedError { error: InjectedError { name, code, message }, tool })
}
