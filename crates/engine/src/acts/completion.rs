//! `completion/complete`.

use mcprove_model::{CallRole, Completion};
use serde_json::json;

use super::{Performed, observed_as_json};
use crate::calls;
use crate::conversation::Conversation;

pub(super) async fn perform(completion: &Completion, talk: &mut Conversation<'_>) -> Performed {
    let mut params = json!({"ref": talk.json(&completion.reference), "argument": talk.texts(&completion.argument)});
    if let Some(context) = &completion.context {
        params["context"] = talk.json(context);
    }
    let exchange = talk.session.request("completion/complete", params, talk.deadline).await;
    talk.record.calls.push(calls::record(CallRole::Act, None, &exchange));
    Performed {
        seen: observed_as_json(exchange),
        what: "`completion/complete`".to_owned(),
        at: completion.reference.span,
    }
}
