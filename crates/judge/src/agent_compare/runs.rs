//! Runs of agents, from the reports of logs.

use std::collections::HashMap;

use mcprove_model::{CallRole, CaseReport, Direction, Report, Verdict, WirePart, bounded_json};
use serde_json::Value;

use crate::argument_errors;

/// A run of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentRun {
    /// The case.
    pub case: String,
    /// The model.
    pub model: String,
    /// True if it passed.
    pub passed: bool,
    /// Its calls, in order.
    pub calls: Vec<AgentCall>,
    /// Tokens it used.
    pub tokens: u64,
    /// Its cost, in millionths of a US dollar.
    pub cost_usd_micros: Option<u64>,
}

/// A call of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentCall {
    /// The tool, as `server.tool` where the server is known.
    pub tool: String,
    /// True if its arguments fit the schema that the server listed; `None` if that is not known.
    pub is_valid: Option<bool>,
}

/// The runs of agents in a report; those that could not be run are left out.
pub fn agent_runs(report: &Report) -> Vec<AgentRun> {
    report.cases.iter().filter_map(run).collect()
}

fn run(case: &CaseReport) -> Option<AgentRun> {
    let finished = case.finished.as_ref()?;
    let agent = finished.agent.as_ref()?;
    let passed = match finished.verdict {
        Verdict::Passed => true,
        Verdict::Failed => false,
        Verdict::Skipped { .. } | Verdict::Error => return None,
    };
    let schemas = schemas(case);
    let calls = finished.calls.iter().filter(|call| call.role == CallRole::Agent).map(|call| {
        let tool = call.subject.clone().unwrap_or_default();
        let request: Option<Value> = serde_json::from_str(&call.request).ok();
        let arguments = request.as_ref().and_then(|request| request.pointer("/params/arguments"));
        let is_valid = schemas
            .get(&tool)
            .zip(arguments)
            .and_then(|(schema, arguments)| argument_errors(schema, arguments).ok().map(|errors| errors.is_empty()));
        let name = match &call.server {
            Some(server) => format!("{server}.{tool}"),
            None => tool,
        };
        AgentCall { tool: name, is_valid }
    });
    Some(AgentRun {
        case: case.started.name.clone(),
        model: agent.model.clone(),
        passed,
        calls: calls.collect(),
        tokens: agent.usage.total(),
        cost_usd_micros: agent.cost_usd_micros,
    })
}

/// The input schemas that the servers of a case listed, by tool; a name that two servers have is not known.
fn schemas(case: &CaseReport) -> HashMap<String, Value> {
    let mut schemas: HashMap<String, Value> = HashMap::new();
    for (_, frame) in &case.frames {
        if frame.direction != Direction::Received || frame.part != WirePart::Message {
            continue;
        }
        let Some(message) = bounded_json::parse(&frame.body) else { continue };
        for tool in message.pointer("/result/tools").and_then(Value::as_array).into_iter().flatten() {
            let (Some(name), Some(schema)) = (tool["name"].as_str(), tool.get("inputSchema")) else { continue };
            let known = schemas.insert(name.to_owned(), schema.clone());
            if known.is_some_and(|known| known != *schema) {
                // Arguments cannot be invalid for it: whose they are is not known.
                schemas.insert(name.to_owned(), Value::Bool(true));
            }
        }
    }
    schemas.retain(|_, schema| schema.is_object());
    schemas
}
