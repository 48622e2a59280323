//! `prompts/list` and `prompts/get`.

use mcprove_model::{CallRole, Prompts, text_of_prompt};
use serde_json::json;

use super::resources::{List, list};
use super::{Performed, observed};
use crate::calls;
use crate::conversation::Conversation;

pub(super) async fn perform(prompts: &Prompts, talk: &mut Conversation<'_>) -> Performed {
    match prompts {
        Prompts::List { cursor } => {
            list(&List { method: "prompts/list", key: "prompts", cursor: cursor.as_ref() }, talk).await
        }
        Prompts::Get { name, arguments } => {
            let text = talk.text(name);
            let params = json!({"name": text, "arguments": talk.texts(arguments)});
            let exchange = talk.session.request("prompts/get", params, talk.deadline).await;
            talk.record.calls.push(calls::record(CallRole::Act, Some(&text), &exchange));
            Performed {
                seen: observed(exchange, text_of_prompt),
                what: format!("`prompts/get` of `{text}`"),
                at: name.span,
            }
        }
    }
}
