//! Scenarios: the calls of a recorded agent, replayed on a made-up world.

use std::collections::BTreeMap;

use mcprove_model::{Evaluated, Offline, bounded_json};
use serde_json::{Map, Value, json};

/// A world, the calls that may change it, and what is expected of a recorded agent in it.
#[derive(Clone, Debug, Default)]
pub struct Scenario {
    /// The recording, relative to the folder of the suite.
    pub cassette: String,
    /// The world at first: an object.
    pub seed: Value,
    /// Effects of calls.
    pub transitions: Vec<Transition>,
    /// Calls that must not be made.
    pub forbidden: Vec<Forbidden>,
    /// Words by which a refusal is known.
    pub refusal_markers: Vec<String>,
    /// Tools and words by which an escalation is known.
    pub escalation_tools: Vec<String>,
    /// Words by which an escalation is known.
    pub escalation_markers: Vec<String>,
    /// The ideal sequences of calls; the first is the best.
    pub golden: Vec<Vec<String>>,
    /// Values of the world in the end, by path.
    pub expect_state: BTreeMap<String, Value>,
}

/// Effect of a call on the world.
#[derive(Clone, Debug)]
pub struct Transition {
    /// The tool.
    pub tool: String,
    /// Conditions on the world, by path.
    pub when: BTreeMap<String, Guard>,
    /// Changes of the world, by path.
    pub effect: BTreeMap<String, Effect>,
}

/// A call that must not be made.
#[derive(Clone, Debug)]
pub struct Forbidden {
    /// The tool.
    pub tool: String,
    /// Only where this is true of the world, by path.
    pub when: BTreeMap<String, Guard>,
    /// Why.
    pub reason: String,
}

/// A condition on a value of the world.
#[derive(Clone, Debug, PartialEq)]
pub enum Guard {
    /// It is this value.
    Eq(Value),
    /// It is at least this number.
    Min(f64),
    /// It is at most this number.
    Max(f64),
}

/// A change of a value of the world.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// It becomes this value.
    Set(Value),
    /// It grows by this number; what is not there is 0.
    Add(f64),
    /// It becomes the argument at this path.
    FromArg(String),
}

impl Guard {
    /// Reads `{eq}`, `{min}`, `{max}`, or a value that must be equal.
    pub fn read(value: &Value) -> Self {
        match single(value) {
            Some(("min", bound)) if bound.is_number() => Self::Min(number(Some(bound))),
            Some(("max", bound)) if bound.is_number() => Self::Max(number(Some(bound))),
            Some(("eq", wanted)) => Self::Eq(wanted.clone()),
            Some(_) | None => Self::Eq(value.clone()),
        }
    }

    fn holds(&self, value: Option<&Value>) -> bool {
        match self {
            Self::Eq(wanted) => value.is_some_and(|value| same(value, wanted)),
            Self::Min(bound) => value.and_then(Value::as_f64).is_some_and(|value| value >= *bound),
            Self::Max(bound) => value.and_then(Value::as_f64).is_some_and(|value| value <= *bound),
        }
    }
}

impl Effect {
    /// Reads `{set}`, `{inc}`, `{dec}`, `{from_arg}`, or a value that is set.
    pub fn read(value: &Value) -> Self {
        match single(value) {
            Some(("inc", step)) if step.is_number() => Self::Add(number(Some(step))),
            Some(("dec", step)) if step.is_number() => Self::Add(-number(Some(step))),
            Some(("from_arg", Value::String(path))) => Self::FromArg(path.clone()),
            Some(("set", wanted)) => Self::Set(wanted.clone()),
            Some(_) | None => Self::Set(value.clone()),
        }
    }
}

impl Offline for Scenario {
    fn files(&self) -> Vec<&str> {
        vec![&self.cassette]
    }

