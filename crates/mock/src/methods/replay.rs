//! Requests answered from a recording.

use std::sync::Arc;

use mcprove_model::Revision;
use serde_json::{Value, json};

use super::tools::meet_fault;
use crate::manifest::Level;
use crate::mock::Offer;
use crate::rpc::{Ended, INTERNAL_ERROR, Layer, Refusal, Request};
use crate::session::{Agreed, Session};

pub(super) async fn answer(session: &Arc<Session>, request: &Request) -> Result<Value, Ended> {
    let Offer::Recording(recording) = &session.mock.offer else {
        return Err(Refusal::new(INTERNAL_ERROR, "the mock has no recording").into());
    };
    if request.method == "tools/call" {
        let tool = request.params.get("name").and_then(Value::as_str).unwrap_or_default();
        meet_fault(session, tool).await?;
    }
    let recorded = recording.answer(&mut session.state().replayed, &request.method, &request.params);
    match recorded {
        Ok(Ok(result)) => {
            if request.method == "initialize" {
                agree(session, request, &result);
            }
            Ok(result)
        }
        Ok(Err(error)) => Err(Ended::Refused(Refusal {
            code: error.get("code").and_then(Value::as_i64).unwrap_or(INTERNAL_ERROR),
            message: error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned(),
            data: error.get("data").cloned(),
            layer: Layer::Content,
        })),
        // Pings are always answered.
        Err(_) if request.method == "ping" => Ok(json!({})),
        Err(refusal) => Err(refusal.into()),
    }
}

/// Takes over what the recorded handshake agreed on.
fn agree(session: &Session, request: &Request, result: &Value) {
    let named = result.get("protocolVersion").and_then(Value::as_str);
    session.state().agreed = Some(Agreed {
        revision: named.and_then(Revision::parse).unwrap_or(Revision::NEWEST_LEGACY),
        capabilities: request.params.get("capabilities").cloned().unwrap_or_else(|| json!({})),
        log_level: Level::Debug,
    });
}
