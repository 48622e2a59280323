//! Language models over plain HTTP: one file a dialect, and one for asking again.
//!
//! Nothing is streamed: a turn of an agent needs the whole answer. No temperature is sent, because newer models refuse it.
//! Requests are not part of any frame log, so no key can reach one.

mod anthropic;
mod openai;
mod retry;

use bytes::Bytes;
use hyper::{Method, StatusCode};
use mcprove_model::{ChatMessage, ChatReply, ChatTool, Dialect, Provider, bounded_json, escape_line, shorten};
use serde_json::Value;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::transport::http_client::{HttpRequestParts, header, prepare, read_body};
use crate::{HttpClient, Limits};

pub use retry::RetryPolicy;

/// Request to a model.
#[derive(Clone, Copy, Debug)]
pub struct ModelAsk<'a> {
    /// The model's name at its provider.
    pub model: &'a str,
    /// The system prompt.
    pub system: Option<&'a str>,
    /// The conversation so far.
    pub messages: &'a [ChatMessage],
    /// The tools it may call.
    pub tools: &'a [ChatTool],
    /// Maximum number of tokens in the reply.
    pub max_tokens: u64,
}

/// Reason for a missing answer of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderFailure {
    /// Description of the failure, in one line.
    pub what: String,
    /// Advice on what to do next.
    pub help: Option<String>,
    /// The HTTP status, when there was one.
    pub status: Option<u16>,
    /// True if it was the deadline that passed.
    pub timed_out: bool,
}

/// A request before it is one of HTTP.
struct ProviderRequest {
    path: String,
    headers: Vec<(String, String)>,
    body: Value,
}

/// Result of one attempt.
enum Attempt {
    Answered(ChatReply),
    /// It may be asked again; the provider may have said when.
    Busy(ProviderFailure, Option<std::time::Duration>),
    Failed(ProviderFailure),
}

/// Asks a model, and asks again while its provider is busy, until the deadline.
pub async fn ask_model(
    http: &HttpClient,
    provider: &Provider,
    ask: &ModelAsk<'_>,
    deadline: Instant,
    retry: RetryPolicy,
) -> Result<ChatReply, ProviderFailure> {
    let mut asked = 0;
    loop {
        let Ok(attempt) = timeout_at(deadline, attempt(http, provider, ask)).await else {
            return Err(too_late(provider, None));
        };
        asked += 1;
        match attempt {
            Attempt::Answered(reply) => return Ok(reply),
            Attempt::Failed(failure) => return Err(failure),
            Attempt::Busy(failure, after) => {
                let Some(wait) = retry.wait(asked, after) else {
                    let what = format!("{} (asked {asked} times)", failure.what);
                    return Err(ProviderFailure { what, ..failure });
                };
                // A provider may ask for a wait that ends in no time that there is.
                let again = Instant::now().checked_add(wait).filter(|again| *again < deadline);
                let Some(again) = again else { return Err(too_late(provider, Some(&failure))) };
                sleep_until(again).await;
            }
        }
    }
}

async fn attempt(http: &HttpClient, provider: &Provider, ask: &ModelAsk<'_>) -> Attempt {
    let wanted = match provider.dialect {
        Dialect::Anthropic => anthropic::request(provider, ask),
        Dialect::OpenAi => openai::request(provider, ask),
    };
    let mut headers = wanted.headers;
    headers.push(("content-type".to_owned(), "application/json".to_owned()));
    headers.push(("accept".to_owned(), "application/json".to_owned()));
    headers.push(("user-agent".to_owned(), concat!("mcprove/", env!("CARGO_PKG_VERSION")).to_owned()));
    let url = format!("{}{}", provider.base_url, wanted.path);
    let body = Bytes::from(wanted.body.to_string());
    let prepared = match prepare(HttpRequestParts { method: Method::POST, url: &url, headers, wished: &[], body }) {
        Ok(prepared) => prepared,
        // The only header that a user supplies is the key, and the cause of its rejection must not be shown.
        Err(none) => return Attempt::Failed(failure(provider, &none.what, Some("check the key and the address"))),
    };
    let response = match http.send(prepared).await {
        Ok(response) => response,
        Err(none) => return Attempt::Failed(failure(provider, &none.what, Some("check `base_url` and the network"))),
    };
    let status = response.status();
    let after = retry::asked_for(header(&response, "retry-after-ms"), header(&response, "retry-after"));
    let body = match read_body(response.into_body(), Limits::default().message_bytes).await {
        Ok(body) => body,
        Err((_, how)) => {
            let what = format!("the answer (HTTP {}) {how}", status.as_u16());
            let failure = failure(provider, &what, Some("run again; the connection was cut in the middle"));
            return Attempt::Failed(ProviderFailure { status: Some(status.as_u16()), ..failure });
        }
    };
    if status.is_success() { answered(provider, status, &body) } else { refused(provider, status, &body, after) }
}

