//! A tree as YAML text: block style, with scalars as they were written where that is safe.

use std::fmt::Write as _;

use mcprove_model::{Entry, Kind, Meaning, Node, ScalarStyle, is_active};

/// The longest key that is written before its colon.
const LONGEST_KEY: usize = 1_000;

/// The text of a map or list, each line indented by this many steps of two.
pub fn write(node: &Node, depth: usize) -> String {
    let mut text = String::new();
    block(node, depth, &mut text);
    text
}

fn block(node: &Node, depth: usize, text: &mut String) {
    match &node.kind {
        Kind::Scalar(_) => {
            indent(depth, text);
            text.push_str(&inline(node));
            text.push('\n');
        }
        Kind::List(items) => {
            for item in items {
                indent(depth, text);
                text.push('-');
                nested(item, depth, text, true);
            }
        }
        Kind::Map(entries) => entries.iter().for_each(|entry| pair(entry, depth, text)),
    }
}

fn pair(entry: &Entry, depth: usize, text: &mut String) {
    indent(depth, text);
    let key = quoted(&entry.key.text, false);
    if key.len() > LONGEST_KEY {
        // A key before a colon has at most 1024 characters (YAML 1.2.2, 7.4.2); a longer one is marked as a key.
        text.push_str("? ");
        text.push_str(&key);
        text.push('\n');
        indent(depth, text);
    } else {
        text.push_str(&key);
    }
    text.push(':');
    nested(&entry.value, depth, text, false);
}

/// The value of a key or a dash: on the same line if it is short, else below.
fn nested(node: &Node, depth: usize, text: &mut String, after_dash: bool) {
    match &node.kind {
        Kind::Map(entries) if after_dash && !entries.is_empty() => {
            // The first key is on the line of the dash, the others below it.
            let mut inner = String::new();
            block(node, depth + 1, &mut inner);
            text.push(' ');
            text.push_str(inner.trim_start());
        }
        Kind::Map(entries) if !entries.is_empty() => {
            text.push('\n');
            block(node, depth + 1, text);
        }
        Kind::List(items) if !items.is_empty() && !items.iter().all(|item| item.as_scalar().is_some()) => {
            text.push('\n');
            block(node, depth + 1, text);
        }
        Kind::Scalar(scalar) if scalar.style == ScalarStyle::Block && fits_block(&scalar.text) => {
            text.push_str(if scalar.text.ends_with('\n') { " |\n" } else { " |-\n" });
            for line in scalar.text.strip_suffix('\n').unwrap_or(&scalar.text).split('\n') {
                if !line.is_empty() {
                    indent(depth + 1, text);
                }
                text.push_str(line);
                text.push('\n');
            }
        }
        Kind::Scalar(_) | Kind::List(_) | Kind::Map(_) => {
            text.push(' ');
            text.push_str(&inline(node));
            text.push('\n');
        }
    }
}

/// True if a text of several lines can be written line by line and mean the same.
fn fits_block(text: &str) -> bool {
    let is_plain = |c: char| c == '\n' || c == '\t' || !c.is_control() && !is_special(c);
    text.contains('\n')
        && !text.starts_with([' ', '\t', '\n'])
        && !text.ends_with("\n\n")
        && text.lines().all(|line| line.is_empty() || !line.trim().is_empty())
        && text.chars().all(is_plain)
        && !text.lines().any(begins_ci_command)
}

/// True for a line that a CI system would obey if the file were printed.
fn begins_ci_command(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("::") || ["##[", "##vso[", "##teamcity["].iter().any(|start| line.starts_with(start))
}