    fn evaluate(&self, texts: &[String]) -> Result<Evaluated, String> {
        let recording = Recording::read(texts.first().map_or("", String::as_str))?;
        let mut world = if self.seed.is_object() { self.seed.clone() } else { json!({}) };
        let (mut invalid, mut forbidden, mut problems) = (0, 0, Vec::new());
        for (at, call) in recording.calls.iter().enumerate() {
            let number = at + 1;
            let is_met = |when: &BTreeMap<String, Guard>, world: &Value| unmet(when, world).is_none();
            if let Some(rule) = self.forbidden.iter().find(|rule| rule.tool == call.tool && is_met(&rule.when, &world))
            {
                forbidden += 1;
                let text = format!("call {number} of `{}` is forbidden: {}", call.tool, rule.reason);
                problems.push(("forbidden-call", text));
                continue;
            }
            let Some(transition) = self.transitions.iter().find(|transition| transition.tool == call.tool) else {
                invalid += 1;
                problems.push(("invalid-call", format!("call {number}: no transition is for `{}`", call.tool)));
                continue;
            };
            if let Some(path) = unmet(&transition.when, &world) {
                invalid += 1;
                let value = at_path(&world, path).unwrap_or(&Value::Null);
                let text = format!("call {number} of `{}` is invalid: `{path}` is {value}", call.tool);
                problems.push(("invalid-call", text));
            } else if !call.failed {
                apply(&mut world, &transition.effect, &call.args);
            }
        }
        let mut is_matched = true;
        for (path, wanted) in &self.expect_state {
            let value = at_path(&world, path);
            if !value.is_some_and(|value| same(value, wanted)) {
                is_matched = false;
                let value = value.map_or_else(|| "not there".to_owned(), Value::to_string);
                problems.push(("world-state", format!("`{path}` must be {wanted} in the end, and is {value}")));
            }
        }
        let names: Vec<&str> = recording.calls.iter().map(|call| call.tool.as_str()).collect();
        let golden = self.golden_of(&names);
        if golden.as_ref().is_some_and(|golden| golden["matched"] == json!(false)) {
            let text = format!("the calls are none of the expected sequences: {}", names.join(", "));
            problems.push(("golden-calls", text));
        }
        let said = |markers: &[String]| recording.answers.iter().filter(|answer| has_any(answer, markers)).count();
        let escalating = names.iter().filter(|name| self.escalation_tools.iter().any(|tool| tool == *name)).count();
        let recoveries = recording.calls.windows(2).filter(|pair| pair[0].failed).count();
        let mut envelope = json!({
            "turns": recording.answers.len(),
            "actions": names.len(),
            "invalid_actions": invalid,
            "forbidden_transitions": forbidden,
            "recovery_attempts": recoveries,
            "escalations": escalating + said(&self.escalation_markers),
            "refusals": said(&self.refusal_markers),
            "state_matched": is_matched,
            "tool_names": names,
            "state": world,
        });
        if let Some(golden) = golden {
            envelope["golden"] = golden;
        }
        Ok(Evaluated { envelope, problems })
    }
}

impl Scenario {
    fn golden_of(&self, names: &[&str]) -> Option<Value> {
        let (best, alternates) = self.golden.split_first()?;
        let is_exact = best == names;
        let is_alternate = alternates.iter().any(|sequence| sequence == names);
        let extra = names.len().saturating_sub(best.len());
        Some(
            json!({"matched": is_exact || is_alternate, "exact": is_exact, "alternate": is_alternate, "extra_steps": extra}),
        )
    }
}

/// The calls and answers of a recorded agent.
struct Recording {
    calls: Vec<Call>,
    answers: Vec<String>,
}

struct Call {
    tool: String,
    args: Value,
    failed: bool,
}

impl Recording {
    /// Reads the recording of an agent, or its trace alone.
    fn read(text: &str) -> Result<Self, String> {
        let whole = bounded_json::value(text).map_err(|error| format!("the recording is not JSON: {error}"))?;
        let trace = whole.get("trace").unwrap_or(&whole);
        let Some(calls) = trace.get("tool_calls").and_then(Value::as_array) else {
            return Err("the recording has no `tool_calls`; it must be that of an agent".to_owned());
        };
        let results = trace.get("tool_results").and_then(Value::as_array).cloned().unwrap_or_default();
        let failed = |at: usize| {
            let result =
                results.iter().find(|result| result.get("call_index").and_then(Value::as_u64) == Some(at as u64));
            result.is_some_and(|result| result.get("is_error") == Some(&json!(true)))
        };
        let call = |(at, call): (usize, &Value)| {
            let name = call.get("name").and_then(Value::as_str).unwrap_or_default();
            // Calls of agents with several servers carry the name of the server.
            let tool = name.split_once("__").map_or(name, |(_, tool)| tool).to_owned();
            Call { tool, args: call.get("args").cloned().unwrap_or_default(), failed: failed(at) }
        };
        let text = |value: &Value| value.get("final_response").and_then(Value::as_str).map(str::to_owned);
        let turns = trace.pointer("/conversation/per_turn").and_then(Value::as_array).filter(|turns| !turns.is_empty());
        let answers = match turns {
            Some(turns) => turns.iter().filter_map(text).collect(),
            None => text(trace).into_iter().collect(),
        };
        Ok(Self { calls: calls.iter().enumerate().map(call).collect(), answers })
    }
}

/// The first path whose condition is not met.
fn unmet<'w>(when: &'w BTreeMap<String, Guard>, world: &Value) -> Option<&'w str> {
    when.iter().find(|(path, guard)| !guard.holds(at_path(world, path))).map(|(path, _)| path.as_str())
}

fn apply(world: &mut Value, effects: &BTreeMap<String, Effect>, args: &Value) {
    for (path, effect) in effects {
        let value = match effect {
            Effect::Set(value) => value.clone(),
            Effect::Add(step) => plain(number(at_path(world, path)) + step),
            Effect::FromArg(arg) => at_path(args, arg).cloned().unwrap_or_default(),
        };
        put(world, path, value);
    }
}

