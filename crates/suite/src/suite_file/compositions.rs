//! `compositions`: graphs of tool calls, in which calls use the results of others.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use mcprove_judge::composition::{Mocked, references};
use mcprove_judge::jq::Program;
use mcprove_judge::matchers::graded;
use mcprove_judge::target_sets;
use mcprove_model::{
    Act, Composition, CompositionNode, CompositionOutput, Diagnostics, Entry, Expectation, Key, Kind as NodeKind, Node,
    ServerSpec, Span, Vocabulary, nearest,
};
use serde_json::{Value, json};

use super::list::Kind;
use super::{Suite, test};
use crate::assertion_file::block::{self, Input};
use crate::assertion_file::{expectation, texts};
use crate::field::{self, Field};
use crate::schema::fragment;

/// The key of the list.
pub(super) const KEY: &str = "compositions";

const VOCABULARY: Vocabulary = Vocabulary::Targets(&target_sets::COMPOSITION);

pub(super) const KIND: Kind = Kind {
    key: KEY,
    summary: "A graph of tool calls, in which calls use the results of others.",
    fields: &[FIELDS],
    decode,
};

const FIELDS: &[Field] = &[
    Field::optional("budget", || field::map("What it may take.", BUDGET)),
    Field::optional("cases", || fragment::list("The graph is run once for each.", field::map("A case.", CASE))),
    Field::optional("description", || fragment::text("What it is for; shown nowhere.")),
    Field::preview("eval", graded::eval::schema),
    Field::optional("expect", || fragment::expect(VOCABULARY)),
    Field::optional("golden", || json!({"description": "The output, exactly."})),
    Field::required("nodes", || fragment::list("The calls, in any order.", field::map("A call.", NODE))),
    Field::optional("output", || {
        let assemble = fragment::text("A jq program over `{nodes: {ID: RESULT}}`.");
        let map = fragment::map("A program.", json!({"assemble": assemble}), &["assemble"]);
        json!({"anyOf": [{"type": "string"}, map], "description": "The node whose result is the output; the last when left out."})
    }),
    Field::optional("vars", || fragment::any_map("What `${var.NAME}` stands for.")),
];

const CASE: &[Field] = &[
    Field::optional("expect", || fragment::expect(VOCABULARY)),
    Field::optional("golden", || json!({"description": "The output, exactly."})),
    Field::required("name", || fragment::text("Its name.")),
    Field::optional("vars", || fragment::any_map("What `${var.NAME}` stands for.")),
];

pub(super) const NODE: &[Field] = &[
    Field::optional("args", || {
        fragment::any_map("Its arguments; `${ID.path}`, `${item}` and `${var.NAME}` stand for values.")
    }),
    Field::optional("for_each", || fragment::text("`${ID[*]}`: the tool is called for each item of that result.")),
    Field::required("id", || fragment::text("Its name in the graph.")),
    Field::optional("max_concurrency", || fragment::count("Maximum number of concurrent calls; 1 when left out.", 1)),
    Field::optional("max_iterations", || fragment::count("Maximum number of items; 10000 when left out.", 1)),
    Field::optional("mock", || field::map("A result that stands in for the call.", MOCK)),
    Field::optional("needs", || fragment::texts("The nodes whose results it uses.")),
    Field::optional("server", || fragment::text("The server it is for.")),
    Field::required("tool", || fragment::text("The tool.")),
    Field::optional("transform", || field::map("A jq program.", PROGRAM)),
    Field::optional("when", || {
        fragment::text(
            "A jq program over `{parents: {ID: RESULT}}`; the call is left out where it gives false or null.",
        )
    }),
];

const PROGRAM: &[Field] = &[Field::required("jq", || fragment::text("The program."))];
const MOCK: &[Field] = &[Field::required("result", || json!({"description": "The result."}))];

/// Keys of a node of the other tool, and what to do instead.
pub(super) const OUTSIDE_NODE: &[(&str, &str)] = &[
    ("max_cost_per_call_usd", "calls of tools have no price; remove it"),
    ("max_tokens_per_call", "`max_response_tokens` in the `expect` of a tool test counts tokens"),
];

pub(super) const BUDGET: &[Field] =
    &[Field::optional("max_duration_ms", || fragment::count("The milliseconds that all calls together may take.", 1))];

/// Keys of its budget, and what to do instead.
pub(super) const OUTSIDE_BUDGET: &[(&str, &str)] = &[
    ("max_cost_usd", "calls of tools have no price; remove it"),
    ("max_tokens", "`max_response_tokens` in the `expect` of a tool test counts tokens"),
];

