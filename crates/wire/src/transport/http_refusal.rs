//! Explanations of HTTP responses that are not messages, in one line, with advice on what to do next.

use std::time::Duration;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::{Method, Response, StatusCode};
use mcprove_model::{Refused, escape_line, shorten};
use tokio::time::timeout;

use super::http_client::{NoResponse, header, read_body};
use crate::line_pipe::excerpt;
use crate::message::{Message, Reply, ReplyBody, classify};

/// Length of a response that is kept as evidence if it is not a message.
const EVIDENCE: usize = 16 << 10;
/// Length of it that is read, because it may turn out to be a message.
const READ: usize = 1 << 20;
/// Time limit for its body, since its head is enough for an explanation.
const PATIENCE: Duration = Duration::from_secs(1);

/// An answer that is not what was asked for.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) refused: Refused,
    /// The JSON-RPC reply that it nevertheless carries.
    pub(super) reply: Option<(Reply, Bytes)>,
}

/// Reads an answer that is not what was asked for and says what it means.
pub(super) async fn refusal(response: Response<Incoming>, method: &Method, limit: usize) -> Refusal {
    let status = response.status();
    let explained = explain(&response, method);
    let body = match timeout(PATIENCE, read_body(response.into_body(), limit.min(READ))).await {
        Ok(Ok(body) | Err((body, _))) => body,
        Err(_) => Bytes::new(),
    };
    let reply = match classify(&body) {
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
    // A copy: a slice would keep the whole body.
    let evidence = excerpt(&body, EVIDENCE);
    Refusal {
        refused: Refused { what, help: Some(help), evidence, status: Some(status.as_u16()), has_result: false },
        reply,
    }
}

/// A refusal for a body that is incomplete or unusable.
pub(super) fn broken_body(read: &Bytes, how: &str, status: StatusCode) -> Refused {
    Refused {
        what: format!("the body of the answer {how}"),
        help: Some("look into the server's log".to_owned()),
        evidence: excerpt(read, EVIDENCE),
        status: Some(status.as_u16()),
        has_result: false,
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
        Self { what: none.what, help: Some(none.help), evidence: Bytes::new(), status: None, has_result: false }
    }
}