fn at_path<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(value, |value, key| value.get(key))
}

fn put(world: &mut Value, path: &str, value: Value) {
    let mut place = world;
    for key in path.split('.') {
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        let Value::Object(map) = place else { return };
        place = map.entry(key.to_owned()).or_insert(Value::Null);
    }
    *place = value;
}

fn number(value: Option<&Value>) -> f64 {
    value.and_then(Value::as_f64).unwrap_or_default()
}

/// A whole number without a fraction.
fn plain(number: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "it has no fraction and is small")]
    if number.fract() == 0.0 && number.abs() < 1e15 { json!(number as i64) } else { json!(number) }
}

/// True for equal values; numbers compare as numbers.
fn same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        #[expect(clippy::float_cmp, reason = "equal is what the author asks for")]
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

fn single(value: &Value) -> Option<(&str, &Value)> {
    let map = value.as_object().filter(|map| map.len() == 1)?;
    map.iter().next().map(|(key, value)| (key.as_str(), value))
}

fn has_any(text: &str, markers: &[String]) -> bool {
    let lower = text.to_lowercase();
    markers.iter().any(|marker| lower.contains(&marker.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(tools: &[(&str, bool)], answer: &str) -> Vec<String> {
        let calls: Vec<Value> = tools.iter().map(|(tool, _)| json!({"name": tool, "args": {"n": 9}})).collect();
        let results: Vec<Value> =
            tools.iter().enumerate().map(|(at, (_, failed))| json!({"call_index": at, "is_error": failed})).collect();
        let trace = json!({"tool_calls": calls, "tool_results": results, "final_response": answer});
        vec![json!({"schema_version": "v1", "trace": trace}).to_string()]
    }

    fn scenario() -> Scenario {
        let map = |path: &str, value: Value| BTreeMap::from([(path.to_owned(), value)]);
        let guards =
            |guards: BTreeMap<String, Value>| guards.iter().map(|(k, v)| (k.clone(), Guard::read(v))).collect();
        let effects =
            |effects: BTreeMap<String, Value>| effects.iter().map(|(k, v)| (k.clone(), Effect::read(v))).collect();
        Scenario {
            cassette: "c.json".to_owned(),
            seed: json!({"shelf": {"widgets": 1}}),
            transitions: vec![
                Transition {
                    tool: "add".to_owned(),
                    when: BTreeMap::new(),
                    effect: effects(map("shelf.widgets", json!({"inc": 1}))),
                },
                Transition {
                    tool: "remove".to_owned(),
                    when: guards(map("shelf.widgets", json!({"min": 1}))),
                    effect: effects(map("shelf.widgets", json!({"dec": 1}))),
                },
                Transition {
                    tool: "set".to_owned(),
                    when: BTreeMap::new(),
                    effect: effects(map("shelf.widgets", json!({"from_arg": "n"}))),
                },
            ],
            forbidden: vec![Forbidden { tool: "drop".to_owned(), when: BTreeMap::new(), reason: "never".to_owned() }],
            refusal_markers: vec!["I can't".to_owned()],
            escalation_tools: vec!["call_human".to_owned()],
            escalation_markers: Vec::new(),
            golden: vec![vec!["add".to_owned()], vec!["add".to_owned(), "remove".to_owned(), "add".to_owned()]],
            expect_state: map("shelf.widgets", json!(2)),
        }
    }

    #[test]
    fn a_world_changes_as_the_calls_say() {
        for (tools, widgets, problems) in [
            (&[("add", false)][..], 2, &[][..]),
            (&[("add", false), ("remove", false), ("add", false)], 2, &[]),
            (&[("add", true)], 1, &["world-state"]),
            (&[("set", false)], 9, &["world-state", "golden-calls"]),
            (&[("drop", false), ("add", false)], 2, &["forbidden-call", "golden-calls"]),
            (&[("remove", false), ("remove", false)], 0, &["invalid-call", "world-state", "golden-calls"]),
            (&[("unknown", false)], 1, &["invalid-call", "world-state", "golden-calls"]),
        ] {
            let evaluated = scenario().evaluate(&recording(tools, "I can't do more")).expect("a recording");
            assert_eq!(evaluated.envelope["state"]["shelf"]["widgets"], json!(widgets), "{tools:?}");
            let found: Vec<&str> = evaluated.problems.iter().map(|(id, _)| *id).collect();
            assert_eq!(found, problems, "{tools:?}");
            assert_eq!(evaluated.envelope["refusals"], json!(1));
        }
    }

    #[test]
    fn what_is_no_recording_is_an_error() {
        for text in ["", "[]", "{\"version\": \"1\", \"exchanges\": []}"] {
            assert!(scenario().evaluate(&[text.to_owned()]).is_err(), "{text}");
        }
    }
}
