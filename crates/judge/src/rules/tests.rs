//! The tests every rule passes, and the ones that take a look at several.

use crate::lint::lint;
use crate::{Catalog, TightenOptions};

use super::{Example, RULES, Rule, Selection, SelectionOptions};

fn catalog(text: &str) -> Catalog {
    Catalog::read("tools.json", text.as_bytes().to_vec()).expect(text)
}

/// Findings of the rules of one group, as `RULE pointer`.
fn reported(text: &str, group: &str) -> Vec<String> {
    let catalog = catalog(text);
    let select = [group.to_owned()];
    let rules = Selection::new(SelectionOptions { select: &select, ..SelectionOptions::default() }).expect(group);
    let mut reported = Vec::new();
    lint(&catalog, &rules, &mut |fault| reported.push(format!("{} {}", fault.rule.id, fault.pointer())));
    reported
}

fn ids(reported: &[String]) -> Vec<&str> {
    let mut ids: Vec<&str> = reported.iter().map(|reported| reported.split(' ').next().unwrap_or_default()).collect();
    ids.dedup();
    ids
}

fn of_group(rule: &Rule, example: &Example) -> Vec<String> {
    reported(&example.catalog(), rule.group().prefix())
}

#[test]
fn the_table_is_sorted_and_every_rule_is_whole() {
    assert!(RULES.is_sorted_by(|a, b| a.id < b.id));
    for rule in RULES {
        assert!(Rule::find(rule.id).is_some_and(|found| found.id == rule.id));
        assert!(Rule::find(rule.name).is_some_and(|found| found.id == rule.id), "{} is used twice", rule.name);
        assert!(rule.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'));
        assert!(
            rule.why.ends_with('.') && rule.why.starts_with(|c: char| c.is_uppercase() || c == '`'),
            "{}",
            rule.why
        );
        for fragment in [rule.summary, rule.help] {
            assert!(!fragment.ends_with('.') && !fragment.starts_with(char::is_uppercase), "{fragment}");
        }
    }
}

#[test]
fn bad_fires_exactly_its_rule_and_good_is_silent() {
    for rule in RULES {
        let bad = of_group(rule, &rule.bad);
        assert_eq!(ids(&bad), [rule.id], "bad of {}: {bad:?}", rule.id);
        let good = of_group(rule, &rule.good);
        assert!(good.is_empty(), "good of {}: {good:?}", rule.id);
    }
}

#[test]
fn a_fix_silences_its_rule_and_changes_nothing_the_second_time() {
    for rule in RULES.iter().filter(|rule| rule.is_fixable()) {
        let once = catalog(&rule.bad.catalog()).tighten(TightenOptions::default()).expect("a file").text;
        assert!(reported(&once, rule.id).is_empty(), "{}: {once}", rule.id);
        let twice = catalog(&once).tighten(TightenOptions::default()).expect("a file").text;
        assert_eq!(once, twice, "{}", rule.id);
    }
}

#[test]
fn every_fault_has_a_whole_finding() {
    for rule in RULES {
        let catalog = catalog(&rule.bad.catalog());
        lint(&catalog, &Selection::all(), &mut |fault| {
            let finding = fault.finding();
            assert_eq!(finding.rule, fault.rule.id);
            assert!(!fault.message.starts_with(char::is_uppercase) && !fault.message.ends_with('.'), "{finding:?}");
            assert!(finding.help.is_some() && finding.place.is_some(), "{finding:?}");
            assert!(finding.message.ends_with(&format!(" (at {})", fault.pointer())), "{finding:?}");
        });
    }
}

#[test]
fn rules_are_chosen_by_id_name_or_group() {
    let chosen = |all: bool, select: &[&str], allow: &[&str]| {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let (select, allow) = (owned(select), owned(allow));
        let rules = Selection::new(SelectionOptions { all, select: &select, allow: &allow })?;
        Ok::<Vec<&str>, String>(rules.iter().map(|rule| rule.id).collect())
    };
    assert_eq!(chosen(false, &[], &[]), Ok(vec!["SCH-001", "SCH-002", "SCH-003", "SCH-004"]));
    assert_eq!(chosen(false, &[], &["sch-001", "unbounded-size"]), Ok(vec!["SCH-002", "SCH-003"]));
    assert_eq!(chosen(false, &["any-value"], &[]), Ok(vec!["SCH-003"]));
    assert_eq!(chosen(true, &[], &["SCH"]).map(|ids| ids.iter().any(|id| id.starts_with("SCH"))), Ok(false));
    assert_eq!(chosen(true, &[], &[]).map(|ids| ids.len()), Ok(RULES.len()));
    assert_eq!(chosen(false, &[], &["SHC-001"]), Err("unknown rule `SHC-001`; did you mean `SCH-001`?".to_owned()));
    assert_eq!(
        chosen(false, &["everything"], &[]),
        Err("unknown rule `everything`; `mcprove explain` lists them".to_owned())
    );
}

/// Findings of the strict rules about one input schema, as `RULE pointer` from the schema on.
fn strict(schema: &str) -> Vec<String> {
    let tools = format!("[{{\"name\":\"t\",\"inputSchema\":{schema}}}]");
    reported(&tools, "SCH").iter().map(|reported| reported.replace("/0/inputSchema", "")).collect()
}

/// An input schema that is strict but for one property.
fn with_property(schema: &str) -> String {
    format!(r#"{{"type":"object","properties":{{"p":{schema}}},"required":["p"],"additionalProperties":false}}"#)
}

#[test]
fn the_whole_schema_is_looked_at() {
    let schema = r##"{"type":"object","properties":{
        "filter":{"type":"object","properties":{"text":{"type":"string"},"deep":{"type":"object","properties":{"x":{}}}}},
        "tags":{"type":"array","items":{"type":"string"}},
        "pair":{"type":"array","prefixItems":[{"type":"string"},{}],"items":false},
        "maybe":{"anyOf":[{"type":"string"},{"type":"null"}]},
        "item":{"$ref":"#/$defs/Item"}
      },"$defs":{"Item":{"type":"object","properties":{"id":{"type":["string","null"]}}}}}"##;
    assert_eq!(
        strict(schema),
        [
            "SCH-001 ",
            "SCH-002 ",
            "SCH-001 /properties/filter",
            "SCH-002 /properties/filter",
            "SCH-004 /properties/filter/properties/text",
            "SCH-001 /properties/filter/properties/deep",
            "SCH-002 /properties/filter/properties/deep",
            "SCH-003 /properties/filter/properties/deep/properties/x",
            "SCH-004 /properties/tags",
            "SCH-004 /properties/tags/items",
            "SCH-004 /properties/pair/prefixItems/0",
            "SCH-003 /properties/pair/prefixItems/1",
            "SCH-004 /properties/maybe/anyOf/0",
            "SCH-001 /$defs/Item",
            "SCH-002 /$defs/Item",
            "SCH-004 /$defs/Item/properties/id",
        ]
    );
}

