//! Measures of what an agent did, one file each: facts about its calls, without any judge.

mod distractors;
mod equal_function_sets;
mod golden_path;
mod orchestration;
mod stability;
mod tool_edges;
mod trajectory_axes;

use std::sync::Arc;

use mcprove_model::{AgentMeasure, Diagnostics, Node, Observation, Targets};
use serde_json::{Value, json};

pub use equal_function_sets::classes;
pub use stability::{TARGETS as STABILITY_TARGETS, weakest};

/// A measure as it was decoded.
pub type Decoded = Option<Arc<dyn AgentMeasure>>;

/// One kind of measure: its key in an agent test, how it is decoded, and what is expected of it by default.
pub struct MeasureKind {
    /// The key in a test of `agents`.
    pub key: &'static str,
    /// One sentence for the documentation.
    pub summary: &'static str,
    /// Its targets.
    pub targets: &'static Targets,
    /// Default expectation for a block without `expect`: a JSON list of assertions.
    pub default: &'static str,
    /// Turns the block into a measure; the classes are those of `equal_function_sets`.
    pub decode: fn(&Node, &[Vec<String>], &mut Diagnostics<'_>) -> Decoded,
    /// The JSON Schema of its keys besides `expect`, and which of them must be there.
    pub schema: fn() -> (Value, &'static [&'static str]),
}

/// Every measure, sorted by key.
pub const MEASURES: &[MeasureKind] = &[
    distractors::KIND,
    equal_function_sets::KIND,
    golden_path::KIND,
    orchestration::KIND,
    tool_edges::KIND,
    trajectory_axes::KIND,
];

/// A call of an agent.
struct Call<'s> {
    server: &'s str,
    tool: &'s str,
    args: &'s Value,
    is_error: bool,
}

impl Call<'_> {
    /// True for the tool of this name, or of this name at this server: `server.tool`.
    fn is(&self, name: &str) -> bool {
        self.tool == name || name.strip_suffix(self.tool).and_then(|rest| rest.strip_suffix('.')) == Some(self.server)
    }
}

/// The calls of a run, in order.
fn calls(seen: &Observation) -> Vec<Call<'_>> {
    let list = |key: &str| seen.extra.get(key).and_then(Value::as_array).map_or(&[] as &[Value], Vec::as_slice);
    let results = list("tool_results");
    list("tool_calls")
        .iter()
        .enumerate()
        .map(|(at, call)| Call {
            server: call.get("server").and_then(Value::as_str).unwrap_or_default(),
            tool: call.get("name").and_then(Value::as_str).unwrap_or_default(),
            args: call.get("args").unwrap_or(&Value::Null),
            is_error: results.get(at).is_some_and(|result| result["is_error"] == true),
        })
        .collect()
}

/// So much of so much, in percent; all of nothing is all.
fn percent(part: usize, whole: usize) -> f64 {
    let number = |count: usize| u32::try_from(count).map_or(f64::MAX, f64::from);
    if whole == 0 { 100.0 } else { 100.0 * number(part) / number(whole) }
}

/// The texts of a list under a key.
fn texts(node: &Node, key: &str, found: &mut Diagnostics<'_>) -> Option<Vec<String>> {
    let Some(list) = node.get(key).filter(|list| !list.is_null()) else { return Some(Vec::new()) };
    let items = found.list(list, &format!("`{key}`"));
    items.iter().map(|item| found.text(item, &format!("an item of `{key}`")).map(str::to_owned)).collect()
}

/// A list of texts that must have some.
fn some_texts(node: &Node, key: &str, found: &mut Diagnostics<'_>) -> Option<Vec<String>> {
    let all = texts(node, key, found)?;
    if all.is_empty() {
        found.error_with_help(
            "missing-key",
            node.span,
            format!("`{key}` names no tool"),
            format!("add `{key}: [TOOL]`"),
        );
        return None;
    }
    Some(all)
}

fn flag(node: &Node, key: &str, otherwise: bool, found: &mut Diagnostics<'_>) -> bool {
    let value = node.get(key).filter(|value| !value.is_null());
    value.and_then(|value| found.boolean(value, &format!("`{key}`"))).unwrap_or(otherwise)
}

