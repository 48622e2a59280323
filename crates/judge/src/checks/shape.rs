//! The shapes that values of checks have in files: a flag, a count, texts, texts by path.

use std::sync::Arc;

use mcprove_model::{Check, Diagnostics, Kind, Node, PlannedCheck, Span};
use serde_json::{Value, json};

/// A text and where it is written.
#[derive(Clone, Copy)]
pub(super) struct Written<'n> {
    pub(super) text: &'n str,
    pub(super) span: Span,
}

/// A check with its name and place.
pub(super) fn planned(name: &'static str, span: Span, check: impl Check + 'static) -> PlannedCheck {
    PlannedCheck { name, span, weight: 1.0, check: Arc::new(check) }
}

/// Reports a value of the wrong kind, with what to write instead.
pub(super) fn wrong(found: &mut Diagnostics<'_>, node: &Node, name: &str, expected: &str, help: String) {
    let message = format!("`{name}` must be {expected}, found {}", node.kind_name());
    found.error_with_help("wrong-type", node.span, message, help);
}

/// `true` or `false`.
pub(super) fn flag(name: &str, node: &Node, found: &mut Diagnostics<'_>) -> Option<bool> {
    let flag = node.as_bool();
    if flag.is_none() {
        wrong(found, node, name, "true or false", format!("write `{name}: true`"));
    }
    flag
}

pub(super) fn flag_schema() -> Value {
    json!({"type": "boolean"})
}

/// A whole number that is not negative.
pub(super) fn count(name: &str, node: &Node, found: &mut Diagnostics<'_>) -> Option<u64> {
    let count = node.as_count();
    if count.is_none() {
        wrong(found, node, name, "a whole number, 0 or more", format!("write `{name}: 1`"));
    }
    count
}

pub(super) fn count_schema() -> Value {
    json!({"type": "integer", "minimum": 0})
}

/// The most texts or assertions in one list: each is judged and reported by itself.
const MOST_CHECKS: usize = 2_000;

/// False for a list that is too long to be checks; it is reported.
pub(super) fn is_of_bounded_length(node: &Node, found: &mut Diagnostics<'_>) -> bool {
    let length = node.as_list().map_or(0, <[Node]>::len);
    if length > MOST_CHECKS {
        let message = format!("this has {length} items, more than {MOST_CHECKS}: each is a check of its own");
        found.error_with_help("too-large", node.span, message, "divide it into several tests");
    }
    length <= MOST_CHECKS
}

/// A list of texts; a single text is a list of one.
pub(super) fn texts<'n>(name: &str, node: &'n Node, found: &mut Diagnostics<'_>) -> Vec<Written<'n>> {
    let items = found.one_or_many(node);
    if items.is_empty() {
        let help = format!("remove `{name}`, or list what it asks for");
        found.warning("nothing-asked", node.span, format!("`{name}` is empty, so it checks nothing"), Some(help));
    }
    if !is_of_bounded_length(node, found) {
        return Vec::new();
    }
    items.iter().filter_map(|item| text(name, item, found).map(|text| Written { text, span: item.span })).collect()
}

pub(super) fn texts_schema() -> Value {
    let text = json!({"type": ["string", "number", "boolean"]});
    json!({"anyOf": [text, {"type": "array", "items": text}]})
}

/// A map from paths to texts, each entry a path with one text.
pub(super) fn texts_by_path<'n>(
    name: &str,
    node: &'n Node,
    found: &mut Diagnostics<'_>,
) -> Vec<(&'n str, Written<'n>)> {
    let Some(entries) = node.as_map() else {
        wrong(found, node, name, "a map from paths to texts", format!("write `{name}: {{path/of/file: text}}`"));
        return Vec::new();
    };
    let mut texts_by_path = Vec::new();
    for entry in entries {
        let texts = texts(name, &entry.value, found);
        texts_by_path.extend(texts.into_iter().map(|text| (entry.key.text.as_str(), text)));
    }
    texts_by_path
}

pub(super) fn texts_by_path_schema() -> Value {
    json!({"type": "object", "additionalProperties": texts_schema()})
}

fn text<'n>(name: &str, node: &'n Node, found: &mut Diagnostics<'_>) -> Option<&'n str> {
    let text = node.as_text();
    if text.is_none() {
        let help = match &node.kind {
            // `- key: value` is the usual way to get here.
            Kind::Map(_) => "put the text in quotes: a colon followed by a space makes it a map".to_owned(),
            Kind::Scalar(_) => "write a text; the word `null` needs quotes".to_owned(),
            Kind::List(_) => format!("write `{name}: [text, …]`, without a list in the list"),
        };
        wrong(found, node, name, "a text or a list of texts", help);
    }
    text
}

#[cfg(test)]
mod tests {
    use mcprove_model::{Severity, SourceFile};

    use super::*;

    #[test]
    fn a_list_gives_one_text_per_item_with_its_own_place() {
        let source = SourceFile::new("a.yaml", "[a, 1]");
        let mut found = Diagnostics::new(&source);
        let one = Node::text_at(Span::new(1, 2), "a");
        let two = Node::from_json(Span::new(4, 5), json!(1));
        let list = Node { span: Span::new(0, 6), kind: Kind::List(vec![one, two]) };
        let texts = texts("contains", &list, &mut found);
        assert_eq!(texts.iter().map(|w| (w.text, w.span.start)).collect::<Vec<_>>(), [("a", 1), ("1", 4)]);
        assert_eq!(found.count(), 0);
    }

    #[test]
    fn an_empty_list_is_worth_a_warning() {
        let source = SourceFile::new("a.yaml", "[]");
        let mut found = Diagnostics::new(&source);
        assert!(texts("contains", &Node::from_json(Span::default(), json!([])), &mut found).is_empty());
        let findings = found.into_findings();
        assert_eq!(findings[0].severity, Severity::Warning);
    }
}
