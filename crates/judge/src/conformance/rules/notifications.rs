//! Notifications: subscriptions, progress, cancellation, changed lists.

use std::collections::BTreeMap;

use serde_json::Value;

use super::lists::key_of;
use super::{A, BASE, E};
use crate::conformance::Answer;
use crate::conformance::evidence::{Channel, Spot, Step, What, member_of};
use crate::conformance::rule::{Level, Rule, Ruling};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// The messages of a subscription, with their places: on pipes those with its tag, over HTTP those on its exchange.
fn messages<'r>(step: &Step<'r>) -> Vec<(Spot, &'r Value)> {
    let id = step.id().cloned().unwrap_or(Value::Null);
    step.recording()
        .entries
        .iter()
        .enumerate()
        .skip(step.spot().1 + 1)
        .filter_map(|(at, entry)| {
            let What::Received(payload) = &entry.what else { return None };
            let json = payload.json.as_ref()?;
            json.get("method")?;
            let is_own = if step.entry.exchange > 0 {
                entry.exchange == step.entry.exchange
            } else {
                let tag = json.pointer("/params/_meta").and_then(|meta| meta.get(SUBSCRIPTION));
                tag.is_some_and(|tag| crate::conformance::is_same_id(&id, tag))
                    || tag.is_none() && json["method"] == ACKNOWLEDGED
            };
            is_own.then_some(((step.spot().0, at), json))
        })
        .collect()
}

fn can_notify(ruling: &Ruling<'_>) -> bool {
    let capabilities = ruling.evidence.capabilities();
    ["tools", "prompts", "resources"].iter().any(|kind| capabilities[kind]["listChanged"] == true)
        || capabilities["resources"]["subscribe"] == true
}

pub(super) const LISTEN: Rule = Rule {
    id: "mcp-listen",
    title: "acknowledges `subscriptions/listen` first and keeps it open",
    clauses: &["SUB-01", "SUB-05"],
    revisions: (E, E),
    section: "basic/patterns/subscriptions#acknowledgment",
    why: "Until it is acknowledged, a client does not know which events it will get; a closed stream gets none.",
    bad: "subscriptions/listen → a result at once",
    good: "subscriptions/listen → notifications/subscriptions/acknowledged, and the stream stays open",
    judge: listen,
    ..BASE
};

fn listen(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    if !can_notify(ruling) {
        return ruling.not_applicable("nothing that could be notified is declared");
    }
    for step in evidence.all_steps().filter(|step| step.is("listen")) {
        ruling.ok();
        let first = messages(&step).into_iter().next();
        match (step.answer(), first) {
            (Answer::Error(_) | Answer::Result(_) | Answer::Gone, _) | (Answer::Status(_), None) => {
                let words = step.answer().words();
                ruling.fail("SUB-05", &step, format!("`subscriptions/listen` was answered with {words}"));
            }
            (_, None) => ruling.fail("SUB-01", &step, "`subscriptions/listen` was not acknowledged"),
            (_, Some((spot, json))) if json["method"] != ACKNOWLEDGED => {
                let method = json["method"].as_str().unwrap_or_default().to_owned();
                ruling.at("SUB-01", true, spot, format!("the first message of a subscription is `{method}`"));
            }
            (_, Some(_)) => {
                let ended = step.entry.exchange > 0
                    && step
                        .after()
                        .any(|(_, entry)| matches!(entry.what, What::ExchangeEnded) && !entry.step.contains("closed"));
                if ended {
                    ruling.fail("SUB-05", &step, "the stream of a subscription ended by itself");
                }
            }
        }
    }
}

pub(super) const TAG: Rule = Rule {
    id: "mcp-subscription-tag",
    title: "tags every message of a subscription with its id, same JSON type",
    clauses: &["SUB-02"],
    revisions: (E, E),
    section: "basic/patterns/subscriptions#receiving-notifications",
    why: "On stdio only the tag distinguishes two subscriptions.",
    bad: r#"listen id 41 → "_meta":{"io.modelcontextprotocol/subscriptionId":"41"}"#,
    good: r#"listen id 41 → "_meta":{"io.modelcontextprotocol/subscriptionId":41}"#,
    blocked_by: &[super::HANDSHAKE, "mcp-listen"],
    judge: tag,
    ..BASE
};

