//! The checks of each block, and the messages for mistakes.

use mcprove_model::{Finding, SourceFile, Span};

use super::*;

fn decoded(vocabulary: Vocabulary, block: Value) -> (Vec<&'static str>, Vec<Finding>) {
    let source = SourceFile::new("a.yaml", "");
    let mut found = Diagnostics::new(&source);
    let checks = decode(vocabulary, &Node::from_json(Span::default(), block), &mut found);
    (checks.iter().map(|planned| planned.name).collect(), found.into_findings())
}

#[test]
fn targets_begin_with_what_the_block_has() {
    let told = |vocabulary: Vocabulary, target: &str| {
        let list = json!([{"target": target, "matcher": {"not": {"exact": true}}}]);
        let (_, of_list) = decoded(vocabulary, list.clone());
        let (_, of_map) = decoded(vocabulary, json!({"assertions": list}));
        assert_eq!(of_list, of_map, "{target}");
        of_list.into_iter().map(|f| (f.rule.into_owned(), f.help.unwrap_or_default())).collect::<Vec<_>>()
    };
    let unknown = |help: &str| vec![("unknown-target".to_owned(), help.to_owned())];
    for fine in ["result.isError", "$.result.isError", "$", "$..x", "$.*.x", "$['result']", "fuzz.crashes"] {
        assert_eq!(told(Vocabulary::Tool, fine), [], "{fine}");
    }
    for typo in ["reslt.isError", "$.reslt.isError", "$['reslt'][*]"] {
        assert_eq!(told(Vocabulary::Tool, typo), unknown("did you mean `result`?"), "{typo}");
        assert_eq!(told(Vocabulary::Prompts, typo), unknown("did you mean `result`?"), "{typo}");
    }
    assert_eq!(told(Vocabulary::Prompts, "fuzz.crashes"), unknown("targets begin with error, result"));
    for fine in ["final_response", "tool_calls[0].name", "recovery.recovered", "result.content"] {
        assert_eq!(told(Vocabulary::Agent, fine), [], "{fine}");
    }
    assert_eq!(told(Vocabulary::Agent, "tool_call[0].name"), unknown("did you mean `tool_calls`?"));
    assert_eq!(told(Vocabulary::NegativePath, "negative_path.failures"), []);
    assert_eq!(told(Vocabulary::Fuzz, "fuzz.crashes"), []);
    assert_eq!(told(Vocabulary::Fuzz, "fuzz.crahses"), unknown("did you mean `fuzz.crashes`?"));
    assert_eq!(told(Vocabulary::Fuzz, "fuz.x").len(), 1, "told once");
    assert_eq!(told(Vocabulary::Tool, "a..b").len(), 1, "told once");
}

#[test]
fn every_vocabulary_decodes_its_own_words() {
    for (vocabulary, block, names) in [
        (Vocabulary::Tool, json!({"cancelled": true, "is_error": false}), vec!["is_error", "cancelled"]),
        (Vocabulary::ToolStep, json!({"is_error": false}), vec!["is_error"]),
        (Vocabulary::ReadStep, json!({"not_error": true, "contains": "x"}), vec!["not_error", "contains"]),
        (
            Vocabulary::Resources,
            json!({"expect_notification": true, "subscribe": "a://b", "expect": {"not_empty": true}}),
            vec!["not_empty", "expect_notification"],
        ),
        (Vocabulary::Prompts, json!({"not_error": true}), vec!["not_error"]),
        (Vocabulary::Completion, json!({"min_results": 1}), vec!["min_results"]),
        (
            Vocabulary::Sampling,
            json!({"expect": {"contains": "x"}, "expect_sampling": {"contains": "y", "min_requests": 1}}),
            vec!["contains", "min_requests", "contains"],
        ),
        (Vocabulary::Logging, json!({"not_error": true, "min_messages": 1}), vec!["min_messages", "not_error"]),
        (Vocabulary::Notifications, json!({"in_order": ["a", "b"]}), vec!["in_order", "in_order"]),
        (Vocabulary::Trajectory, json!([{"type": "only", "tools": []}]), vec!["only"]),
        (Vocabulary::Raw, json!({"contains": "x", "error_code": 1}), vec!["error_code", "contains"]),
        (Vocabulary::Agent, json!({"contains": "x", "not_error": true}), vec!["not_error", "contains"]),
        (Vocabulary::AgentTrajectory, json!({"calls": [{"name": "a"}]}), vec!["trajectory"]),
    ] {
        let (decoded, findings) = decoded(vocabulary, block);
        assert_eq!((decoded, findings), (names, Vec::new()), "{vocabulary:?}");
        let empty = match vocabulary {
            Vocabulary::Trajectory | Vocabulary::AgentTrajectory => continue,
            _ => self::tests::decoded(vocabulary, Value::Null),
        };
        assert_eq!(empty, (Vec::new(), Vec::new()), "{vocabulary:?}");
    }
}

#[test]
fn words_of_another_block_are_told_apart_from_typos() {
    let told = |vocabulary, block| {
        let findings = decoded(vocabulary, block).1;
        assert_eq!(findings.len(), 1, "{findings:?}");
        format!("{}; {}", findings[0].message, findings[0].help.as_deref().unwrap_or_default())
    };
    assert_eq!(
        told(Vocabulary::Prompts, json!({"min_progress": 1})),
        "`min_progress` means nothing in `expect` of `assert_prompts`; \
         it is for `assert`, `assert_sampling`, `assert_logging`, `assert_notifications`, `assert_raw`"
    );
    assert_eq!(
        told(Vocabulary::Completion, json!({"is_error": true})),
        "`is_error` means nothing in `expect` of `assert_completion`; it is for `assert`, \
         a step that calls a tool, `assert_sampling`, `assert_logging`, `assert_notifications`, `assert_raw`; \
         `protocol_error: true` asks for a JSON-RPC error"
    );
    assert_eq!(
        told(Vocabulary::Tool, json!({"min_messages": 1})),
        "`min_messages` means nothing in `expect` of `assert`; it is for `expect` of `assert_logging`"
    );
    assert_eq!(
        told(Vocabulary::Tool, json!({"min_mesages": 1})),
        "unknown key `min_mesages` in `expect`; `min_messages` is for `expect` of `assert_logging`"
    );
    assert_eq!(
        told(Vocabulary::Logging, json!({"min_mesages": 1})),
        "unknown key `min_mesages` in `expect`; did you mean `min_messages`?"
    );
    assert_eq!(
        told(Vocabulary::Resources, json!({"expect": {"not_error": false}})),
        "`not_error: false` can never hold in `assert_resources`: only tools mark errors; \
         `protocol_error: true` asks for a JSON-RPC error"
    );
}

#[test]
fn limited_checks_are_checks() {
    for (name, _) in LIMITED {
        assert!(CHECKS.iter().any(|kind| kind.name == *name), "{name}");
    }
}
