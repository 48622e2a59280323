//! `agents`: a model in a loop with the tools of servers.

mod budget;
mod gates;
mod inject;
mod measures;
mod model;
mod runs;
mod script;
mod servers;
mod simulate;

use mcprove_model::{Act, Agent, Diagnostics, Expectation, Kind as NodeKind, Node, Vocabulary};
use serde_json::{Value, json};

use super::list::{Kind, List};
use super::{Suite, evals};
use crate::assertion_file::block::Input;
use crate::assertion_file::expectation;
use crate::field::Field;
use crate::schema::fragment;

pub(super) use servers::server_of_steps;

pub(super) const KIND: Kind = Kind {
    key: "agents",
    summary: "Let a model use the tools of servers, and judge what it does.",
    fields: &[FIELDS],
    decode,
};

/// Keys of the other tool's agents, and what to do instead.
pub(super) const OUTSIDE: &[(&str, &str)] = &[
    ("context_rot_probe", "`distractors` offers more tools; write several tests with other counts"),
    ("discovery", "`trajectory` judges which tools were called"),
    ("narrative", "it has no effect there either; remove it"),
    ("token_efficiency", "`conversation.tokens.total` is a target in `expect`"),
];

/// A test for each of its `models`; one that has none, or one, is itself.
pub(super) fn for_each_model(list: List, node: Node) -> Vec<Node> {
    let models = node.get("models").and_then(Node::as_list).unwrap_or_default();
    if !list.names_servers() || models.len() < 2 || node.get("model").is_some() {
        return vec![node];
    }
    models.iter().map(|model| with_model(&node, model)).collect()
}

fn with_model(node: &Node, model: &Node) -> Node {
    let called = model.get("id").unwrap_or(model).as_text().unwrap_or("?").to_owned();
    let mut node = node.clone();
    if let NodeKind::Map(entries) = &mut node.kind {
        for entry in entries {
            match entry.key.text.as_str() {
                "models" => {
                    entry.value = Node { span: model.span, kind: NodeKind::List(vec![model.clone()]) };
                }
                "name" => {
                    if let Some(name) = entry.value.as_text() {
                        entry.value = Node::text_at(entry.value.span, format!("{name} [{called}]"));
                    }
                }
                _ => {}
            }
        }
    }
    node
}

fn decode(input: &Input<'_>, suite: &Suite<'_>, found: &mut Diagnostics<'_>) -> Option<(Act, Expectation)> {
    let (test, place) = (input.node, input.place);
    let servers = servers::decode(test, place, suite, found);
    let mut turns = decode_turns(input, found);
    let simulated_user = simulate::decode(test, &mut turns, input.scope, found);
    let system_prompt = test.get("system_prompt").filter(|prompt| !prompt.is_null());
    let system_prompt = system_prompt.filter(|prompt| found.text(prompt, "`system_prompt`").is_some()).cloned();
    if let Some(prompt) = &system_prompt {
        input.scope.check(prompt, found);
    }
    let model = model::decode(input, &servers, suite, found);
    let faults = inject::decode(test, &servers, suite, found);
    let budget = budget::decode(test, found);
    let recovery = gates::decode_recovery(test, found);
    let equal_function_sets = gates::decode_sets(test, found);
    let gates = measures::decode(test, &equal_function_sets, input.scope, found);
    let tool_selection = gates::decode_tool_selection(test, found);
    let trajectory = expectation::decode(test.get("trajectory"), Vocabulary::AgentTrajectory, input.scope, found);
    let mut expect = input.expect(Vocabulary::Agent, found);
    expect.judged = evals::decode_metrics(test, turns.len() > 1, suite, found);
    let runs = budget::decode_runs(test, found);
    let stability = runs::decode_stability(test, runs, input.scope, found);
    let matrix_assert = runs::decode_matrix(test, found);
    let steps_at = servers::index_of_steps(test, &servers);
    if servers.is_empty() || turns.is_empty() && simulated_user.is_none() {
        return None;
    }
    let agent = Agent {
        model: model?,
        servers,
        steps_at,
        turns,
        simulated_user,
        system_prompt,
        budget,
        faults: faults?,
        recovery,
        equal_function_sets,
        tool_selection,
        trajectory,
        gates,
        stability,
        matrix_assert,
        runs,
    };
    Some((Act::Agent(Box::new(agent)), expect))
}