fn answered(provider: &Provider, status: StatusCode, body: &Bytes) -> Attempt {
    let reply = match bounded_json::value(body) {
        Ok(value) => match provider.dialect {
            Dialect::Anthropic => anthropic::reply(&value),
            Dialect::OpenAi => openai::reply(&value),
        },
        Err(error) => Err(format!("is not JSON: {error}")),
    };
    match reply {
        Ok(reply) => Attempt::Answered(reply),
        Err(fault) => {
            let what = format!("the answer (HTTP {}) {fault}: {}", status.as_u16(), excerpt(body));
            let failure = failure(provider, &what, Some("check that `base_url` and `type` of the provider fit"));
            Attempt::Failed(ProviderFailure { status: Some(status.as_u16()), ..failure })
        }
    }
}

fn refused(provider: &Provider, status: StatusCode, body: &Bytes, after: Option<std::time::Duration>) -> Attempt {
    let said = serde_json::from_slice::<Value>(body).ok();
    // Both dialects say what is wrong at the same place.
    let message = said.as_ref().and_then(|value| value.pointer("/error/message")).and_then(Value::as_str);
    let message = message.map_or_else(|| excerpt(body), |text| shorten(&escape_line(text), 300).into_owned());
    let code = status.as_u16();
    let detail = if message.is_empty() { String::new() } else { format!(": {message}") };
    let (what, help) = match code {
        401 | 403 => (format!("the key was refused (HTTP {code}){detail}"), key_help(provider)),
        404 => (
            format!("the model or the URL does not exist (HTTP 404){detail}"),
            "check `model` and `base_url`".to_owned(),
        ),
        429 => (format!("too many requests (HTTP 429){detail}"), "wait, or run fewer agents concurrently".to_owned()),
        500.. => (format!("the provider failed (HTTP {code}){detail}"), "run again later".to_owned()),
        _ => (format!("the request was refused (HTTP {code}){detail}"), "see the provider's message".to_owned()),
    };
    let failure = ProviderFailure { status: Some(code), ..self::failure(provider, &what, Some(&help)) };
    if code == 429 || code >= 500 { Attempt::Busy(failure, after) } else { Attempt::Failed(failure) }
}

fn key_help(provider: &Provider) -> String {
    match &provider.key {
        Some(key) => format!("check the key in the environment variable `{}`", key.variable),
        None => format!("add `api_key_env` to the provider `{}`", provider.name),
    }
}

fn too_late(provider: &Provider, earlier: Option<&ProviderFailure>) -> ProviderFailure {
    let what = match earlier {
        Some(earlier) => format!("{}, and the time was up before it could be asked again", earlier.what),
        None => format!("{} did not answer in time", provider.name),
    };
    let status = earlier.and_then(|earlier| earlier.status);
    ProviderFailure { what, help: Some("raise `time_budget`".to_owned()), status, timed_out: true }
}

fn failure(provider: &Provider, what: &str, help: Option<&str>) -> ProviderFailure {
    ProviderFailure {
        what: format!("{}: {what}", provider.name),
        help: help.map(str::to_owned),
        status: None,
        timed_out: false,
    }
}

fn excerpt(body: &[u8]) -> String {
    let head = String::from_utf8_lossy(&body[..body.len().min(2_000)]);
    shorten(&escape_line(head.trim()), 300).into_owned()
}
