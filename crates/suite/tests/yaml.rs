//! The spanned tree: what it holds, where it says things are, and that no text can break it.

use std::fmt::Write as _;

use mcprove_model::{Finding, Kind, Node, Place, ScalarStyle, SourceFile, Span};
use mcprove_suite::yaml::parse;
use proptest::prelude::*;
use serde_json::{Value, json};

fn one(text: &str) -> Node {
    let (mut documents, findings) = parse(&SourceFile::new("t.yaml", text));
    assert_eq!(findings, [], "{text}");
    assert_eq!(documents.len(), 1, "{text}");
    documents.remove(0)
}

fn findings(text: &str) -> Vec<String> {
    parse(&SourceFile::new("t.yaml", text)).1.iter().map(show).collect()
}

fn show(finding: &Finding) -> String {
    let Some(Place::Text(place)) = &finding.place else { return finding.message.clone() };
    let help = finding.help.as_deref().unwrap_or("-");
    format!("{} {}:{}-{} {} ({help})", finding.rule, place.line, place.column, place.end_column, finding.message)
}

/// Every part of the tree as `kind=slice`, in order.
fn slices(text: &str) -> Vec<String> {
    let source = SourceFile::new("t.yaml", text);
    let mut all = Vec::new();
    each_span(&one(text), &mut |kind, span| all.push(format!("{kind}={}", source.slice(span))));
    all
}

fn each_span(node: &Node, visit: &mut dyn FnMut(&str, Span)) {
    match &node.kind {
        Kind::Scalar(_) => visit("scalar", node.span),
        Kind::List(items) => {
            visit("list", node.span);
            for item in items {
                each_span(item, visit);
            }
        }
        Kind::Map(entries) => {
            visit("map", node.span);
            for entry in entries {
                visit("key", entry.key.span);
                each_span(&entry.value, visit);
            }
        }
    }
}

#[test]
fn spans_are_exact() {
    assert_eq!(
        slices("näme:  \"x\" # why\nb : 'it''s'  \n"),
        ["map=näme:  \"x\" # why\nb : 'it''s'", "key=näme", "scalar=\"x\"", "key=b", "scalar='it''s'"]
    );
    assert_eq!(
        slices("a:\n  - 1\n  - two words  # c\n\nb: [x, {y: z} ] # d\n"),
        [
            "map=a:\n  - 1\n  - two words  # c\n\nb: [x, {y: z} ]",
            "key=a",
            "list=- 1\n  - two words",
            "scalar=1",
            "scalar=two words",
            "key=b",
            "list=[x, {y: z} ]",
            "scalar=x",
            "map={y: z}",
            "key=y",
            "scalar=z"
        ]
    );
}

#[test]
fn lists_without_indentation_begin_at_their_dash() {
    assert_eq!(
        slices("a: # c\n- x\n- - y\nb: 1\n"),
        [
            "map=a: # c\n- x\n- - y\nb: 1",
            "key=a",
            "list=- x\n- - y",
            "scalar=x",
            "list=- y",
            "scalar=y",
            "key=b",
            "scalar=1"
        ]
    );
}

#[test]
fn block_scalars_begin_at_their_header_and_end_with_their_text() {
    assert_eq!(
        slices("a: | # note\n  one\n  two\n\nb: >-\n  x\nc:\n- |\n  y\n- |+\n"),
        [
            "map=a: | # note\n  one\n  two\n\nb: >-\n  x\nc:\n- |\n  y\n- |+",
            "key=a",
            "scalar=| # note\n  one\n  two",
            "key=b",
            "scalar=>-\n  x",
            "key=c",
            "list=- |\n  y\n- |+",
            "scalar=|\n  y",
            "scalar=|+"
        ]
    );
}

#[test]
fn absent_values_stand_behind_their_colon_or_dash() {
    let source = SourceFile::new("t.yaml", "a:\nb:\n  -\n  - x\nc: {d, e: }\nf: !!str\n");
    let (documents, _) = parse(&source);
    let mut absent = Vec::new();
    each_span(&documents[0], &mut |_, span| {
        if span.start == span.end {
            let at = source.position(span.start);
            absent.push((at.line, at.column));
        }
    });
    assert_eq!(absent, [(1, 3), (3, 4), (5, 6), (5, 10), (6, 9)]);
}

#[test]
fn anchors_and_tags_are_not_part_of_a_value() {
    assert_eq!(
        slices("a: &x !!str 5\nb: &y\n  k: v\nc: *x\nd: [&z q, *z]\n"),
        [
            "map=a: &x !!str 5\nb: &y\n  k: v\nc: *x\nd: [&z q, *z]",
            "key=a",
            "scalar=5",
            "key=b",
            "map=k: v",
            "key=k",
            "scalar=v",
            "key=c",
            "scalar=*x",
            "key=d",
            "list=[&z q, *z]",
            "scalar=q",
            "scalar=*z"
        ]
    );
}

