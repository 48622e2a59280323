//! Implicit checks on a conversation: contracts that the server itself declared.

use std::time::Duration;

use mcprove_judge::elicitation::rejects_preset;
use mcprove_judge::log_level::messages_below;
use mcprove_judge::output_schema::violates_output_schema;
use mcprove_judge::progress::does_not_increase;
use mcprove_model::{Act, Finding, Logging, Observation, Outcome, Raw, Target, escape_line, nearest};
use mcprove_wire::Listing;
use serde_json::Value;
use tokio::time::Instant;

use crate::conversation::Conversation;
use crate::discover::tool_name;
use crate::transform;

/// The time that the list of tools may take that a result is compared with.
const LOOK_UP: Duration = Duration::from_secs(2);

/// Adds the remarks on everything the session has seen.
pub(crate) async fn add(seen: &Observation, talk: &mut Conversation<'_>) {
    let schema = match output_schema(seen, talk).await {
        Some(finding) => Some(finding),
        None => unlisted_tool(seen, talk).await,
    };
    let progress = does_not_increase(&seen.notifications);
    let client = talk.case.server.as_ref().map(|server| &server.client);
    let questions = seen.asked.iter().filter(|asked| asked.method == "elicitation/create");
    let presets = questions.enumerate().filter_map(|(number, asked)| {
        let further = &client?.further_elicitations;
        let preset = match number.min(further.len()) {
            0 => client?.elicitation.as_ref(),
            later => further.get(later - 1),
        };
        rejects_preset(asked, preset?)
    });
    talk.record.findings.extend(schema.into_iter().chain(progress).chain(presets));
    if let Act::Logging(Logging { level: Some(level), .. }) = &talk.case.act {
        let below = messages_below(&talk.text(level), &seen.notifications);
        talk.record.findings.extend(below);
    }
}

/// The server's listing of the tool that the case calls.
pub(crate) async fn listed_tool(talk: &mut Conversation<'_>) -> Option<Value> {
    let name = match &talk.case.act {
        Act::CallTool(call) | Act::Notifications(call) => talk.text(&call.tool),
        Act::Raw(Raw::Message { params: Some(params), .. }) => {
            talk.json(params).get("name").and_then(Value::as_str)?.to_owned()
        }
        Act::Resources(_)
        | Act::Prompts(_)
        | Act::Complete(_)
        | Act::Logging(_)
        | Act::Trajectory(_)
        | Act::ToolQuality
        | Act::Compose(_)
        | Act::Offline(_)
        | Act::Score(_)
        | Act::Scan(_)
        | Act::Agent(_)
        | Act::Raw(_) => return None,
    };
    list_tools(talk).await.items.into_iter().find(|tool| tool_name(tool) == name)
}

/// The list of tools; the case itself is over.
async fn list_tools(talk: &mut Conversation<'_>) -> Listing {
    let deadline = talk.deadline.min(Instant::now() + LOOK_UP);
    talk.session.list("tools/list", "tools", deadline).await
}

/// An error of a tool that the server does not list: a case that expects an error would pass for a misspelled name.
async fn unlisted_tool(seen: &Observation, talk: &mut Conversation<'_>) -> Option<Finding> {
    let (Act::CallTool(call) | Act::Notifications(call)) = &talk.case.act else { return None };
    let is_error = matches!(&seen.outcome, Outcome::Error(_)) || seen.is_error;
    // A recording need not hold the list.
    let has_list = talk
        .case
        .server
        .as_ref()
        .is_some_and(|server| !server.accepts_any_shape && !matches!(server.target, Target::Cassette { .. }));
    if !is_error || !has_list || !talk.session.is_open() {
        return None;
    }
    let name = talk.text(&call.tool);
    let listing = list_tools(talk).await;
    if !listing.findings.is_empty() || !matches!(listing.outcome(), Some(Outcome::Result(_))) {
        return None;
    }
    let listed: Vec<&str> = listing.items.iter().map(tool_name).collect();
    if listed.contains(&name.as_str()) {
        return None;
    }
    let near =
        nearest(&name, listed).map_or_else(String::new, |near| format!(" (did you mean `{}`?)", escape_line(near)));
    let name = escape_line(&name);
    let text = format!("the server does not list the tool `{name}`{near}, so its error proves nothing else");
    let help = "correct the name; `implicit: off` says that the tool is meant to be missing";
    Some(Finding::warning("unlisted-tool", text).help(help).at(talk.place(call.tool.span)))
}

/// Structured content that violates the tool's own output schema.
async fn output_schema(seen: &Observation, talk: &mut Conversation<'_>) -> Option<Finding> {
    let (Act::CallTool(call) | Act::Notifications(call)) = &talk.case.act else { return None };
    if transform::rewrites_reply(&talk.case.act) {
        return None;
    }
    let structured = seen.structured.as_ref().filter(|_| !seen.is_error)?;
    let name = talk.text(&call.tool);
    let listing = list_tools(talk).await;
    if !matches!(listing.outcome(), Some(Outcome::Result(_))) {
        let text = format!("`structuredContent` of `{name}` could not be compared with its schema: no `tools/list`");
        return Some(Finding::note("output-schema", text));
    }
    let tool = listing.items.iter().find(|tool| tool_name(tool) == name)?;
    match violates_output_schema(tool.get("outputSchema")?, structured) {
        Ok(None) => None,
        Ok(Some(violation)) => {
            let text = format!("`structuredContent` of `{name}` violates the tool's own `outputSchema`");
            let mut finding = Finding::warning("output-schema", text);
            finding.actual = Some(violation);
            Some(finding)
        }
        Err(reason) => {
            let text =
                format!("`structuredContent` of `{name}` could not be compared with its `outputSchema`: {reason}");
            Some(Finding::warning("output-schema", text))
        }
    }
}
