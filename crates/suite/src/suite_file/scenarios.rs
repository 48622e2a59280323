//! `scenarios`: the calls of a recorded agent, replayed on a made-up world.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcprove_judge::scenario::{Effect, Forbidden, Guard, Scenario, Transition};
use mcprove_judge::target_sets;
use mcprove_model::{Act, Diagnostics, Expectation, Node, Vocabulary};
use serde_json::{Value, json};

use super::Suite;
use super::list::Kind;
use crate::assertion_file::block::{self, Input};
use crate::assertion_file::texts;
use crate::field::{self, Field};
use crate::schema::fragment;

const VOCABULARY: Vocabulary = Vocabulary::Targets(&target_sets::SCENARIO);

pub(super) const KIND: Kind = Kind {
    key: "scenarios",
    summary: "Replay the calls of a recorded agent on a made-up world, without a server.",
    fields: &[FIELDS],
    decode,
};

/// Keys of the other tool's scenarios, and what to do instead.
pub(super) const OUTSIDE: &[(&str, &str)] =
    &[("rubric", "`evals` grade answers; `expect` of a scenario judges calls and the state of the world")];

const FIELDS: &[Field] = &[
    Field::required("cassette", || fragment::text("The recording of an agent, relative to the folder of the suite.")),
    Field::optional("escalation", || field::map("What an escalation is known by.", ESCALATION)),
    Field::optional("expect", || fragment::expect(VOCABULARY)),
    Field::optional("expect_state", || fragment::any_map("Values of the world at the end, by path such as `a.b`.")),
    Field::optional("forbidden", || {
        let call = fragment::map("A call.", Value::Object(field::properties(FORBIDDEN)), &["tool", "reason"]);
        fragment::list("Calls that must not be made.", call)
    }),
    Field::optional("golden", || field::map("The ideal sequence of calls, and others that are as good.", GOLDEN)),
    Field::optional("refusal", || field::map("What a refusal is known by.", REFUSAL)),
    Field::optional("seed", || fragment::any_map("The world at first.")),
    Field::optional("transitions", || {
        fragment::list("What calls do to the world.", field::map("A transition.", TRANSITION))
    }),
];

const ESCALATION: &[Field] = &[
    Field::optional("markers", || fragment::texts("Words of answers.")),
    Field::optional("tools", || fragment::texts("Tools.")),
];

const FORBIDDEN: &[Field] = &[
    Field::required("reason", || fragment::text("Why.")),
    Field::required("tool", || fragment::text("The tool.")),
    Field::optional("when", guards_schema),
];

const GOLDEN: &[Field] = &[
    Field::optional(
        "alternates",
        || json!({"type": "array", "items": sequence_schema(), "description": "Other sequences that are as good."}),
    ),
    Field::required("calls", sequence_schema),
];

const REFUSAL: &[Field] = &[Field::required("markers", || fragment::texts("Words of answers."))];

const TRANSITION: &[Field] = &[
    Field::optional("effect", || {
        fragment::any_map(
            "What changes, by path: `{inc: 1}`, `{dec: 1}`, `{set: value}`, `{from_arg: path}`, or a value.",
        )
    }),
    Field::required("tool", || fragment::text("The tool.")),
    Field::optional("when", guards_schema),
];

fn sequence_schema() -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": "Names of tools, in order."})
}

fn guards_schema() -> Value {
    fragment::any_map("What must be true of the world, by path: `{eq: value}`, `{min: 1}`, `{max: 1}`, or a value.")
}

fn decode(input: &Input<'_>, _: &Suite<'_>, found: &mut Diagnostics<'_>) -> Option<(Act, Expectation)> {
    let node = input.node;
    let expect = input.expect(VOCABULARY, found);
    let mut scenario = Scenario {
        seed: node.get("seed").map_or_else(|| json!({}), Node::to_json),
        expect_state: json_map(node.get("expect_state"), "`expect_state`", found),
        ..Scenario::default()
    };
    for transition in part_list(node, "transitions", found) {
        field::entries(transition, "a transition", TRANSITION, found)?;
        let effect = json_map(transition.get("effect"), "`effect`", found);
        scenario.transitions.push(Transition {
            tool: block::named(transition, "tool", transition.span, found)?.as_text()?.to_owned(),
            when: guards(transition, found),
            effect: effect.iter().map(|(path, value)| (path.clone(), Effect::read(value))).collect(),
        });
    }
    for rule in part_list(node, "forbidden", found) {
        field::entries(rule, "a forbidden call", FORBIDDEN, found)?;
        scenario.forbidden.push(Forbidden {
            tool: block::named(rule, "tool", rule.span, found)?.as_text()?.to_owned(),
            when: guards(rule, found),
            reason: block::named(rule, "reason", rule.span, found)?.as_text()?.to_owned(),
        });
    }
    if let Some(refusal) = node.get("refusal").filter(|part| !part.is_null()) {
        found.known_keys(refusal, "`refusal`", &field::keys(REFUSAL));
        scenario.refusal_markers = words(refusal, "markers", found);
    }
    if let Some(escalation) = node.get("escalation").filter(|part| !part.is_null()) {
        found.known_keys(escalation, "`escalation`", &field::keys(ESCALATION));
        scenario.escalation_markers = words(escalation, "markers", found);
        scenario.escalation_tools = words(escalation, "tools", found);
    }
    if let Some(golden) = node.get("golden").filter(|part| !part.is_null()) {
        found.known_keys(golden, "`golden`", &field::keys(GOLDEN));
        scenario.golden.push(words(golden, "calls", found));
        for alternate in part_list(golden, "alternates", found) {
            scenario.golden.push(texts::list(alternate, "a sequence of `alternates`", found));
        }
    }
    input.named("cassette", found)?.as_text()?.clone_into(&mut scenario.cassette);
    if expect.checks.is_empty()
        && scenario.expect_state.is_empty()
        && scenario.golden.is_empty()
        && scenario.forbidden.is_empty()
        && scenario.transitions.is_empty()
    {
        let message = "the scenario says nothing about the world or the calls, so it checks nothing";
        found.warning("nothing-asked", node.span, message, Some("add `transitions` and `expect_state`".to_owned()));
    }
    Some((Act::Offline(Arc::new(scenario)), expect))
}

fn part_list<'n>(node: &'n Node, key: &str, found: &mut Diagnostics<'_>) -> &'n [Node] {
    match node.get(key).filter(|part| !part.is_null()) {
        Some(part) => found.list(part, &format!("`{key}`")),
        None => &[],
    }
}

fn words(node: &Node, key: &str, found: &mut Diagnostics<'_>) -> Vec<String> {
    node.get(key)
        .filter(|part| !part.is_null())
        .map(|part| texts::list(part, &format!("`{key}`"), found))
        .unwrap_or_default()
}

fn guards(node: &Node, found: &mut Diagnostics<'_>) -> BTreeMap<String, Guard> {
    json_map(node.get("when"), "`when`", found).iter().map(|(path, value)| (path.clone(), Guard::read(value))).collect()
}

fn json_map(node: Option<&Node>, what: &str, found: &mut Diagnostics<'_>) -> BTreeMap<String, Value> {
    let Some(node) = node.filter(|node| !node.is_null()) else { return BTreeMap::new() };
    let entries = found.map(node, what).unwrap_or_default();
    entries.iter().map(|entry| (entry.key.text.to_string(), entry.value.to_json())).collect()
}
