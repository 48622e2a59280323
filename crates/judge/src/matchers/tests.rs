//! Matchers on values, and the messages for mistakes.

use mcprove_model::{Outcome, SourceFile};

use super::*;

fn decoded(name: &str, given: &str) -> Arc<dyn Matcher> {
    let source = SourceFile::new("t.yaml", "");
    let mut found = Diagnostics::new(&source);
    let value: Value = serde_json::from_str(given).expect(given);
    let matcher = decode_matcher(&Node::from_json(Span::default(), json!({ name: value })), &mut found);
    matcher.unwrap_or_else(|| panic!("{name}: {given}: {:?}", found.into_findings()))
}

#[test]
fn every_example_holds_or_fails_as_stated() {
    for kind in MATCHERS {
        for wanted in [true, false] {
            assert!(kind.examples.iter().any(|example| example.holds == wanted), "{} lacks examples", kind.name);
        }
        for example in kind.examples {
            let seen: Value = serde_json::from_str(example.seen).expect(example.seen);
            let texts = [("greeting".to_owned(), "hello at <timestamp>".to_owned())].into();
            let stored = StoredValues { texts, ..StoredValues::default() };
            let judged = decoded(kind.name, example.given).judge_with(&seen, &stored);
            assert_eq!(judged.is_ok(), example.holds, "{}: {example:?}: {judged:?}", kind.name);
            if let Err(mismatch) = judged {
                assert!(!mismatch.expected.is_empty() && !mismatch.message.is_empty(), "{}: {mismatch:?}", kind.name);
            }
            let block = json!({kind.name: serde_json::from_str::<Value>(example.given).expect("JSON")});
            assert_eq!(crate::schema::errors(&matcher_schema(), &block), Ok(Vec::new()), "{block}");
        }
    }
}

#[test]
fn the_table_is_sorted() {
    let names: Vec<String> = MATCHERS.iter().map(|kind| kind.name.to_lowercase()).collect();
    assert!(names.is_sorted(), "{names:?}");
}

#[test]
fn a_target_that_leads_nowhere_never_passes_by_being_null() {
    let source = SourceFile::new("t.yaml", "");
    let judge = |matcher: Value| {
        let mut found = Diagnostics::new(&source);
        let list = json!([{"target": "result.gone", "matcher": matcher}]);
        let checks = decode_assertions(&Node::from_json(Span::default(), list), &mut found);
        assert!(found.into_findings().is_empty());
        checks[0].check.judge(&Observation::new(Outcome::Result(json!({"here": 1})), ""))
    };
    for matcher in [json!({"schema": {"maximum": 0}}), json!({"exact": null}), json!({"exists": true})] {
        assert!(judge(matcher.clone()).is_err(), "{matcher}");
    }
    assert!(judge(json!({"exists": false})).is_ok());
    assert!(judge(json!({"not": {"exact": 1}})).is_ok());
}

#[test]
fn a_path_that_matches_nothing_leads_nowhere() {
    let judge = |target: &str, matcher: &Value| {
        let source = SourceFile::new("t.yaml", "");
        let mut found = Diagnostics::new(&source);
        let list = json!([{"target": target, "matcher": matcher}]);
        let checks = decode_assertions(&Node::from_json(Span::default(), list), &mut found);
        assert!(found.into_findings().is_empty());
        checks[0].check.judge(&Observation::new(Outcome::Result(json!({"here": [1]})), ""))
    };
    for target in ["$..zzz", "$.result.zzz[*].x", "$.result.here[?@ > 5]"] {
        for (matcher, holds) in [
            (json!({"exists": true}), false),
            (json!({"exists": false}), true),
            (json!({"not": {"exists": false}}), false),
            (json!({"schema": {"items": {"type": "string"}}}), false),
            (json!({"contains": []}), false),
            (json!({"subset": []}), false),
            (json!({"exact": [1]}), false),
            (json!({"exact": []}), true),
            (json!({"not": {"exact": []}}), false),
            (json!({"length": 0}), true),
            (json!({"length": {"gte": 1}}), false),
            (json!({"not": {"length": 0}}), false),
            (json!({"allOf": [{"length": 0}, {"exact": []}]}), true),
        ] {
            assert_eq!(judge(target, &matcher).is_ok(), holds, "{target}: {matcher}");
        }
    }
    assert!(judge("$.result.here[*]", &json!({"exists": true})).is_ok());
    assert!(judge("$.result.here[*]", &json!({"exists": false})).is_err());
    for matcher in [json!({"exact": []}), json!({"length": 0})] {
        assert!(judge("$.result.gone", &matcher).is_err(), "{matcher}");
        assert!(judge("result.gone", &matcher).is_err(), "{matcher}");
    }
}

