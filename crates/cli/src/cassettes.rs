//! Recordings of servers that `run --record` makes anew: the exchanges of a run as a cassette next to its suite.

use std::collections::BTreeMap;
use std::path::Path;

use mcprove_model::{CaseReport, Direction, FrameKind, Plan, Report, Target, WirePart, bounded_json};
use serde_json::{Value, json};

use crate::atomic_write;
use crate::failure::Failure;

/// True if a case of the plan speaks to a server whose recording can be made anew.
pub(crate) fn has_refreshed(plan: &Plan) -> bool {
    plan.cases.iter().any(|planned| planned.case.servers().any(|server| server.refresh.is_some()))
}

/// Writes the cassettes of a run; the lines say which.
pub(crate) fn write_all(plan: &Plan, report: &Report) -> Result<Vec<String>, Failure> {
    let mut cassettes: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for (planned, case) in plan.cases.iter().zip(&report.cases) {
        for session in &case.sessions {
            let mut servers = planned.case.servers();
            // A session that is not named belongs to the only server of its case.
            let server = servers.find(|server| session.server.as_ref().is_none_or(|name| *name == server.name));
            if let Some(server) = server.filter(|server| server.refresh.is_some())
                && let Target::Cassette { path } = &server.target
            {
                cassettes.entry(path).or_default().extend(exchanges(case, session.session));
            }
        }
    }
    let mut lines = Vec::new();
    for (path, exchanges) in cassettes {
        let count = exchanges.len();
        let mut text =
            serde_json::to_string_pretty(&json!({"version": "1", "exchanges": exchanges})).unwrap_or_default();
        text.push('\n');
        atomic_write::write(Path::new(path), text.as_bytes()).map_err(|error| {
            Failure::new(format!("`{path}` could not be written: {error}"), "make its folder writable")
        })?;
        lines.push(format!("recorded {count} exchanges: {path}"));
    }
    Ok(lines)
}

/// The requests of a session that were answered, each with its answer.
fn exchanges(case: &CaseReport, session: u32) -> Vec<Value> {
    let mut open: BTreeMap<String, Value> = BTreeMap::new();
    let mut exchanges = Vec::new();
    let frames = case.frames.iter().filter(|(of, frame)| *of == session && frame.part == WirePart::Message);
    for (_, frame) in frames {
        let Some(message) = bounded_json::parse(&frame.body) else { continue };
        let id = message["id"].to_string();
        match (frame.direction, frame.kind) {
            (Direction::Sent, FrameKind::Request) => {
                open.insert(id, message);
            }
            (Direction::Received, FrameKind::Reply) => {
                exchanges.extend(open.remove(&id).map(|request| json!({"request": request, "response": message})));
            }
            (_, _) => {}
        }
    }
    exchanges
}
