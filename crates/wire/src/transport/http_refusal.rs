//! Explanations of HTTP responses that are not messages, in one line, with advice on what to do next.

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::{Method, Response, StatusCode};
use mcprove_model::{Refused, escape_line, shorten};
use tokio::time::timeout;

use super::http_client::{NoResponse, header, read_body};
use crate::line_pipe::excerpt;
use crate::message::{Message, Reply, ReplyBody, classify};
use crate::sse_parser::SseParser;

/// Length of a response that is kept as evidence if it is not a message.
const EVIDENCE: usize = 16 << 10;
/// Length of it that is read, because it may turn out to be a message.
const READ: usize = 1 << 20;
/// Time limit for its body where nothing depends on it: the head is enough for an explanation.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time limit for its body where it may be the reply to a request. The deadline of the request holds, too.
const LONG_PATIENCE: Duration = Duration::from_secs(10);

/// An answer that is not what was asked for.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) refused: Refused,
    /// The JSON-RPC reply that it nevertheless carries.
    pub(super) reply: Option<(Reply, Bytes)>,
}

/// Reads an answer that is not what was asked for and says what it means.
pub(super) async fn refusal(response: Response<Incoming>, method: &Method, limit: usize) -> Refusal {
    let head = explain(&response, method);
    read_refusal(response, head, limit, PATIENCE).await
}

/// The refusal of a request as far as the head of its answer says, and the rest of it, which is yet to be awaited.
pub(super) fn refusal_of_request(
    response: Response<Incoming>,
    limit: usize,
) -> (Refused, impl Future<Output = Refusal>) {
    let head = explain(&response, &Method::POST);
    let refused = without_body(head.clone(), response.status());
    (refused, read_refusal(response, head, limit, LONG_PATIENCE))
}

/// A refusal whose body did not come.
fn without_body((what, help): (String, String), status: StatusCode) -> Refused {
    Refused {
        what: format!("{what}, and the body of its answer did not come"),
        help: Some(help),
        evidence: Bytes::new(),
        status: Some(status.as_u16()),
        may_have_result: true,
    }
}

async fn read_refusal(
    response: Response<Incoming>,
    explained: (String, String),
    limit: usize,
    patience: Duration,
) -> Refusal {
    let status = response.status();
    let Ok(read) = timeout(patience, read_body(response.into_body(), limit.min(READ))).await else {
        return Refusal { refused: without_body(explained, status), reply: None };
    };
    let (body, broken) = match read {
        Ok(body) => (body, None),
        Err((body, how)) => (body, Some(how)),
    };
    let message = classify(&body);
    let has_hidden_result = has_result_in_list(&message) || has_result_in_stream(&body);
    let reply = match message {
        Message::Reply(reply) => Some((reply, body.clone())),
        Message::Request { .. } | Message::Notification { .. } | Message::Batch(_) | Message::NonProtocol(_) => None,
    };
    let (mut what, help) = explained;
    if status.is_success() && body.is_empty() {
        what = format!("the server took the request (HTTP {}) and answered with nothing", status.as_u16());
    }
    if let Some((Reply { body: ReplyBody::Error(error), .. }, _)) = &reply {
        what = format!("{what}: {}", shorten(&escape_line(&error.message), 200));
    }
    // Half a page is still a page.
    let broken = broken.filter(|how| how.starts_with("breaks off") || looks_like_messages(&body));
    if let Some(how) = &broken {
        what = format!("{what}, and the body of its answer {how}");
    } else if has_hidden_result {
        what = format!("{what}, with a JSON-RPC result in its body");
    }
    let may_have_result = broken.is_some() || has_hidden_result;
    // A copy: a slice would keep the whole body.
    let evidence = excerpt(&body, EVIDENCE);
    Refusal {
        refused: Refused { what, help: Some(help), evidence, status: Some(status.as_u16()), may_have_result },
        reply,
    }
}

fn has_result_in_list(message: &Message) -> bool {
    let is_result = |message: &Message| matches!(message, Message::Reply(Reply { body: ReplyBody::Result(_), .. }));
    matches!(message, Message::Batch(messages) if messages.iter().any(is_result))
}

