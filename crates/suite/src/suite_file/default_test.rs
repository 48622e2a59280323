//! `defaultTest`: what every test expects besides its own.

use mcprove_judge::checks;
use mcprove_model::{Diagnostics, Entry, Key, Kind, Node, Span};
use serde_json::Value;

use super::transform;
use crate::field::{self, Field};
use crate::schema::fragment;

const FIELDS: &[Field] = &[
    Field::optional(checks::DERIVED_METRICS, checks::derived_metrics_schema),
    Field::optional("expect", || fragment::expect(mcprove_model::Vocabulary::Tool)),
    Field::optional("threshold", checks::threshold_schema),
    Field::optional(transform::KEY, transform::schema),
];

/// Expectations of every test, in addition to its own.
#[derive(Default)]
pub(super) struct DefaultTest {
    pub(super) expect: Option<Node>,
    pub(super) threshold: Option<f64>,
    /// Default `transform` of the requests and replies of tool tests.
    pub(super) transform: Option<Node>,
}

/// Decodes `defaultTest`; its problems are reported once, here.
pub(super) fn decode(node: &Node, found: &mut Diagnostics<'_>) -> DefaultTest {
    if found.map(node, "`defaultTest`").is_none() {
        return DefaultTest::default();
    }
    found.known_keys(node, "`defaultTest`", &field::keys(FIELDS));
    let before = found.count();
    let expect = with_metrics(node.get("expect"), node.get(checks::DERIVED_METRICS), node.span);
    if let Some(expect) = &expect {
        checks::decode_expect(expect, found);
    }
    let expect = expect.filter(|_| found.count() == before);
    let threshold = node.get("threshold").and_then(|share| checks::decode_threshold(share, found));
    let transform = node.get(transform::KEY).filter(|node| !node.is_null());
    let transform = transform.filter(|node| transform::decode(node, found).is_some()).cloned();
    DefaultTest { expect, threshold, transform }
}

/// The JSON Schema of `defaultTest`.
pub(super) fn schema() -> Value {
    field::map("Expectations of every test, in addition to its own.", FIELDS)
}

/// Expectation of a test merged with its default; if both have the same check, its own counts.
pub(super) fn merged(default: Node, own: Option<&Node>) -> Node {
    let Some(own) = own.filter(|own| !own.is_null()) else { return default };
    let kind = match (&default.kind, &own.kind) {
        (Kind::List(default), Kind::List(own)) => Kind::List([default.as_slice(), own].concat()),
        (Kind::List(default), Kind::Map(own)) => Kind::Map(with_assertions(own, default, Order::First)),
        (Kind::Map(default), Kind::List(own)) => Kind::Map(with_assertions(default, own, Order::Last)),
        (Kind::Map(default), Kind::Map(own)) => Kind::Map(joined(default, own)),
        // Any other kind is reported where it is decoded.
        (Kind::Scalar(_), _) | (_, Kind::Scalar(_)) => return own.clone(),
    };
    Node { span: own.span, kind }
}

/// Expectation of a test with the metrics next to it; they become a key of its map.
pub(super) fn with_metrics(expect: Option<&Node>, metrics: Option<&Node>, span: Span) -> Option<Node> {
    let expect = expect.filter(|expect| !expect.is_null());
    let Some(metrics) = metrics.filter(|metrics| !metrics.is_null()) else { return expect.cloned() };
    let entry =
        |key: &str, value: &Node| Entry { key: Key { text: key.into(), span: value.span }, value: value.clone() };
    let mut entries = match expect.map(|expect| (expect, &expect.kind)) {
        Some((_, Kind::Map(entries))) => entries.clone(),
        Some((list, _)) => vec![entry("assertions", list)],
        None => Vec::new(),
    };
    entries.push(entry(checks::DERIVED_METRICS, metrics));
    Some(Node { span: expect.map_or(span, |expect| expect.span), kind: Kind::Map(entries) })
}

#[derive(Clone, Copy)]
enum Order {
    First,
    Last,
}

/// A map of checks with further assertions.
fn with_assertions(map: &[Entry], list: &[Node], order: Order) -> Vec<Entry> {
    let mut entries = map.to_vec();
    let span = list.first().map_or(Span::default(), |first| first.span);
    let Some(entry) = entries.iter_mut().find(|entry| entry.key.text == "assertions") else {
        let key = Key { text: "assertions".into(), span };
        entries.push(Entry { key, value: Node { span, kind: Kind::List(list.to_vec()) } });
        return entries;
    };
    if let Kind::List(present) = &mut entry.value.kind {
        match order {
            Order::First => drop(present.splice(0..0, list.iter().cloned())),
            Order::Last => present.extend(list.iter().cloned()),
        }
    }
    entries
}

fn joined(default: &[Entry], own: &[Entry]) -> Vec<Entry> {
    let list = |entries: &[Entry]| {
        let assertions = entries.iter().find(|entry| entry.key.text == "assertions");
        assertions.and_then(|entry| entry.value.as_list()).map(<[Node]>::to_vec).unwrap_or_default()
    };
    let is_new = |entry: &&Entry| own.iter().all(|other| other.key.text != entry.key.text);
    let further: Vec<Entry> = default.iter().filter(is_new).cloned().collect();
    let has_both = default.iter().chain(own).filter(|entry| entry.key.text == "assertions").count() == 2;
    let own = if has_both { with_assertions(own, &list(default), Order::First) } else { own.to_vec() };
    further.into_iter().chain(own).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_forms_join() {
        let node = |value: Value| Node::from_json(Span::default(), value);
        let (a, b) = (json!({"target": "result.a"}), json!({"target": "result.b"}));
        for (default, own, expected) in [
            (json!([a]), json!(null), json!([a])),
            (json!([a]), json!([b]), json!([a, b])),
            (json!([a]), json!({"contains": "x"}), json!({"contains": "x", "assertions": [a]})),
            (json!([a]), json!({"assertions": [b]}), json!({"assertions": [a, b]})),
            (json!({"not_error": true}), json!([b]), json!({"not_error": true, "assertions": [b]})),
            (json!({"assertions": [a]}), json!([b]), json!({"assertions": [a, b]})),
            (
                json!({"not_error": true, "contains": "x", "assertions": [a]}),
                json!({"contains": "y", "assertions": [b]}),
                json!({"not_error": true, "contains": "y", "assertions": [a, b]}),
            ),
        ] {
            assert_eq!(merged(node(default), Some(&node(own))).to_json(), expected);
        }
    }
}
