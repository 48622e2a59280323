//! JSON-RPC: envelopes, ids, replies, errors, and every message against the schema of its revision.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

use super::{BASE, C, E};
use crate::conformance::evidence::{Channel, Step, What, id_text};
use crate::conformance::rule::{Level, Rule, Ruling};
use crate::conformance::{Answer, schemas};

pub(super) const ID_ECHO: Rule = Rule {
    id: "mcp-id-echo",
    title: "returns ids with the same value and JSON type",
    clauses: &["RPC-02", "HTTP-24"],
    section: "basic/index#responses",
    why: "Clients look replies up by id; a changed id is an unknown reply, and the call hangs until its timeout.",
    bad: r#"{"id":7,…} → {"id":"7",…}"#,
    good: r#"{"id":7,…} → {"id":7,…}"#,
    judge: id_echo,
    ..BASE
};

fn id_echo(ruling: &mut Ruling<'_>) {
    for step in ruling.evidence.all_steps().filter(is_proper_request) {
        let Some(sent) = step.id() else { continue };
        for (spot, payload) in step.replies() {
            let Some(json) = &payload.json else { continue };
            ruling.ok();
            let got = json.get("id").unwrap_or(&Value::Null);
            if got == sent {
                continue;
            }
            let is_refused = step.status().is_some_and(|status| status >= 400) && got.is_null();
            // Without a modern version header, a dual-era server takes the request for a legacy one.
            if is_refused && ruling.evidence.is_dual_era && step.is("header") {
                continue;
            }
            if !is_refused {
                ruling.at("RPC-02", true, spot, format!("the id {sent} came back as {got}"));
            } else if ruling.evidence.revision >= E {
                // Before 2026-07-28 the body of an HTTP error is an error response "that has no id".
                ruling.at("HTTP-24", false, spot, format!("the error reply has the id {got}, not {sent}"));
            }
        }
    }
}

/// True if a step sent a request that every server can read.
pub(super) fn is_proper_request(step: &Step<'_>) -> bool {
    let has_id = step.id().is_some_and(|id| id.is_string() || id.is_i64() || id.is_u64());
    let is_request = step.sent_member("/method").is_some_and(Value::is_string);
    has_id && is_request && step.sent_member("/jsonrpc").is_some_and(|version| version == "2.0") && !step.is("bad")
}

pub(super) const ENVELOPE: Rule = Rule {
    id: "mcp-envelope",
    title: "sends well-formed JSON-RPC 2.0 messages",
    clauses: &["RPC-01", "RPC-03", "RPC-04", "RPC-05", "RPC-06", "RPC-14"],
    section: "basic/index#messages",
    why: "Clients drop messages with a broken envelope, so the request hangs.",
    bad: r#"{"id":1,"result":{},"error":null}"#,
    good: r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    judge: envelope,
    ..BASE
};

fn envelope(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    let mut used: BTreeSet<(usize, String)> = BTreeSet::new();
    for (spot, _, _, payload) in evidence.received() {
        let Some(json) = &payload.json else { continue };
        if json.is_array() {
            if evidence.revision >= C {
                ruling.at("RPC-14", true, spot, "a batch was received; this revision has single messages only");
            }
            continue;
        }
        if !is_message(json) {
            continue;
        }
        ruling.ok();
        if json.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            ruling.at("RPC-01", true, spot, "the message lacks `\"jsonrpc\": \"2.0\"`");
        }
        if let Some(method) = json.get("method").and_then(Value::as_str) {
            let Some(id) = json.get("id") else { continue };
            if method.starts_with("notifications/") {
                ruling.at("RPC-06", true, spot, format!("the notification `{method}` has an id"));
            } else if !(id.is_string() || id.is_i64() || id.is_u64()) {
                ruling.at("RPC-05", true, spot, format!("the request `{method}` of the server has the id {id}"));
            } else if !used.insert((spot.0, id.to_string())) {
                ruling.at("RPC-05", true, spot, format!("the server used the request id {id} twice"));
            }
            continue;
        }
        reply_envelope(ruling, spot, json);
    }
}

