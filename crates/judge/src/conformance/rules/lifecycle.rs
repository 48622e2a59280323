//! The handshake and what a server declares in it.

use serde_json::Value;

use super::{A, BASE, E};
use crate::conformance::rule::{Level, Rule, Ruling};
use crate::conformance::schemas;

pub(super) const HANDSHAKE: Rule = Rule {
    id: super::HANDSHAKE,
    title: "answers `initialize` or `server/discover` with a complete result",
    clauses: &["LIFE-01", "VER-01", "PROC-04"],
    section: "basic/lifecycle#initialization; 2026-07-28 server/discover",
    why: "SDK clients validate this result and refuse to connect when a field is missing.",
    bad: r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}"#,
    good: r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#,
    blocked_by: &[],
    judge: handshake,
    ..BASE
};

fn handshake(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    let (label, clause) = if evidence.is_modern() { ("discover", "VER-01") } else { ("initialize", "LIFE-01") };
    let steps: Vec<_> = evidence.all_steps().filter(|step| step.entry.step == label).collect();
    if steps.is_empty() {
        return ruling.not_exercised("the recording has no handshake");
    }
    for step in steps {
        ruling.ok();
        let Some(result) = step.answer().result() else {
            let words = step.answer().words();
            ruling.fail(clause, &step, format!("`{}` was answered with {words}", step.method()));
            return;
        };
        let missing = if evidence.is_modern() { discover_faults(result) } else { initialize_faults(result) };
        for fault in missing {
            ruling.fail(clause, &step, fault);
        }
        if !ruling.violations.is_empty() {
            return;
        }
    }
}

fn initialize_faults(result: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for (pointer, is_fine) in [
        ("/protocolVersion", result["protocolVersion"].is_string()),
        ("/capabilities", result["capabilities"].is_object()),
        ("/serverInfo/name", result["serverInfo"]["name"].is_string()),
        ("/serverInfo/version", result["serverInfo"]["version"].is_string()),
    ] {
        if !is_fine {
            faults.push(format!("the result lacks a valid `{}`", pointer[1..].replace('/', ".")));
        }
    }
    faults
}

fn discover_faults(result: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let versions = result["supportedVersions"].as_array();
    if !versions.is_some_and(|versions| !versions.is_empty() && versions.iter().all(Value::is_string)) {
        faults.push("the result lacks a valid `supportedVersions`".to_owned());
    }
    if !result["capabilities"].is_object() {
        faults.push("the result lacks a valid `capabilities`".to_owned());
    }
    faults
}

pub(super) const CAPABILITY_DECLARED: Rule = Rule {
    id: "mcp-capability-declared",
    title: "declares what it serves",
    clauses: &["CAP-01", "COMPL-01", "LOG-01"],
    section: "server/tools#capabilities, server/prompts#capabilities, server/resources#capabilities; server/utilities/completion#capabilities, server/utilities/logging#capabilities",
    why: "Hosts list only what is declared, so an undeclared feature is never seen.",
    bad: r#"capabilities: {} and tools/list answers {"tools":[{"name":"search",…}]}"#,
    good: r#"capabilities: {"tools":{}} and tools/list answers {"tools":[…]}"#,
    judge: capability_declared,
    ..BASE
};

fn capability_declared(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for kind in ["tools", "prompts", "resources"] {
        let Some(step) = evidence.step("main", &format!("list:{kind}")) else { continue };
        ruling.ok();
        let items = step.answer().result().and_then(|result| result[kind].as_array());
        if !evidence.declares(kind) && items.is_some_and(|items| !items.is_empty()) {
            ruling.fail("CAP-01", &step, format!("`{kind}/list` has items, but `{kind}` is not declared"));
        }
    }
    if evidence.revision > A
        && !evidence.declares("completions")
        && let Some(step) = evidence.step("main", "complete:first")
    {
        ruling.ok();
        if step.answer().result().is_some() {
            ruling.fail("COMPL-01", &step, "`completion/complete` is served, but `completions` is not declared");
        }
    }
    if !evidence.declares("logging") {
        let log = evidence
            .received()
            .find(|(_, _, _, payload)| method(payload.json.as_ref()) == Some("notifications/message"));
        if let Some((spot, ..)) = log {
            ruling.at("LOG-01", true, spot, "a log message was sent, but `logging` is not declared");
        }
    }
}

fn method(json: Option<&Value>) -> Option<&str> {
    json?.get("method")?.as_str()
}

pub(super) const CAPABILITY_SHAPE: Rule = Rule {
    id: "mcp-capability-shape",
    title: "declares capabilities in the shape of the schema",
    clauses: &["CAP-03", "CAP-05", "CAP-06"],
    level: Level::Derived,
    revisions: (A, E),
    section: "schema ServerCapabilities; 2026-07-28 basic/versioning#extension-negotiation",
    why: "A typed client rejects the whole handshake when a capability is `true` instead of an object.",
    bad: r#""capabilities":{"tools":true}"#,
    good: r#""capabilities":{"tools":{"listChanged":true}}"#,
    judge: capability_shape,
    ..BASE
};

fn capability_shape(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    let label = if evidence.is_modern() { "discover" } else { "initialize" };
    let Some(step) = evidence.all_steps().find(|step| step.entry.step == label) else { return };
    let capabilities = evidence.capabilities();
    if !capabilities.is_object() {
        return;
    }
    ruling.ok();
    if let Some(fault) = schemas::fault(evidence.revision, "ServerCapabilities", capabilities) {
        ruling.fail("CAP-03", &step, fault);
        return;
    }
    if evidence.revision < E {
        return;
    }
    for (key, value) in capabilities["extensions"].as_object().into_iter().flatten() {
        let has_prefix = key.split_once('/').is_some_and(|(prefix, name)| !prefix.is_empty() && !name.is_empty());
        if !has_prefix || !super::meta::is_legal_key(key) {
            ruling.fail("CAP-05", &step, format!("the extension key `{key}` is not `prefix/name`"));
        } else if !value.is_object() {
            ruling.fail("CAP-05", &step, format!("the extension `{key}` is declared with {value}, not with an object"));
        }
    }
}