/// A value on one line.
fn inline(node: &Node) -> String {
    match &node.kind {
        Kind::Scalar(scalar) => match scalar.meaning {
            Meaning::Text => quoted(&scalar.text, scalar.style == ScalarStyle::Plain),
            // A number is kept as it was written: `1.10` and `0x1F` mean something to people.
            Meaning::Null | Meaning::Bool(_) | Meaning::Number(_) => {
                if scalar.text.is_empty() {
                    "null".to_owned()
                } else {
                    scalar.text.to_string()
                }
            }
        },
        Kind::List(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Kind::Map(entries) => {
            let pairs = entries.iter().map(|e| format!("{}: {}", quoted(&e.key.text, false), inline(&e.value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
    }
}

/// A text, plain where that can mean nothing else.
fn quoted(text: &str, was_plain: bool) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/' | '.' | '$');
    let is_simple = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '/')
        && text.chars().all(|c| is_word(c) || c == ' ')
        && !text.ends_with(' ')
        // Before a bracket, the parser takes a single dash for the beginning of a list.
        && !text.ends_with(" -");
    let means_more = matches!(
        text.to_ascii_lowercase().as_str(),
        "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n"
    );
    if is_simple && (!means_more || was_plain) {
        return text.to_owned();
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            c if c.is_control() || is_special(c) => {
                let _ = write!(quoted, "\\U{:08x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// True for characters that YAML parsers treat differently, that act on what shows them, or that cannot be seen.
fn is_special(c: char) -> bool {
    is_active(c) || u32::from(c) & 0xfffe == 0xfffe
}

fn indent(depth: usize, text: &mut String) {
    for _ in 0..depth {
        text.push_str("  ");
    }
}

#[cfg(test)]
mod tests {
    use mcprove_model::{SourceFile, Span};
    use proptest::prelude::*;
    use serde_json::Value;
    use serde_json::json;

    use super::*;

    fn read_back(node: &Node) -> Value {
        let text = write(node, 0);
        let source = SourceFile::new("a.yaml", text.as_str());
        let (documents, findings) = super::super::parse(&source);
        assert!(findings.is_empty(), "{text}\n{findings:?}");
        documents.first().map(Node::to_json).unwrap_or_default()
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,12}".prop_map(Value::from),
            "[a-z:#{}, \n\"'-]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec(("[a-zA-Z0-9 .:]{1,6}", inner), 0..5)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    /// The same tree with every text as a block, where that is possible.
    fn in_blocks(mut node: Node) -> Node {
        match &mut node.kind {
            Kind::Scalar(scalar) if scalar.is_text() => scalar.style = ScalarStyle::Block,
            Kind::Scalar(_) => {}
            Kind::List(items) => items.iter_mut().for_each(|item| *item = in_blocks(item.clone())),
            Kind::Map(entries) => entries.iter_mut().for_each(|entry| entry.value = in_blocks(entry.value.clone())),
        }
        node
    }

    #[test]
    fn a_dash_at_the_end_is_in_quotes() {
        let value = json!({"a": ["x -"], "b": {"c": "x -"}});
        assert_eq!(read_back(&Node::from_json(Span::default(), value.clone())), value);
    }

    #[test]
    fn lines_are_written_as_lines_where_that_was_asked_for() {
        let node = in_blocks(Node::from_json(Span::default(), json!({"a": "one\n\n  two", "b": "x\n", "c": " x\ny"})));
        assert_eq!(write(&node, 0), "a: |-\n  one\n\n    two\nb: |\n  x\nc: \" x\\ny\"\n");
    }

    #[test]
    fn keys_of_any_length_and_what_is_no_character_are_read_back() {
        for key in ["", "a b", "\u{fffe}x\u{1ffff}", "?", "- a", &"k".repeat(1_100), &"\u{e9}".repeat(600)] {
            let value = serde_json::json!({key: {"below": key}, "after": [1]});
            let text = write(&Node::from_json(mcprove_model::Span::default(), value.clone()), 0);
            let source = mcprove_model::SourceFile::new("a.yaml", text.clone());
            let (documents, findings) = crate::yaml::parse(&source);
            assert_eq!(findings, [], "{text}");
            assert_eq!(documents[0].to_json(), value, "{text}");
        }
    }

    proptest! {
        #[test]
        fn blocks_read_back(text in "[a-z:#{}, \n\"'\t-]{0,20}", list in prop::collection::vec("[a-z\n ]{0,9}", 0..3)) {
            let value = json!({"top": {"text": text, "list": list, "maps": [{"in": text}]}});
            prop_assert_eq!(read_back(&in_blocks(Node::from_json(Span::default(), value.clone()))), value);
        }

        #[test]
        fn what_is_written_reads_back(value in value()) {
            let value = json!({"top": value});
            prop_assert_eq!(read_back(&Node::from_json(Span::default(), value.clone())), value);
        }
    }
}
