//! What is worth saying of a conversation although no check asked: contracts that the server itself declared.

use std::collections::HashMap;

use mcprove_judge::arguments::argument_errors;
use mcprove_judge::output_schema::violates_output_schema;
use mcprove_model::{Act, Case, ElicitationAction, Finding, Notification, Observation};
use serde_json::Value;

use crate::conversation::Conversation;

/// Log levels from chatty to grave (RFC 5424).
const LEVELS: &[&str] = &["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// Adds the remarks on everything the session has seen.
pub(crate) async fn add(seen: &Observation, talk: &mut Conversation<'_>) {
    let schema = output_schema(seen, talk).await;
    let progress = progress(&seen.notifications);
    let presets = presets(talk.case, seen);
    talk.record.findings.extend(schema.into_iter().chain(progress).chain(presets));
}

/// The finding about log messages below the level that was asked for.
pub(crate) fn below_level(level: &str, notifications: &[Notification]) -> Option<Finding> {
    let rank = |level: &str| LEVELS.iter().position(|known| *known == level);
    let wanted = rank(level)?;
    let low = notifications
        .iter()
        .filter(|n| n.method == "notifications/message")
        .find(|n| n.params.get("level").and_then(Value::as_str).and_then(rank).is_some_and(|sent| sent < wanted))?;
    let mut finding = Finding::warning(
        "below-log-level",
        format!("a log message came that is below the level `{level}` that was set"),
    );
    finding.actual = Some(mcprove_model::shorten(&low.params.to_string(), 300).into_owned());
    Some(finding)
}

/// Structured content that violates the tool's own output schema.
async fn output_schema(seen: &Observation, talk: &mut Conversation<'_>) -> Option<Finding> {
    let (Act::CallTool(call) | Act::Notifications(call)) = &talk.case.act else { return None };
    let structured = seen.structured.as_ref().filter(|_| !seen.is_error)?;
    let name = talk.text(&call.tool);
    let listing = talk.session.list("tools/list", "tools", talk.deadline).await;
    let tool = listing.items.iter().find(|tool| tool.get("name").and_then(Value::as_str) == Some(&name))?;
    match violates_output_schema(tool.get("outputSchema")?, structured) {
        Ok(None) => None,
        Ok(Some(violation)) => {
            let text = format!("`structuredContent` of `{name}` violates the tool's own `outputSchema`");
            let mut finding = Finding::warning("output-schema", text);
            finding.actual = Some(violation);
            Some(finding)
        }
        Err(reason) => {
            let text = format!("the `outputSchema` of `{name}` is not a valid schema: {reason}");
            Some(Finding::warning("output-schema", text))
        }
    }
}

/// Progress must increase with each notification of one token (2025-11-25, "Progress").
fn progress(notifications: &[Notification]) -> Option<Finding> {
    let mut last: HashMap<String, f64> = HashMap::new();
    for notification in notifications.iter().filter(|n| n.method == "notifications/progress") {
        let token = notification.params.get("progressToken").map(Value::to_string).unwrap_or_default();
        let now = notification.params.get("progress").and_then(Value::as_f64)?;
        if let Some(before) = last.insert(token, now)
            && now <= before
        {
            let text = format!("progress does not increase: {now} came after {before}");
            return Some(Finding::warning("stuck-progress", text));
        }
    }
    None
}

/// A scripted answer that the server's own form would not take.
fn presets(case: &Case, seen: &Observation) -> Vec<Finding> {
    let preset = case.server.as_ref().and_then(|server| server.client.elicitation.as_ref());
    let Some(preset) = preset.filter(|preset| preset.action == ElicitationAction::Accept) else { return Vec::new() };
    let forms = seen.asked.iter().filter(|asked| asked.method == "elicitation/create");
    let mut findings = Vec::new();
    for schema in forms.filter_map(|asked| asked.params.get("requestedSchema")) {
        let Ok(errors) = argument_errors(schema, &preset.content) else { continue };
        if !errors.is_empty() {
            let text = format!("the server's form does not accept the preset answer: {}", errors.join("; "));
            let mut finding = Finding::warning("elicitation-preset", text)
                .help("mend `client_capabilities.elicitation`, or the server's `requestedSchema`");
            finding.expected = Some(mcprove_model::shorten(&schema.to_string(), 500).into_owned());
            finding.actual = Some(preset.content.to_string());
            findings.push(finding);
        }
    }
    findings
}
