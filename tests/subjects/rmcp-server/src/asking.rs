//! Tools that ask the client while they work: a model, the user, and for its folders. Server requests are gone from the
//! stateless revision, so these are tools for legacy clients.

use rmcp::model::{
    CallToolResult, ClientResult, CreateMessageRequestParams, ElicitRequest, ElicitRequestParams, ElicitationSchema,
    SamplingContent, SamplingMessage, SamplingMessageContentBlock, ServerRequest,
};
use rmcp::service::ServiceError;
use rmcp::{ErrorData, Peer, RoleServer};
use serde_json::json;

use crate::text;

/// Asks a model for a draft, and then what it thinks of the draft: two requests in one call.
pub(crate) async fn summarise(what: &str, peer: &Peer<RoleServer>) -> Result<CallToolResult, ErrorData> {
    let mut answers = Vec::new();
    for (question, tokens) in [(format!("Summarise: {what}"), 100), ("Is that a good summary?".to_owned(), 10)] {
        let asked = CreateMessageRequestParams::new(vec![SamplingMessage::user_text(question)], tokens)
            .with_system_prompt("Be brief.");
        match peer.create_message(asked).await {
            Ok(answer) => answers.push(format!("{} [{}]", said(answer.message.content), answer.model)),
            Err(error) => return Ok(refused(&error)),
        }
    }
    Ok(CallToolResult::success(text(&answers.join("; "))))
}

/// Asks the user for a number of seats.
pub(crate) async fn book(peer: &Peer<RoleServer>) -> Result<CallToolResult, ErrorData> {
    let form = ElicitationSchema::builder().required_integer("seats", 1, 9).build();
    let requested_schema = form.map_err(|error| ErrorData::internal_error(error, None))?;
    let message = "How many seats?".to_owned();
    let params = ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema };
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
    match peer.send_request(request).await {
        Ok(ClientResult::ElicitResult(answer)) => {
            let answer = json!({"action": answer.action, "content": answer.content});
            Ok(CallToolResult::success(text(&answer.to_string())))
        }
        Ok(_) => Ok(CallToolResult::error(text("the client answered something else"))),
        Err(error) => Ok(refused(&error)),
    }
}

/// Asks for the folders of the client.
pub(crate) async fn folders(peer: &Peer<RoleServer>) -> CallToolResult {
    match peer.list_roots().await {
        Ok(list) => {
            let uris: Vec<String> = list.roots.into_iter().map(|root| root.uri).collect();
            CallToolResult::success(text(&uris.join("\n")))
        }
        Err(error) => refused(&error),
    }
}

fn said(content: SamplingContent<SamplingMessageContentBlock>) -> String {
    let blocks = match content {
        SamplingContent::Single(block) => vec![block],
        SamplingContent::Multiple(blocks) => blocks,
    };
    let texts = blocks.into_iter().filter_map(|block| match block {
        SamplingMessageContentBlock::Text(text) => Some(text.text),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn refused(error: &ServiceError) -> CallToolResult {
    CallToolResult::error(text(&format!("the client refused: {error}")))
}
