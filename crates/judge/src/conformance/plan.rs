//! The calls of a conformance run: a valid input per tool that may be called, and inputs its schema rejects.

use serde_json::{Value, json};

use crate::generate::{Oracle, Places};
use crate::harm::HarmGuard;
use crate::tool_effect::{Consent, ScanPlan};

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct CallPlan {
    /// The tool.
    pub tool: String,
    /// Its valid input.
    pub input: Value,
    /// Inputs that its schema rejects, each with what is wrong.
    pub wrong: Vec<(String, Value)>,
    /// True if it can be called without arguments.
    pub is_bare: bool,
}

/// The tools to call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallPlans {
    /// Those that are.
    pub calls: Vec<CallPlan>,
    /// Those that are not, each with the reason.
    pub uncalled: Vec<(String, String)>,
}

/// The calls that are planned.
#[derive(Clone, Copy, Debug)]
pub struct CallOptions<'o> {
    /// The tools that may be called.
    pub consent: Consent,
    /// The seed of generated inputs.
    pub seed: u64,
    /// The number of tools that are called. Inputs are made for no more of them.
    pub most: usize,
    /// The folder that made-up paths are in.
    pub scratch: &'o str,
    /// Paths of the fixture.
    pub places: Option<&'o Places>,
}

/// Plans calls of the first tools that may be called.
pub fn calls(tools: &[Value], instructions: Option<&str>, options: CallOptions<'_>) -> CallPlans {
    let CallOptions { consent, seed, most, scratch, places } = options;
    let plan = ScanPlan::new(tools, instructions, consent, &[]);
    let mut plans = CallPlans::default();
    for (at, tool) in tools.iter().enumerate() {
        let (Some(name), Some(schema)) = (tool["name"].as_str(), tool.get("inputSchema")) else { continue };
        if let Some(reason) = plan.skipped(at) {
            plans.uncalled.push((name.to_owned(), reason.to_owned()));
            continue;
        }
        if plans.calls.len() >= most {
            continue;
        }
        let mut guard =
            HarmGuard::new(tool, plan.effect(at), scratch).allowing_all_if(consent == Consent::IncludeWrites);
        if let Some(places) = places {
            guard = guard.with_fixture(&places.folder);
        }
        let input = match guard.input(tool, seed, places) {
            Ok(input) => input,
            Err(why) => {
                plans.uncalled.push((name.to_owned(), format!("no valid input could be made for it: {why}")));
                continue;
            }
        };
        let mut wrong = wrong_inputs(schema, &input);
        wrong.retain(|(_, input)| guard.allows(input));
        let is_bare = Oracle::new(schema).is_ok_and(|oracle| oracle.accepts(&json!({}))) && guard.allows(&json!({}));
        plans.calls.push(CallPlan { tool: name.to_owned(), input, wrong, is_bare });
    }
    plans
}

/// Inputs that a schema rejects: a missing required property, and a value of a type that no lenient server converts.
pub fn wrong_inputs(schema: &Value, valid: &Value) -> Vec<(String, Value)> {
    let Ok(oracle) = Oracle::new(schema) else { return Vec::new() };
    let mut made: Vec<(String, Value)> = Vec::new();
    let properties = schema["properties"].as_object();
    let first = schema["required"].as_array().and_then(|required| required.first()).and_then(Value::as_str);
    if let Some(name) = first
        && let Some(map) = valid.as_object()
    {
        let mut map = map.clone();
        map.shift_remove(name);
        made.push((format!("`{name}` is missing"), Value::Object(map)));
    }
    let typed = properties.into_iter().flatten().find_map(|(name, property)| {
        let wrong = match property["type"].as_str()? {
            "string" | "number" | "integer" | "boolean" => json!({"not": "this"}),
            "object" | "array" => json!("not this"),
            _ => return None,
        };
        Some((name.clone(), wrong))
    });
    if let Some((name, wrong)) = typed {
        let mut input = if valid.is_object() { valid.clone() } else { json!({}) };
        input[&name] = wrong;
        made.push((format!("`{name}` has the wrong type"), input));
    }
    let choice = properties
        .into_iter()
        .flatten()
        .find(|(_, property)| property["enum"].as_array().is_some_and(|choices| choices.iter().all(Value::is_string)));
    if let Some((name, _)) = choice {
        let mut input = if valid.is_object() { valid.clone() } else { json!({}) };
        input[name] = json!("no-such-choice");
        made.push((format!("`{name}` is not one of its choices"), input));
    }
    made.retain(|(_, input)| !oracle.accepts(input));
    made
}
