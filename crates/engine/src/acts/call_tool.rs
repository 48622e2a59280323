//! `tools/call`, plainly, cancelled on the way, or with its first reply lost.

use std::time::Duration;

use mcprove_model::{
    BesideCall, CallRole, CallTool, Exchange, Finding, InjectedError, Observation, Outcome, PlannedCheck, RpcError,
    Transform,
};
use serde_json::Value;
use tokio::time::Instant;

use super::{Performed, SETTLE};
use crate::conversation::Conversation;
use crate::pipelining::Sent;
use crate::{calls, reply_shape, steps, transform, trust};

pub(super) async fn perform(call: &CallTool, checks: &[PlannedCheck], talk: &mut Conversation<'_>) -> Performed {
    // What few cases ask for is kept out of the state of all others.
    if call.repeat > 1 {
        return Box::pin(repeated(call, checks, talk)).await;
    }
    if let Some(sent) = talk.pipeline.sent.take() {
        return answered(call, sent, talk).await;
    }
    if let Some(injected) = &call.injected {
        return not_called(call, injected, talk);
    }
    let name = talk.text(&call.tool);
    let args = talk.json(&call.args);
    let (name, args) = match &call.transform {
        None => (name, args),
        Some(rewriting) => match Box::pin(transform::request(rewriting, name, args, talk)).await {
            Ok(rewritten) => rewritten,
            Err(reason) => return not_rewritten(call, reason, talk),
        },
    };
    talk.session.claim(call.claims.as_deref().cloned());
    let mut exchange = match call.cancel_after {
        Some(after) => cancelled(&name, &args, after, talk).await,
        None if call.lose_response => lost_and_repeated(&name, &args, talk).await,
        None if !call.beside.is_empty() => Box::pin(together(&name, &args, &call.beside, talk)).await,
        None => talk.session.call_tool(&name, &args, talk.deadline).await,
    };
    talk.session.claim(None);
    if let Some(rewriting) = &call.transform
        && let Err(reason) = Box::pin(rewrite_reply(rewriting, &name, &mut exchange, talk)).await
    {
        return not_rewritten(call, reason, talk);
    }
    performed(call, &name, args, exchange, talk)
}

/// Replaces the result by what the suite makes of it; its shape is judged as it came.
async fn rewrite_reply(
    rewriting: &Transform,
    name: &str,
    exchange: &mut Exchange,
    talk: &mut Conversation<'_>,
) -> Result<(), String> {
    let Outcome::Result(result) = &exchange.outcome else { return Ok(()) };
    let shape = reply_shape::judge(&format!("`tools/call` of `{name}`"), &exchange.outcome, talk);
    talk.record.findings.extend(shape);
    let rewritten = transform::response(rewriting, result, name, talk).await?;
    exchange.outcome = Outcome::Result(rewritten);
    Ok(())
}

/// A call whose request or reply could not be rewritten.
fn not_rewritten(call: &CallTool, reason: String, talk: &mut Conversation<'_>) -> Performed {
    let span = call.transform.as_ref().map_or(call.tool.span, |transform| transform.span);
    talk.record.findings.push(Finding::error("transform", reason).at(talk.place(span)));
    let seen = Observation::new(Outcome::Cancelled, String::new());
    Performed { seen, what: "the call".to_owned(), at: call.tool.span }
}

/// The error that stands in for the answer; the server is not called, which the report says.
fn not_called(call: &CallTool, injected: &InjectedError, talk: &mut Conversation<'_>) -> Performed {
    let note = format!("the error `{}` stands in for the answer; the server was not called", injected.name);
    talk.record.findings.push(Finding::note("injected-error", note).at(talk.place(call.tool.span)));
    let error = RpcError { code: injected.code, message: injected.message.clone(), data: None };
    let mut seen = Observation::of_tool_call(Outcome::Error(error));
    seen.arguments = talk.json(&call.args);
    Performed { seen, what: format!("`tools/call` of `{}`", talk.text(&call.tool)), at: call.tool.span }
}

/// Awaits the answer to a call that was sent before the case began.
async fn answered(call: &CallTool, sent: Sent, talk: &mut Conversation<'_>) -> Performed {
    let Sent { id, name, args, is_quick } = sent;
    if is_quick {
        talk.session.stay_awake_for(id).await;
    }
    let exchange = talk.session.finish_call(id, &name, &args, talk.deadline).await;
    performed(call, &name, args, exchange, talk)
}

/// Takes down a call that was made.
fn performed(call: &CallTool, name: &str, args: Value, exchange: Exchange, talk: &mut Conversation<'_>) -> Performed {
    talk.record.calls.push(calls::record(CallRole::Act, Some(name), &exchange));
    trust::trace(&talk.name_of(None), name, &args, &exchange.outcome, talk);
    let what = format!("`tools/call` of `{name}`");
    Performed { seen: observed(exchange, args), what, at: call.tool.span }
}

fn observed(exchange: Exchange, arguments: Value) -> Observation {
    let mut seen = Observation::of_tool_call(exchange.outcome);
    seen.elapsed_us = exchange.elapsed_us;
    seen.arguments = arguments;
    seen
}

