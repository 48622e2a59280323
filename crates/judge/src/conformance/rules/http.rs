//! Streamable HTTP: statuses, content types, streams, origins.

use std::collections::BTreeMap;

use serde_json::Value;

use super::messages::is_proper_request;
use super::{B, BASE, C, D, E};
use crate::conformance::evidence::{Channel, Step, What};
use crate::conformance::rule::{Level, Rule, Ruling};

const HTTP: Rule = Rule { revisions: (B, E), channel: Some(Channel::Http), ..BASE };

pub(super) const CONTENT_TYPE: Rule = Rule {
    id: "mcp-http-content-type",
    title: "answers requests with JSON or an event stream",
    clauses: &["HTTP-01", "HTTP-02"],
    section: "basic/transports#sending-messages-to-the-server",
    why: "Clients refuse every other content type without looking at the body.",
    bad: "Content-Type: text/plain",
    good: "Content-Type: application/json",
    judge: content_type,
    ..HTTP
};

fn content_type(ruling: &mut Ruling<'_>) {
    for step in ruling.evidence.all_steps().filter(is_proper_request) {
        let Some(status) = step.status().filter(|status| (200..300).contains(status)) else { continue };
        ruling.ok();
        match step.media_type().as_deref() {
            Some("application/json" | "text/event-stream") => {}
            Some(other) => {
                let message = format!("`{}` was answered with HTTP {status} and `{other}`", step.method());
                ruling.fail("HTTP-02", &step, message);
            }
            None => ruling.fail(
                "HTTP-02",
                &step,
                format!("`{}` was answered with HTTP {status} without a content type", step.method()),
            ),
        }
        if ruling.violations.len() >= 3 {
            return;
        }
    }
}

pub(super) const ACCEPTED: Rule = Rule {
    id: "mcp-http-accepted",
    title: "answers notifications with 202 and no body, or an error status",
    clauses: &["HTTP-03", "HTTP-04"],
    section: "basic/transports#sending-messages-to-the-server",
    why: "Most clients tolerate another 2xx; strict ones wait for a body or report an error.",
    bad: "notifications/initialized → 200 {}",
    good: "notifications/initialized → 202",
    judge: accepted,
    ..HTTP
};

fn accepted(ruling: &mut Ruling<'_>) {
    for step in ruling.evidence.all_steps().filter(|step| step.is("notify")) {
        let Some(status) = step.status() else { continue };
        ruling.ok();
        let has_body =
            step.after().any(|(_, entry)| matches!(&entry.what, What::Received(payload) if !payload.bytes.is_empty()));
        let subject = step.subject();
        match status {
            202 if !has_body => {}
            202 => {
                ruling.fail("HTTP-03", &step, format!("the notification ({subject}) was answered with 202 and a body"));
            }
            200..=299 => ruling.fail(
                "HTTP-03",
                &step,
                format!("the notification ({subject}) was answered with HTTP {status}, not 202"),
            ),
            _ if subject == "initialized" => {
                ruling.fail("HTTP-03", &step, format!("`notifications/initialized` was refused with HTTP {status}"));
            }
            _ => {}
        }
    }
    for step in ruling.evidence.all_steps().filter(|step| step.is("dead-notify")) {
        ruling.ok();
        if let Some(status) = step.status().filter(|status| *status < 300) {
            ruling.fail(
                "HTTP-04",
                &step,
                format!("a notification of a terminated session was answered with HTTP {status}"),
            );
        }
    }
}

pub(super) const GET: Rule = Rule {
    id: "mcp-http-get",
    title: "answers GET with an event stream or 405",
    clauses: &["HTTP-05"],
    revisions: (B, D),
    section: "basic/transports#listening-for-messages-from-the-server",
    why: "Clients open the stream after the handshake; on another status some retry forever.",
    bad: "GET with session, version and Accept → 404",
    good: "GET → 200 text/event-stream, or 405",
    judge: get,
    ..HTTP
};

fn get(ruling: &mut Ruling<'_>) {
    for step in ruling.evidence.all_steps().filter(|step| step.entry.step == "get-stream") {
        let Some(status) = step.status() else {
            ruling.ok();
            ruling.fail("HTTP-05", &step, "GET got no response");
            continue;
        };
        ruling.ok();
        let is_stream = (200..300).contains(&status) && step.media_type().as_deref() == Some("text/event-stream");
        if !is_stream && status != 405 {
            let kind = step.media_type().unwrap_or_default();
            ruling.fail("HTTP-05", &step, format!("GET was answered with HTTP {status} {kind}"));
        }
    }
}