/// Default maximum number of items in a list.
const ITERATIONS: usize = 10_000;

/// The tests of a composition: one for each of its cases, with the name, variables and expectations of the case.
pub(super) fn for_each_case(node: Node, found: &mut Diagnostics<'_>) -> Vec<Node> {
    let Some(cases) = node.get("cases").filter(|cases| !cases.is_null()).cloned() else { return vec![node] };
    let name = node.get("name").and_then(Node::as_text).unwrap_or_default().to_owned();
    let mut tests = Vec::new();
    for case in found.list(&cases, "`cases`") {
        if found.map(case, "a case").is_none() {
            continue;
        }
        found.known_keys(case, "a case", &field::keys(CASE));
        let Some(own) = block::named(case, "name", case.span, found) else { continue };
        let NodeKind::Map(entries) = &node.kind else { continue };
        let kept = entries.iter().filter(|entry| !matches!(entry.key.text.as_str(), "cases" | "name"));
        let mut entries: Vec<Entry> = kept.cloned().collect();
        let text = format!("{name} ({})", own.as_text().unwrap_or_default());
        entries.insert(0, entry("name", Node::text_at(own.span, text)));
        for key in ["golden", "vars"] {
            if let Some(value) = case.get(key) {
                entries.retain(|entry| entry.key.text != key);
                entries.push(entry(key, value.clone()));
            }
        }
        if let Some(NodeKind::List(further)) = case.get("expect").map(|expect| &expect.kind) {
            match entries.iter_mut().find(|entry| entry.key.text == "expect") {
                Some(Entry { value: Node { kind: NodeKind::List(all), .. }, .. }) => {
                    all.extend(further.iter().cloned());
                }
                Some(_) => {}
                None => entries.push(entry("expect", Node { span: case.span, kind: NodeKind::List(further.clone()) })),
            }
        }
        tests.push(Node { span: node.span, kind: NodeKind::Map(entries) });
    }
    tests
}

/// References to nodes and items, marked so that they are not taken for variables of the environment.
pub(super) fn protected(node: &Node) -> Node {
    let ids: Vec<String> = node
        .as_list()
        .unwrap_or_default()
        .iter()
        .flat_map(|composition| composition.get("nodes").and_then(Node::as_list).unwrap_or_default())
        .filter_map(|node| Some(node.get("id")?.as_text()?.to_owned()))
        .chain(["item".to_owned()])
        .collect();
    node.map_text(&mut |text, _| {
        let mut result = String::new();
        let mut done = 0;
        for (start, end, path) in references(text) {
            if ids.iter().any(|id| id == path) {
                result.push_str(&text[done..start]);
                result.push('$');
                done = start;
            }
            result.push_str(&text[done..end]);
            done = end;
        }
        (result.len() + text.len() - done != text.len()).then(|| Value::String(result + &text[done..]))
    })
}

