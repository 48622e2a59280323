//! Quality of tool descriptions: a score per tool, and counts of findings by rule.

use std::collections::BTreeMap;

use mcprove_model::Severity;
use serde_json::{Map, Value, json};

use crate::catalog::{Catalog, ToolAt};
use crate::input_schema::{Parameter, SchemaTree};
use crate::lint::{ToolView, lint};
use crate::rules::{Group, RULES, Selection};
use crate::spanned_json::Json;

/// Words in a description that refer to results.
const RESULT_WORDS: &[&str] = &["return", "result", "output", "produce", "respond", "yield"];
/// Characters in which a tool can say what it does.
const DESCRIPTION_CHARACTERS: usize = 20;
/// Words after which a description is no longer concise.
const CONCISE_WORDS: f64 = 60.0;

/// Quality of the tool descriptions of a catalog.
#[derive(Clone, Debug, PartialEq)]
pub struct Quality {
    /// The tools, in the order of the catalog.
    pub tools: Vec<ToolQuality>,
    /// Number of findings per rule; every rule is there.
    pub rules: BTreeMap<&'static str, usize>,
}

/// Quality of one tool's description: six parts from 0 to 1, and their mean.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolQuality {
    /// The tool's name.
    pub name: String,
    /// 1 when it has a description of at least 20 characters, else 0.
    pub described: f64,
    /// The share of parameters with a description; 1 without parameters.
    pub documented: f64,
    /// The share of parameters with a description and a type; 1 without parameters.
    pub typed: f64,
    /// 1 up to 60 words of description, then falling as it grows; 0 without a description.
    pub concise: f64,
    /// 1 when it says what it returns, in words or by an `outputSchema`, else 0.
    pub returns: f64,
    /// 1 when it has annotations, else 0.
    pub annotated: f64,
}

/// A part of the default gate that does not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct GateFailure {
    /// The target it looks at.
    pub target: &'static str,
    /// The expectation.
    pub expected: String,
    /// The actual value.
    pub actual: String,
}

impl Catalog {
    /// Scores every tool and counts what the rules say.
    pub fn quality(&self) -> Quality {
        let mut tree = SchemaTree::default();
        let tools = self.listings.iter().flat_map(|listing| &listing.tools);
        let tools = tools.map(|tool| tool_quality(self, tool, &mut tree)).collect();
        let mut rules: BTreeMap<&'static str, usize> = RULES.iter().map(|rule| (rule.id, 0)).collect();
        lint(self, &Selection::all(), &mut |fault| *rules.entry(fault.rule.id).or_default() += 1);
        Quality { tools, rules }
    }
}

impl Quality {
    /// The lowest score; `None` without tools.
    pub fn min_score(&self) -> Option<f64> {
        self.tools.iter().map(ToolQuality::score).min_by(f64::total_cmp)
    }

    /// The mean score; `None` without tools.
    pub fn mean_score(&self) -> Option<f64> {
        mean(self.tools.iter().map(ToolQuality::score))
    }

    /// Critical findings of usability rules.
    pub fn critical_count(&self) -> usize {
        self.count(Group::Usability, Severity::Critical)
    }

    /// Warnings of usability rules.
    pub fn warning_count(&self) -> usize {
        self.count(Group::Usability, Severity::Warning)
    }

    /// Critical findings of the strict rules for schemas.
    pub fn schema_criticals(&self) -> usize {
        self.count(Group::Strictness, Severity::Critical)
    }

    /// Warnings of the strict rules for schemas.
    pub fn schema_warnings(&self) -> usize {
        self.count(Group::Strictness, Severity::Warning)
    }

    /// The targets of a `tool_quality` block.
    ///
    /// `min_score`, `mean_score`, `tool["name"].score` and its parts, `critical_count`, `warning_count`,
    /// `schema_criticals`, `schema_warnings`, `rules["SCH-001"]`. Scores are null without tools.
    pub fn targets(&self) -> Value {
        let tools: Map<String, Value> = self.tools.iter().map(|tool| (tool.name.clone(), tool.targets())).collect();
        json!({
            "min_score": self.min_score().map(rounded),
            "mean_score": self.mean_score().map(rounded),
            "critical_count": self.critical_count(),
            "warning_count": self.warning_count(),
            "schema_criticals": self.schema_criticals(),
            "schema_warnings": self.schema_warnings(),
            "tool": tools,
            "rules": self.rules,
        })
    }

    /// The failed parts of the default gate: `min_score` at least 0.5, `mean_score` at least 0.7, no critical finding.
    ///
    /// It does not look at schemas, and it does not hold for a catalog without tools.
    pub fn default_gate(&self) -> Vec<GateFailure> {
        let mut failures = Vec::new();
        let scores = [("min_score", self.min_score(), 0.5), ("mean_score", self.mean_score(), 0.7)];
        for (target, score, least) in scores {
            if score.is_none_or(|score| score < least) {
                let actual = score.map_or_else(|| "no tools".to_owned(), |score| format!("{score:.2}"));
                failures.push(GateFailure { target, expected: format!("at least {least:.2}"), actual });
            }
        }
        if self.critical_count() > 0 {
            let (expected, actual) = ("0".to_owned(), self.critical_count().to_string());
            failures.push(GateFailure { target: "critical_count", expected, actual });
        }
        failures
    }

    fn count(&self, group: Group, severity: Severity) -> usize {
        let counted = RULES.iter().filter(|rule| rule.group() == group && rule.severity == severity);
        counted.filter_map(|rule| self.rules.get(rule.id)).sum()
    }
}