pub(super) const FOREIGN_ORIGIN: Rule = Rule {
    id: "mcp-foreign-origin",
    title: "refuses requests of foreign origins",
    clauses: &["HTTP-15"],
    channel: Some(Channel::Http),
    section: "basic/transports#security-warning; 2026-07-28 basic/transports/streamable-http#security-endpoint",
    why: "A web page that the user visits can call every tool of a local server (DNS rebinding).",
    bad: "Origin: http://evil.example → 200",
    good: "Origin: http://evil.example → 403",
    judge: foreign_origin,
    ..BASE
};

fn foreign_origin(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    if !evidence.is_local {
        return ruling.not_testable("the server is not on this machine; it may accept all origins by design");
    }
    for step in evidence.all_steps().filter(|step| step.is("foreign-origin")) {
        let Some(status) = step.status() else { continue };
        ruling.ok();
        match status {
            200..=299 => ruling.fail_if(
                evidence.revision >= D,
                "HTTP-15",
                &step,
                "a request with `Origin: http://evil.example` was served",
            ),
            403 => {}
            _ if evidence.revision >= D => {
                ruling.warn("HTTP-15", &step, format!("a foreign origin was refused with HTTP {status}, not 403"));
            }
            _ => {}
        }
    }
}

pub(super) const VERSION_HEADER: Rule = Rule {
    id: "mcp-version-header",
    title: "refuses an invalid version header with 400 and tolerates a missing one",
    clauses: &["HTTP-13", "HTTP-14"],
    revisions: (C, D),
    section: "basic/transports#protocol-version-header",
    why: "A client that talks to the wrong revision gets confusing failures later.",
    bad: "MCP-Protocol-Version: 1900-01-01 → 200",
    good: "MCP-Protocol-Version: 1900-01-01 → 400",
    judge: version_header,
    ..HTTP
};

fn version_header(ruling: &mut Ruling<'_>) {
    for step in ruling.evidence.steps("http", "header:bad-version") {
        let Some(status) = step.status() else { continue };
        ruling.ok();
        if (200..300).contains(&status) {
            ruling.fail("HTTP-13", &step, format!("an invalid `MCP-Protocol-Version` was answered with HTTP {status}"));
        } else if status != 400 {
            ruling.warn(
                "HTTP-13",
                &step,
                format!("an invalid `MCP-Protocol-Version` was refused with HTTP {status}, not 400"),
            );
        }
    }
    for step in ruling.evidence.steps("http", "header:no-version") {
        let Some(status) = step.status() else { continue };
        ruling.ok();
        if status >= 400 {
            ruling.warn(
                "HTTP-14",
                &step,
                format!("a request without `MCP-Protocol-Version` was refused with HTTP {status}"),
            );
        }
    }
}

pub(super) const REPLY_STREAM: Rule = Rule {
    id: "mcp-reply-stream",
    title: "ends reply streams with the response and keeps them apart",
    clauses: &["HTTP-08", "HTTP-09"],
    level: Level::Should,
    section: "basic/transports#sending-messages-to-the-server",
    why: "A stream that stays open holds a connection for every call.",
    bad: "text/event-stream with the response, and the stream stays open",
    good: "text/event-stream with the response, then the end",
    judge: reply_stream,
    ..HTTP
};

fn reply_stream(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for step in evidence.all_steps().filter(is_proper_request) {
        let is_stream = step.media_type().as_deref() == Some("text/event-stream");
        if !is_stream || step.is("listen") || step.is("cancelled-call") {
            continue;
        }
        ruling.ok();
        let has_ended =
            step.after().any(|(_, entry)| matches!(entry.what, What::ExchangeEnded | What::ExchangeFailed(_)));
        let has_ids = step.after().any(|(_, entry)| matches!(&entry.what, What::StreamEvent { id: Some(_), .. }));
        if step.replies().is_empty() && has_ended && !has_ids {
            ruling.warn("HTTP-08", &step, format!("the stream of `{}` ended without the response", step.method()));
        } else if !step.replies().is_empty() && !has_ended {
            ruling.warn("HTTP-08", &step, format!("the stream of `{}` stayed open after the response", step.method()));
        }
        let own = step.sent_member("/params/_meta/progressToken");
        for (spot, json) in step.side_messages() {
            let token = &json["params"]["progressToken"];
            let is_foreign = json["method"] == "notifications/progress" && Some(token) != own;
            let is_known = step
                .recording()
                .steps(spot.0)
                .any(|other| other.sent_member("/params/_meta/progressToken") == Some(token));
            if is_foreign && is_known {
                ruling.at("HTTP-09", evidence.revision >= E, spot, "progress of another request came on this stream");
            }
        }
    }
    if ruling.checked == 0 {
        ruling.not_applicable("the server answers with JSON alone");
    }
}

pub(super) const GET_STREAM: Rule = Rule {
    id: "mcp-get-stream",
    title: "sends no replies on the GET stream and no message twice",
    clauses: &["HTTP-06", "HTTP-07"],
    revisions: (B, D),
    section: "basic/transports#listening-for-messages-from-the-server, #multiple-connections",
    why: "A reply on the wrong stream is lost, and a message on two streams is handled twice.",
    bad: "the response of a POST comes on the GET stream",
    good: "the response comes on the stream of its POST",
    judge: get_stream,
    ..HTTP
};