fn tag(ruling: &mut Ruling<'_>) {
    if !can_notify(ruling) {
        return ruling.not_applicable("nothing that could be notified is declared");
    }
    for step in ruling.evidence.all_steps().filter(|step| step.is("listen")) {
        for (spot, json) in messages(&step) {
            ruling.ok();
            let tag = json.pointer("/params/_meta").and_then(|meta| meta.get(SUBSCRIPTION));
            if tag != step.id() {
                let id = step.id().cloned().unwrap_or_default();
                let tag = tag.map_or("missing".to_owned(), Value::to_string);
                ruling.at("SUB-02", true, spot, format!("the subscription id is {tag}, not {id}"));
            }
        }
    }
}

pub(super) const ONLY_ASKED: Rule = Rule {
    id: "mcp-only-asked",
    title: "sends only notifications that were declared and asked for",
    clauses: &["SUB-03", "SUB-04", "SUB-08", "CAP-04"],
    section: "basic/patterns/subscriptions#opening-a-stream; architecture#capability-negotiation",
    why: "Clients ignore or reject notifications they cannot expect.",
    bad: "listen for prompts → notifications/tools/list_changed",
    good: "listen for prompts → notifications/prompts/list_changed",
    judge: only_asked,
    ..BASE
};

/// The capability that a change notification belongs to, and the flag that declares it.
fn declared_by(method: &str) -> Option<(&'static str, &'static str, &'static str)> {
    Some(match method {
        "notifications/tools/list_changed" => ("tools", "listChanged", "toolsListChanged"),
        "notifications/prompts/list_changed" => ("prompts", "listChanged", "promptsListChanged"),
        "notifications/resources/list_changed" => ("resources", "listChanged", "resourcesListChanged"),
        "notifications/resources/updated" => ("resources", "subscribe", "resourceSubscriptions"),
        _ => return None,
    })
}

fn only_asked(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for (spot, _, _, payload) in evidence.received() {
        let Some(json) = &payload.json else { continue };
        let Some(method) = json.get("method").and_then(Value::as_str) else { continue };
        let Some((capability, flag, _)) = declared_by(method) else { continue };
        ruling.ok();
        if evidence.capabilities()[capability][flag] != true {
            ruling.at("CAP-04", false, spot, format!("`{method}` came, but `{capability}.{flag}` is not declared"));
        } else if evidence.is_modern()
            && json.pointer("/params/_meta").and_then(|meta| meta.get(SUBSCRIPTION)).is_none()
        {
            ruling.at("SUB-08", true, spot, format!("`{method}` came outside a subscription"));
        }
    }
    if !evidence.is_modern() {
        if ruling.checked == 0 {
            ruling.not_exercised("no change was notified");
        }
        return;
    }
    for step in evidence.all_steps().filter(|step| step.is("listen")) {
        let asked = step.sent_member("/params/notifications").unwrap_or(&Value::Null);
        for (spot, json) in messages(&step) {
            ruling.ok();
            let method = json["method"].as_str().unwrap_or_default();
            if method == ACKNOWLEDGED {
                acknowledged(ruling, spot, asked, &json["params"]["notifications"]);
            } else if let Some((_, _, key)) = declared_by(method) {
                let is_asked = asked.get(key).is_some_and(|asked| *asked == true || asked.is_array());
                if !is_asked {
                    ruling.at(
                        "SUB-03",
                        true,
                        spot,
                        format!("`{method}` came on a subscription that did not ask for it"),
                    );
                }
            }
        }
    }
    if ruling.checked == 0 {
        ruling.not_exercised("nothing was notified");
    }
}

fn acknowledged(ruling: &mut Ruling<'_>, spot: Spot, asked: &Value, given: &Value) {
    let capabilities = ruling.evidence.capabilities();
    for (key, value) in given.as_object().into_iter().flatten() {
        let is_given = *value == true || value.as_array().is_some_and(|items| !items.is_empty());
        if is_given && asked.get(key).is_none() {
            ruling.at("SUB-04", false, spot, format!("`{key}` is acknowledged, but was not asked for"));
        }
        let is_declared = match key.as_str() {
            "toolsListChanged" => capabilities["tools"]["listChanged"] == true,
            "promptsListChanged" => capabilities["prompts"]["listChanged"] == true,
            "resourcesListChanged" => capabilities["resources"]["listChanged"] == true,
            "resourceSubscriptions" => capabilities["resources"]["subscribe"] == true,
            _ => true,
        };
        if is_given && !is_declared {
            ruling.at("SUB-04", false, spot, format!("`{key}` is acknowledged, but not declared"));
        }
    }
}