impl ToolQuality {
    /// The parts, by name.
    pub fn parts(&self) -> [(&'static str, f64); 6] {
        [
            ("described", self.described),
            ("documented", self.documented),
            ("typed", self.typed),
            ("concise", self.concise),
            ("returns", self.returns),
            ("annotated", self.annotated),
        ]
    }

    /// The mean of the parts.
    pub fn score(&self) -> f64 {
        mean(self.parts().into_iter().map(|(_, part)| part)).unwrap_or_default()
    }

    fn targets(&self) -> Value {
        let mut targets = Map::from_iter([("score".to_owned(), json!(rounded(self.score())))]);
        targets.extend(self.parts().map(|(name, part)| (name.to_owned(), json!(rounded(part)))));
        Value::Object(targets)
    }
}

fn tool_quality<'c>(catalog: &'c Catalog, tool: &ToolAt, tree: &mut SchemaTree<'c>) -> ToolQuality {
    let view = ToolView::new(catalog, tool, tree);
    let parameters = view.tree.parameters();
    let share = |holds: fn(&Parameter<'_>) -> bool| {
        mean(parameters.iter().map(|parameter| is(holds(parameter)))).unwrap_or(1.0)
    };
    let text = view.description.as_deref().unwrap_or_default().trim();
    let words = f64::from(u32::try_from(text.split_whitespace().count()).unwrap_or(u32::MAX));
    let lower = text.to_lowercase();
    let returns = RESULT_WORDS.iter().any(|word| lower.contains(word)) || view.tool.get("outputSchema").is_some();
    ToolQuality {
        name: view.name.as_deref().unwrap_or_default().to_owned(),
        described: is(text.chars().count() >= DESCRIPTION_CHARACTERS),
        documented: share(|parameter| parameter.described),
        typed: share(|parameter| parameter.described && parameter.typed),
        concise: if text.is_empty() { 0.0 } else { (CONCISE_WORDS / words).min(1.0) },
        returns: is(returns),
        annotated: is(view.tool.get("annotations").is_some_and(|all: Json<'_>| all.is_map() && !all.is_empty())),
    }
}

fn is(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

/// Four digits are enough to compare with, and read well.
fn rounded(score: f64) -> f64 {
    (score * 10_000.0).round() / 10_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quality(tools: &Value) -> Quality {
        Catalog::of_server("local", tools.as_array().expect("tools")).quality()
    }

    fn good() -> Value {
        json!({
            "name": "search",
            "description": "Searches the archive and returns the titles of letters",
            "inputSchema": {
                "type": "object",
                "properties": {"query": {"type": "string", "description": "Words to look for", "maxLength": 200}},
                "required": ["query"],
                "additionalProperties": false,
            },
            "annotations": {"readOnlyHint": true},
        })
    }

    #[test]
    fn a_tool_that_says_everything_has_the_full_score() {
        let quality = quality(&json!([good()]));
        assert_eq!(quality.min_score(), Some(1.0), "{quality:?}");
        assert_eq!(quality.default_gate(), []);
        let targets = quality.targets();
        assert_eq!(targets["min_score"], 1.0);
        assert_eq!(targets["tool"]["search"]["score"], 1.0);
        assert_eq!(targets["rules"]["SCH-001"], 0);
        assert_eq!(targets["rules"].as_object().map(Map::len), Some(RULES.len()));
    }

    #[test]
    fn each_part_counts_for_a_sixth() {
        type Spoil = fn(&mut Value);
        let parts: [(&str, Spoil); 5] = [
            ("annotated", |tool| tool["annotations"] = json!({})),
            ("returns", |tool| tool["description"] = json!("Searches the archive for letters of any author")),
            ("documented", |tool| tool["inputSchema"]["properties"]["query"]["description"] = json!(" ")),
            ("typed", |tool| tool["inputSchema"]["properties"]["query"] = json!({"description": "Words"})),
            ("concise", |tool| tool["description"] = json!("returns words ".repeat(60))),
        ];
        for (part, spoil) in parts {
            let mut tool = good();
            spoil(&mut tool);
            let quality = quality(&json!([tool]));
            let parts: BTreeMap<_, _> = quality.tools[0].parts().into_iter().collect();
            assert!(parts[part] < 1.0, "{part}: {parts:?}");
            assert!(quality.tools[0].score() < 1.0);
        }
    }

    #[test]
    fn counts_are_those_of_the_rules() {
        let loose =
            json!({"name": "x", "inputSchema": {"type": "object", "properties": {"a": {}, "b": {"type": "string"}}}});
        let quality = quality(&json!([good(), loose]));
        assert_eq!((quality.schema_criticals(), quality.schema_warnings()), (1, 3));
        assert_eq!((quality.critical_count(), quality.rules["USE-001"], quality.rules["SCH-003"]), (1, 1, 1));
        assert_eq!(quality.min_score(), Some(0.0));
        assert_eq!(quality.mean_score(), Some(0.5));
        let failed: Vec<_> = quality.default_gate().into_iter().map(|failure| failure.target).collect();
        assert_eq!(failed, ["min_score", "mean_score", "critical_count"]);
    }

    #[test]
    fn no_tools_do_not_pass() {
        let quality = quality(&json!([]));
        assert_eq!(quality.targets()["min_score"], Value::Null);
        assert_eq!(quality.default_gate().len(), 2);
        assert_eq!(quality.default_gate()[0].actual, "no tools");
    }
}
