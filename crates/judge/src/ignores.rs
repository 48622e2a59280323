//! Accepted findings of a project: they are not reported, and each has a reason.

use std::cell::Cell;

use mcprove_model::{Diagnostics, Node, Span};

use crate::lint::LintFault;
use crate::rules::{known, names};

/// The findings that are not reported.
#[derive(Debug, Default)]
pub struct Ignores {
    entries: Vec<Ignore>,
}

/// Findings of one rule, of every tool or of one, anywhere or at one place.
#[derive(Debug)]
struct Ignore {
    rule: String,
    tool: Option<String>,
    at: Option<String>,
    span: Span,
    used: Cell<bool>,
}

impl Ignores {
    /// Decodes `ignore:`, a list of rules, or of maps with `rule` and perhaps `tool`, `at` and `reason`.
    pub fn decode(file: &Node, found: &mut Diagnostics<'_>) -> Self {
        let entries = found.known_keys(file, "the file", &["ignore"]);
        let lists = entries
            .iter()
            .filter(|entry| entry.key.text == "ignore")
            .flat_map(|entry| found.list(&entry.value, "`ignore`"))
            .collect::<Vec<_>>();
        Self { entries: lists.into_iter().filter_map(|node| Ignore::decode(node, found)).collect() }
    }

    /// True if a fault is not to be reported.
    pub fn cover(&self, fault: &LintFault<'_>) -> bool {
        // Every entry that fits is used, so that none of them is called idle.
        self.entries.iter().filter(|ignore| ignore.covers(fault)).fold(false, |_, ignore| {
            ignore.used.set(true);
            true
        })
    }

    /// Reports the entries that covered nothing: what they were written for is gone.
    pub fn report_idle(&self, found: &mut Diagnostics<'_>) {
        for ignore in self.entries.iter().filter(|ignore| !ignore.used.get()) {
            let message = format!("nothing of `{}` was found here to ignore", ignore.rule);
            found.warning("idle-ignore", ignore.span, message, Some("remove the entry".to_owned()));
        }
    }
}

impl Ignore {
    fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Option<Self> {
        let mut ignore = Self { rule: String::new(), tool: None, at: None, span: node.span, used: Cell::new(false) };
        let mut rule = node.as_scalar().map(|_| node);
        if rule.is_none() {
            for entry in found.known_keys(node, "an entry of `ignore`", &["rule", "tool", "at", "reason"]) {
                let text = found.text(&entry.value, &format!("`{}`", entry.key.text));
                match entry.key.text.as_str() {
                    "rule" => rule = Some(&entry.value),
                    "tool" => ignore.tool = text.map(str::to_owned),
                    "at" => ignore.at = text.map(str::to_owned),
                    _ => {}
                }
            }
        }
        let Some(rule) = rule else {
            found.error_with_help("no-rule", node.span, "an entry of `ignore` names no rule", "add `rule: SCH-001`");
            return None;
        };
        rule.as_text().unwrap_or_default().clone_into(&mut ignore.rule);
        if let Err(message) = known(&ignore.rule) {
            found.error("unknown-rule", rule.span, message);
            return None;
        }
        Some(ignore)
    }

    fn covers(&self, fault: &LintFault<'_>) -> bool {
        let tool = || self.tool.as_ref().is_none_or(|wanted| fault.tool().is_some_and(|tool| tool == wanted.as_str()));
        let at = || self.at.is_none() || fault.pointer_in_tool() == self.at;
        names(&self.rule, fault.rule) && tool() && at()
    }
}

#[cfg(test)]
mod tests {
    use mcprove_model::SourceFile;
    use serde_json::json;

    use super::*;
    use crate::{Catalog, Selection, SelectionOptions, lint};

    #[test]
    fn what_is_written_down_is_not_told_and_idle_entries_are() {
        let source = SourceFile::new("mcprove-lint.yml", "");
        let mut found = Diagnostics::new(&source);
        let file = json!({"ignore": [
            "no-required-list",
            {"rule": "SCH-004", "tool": "a", "reason": "bounded by the transport"},
            {"rule": "SCH-003", "at": "/inputSchema/properties/x"},
            {"rule": "SCH-002", "tool": "gone"},
        ]});
        let ignores = Ignores::decode(&Node::from_json(Span::default(), file), &mut found);
        let schema = json!({"type": "object", "properties": {"s": {"type": "string"}, "x": {}, "y": {}}});
        let tools = ["a", "b"].map(|name| json!({"name": name, "inputSchema": schema}));
        let catalog = Catalog::of_server("local", &tools);
        let rules = Selection::new(SelectionOptions::default()).expect("rules");
        let mut told = Vec::new();
        lint(&catalog, &rules, &mut |fault| {
            if !ignores.cover(&fault) {
                told.push(format!("{} {}", fault.rule.id, fault.pointer()));
            }
        });
        assert_eq!(
            told,
            [
                "SCH-002 /tools/0/inputSchema",
                "SCH-003 /tools/0/inputSchema/properties/y",
                "SCH-002 /tools/1/inputSchema",
                "SCH-004 /tools/1/inputSchema/properties/s",
                "SCH-003 /tools/1/inputSchema/properties/y",
            ]
        );
        ignores.report_idle(&mut found);
        let messages: Vec<_> = found.into_findings().into_iter().map(|finding| finding.message).collect();
        assert_eq!(messages, ["nothing of `SCH-002` was found here to ignore"]);
    }

    #[test]
    fn mistakes_are_told() {
        let source = SourceFile::new("mcprove-lint.yml", "");
        let mut found = Diagnostics::new(&source);
        let file = json!({"ignore": ["SCH-0O1", {"tool": "a"}, {"rule": "SCH-001", "tol": "a"}], "ignroe": []});
        let _ = Ignores::decode(&Node::from_json(Span::default(), file), &mut found);
        let messages: Vec<_> = found.into_findings().into_iter().map(|finding| finding.message).collect();
        assert_eq!(
            messages,
            [
                "unknown key `ignroe` in the file",
                "unknown rule `SCH-0O1`; did you mean `SCH-001`?",
                "an entry of `ignore` names no rule",
                "unknown key `tol` in an entry of `ignore`",
            ]
        );
    }
}
