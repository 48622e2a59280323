//! Lists: read again after they changed, and not more often than needed.

use mcprove_model::{Direction, FaultId, Finding, escape_line};
use serde_json::Value;

use super::conversation::META_VERSION;
use super::evidence::{HostEvidence, HostFrame};
use super::score::HostExpectation;

/// A client may have sent a call before it read the notification.
const SLACK_US: u64 = 250_000;

/// Findings about lists.
pub(super) fn judge(evidence: &HostEvidence, expected: &HostExpectation, findings: &mut Vec<Finding>) {
    // The pages of one list count once.
    let is_list = |frame: &&HostFrame| is_list(frame) && frame.params().get("cursor").is_none();
    let lists = evidence.frames.iter().filter(is_list).count() as u64;
    if let Some(most) = expected.lists
        && lists > most
    {
        findings.push(
            Finding::error("host-list-storm", "the client listed the tools more often than expected")
                .compared(format!("at most {most} times"), format!("{lists} times"))
                .help("merge notifications that come together into one `tools/list`"),
        );
    }
    stale(evidence, findings);
    dead_names(evidence, findings);
}

fn is_list(frame: &HostFrame) -> bool {
    frame.is_request() && frame.method() == Some("tools/list")
}

/// A call after `list_changed` without a list in between, by a client that had read a list of a server that announces changes.
fn stale(evidence: &HostEvidence, findings: &mut Vec<Finding>) {
    for (server, about) in evidence.servers.iter().enumerate() {
        let frames = || evidence.frames.iter().filter(move |frame| frame.server == server);
        // A client that never lists knows the tools from elsewhere.
        let Some(first) = frames().find(|frame| is_list(frame)) else { continue };
        // Since 2026-07-28, changes are announced to those that asked for it.
        let is_modern = first.params()["_meta"].get(META_VERSION).is_some();
        if is_modern && !frames().any(|frame| frame.is_request() && frame.method() == Some("subscriptions/listen")) {
            continue;
        }
        // A client need not listen to what a server does not declare, unless it asked for it.
        if !is_modern && !frames().any(declares_changes) {
            continue;
        }
        // Since when the last list that was read is not the last one.
        let mut since: Option<u64> = None;
        let call = frames().filter(|frame| frame.at_us > first.at_us).find(|frame| {
            if is_list(frame) || has_tools(frame) {
                since = None;
            } else if frame.direction == Direction::Received
                && frame.method() == Some("notifications/tools/list_changed")
            {
                since.get_or_insert(frame.at_us);
            }
            frame.called().is_some() && since.is_some_and(|since| frame.at_us > since + SLACK_US)
        });
        if let Some(tool) = call.and_then(HostFrame::called) {
            let (tool, name) = (escape_line(tool), escape_line(&about.name));
            let text = format!("the client called `{tool}` of `{name}` from a list that had changed");
            findings.push(
                Finding::error("host-stale-list", text)
                    .help("after `notifications/tools/list_changed`, send `tools/list` before the next call"),
            );
        }
    }
}

/// True if the server declares that its list of tools may change.
fn declares_changes(frame: &HostFrame) -> bool {
    let declared = frame.json.as_ref().and_then(|json| json.pointer("/result/capabilities/tools/listChanged"));
    frame.direction == Direction::Received && declared == Some(&Value::Bool(true))
}

/// True if it is a list of tools.
fn has_tools(frame: &HostFrame) -> bool {
    frame.direction == Direction::Received
        && frame.json.as_ref().is_some_and(|json| json.pointer("/result/tools").is_some())
}

/// A tool that was refused as unknown or with other arguments, called the same way again after a new list.
fn dead_names(evidence: &HostEvidence, findings: &mut Vec<Finding>) {
    for strike in &evidence.strikes {
        if !matches!(strike.fault.id, FaultId::RenamedTool | FaultId::AddedArgument) {
            continue;
        }
        let frames = || evidence.frames.iter().filter(|frame| frame.server == strike.server);
        let listed = frames().find(|frame| frame.at_us > strike.at_us && has_tools(frame));
        // Without a new list, one retry may still be chance.
        let retries =
            frames().filter(|frame| frame.at_us > strike.at_us && frame.called() == Some(strike.tool.as_str()));
        let since_us = match listed {
            Some(listed) => listed.at_us + SLACK_US,
            None if retries.count() > 1 => strike.at_us,
            None => continue,
        };
        let again = frames().any(|frame| {
            frame.at_us > since_us
                && frame.called() == Some(strike.tool.as_str())
                && (strike.fault.id == FaultId::RenamedTool || frame.params()["arguments"].get("confirm").is_none())
        });
        if again {
            let tool = escape_line(&strike.tool);
            let text =
                format!("the client called `{tool}` as it was, although it had been refused as unknown or incomplete");
            findings.push(
                Finding::error("host-stale-list", text)
                    .help("use the names and schemas of the last list that was read"),
            );
            return;
        }
    }
}