fn reply_envelope(ruling: &mut Ruling<'_>, spot: (usize, usize), json: &Value) {
    match (json.get("result"), json.get("error")) {
        (Some(_), Some(_)) => ruling.at("RPC-03", true, spot, "the response has both `result` and `error`"),
        (None, None) => ruling.at("RPC-03", true, spot, "the response has neither `result` nor `error`"),
        (Some(result), None) if !result.is_object() => {
            ruling.at("RPC-03", true, spot, "the `result` is not an object");
        }
        (None, Some(error)) => {
            if !error.get("code").is_some_and(|code| code.is_i64() || code.is_u64()) {
                ruling.at("RPC-04", true, spot, "the error has no integer `code`");
            } else if !error.get("message").is_some_and(Value::is_string) {
                ruling.at("RPC-04", true, spot, "the error has no string `message`");
            }
        }
        (Some(_), None) => {}
    }
}

/// True if JSON is meant as a message, well formed or not.
pub(super) fn is_message(json: &Value) -> bool {
    json.is_object() && ["jsonrpc", "method", "result", "error"].iter().any(|member| json.get(member).is_some())
}

pub(super) const ONE_REPLY: Rule = Rule {
    id: "mcp-one-reply",
    title: "answers each request once and no notification",
    clauses: &["RPC-11", "RPC-07", "LIFE-08", "ROOT-02"],
    section: "basic/index#responses, #notifications",
    why: "A second reply or an answer to a notification is an unknown message; some clients close the connection on it.",
    bad: r#"{"method":"notifications/x"} → {"id":null,"error":{"code":-32601,…}}"#,
    good: r#"{"method":"notifications/x"} → nothing"#,
    judge: one_reply,
    ..BASE
};

fn one_reply(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for step in evidence.all_steps().filter(is_proper_request) {
        let replies = step.replies();
        if let Some((spot, _)) = replies.get(1) {
            ruling.at(
                "RPC-11",
                true,
                *spot,
                format!("the request {} was answered twice", step.id().unwrap_or(&Value::Null)),
            );
        }
        if !replies.is_empty() {
            ruling.ok();
        }
    }
    if evidence.channel == Channel::Stdio {
        unknown_replies(ruling);
    }
    for step in evidence.all_steps().filter(|step| step.is("notify") && !step.subject().starts_with("cancel")) {
        ruling.ok();
        let clause = match step.subject() {
            "initialized" => "LIFE-08",
            "roots" => "ROOT-02",
            _ => "RPC-07",
        };
        for (at, entry) in step.after() {
            let What::Received(payload) = &entry.what else { continue };
            let is_refused = step.status().is_some_and(|status| status >= 400);
            let Some(json) = payload.json.as_ref().filter(|json| is_message(json) && json.get("method").is_none())
            else {
                continue;
            };
            let belongs_elsewhere = json.get("id").is_some_and(|id| !id.is_null());
            if !is_refused && (step.entry.exchange > 0 || !belongs_elsewhere) {
                let method = step.method().to_owned();
                ruling.at(clause, true, (step.spot().0, at), format!("the notification `{method}` was answered"));
            }
        }
    }
}

/// Replies that nothing was asked for.
fn unknown_replies(ruling: &mut Ruling<'_>) {
    for (number, recording) in ruling.evidence.recordings.iter().enumerate() {
        // Replies to the parts of a batch are not looked up.
        if recording.steps(number).any(|step| step.sent.json.as_ref().is_some_and(Value::is_array)) {
            continue;
        }
        let asked: HashSet<String> = recording.steps(number).filter_map(|step| step.id()).map(id_text).collect();
        for (at, entry) in recording.entries.iter().enumerate() {
            let What::Received(payload) = &entry.what else { continue };
            let Some(json) = payload.json.as_ref().filter(|json| is_message(json) && json.get("method").is_none())
            else {
                continue;
            };
            let Some(id) = json.get("id").filter(|id| !id.is_null()) else { continue };
            if !asked.contains(&id_text(id)) {
                // An id invented for a broken message is reported by the rule about broken messages.
                let before = recording.entries[..at].iter().rev().find(|entry| matches!(entry.what, What::Sent(_)));
                if before.is_some_and(|entry| entry.step.starts_with("bad:")) {
                    continue;
                }
                ruling.at("RPC-11", true, (number, at), format!("a reply has the id {id}, which no request has"));
            }
        }
    }
}

pub(super) const SCHEMA_VALID: Rule = Rule {
    id: "mcp-schema-valid",
    title: "sends messages that are valid for the revision",
    clauses: &["RPC-19", "LIFE-07"],
    section: "basic/index#schema; basic/lifecycle#operation",
    why: "Typed clients reject a whole reply for one mistyped field.",
    bad: r#"tools/call → {"content":[{"type":"text"}]}"#,
    good: r#"tools/call → {"content":[{"type":"text","text":"done"}]}"#,
    judge: schema_valid,
    ..BASE
};

