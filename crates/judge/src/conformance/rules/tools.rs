//! Tool definitions and their schemas.

use std::collections::HashMap;

use serde_json::Value;

use super::{BASE, C, D, E};
use crate::conformance::rule::{Level, Rule, Ruling};
use crate::schema::{Uncompilable, compiled};

pub(super) const DEFINITION: Rule = Rule {
    id: "mcp-tool-definition",
    title: "gives every tool a name and an input schema of type object",
    clauses: &["TOOL-01"],
    level: Level::Derived,
    section: "server/tools#tool; schema Tool",
    why: "Typed clients reject the whole list for one tool without a valid `inputSchema`: no tool is left.",
    bad: r#"{"name":"search","inputSchema":{}}"#,
    good: r#"{"name":"search","inputSchema":{"type":"object"}}"#,
    judge: definition,
    ..BASE
};

fn definition(ruling: &mut Ruling<'_>) {
    let tools = ruling.evidence.listed("tools");
    if tools.is_empty() {
        return ruling.not_applicable("the server lists no tools");
    }
    for (spot, tool) in tools {
        ruling.ok();
        let Some(name) = tool["name"].as_str() else {
            ruling.at("TOOL-01", true, spot, "a tool has no string `name`");
            continue;
        };
        match tool.get("inputSchema") {
            Some(Value::Object(schema)) if schema.get("type").and_then(Value::as_str) == Some("object") => {}
            Some(Value::Object(_)) => {
                ruling.at("TOOL-01", true, spot, format!("the `inputSchema` of `{name}` lacks `\"type\": \"object\"`"));
            }
            Some(_) => ruling.at("TOOL-01", true, spot, format!("the `inputSchema` of `{name}` is not an object")),
            None => ruling.at("TOOL-01", true, spot, format!("the tool `{name}` has no `inputSchema`")),
        }
    }
}

pub(super) const INPUT_SCHEMA: Rule = Rule {
    id: "mcp-input-schema",
    title: "has input schemas that are valid in their dialect",
    clauses: &["TOOL-02", "TOOL-19"],
    section: "server/tools#tool; basic/index#json-schema-usage",
    why: "Hosts pass the schema on to a model API, which refuses the whole request for one invalid schema.",
    bad: r#"{"type":"object","properties":{"n":{"type":"int"}}}"#,
    good: r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#,
    blocked_by: &[super::HANDSHAKE, "mcp-tool-definition"],
    judge: input_schema,
    ..BASE
};

fn input_schema(ruling: &mut Ruling<'_>) {
    let revision = ruling.evidence.revision;
    let tools = ruling.evidence.listed("tools");
    if tools.is_empty() {
        return ruling.not_applicable("the server lists no tools");
    }
    let mut faults = Faults::default();
    for (spot, tool) in tools {
        let Some(schema) = tool.get("inputSchema").filter(|schema| schema.is_object()) else { continue };
        ruling.ok();
        let name = tool["name"].as_str().unwrap_or_default();
        if let Some(fault) = faults.of(schema) {
            let message =
                format!("the `inputSchema` of `{name}` is invalid: {} (at {})", fault.message, place(&fault.pointer));
            ruling.at("TOOL-02", revision >= D, spot, message);
        } else if revision >= E && refers_to_network(schema) {
            ruling.at("TOOL-19", false, spot, format!("the `inputSchema` of `{name}` refers to the network"));
        }
    }
}

/// Faults of schemas; one that is listed again and again is compiled once.
#[derive(Default)]
struct Faults(HashMap<String, Option<Uncompilable>>);

impl Faults {
    fn of(&mut self, schema: &Value) -> Option<&Uncompilable> {
        self.0.entry(schema.to_string()).or_insert_with(|| compiled(schema).err()).as_ref()
    }
}

fn place(pointer: &str) -> &str {
    if pointer.is_empty() { "the top" } else { pointer }
}

fn refers_to_network(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => {
            let reference = map.get("$ref").and_then(Value::as_str);
            reference.is_some_and(|to| to.starts_with("http://") || to.starts_with("https://"))
                || map.values().any(refers_to_network)
        }
        Value::Array(items) => items.iter().any(refers_to_network),
        _ => false,
    }
}

pub(super) const OUTPUT_SCHEMA: Rule = Rule {
    id: "mcp-tool-output-schema",
    title: "has output schemas that are valid",
    clauses: &["TOOL-03"],
    revisions: (C, E),
    section: "server/tools#output-schema",
    why: "Clients compile the schema to validate results; an invalid one makes every call of the tool fail.",
    bad: r#"2025-11-25: "outputSchema":{"type":"array"}"#,
    good: r#""outputSchema":{"type":"object","properties":{…}}"#,
    blocked_by: &[super::HANDSHAKE, "mcp-tool-definition"],
    judge: output_schema,
    ..BASE
};

fn output_schema(ruling: &mut Ruling<'_>) {
    let revision = ruling.evidence.revision;
    let mut faults = Faults::default();
    for (spot, tool) in ruling.evidence.listed("tools") {
        let Some(schema) = tool.get("outputSchema") else { continue };
        ruling.ok();
        let name = tool["name"].as_str().unwrap_or_default();
        if !schema.is_object() {
            ruling.at("TOOL-03", true, spot, format!("the `outputSchema` of `{name}` is not an object"));
        } else if revision < E && schema["type"] != "object" {
            ruling.at("TOOL-03", true, spot, format!("the `outputSchema` of `{name}` lacks `\"type\": \"object\"`"));
        } else if let Some(fault) = faults.of(schema) {
            let message =
                format!("the `outputSchema` of `{name}` is invalid: {} (at {})", fault.message, place(&fault.pointer));
            ruling.at("TOOL-03", revision >= D, spot, message);
        }
    }
    if ruling.checked == 0 {
        ruling.not_applicable("no tool has an `outputSchema`");
    }
}