#[test]
fn matchers_of_matchers_see_a_missing_target_as_those_inside_do() {
    let nowhere = json!({"exists": false});
    let one = json!({"exact": 1});
    for (name, given, accepts) in [
        ("not", nowhere.clone(), false),
        ("not", one.clone(), true),
        ("not", json!({"not": one}), false),
        ("not", json!({"anyOf": [nowhere]}), false),
        ("anyOf", json!([nowhere, one]), true),
        ("anyOf", json!([one, one]), false),
        ("allOf", json!([nowhere]), true),
        ("allOf", json!([nowhere, one]), false),
        ("oneOf", json!([nowhere, one]), true),
        ("oneOf", json!([nowhere, {"not": one}]), false),
        ("oneOf", json!([one, one]), false),
    ] {
        assert_eq!(decoded(name, &given.to_string()).accepts_missing(Missing::TheOne), accepts, "{name}: {given}");
    }
}

#[test]
fn the_json_schema_accepts_what_is_decoded() {
    for (matcher, is_fine) in [
        (json!({"not": {"exact": 1}}), true),
        (json!({"not": {}}), false),
        (json!({"not": {"exactly": 1}}), false),
        (json!({"not": {"exact": 1, "gt": 0}}), false),
        (json!({"not": null}), false),
        (json!({"anyOf": [{"exact": 1}]}), true),
        (json!({"anyOf": [{"exactly": 1}]}), false),
        (json!({"length": 0}), true),
        (json!({"length": {"gt": 1}}), true),
        (json!({"length": -1}), false),
        (json!({"length": 1.5}), false),
        (json!({"length": {"above": 1}}), false),
        (json!({"is-json": true}), true),
        (json!({"is-json": null}), true),
        (json!({"is-json": {}}), true),
        (json!({"is-json": {"schema": true}}), true),
        (json!({"is-json": false}), false),
        (json!({"is-json": {"shema": true}}), false),
        (json!({"is-json": {"schema": 1}}), false),
        (json!({"is-valid-tools-call": true}), true),
        (json!({"is-valid-tools-call": false}), false),
    ] {
        let source = SourceFile::new("t.yaml", "");
        let mut found = Diagnostics::new(&source);
        decode_matcher(&Node::from_json(Span::default(), matcher.clone()), &mut found);
        assert_eq!(found.into_findings().is_empty(), is_fine, "decoded: {matcher}");
        let errors = crate::schema::errors(&matcher_schema(), &matcher).expect("a schema");
        assert_eq!(errors.is_empty(), is_fine, "by the schema: {matcher}: {errors:?}");
    }
}

#[test]
fn mistakes_are_told() {
    let source = SourceFile::new("t.yaml", "");
    let mut found = Diagnostics::new(&source);
    let list = json!([
        {"target": "result.x", "matcher": {"contain": "a"}},
        {"target": "result.x", "matcher": {"exact": 1, "regex": "a"}},
        {"matcher": {"exact": 1}},
        {"target": "result.x"},
        {"target": "result..x", "matcher": {"regex": "("}, "weight": 0},
        {"target": "result.x", "matcher": {"contains-any": []}},
        {"target": "result.x", "matcher": {"allOf": []}},
        {"target": "result.x", "matcher": {"snapshot": " "}},
        {"target": "result.x", "matcher": {"citation": {"claim": "true", "model": "m"}}},
        {"target": "result.x", "matcher": {"not": {"llm-judge": {"rubric": "nice"}}}},
        {"target": "result.x", "matcher": {"llm-judge": {"rubric": "nice", "combine": "all"}}},
    ]);
    decode_assertions(&Node::from_json(Span::default(), list), &mut found);
    let rules: Vec<_> = found.into_findings().into_iter().map(|f| f.rule.into_owned()).collect();
    assert_eq!(
        rules,
        [
            "unknown-matcher",
            "bad-matcher",
            "missing-key",
            "missing-key",
            "bad-target",
            "wrong-type",
            "bad-regex",
            "bad-matcher",
            "bad-matcher",
            "bad-matcher",
            "unsupported-matcher",
            "bad-matcher",
            "wrong-key",
        ]
    );
}

