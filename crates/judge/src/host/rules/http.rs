//! Streamable HTTP: headers, sessions, tokens.

use mcprove_model::{Direction, WirePart};

use super::super::conversation::Post;
use crate::host::rule::ClientRuling;

/// A request may be on its way when the session is refused, in microseconds.
const CROSSING_US: u64 = 100_000;

pub(super) fn accept(ruling: &mut ClientRuling<'_>) {
    for (post, _) in ruling.talk.posts().into_iter().filter(|(post, _)| post.method == "POST") {
        let accept = post.get("accept").unwrap_or_default().to_ascii_lowercase();
        let holds = accept.contains("application/json") && accept.contains("text/event-stream");
        ruling.check(holds, post.frame, || {
            format!("`Accept: {accept}` does not list both `application/json` and `text/event-stream`")
        });
    }
}

pub(super) fn content_type(ruling: &mut ClientRuling<'_>) {
    for (post, body) in ruling.talk.posts().into_iter().filter(|(post, _)| post.method == "POST") {
        if body.is_none() {
            continue;
        }
        let kind = post.get("content-type").unwrap_or_default().to_ascii_lowercase();
        ruling.check(kind.starts_with("application/json"), post.frame, || {
            format!("a message was sent with `Content-Type: {kind}`")
        });
    }
}

pub(super) fn session_id(ruling: &mut ClientRuling<'_>) {
    let talk = ruling.talk;
    let given = talk.frames.iter().find_map(|frame| match (&frame.part, frame.direction) {
        (WirePart::HttpResponse { headers, .. }, Direction::Received) => {
            let id = headers.iter().find(|(name, _)| name == "mcp-session-id")?;
            Some((frame.at_us, id.1.as_str()))
        }
        _ => None,
    });
    let Some((since_us, id)) = given else { return };
    for (post, body) in talk.posts() {
        let is_handshake = body.is_some_and(|body| body.method() == Some("initialize"));
        if post.frame.at_us > since_us && !is_handshake {
            ruling.check(post.get("mcp-session-id").as_deref() == Some(id), post.frame, || {
                "a request does not carry the `Mcp-Session-Id` that the server gave".to_owned()
            });
        }
    }
}

pub(super) fn session_restart(ruling: &mut ClientRuling<'_>) {
    let talk = ruling.talk;
    let posts = talk.posts();
    let gone = posts.iter().find_map(|(post, _)| {
        let id = post.get("mcp-session-id")?;
        let refused = talk.frames.iter().find(|frame| {
            matches!(frame.part, WirePart::HttpResponse { exchange, status: 404, .. } if exchange == post.exchange)
        })?;
        Some((refused.at_us, id))
    });
    let Some((since_us, id)) = gone else { return };
    // Requests that were on their way are no sign; a second one after the refusal is.
    let is_later = |post: &Post<'_>| post.frame.at_us > since_us + CROSSING_US && post.method != "DELETE";
    for (post, _) in posts.iter().filter(|(post, _)| is_later(post)) {
        ruling.check(post.get("mcp-session-id").as_ref() != Some(&id), post.frame, || {
            "a session was used again after the server had answered 404 for it".to_owned()
        });
    }
}

pub(super) fn version_header(ruling: &mut ClientRuling<'_>) {
    let talk = ruling.talk;
    let Some(request) = talk.requests().find(|frame| frame.method() == Some("initialize")) else { return };
    let Some(reply) = talk.reply_to(request) else { return };
    let Some(agreed) = reply.json.as_ref().and_then(|json| json["result"]["protocolVersion"].as_str()) else { return };
    for (post, _) in talk.posts().into_iter().filter(|(post, _)| post.frame.at_us > reply.at_us) {
        ruling.check(post.get("mcp-protocol-version").as_deref() == Some(agreed), post.frame, || {
            format!("a request after the handshake does not carry `MCP-Protocol-Version: {agreed}`")
        });
    }
}

pub(super) fn get_accept(ruling: &mut ClientRuling<'_>) {
    for (post, _) in ruling.talk.posts().into_iter().filter(|(post, _)| post.method == "GET") {
        let accept = post.get("accept").unwrap_or_default().to_ascii_lowercase();
        ruling.check(accept.contains("text/event-stream"), post.frame, || {
            format!("a GET with `Accept: {accept}` does not list `text/event-stream`")
        });
    }
}

pub(super) fn token_always(ruling: &mut ClientRuling<'_>) {
    let mut is_known = false;
    for (post, _) in ruling.talk.posts() {
        let has_token = post.get("authorization").is_some();
        if is_known {
            ruling.check(has_token, post.frame, || "a request lacks the `Authorization` of earlier ones".to_owned());
        }
        is_known |= has_token;
    }
}

pub(super) fn token_in_url(ruling: &mut ClientRuling<'_>) {
    for (post, _) in ruling.talk.posts() {
        let query = post.url.split_once('?').map_or("", |(_, query)| query);
        let has_token = query.split('&').any(|part| part.starts_with("access_token="));
        ruling.check(!has_token, post.frame, || "the access token is in the query string".to_owned());
    }
}
