//! Requests of the client: methods, arguments, cursors, tokens, cancellations.

use std::collections::HashSet;

use mcprove_model::{Era, Revision};
use serde_json::Value;

use crate::conformance::Channel;
use crate::host::HostFrame;
use crate::host::rule::ClientRuling;

/// Methods and notifications of clients that only some revisions have.
const PARTIAL: &[(&str, Revision, Revision)] = &[
    ("initialize", Revision::V2024_11_05, Revision::V2025_11_25),
    ("notifications/initialized", Revision::V2024_11_05, Revision::V2025_11_25),
    ("ping", Revision::V2024_11_05, Revision::V2025_11_25),
    ("resources/subscribe", Revision::V2024_11_05, Revision::V2025_11_25),
    ("resources/unsubscribe", Revision::V2024_11_05, Revision::V2025_11_25),
    ("logging/setLevel", Revision::V2024_11_05, Revision::V2025_11_25),
    ("notifications/roots/list_changed", Revision::V2024_11_05, Revision::V2025_11_25),
    ("tasks/list", Revision::V2025_11_25, Revision::V2025_11_25),
    ("tasks/result", Revision::V2025_11_25, Revision::V2025_11_25),
    ("subscriptions/listen", Revision::V2026_07_28, Revision::V2026_07_28),
    ("tasks/update", Revision::V2026_07_28, Revision::V2026_07_28),
];

/// A client may have sent a cancellation while the reply was on its way, in microseconds.
const CROSSING_US: u64 = 1_000_000;

pub(super) fn known_method(ruling: &mut ClientRuling<'_>) {
    let Some(revision) = ruling.talk.revision else { return };
    for frame in ruling.talk.sent().filter(|frame| frame.method().is_some()) {
        let method = frame.method().unwrap_or_default();
        let Some((_, first, last)) = PARTIAL.iter().find(|(name, ..)| *name == method) else { continue };
        let holds = (*first..=*last).contains(&revision);
        ruling.check(holds, frame, || format!("`{method}` is not a method of {revision}"));
    }
}

pub(super) fn arguments(ruling: &mut ClientRuling<'_>) {
    for frame in ruling.talk.requests().filter(|frame| frame.method() == Some("tools/call")) {
        let params = frame.params();
        let holds = params["name"].is_string() && params.get("arguments").is_none_or(Value::is_object);
        ruling.check(holds, frame, || "`tools/call` needs a `name`, and `arguments` that are an object".to_owned());
    }
}

pub(super) fn cursor(ruling: &mut ClientRuling<'_>) {
    let talk = ruling.talk;
    for frame in talk.requests() {
        let Some(cursor) = frame.params().get("cursor") else { continue };
        let is_given = talk.received().any(|reply| {
            reply.at_us <= frame.at_us
                && reply.json.as_ref().is_some_and(|json| json["result"].get("nextCursor") == Some(cursor))
        });
        ruling.check(is_given, frame, || "a cursor was sent that the server did not give".to_owned());
    }
}

pub(super) fn progress_token(ruling: &mut ClientRuling<'_>) {
    let talk = ruling.talk;
    let cancelled: Vec<(&Value, u64)> =
        cancellations(ruling).iter().map(|frame| (&frame.params()["requestId"], frame.at_us)).collect();
    let mut open: Vec<(String, &HostFrame)> = Vec::new();
    for frame in talk.requests() {
        let Some(token) = frame.params().get("_meta").and_then(|meta| meta.get("progressToken")) else { continue };
        let is_kind = token.is_string() || token.is_i64() || token.is_u64();
        // An id that is used again says which reply belongs to which request no more.
        open.retain(|(_, other)| other.id() != frame.id());
        // A cancelled request is not active any more.
        let is_cancelled =
            |other: &HostFrame| cancelled.iter().any(|(id, at_us)| *at_us <= frame.at_us && other.id() == Some(*id));
        open.retain(|(_, other)| !is_cancelled(other));
        open.retain(|(_, other)| talk.reply_to(other).is_none_or(|reply| talk.position(reply) > talk.position(frame)));
        let shown = token.to_string();
        // Over HTTP without sessions, requests of several clients look like those of one.
        let is_shared = talk.is_modern() && talk.channel != Channel::Stdio;
        let is_unique = is_shared || !open.iter().any(|(other, _)| *other == shown);
        ruling.check(is_kind && is_unique, frame, || {
            if is_kind {
                "a progress token is used by two requests at once"
            } else {
                "a progress token is neither a string nor an integer"
            }
            .to_owned()
        });
        open.push((token.to_string(), frame));
    }
}

fn cancellations<'e>(ruling: &ClientRuling<'e>) -> Vec<&'e HostFrame> {
    ruling.talk.sent().filter(|frame| frame.method() == Some("notifications/cancelled")).collect()
}

pub(super) fn cancel_known(ruling: &mut ClientRuling<'_>) {
    for frame in cancellations(ruling) {
        let id = &frame.params()["requestId"];
        let earlier: HashSet<String> = ruling
            .talk
            .requests()
            .filter(|request| request.at_us <= frame.at_us)
            .filter_map(|request| request.id().map(ToString::to_string))
            .collect();
        ruling.check(earlier.contains(&id.to_string()), frame, || {
            "a request was cancelled that was never sent".to_owned()
        });
    }
}

pub(super) fn cancel_finished(ruling: &mut ClientRuling<'_>) {
    let mut seen: Vec<&Value> = Vec::new();
    for frame in cancellations(ruling) {
        let id = &frame.params()["requestId"];
        // A client that has cancelled a request pays no attention to its reply.
        if seen.contains(&id) {
            continue;
        }
        seen.push(id);
        let Some(request) = ruling.talk.requests().find(|request| request.id() == Some(id)) else { continue };
        let is_over = ruling.talk.reply_to(request).is_some_and(|reply| reply.at_us + CROSSING_US < frame.at_us);
        ruling.check(!is_over, frame, || "a request was cancelled long after it was answered".to_owned());
    }
}

pub(super) fn cancel_initialize(ruling: &mut ClientRuling<'_>) {
    let is_modern = ruling.talk.revision.is_some_and(|revision| revision.era() == Era::Modern);
    for frame in cancellations(ruling).into_iter().filter(|_| !is_modern) {
        let id = &frame.params()["requestId"];
        let request = ruling.talk.requests().find(|request| request.id() == Some(id));
        let is_handshake = request.is_some_and(|request| request.method() == Some("initialize"));
        ruling.check(!is_handshake, frame, || "`initialize` was cancelled".to_owned());
    }
}