/// True if the body is an event stream with a result, whatever its content type says.
fn has_result_in_stream(body: &[u8]) -> bool {
    let events = SseParser::new(READ).push(body).unwrap_or_default();
    events.iter().filter_map(|event| event.data.as_deref()).any(|data| match classify(data) {
        Message::Reply(Reply { body, .. }) => matches!(body, ReplyBody::Result(_)),
        message => has_result_in_list(&message),
    })
}

/// True for the beginning of JSON or of an event stream.
fn looks_like_messages(body: &[u8]) -> bool {
    let start = body.trim_ascii_start();
    [&b"{"[..], b"[", b"data:", b"event:", b"id:", b"retry:", b":"].iter().any(|sign| start.starts_with(sign))
}

/// A refusal for a body that is incomplete or unusable.
pub(super) fn broken_body(read: &Bytes, how: &str, status: StatusCode) -> Refused {
    Refused {
        what: format!("the body of the answer {how}"),
        help: Some("look into the server's log".to_owned()),
        evidence: excerpt(read, EVIDENCE),
        status: Some(status.as_u16()),
        may_have_result: false,
    }
}

fn explain(response: &Response<Incoming>, method: &Method) -> (String, String) {
    let status = response.status();
    let shown = |name: &str| header(response, name).map(|text| shorten(&escape_line(&text), 200).into_owned());
    let reason = status.canonical_reason().unwrap_or("unknown status");
    match status.as_u16() {
        200..=299 => (
            match shown("content-type") {
                Some(kind) => format!("the server answered with `{kind}` instead of JSON or an event stream"),
                None => "the server answered without a content type".to_owned(),
            },
            if shown("content-type").is_some_and(|kind| kind.to_ascii_lowercase().starts_with("text/html")) {
                "is this the URL of the MCP endpoint? it often ends in `/mcp`; if this is a page to log in, the server \
                 must answer with 401 in its place"
                    .to_owned()
            } else {
                "is this the address of the MCP endpoint? it often ends in `/mcp`".to_owned()
            },
        ),
        300..=399 => (
            format!(
                "the server redirects to {} (HTTP {})",
                shown("location").as_deref().unwrap_or("nowhere"),
                status.as_u16()
            ),
            "use that address: redirects are not followed".to_owned(),
        ),
        401 => (
            "the server wants a login (HTTP 401)".to_owned(),
            match shown("www-authenticate") {
                Some(text) => {
                    format!("it says `{text}`; log in with `mcprove login URL`, or give a token in `headers:`")
                }
                None => {
                    "log in with `mcprove login URL`, or give a token in `headers:`, e.g. `Authorization: \"Bearer \
                         ${TOKEN}\"`"
                        .to_owned()
                }
            },
        ),
        403 => (
            "the server refuses access (HTTP 403)".to_owned(),
            "check the token's rights, and whether the server accepts this host and origin".to_owned(),
        ),
        404 => ("nothing at this URL (HTTP 404)".to_owned(), "fix the path; it often ends in `/mcp`".to_owned()),
        405 => (
            format!("the server does not take {method} here (HTTP 405)"),
            "an older server may speak HTTP+SSE: try `transport: sse`".to_owned(),
        ),
        429 => (
            "the server limits the rate (HTTP 429)".to_owned(),
            match shown("retry-after") {
                Some(text) if text.bytes().all(|b| b.is_ascii_digit()) => format!("it asks to wait {text} s"),
                Some(text) => format!("it asks to wait until {text}"),
                None => "run fewer cases at once".to_owned(),
            },
        ),
        500..=599 => {
            (format!("the server failed (HTTP {} {reason})", status.as_u16()), "look into the server's log".to_owned())
        }
        code => (format!("the server answered with HTTP {code} {reason}"), "look into the server's log".to_owned()),
    }
}

impl From<NoResponse> for Refused {
    fn from(none: NoResponse) -> Self {
        Self { what: none.what, help: Some(none.help), evidence: Bytes::new(), status: None, may_have_result: false }
    }
}