fn schema_valid(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    let revision = evidence.revision;
    for step in evidence.all_steps().filter(|step| step.id().is_some()) {
        let Some((spot, payload)) = step.replies().first().copied() else { continue };
        if payload.is_shortened {
            continue;
        }
        let null = Value::Null;
        match step.answer() {
            Answer::Result(result) => {
                let params = step.sent_member("/params").unwrap_or(&null);
                let Some(kind) = schemas::result_type(step.method(), params, result) else { continue };
                ruling.ok();
                if let Some(fault) = schemas::fault(revision, kind, result) {
                    ruling.at("RPC-19", true, spot, fault);
                }
            }
            Answer::Error(error) => {
                ruling.ok();
                let kind = match (step.answer().code(), revision) {
                    (Some(-32042), super::D) => "URLElicitationRequiredError",
                    (Some(-32021), E) => "MissingRequiredClientCapabilityError",
                    (Some(-32022), E) => "UnsupportedProtocolVersionError",
                    _ => continue,
                };
                let whole = serde_json::json!({"jsonrpc": "2.0", "id": 1, "error": error});
                if let Some(fault) = schemas::fault(revision, kind, &whole) {
                    ruling.at("RPC-19", true, spot, fault);
                }
            }
            _ => {}
        }
    }
    for (spot, _, _, payload) in evidence.received() {
        let Some(json) = payload.json.as_ref() else { continue };
        let Some(method) = json.get("method").and_then(Value::as_str) else { continue };
        let Some(kind) = schemas::message_type(method) else { continue };
        ruling.ok();
        if !schemas::defines(revision, kind) {
            ruling.at("LIFE-07", revision >= C, spot, format!("`{method}` is not part of {revision}"));
        } else if let Some(fault) = schemas::fault(revision, kind, json) {
            ruling.at("RPC-19", true, spot, fault);
        }
    }
}

pub(super) const UNKNOWN_METHOD: Rule = Rule {
    id: "mcp-unknown-method",
    title: "answers an unknown method with -32601",
    clauses: &["RPC-08", "HTTP-20"],
    level: Level::Derived,
    section: "JSON-RPC 2.0, section 5.1; 2026-07-28 basic/transports/streamable-http#protocol-version-header",
    why: "Clients detect missing features and the era of a server by this error.",
    bad: r#"x/unknown → {"result":{}}"#,
    good: r#"x/unknown → {"error":{"code":-32601,"message":"method not found"}}"#,
    judge: unknown_method,
    ..BASE
};

fn unknown_method(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for step in evidence.steps("main", "unknown-method") {
        ruling.ok();
        let answer = step.answer();
        match answer {
            Answer::Error(_) if answer.code() == Some(-32601) => {}
            Answer::Error(_) => {
                ruling.warn("RPC-08", &step, format!("an unknown method was answered with {}", answer.words()));
            }
            _ => ruling.fail("RPC-08", &step, format!("an unknown method was answered with {}", answer.words())),
        }
        if evidence.channel == Channel::Http
            && evidence.revision >= E
            && answer.is_error()
            && step.status() != Some(404)
        {
            let status = step.status().unwrap_or_default();
            ruling.fail("HTTP-20", &step, format!("an unknown method was answered with HTTP {status}, not 404"));
        }
    }
}

pub(super) const ERROR_CODES: Rule = Rule {
    id: "mcp-error-codes",
    title: "uses error codes as 2026-07-28 allocates them",
    clauses: &["RPC-15", "RPC-16", "RPC-17"],
    revisions: (E, E),
    section: "basic/index#error-codes",
    why: "Codes of the reserved range get meanings in later revisions; clients would act on them.",
    bad: r#"{"error":{"code":-32002,"message":"resource not found"}}"#,
    good: r#"{"error":{"code":-32602,"message":"resource not found"}}"#,
    judge: error_codes,
    ..BASE
};

fn error_codes(ruling: &mut Ruling<'_>) {
    for step in ruling.evidence.all_steps().filter(|step| step.id().is_some()) {
        let Some(code) = step.answer().code() else { continue };
        ruling.ok();
        match code {
            -32002 | -32042 => ruling.fail("RPC-16", &step, format!("2026-07-28 servers must not send {code}")),
            -32022..=-32020 => {}
            -32099..=-32023 => ruling.fail("RPC-15", &step, format!("{code} is reserved and has no meaning")),
            _ => {}
        }
    }
}
