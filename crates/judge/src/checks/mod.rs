//! The checks of results (`expect`), one file each, and a folder for each other vocabulary.

use mcprove_model::{Diagnostics, Node, PlannedCheck, Vocabulary};
use serde_json::Value;

mod cancelled;
mod contains;
mod contains_any;
mod equals;
mod file_contains;
mod file_not_contains;
mod file_not_exists;
mod file_unchanged;
mod handled;
mod in_order;
mod is_error;
mod json_path;
mod logged;
mod matches_regex;
mod max_duration_ms;
mod max_response_tokens;
mod max_results;
mod min_progress;
mod min_results;
mod net_delta;
mod not_contains;
mod not_empty;
mod not_error;
mod protocol_error;
mod response_headers;
mod response_headers_absent;

mod agent_trajectory;
mod expect_notification;
mod logging;
mod notifications;
mod raw;
mod sampling;
mod trajectory;

mod among;
mod bound;
mod derived_metrics;
mod example;
mod file_state;
mod named;
mod outcome;
mod pattern;
mod results;
mod shape;
mod threshold;
#[cfg(test)]
mod trial;
mod vocabulary;

pub use derived_metrics::{KEY as DERIVED_METRICS, schema as derived_metrics_schema};
pub use example::{Example, Seen};
pub use threshold::{decode_threshold, threshold_schema};
pub use trajectory::{decode_trajectory, trajectory_schema};
pub use vocabulary::{
    TABLES, Table, decode, decode_logging, decode_notifications, decode_raw, decode_sampling, sampling_schema, schema,
};

/// One kind of check: its name in files, how it is decoded, and what it is for.
pub struct CheckKind {
    /// The key in an `expect` block.
    pub name: &'static str,
    /// One sentence for the documentation.
    pub summary: &'static str,
    /// Turns the value under the key into checks, one for each thing asked, and reports what is wrong with it.
    pub decode: fn(&Node, &mut Diagnostics<'_>) -> Vec<PlannedCheck>,
    /// The JSON Schema of the value.
    pub schema: fn() -> Value,
    /// Passing and failing examples.
    pub examples: &'static [Example],
}

/// Every check of a result, in the order failures are reported.
pub const CHECKS: &[CheckKind] = &[
    not_error::KIND,
    is_error::KIND,
    protocol_error::KIND,
    cancelled::KIND,
    handled::KIND,
    not_empty::KIND,
    equals::KIND,
    contains::KIND,
    contains_any::KIND,
    not_contains::KIND,
    matches_regex::KIND,
    json_path::KIND,
    min_results::KIND,
    max_results::KIND,
    net_delta::KIND,
    file_contains::KIND,
    file_not_contains::KIND,
    file_not_exists::KIND,
    file_unchanged::KIND,
    in_order::KIND,
    min_progress::KIND,
    logged::KIND,
    max_duration_ms::KIND,
    max_response_tokens::KIND,
    response_headers::KIND,
    response_headers_absent::KIND,
];

/// Decodes the `expect` of `assert`; see [`decode`] for other blocks.
pub fn decode_expect(block: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    decode(Vocabulary::Tool, block, found)
}

/// The JSON Schema of the `expect` of `assert`; see [`schema`] for other blocks.
pub fn expect_schema() -> Value {
    schema(Vocabulary::Tool)
}

#[cfg(test)]
mod tests {
    use mcprove_model::{Place, SourceFile, Span};
    use serde_json::json;

    use super::trial::{Trial, observation};
    use super::*;

    /// Every check of every table, with its table to try it out in.
    fn all() -> impl Iterator<Item = (Trial, &'static CheckKind)> {
        TABLES.iter().flat_map(|table| table.kinds.iter().map(|kind| (Trial(table.kinds), kind)))
    }

