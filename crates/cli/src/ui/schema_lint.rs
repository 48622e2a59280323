//! The schema lint of the page: findings about the tools of a connection, each with its fix as text before and after.

use mcprove_judge::{Catalog, Selection, SelectionOptions, TightenOptions, lint};
use serde_json::{Value, json};

/// Number of findings that the page shows.
const FINDINGS: usize = 2_000;

/// Findings about listed tools, and what the mechanical fix would change.
pub(super) fn schema_lint(server: &str, tools: &[Value]) -> Value {
    let catalog = Catalog::of_server(server, tools);
    let mut findings = Vec::new();
    let mut count = 0_usize;
    if let Ok(rules) = Selection::new(SelectionOptions { all: true, select: &[], allow: &[] }) {
        lint(&catalog, &rules, &mut |fault| {
            count += 1;
            if findings.len() < FINDINGS {
                findings.push(json!({
                    "rule": fault.rule.id,
                    "name": fault.rule.name,
                    "severity": fault.severity(),
                    "message": fault.message,
                    "tool": fault.tool(),
                    "pointer": fault.pointer_in_tool(),
                    "help": fault.help(),
                    "why": fault.rule.why,
                    "fixable": fault.fixable,
                }));
            }
        });
    }
    json!({"count": count, "findings": findings, "fixes": fixes(tools)})
}

/// The tools that the fix changes, before and after.
fn fixes(tools: &[Value]) -> Vec<Value> {
    let text = json!({"tools": tools}).to_string();
    let fixed = Catalog::read("tools", text.into_bytes()).ok().and_then(|read| read.tighten(TightenOptions::default()));
    let after: Value = fixed.and_then(|fixed| serde_json::from_str(&fixed.text).ok()).unwrap_or_default();
    let after = after["tools"].as_array().cloned().unwrap_or_default();
    let changed = tools.iter().zip(&after).filter(|(before, after)| before != after);
    changed.map(|(before, after)| json!({"tool": before["name"], "before": before, "after": after})).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_object_is_found_and_closed() {
        let tool = json!({"name": "a", "description": "Adds.", "inputSchema": {"type": "object", "properties": {"x": {"type": "string"}}}});
        let closed =
            json!({"name": "b", "inputSchema": {"type": "object", "properties": {}, "additionalProperties": false}});
        let linted = schema_lint("s", &[tool, closed]);
        assert!(linted["findings"].as_array().is_some_and(|found| found.iter().any(|each| each["fixable"] == true)));
        assert_eq!(linted["fixes"].as_array().map(Vec::len), Some(1), "{linted}");
        assert_eq!(linted["fixes"][0]["after"]["inputSchema"]["additionalProperties"], false);
    }
}
