//! Schemas that are too complex to judge.

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::lint::{RuleFaults, ToolView};
use crate::schema_budget::too_complex;
use crate::spanned_json::Json;

pub(super) const RULE: Rule = Rule {
    id: "VAL-011",
    name: "complex-schema",
    summary: "a schema is too complex to judge",
    severity: Severity::Warning,
    why: "Clients compile the schemas of every tool and send them to models. A schema with tens of thousands of values, \
          megabytes of text, or references that multiply takes them minutes and gigabytes, or is rejected. mcprove \
          does not look into such a schema: no other rule about schemas was applied to it.",
    help: "split the tool, or describe its input with fewer schemas and references",
    bad: Example::Many {
        tool: r#"{"name": "ping", "inputSchema": {"type": "object", "description": "{filler}"}}"#,
        count: 1,
        filler: 1_100_000,
    },
    good: Example::Many {
        tool: r#"{"name": "ping", "inputSchema": {"type": "object", "description": "{filler}"}}"#,
        count: 1,
        filler: 100,
    },
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    let schema = |key: &str| view.tool.get(key).filter(|schema: &Json<'_>| schema.is_map());
    if let (Some(problem), Some(schema)) = (view.tree.too_complex(), schema("inputSchema")) {
        faults.add(schema, format!("`inputSchema`: {problem}"));
    }
    let output = schema("outputSchema");
    if let Some((schema, problem)) = output.and_then(|schema| Some((schema, too_complex(&schema.to_value())?))) {
        faults.add(schema, format!("`outputSchema`: {problem}"));
    }
}