/// Calls again and again; ends with the first answer that is not as expected, or else with the last.
async fn repeated(call: &CallTool, checks: &[PlannedCheck], talk: &mut Conversation<'_>) -> Performed {
    let name = talk.text(&call.tool);
    let mut number = 1;
    loop {
        let args = talk.json(&call.args);
        let exchange = talk.session.call_tool(&name, &args, talk.deadline).await;
        let record = calls::record(CallRole::Act, Some(&name), &exchange);
        let seen = observed(exchange, args);
        let holds = match &seen.outcome {
            // What judges decide is known later, of the last answer.
            Outcome::Result(_) | Outcome::Error(_) => {
                let facts = checks.iter().filter(|planned| !planned.check.is_model_graded());
                facts.into_iter().all(|planned| planned.check.judge(&seen).is_ok())
            }
            Outcome::Malformed(_)
            | Outcome::Refused(_)
            | Outcome::TimedOut { .. }
            | Outcome::Closed { .. }
            | Outcome::Cancelled => false,
        };
        if !holds || number == call.repeat {
            talk.record.calls.push(record);
            let what = format!("`tools/call` of `{name}` (call {number} of {})", call.repeat);
            return Performed { seen, what, at: call.tool.span };
        }
        number += 1;
    }
}

/// Sends a call and concurrent calls before any answer is awaited; the others must be answered too.
async fn together(name: &str, args: &Value, beside: &[BesideCall], talk: &mut Conversation<'_>) -> Exchange {
    talk.session.learn_schemas(talk.deadline).await;
    let params = talk.session.tool_params(name, args);
    let id = talk.session.start("tools/call", &params);
    let mut others = Vec::new();
    for other in beside {
        let other_name = talk.text(&other.tool);
        let params = talk.session.tool_params(&other_name, &talk.json(&other.args));
        others.push((other_name, talk.session.start("tools/call", &params), other.tool.span));
    }
    let exchange = talk.session.finish(id, talk.deadline).await;
    for (other, id, span) in others {
        let exchange = talk.session.finish(id, talk.deadline).await;
        talk.record.calls.push(calls::record(CallRole::Setup, Some(&other), &exchange));
        if matches!(exchange.outcome, Outcome::Result(_) | Outcome::Error(_)) {
            continue;
        }
        let place = talk.place(span);
        let what = format!("`tools/call` of `{other}`, which was open at the same time,");
        if let Some(finding) = calls::no_result(&what, &exchange.outcome, Some(place)) {
            talk.record.no_result(finding, &exchange.outcome);
        }
    }
    exchange
}

/// Calls, cancels after a while, and makes sure that the server keeps quiet about it and lives on.
async fn cancelled(name: &str, args: &Value, after: Duration, talk: &mut Conversation<'_>) -> Exchange {
    let params = talk.session.tool_params(name, args);
    let id = talk.session.start("tools/call", &params);
    let until = (Instant::now() + after).min(talk.deadline);
    if talk.session.listen_until(until, |session| session.is_answered(id)).await {
        return talk.session.finish(id, talk.deadline).await;
    }
    talk.session.cancel(id, "cancelled by the test").await;
    let mut exchange = talk.session.give_up(id);
    let quiet = (Instant::now() + SETTLE).min(talk.deadline);
    if talk.session.listen_until(quiet, |session| session.answered_after_cancel(id)).await {
        let text = format!("`{name}` was answered although it had been cancelled");
        talk.record.findings.push(Finding::warning("reply-after-cancel", text));
    }
    let alive = talk.session.ping(talk.deadline).await;
    if let Some(finding) = calls::no_result("the request after the cancellation", &alive.outcome, None) {
        talk.record.no_result(finding, &alive.outcome);
    }
    exchange.outcome = Outcome::Cancelled;
    exchange
}

/// Calls twice, as a client that lost the first reply would, and compares what the verify steps see after each.
async fn lost_and_repeated(name: &str, args: &Value, talk: &mut Conversation<'_>) -> Exchange {
    let first = talk.session.call_tool(name, args, talk.deadline).await;
    talk.record.calls.push(calls::record(CallRole::Act, Some(name), &first));
    let verify = &talk.case.verify;
    let before = steps::states(verify, talk).await;
    let second = talk.session.call_tool(name, args, talk.deadline).await;
    let after = steps::states(verify, talk).await;
    if let Some(at) = (0..before.len()).find(|at| before[*at] != after[*at]) {
        let text =
            format!("`{name}` applied its effect twice: the state changed again when the lost call was repeated");
        let mut finding = Finding::error("applied-twice", text)
            .at(talk.place(verify[at].call.subject().span))
            .help("make the tool idempotent, or let callers pass a key by which it knows a repetition");
        finding.expected = Some(format!("after the first call: {}", before[at]));
        finding.actual = Some(format!("after the repetition: {}", after[at]));
        talk.record.findings.push(finding);
    }
    second
}
