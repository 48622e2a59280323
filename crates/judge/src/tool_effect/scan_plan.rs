//! The tools that a scan calls, those it skips, and the reasons: known before the first call.

use std::fmt::Write as _;

use mcprove_model::{escape_line, some_of};
use serde_json::Value;

use super::{ToolEffect, tool_effect};

/// The longest list of names that is printed.
const NAMES: usize = 20;

const MARKED: &str = "marked read-only";
const UNCLEAR: &str = "not marked, nothing says that they write";
const CONSENTED: &str = "writing or looking like it, as you asked";

/// The group of tools that one with this effect is printed with.
fn group(effect: &ToolEffect) -> &'static str {
    match effect {
        ToolEffect::Reads => MARKED,
        ToolEffect::Unclear => UNCLEAR,
        ToolEffect::Writes { .. } | ToolEffect::LooksLikeWriting { .. } => CONSENTED,
    }
}

/// The user's consent to calls of a scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Consent {
    /// Tools that neither say that they write nor look like it; those that only look like it if they are named.
    #[default]
    Cautious,
    /// Every tool.
    IncludeWrites,
    /// Only tools that say that they read.
    ReadOnly,
}

impl Consent {
    /// The consent that two flags give.
    pub fn of(include_writes: bool, read_only: bool) -> Self {
        match (include_writes, read_only) {
            (true, _) => Self::IncludeWrites,
            (false, true) => Self::ReadOnly,
            (false, false) => Self::Cautious,
        }
    }
}

/// The plan of a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanPlan {
    /// The chosen tools, in the order of the list.
    pub tools: Vec<PlannedTool>,
}

/// A tool of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedTool {
    /// Its name.
    pub name: String,
    /// Its effect.
    pub effect: ToolEffect,
    /// The reason why it is not called.
    pub skipped: Option<String>,
}

impl ScanPlan {
    /// Plans the calls of a scan; `named` are the tools that the user asked for by name.
    pub fn new(tools: &[Value], instructions: Option<&str>, consent: Consent, named: &[String]) -> Self {
        let plan = |tool: &Value| {
            let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
            let effect = tool_effect(tool, instructions);
            let is_named = named.iter().any(|named| named == name);
            PlannedTool { name: name.to_owned(), skipped: refusal(&effect, consent, is_named), effect }
        };
        Self { tools: tools.iter().map(plan).collect() }
    }

    /// The reason why the tool at a position of the list is skipped.
    pub fn skipped(&self, at: usize) -> Option<&str> {
        self.tools.get(at).and_then(|tool| tool.skipped.as_deref())
    }

    /// The effect of the tool at a position of the list.
    pub fn effect(&self, at: usize) -> &ToolEffect {
        self.tools.get(at).map_or(&ToolEffect::Unclear, |tool| &tool.effect)
    }

    /// The names of the tools that are called although their effect is unknown.
    pub fn unclear(&self) -> impl Iterator<Item = &str> {
        let unclear = |tool: &&PlannedTool| tool.skipped.is_none() && tool.effect == ToolEffect::Unclear;
        self.tools.iter().filter(unclear).map(|tool| tool.name.as_str())
    }

    /// The plan for people, one line for each tool that is skipped.
    pub fn text(&self) -> String {
        let called = || self.tools.iter().filter(|tool| tool.skipped.is_none());
        let count = |count: usize| if count == 1 { "1 tool".to_owned() } else { format!("{count} tools") };
        let mut text = String::new();
        for what in [MARKED, UNCLEAR, CONSENTED] {
            let names: Vec<&str> =
                called().filter(|tool| group(&tool.effect) == what).map(|tool| tool.name.as_str()).collect();
            if !names.is_empty() {
                let shown = some_of(names.iter().copied(), NAMES);
                let _ = writeln!(text, "will call {} ({what}): {}", count(names.len()), escape_line(&shown));
            }
        }
        let skipped: Vec<(&str, &str)> =
            self.tools.iter().filter_map(|tool| Some((tool.name.as_str(), tool.skipped.as_deref()?))).collect();
        if !skipped.is_empty() {
            let _ = writeln!(text, "will skip {}:", count(skipped.len()));
        }
        for (name, reason) in skipped.iter().take(NAMES) {
            let _ = writeln!(text, "  {}: {}", escape_line(name), escape_line(reason));
        }
        if let Some(more) = skipped.len().checked_sub(NAMES).filter(|more| *more > 0) {
            let _ = writeln!(text, "  and {more} more");
        }
        text
    }
}

/// The reason why a tool is not called; `None` when it is.
fn refusal(effect: &ToolEffect, consent: Consent, is_named: bool) -> Option<String> {
    match (consent, effect) {
        (Consent::IncludeWrites, _) | (_, ToolEffect::Reads) | (Consent::Cautious, ToolEffect::Unclear) => None,
        (_, ToolEffect::Writes { .. }) => Some(format!("it {effect}; `--include-writes` calls it")),
        (Consent::ReadOnly, ToolEffect::LooksLikeWriting { .. } | ToolEffect::Unclear) => {
            Some("it does not say that it only reads".to_owned())
        }
        // Asking for one tool by its name is consent for a tool that merely looks like writing.
        (Consent::Cautious, ToolEffect::LooksLikeWriting { .. }) => {
            (!is_named).then(|| format!("it {effect}; `--include-writes` or `--tool` with its name calls it"))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tools() -> Vec<Value> {
        vec![
            json!({"name": "look", "annotations": {"readOnlyHint": true}}),
            json!({"name": "weather"}),
            json!({"name": "write_file"}),
            json!({"name": "wipe", "annotations": {"destructiveHint": true}}),
        ]
    }

    fn called(consent: Consent, named: &[&str]) -> Vec<String> {
        let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
        let plan = ScanPlan::new(&tools(), None, consent, &named);
        plan.tools.into_iter().filter(|tool| tool.skipped.is_none()).map(|tool| tool.name).collect()
    }

    #[test]
    fn consent_decides_which_tools_are_called() {
        assert_eq!(called(Consent::Cautious, &[]), ["look", "weather"]);
        assert_eq!(called(Consent::Cautious, &["write_file", "wipe"]), ["look", "weather", "write_file"]);
        assert_eq!(called(Consent::ReadOnly, &["write_file"]), ["look"]);
        assert_eq!(called(Consent::IncludeWrites, &[]).len(), 4);
    }

    #[test]
    fn the_plan_says_what_is_called_and_why_not() {
        let text = ScanPlan::new(&tools(), None, Consent::Cautious, &[]).text();
        let expected = "will call 1 tool (marked read-only): look\n\
                        will call 1 tool (not marked, nothing says that they write): weather\n\
                        will skip 2 tools:\n  \
                        write_file: it looks like it writes: `write` in its name; `--include-writes` or `--tool` with its name calls it\n  \
                        wipe: it says that it writes: `destructiveHint: true`; `--include-writes` calls it\n";
        assert_eq!(text, expected);
    }
}