/// The user's messages: the `prompt`, then the `turns`.
fn decode_turns(input: &Input<'_>, found: &mut Diagnostics<'_>) -> Vec<Node> {
    let (test, place) = (input.node, input.place);
    let mut turns: Vec<Node> = Vec::new();
    if let Some(prompt) = test.get("prompt").filter(|prompt| !prompt.is_null())
        && found.text(prompt, "`prompt`").is_some()
    {
        turns.push(prompt.clone());
    }
    let before = found.count();
    let list = test.get("turns").filter(|list| !list.is_null() && list.get(simulate::KEY).is_none());
    if let Some(list) = list {
        turns.extend(found.list(list, "`turns`").iter().filter_map(|turn| decode_turn(turn, found)));
    }
    for turn in &turns {
        input.scope.check(turn, found);
    }
    let is_misspelt = ["prompt", "turns"].iter().any(|key| input.is_misspelt(key));
    let simulates = test.get("turns").is_some_and(|turns| turns.get(simulate::KEY).is_some());
    if turns.is_empty()
        && !simulates
        && !is_misspelt
        && found.count() == before
        && test.get("prompt").is_none_or(Node::is_null)
    {
        found.error_with_help("missing-key", place, "this agent is asked nothing", "add `prompt:`, or `turns:`");
    }
    turns
}

fn decode_turn(turn: &Node, found: &mut Diagnostics<'_>) -> Option<Node> {
    if turn.as_map().is_none() {
        return found.text(turn, "a turn").map(|_| turn.clone());
    }
    found.known_keys(turn, "a turn", &["user"]);
    let user = turn.get("user")?;
    found.text(user, "`user`").map(|_| user.clone())
}

const FIELDS: &[Field] = &[
    Field::optional("call_timeout_ms", || fragment::count("Time limit of each call of the agent.", 1)),
    Field::preview("distractors", || measures::schema("distractors")),
    Field::optional("equal_function_sets", || {
        let sets = fragment::list(
            "Sets of tools that do the same: each counts as the other.",
            fragment::texts("Names of tools."),
        );
        let description = "Sets of tools that do the same: each counts as the other.";
        json!({"anyOf": [sets, measures::schema("equal_function_sets")], "description": description})
    }),
    Field::preview("eval", mcprove_judge::matchers::graded::eval::schema),
    Field::optional("expect", || fragment::expect(Vocabulary::Agent)),
    Field::preview("golden_path", || measures::schema("golden_path")),
    Field::optional("inject", || {
        json!({
            "anyOf": [fragment::text("A fault."), fragment::texts("Names of `faults`.")],
            "description": "Names of `faults` that its calls meet; the first that matches a call counts.",
        })
    }),
    Field::preview("matrix_assert", runs::matrix_schema),
    Field::optional("max_tokens", || {
        fragment::count("Maximum number of tokens in one answer of the model; 1024 when left out.", 1)
    }),
    Field::optional("max_tool_calls", || fragment::count("Maximum total number of tool calls.", 0)),
    Field::optional("max_turns", || {
        fragment::count("Maximum number of model answers per user message; 10 when left out.", 1)
    }),
    Field::optional("model", model::schema),
    Field::optional("models", || fragment::list("Several models; each makes a test of its own.", model::schema())),
    Field::preview("orchestration", || measures::schema("orchestration")),
    Field::optional("prompt", || fragment::text("The user's message.")),
    Field::optional("recovery", gates::recovery_schema),
    Field::optional("runs", || fragment::count("Number of runs; pass@k and pass^k are reported.", 1)),
    Field::optional("script", script::schema),
    Field::optional("servers", || {
        json!({
            "anyOf": [fragment::text("One server."), fragment::texts("Several servers.")],
            "description": "The servers whose tools it is given; may be left out when there is one.",
        })
    }),
    Field::preview("stability", runs::stability_schema),
    Field::optional("system_prompt", || fragment::text("The system prompt of the model.")),
    Field::optional("time_budget", || fragment::duration("Its time limit, for example `30s`.")),
    Field::optional("token_budget", || fragment::count("Maximum total number of tokens.", 1)),
    Field::preview("tool_edges", || measures::schema("tool_edges")),
    Field::optional("tool_selection", gates::tool_selection_schema),
    Field::optional("trajectory", || mcprove_judge::checks::schema(Vocabulary::AgentTrajectory)),
    Field::preview("trajectory_axes", || measures::schema("trajectory_axes")),
    Field::optional("turns", || {
        let list =
            fragment::list("The user's messages, one per turn; after the `prompt` if there is one.", turn_schema());
        let description = "The user's messages, one per turn, or a model that plays the user.";
        json!({"anyOf": [list, simulate::schema()], "description": description})
    }),
];

fn turn_schema() -> Value {
    json!({
        "anyOf": [
            fragment::text("The user's message."),
            fragment::map("A turn.", json!({"user": fragment::text("The user's message.")}), &["user"]),
        ],
    })
}