fn texts_schema(description: &str) -> Value {
    json!({"type": "array", "items": {"type": "string", "minLength": 1}, "description": description})
}

#[cfg(test)]
mod tests {
    use mcprove_model::{Outcome, SourceFile, Span, Vocabulary};

    use super::*;

    /// Measures a run with these calls, each `tool`, `tool!` for an error, with arguments where there is `(…)`.
    fn measured(key: &str, block: &Value, run: &[&str]) -> (Value, bool) {
        let kind = MEASURES.iter().find(|kind| kind.key == key).expect(key);
        let source = SourceFile::new("t.yaml", "");
        let mut found = Diagnostics::new(&source);
        let sets = vec![vec!["search".to_owned(), "archive".to_owned()]];
        let node = Node::from_json(Span::default(), block.clone());
        let measure = (kind.decode)(&node, &sets, &mut found);
        let default: Value = serde_json::from_str(kind.default).expect("JSON");
        let vocabulary = Vocabulary::Targets(kind.targets);
        let checks = crate::checks::decode(vocabulary, &Node::from_json(Span::default(), default), &mut found);
        let measure = measure.unwrap_or_else(|| panic!("{:?}", found.into_findings()));
        let mut seen = Observation::new(Outcome::Cancelled, "");
        let name = |call: &str| call.trim_end_matches('!').to_owned();
        seen.extra = json!({
            "tool_calls": run.iter().map(|call| json!({"server": "s", "name": name(call), "args": {"q": 1}})).collect::<Vec<_>>(),
            "tool_results": run.iter().map(|call| json!({"is_error": call.ends_with('!')})).collect::<Vec<_>>(),
        });
        let values = measure.measure(&seen);
        seen.extra[measure.name()] = values.clone();
        (values, checks.iter().all(|planned| planned.check.judge(&seen).is_ok()))
    }

    #[test]
    fn the_table_is_sorted() {
        assert!(MEASURES.is_sorted_by_key(|kind| kind.key));
    }

    #[test]
    fn each_measure_passes_and_fails_by_default() {
        for (key, block, good, bad) in [
            ("golden_path", json!({"calls": ["a", "b"]}), vec!["a", "b"], vec!["a", "b", "a"]),
            ("golden_path", json!({"calls": ["a", "b"]}), vec!["a", "b"], vec![]),
            ("golden_path", json!({"calls": ["a"], "allow_extra_steps": true}), vec!["a", "c"], vec!["a", "a"]),
            ("tool_edges", json!({"restricted": ["s.drop"]}), vec!["a"], vec!["a", "drop"]),
            (
                "equal_function_sets",
                json!({"classes": [{"name": "find", "members": ["archive"]}]}),
                vec!["archive"],
                vec!["other"],
            ),
            ("trajectory_axes", json!({"order": [{"first": "a", "second": "b"}]}), vec!["a", "b"], vec!["b", "a"]),
            (
                "trajectory_axes",
                json!({"dependencies": [{"producer": "a", "consumer": "b"}]}),
                vec!["a", "b"],
                vec!["b"],
            ),
            (
                "distractors",
                json!({"count": 2, "source": {"from": "catalog"}, "correct": ["a"]}),
                vec!["a"],
                vec!["book_flight", "convert_currency"],
            ),
        ] {
            let (values, passed) = measured(key, &block, &good);
            assert!(passed, "{key} {block} {good:?}: {values}");
            let (values, passed) = measured(key, &block, &bad);
            assert!(!passed, "{key} {block} {bad:?}: {values}");
        }
    }

    #[test]
    fn orchestration_has_five_scores() {
        let (values, _) = measured("orchestration", &json!({}), &["search!", "archive", "x"]);
        let expected = json!({
            "discovery": 100.0, "parameterization": 100.0, "syntax": 100.0, "error_recovery": 100.0,
            "efficiency": 100.0 / 3.0,
        });
        assert_eq!(values, expected);
    }
}
