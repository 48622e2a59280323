//! Recorded frames as calls, in order: the calls of a case, or of a whole recording of traffic.

use std::collections::HashMap;

use mcprove_model::{CaseReport, Direction, Frame, FrameKind, Report, WirePart, bounded_json};
use serde_json::Value;

use super::capabilities::RequestClaim;
use super::trace::TraceEvent;

/// A conversation with servers, taken from a log.
#[derive(Debug, Default)]
pub struct Recording {
    /// Its display name: the case.
    pub name: String,
    /// The cases it is made of: their positions in the report.
    pub cases: Vec<usize>,
    /// The servers, in the order they were first spoken to.
    pub servers: Vec<String>,
    /// The revisions that were spoken.
    pub protocols: Vec<String>,
    /// The calls and their results.
    pub trace: Vec<TraceEvent>,
    /// Claims of requests.
    pub claims: Vec<RequestClaim>,
}

impl Recording {
    /// Number of tool calls.
    pub fn calls(&self) -> usize {
        self.trace.iter().filter(|event| matches!(event, TraceEvent::Call(_))).count()
    }
}

/// The conversations of a report: each case of a suite is one; recorded traffic, in however many logs, is one together.
///
/// `name` says what a session's server is called.
pub fn recordings(report: &Report, name: &dyn Fn(&CaseReport, u32) -> String) -> Vec<Recording> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut overheard: Option<usize> = None;
    for (index, case) in report.cases.iter().enumerate() {
        if case.frames.is_empty() {
            continue;
        }
        if let Some(at) = overheard.filter(|_| is_overheard(case)) {
            groups[at].push(index);
            continue;
        }
        if is_overheard(case) {
            overheard = Some(groups.len());
        }
        groups.push(vec![index]);
    }
    groups.into_iter().map(|cases| recording(report, cases, name)).collect()
}

/// True if a case is a conversation of others, not a test: its file is none.
fn is_overheard(case: &CaseReport) -> bool {
    case.started.file.is_empty() || case.started.file.starts_with('(')
}

/// A frame with when and where it went over the wire.
struct Said<'r> {
    at_us: i128,
    case: usize,
    session: u32,
    frame: &'r Frame,
}

fn recording(report: &Report, cases: Vec<usize>, name: &dyn Fn(&CaseReport, u32) -> String) -> Recording {
    let mut said: Vec<Said<'_>> = Vec::new();
    for index in &cases {
        let case = &report.cases[*index];
        let run = report.runs.get(case.run).and_then(|run| run.started.as_ref());
        let began = run.map_or(0, |run| i128::from(run.started_unix_ms) * 1_000);
        for (session, frame) in case.frames.iter().filter(|(_, frame)| frame.part == WirePart::Message) {
            let offset = case.sessions.iter().find(|open| open.session == *session).map_or(0, |open| open.began_us);
            let at_us = began + i128::from(offset) + i128::from(frame.at_us);
            said.push(Said { at_us, case: *index, session: *session, frame });
        }
    }
    // Sorting is stable, so that frames of one session stay in their order.
    said.sort_by_key(|said| said.at_us);
    let mut taken = Taken { recording: Recording::default(), open: HashMap::new(), calls: 0 };
    // A log has no times for an agent's prompts; the text of its user is familiar from the beginning.
    let finished = cases.iter().filter_map(|index| report.cases[*index].finished.as_ref());
    for agent in finished.filter_map(|finished| finished.agent.as_ref()) {
        taken.recording.trace.extend(agent.prompts.iter().cloned().map(TraceEvent::Prompt));
    }
    for said in &said {
        let case = &report.cases[said.case];
        taken.take(said, name(case, said.session));
    }
    let mut recording = taken.recording;
    let first = cases.first().map(|index| report.cases[*index].started.name.clone());
    recording.name = first.unwrap_or_default();
    let sessions = cases.iter().flat_map(|index| &report.cases[*index].sessions);
    recording.protocols = sessions.map(|session| session.protocol.clone()).collect();
    recording.protocols.dedup();
    recording.cases = cases;
    recording
}

struct Taken {
    recording: Recording,
    /// The call that a request belongs to, by case, session and id.
    open: HashMap<(usize, u32, String), usize>,
    calls: usize,
}

impl Taken {
    fn take(&mut self, said: &Said<'_>, server: String) {
        let is_wanted = matches!(said.frame.kind, FrameKind::Request | FrameKind::Reply);
        let Some(message) = Some(&said.frame.body).filter(|_| is_wanted) else { return };
        let Some(message) = bounded_json::parse(message) else { return };
        let id = message.get("id").map(ToString::to_string).unwrap_or_default();
        let key = (said.case, said.session, id);
        match said.frame.direction {
            Direction::Sent if said.frame.kind == FrameKind::Request => self.request(key, server, &message),
            Direction::Received if said.frame.kind == FrameKind::Reply => {
                if let (Some(call), Some(result)) = (self.open.remove(&key), message.get("result")) {
                    self.recording.trace.push(TraceEvent::result(call, result.clone()));
                }
            }
            Direction::Sent | Direction::Received => {}
        }
    }