fn get_stream(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for step in evidence.all_steps().filter(|step| step.entry.step == "get-stream") {
        if step.status() != Some(200) {
            continue;
        }
        ruling.ok();
        for (at, entry) in step.after() {
            let What::Received(payload) = &entry.what else { continue };
            let Some(json) = &payload.json else { continue };
            let spot = (step.spot().0, at);
            if json.get("method").is_none() {
                ruling.at("HTTP-06", true, spot, "a reply came on the GET stream");
            } else {
                let twin = step.recording().entries.iter().any(|other| {
                    other.exchange != entry.exchange
                        && matches!(&other.what, What::Received(payload) if payload.json.as_ref() == Some(json))
                });
                if twin {
                    ruling.at("HTTP-07", true, spot, "the same message came on two streams");
                }
            }
        }
    }
    if ruling.checked == 0 {
        ruling.not_applicable("the server offers no GET stream");
    }
}

pub(super) const EVENT_IDS: Rule = Rule {
    id: "mcp-event-ids",
    title: "uses event ids that are unique in the session",
    clauses: &["HTTP-10", "HTTP-11", "HTTP-12", "CANCEL-05"],
    revisions: (B, D),
    section: "basic/transports#resumability-and-redelivery",
    why: "A client that resumes by an ambiguous id gets the messages of another stream.",
    bad: "stream 1: id 1; stream 2: id 1",
    good: "stream 1: id 1/1; stream 2: id 2/1",
    judge: event_ids,
    ..HTTP
};

fn event_ids(ruling: &mut Ruling<'_>) {
    for (number, recording) in ruling.evidence.recordings.iter().enumerate() {
        let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
        for entry in &recording.entries {
            let What::StreamEvent { id: Some(id), .. } = &entry.what else { continue };
            ruling.ok();
            let first = *seen.entry(id).or_insert(entry.exchange);
            if first != entry.exchange {
                let step = recording.steps(number).find(|step| step.entry.exchange == entry.exchange);
                if let Some(step) = step {
                    ruling.fail("HTTP-11", &step, format!("the event id `{id}` came on two streams"));
                    return;
                }
            }
        }
    }
    if ruling.checked == 0 {
        ruling.not_applicable("the server sends no event ids");
    }
}

pub(super) const MODERN_ONLY: Rule = Rule {
    id: "mcp-modern-http",
    title: "drops what 2026-07-28 removed from HTTP",
    clauses: &["HTTP-21", "HTTP-22", "HTTP-23"],
    level: Level::Should,
    revisions: (E, E),
    section: "basic/transports/streamable-http#earlier-streamable-http-revisions, #receiving-messages",
    why: "Clients take a session id for the older transport; proxies hold back events without the buffering header.",
    bad: "a modern reply with Mcp-Session-Id",
    good: "text/event-stream with X-Accel-Buffering: no; GET → 405",
    judge: modern_only,
    ..HTTP
};

fn modern_only(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for step in evidence.all_steps().filter(|step| step.entry.exchange > 0) {
        if step.media_type().as_deref() == Some("text/event-stream") && step.method() != "" {
            ruling.ok();
            if step.header("x-accel-buffering").is_none_or(|value| value != "no") {
                ruling.warn("HTTP-21", &step, "an event stream came without `X-Accel-Buffering: no`");
                break;
            }
        }
    }
    let mut minted = evidence
        .all_steps()
        .filter(|step| is_modern(step) && !step.is("header") && step.header("mcp-session-id").is_some());
    if let Some(step) = minted.next() {
        ruling.ok();
        ruling.warn("HTTP-23", &step, "a reply of 2026-07-28 carries `Mcp-Session-Id`");
    }
    for step in evidence.all_steps().filter(|step| step.is("session-ignored")) {
        ruling.ok();
        if step.answer().result().is_none() {
            let words = step.answer().words();
            ruling.warn("HTTP-23", &step, format!("a request with `Mcp-Session-Id` was answered with {words}"));
        }
    }
    if !evidence.is_dual_era {
        for step in evidence.all_steps().filter(|step| step.is("modern-get") || step.is("modern-delete")) {
            ruling.ok();
            if let Some(status) = step.status().filter(|status| *status != 405) {
                ruling.warn(
                    "HTTP-22",
                    &step,
                    format!("{} was answered with HTTP {status}, not 405", &step.entry.step[7..]),
                );
            }
        }
    }
}

fn is_modern(step: &Step<'_>) -> bool {
    step.sent_member("/params/_meta")
        .is_some_and(|meta: &Value| meta.get("io.modelcontextprotocol/protocolVersion").is_some())
}
