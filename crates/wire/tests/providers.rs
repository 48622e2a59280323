//! Language models over real HTTP: a stand-in on loopback answers as the providers' documentation says they do.

use std::time::Duration;

use mcprove_model::{ChatCall, ChatMessage, ChatReply, ChatTool, Dialect, Provider, ProviderKey, Secret, Usage};
use mcprove_wire::{HttpClient, ModelAsk, ProviderFailure, RetryPolicy, ask_model};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::time::Instant;

const KEY: &str = "sk-stand-in-key-0123456789";

/// One answer of the stand-in.
enum Say {
    /// A status, header fields and a body.
    Answer(u16, &'static str, Value),
    /// The body is promised to be longer than it is.
    Cut(&'static str),
    /// Nothing, for as long as anyone waits.
    Nothing,
}

/// Asks a stand-in that answers so, in order; gives what came of it, and the requests it saw.
async fn asked(
    dialect: Dialect,
    says: Vec<Say>,
    patience: Duration,
) -> (Result<ChatReply, ProviderFailure>, Vec<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let stand_in = tokio::spawn(async move {
        let mut seen = Vec::new();
        for say in says {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            seen.push(read_request(&mut stream).await);
            match say {
                Say::Answer(status, headers, body) => {
                    let body = body.to_string();
                    let head = format!(
                        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{headers}connection: close\r\ncontent-length: {}\r\n\r\n",
                        body.len()
                    );
                    stream.write_all(format!("{head}{body}").as_bytes()).await.expect("written");
                }
                Say::Cut(body) => {
                    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 4000\r\n\r\n";
                    stream.write_all(format!("{head}{body}").as_bytes()).await.expect("written");
                }
                Say::Nothing => std::future::pending::<()>().await,
            }
            stream.shutdown().await.expect("closed");
        }
        seen
    });
    let base_url = match dialect {
        Dialect::Anthropic => format!("http://{address}"),
        Dialect::OpenAi => format!("http://{address}/v1"),
    };
    let key = ProviderKey { variable: "STAND_IN_KEY".into(), value: Some(Secret(KEY.into())) };
    let provider =
        Provider { name: "stand-in".into(), dialect, base_url, key: Some(key), organization: None, prices: Vec::new() };
    let tool = ChatTool {
        name: "search".into(),
        description: "Searches.".into(),
        input_schema: json!({"type": "object", "properties": {"q": {"type": "string"}}}),
    };
    let ask = ModelAsk {
        model: "a-model",
        system: Some("Be brief."),
        messages: &[ChatMessage::User { text: "Find it.".into() }],
        tools: &[tool],
        max_tokens: 64,
    };
    let retry = RetryPolicy { attempts: 3, first: Duration::from_millis(1), longest: Duration::from_millis(2) };
    let reply = ask_model(&HttpClient::default(), &provider, &ask, Instant::now() + patience, retry).await;
    let seen = if stand_in.is_finished() || reply.is_ok() {
        stand_in.await.expect("the stand-in lives")
    } else {
        stand_in.abort();
        Vec::new()
    };
    (reply, seen)
}

async fn read_request(stream: &mut tokio::net::TcpStream) -> String {
    let mut read = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).await.expect("readable");
        read.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&read).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
        if body.len() >= length.parse().expect("a number") {
            return text;
        }
    }
}

fn body(request: &str) -> Value {
    let (_, body) = request.split_once("\r\n\r\n").expect("a body");
    serde_json::from_str(body).expect("JSON")
}

/// As in the documentation of the Messages API, "Tool use".
fn messages_answer() -> Value {
    json!({
        "id": "msg_01Aq9w938a90dw8q", "type": "message", "role": "assistant", "model": "a-model",
        "stop_reason": "tool_use", "stop_sequence": null,
        "content": [
            {"type": "text", "text": "I'll look it up."},
            {"type": "tool_use", "id": "toolu_01A09q90qw90lq917835lq9", "name": "search", "input": {"q": "it"}},
        ],
        "usage": {"input_tokens": 345, "output_tokens": 41},
    })
}

/// As in the documentation of chat completions, "Functions".
fn completions_answer() -> Value {
    json!({
        "id": "chatcmpl-abc123", "object": "chat.completion", "created": 1_699_896_916, "model": "a-model",
        "choices": [{"index": 0, "logprobs": null, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": null, "tool_calls": [
                {"id": "call_abc123", "type": "function", "function": {"name": "search", "arguments": "{\n\"q\": \"it\"\n}"}}],
        }}],
        "usage": {"prompt_tokens": 82, "completion_tokens": 17, "total_tokens": 99},
    })
}

const LONG: Duration = Duration::from_secs(20);

#[tokio::test]
async fn anthropic_is_asked_and_understood() {
    let (reply, seen) = asked(Dialect::Anthropic, vec![Say::Answer(200, "", messages_answer())], LONG).await;
    let call = ChatCall {
        id: "toolu_01A09q90qw90lq917835lq9".into(),
        name: "search".into(),
        arguments: json!({"q": "it"}),
        claims: None,
    };
    let usage = Usage { prompt_tokens: 345, completion_tokens: 41 };
    let text = "I'll look it up.".to_owned();
    assert_eq!(reply, Ok(ChatReply { text, calls: vec![call], truncated: false, usage }));
    assert!(seen[0].starts_with("POST /v1/messages HTTP/1.1\r\n"), "{}", seen[0]);
    assert!(seen[0].contains(&format!("x-api-key: {KEY}\r\n")) && seen[0].contains("anthropic-version: 2023-06-01"));
    let body = body(&seen[0]);
    assert_eq!((&body["system"], &body["max_tokens"]), (&json!("Be brief."), &json!(64)));
    assert_eq!(body["tools"][0]["input_schema"]["properties"]["q"]["type"], "string");
}

