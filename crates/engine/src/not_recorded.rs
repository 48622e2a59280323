//! Requests that a recording has no answer to: what a case made of them says nothing about the server.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use mcprove_model::{Act, Case, Direction, Finding, Frame, FrameKind, RpcError, Verdict, WirePart};
use memchr::memmem;
use serde_json::Value;

use crate::record::CaseRecord;

pub(crate) const RULE: &str = "not-recorded";

/// The longest reply that is looked at; a recording says in less that it has none.
const LONGEST: usize = 16 * 1024;

/// Marker of such a reply, looked for in every reply.
static MARK: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(RpcError::NOT_RECORDED));

/// A case that asked for what was never recorded could not be run, whatever it expected.
pub(crate) fn judged(verdict: Verdict, case: &Case, record: &mut CaseRecord) -> Verdict {
    if !matches!(verdict, Verdict::Passed | Verdict::Failed) {
        return verdict;
    }
    let errors = record.frames().iter().filter_map(|(_, frame)| missed(frame));
    let reasons: BTreeSet<String> = errors.filter(|error| matters(error, case)).map(|error| error.message).collect();
    if reasons.is_empty() {
        let is_told = record.findings.iter().any(|finding| finding.rule == RULE);
        return if is_told { Verdict::Error } else { verdict };
    }
    record.findings.retain(|finding| finding.rule != RULE);
    for reason in reasons {
        let place = case.source.place(case.span);
        record.findings.push(finding(&reason).at(place));
    }
    Verdict::Error
}

/// The finding about a request, and what the recording says of it.
pub(crate) fn finding(reason: &str) -> Finding {
    let text = format!("the recording has no such request: {reason}");
    Finding::error(RULE, text).help("record it again with `mcprove run --events FILE` against the server itself")
}

/// False for requests that mcprove makes by itself to try revisions or look up schemas: their callers report it.
fn matters(error: &RpcError, case: &Case) -> bool {
    match error.not_recorded() {
        Some("server/discover" | "tools/list") => matches!(case.act, Act::Raw(_)),
        Some(_) => true,
        None => false,
    }
}

/// The error of a reply that is none of the server's.
fn missed(frame: &Frame) -> Option<RpcError> {
    let is_reply =
        frame.direction == Direction::Received && frame.kind == FrameKind::Reply && frame.part == WirePart::Message;
    let is_marked = is_reply && frame.body.len() <= LONGEST && MARK.find(&frame.body).is_some();
    if !is_marked {
        return None;
    }
    let mut message: Value = serde_json::from_slice(&frame.body).ok()?;
    serde_json::from_value(message.get_mut("error")?.take()).ok()
}
