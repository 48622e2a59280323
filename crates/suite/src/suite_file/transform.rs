//! `transform` of a tool test: what rewrites its request and its reply.

use mcprove_judge::jq::{self, Program};
use mcprove_model::{Diagnostics, Node, Transform, TransformPhase};
use serde_json::{Value, json};

use crate::field::{self, Field};
use crate::schema::fragment;

pub(super) const KEY: &str = "transform";

const FIELDS: &[Field] = &[
    Field::optional("request", || phase_schema("Rewrites `{name, arguments}` before it is sent.")),
    Field::optional("response", || phase_schema("Rewrites `{result}` before it is judged.")),
];

const PROGRAM: &[Field] =
    &[Field::required("jq", || json!({"type": "string", "minLength": 1, "description": "The program."}))];

/// Decodes the block; one that is empty changes nothing and is a mistake.
pub(super) fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Option<Transform> {
    field::entries(node, "`transform`", FIELDS, found)?;
    let mut phase = |key: &str| {
        let part = node.get(key).filter(|part| !part.is_null())?;
        Some(decode_phase(part, key, found))
    };
    let (request, response) = (phase("request"), phase("response"));
    if request.is_none() && response.is_none() {
        let message = "`transform` has neither `request` nor `response`";
        found.error_with_help("nothing-asked", node.span, message, "add one of them, or remove it");
        return None;
    }
    // A phase that could not be decoded is reported.
    Some(Transform { request: request.flatten(), response: response.flatten(), span: node.span })
}

/// The JSON Schema of the block.
pub(super) fn schema() -> Value {
    let summary = "What rewrites the request and the reply: a jq program, `{jq: PROGRAM}`, or a command that reads JSON \
                   and prints JSON.";
    let mut schema = field::map(summary, FIELDS);
    schema[fragment::DEFINITION] = "transform".into();
    schema
}

fn phase_schema(description: &str) -> Value {
    let program = field::map("A jq program.", PROGRAM);
    json!({"anyOf": [{"type": "string", "minLength": 1}, program], "description": description})
}

fn decode_phase(node: &Node, key: &str, found: &mut Diagnostics<'_>) -> Option<TransformPhase> {
    let what = format!("`{key}` of `transform`");
    if node.as_map().is_some() {
        found.known_keys(node, &what, &field::keys(PROGRAM));
        let Some(program) = node.get("jq") else {
            found.error_with_help("missing-key", node.span, format!("{what} has no `jq`"), "add the program");
            return None;
        };
        return decode_program(found.text(program, "`jq`")?, program, found);
    }
    match shell_words::split(found.text(node, &what)?) {
        Ok(words) if words.is_empty() => {
            found.error_with_help("no-command", node.span, format!("{what} is empty"), "write a command");
            None
        }
        Ok(words) => match jq::of_command(&words) {
            Some(program) => decode_program(program, node, found),
            None => Some(TransformPhase::Command(words)),
        },
        Err(error) => {
            let message = format!("{what} cannot be split into words: {error}");
            found.error_with_help("bad-command", node.span, message, "close the quote");
            None
        }
    }
}

fn decode_program(text: &str, node: &Node, found: &mut Diagnostics<'_>) -> Option<TransformPhase> {
    match Program::parse(text) {
        Ok(_) => Some(TransformPhase::Jq(text.to_owned())),
        Err(reason) => {
            let message = format!("`{text}` is not a jq program: {reason}");
            found.error_with_help("bad-transform", node.span, message, "write for example `.result.id = \"fixed\"`");
            None
        }
    }
}