#[tokio::test]
async fn openai_is_asked_and_understood() {
    let (reply, seen) = asked(Dialect::OpenAi, vec![Say::Answer(200, "", completions_answer())], LONG).await;
    let call =
        ChatCall { id: "call_abc123".into(), name: "search".into(), arguments: json!({"q": "it"}), claims: None };
    let usage = Usage { prompt_tokens: 82, completion_tokens: 17 };
    assert_eq!(reply, Ok(ChatReply { text: String::new(), calls: vec![call], truncated: false, usage }));
    assert!(seen[0].starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{}", seen[0]);
    assert!(seen[0].contains(&format!("authorization: Bearer {KEY}\r\n")));
    let body = body(&seen[0]);
    assert_eq!((&body["messages"][0]["role"], &body["max_tokens"]), (&json!("system"), &json!(64)));
    assert_eq!(body["tools"][0]["function"]["parameters"]["type"], "object");
}

#[tokio::test]
async fn a_busy_provider_is_asked_again() {
    for dialect in [Dialect::Anthropic, Dialect::OpenAi] {
        let answer = match dialect {
            Dialect::Anthropic => messages_answer(),
            Dialect::OpenAi => completions_answer(),
        };
        let busy = json!({"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}});
        let says = vec![
            Say::Answer(429, "retry-after: 0\r\n", busy.clone()),
            Say::Answer(529, "", busy),
            Say::Answer(200, "", answer),
        ];
        let (reply, seen) = asked(dialect, says, LONG).await;
        assert_eq!(reply.expect("an answer in the end").calls.len(), 1);
        assert_eq!(seen.len(), 3, "every attempt is a request");
        assert_eq!(body(&seen[0]), body(&seen[2]), "the same is asked again");
    }
}

#[tokio::test]
async fn a_provider_that_stays_broken_is_given_up() {
    let broken = || Say::Answer(500, "", json!({"error": {"message": "internal error"}}));
    let (reply, _) = asked(Dialect::OpenAi, vec![broken(), broken(), broken()], LONG).await;
    let failure = reply.expect_err("it never answers");
    assert_eq!(failure.what, "stand-in: the provider failed (HTTP 500): internal error (asked 3 times)");
    assert_eq!(failure.status, Some(500));
}

#[tokio::test]
async fn a_wait_that_is_longer_than_the_time_left_is_not_begun() {
    for wait in ["retry-after: 3600\r\n", "retry-after: 1e19\r\n"] {
        let says = vec![Say::Answer(429, wait, json!({"error": {"message": "later"}}))];
        let (reply, _) = asked(Dialect::Anthropic, says, Duration::from_secs(5)).await;
        let failure = reply.expect_err("it is too long");
        assert!(
            failure.timed_out && failure.what.contains("the time was up before it could be asked again"),
            "{failure:?}"
        );
    }
}

#[tokio::test]
async fn a_key_that_is_refused_is_named_by_its_variable_and_never_shown() {
    for status in [401, 403] {
        let says = vec![Say::Answer(
            status,
            "",
            json!({"error": {"type": "authentication_error", "message": "invalid x-api-key"}}),
        )];
        let (reply, seen) = asked(Dialect::Anthropic, says, LONG).await;
        let failure = reply.expect_err("the key is wrong");
        assert_eq!(failure.what, format!("stand-in: the key was refused (HTTP {status}): invalid x-api-key"));
        assert!(failure.help.as_deref().is_some_and(|help| help.contains("`STAND_IN_KEY`")));
        assert!(!format!("{failure:?}").contains(KEY));
        assert!(seen.len() <= 1, "it is not asked again");
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_or_is_no_answer_is_told() {
    let (reply, _) = asked(Dialect::OpenAi, vec![Say::Cut("{\"choices\": [{\"mess")], LONG).await;
    let failure = reply.expect_err("it breaks off");
    assert!(failure.what.contains("the answer (HTTP 200) breaks off"), "{failure:?}");
    let (reply, _) = asked(Dialect::Anthropic, vec![Say::Answer(200, "", completions_answer())], LONG).await;
    let failure = reply.expect_err("it is of the other dialect");
    assert!(failure.what.contains("has no `content`"), "{failure:?}");
    assert!(failure.help.as_deref().is_some_and(|help| help.contains("`type`")));
    let (reply, _) = asked(Dialect::OpenAi, vec![Say::Answer(400, "", json!({"error": "odd"}))], LONG).await;
    assert!(reply.expect_err("refused").what.contains("the request was refused (HTTP 400)"));
}

#[tokio::test]
async fn a_provider_that_says_nothing_runs_into_the_deadline() {
    let (reply, _) = asked(Dialect::Anthropic, vec![Say::Nothing], Duration::from_millis(200)).await;
    let failure = reply.expect_err("nothing came");
    assert!(failure.timed_out && failure.what.contains("did not answer in time"), "{failure:?}");
}
