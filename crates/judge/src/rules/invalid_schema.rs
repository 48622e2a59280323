//! Schemas that are not JSON Schema.

use mcprove_model::{Severity, shorten};

use super::{Example, Rule, Scope};
use crate::lint::{RuleFaults, ToolView};
use crate::schema::compiled;
use crate::spanned_json::Json;

pub(super) const RULE: Rule = Rule {
    id: "VAL-004",
    name: "invalid-schema",
    summary: "a schema is not valid in its dialect",
    severity: Severity::Error,
    why: "Clients and model vendors compile schemas; one that is invalid is rejected, often with the whole request. \
          Without `$schema` the dialect is JSON Schema 2020-12.",
    help: "correct the schema, or name the dialect it is written in by `$schema`",
    bad: Example::Tool(
        r#"{"name": "ping", "inputSchema": {"type": "object", "properties": {"host": {"type": "strnig"}}}}"#,
    ),
    good: Example::Tool(
        r#"{"name": "ping", "inputSchema": {"type": "object", "properties": {"host": {"type": "string"}}}}"#,
    ),
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    for key in ["inputSchema", "outputSchema"] {
        let Some(schema) = view.tool.get(key).filter(|schema| schema.is_map()) else { continue };
        if let Some(dialect) = schema.get("$schema").filter(|dialect| !is_known(*dialect)) {
            faults.add(dialect, format!("`{key}` names a dialect that is not known: {}", shorten(dialect.raw(), 80)));
            continue;
        }
        let Err(error) = compiled(&schema.to_value()) else { continue };
        let at = schema.pointed(&error.pointer).unwrap_or(schema);
        faults.add(at, format!("`{key}` is not valid JSON Schema: {}", error.message));
    }
}

fn is_known(dialect: Json<'_>) -> bool {
    let Some(uri) = dialect.as_text() else { return false };
    let uri = uri.trim_end_matches('#');
    let bare = uri.strip_prefix("http://").or_else(|| uri.strip_prefix("https://")).unwrap_or(uri);
    let known = ["draft-04", "draft-06", "draft-07", "draft/2019-09", "draft/2020-12"];
    let name = bare.strip_prefix("json-schema.org/").and_then(|path| path.strip_suffix("/schema"));
    name.is_some_and(|name| known.contains(&name))
}