#[test]
fn what_constrains_a_value_in_another_way_is_enough() {
    for property in [
        r#"{"type":"integer"}"#,
        r#"{"enum":[1,"a"]}"#,
        r#"{"const":"a"}"#,
        r#"{"anyOf":[{"type":"integer"},{"type":"null"}]}"#,
        r#"{"oneOf":[{"const":1},{"enum":[2]}]}"#,
        r#"{"allOf":[{"type":"integer"},{"minimum":1}]}"#,
        r##"{"$ref":"#/properties/p/$defs/x","$defs":{"x":{"type":"boolean"}}}"##,
        r##"{"allOf":[{"$ref":"#/properties/p/$defs/x"}],"$defs":{"x":{"type":"boolean"}}}"##,
        r##"{"$ref":"#/nowhere"}"##,
        r#"{"type":"string","enum":["a"]}"#,
        r#"{"type":"string","const":"a"}"#,
        r#"{"type":"string","format":"uuid"}"#,
        r#"{"type":"string","pattern":"^[a-z]{1,8}$"}"#,
        r#"{"type":["string","null"],"maxLength":3}"#,
        r#"{"anyOf":[{"type":"string"},{"type":"null"}],"maxLength":3}"#,
        r#"{"type":"string","allOf":[{"maxLength":3}]}"#,
        r#"{"type":"array","items":{"type":"integer"},"maxItems":3}"#,
        r#"{"type":"array","prefixItems":[{"type":"integer"}],"items":false}"#,
        r#"{"type":"array","items":[{"type":"integer"}],"additionalItems":false}"#,
        r#"{"type":"array","items":{"enum":["a","b"]},"uniqueItems":true}"#,
        r#"{"type":"object","additionalProperties":{"type":"integer"}}"#,
        r#"{"type":"object","additionalProperties":true}"#,
        r#"{"type":"object","additionalProperties":{}}"#,
        r#"{"type":"object","patternProperties":{"^x":{"type":"integer"}},"additionalProperties":false}"#,
        r#"{"type":"object","unevaluatedProperties":false,"allOf":[{"properties":{"a":{"type":"integer"}},"required":["a"]}]}"#,
        r#"{"not":{"properties":{"a":{}}},"type":"integer"}"#,
        r#"{"if":{"properties":{"a":{"type":"string"}}},"type":"integer"}"#,
        "false",
    ] {
        let reported = strict(&with_property(property));
        assert!(reported.is_empty(), "{property}: {reported:?}");
    }
}