pub(super) const PROGRESS: Rule = Rule {
    id: "mcp-progress",
    title: "reports progress for the token of a running request, rising",
    clauses: &["PROG-01", "PROG-02", "PROG-03", "PROG-04"],
    section: "basic/utilities/progress#behavior-requirements",
    why: "Progress with another token is dropped, and clients that extend their timeout on progress give up.",
    bad: r#"token 7 → {"progressToken":"7","progress":50}, then 20"#,
    good: r#"token 7 → {"progressToken":7,"progress":20}, then 50"#,
    judge: progress,
    ..BASE
};

fn progress(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for (number, recording) in evidence.recordings.iter().enumerate() {
        let mut owners: BTreeMap<String, Step<'_>> = BTreeMap::new();
        let mut last: BTreeMap<String, f64> = BTreeMap::new();
        for (at, entry) in recording.entries.iter().enumerate() {
            if let Some(step) = recording.step(number, at)
                && let Some(token) = step.sent_member("/params/_meta/progressToken")
            {
                // A token is free again when its request has ended.
                last.remove(&token.to_string());
                owners.insert(token.to_string(), step);
            }
            let What::Received(payload) = &entry.what else { continue };
            let Some(json) = payload.json.as_ref().filter(|json| json["method"] == "notifications/progress") else {
                continue;
            };
            ruling.ok();
            let spot = (number, at);
            let token = &json["params"]["progressToken"];
            let Some(owner) = owners.get(&token.to_string()) else {
                ruling.at("PROG-01", true, spot, format!("progress came for the token {token}, which no request has"));
                continue;
            };
            if owner.reply_spot().is_some_and(|(_, reply)| reply < at) {
                ruling.at("PROG-03", true, spot, "progress came after the reply");
            }
            let value = json["params"]["progress"].as_f64().unwrap_or_default();
            if let Some(before) = last.insert(token.to_string(), value) {
                if value < before {
                    ruling.at("PROG-02", true, spot, format!("progress fell from {before} to {value}"));
                } else if value <= before {
                    ruling.at("PROG-02", false, spot, format!("progress stayed at {value}"));
                }
            }
        }
    }
    if ruling.checked == 0 {
        ruling.not_exercised("no tool that was called reports progress");
    }
}

pub(super) const STRAY_CANCEL: Rule = Rule {
    id: "mcp-stray-cancel",
    title: "ignores cancellations of unknown and finished requests",
    clauses: &["CANCEL-03", "CANCEL-04", "CANCEL-07"],
    section: "basic/utilities/cancellation#error-handling, #timing-considerations",
    why: "Cancellation races with the reply; a server that answers or dies ends sessions at random.",
    bad: r#"cancelled {"requestId":"nope"} → {"error":…}"#,
    good: "→ nothing",
    judge: stray_cancel,
    ..BASE
};

fn stray_cancel(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for step in evidence.steps("main", "notify").into_iter().filter(|step| step.subject().starts_with("cancel")) {
        ruling.ok();
        for (at, entry) in step.after() {
            let What::Received(payload) = &entry.what else { continue };
            let Some(json) = payload.json.as_ref().filter(|json| json.get("method").is_none()) else { continue };
            let is_refused = step.status().is_some_and(|status| status >= 400);
            let is_elsewhere = step.entry.exchange == 0 && json.get("id").is_some_and(|id| !id.is_null());
            if !is_refused && !is_elsewhere {
                ruling.at("CANCEL-03", false, (step.spot().0, at), "a cancellation of an unknown request was answered");
            }
        }
    }
    for step in evidence.steps("main", "after-cancel") {
        ruling.ok();
        if matches!(step.answer(), Answer::Gone | Answer::Silence) {
            let words = step.answer().words();
            ruling.fail("CANCEL-04", &step, format!("after stray cancellations a good request got {words}"));
        }
    }
    for (spot, recording, _, payload) in evidence.received() {
        let Some(json) = payload.json.as_ref().filter(|json| json["method"] == "notifications/cancelled") else {
            continue;
        };
        ruling.ok();
        let id = &json["params"]["requestId"];
        let is_own = recording.entries.iter().any(|entry| match &entry.what {
            What::Received(payload) => {
                payload.json.as_ref().is_some_and(|json| json.get("method").is_some() && json.get("id") == Some(id))
            }
            _ => false,
        });
        let is_listen = recording.steps(spot.0).any(|step| step.is("listen") && step.id() == Some(id));
        if !(is_own && !evidence.is_modern() || is_listen && evidence.is_modern()) {
            ruling.at("CANCEL-07", true, spot, format!("the server cancelled the request {id}, which is not its own"));
        }
    }
}