    #[test]
    fn every_example_holds_or_fails_as_stated() {
        for (trial, kind) in all() {
            for holds in [true, false] {
                let stated = kind.examples.iter().filter(|example| example.holds == holds).count();
                assert!(stated > 0, "{} has no example that {}", kind.name, if holds { "holds" } else { "fails" });
            }
            for example in kind.examples {
                let case = format!("{}: {} on {:?}", kind.name, example.value, example.seen);
                let checks = trial.decoded(kind.name, example.value);
                assert!(!checks.is_empty(), "{case}: nothing was decoded");
                assert!(checks.iter().all(|planned| planned.name == kind.name), "{case}");
                let seen = observation(&example.seen);
                let mismatches: Vec<_> = checks.iter().filter_map(|p| p.check.judge(&seen).err()).collect();
                assert_eq!(mismatches.is_empty(), example.holds, "{case}: {mismatches:?}");
                for mismatch in mismatches {
                    assert!(!mismatch.message.is_empty() && !mismatch.expected.is_empty(), "{case}: {mismatch:?}");
                    assert!(!mismatch.actual.is_empty(), "{case}: {mismatch:?}");
                    assert!(!mismatch.message.starts_with(char::is_uppercase), "{case}: {mismatch:?}");
                }
            }
        }
    }

    #[test]
    fn every_example_is_valid_against_the_schema() {
        for (_, kind) in all() {
            for example in kind.examples {
                let value: Value = serde_json::from_str(example.value).expect(example.value);
                let errors = crate::schema::errors(&(kind.schema)(), &value);
                assert_eq!(errors, Ok(Vec::new()), "{}: {value}", kind.name);
            }
        }
        let block = json!({"contains": ["a"], "min_results": 1});
        assert_eq!(crate::schema::errors(&expect_schema(), &block), Ok(Vec::new()));
        assert_eq!(crate::schema::errors(&expect_schema(), &json!({"contain": "a"})).expect("a schema").len(), 1);
        let items = json!([{"type": "only", "tools": "a"}, {"type": "exact", "tools": []}]);
        assert_eq!(crate::schema::errors(&trajectory_schema(), &items), Ok(Vec::new()));
    }

    #[test]
    fn checks_come_in_the_order_of_the_table() {
        let source = SourceFile::new("a.yaml", "");
        let mut found = Diagnostics::new(&source);
        let block = json!({"in_order": ["x"], "contains": ["b", "a"], "not_error": true});
        let checks = decode_expect(&Node::from_json(Span::default(), block), &mut found);
        let names: Vec<&str> = checks.iter().map(|planned| planned.name).collect();
        assert_eq!(names, ["not_error", "contains", "contains", "in_order"]);
        assert_eq!(found.count(), 0);
    }

