//! `transform` of an assertion: a jq program that rewrites the value before it is judged.

use mcprove_model::{Diagnostics, Node};
use serde_json::{Value, json};

use crate::jq::{self, Program};

/// Decodes `{jq: PROGRAM}`, or a command that calls `jq` with a program.
pub(super) fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Option<Program> {
    let program = if node.as_map().is_some() {
        found.known_keys(node, "`transform`", &["jq"]);
        found.text(node.get("jq")?, "`jq`")?.to_owned()
    } else {
        let command = found.text(node, "`transform`")?;
        let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        let quoted = command.strip_prefix("jq ").map(str::trim).map(unquoted);
        let plain = jq::of_command(&words).map(unquoted);
        let Some(program) = plain.or(quoted) else {
            let message = "`transform` of an assertion runs jq programs only";
            let help = "write `{jq: PROGRAM}`; `transform` of a test runs any command";
            found.error_with_help("unsupported-key", node.span, message, help);
            return None;
        };
        program.to_owned()
    };
    match Program::parse(&program) {
        Ok(program) => Some(program),
        Err(reason) => {
            let message = format!("`{program}` is not a jq program: {reason}");
            found.error_with_help("bad-transform", node.span, message, "write for example `ascii_downcase`");
            None
        }
    }
}

/// The JSON Schema of it.
pub(super) fn schema() -> Value {
    let program = json!({"type": "string", "minLength": 1, "description": "The jq program."});
    json!({
        "anyOf": [
            program,
            {"type": "object", "required": ["jq"], "properties": {"jq": program}, "additionalProperties": false},
        ],
        "description": "A jq program that rewrites the value before it is judged: `{jq: PROGRAM}`, or `jq 'PROGRAM'`.",
    })
}

/// A program without the quotes of a shell.
fn unquoted(text: &str) -> &str {
    let inside = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    inside('\'').or_else(|| inside('"')).unwrap_or(text)
}