    fn request(&mut self, key: (usize, u32, String), server: String, message: &Value) {
        let session = format!("{}/{}", key.0, key.1);
        let position = self.recording.claims.len();
        self.recording.claims.push(RequestClaim::of_message(session, position, message));
        let params = message.get("params").filter(|_| message.get("method") == Some(&Value::from("tools/call")));
        let Some(params) = params else { return };
        let tool = params.get("name").and_then(Value::as_str).unwrap_or_default();
        let arguments = params.get("arguments").cloned().unwrap_or_else(|| Value::Object(serde_json::Map::new()));
        // Since 2026-07-28 a call that needs input is sent again with the answers; it is the same call.
        if params.get("inputResponses").is_some() {
            self.open.insert(key, self.calls.saturating_sub(1));
            return;
        }
        if !self.recording.servers.contains(&server) {
            self.recording.servers.push(server.clone());
        }
        self.open.insert(key, self.calls);
        self.calls += 1;
        self.recording.trace.push(TraceEvent::call(server, tool, arguments));
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use mcprove_model::{CaseStarted, Connected, Event, RunStarted};
    use serde_json::json;

    use super::*;

    fn log(server: &str, file: &str, index: usize, frames: &[(u64, Direction, Value)]) -> Vec<Event> {
        let started = CaseStarted {
            index,
            name: format!("case {index}"),
            file: file.to_owned(),
            line: 1,
            trial: 1,
            server: Some(server.to_owned()),
            variant: None,
            tags: Vec::new(),
        };
        let mut events = vec![
            Event::RunStarted(RunStarted {
                format: RunStarted::FORMAT,
                program: "mcprove".to_owned(),
                started_unix_ms: 5,
                total: 1,
                jobs: 1,
                strict: false,
                shard: None,
                again: Vec::new(),
                context: None,
            }),
            Event::CaseStarted(started),
            Event::Connected(Connected {
                index,
                session: 0,
                server: None,
                began_us: 0,
                transport: "stdio".to_owned(),
                protocol: "2025-11-25".to_owned(),
                server_name: server.to_owned(),
                server_version: String::new(),
            }),
        ];
        for (at_us, direction, message) in frames {
            let kind = if message.get("method").is_some() { FrameKind::Request } else { FrameKind::Reply };
            let body = Bytes::from(message.to_string());
            let frame = Frame { at_us: *at_us, direction: *direction, part: WirePart::Message, kind, body };
            events.push(Event::Frame { index, session: 0, frame });
        }
        events
    }

    fn call(id: u64, tool: &str, text: &str) -> Value {
        json!({"id": id, "method": "tools/call", "params": {"name": tool, "arguments": {"text": text}}})
    }

    fn report(logs: Vec<Vec<Event>>) -> Report {
        let mut report = Report::default();
        for event in logs.into_iter().flatten() {
            report.add(event);
        }
        report.settle();
        report
    }

    #[test]
    fn what_was_overheard_of_several_servers_is_one_conversation_in_the_order_of_time() {
        let (sent, received) = (Direction::Sent, Direction::Received);
        let fetched = json!({"content": [{"type": "text", "text": "page"}]});
        let one = log(
            "fetcher",
            "(intercept)",
            0,
            &[
                (10, sent, call(1, "fetch", "a")),
                (20, received, json!({"id": 1, "result": fetched})),
                (90, sent, call(2, "fetch", "b")),
            ],
        );
        let two = log("database", "(intercept)", 0, &[(50, sent, call(1, "query", "page"))]);
        let report = report(vec![one, two]);
        let told = recordings(&report, &|case, _| case.started.server.clone().unwrap_or_default());
        assert_eq!(told.len(), 1);
        assert_eq!((told[0].calls(), told[0].servers.join(" ")), (3, "fetcher database".to_owned()));
        assert_eq!(
            told[0].trace,
            [
                TraceEvent::call("fetcher", "fetch", json!({"text": "a"})),
                TraceEvent::result(0, fetched),
                TraceEvent::call("database", "query", json!({"text": "page"})),
                TraceEvent::call("fetcher", "fetch", json!({"text": "b"})),
            ]
        );
    }

    #[test]
    fn each_case_of_a_suite_stands_alone() {
        let frames = [(1, Direction::Sent, call(1, "t", "x"))];
        let report = report(vec![[log("a", "s.yaml", 0, &frames), log("a", "s.yaml", 1, &frames)].concat()]);
        assert_eq!(recordings(&report, &|_, _| "a".to_owned()).len(), 2);
    }
}
