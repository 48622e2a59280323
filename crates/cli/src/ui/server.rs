//! The HTTP server of the page.

use std::convert::Infallible;
use std::rc::Rc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, REFERRER_POLICY};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use mcprove_wire::{AnswerBody, Connections, Listener};
use serde_json::{Value, json};

use super::access_guard::Guard;
use super::api::{Api, Settings};
use super::body::Reply;

/// The longest request body: a file that is uploaded as base64 is an argument.
const LONGEST: usize = 64 << 20;
/// Maximum number of connections.
const CONNECTIONS: usize = 256;
/// Bytes that a connection reads ahead; the head of a request is not longer.
const BUFFER: usize = 64 << 10;
/// The longest body of a request without a key.
const LONGEST_LOGIN: usize = 4 << 10;

/// Everything comes from this server, nothing is inline, and strings never become markup.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; media-src data:; connect-src \
                      'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

const SHELL: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
                     content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
                     <title>mcprove</title>\n<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"/page.css\">\n\
                     </head>\n<body>\n<noscript><p>This page is drawn by a script; please allow scripts for it.</p></noscript>\n\
                     <div id=\"page\"></div>\n<script src=\"/page.js\"></script>\n</body>\n</html>\n";

/// Serves the page on a free port of 127.0.0.1 until the future is dropped; `ready` gets the URL with its token.
pub(crate) async fn serve(settings: Settings, port: u16, ready: impl FnOnce(&str)) -> std::io::Result<()> {
    let listener = Listener::bind(&format!("127.0.0.1:{port}")).await?;
    let port = listener.address().port();
    let guard = Rc::new(Guard::new(port));
    let api = Api::new(settings);
    let open = Connections::new(CONNECTIONS);
    ready(&format!("http://127.0.0.1:{port}/?token={}", guard.token().unwrap_or_default()));
    loop {
        let Ok(stream) = listener.accept().await else {
            // Most likely there are too many connections.
            open.make_room();
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            continue;
        };
        // One that is not taken is closed.
        let Some(connection) = open.admit() else { continue };
        let (guard, api) = (Rc::clone(&guard), Rc::clone(&api));
        tokio::task::spawn_local(async move {
            let service = service_fn(|request| {
                let (guard, api) = (Rc::clone(&guard), Rc::clone(&api));
                connection.heard();
                // Without the key, a connection can be closed for another one.
                let request_open = guard.has_key(Request::headers(&request)).then(|| connection.request());
                async move {
                    let answer = answer(request, &guard, &api).await;
                    Ok::<_, Infallible>(answer.map(|body| AnswerBody::new(body, request_open)))
                }
            });
            // A connection that breaks is the browser's business.
            tokio::select! {
                _ = http1::Builder::new().max_buf_size(BUFFER).serve_connection(TokioIo::new(stream), service) => {}
                () = connection.over() => {}
            }
        });
    }
}

async fn answer(request: Request<Incoming>, guard: &Guard, api: &Rc<Api>) -> Response<Reply> {
    if !guard.is_same_origin(request.uri(), request.headers()) {
        return json_reply(StatusCode::FORBIDDEN, &json!({"error": "this host or origin may not ask"}));
    }
    let path = request.uri().path().to_owned();
    let query = request.uri().query().unwrap_or_default().to_owned();
    let Some(api_path) = path.strip_prefix("/api/") else {
        return match (request.method(), path.as_str()) {
            (&Method::GET, "/") => reply(StatusCode::OK, "text/html; charset=utf-8", SHELL.into()),
            (&Method::GET, "/page.js") => {
                reply(StatusCode::OK, "text/javascript; charset=utf-8", mcprove_report::PAGE_SCRIPT.into())
            }
            (&Method::GET, "/page.css") => {
                reply(StatusCode::OK, "text/css; charset=utf-8", mcprove_report::PAGE_STYLE.into())
            }
            _ => json_reply(StatusCode::NOT_FOUND, &json!({"error": "no such page"})),
        };
    };
    let api_path = api_path.to_owned();
    let (head, body) = request.into_parts();
    if api_path != "login" && !guard.has_key(&head.headers) {
        return json_reply(StatusCode::UNAUTHORIZED, &json!({"error": "the key is missing or wrong"}));
    }
    if head.method == Method::GET && api_path == "events" {
        let after = query.strip_prefix("after=").and_then(|text| text.parse().ok()).unwrap_or_default();
        return with_headers(StatusCode::OK, "text/event-stream", Reply::Events(api.hub.listen(after)));
    }
    let longest = if api_path == "login" { LONGEST_LOGIN } else { LONGEST };
    let Ok(body) = Limited::new(body, longest).collect().await else {
        return json_reply(StatusCode::PAYLOAD_TOO_LARGE, &json!({"error": "the request is too long"}));
    };
    let body = body.to_bytes();
    if api_path == "login" {
        let given: Value = serde_json::from_slice(&body).unwrap_or_default();
        let key = guard.login(given.get("token").and_then(Value::as_str).unwrap_or_default());
        return match key {
            Some(key) => json_reply(StatusCode::OK, &json!({"key": key})),
            None => json_reply(StatusCode::UNAUTHORIZED, &json!({"error": "the token is wrong, or was used before"})),
        };
    }
    let (status, value) = api.answer(&head.method, &api_path, &body).await;
    json_reply(status, &value)
}

fn json_reply(status: StatusCode, value: &Value) -> Response<Reply> {
    reply(status, "application/json", Bytes::from(value.to_string()))
}

fn reply(status: StatusCode, kind: &'static str, body: Bytes) -> Response<Reply> {
    with_headers(status, kind, Reply::Whole(Some(body)))
}

fn with_headers(status: StatusCode, kind: &'static str, body: Reply) -> Response<Reply> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    response
}
