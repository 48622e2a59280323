//! The replies that calls get when they are alone: a call that fails alone says nothing about a load, and a reply under load
//! that differs from the one alone is wrong.

use mcprove_judge::reply_shape::{ReplyKind, refused_shape};
use mcprove_model::{
    Exchange, Finding, LoadError, Observation, Outcome, Refused, Revision, shorten, text_of_tool_result,
};
use mcprove_wire::Session;
use serde_json::Value;
use tokio::time::Instant;

use super::recorder::CallVerdict;
use super::workload::{LoadCall, LoadRequest};
use crate::expectations;

/// Number of times a call is made alone.
const ALONE: usize = 2;
/// Characters of an example.
const EXAMPLE: usize = 200;

/// The reply that a call is compared with.
#[derive(Clone, Debug, Default)]
pub(super) struct Reference {
    /// The result that it got alone, each time the same; `None` where it differs by itself or a suite judges it.
    pub(super) result: Option<Value>,
    /// True if its result is marked as an error, as expected.
    pub(super) is_error: bool,
}

impl LoadRequest {
    /// Makes the request and waits for its end.
    pub(super) async fn perform(&self, session: &mut Session, deadline: Instant) -> Exchange {
        match self {
            Self::Tool { name, arguments } => session.call_tool(name, arguments, deadline).await,
            Self::Other { method, params } => session.request(method, params.clone(), deadline).await,
        }
    }
}

/// Makes a call alone; the reason where it fails.
pub(super) async fn reference(
    call: &LoadCall,
    session: &mut Session,
    timeout: std::time::Duration,
) -> Result<Reference, Finding> {
    let mut results: Vec<Value> = Vec::new();
    for _ in 0..ALONE {
        let exchange = call.request.perform(session, Instant::now() + timeout).await;
        let failed = |why: String| {
            Finding::error("fails-alone", format!("`{}` fails before the load begins: {why}", call.name))
                .help("a load says something only about calls that work; fix it, or leave it out")
        };
        if let Some((_, why)) = failure_of(&exchange.outcome) {
            // A test may expect an error.
            if call.expect.is_none() || !matches!(exchange.outcome, Outcome::Error(_) | Outcome::Result(_)) {
                return Err(failed(why));
            }
        }
        let wrong = judge_by_suite(call, &exchange);
        if let Some(wrong) = wrong {
            return Err(failed(wrong));
        }
        results.extend(match exchange.outcome {
            Outcome::Result(result) => Some(result),
            _ => None,
        });
    }
    let is_error = results.first().is_some_and(is_marked);
    let is_same = results.len() == ALONE && results.windows(2).all(|pair| pair[0] == pair[1]);
    let result = results.pop().filter(|_| is_same && call.expect.is_none());
    Ok(Reference { result, is_error })
}

impl Reference {
    /// True if a reply can be judged by it.
    pub(super) fn judges(&self, call: &LoadCall) -> bool {
        self.result.is_some() || call.expect.is_some()
    }

    /// The verdict on a reply; `judged` where it is one of those that are compared.
    pub(super) fn verdict(
        &self,
        call: &LoadCall,
        exchange: &Exchange,
        judged: bool,
        revision: Revision,
    ) -> CallVerdict {
        let is_judged_error = call.expect.is_some() && matches!(exchange.outcome, Outcome::Error(_));
        match failure_of(&exchange.outcome) {
            Some((LoadError::ToolError, _)) if self.is_error => {}
            Some((kind, why)) if !is_judged_error => return CallVerdict::Failed(kind, why),
            Some(_) | None => {}
        }
        if !judged {
            return CallVerdict::Good;
        }
        if let Some(refused) = refused_by_clients(call, exchange, revision) {
            return CallVerdict::Failed(LoadError::WrongReply, refused);
        }
        if let Some(wrong) = judge_by_suite(call, exchange) {
            return CallVerdict::Failed(LoadError::WrongReply, wrong);
        }
        match (&self.result, &exchange.outcome) {
            (Some(alone), Outcome::Result(result)) if alone != result => {
                CallVerdict::Differs(format!("alone: {}; under load: {}", excerpt(alone), excerpt(result)))
            }
            _ => CallVerdict::Good,
        }
    }
}

/// The reason why clients do not take a result, whatever is expected of it.
fn refused_by_clients(call: &LoadCall, exchange: &Exchange, revision: Revision) -> Option<String> {
    let Outcome::Result(result) = &exchange.outcome else { return None };
    let kind = match &call.request {
        LoadRequest::Tool { .. } => ReplyKind::CallTool,
        LoadRequest::Other { method, .. } => match &**method {
            "resources/read" => ReplyKind::ReadResource,
            "prompts/get" => ReplyKind::GetPrompt,
            "completion/complete" => ReplyKind::Complete,
            "tools/list" => ReplyKind::ListTools,
            "resources/list" => ReplyKind::ListResources,
            "resources/templates/list" => ReplyKind::ListResourceTemplates,
            "prompts/list" => ReplyKind::ListPrompts,
            _ => return None,
        },
    };
    refused_shape(kind, revision, result).map(|fault| shorten(&fault, EXAMPLE).into_owned())
}

/// The first check of a suite that does not hold.
fn judge_by_suite(call: &LoadCall, exchange: &Exchange) -> Option<String> {
    let expect = call.expect.as_ref()?;
    let mut seen = match &call.request {
        LoadRequest::Tool { arguments, .. } => {
            let mut seen = Observation::of_tool_call(exchange.outcome.clone());
            seen.arguments = arguments.clone();
            seen
        }
        LoadRequest::Other { .. } => crate::acts::observed(exchange.clone(), ToString::to_string),
    };
    seen.elapsed_us = exchange.elapsed_us;
    let findings = expectations::judge(&expect.case.source, &expect.expect, &seen);
    findings.into_iter().find(|finding| finding.severity.fails()).map(|finding| finding.message)
}

/// The kind of a failure, and its message.
pub(super) fn failure_of(outcome: &Outcome) -> Option<(LoadError, String)> {
    let short = |text: &str| shorten(text, EXAMPLE).into_owned();
    Some(match outcome {
        Outcome::Result(result) if is_marked(result) => (LoadError::ToolError, excerpt(result)),
        Outcome::Result(_) => return None,
        Outcome::Error(error) => (LoadError::RpcError, short(&error.to_string())),
        Outcome::Malformed(malformed) => (LoadError::Malformed, short(&malformed.fault)),
        Outcome::Refused(refused) if is_unanswered(refused) => (LoadError::Closed, short(&refused.what)),
        Outcome::Refused(refused) => (LoadError::Refused, short(&refused.what)),
        Outcome::TimedOut { after_ms } => (LoadError::Timeout, format!("no reply after {after_ms} ms")),
        Outcome::Closed { what, .. } => (LoadError::Closed, short(what)),
        Outcome::Cancelled => (LoadError::Timeout, "no reply in time".to_owned()),
    })
}

/// True if a request over HTTP got no answer at all, such as where nothing listens any more.
pub(super) fn is_unanswered(refused: &Refused) -> bool {
    refused.status.is_none() && refused.evidence.is_empty()
}

fn is_marked(result: &Value) -> bool {
    result.get("isError").and_then(Value::as_bool) == Some(true)
}

fn excerpt(result: &Value) -> String {
    let text = text_of_tool_result(result);
    let text = if text.is_empty() { result.to_string() } else { text };
    format!("`{}`", shorten(&text, EXAMPLE))
}
