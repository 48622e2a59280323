//! `tools/call`, plainly, cancelled on the way, or with its first reply lost.

use std::time::Duration;

use mcprove_model::{CallRole, CallTool, Exchange, Finding, Observation, Outcome};
use serde_json::Value;
use tokio::time::Instant;

use super::{Performed, SETTLE};
use crate::conversation::Conversation;
use crate::{calls, steps, trust};

pub(super) async fn perform(call: &CallTool, talk: &mut Conversation<'_>) -> Performed {
    let name = talk.text(&call.tool);
    let args = talk.json(&call.args);
    talk.session.claim(call.claims.clone());
    let exchange = match call.cancel_after {
        Some(after) => cancelled(&name, &args, after, talk).await,
        None if call.lose_response => lost_and_repeated(&name, &args, talk).await,
        None => talk.session.call_tool(&name, &args, talk.deadline).await,
    };
    talk.session.claim(None);
    talk.record.calls.push(calls::record(CallRole::Act, Some(&name), &exchange));
    trust::trace(&talk.name_of(None), (&name, &args), &exchange.outcome, talk);
    let mut seen = Observation::of_tool_call(exchange.outcome);
    seen.elapsed_us = exchange.elapsed_us;
    Performed { seen, what: format!("`tools/call` of `{name}`"), at: call.tool.span }
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
        talk.record.findings.push(finding);
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