#[test]
fn byte_order_marks_and_carriage_returns_do_no_harm() {
    let text = "\u{feff}a: é\r\nb:\r\n  - x \r\n";
    assert_eq!(slices(text)[2..], ["scalar=é", "key=b", "list=- x", "scalar=x"]);
    assert_eq!(one(text).to_json(), json!({"a": "é", "b": ["x"]}));
}

#[test]
fn scalars_keep_their_style() {
    let node = one("[1, '1', \"1\"]");
    let items = node.as_list().unwrap_or_default();
    let styles: Vec<_> = items.iter().filter_map(Node::as_scalar).map(|scalar| scalar.style).collect();
    assert_eq!(styles, [ScalarStyle::Plain, ScalarStyle::Quoted, ScalarStyle::Quoted]);
    assert_eq!(node.to_json(), json!([1, "1", "1"]));
}

#[test]
fn aliases_and_merges_work() {
    let text = "base: &b {x: 1, y: 2}\nother: &o {y: 3, z: 4}\n\
                m:\n  <<: [*b, *o]\n  x: 9\nn: {<<: *b}\nq: {'<<': 1}";
    assert_eq!(
        one(text).to_json(),
        json!({
            "base": {"x": 1, "y": 2}, "other": {"y": 3, "z": 4},
            "m": {"y": 2, "z": 4, "x": 9}, "n": {"x": 1, "y": 2}, "q": {"<<": 1}
        })
    );
    assert_eq!(
        findings("a: &a x\nb: {<<: *a}"),
        ["bad-merge 2:9-11 `<<` must bring in a map, or a list of maps (write `<<: *name`, where `&name` marks a map)"]
    );
}

#[test]
fn keys_of_any_scalar_are_text() {
    assert_eq!(one("1: a\ntrue: b\n~: c\n1.50: d").to_json(), json!({"1": "a", "true": "b", "~": "c", "1.50": "d"}));
}

#[test]
fn duplicate_keys_name_both_lines() {
    assert_eq!(
        findings("a: 1\nb: 2\na: 3\n"),
        ["duplicate-key 3:1-2 key `a` is already there on line 1 (keep one of the two)"]
    );
    let mut many: String = (0..40).fold(String::new(), |text, n| format!("{text}k{n}: 1\n"));
    many.push_str("k7: 2\n");
    assert_eq!(findings(&many), ["duplicate-key 41:1-3 key `k7` is already there on line 8 (keep one of the two)"]);
}

#[test]
fn several_documents_are_several_nodes() {
    let (documents, findings) = parse(&SourceFile::new("t.yaml", "---\na: &x 1\n---\nb: 2\n...\n---\n"));
    assert_eq!(findings, []);
    let values: Vec<_> = documents.iter().map(Node::to_json).collect();
    assert_eq!(values, [json!({"a": 1}), json!({"b": 2}), json!(null)]);
    assert_eq!(parse(&SourceFile::new("t.yaml", "# nothing\n")).0, []);
}

#[test]
fn anchors_end_with_their_document() {
    assert!(findings("a: &x 1\n---\nb: *x\n")[0].starts_with("yaml-syntax 3:4-6 "));
}

#[test]
fn tags_are_honoured_or_named() {
    assert_eq!(
        one("[!!str 5, !!int '7', !!float 5, !!bool true, ! 5, !<tag:yaml.org,2002:str> 6]").to_json(),
        json!(["5", 7, 5.0, true, "5", "6"])
    );
    assert_eq!(
        findings("a: !!int five\nb: !env KEY\nc: !!set {x}\nd: !!map {}\ne: !!seq []\n"),
        [
            "bad-tag 1:10-14 `five` is tagged `!!int` but is not a whole number (-)",
            "unknown-tag 2:9-12 the tag `!env` is ignored (remove the tag)",
            "unknown-tag 3:10-10 the tag `!!set` is ignored (remove the tag)"
        ]
    );
}

#[test]
fn bombs_are_defused() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        writeln!(bomb, "a{level}: &a{level} [{aliases}]").expect("text grows");
    }
    assert!(findings(&bomb)[0].starts_with("too-large "), "{:?}", findings(&bomb));
    assert!(findings("a: &a [*a]")[0].starts_with("yaml-syntax 1:8-10 "));
}

