//! Formats that hosts do not know.

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::input_schema::Word;
use crate::lint::{RuleFaults, ToolView};

pub(super) const RULE: Rule = Rule {
    id: "POR-005",
    name: "unsupported-format",
    summary: "a format is not one that hosts take",
    severity: Severity::Warning,
    why: "OpenAI takes nine formats of strings and rejects the request with any other (`'uri' is not a valid \
          format`); Gemini takes fewer still. Validators ignore formats that are not in the standard.",
    help: "say it in the description, or by `pattern`",
    bad: Example::Tool(
        r#"{"name": "fetch", "inputSchema": {"type": "object", "properties": {"url": {"type": "string", "format": "uri"}}}}"#,
    ),
    good: Example::Tool(
        r#"{"name": "fetch", "inputSchema": {"type": "object", "properties": {"day": {"type": "string", "format": "date"}}}}"#,
    ),
    fix: None,
    run: Scope::Tool(run),
};

/// Formats of strings that `OpenAI` takes, and of numbers that Gemini does.
const SUPPORTED: &[&str] = &[
    "date",
    "date-time",
    "double",
    "duration",
    "email",
    "float",
    "hostname",
    "int32",
    "int64",
    "ipv4",
    "ipv6",
    "time",
    "uuid",
];

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    for (id, site) in view.tree.sites() {
        let Some(at) = site.word(Word::Format) else { continue };
        if let Some(format) = at.as_text().filter(|format| !SUPPORTED.contains(&format.as_ref())) {
            faults.add(at, format!("{} has the format `{format}`, which hosts reject or ignore", view.tree.noun(id)));
        }
    }
}
