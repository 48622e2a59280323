//! Dispatch of the calls a model asks for: answered by a fault, by the servers, concurrently, or by mcprove.

use std::time::Duration;

use mcprove_judge::recovery::FaultEffect;
use mcprove_model::{CallRecord, CallRole, ChatCall, Exchange, Outcome, Severity, shorten, text_of_tool_result};
use mcprove_wire::{Session, ToolCall};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::AgentCase;
use super::injection::{Injection, Met};
use super::join_all::{Waiting, all};
use super::toolbox::Toolbox;
use super::transcript::Called;
use crate::calls;

/// Where in a run calls are asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// The user turn, from 0.
    pub(super) turn: usize,
    /// The answer of the model, from 0.
    pub(super) hop: u64,
}

/// A call in flight: its position among those asked for, the call, and its claims about the client.
struct Sent {
    position: usize,
    called: Called,
    claims: Option<Value>,
    /// The fault that adds a text to its result, and the text.
    added: Option<(String, String)>,
}

/// Makes all calls concurrently; the results are in the order of the calls, and in the record.
pub(super) async fn make(
    talk: &mut AgentCase<'_>,
    asked: &[ChatCall],
    moment: Moment,
    (toolbox, injection): (&Toolbox, &mut Injection),
    sessions: &mut [Session],
) -> Vec<Called> {
    let mut done: Vec<Option<(Called, CallRecord)>> = asked.iter().map(|_| None).collect();
    let mut sent: Vec<Vec<Sent>> = sessions.iter().map(|_| Vec::new()).collect();
    for (position, call) in asked.iter().enumerate() {
        let called = Called {
            server: None,
            tool: call.name.clone(),
            args: call.arguments.clone(),
            turn: moment.turn,
            hop: moment.hop,
            result: Value::Null,
            text: String::new(),
            is_error: true,
        };
        let Some(tool) = toolbox.called(&call.name) else {
            let text = format!("there is no tool `{}`", call.name);
            done[position] = Some(answered_here(called, text, None));
            continue;
        };
        let server = toolbox.server(tool.server);
        let called = Called { server: Some(server.to_owned()), tool: tool.name.clone(), ..called };
        if !call.arguments.is_object() {
            let text = format!("the arguments of `{}` are not a JSON object", tool.name);
            done[position] = Some(answered_here(called, text, None));
            continue;
        }
        match injection.next_fault(server, &tool.name) {
            Some(met) if met.effect == FaultEffect::TimesOut => {
                let text = format!("tool `{}` did not respond within {} ms", tool.name, injection.deadline_ms());
                done[position] = Some(answered_here(called, text, Some(met.fault)));
            }
            Some(Met { fault, effect: FaultEffect::Fails { message } }) => {
                done[position] = Some(answered_here(called, message, Some(fault)));
            }
            met => {
                // A call that answers late still answers: in virtual time the delay costs nothing.
                let added = match met {
                    Some(Met { fault, effect: FaultEffect::Adds { text } }) => Some((fault, text)),
                    Some(_) | None => None,
                };
                sent[tool.server].push(Sent { position, called, claims: call.claims.clone(), added });
            }
        }
    }
    let deadline = talk.deadline.min(Instant::now() + Duration::from_millis(injection.deadline_ms()));
    for (sent, exchange) in send(sent, sessions, deadline).await {
        let Sent { position, called, added, .. } = sent;
        let (mut called, mut record) = answered(talk, called, &exchange, injection);
        if let Some((fault, text)) = added {
            called.text.push('\n');
            called.text.push_str(&text);
            record.fault = Some(fault);
        }
        done[position] = Some((called, record));
    }
    let mut made = Vec::with_capacity(asked.len());
    for (called, record) in done.into_iter().flatten() {
        talk.record.calls.push(record);
        made.push(called);
    }
    made
}

/// Sends the calls of each server over its session, all sessions concurrently.
async fn send(sent: Vec<Vec<Sent>>, sessions: &mut [Session], deadline: Instant) -> Vec<(Sent, Exchange)> {
    let mut waiting: Vec<Waiting<'_, Vec<(Sent, Exchange)>>> = Vec::new();
    for (group, session) in sent.into_iter().zip(sessions) {
        if group.is_empty() {
            continue;
        }
        waiting.push(Box::pin(async move {
            let calls: Vec<ToolCall> = group
                .iter()
                .map(|Sent { called, claims, .. }| ToolCall {
                    name: called.tool.clone(),
                    arguments: called.args.clone(),
                    claims: claims.clone(),
                })
                .collect();
            let exchanges = session.call_tools(&calls, deadline).await;
            group.into_iter().zip(exchanges).collect()
        }));
    }
    all(waiting).await.into_iter().flatten().collect()
}

/// A call that no server saw.
fn answered_here(called: Called, text: String, fault: Option<String>) -> (Called, CallRecord) {
    let result = json!({"content": [{"type": "text", "text": text}], "isError": true});
    let request = json!({"method": "tools/call", "params": {"name": called.tool, "arguments": called.args}});
    let record = CallRecord {
        role: CallRole::Agent,
        method: "tools/call".to_owned(),
        subject: Some(called.tool.clone()),
        server: called.server.clone(),
        fault,
        request: shorten(&request.to_string(), 4_000).into_owned(),
        reply: Some(result.to_string()),
        elapsed_us: 0,
    };
    (Called { result, text, is_error: true, ..called }, record)
}

/// A call that a server answered, or did not.
fn answered(
    talk: &mut AgentCase<'_>,
    called: Called,
    exchange: &Exchange,
    injection: &mut Injection,
) -> (Called, CallRecord) {
    let mut record = calls::record(CallRole::Agent, Some(&called.tool), exchange);
    record.server.clone_from(&called.server);
    let (result, text, is_error) = match &exchange.outcome {
        Outcome::Result(result) => {
            let text = text_of_tool_result(result);
            let text = if text.is_empty() { result.to_string() } else { text };
            (result.clone(), text, result.get("isError") == Some(&Value::Bool(true)))
        }
        Outcome::Error(error) => (json!({"error": error}), format!("error {error}"), true),
        Outcome::TimedOut { after_ms } => {
            injection.unanswered();
            let text = format!("tool `{}` did not respond within {after_ms} ms", called.tool);
            (json!({"content": [{"type": "text", "text": text}], "isError": true}), text, true)
        }
        outcome @ (Outcome::Malformed(_) | Outcome::Refused(_) | Outcome::Closed { .. } | Outcome::Cancelled) => {
            let text = unanswerable(talk, &called, outcome);
            (json!({"content": [{"type": "text", "text": text}], "isError": true}), text, true)
        }
    };
    (Called { result, text, is_error, ..called }, record)
}

/// The text for the model about a call that failed below the protocol; adds a finding too.
fn unanswerable(talk: &mut AgentCase<'_>, called: &Called, outcome: &Outcome) -> String {
    let what = format!("`tools/call` of `{}`", called.tool);
    let Some(mut finding) = calls::no_result(&what, outcome, None) else { return String::new() };
    let text = finding.message.clone();
    finding.severity = Severity::Warning;
    talk.add(finding);
    text
}