#[test]
fn what_lets_anything_through_is_told() {
    for (property, wanted) in [
        ("true", "SCH-003 /properties/p"),
        ("{}", "SCH-003 /properties/p"),
        (r#"{"description":"x","minimum":1}"#, "SCH-003 /properties/p"),
        (r#"{"properties":{}}"#, "SCH-003 /properties/p SCH-002 /properties/p"),
        (r#"{"anyOf":[{"type":"integer"},{}]}"#, "SCH-003 /properties/p"),
        (r##"{"$ref":"#/properties/p"}"##, "SCH-003 /properties/p"),
        (r##"{"$ref":"#/properties/p/$defs/any","$defs":{"any":{}}}"##, "SCH-003 /properties/p"),
        (r#"{"not":{"type":"string"}}"#, "SCH-003 /properties/p"),
        (r#"{"type":"array","maxItems":2,"items":{}}"#, "SCH-003 /properties/p/items"),
        (r#"{"type":"string","format":"uri"}"#, "SCH-004 /properties/p"),
        (r#"{"type":"string","pattern":"^a+$"}"#, "SCH-004 /properties/p"),
        (r#"{"type":["string","array"],"items":{"type":"integer"}}"#, "SCH-004 /properties/p SCH-004 /properties/p"),
        (r#"{"type":"object"}"#, "SCH-002 /properties/p"),
        (r#"{"type":"object","properties":{}}"#, "SCH-002 /properties/p"),
        (
            r#"{"type":"object","properties":{"a":{"type":"integer"}},"required":[],"additionalProperties":true}"#,
            "SCH-001 /properties/p SCH-002 /properties/p",
        ),
        (r#"{"type":"object","additionalProperties":{"type":"string"}}"#, "SCH-004 /properties/p/additionalProperties"),
    ] {
        let mut reported = strict(&with_property(property));
        reported.sort();
        let mut wanted: Vec<String> = wanted
            .split(" SCH")
            .map(|one| if one.starts_with("SCH") { one.to_owned() } else { format!("SCH{one}") })
            .collect();
        wanted.sort();
        assert_eq!(reported, wanted, "{property}");
    }
}

#[test]
fn tools_without_parameters_are_closed_too() {
    for (schema, wanted) in [
        (r#"{"type":"object"}"#, vec!["SCH-002 "]),
        (r#"{"type":"object","properties":{}}"#, vec!["SCH-002 "]),
        (r#"{"type":"object","additionalProperties":false}"#, vec![]),
        (r#"{"type":"object","additionalProperties":true}"#, vec![]),
        (r##"{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","additionalProperties":false}}}"##, vec![]),
        ("true", vec![]),
    ] {
        assert_eq!(strict(schema), wanted, "{schema}");
    }
}

#[test]
fn schemas_of_the_same_object_are_judged_together() {
    let a = r#"{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}"#;
    let b = r#"{"type":"object","properties":{"b":{"type":"integer"}},"required":["b"]}"#;
    for (schema, wanted) in [
        // Only the whole can be closed: each branch must let the other's properties through.
        (format!(r#"{{"type":"object","allOf":[{a},{b}]}}"#), vec!["SCH-002 "]),
        (format!(r#"{{"type":"object","allOf":[{a},{b}],"unevaluatedProperties":false}}"#), vec![]),
        // Each alternative stands for itself.
        (format!(r#"{{"type":"object","anyOf":[{a},{b}]}}"#), vec!["SCH-002 /anyOf/0", "SCH-002 /anyOf/1"]),
        (format!(r#"{{"type":"object","allOf":[{a}]}}"#), vec!["SCH-002 /allOf/0"]),
        // What refines a declared property needs no list of its own and must not be closed.
        (
            r#"{"type":"object","properties":{"k":{},"x":{"type":"integer"}},"required":["k"],"additionalProperties":false,
               "oneOf":[{"properties":{"k":{"const":1}}},{"properties":{"k":{"const":2}}}]}"#.to_owned(),
            vec![],
        ),
        // Alternatives say what is required.
        (
            r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},
               "oneOf":[{"required":["a"]},{"required":["b"]}],"additionalProperties":false}"#.to_owned(),
            vec![],
        ),
        // A base that others build upon stays open; what builds upon it is closed as a whole.
        (
            format!(r##"{{"type":"object","allOf":[{{"$ref":"#/$defs/Base"}},{b}],"$defs":{{"Base":{a}}}}}"##),
            vec!["SCH-002 "],
        ),
        // The same base, used by itself as well, has to be closed by hand.
        (
            format!(
                r##"{{"type":"object","properties":{{"one":{{"$ref":"#/$defs/Base"}},"two":{{"allOf":[{{"$ref":"#/$defs/Base"}},{b}]}}}},
                "required":["one"],"additionalProperties":false,"$defs":{{"Base":{a}}}}}"##
            ),
            vec!["SCH-002 /properties/two", "SCH-002 /$defs/Base"],
        ),
        // The same name in two alternatives is two properties, each closed for itself.
        (
            r#"{"type":"object","properties":{"q":{"anyOf":[
               {"type":"object","properties":{"p":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}},"required":["p"],"additionalProperties":false},
               {"type":"object","properties":{"p":{"type":"object","properties":{"y":{"type":"integer"}},"required":["y"]}},"required":["p"],"additionalProperties":false}
               ]}},"required":["q"],"additionalProperties":false}"#.to_owned(),
            vec!["SCH-002 /properties/q/anyOf/0/properties/p", "SCH-002 /properties/q/anyOf/1/properties/p"],
        ),
        // Draft 7 does not know `unevaluatedProperties`, so a person has to decide; it is still reported.
        (
            format!(r#"{{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","allOf":[{a},{b}]}}"#),
            vec!["SCH-002 "],
        ),
        // Conditions are not declarations.
        (
            r#"{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false,
               "if":{"properties":{"a":{"minimum":3},"q":{}}},"then":{"properties":{"a":{"maximum":9}}},"not":{"properties":{"z":{}}}}"#
                .to_owned(),
            vec![],
        ),
    ] {
        assert_eq!(strict(&schema), wanted, "{schema}");
    }
}

#[test]
fn circles_end() {
    for schema in [
        r##"{"$ref":"#"}"##,
        r##"{"type":"object","properties":{"next":{"$ref":"#"}},"additionalProperties":false}"##,
        r##"{"allOf":[{"$ref":"#/$defs/A"}],"$defs":{"A":{"anyOf":[{"$ref":"#/$defs/B"}]},"B":{"oneOf":[{"$ref":"#/$defs/A"},{"$ref":"#"}]}}}"##,
        r##"{"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"$ref":"#/$defs/B"},"B":{"$ref":"#/$defs/A"}}}"##,
        r##"{"type":"object","properties":{"a":{"type":"object","allOf":[{"$ref":"#"}],"properties":{"b":{"$ref":"#/properties/a"}}}}}"##,
    ] {
        let _ = strict(schema);
        let tools = format!("[{{\"name\":\"t\",\"inputSchema\":{schema}}}]");
        let once = catalog(&tools).tighten(TightenOptions::default()).expect("a file").text;
        assert_eq!(catalog(&once).tighten(TightenOptions::default()).expect("a file").text, once, "{schema}");
    }
}

#[test]
fn schemas_of_the_same_object_declare_together() {
    for (schema, wanted) in [
        (r#"{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}"#, vec![]),
        (
            r##"{"type":"object","allOf":[{"$ref":"#/$defs/A"},{"required":["a"]}],"$defs":{"A":{"properties":{"a":{}}}}}"##,
            vec![],
        ),
        (r#"{"type":"object","additionalProperties":{"type":"string"},"required":["a"]}"#, vec![]),
        (r#"{"type":"object","properties":{"a":{}},"if":{"required":["q"]},"required":["a"]}"#, vec![]),
        (
            r#"{"type":"object","properties":{"a":{}},"anyOf":[{"required":["b"]}]}"#,
            vec!["VAL-006 /anyOf/0/required/0"],
        ),
    ] {
        let tools = format!("[{{\"name\":\"t\",\"inputSchema\":{schema}}}]");
        let reported: Vec<_> =
            reported(&tools, "VAL").iter().map(|reported| reported.replace("/0/inputSchema", "")).collect();
        assert_eq!(reported, wanted, "{schema}");
    }
}

#[test]
fn defaults_are_judged_with_what_they_refer_to() {
    for (property, invalid) in [
        (r##"{"$ref":"#/$defs/N","default":1}"##, false),
        (r##"{"$ref":"#/$defs/N","default":"x"}"##, true),
        (r##"{"anyOf":[{"$ref":"#/$defs/N"},{"type":"null"}],"default":null}"##, false),
        (r##"{"anyOf":[{"$ref":"#/$defs/N"},{"type":"null"}],"default":"x"}"##, true),
        (r#"{"type":"string","default":null}"#, true),
        (r##"{"$ref":"#/nowhere","default":1}"##, false),
    ] {
        for (dialect, defs) in
            [("", "$defs"), (r#""$schema":"http://json-schema.org/draft-07/schema#","#, "definitions")]
        {
            let property = property.replace("$defs", defs);
            let schema = format!(
                r#"{{{dialect}"type":"object","properties":{{"p":{property}}},"{defs}":{{"N":{{"type":"integer"}}}}}}"#
            );
            let reported = reported(&format!("[{{\"name\":\"t\",\"inputSchema\":{schema}}}]"), "VAL-007");
            assert_eq!(!reported.is_empty(), invalid, "{schema}");
        }
    }
}

#[test]
fn whatever_stands_among_tools_is_survived() {
    let odd = [
        serde_json::json!(null),
        serde_json::json!(3),
        serde_json::json!([{"inputSchema": {}}]),
        serde_json::json!({}),
        serde_json::json!({"name": 7, "description": [], "inputSchema": [], "annotations": 3, "outputSchema": "x"}),
        serde_json::json!({"inputSchema": {"type": {}, "properties": [1], "required": {"a": 1}, "items": 5, "allOf": {}, "$ref": 3, "enum": 1, "$schema": []}}),
        serde_json::json!({"inputSchema": {"properties": {"": null, "a": 3, "b": []}, "$defs": [], "anyOf": [null, 1], "additionalProperties": 3, "format": {}}}),
    ];
    let catalog = Catalog::of_server("local", &odd);
    let mut count = 0;
    lint(&catalog, &Selection::all(), &mut |fault| {
        count += 1;
        assert!(matches!(fault.finding().place, Some(mcprove_model::Place::Wire(_))));
        assert!(fault.pointer().starts_with("/tools"), "{}", fault.pointer());
    });
    assert!(count > odd.len());
}

#[test]
fn large_schemas_are_judged_in_a_moment() {
    // Without care, each of these takes minutes: circles of references, many alternatives, many properties.
    let definition = |n: usize| {
        let to = |step: usize| format!(r##"{{"$ref":"#/$defs/D{}"}}"##, (n * 7 + step) % 120);
        let properties: Vec<String> =
            (0..6).map(|p| format!(r#""p{p}":{{"anyOf":[{},{}]}}"#, to(p), to(p * 11 + 3))).collect();
        let object = format!(r#"{{"type":"object","properties":{{{},"q":{}}}}}"#, properties.join(","), to(5));
        let schema = if n.is_multiple_of(3) { format!(r#"{{"allOf":[{},{object}]}}"#, to(1)) } else { object };
        format!(r#""D{n}":{schema}"#)
    };
    let definitions: Vec<String> = (0..120).map(definition).collect();
    let circles = format!(r#"{{"type":"object","properties":{{}},"$defs":{{{}}}}}"#, definitions.join(","));
    let list = |count: usize, one: &dyn Fn(usize) -> String| (0..count).map(one).collect::<Vec<_>>().join(",");
    let one = |n: usize| {
        format!(
            r#"{{"type":"object","properties":{{"k":{{"const":{n}}},"v":{{"type":"object","properties":{{"w":{{}}}}}}}}}}"#
        )
    };
    let alternatives = format!(r#"{{"type":"object","properties":{{"a":{{"anyOf":[{}]}}}}}}"#, list(800, &one));
    let properties = format!(
        r#"{{"type":"object","properties":{{{}}}}}"#,
        list(3000, &|n| format!(r#""p{n}":{{"type":"string"}}"#))
    );
    for schema in [circles, alternatives, properties] {
        assert!(!strict(&schema).is_empty());
        let tools = format!("[{{\"name\":\"t\",\"inputSchema\":{schema}}}]");
        let once = catalog(&tools).tighten(TightenOptions::default()).expect("a file").text;
        assert_eq!(catalog(&once).tighten(TightenOptions::default()).expect("a file").changed, 0);
    }
}