pub(super) const CANCELLED_SILENT: Rule = Rule {
    id: "mcp-cancelled-silent",
    title: "stops a cancelled call and does not answer it",
    clauses: &["CANCEL-01", "CANCEL-02", "SUB-07"],
    level: Level::Should,
    section: "basic/utilities/cancellation#behavior-requirements; 2026-07-28 basic/transports/stdio#cancellation",
    why: "The client has forgotten the request; its late reply is an unknown message.",
    bad: "cancelled → the result, seconds later",
    good: "cancelled → nothing",
    judge: cancelled_silent,
    ..BASE
};

fn cancelled_silent(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    if evidence.is_modern() && evidence.channel == Channel::Http {
        return ruling.not_testable("over HTTP closing the stream is the cancellation, and its effect cannot be seen");
    }
    for step in evidence.steps("main", "cancelled-call") {
        let cancel = step
            .recording()
            .steps(step.spot().0)
            .find(|other| other.is("cancel-now") && other.spot().1 > step.spot().1);
        let Some(cancel) = cancel else { continue };
        ruling.ok();
        // A reply within the race window was on its way already.
        let window = cancel.entry.at_us + 150_000;
        let late = step.replies().into_iter().find(|(spot, _)| step.recording().entries[spot.1].at_us > window);
        if let Some((spot, _)) = late {
            ruling.at("CANCEL-01", false, spot, "a cancelled call was answered");
        }
        let token = step.sent_member("/params/_meta/progressToken");
        let more = step.recording().entries.iter().enumerate().find(|(_, entry)| match &entry.what {
            What::Received(payload) => payload.json.as_ref().is_some_and(|json| {
                entry.at_us > window
                    && json["method"] == "notifications/progress"
                    && Some(&json["params"]["progressToken"]) == token
            }),
            _ => false,
        });
        if let Some((at, _)) = more {
            ruling.at(
                "CANCEL-02",
                evidence.revision >= E,
                (step.spot().0, at),
                "a cancelled call went on reporting progress",
            );
        }
    }
    if ruling.checked == 0 {
        ruling.not_testable("no tool that can be called safely takes long enough");
    }
}

pub(super) const LIST_CHANGED: Rule = Rule {
    id: "mcp-list-changed",
    title: "notifies changes of lists that it declared",
    clauses: &["LIST-02"],
    level: Level::Should,
    revisions: (A, E),
    section: "server/tools#list-changed-notification",
    why: "Hosts cache lists until the notification; a new tool stays invisible.",
    bad: "the tools changed, and no notifications/tools/list_changed came",
    good: "the tools changed, and notifications/tools/list_changed came",
    judge: list_changed,
    ..BASE
};

fn list_changed(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for kind in ["tools", "prompts", "resources"] {
        if evidence.capabilities()[kind]["listChanged"] != true {
            continue;
        }
        let names = |label: &str| -> Vec<String> {
            let steps = evidence.steps("main", &format!("{label}:{kind}"));
            let items = steps.iter().filter_map(|step| step.answer().result());
            let items = items.flat_map(|result| result[member_of(kind)].as_array().into_iter().flatten());
            items.filter_map(|item| key_of(kind, item)).collect()
        };
        let (before, after) = (names("list"), names("list-late"));
        if before == after || after.is_empty() {
            continue;
        }
        ruling.ok();
        let method = format!("notifications/{kind}/list_changed");
        let came = evidence.received().any(|(_, recording, _, payload)| {
            recording.probe == "main" && payload.json.as_ref().is_some_and(|json| json["method"] == method.as_str())
        });
        if !came && let Some(step) = evidence.step("main", &format!("list-late:{kind}")) {
            ruling.warn("LIST-02", &step, format!("the {kind} changed, but `{method}` did not come"));
        }
    }
    if ruling.checked == 0 {
        ruling.not_testable("no list changed during the run");
    }
}