#[test]
fn what_cannot_be_judged_is_not_the_opposite() {
    let judge = |matcher: Value, seen: Value| {
        let source = SourceFile::new("t.yaml", "");
        let mut found = Diagnostics::new(&source);
        let decoded = decode_matcher(&Node::from_json(Span::default(), matcher), &mut found).expect("a matcher");
        decoded.judge(&seen)
    };
    let (broken, holds, fails) = (json!({"cel": "value.size() == 1"}), json!({"gt": 1}), json!({"gt": 9}));
    let other = json!({"cel": "value + 1"});
    for matcher in [
        json!({"not": broken}),
        json!({"not-cel": "value.size() == 1"}),
        json!({"not": other}),
        json!({"not": {"not": broken}}),
        json!({"not": {"allOf": [broken, holds]}}),
        json!({"not": {"anyOf": [broken, fails]}}),
        json!({"not": {"oneOf": [holds, broken]}}),
        json!({"oneOf": [holds, broken]}),
    ] {
        let mismatch =
            judge(matcher.clone(), json!(5)).map_or_else(|mismatch| mismatch, |()| panic!("{matcher} holds"));
        let message = &mismatch.message;
        assert!(message.contains("cannot be judged") || message.contains("other than"), "{matcher}: {message}");
    }
    assert!(judge(json!({"not": {"length": {"cel": "value + 1"}}}), json!([1])).is_err());
    for matcher in [
        json!({"not": {"allOf": [broken, fails]}}),
        json!({"anyOf": [broken, holds]}),
        json!({"not": {"oneOf": [holds, holds, broken]}}),
        json!({"not": {"cel": "value == 4"}}),
    ] {
        assert_eq!(judge(matcher.clone(), json!(5)), Ok(()), "{matcher}");
    }
}

#[test]
fn names_that_an_expression_cannot_have_are_errors() {
    let source = SourceFile::new("t.yaml", "");
    for given in
        ["undefinedvar == 1", "value.lenght() > 1", &format!("{}1{} == 1", "(".repeat(5_000), ")".repeat(5_000))]
    {
        let mut found = Diagnostics::new(&source);
        let node = Node::from_json(Span::default(), json!({"not": {"cel": given}}));
        assert!(decode_matcher(&node, &mut found).is_none(), "{given}");
        assert_eq!(found.into_findings()[0].rule, "bad-matcher");
    }
}

#[test]
fn a_field_of_what_has_none_is_an_error_of_an_expression() {
    for expression in
        ["!value.gone", "value.gone == value.other", "value.a.b == false", "value.gone", "value.gone || value.gone"]
    {
        for seen in [json!("text"), json!(5), json!([1]), json!(null), json!({"a": "text"})] {
            let mismatch = decoded("cel", &json!(expression).to_string()).judge(&seen).expect_err(expression);
            assert!(mismatch.message.contains("cannot be judged"), "{expression} of {seen}: {}", mismatch.message);
        }
    }
    for expression in
        ["!has(value.gone)", "value.a.b == 1", "value['a'].b == 1", "value.a.size() == 1", "value.l.all(x, x.y > 0)"]
    {
        let seen = json!({"a": {"b": 1}, "l": [{"y": 1}, {"y": 2}]});
        assert_eq!(decoded("cel", &json!(expression).to_string()).judge(&seen), Ok(()), "{expression}");
    }
}