/// The server of the first node that is called; none where all are mocked.
pub(super) fn server_of(
    test: &Node,
    default: impl FnOnce(&mut Diagnostics<'_>) -> Option<Arc<ServerSpec>>,
    suite: &Suite<'_>,
    found: &mut Diagnostics<'_>,
) -> Option<Arc<ServerSpec>> {
    let nodes = test.get("nodes").and_then(Node::as_list).unwrap_or_default();
    let live = nodes.iter().find(|node| node.get("mock").is_none())?;
    match live.get("server").filter(|server| !server.is_null()) {
        Some(named) => test::server_named(named, suite, found),
        None => default(found),
    }
}

fn decode(input: &Input<'_>, suite: &Suite<'_>, found: &mut Diagnostics<'_>) -> Option<(Act, Expectation)> {
    let test = input.node;
    let span = input.place;
    let list = test.get("nodes").filter(|nodes| !nodes.is_null());
    let Some(list) = list.filter(|list| list.as_list().is_none_or(|nodes| !nodes.is_empty())) else {
        found.error_with_help("missing-key", span, "the composition has no `nodes`", "add at least one call");
        return None;
    };
    let before = found.count();
    let mut nodes = Vec::new();
    for node in found.list(list, "`nodes`") {
        nodes.extend(decode_node(node, input, suite, found));
    }
    let output = decode_output(test.get("output"), &nodes, found);
    let max_duration = decode_budget(test.get("budget"), found);
    let vars = test.get("vars").map_or_else(|| json!({}), Node::to_json);
    let with_golden = with_golden(input);
    let mut expect = expectation::decode(with_golden.as_ref().or(input.expect), VOCABULARY, input.scope, found);
    expect.judged = super::evals::decode_metrics(test, false, suite, found);
    let judged = judged_nodes(input.expect, &nodes, found);
    let nodes = ordered(nodes, found)?;
    if found.count() > before {
        return None;
    }
    let composition = Composition { nodes, output, vars, max_duration, judged, span };
    let act = if composition.is_live() {
        Act::Compose(Box::new(composition))
    } else {
        Act::Offline(Arc::new(Mocked::new(composition)))
    };
    Some((act, expect))
}

fn decode_node(
    node: &Node,
    input: &Input<'_>,
    suite: &Suite<'_>,
    found: &mut Diagnostics<'_>,
) -> Option<CompositionNode> {
    let entries = found.map(node, "a node")?;
    super::unsupported_keys::known_keys(entries, "a node", &field::keys(NODE), OUTSIDE_NODE, found);
    let place = entries.first().map_or(node.span, |entry| entry.key.span);
    let part = |key: &str| node.get(key).filter(|part| !part.is_null());
    let id = block::named(node, "id", place, found)?.as_text()?.to_owned();
    let tool = block::named(node, "tool", place, found)?.as_text()?.to_owned();
    let needs = part("needs").map(|needs| texts::list(needs, "`needs`", found)).unwrap_or_default();
    let server = part("server").and_then(|named| test::server_named(named, suite, found));
    let args = part("args").cloned().unwrap_or_else(|| Node::empty_map(node.span));
    input.scope.check(&args, found);
    let for_each = part("for_each").and_then(|list| decode_for_each(list, &needs, found));
    report_references(&args, &needs, for_each.is_some(), found);
    let transform = part("transform").and_then(|transform| {
        field::entries(transform, "`transform`", PROGRAM, found)?;
        program(transform.get("jq")?, "`jq`", found)
    });
    let when = part("when").and_then(|when| program(when, "`when`", found));
    let mock = match part("mock") {
        Some(mock) => {
            field::entries(mock, "`mock`", MOCK, found)?;
            Some(mock.get("result").map(Node::to_json).unwrap_or_default())
        }
        None => None,
    };
    let mut count = |key: &str, default: usize| {
        let count = part(key).and_then(|count| found.count_within(count, &format!("`{key}`"), 1..=100_000));
        count.and_then(|count| usize::try_from(count).ok()).unwrap_or(default)
    };
    let (max_concurrency, max_iterations) = (count("max_concurrency", 1), count("max_iterations", ITERATIONS));
    Some(CompositionNode {
        id,
        needs,
        server,
        tool,
        args,
        transform,
        when,
        for_each,
        max_concurrency,
        max_iterations,
        mock,
        span: place,
    })
}

/// `${parent}` or `${parent[*]}`.
fn decode_for_each(node: &Node, needs: &[String], found: &mut Diagnostics<'_>) -> Option<String> {
    let text = found.text(node, "`for_each`")?;
    let [(0, end, id)] = references(text)[..] else {
        found.error_with_help("wrong-type", node.span, "`for_each` names no node", "write `${parent[*]}`");
        return None;
    };
    if end != text.len() || !needs.iter().any(|need| need == id) {
        let message = format!("`for_each` is over `{id}`, which is not in `needs`");
        found.error_with_help("unknown-reference", node.span, message, format!("add `{id}` to `needs`"));
        return None;
    }
    Some(id.to_owned())
}

/// A reference to a node that is not needed would lead nowhere.
fn report_references(args: &Node, needs: &[String], has_items: bool, found: &mut Diagnostics<'_>) {
    let mut roots: Vec<(String, Span)> = Vec::new();
    let _ = args.map_text(&mut |text, span| {
        for (_, _, path) in references(text) {
            roots.push((path.split(['.', '[']).next().unwrap_or(path).to_owned(), span));
        }
        None
    });
    for (root, span) in roots {
        let is_known = needs.contains(&root) || root == "var" || root == "item" && has_items;
        if !is_known {
            let help = if root == "item" { "add `for_each`".to_owned() } else { format!("add `{root}` to `needs`") };
            let message = format!("`${{{root}}}` is not a node that this one needs");
            found.error_with_help("unknown-reference", span, message, help);
        }
    }
}

fn program(node: &Node, what: &str, found: &mut Diagnostics<'_>) -> Option<String> {
    let text = found.text(node, what)?;
    match Program::parse(text) {
        Ok(_) => Some(text.to_owned()),
        Err(reason) => {
            let message = format!("`{text}` is not a jq program: {reason}");
            found.error_with_help("bad-transform", node.span, message, "write for example `.parents.search.hits`");
            None
        }
    }
}

fn decode_output(output: Option<&Node>, nodes: &[CompositionNode], found: &mut Diagnostics<'_>) -> CompositionOutput {
    let Some(output) = output.filter(|output| !output.is_null()) else { return CompositionOutput::Last };
    if output.as_map().is_some() {
        found.known_keys(output, "`output`", &["assemble"]);
        let assembled = output.get("assemble").and_then(|text| program(text, "`assemble`", found));
        return assembled.map_or(CompositionOutput::Last, CompositionOutput::Assembled);
    }
    let Some(id) = found.text(output, "`output`") else { return CompositionOutput::Last };
    report_unknown_node(id, output.span, nodes, found);
    CompositionOutput::Of(id.to_owned())
}

fn decode_budget(budget: Option<&Node>, found: &mut Diagnostics<'_>) -> Option<Duration> {
    let budget = budget.filter(|budget| !budget.is_null())?;
    let entries = found.map(budget, "`budget`")?;
    super::unsupported_keys::known_keys(entries, "`budget`", &field::keys(BUDGET), OUTSIDE_BUDGET, found);
    let most = found.count_within(budget.get("max_duration_ms")?, "`max_duration_ms`", 1..=86_400_000)?;
    Some(Duration::from_millis(most))
}

/// The expectation, with the exact output under `golden`.
fn with_golden(input: &Input<'_>) -> Option<Node> {
    let golden = input.node.get("golden")?;
    let assertion = json!({"target": "output", "matcher": {"exact": golden.to_json()}, "name": "golden"});
    let mut items = input.expect.and_then(Node::as_list).unwrap_or_default().to_vec();
    items.push(Node::from_json(golden.span, assertion));
    Some(Node { span: golden.span, kind: NodeKind::List(items) })
}

/// The nodes of whose failure an expectation speaks; targets of nodes that are not there are reported.
fn judged_nodes(expect: Option<&Node>, nodes: &[CompositionNode], found: &mut Diagnostics<'_>) -> Vec<String> {
    let mut judged = BTreeSet::new();
    for assertion in expect.and_then(Node::as_list).unwrap_or_default() {
        let Some(target) = assertion.get("target") else { continue };
        let text = target.as_text().unwrap_or_default();
        if text == "composition.ran" {
            judged.extend(nodes.iter().map(|node| node.id.clone()));
        } else if let Some(rest) = text.strip_prefix("nodes.") {
            let id = rest.split(['.', '[']).next().unwrap_or(rest);
            report_unknown_node(id, target.span, nodes, found);
            judged.insert(id.to_owned());
        }
    }
    judged.into_iter().collect()
}

fn report_unknown_node(id: &str, span: Span, nodes: &[CompositionNode], found: &mut Diagnostics<'_>) {
    let ids = || nodes.iter().map(|node| node.id.as_str());
    if ids().all(|known| known != id) {
        let help = match nearest(id, ids()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there is {}", ids().collect::<Vec<_>>().join(", ")),
        };
        found.error_with_help("unknown-reference", span, format!("unknown node `{id}`"), help);
    }
}

/// The nodes in an order in which each comes after those it needs.
fn ordered(nodes: Vec<CompositionNode>, found: &mut Diagnostics<'_>) -> Option<Vec<CompositionNode>> {
    for (at, node) in nodes.iter().enumerate() {
        if nodes[..at].iter().any(|other| other.id == node.id) {
            let message = format!("there is a node `{}` already", node.id);
            found.error_with_help("duplicate-key", node.span, message, "give each node an id of its own");
            return None;
        }
        if let Some(need) = node.needs.iter().find(|need| nodes.iter().all(|other| other.id != **need)) {
            report_unknown_node(need, node.span, &nodes, found);
            return None;
        }
    }
    let mut done: BTreeSet<String> = BTreeSet::new();
    let (mut ordered, mut left) = (Vec::new(), nodes);
    while !left.is_empty() {
        let (ready, waiting): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|node| node.needs.iter().all(|need| done.contains(need)));
        if ready.is_empty() {
            let ids: Vec<&str> = waiting.iter().map(|node| node.id.as_str()).collect();
            let message = format!("the nodes {} need each other in a circle", ids.join(", "));
            found.error_with_help("circle", waiting[0].span, message, "remove one of the `needs`");
            return None;
        }
        done.extend(ready.iter().map(|node| node.id.clone()));
        ordered.extend(ready);
        left = waiting;
    }
    Some(ordered)
}

fn entry(key: &str, value: Node) -> Entry {
    Entry { key: Key { text: key.into(), span: value.span }, value }
}
