//! Chat completions as `OpenAI` has them, and Ollama, vLLM, llama.cpp and many others after it.

use mcprove_model::{ChatCall, ChatMessage, ChatReply, Provider, Usage};
use serde_json::{Value, json};

use super::{ModelAsk, ProviderRequest};

pub(super) fn request(provider: &Provider, ask: &ModelAsk<'_>) -> ProviderRequest {
    let system = ask.system.map(|text| json!({"role": "system", "content": text}));
    let messages: Vec<Value> = system.into_iter().chain(ask.messages.iter().flat_map(messages)).collect();
    let mut body = json!({"model": ask.model, "messages": messages});
    // The newer name is refused by servers that follow the older API, and the older one by newer models of OpenAI's.
    let limit = if provider.base_url.contains("api.openai.com") { "max_completion_tokens" } else { "max_tokens" };
    body[limit] = ask.max_tokens.into();
    if !ask.tools.is_empty() {
        let tool = |tool: &mcprove_model::ChatTool| {
            let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.input_schema});
            json!({"type": "function", "function": function})
        };
        body["tools"] = ask.tools.iter().map(tool).collect::<Vec<_>>().into();
    }
    let mut headers = Vec::new();
    if let Some(value) = provider.key.as_ref().and_then(|key| key.value.as_ref()) {
        headers.push(("authorization".to_owned(), format!("Bearer {}", value.0)));
    }
    if let Some(organization) = &provider.organization {
        headers.push(("openai-organization".to_owned(), organization.clone()));
    }
    ProviderRequest { path: "/chat/completions".to_owned(), headers, body }
}

fn messages(message: &ChatMessage) -> Vec<Value> {
    match message {
        ChatMessage::User { text } => vec![json!({"role": "user", "content": text})],
        ChatMessage::Assistant { text, calls } => {
            let mut said = json!({"role": "assistant", "content": text});
            if !calls.is_empty() {
                let call = |call: &ChatCall| {
                    // Arguments that were not JSON are returned unchanged.
                    let arguments = match &call.arguments {
                        Value::String(raw) => raw.clone(),
                        other => other.to_string(),
                    };
                    let function = json!({"name": call.name, "arguments": arguments});
                    json!({"id": call.id, "type": "function", "function": function})
                };
                said["tool_calls"] = calls.iter().map(call).collect::<Vec<_>>().into();
            }
            vec![said]
        }
        ChatMessage::Results { results } => results
            .iter()
            .map(|result| {
                // The format has no error flag for results.
                let text = if result.is_error { format!("error: {}", result.text) } else { result.text.clone() };
                json!({"role": "tool", "tool_call_id": result.id, "content": text})
            })
            .collect(),
    }
}

pub(super) fn reply(value: &Value) -> Result<ChatReply, String> {
    let choice = value.pointer("/choices/0").ok_or("has no `choices`")?;
    let message = choice.get("message").ok_or("has no `message`")?;
    let mut calls = Vec::new();
    for (number, call) in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let name = call.pointer("/function/name").and_then(Value::as_str);
        let arguments = match call.pointer("/function/arguments") {
            Some(Value::String(text)) if text.trim().is_empty() => json!({}),
            Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone())),
            Some(Value::Null) | None => json!({}),
            Some(other) => other.clone(),
        };
        // Some local servers leave out the id.
        let id = call.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
        calls.push(ChatCall {
            id: id.map_or_else(|| format!("call_{number}"), str::to_owned),
            name: name.ok_or("has a tool call without a name")?.to_owned(),
            arguments,
            claims: None,
        });
    }
    let tokens = |key: &str| value.pointer(&format!("/usage/{key}")).and_then(Value::as_u64).unwrap_or_default();
    Ok(ChatReply {
        text: message.get("content").and_then(Value::as_str).unwrap_or_default().to_owned(),
        calls,
        truncated: choice.get("finish_reason").and_then(Value::as_str) == Some("length"),
        usage: Usage { prompt_tokens: tokens("prompt_tokens"), completion_tokens: tokens("completion_tokens") },
    })
}

#[cfg(test)]
mod tests {
    use mcprove_model::{ChatResult, Dialect};

    use super::*;

    fn provider(base_url: &str) -> Provider {
        Provider {
            name: "local".into(),
            dialect: Dialect::OpenAi,
            base_url: base_url.into(),
            key: None,
            organization: Some("org".into()),
            prices: Vec::new(),
        }
    }

    #[test]
    fn a_conversation_becomes_messages() {
        let call = ChatCall { id: "c1".into(), name: "t".into(), arguments: json!({"a": 1}), claims: None };
        let messages = [
            ChatMessage::User { text: "hi".into() },
            ChatMessage::Assistant { text: String::new(), calls: vec![call] },
            ChatMessage::Results { results: vec![ChatResult { id: "c1".into(), text: "no".into(), is_error: true }] },
        ];
        let ask = ModelAsk { model: "m", system: Some("s"), messages: &messages, tools: &[], max_tokens: 9 };
        let wanted = request(&provider("http://localhost:1/v1"), &ask);
        assert_eq!(wanted.headers, [("openai-organization".to_owned(), "org".to_owned())]);
        assert_eq!(
            wanted.body,
            json!({
                "model": "m", "max_tokens": 9,
                "messages": [
                    {"role": "system", "content": "s"},
                    {"role": "user", "content": "hi"},
                    {"role": "assistant", "content": "", "tool_calls": [
                        {"id": "c1", "type": "function", "function": {"name": "t", "arguments": "{\"a\":1}"}}]},
                    {"role": "tool", "tool_call_id": "c1", "content": "error: no"},
                ],
            })
        );
        let wanted = request(&provider("https://api.openai.com/v1"), &ask);
        assert_eq!(wanted.body["max_completion_tokens"], 9);
    }

    #[test]
    fn an_answer_is_text_and_calls() {
        let value = json!({
            "choices": [{"finish_reason": "tool_calls", "message": {"content": null, "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "search", "arguments": "{\"q\":\"x\"}"}},
                {"type": "function", "function": {"name": "read", "arguments": "{broken"}},
                {"type": "function", "function": {"name": "list", "arguments": ""}},
            ]}}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 2},
        });
        let reply = reply(&value).expect("an answer");
        let told: Vec<String> =
            reply.calls.iter().map(|call| format!("{} {} {}", call.id, call.name, call.arguments)).collect();
        assert_eq!(told, ["a search {\"q\":\"x\"}", "call_1 read \"{broken\"", "call_2 list {}"]);
        assert_eq!(reply.usage.total(), 9);
        assert!(super::reply(&json!({"choices": []})).is_err());
        let cut = json!({"choices": [{"finish_reason": "length", "message": {"content": "and th"}}]});
        assert!(super::reply(&cut).expect("an answer").truncated);
    }
}
