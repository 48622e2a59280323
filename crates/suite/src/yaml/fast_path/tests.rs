//! Tests of the YAML that this parser takes and leaves to the full parser, and that both read the same.

use mcprove_model::SourceFile;
use proptest::prelude::*;

use super::*;
use crate::yaml::builder;

#[test]
fn suites_as_people_write_them_are_everyday() {
    let text = r#"# a suite
servers: {"s": {"command": ["server", "-v"]}}
tools:
  - name: it's é
    server: s
    args: {text: "a \"b\"", n: -1, url: http://x/y}
    expect:
    - {target: 'it''s', matcher: {exact: 1}} # why

  -
    name:
    skip: yes
"#;
    assert!(read(text).is_some());
}

#[test]
fn what_is_not_certain_is_left_to_the_full_parser() {
    for text in [
        "",
        "a",
        "- a",
        "a: |\n  b",
        "a: &x 1",
        "a: *x",
        "a: !t 1",
        "---\na: 1",
        "a: 1\n...",
        "a: {{x}}",
        "a: b: c",
        "a: b\n c",
        "a: 'b\n c'",
        "a: {b: 1,c: 2}",
        "a: {b}",
        "a: [1,]",
        "\ta: 1",
        "a:\t1",
        "a: 1\r\n",
        "a: 1\na: 2",
        "<<: {a: 1}",
        "a: \"\\u0041\"",
        "? a\n: b",
        "a: 'b' c",
        "a: [1] #\nb: 1\n  c: 2",
        "a: 1\u{85}",
        "a: [a: b]",
        "a:\n - b\n  - c",
        "%a\nb: 1",
        "a: @b",
    ] {
        assert!(read(text).is_none(), "{text:?}");
    }
}

#[test]
fn a_list_begins_at_its_dash_whatever_is_its_first_item() {
    let text = "a: # why\n- [x, 1]";
    let document = read(text).expect("everyday");
    let (documents, _) = builder::build(&SourceFile::new("a.yaml", text));
    assert_eq!(documents.first(), Some(&document));
    assert_eq!(document.get("a").map(|list| list.span), Some(Span::new(9, 17)));
}

/// Lines that are nearly YAML: most of what can go wrong is in how they follow each other.
fn nearly() -> impl Strategy<Value = String> {
    let start = prop::sample::select(vec![
        "", "- ", "- - ", "-", "a: ", "b:", "'c': ", "\"d\":", "- a: ", "? ", "a b: ", ": ", "# ", "- b:",
    ]);
    let value = prop::sample::select(vec![
        "",
        "x",
        "1",
        "-1",
        "- x",
        "x y",
        "x # y",
        "x#y",
        "#x",
        "x: y",
        "x:",
        "x:y",
        ":x",
        "'x'",
        "'x''y'",
        "'x",
        "\"x\"",
        "\"x\\ny\"",
        "\"x\\",
        "\"x\" # y",
        "\"x\"#y",
        "\"x\": 1",
        "[]",
        "{}",
        "[x, 1]",
        "[x,y]",
        "{a: 1, b: [2]}",
        "{a: 1}: 2",
        "{\"a\": 1}",
        "{\"a\":1}",
        "{a: x:y}",
        "{a: x:/y}",
        "[x:/, y]",
        "[a: b]",
        "[, ]",
        "[x -]",
        "{a: x -, b: 1}",
        "{a: }",
        "[x",
        "x]",
        "{{x}}",
        "|",
        "> x",
        "&x y",
        "*x",
        "!x y",
        "~",
        "null",
        "true",
        "...",
        "---",
        "-- x",
        "é",
        "x  ",
        "'x'  ",
        "[x] ",
        "%x",
        "@x",
        "<<",
        "{a: 1, a: 2}",
        "[1 # x",
        "{a: b c, d: 'e f'}",
        "[[1, 2], {}]",
    ]);
    let line =
        (0_usize..5, start, value).prop_map(|(indent, start, value)| format!("{}{start}{value}", " ".repeat(indent)));
    prop::collection::vec(line, 1..7).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn both_readers_read_the_same(text in nearly()) {
        if let Some(document) = read(&text) {
            let source = SourceFile::new("a.yaml", text);
            prop_assert_eq!((vec![document], Vec::new()), builder::build(&source));
        }
    }
}