    #[test]
    fn unknown_keys_are_reported_and_the_rest_is_kept() {
        let source = SourceFile::new("a.yaml", "");
        let mut found = Diagnostics::new(&source);
        let block = Node::from_json(Span::default(), json!({"contain": ["x"], "not_error": true}));
        assert_eq!(decode_expect(&block, &mut found).len(), 1);
        let findings = found.into_findings();
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].message, "unknown key `contain` in `expect`");
        assert_eq!(findings[0].help.as_deref(), Some("did you mean `contains`?"));
    }

    #[test]
    fn an_empty_block_asks_for_nothing() {
        let source = SourceFile::new("a.yaml", "");
        let mut found = Diagnostics::new(&source);
        assert!(decode_expect(&Node::from_json(Span::default(), Value::Null), &mut found).is_empty());
        assert_eq!(found.count(), 0);
        assert!(decode_expect(&Node::from_json(Span::default(), json!([])), &mut found).is_empty());
        assert_eq!(found.count(), 1);
    }

    #[test]
    fn both_forms_mean_the_same_everywhere() {
        let source = SourceFile::new("a.yaml", "");
        let mut found = Diagnostics::new(&source);
        let list = json!([{"target": "result.isError", "matcher": {"exact": false}, "weight": 2}]);
        for block in [list.clone(), json!({"assertions": list, "threshold": 0.5})] {
            let block = Node::from_json(Span::default(), block);
            for vocabulary in [Vocabulary::Tool, Vocabulary::ReadStep, Vocabulary::Prompts, Vocabulary::Raw] {
                let checks = decode(vocabulary, &block, &mut found);
                assert_eq!(checks.iter().map(|p| (p.name, p.weight)).collect::<Vec<_>>(), [("exact", 2.0)]);
            }
        }
        let both = json!({"contains": "x", "max_duration_ms": 5, "assertions": list});
        let checks = decode_expect(&Node::from_json(Span::default(), both.clone()), &mut found);
        assert_eq!(checks.iter().map(|p| p.name).collect::<Vec<_>>(), ["contains", "max_duration_ms", "exact"]);
        assert_eq!(found.count(), 0);
        assert_eq!(crate::schema::errors(&expect_schema(), &both), Ok(Vec::new()));
        assert_eq!(crate::schema::errors(&expect_schema(), &list), Ok(Vec::new()));
    }

    #[test]
    fn wrong_values_are_findings_with_a_place_and_help() {
        let tables = [CHECKS, logging::CHECKS, notifications::CHECKS, raw::CHECKS, sampling::CHECKS];
        for (name, value) in [
            ("cancelled", "3"),
            ("contains_level", "{}"),
            ("error", "3"),
            ("error", "{\"code\": \"x\"}"),
            ("error_code", "true"),
            ("max_count", "-1"),
            ("max_duration_ms", "\"1s\""),
            ("max_response_tokens", "{\"budget\": 1, \"tokenizer\": \"gpt2\"}"),
            ("max_messages", "\"x\""),
            ("max_tokens", "1.5"),
            ("methods", "null"),
            ("min_requests", "[]"),
            ("no_reply", "\"maybe\""),
            ("not_contains_data", "[{}]"),
            ("result", "3"),
            ("system_prompt_contains", "{}"),
            ("not_error", "3"),
            ("handled", "false"),
            ("is_error", "\"maybe\""),
            ("protocol_error", "[1]"),
            ("protocol_error", "1.5"),
            ("not_empty", "null"),
            ("equals", "[1]"),
            ("equals", "{\"a\": 1}"),
            ("contains", "[{\"a\": 1}]"),
            ("contains", "null"),
            ("contains_any", "{}"),
            ("not_contains", "[[]]"),
            ("matches_regex", "\"(\""),
            ("json_path", "[\"$.a\"]"),
            ("json_path", "{\"$.a[\": 1}"),
            ("min_results", "-1"),
            ("max_results", "1.5"),
            ("net_delta", "\"x\""),
            ("file_contains", "\"x\""),
            ("file_contains", "{\"a\": {}}"),
            ("file_not_contains", "[1]"),
            ("file_not_exists", "{}"),
            ("file_unchanged", "[null]"),
            ("in_order", "{}"),
            ("min_progress", "-2"),
        ] {
            let table = tables.into_iter().find(|table| table.iter().any(|kind| kind.name == name)).expect(name);
            let findings = Trial(table).findings(name, value);
            assert_eq!(findings.len(), 1, "{name}: {value}: {findings:?}");
            assert!(findings[0].message.contains('`'), "{findings:?}");
            assert!(findings[0].help.is_some(), "{findings:?}");
            assert!(matches!(findings[0].place, Some(Place::Text(_))), "{findings:?}");
        }
    }

    #[test]
    fn nothing_a_server_does_makes_a_check_panic() {
        use mcprove_model::{Malformed, Observation, Outcome, RpcError};
        let outcomes = [
            Outcome::Error(RpcError { code: -1, message: "no".to_owned(), data: None }),
            Outcome::Malformed(Malformed { fault: "odd".to_owned(), evidence: b"{".as_slice().into() }),
            Outcome::TimedOut { after_ms: 3 },
            Outcome::Closed { what: "the server exited".to_owned(), end: None },
            Outcome::Cancelled,
            Outcome::Result(Value::Null),
            Outcome::Result(json!({"content": [null, {"type": 3}], "structuredContent": []})),
        ];
        for outcome in outcomes {
            let seen = Observation::of_tool_call(outcome);
            for (trial, kind) in all() {
                for planned in kind.examples.iter().flat_map(|example| trial.decoded(kind.name, example.value)) {
                    let _ = planned.check.judge(&seen);
                    let _ = planned.check.remark(&seen);
                }
            }
        }
    }
}
