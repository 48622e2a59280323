//! The Messages API of Anthropic.

use mcprove_model::{ChatCall, ChatMessage, ChatReply, Provider, Usage};
use serde_json::{Value, json};

use super::{ModelAsk, ProviderRequest};

/// The version of the API that is spoken.
const VERSION: &str = "2023-06-01";

pub(super) fn request(provider: &Provider, ask: &ModelAsk<'_>) -> ProviderRequest {
    let mut body = json!({
        "model": ask.model,
        "max_tokens": ask.max_tokens,
        "messages": ask.messages.iter().map(message).collect::<Vec<_>>(),
    });
    if let Some(system) = ask.system {
        body["system"] = system.into();
    }
    if !ask.tools.is_empty() {
        let tool = |tool: &mcprove_model::ChatTool| json!({"name": tool.name, "description": tool.description, "input_schema": tool.input_schema});
        body["tools"] = ask.tools.iter().map(tool).collect::<Vec<_>>().into();
    }
    let mut headers = vec![("anthropic-version".to_owned(), VERSION.to_owned())];
    if let Some(value) = provider.key.as_ref().and_then(|key| key.value.as_ref()) {
        headers.push(("x-api-key".to_owned(), value.0.clone()));
    }
    let path = if provider.base_url.ends_with("/v1") { "/messages" } else { "/v1/messages" };
    ProviderRequest { path: path.to_owned(), headers, body }
}

fn message(message: &ChatMessage) -> Value {
    match message {
        ChatMessage::User { text } => json!({"role": "user", "content": text}),
        ChatMessage::Assistant { text, calls } => {
            // Empty text is refused.
            let said = (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}));
            let used = calls
                .iter()
                .map(|call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}));
            let mut content: Vec<Value> = said.into_iter().chain(used).collect();
            if content.is_empty() {
                content.push(json!({"type": "text", "text": "(no answer)"}));
            }
            json!({"role": "assistant", "content": content})
        }
        ChatMessage::Results { results } => {
            let result = |result: &mcprove_model::ChatResult| {
                json!({
                    "type": "tool_result",
                    "tool_use_id": result.id,
                    "content": result.text,
                    "is_error": result.is_error,
                })
            };
            json!({"role": "user", "content": results.iter().map(result).collect::<Vec<_>>()})
        }
    }
}

pub(super) fn reply(value: &Value) -> Result<ChatReply, String> {
    let content = value.get("content").and_then(Value::as_array).ok_or("has no `content`")?;
    let mut reply = ChatReply::default();
    for block in content {
        match block.get("type").and_then(Value::as_str) {
            Some("text") => reply.text.push_str(block.get("text").and_then(Value::as_str).unwrap_or_default()),
            Some("tool_use") => {
                let text = |key: &str| block.get(key).and_then(Value::as_str).map(str::to_owned);
                reply.calls.push(ChatCall {
                    id: text("id").ok_or("has a `tool_use` without `id`")?,
                    name: text("name").ok_or("has a `tool_use` without `name`")?,
                    arguments: block.get("input").cloned().unwrap_or_else(|| json!({})),
                    claims: None,
                });
            }
            // Thinking and the like is the model's own business.
            Some(_) | None => {}
        }
    }
    reply.truncated = value.get("stop_reason").and_then(Value::as_str) == Some("max_tokens");
    let tokens = |key: &str| value.pointer(&format!("/usage/{key}")).and_then(Value::as_u64).unwrap_or_default();
    reply.usage = Usage {
        prompt_tokens: tokens("input_tokens")
            + tokens("cache_creation_input_tokens")
            + tokens("cache_read_input_tokens"),
        completion_tokens: tokens("output_tokens"),
    };
    Ok(reply)
}

#[cfg(test)]
mod tests {
    use std::slice;

    use mcprove_model::{ChatResult, ChatTool, Dialect, ProviderKey, Secret};

    use super::*;

    fn provider() -> Provider {
        let key = ProviderKey { variable: "K".into(), value: Some(Secret("s3cret".into())) };
        Provider {
            name: "anthropic".into(),
            dialect: Dialect::Anthropic,
            base_url: "https://api.anthropic.com".into(),
            key: Some(key),
            organization: None,
            prices: Vec::new(),
        }
    }

    #[test]
    fn a_conversation_becomes_messages() {
        let tool = ChatTool { name: "t".into(), description: "d".into(), input_schema: json!({"type": "object"}) };
        let call = ChatCall { id: "c1".into(), name: "t".into(), arguments: json!({"a": 1}), claims: None };
        let messages = [
            ChatMessage::User { text: "hi".into() },
            ChatMessage::Assistant { text: String::new(), calls: vec![call] },
            ChatMessage::Results { results: vec![ChatResult { id: "c1".into(), text: "no".into(), is_error: true }] },
        ];
        let ask = ModelAsk {
            model: "claude",
            system: Some("be brief"),
            messages: &messages,
            tools: slice::from_ref(&tool),
            max_tokens: 9,
        };
        let wanted = request(&provider(), &ask);
        assert_eq!(wanted.path, "/v1/messages");
        assert!(wanted.headers.contains(&("x-api-key".into(), "s3cret".into())));
        assert_eq!(
            wanted.body,
            json!({
                "model": "claude", "max_tokens": 9, "system": "be brief",
                "tools": [{"name": "t", "description": "d", "input_schema": {"type": "object"}}],
                "messages": [
                    {"role": "user", "content": "hi"},
                    {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "t", "input": {"a": 1}}]},
                    {"role": "user", "content": [
                        {"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": true}]},
                ],
            })
        );
    }

    #[test]
    fn an_answer_is_text_and_calls() {
        let value = json!({
            "content": [
                {"type": "thinking", "thinking": "…"},
                {"type": "text", "text": "Let me look."},
                {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"q": "x"}},
            ],
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 3},
        });
        let reply = reply(&value).expect("an answer");
        assert_eq!((reply.text.as_str(), reply.truncated), ("Let me look.", false));
        assert_eq!(
            reply.calls,
            [ChatCall { id: "toolu_1".into(), name: "search".into(), arguments: json!({"q": "x"}), claims: None }]
        );
        assert_eq!(reply.usage, Usage { prompt_tokens: 15, completion_tokens: 3 });
        assert!(super::reply(&json!({"type": "message"})).is_err());
        assert!(super::reply(&json!({"content": [], "stop_reason": "max_tokens"})).expect("an answer").truncated);
    }
}