#[test]
fn depth_is_bounded() {
    for deep in ["[".repeat(100_000), "{a: ".repeat(100_000), "- ".repeat(100_000), "? ".repeat(5_000)] {
        assert_eq!(findings(&deep).len(), 1);
    }
    let mut nested = "a0: &a0 [x]\n".to_owned();
    for level in 1..400 {
        writeln!(nested, "a{level}: &a{level} [*a{}]", level - 1).expect("text grows");
    }
    assert!(findings(&nested)[0].starts_with("too-deep "));
}

#[test]
fn syntax_errors_speak_plainly() {
    let cases = [
        "a: b: c",
        "a: 'x\nb: 1\n",
        "a:\n\tb: 1\n",
        "a:\n  b: 1\n\tc: 2\n",
        "a: @x",
        "a: [1, 2\nb: 3\n",
        "a: {x: 1\n",
        "a: \"\\d\"",
        "a: \"x\" y",
        "a: *gone",
        "a: 1\n b: 2\n",
        "a:\n  b: 1\n c: 2\n",
        "a\nb: 1\n",
        "a: 1\nb\nc: 2\n",
        "a: {{x}}",
        "a: {{x}}/y",
        "a: [{{x}}, 1]",
        "- a\nb: 1\n",
        "a: ]",
        "a: - b",
        "a: |\n\tx",
        "a: 'x'#c",
    ];
    let mut shown = String::new();
    for text in cases {
        writeln!(shown, "{text:?}\n  {}\n", findings(text).join("\n  ")).expect("text grows");
    }
    snapbox::Assert::new()
        .action_env("SNAPSHOTS")
        .eq(shown, snapbox::Data::read_from(std::path::Path::new("tests/data/syntax-errors.txt"), None).raw());
}

fn parts_are_sound(text: &str) -> Result<(), TestCaseError> {
    let source = SourceFile::new("t.yaml", text);
    let (documents, findings) = parse(&source);
    for document in &documents {
        let mut bad = None;
        each_span(document, &mut |_, span| {
            if text.get(span.start as usize..span.end as usize).is_none() {
                bad = Some(span);
            }
        });
        prop_assert_eq!(bad, None);
        let mut odd = None;
        each_scalar(document, &mut |node| {
            let slice = source.slice(node.span);
            if !is_written_so(node, slice) {
                odd = Some((slice.to_owned(), node.clone()));
            }
        });
        prop_assert_eq!(odd, None);
    }
    for finding in findings {
        if let Some(Place::Text(place)) = finding.place {
            prop_assert!(place.line >= 1 && place.column >= 1 && place.end_line >= place.line);
        }
    }
    Ok(())
}

fn is_written_so(node: &Node, slice: &str) -> bool {
    let Some(scalar) = node.as_scalar() else { return true };
    let is_alias = slice.starts_with('*');
    let is_template = slice.starts_with("{{");
    is_alias
        || is_template
        || match scalar.style {
            ScalarStyle::Plain => slice.contains(['\n', '\r']) || slice == scalar.text,
            ScalarStyle::Quoted => {
                slice.len() >= 2 && ['"', '\''].iter().any(|quote| slice.starts_with(*quote) && slice.ends_with(*quote))
            }
            ScalarStyle::Block => slice.starts_with(['|', '>']),
        }
}

fn each_scalar(node: &Node, visit: &mut dyn FnMut(&Node)) {
    match &node.kind {
        Kind::Scalar(_) => visit(node),
        Kind::List(items) => items.iter().for_each(|item| each_scalar(item, visit)),
        Kind::Map(entries) => entries.iter().for_each(|entry| each_scalar(&entry.value, visit)),
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|float| json!(float)),
        "\\PC{0,12}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec(("[a-z\"é ]{0,6}", inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// Text made of the signs that mean something in YAML, so that most of the parser is reached.
const YAML_SIGNS: &str =
    "([-:?#&*!|>%@{}\\[\\],'\"\\\\ \t\n\r]|\n  |- |: |a|é|\\{\\{x}}|<<|---|\\.\\.\\.|&a |\\*a|1|\u{feff}){0,40}";

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_breaks_the_tree(text in any::<String>()) {
        parts_are_sound(&text)?;
    }

    #[test]
    fn no_text_of_yaml_signs_breaks_the_tree(text in YAML_SIGNS) {
        parts_are_sound(&text)?;
    }

    #[test]
    fn json_means_the_same_as_yaml(value in any_json()) {
        let compact = value.to_string();
        let expected: Value = serde_json::from_str(&compact).expect("JSON reads back");
        prop_assert_eq!(one(&compact).to_json(), expected.clone());
        let pretty = format!("{value:#}");
        prop_assert_eq!(one(&pretty).to_json(), expected);
    }
}
