//! Any request, or any bytes.

use bytes::Bytes;
use mcprove_model::{CallRole, Exchange, Outcome, PlannedCheck, Raw};
use serde_json::Value;
use tokio::time::Instant;

use super::{Performed, SETTLE, observed_as_json};
use crate::calls;
use crate::conversation::Conversation;

pub(super) async fn perform(raw: &Raw, checks: &[PlannedCheck], talk: &mut Conversation<'_>) -> Performed {
    // Silence can only be awaited for a while.
    let quiet = checks.iter().any(|planned| planned.check.wants_no_reply());
    let deadline = if quiet { (Instant::now() + SETTLE).min(talk.deadline) } else { talk.deadline };
    let (mut exchange, what, at) = match raw {
        Raw::Message { method, params, notification } => {
            let name = talk.text(method);
            let params = params.as_ref().map_or(Value::Null, |params| talk.json(params));
            let exchange = if *notification {
                talk.session.notify(&name, &params);
                talk.session.listen(deadline.min(Instant::now() + SETTLE)).await;
                nothing(&name)
            } else {
                talk.session.request(&name, params, deadline).await
            };
            (exchange, format!("`{name}`"), method.span)
        }
        Raw::Handshake(asked) => {
            let result = talk.session.negotiated().result.clone();
            (
                Exchange { outcome: Outcome::Result(result), ..nothing("initialize") },
                "`initialize`".to_owned(),
                asked.span,
            )
        }
        Raw::Text(text) => {
            let mut line = talk.text(text);
            if !line.ends_with('\n') {
                line.push('\n');
            }
            let exchange = talk.session.exchange_raw(Bytes::from(line), deadline).await;
            (exchange, "the raw text".to_owned(), text.span)
        }
    };
    if quiet && matches!(exchange.outcome, Outcome::TimedOut { .. }) {
        exchange.outcome = Outcome::Cancelled;
    }
    talk.record.calls.push(calls::record(CallRole::Act, None, &exchange));
    let is_error =
        matches!(&exchange.outcome, Outcome::Result(result) if result.get("isError") == Some(&Value::Bool(true)));
    let mut seen = observed_as_json(exchange);
    seen.is_error = is_error;
    if let Raw::Message { params: Some(params), .. } = raw {
        seen.arguments = talk.json(params).get("arguments").cloned().unwrap_or_default();
    }
    Performed { seen, what, at }
}

fn nothing(method: &str) -> Exchange {
    Exchange {
        method: method.to_owned(),
        request: Bytes::new(),
        reply: None,
        outcome: Outcome::Cancelled,
        elapsed_us: 0,
    }
}
