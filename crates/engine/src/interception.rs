//! A recorded conversation as events of a run: one case for the conversation, one for each expectation it is
//! judged by.
//!
//! Long because one state follows the whole conversation.

use std::collections::BTreeMap;
use std::time::Instant;

use mcprove_judge::trace;
use mcprove_model::{
    CallRecord, CallRole, CaseFinished, CaseStarted, Connected, Direction, Event, Finding, Frame, FrameKind,
    Observation, Outcome, ProcessEnd, RunFinished, RunStarted, Severity, TracedCall, Verdict, WirePart, bounded_json,
    escape_line, shorten,
};
use mcprove_suite::recorded::REPEATABLE;
use mcprove_suite::trajectories::WantedTrajectory;
use mcprove_wire::{Message, Reply, ReplyBody, TappedMessage, classify, is_ambiguous};
use serde_json::Value;

use crate::expectations;
use crate::run::Sink;

/// The method that calls a tool.
const CALL: &str = "tools/call";

/// Bytes of messages that the log has at most.
const LOGGED: usize = 256 << 20;
/// Memory for calls, their arguments and their answers.
const KEPT: usize = 64 << 20;
/// Maximum number of requests that wait for their answers, and length of their ids.
const OPEN: usize = 10_000;
const LONG_ID: usize = 1 << 10;
/// Memory that a frame takes in the log besides its text.
const ITEM: usize = 72;
/// Maximum number of calls kept for the report; the log holds all of them.
const CALLS: usize = 10_000;
/// Maximum length of a request or reply kept for display; the frames hold all of it.
const SHOWN: usize = 4_000;

/// Facts about a conversation before it begins.
#[derive(Clone, Debug)]
pub struct InterceptionOptions {
    /// Name and version of the program, for the log.
    pub program: String,
    /// Wall-clock start, milliseconds since the Unix epoch.
    pub started_unix_ms: u64,
    /// The server, as people call it.
    pub server: String,
    /// `stdio` or `http`.
    pub transport: &'static str,
    /// The expectations it is judged by at the end.
    pub wanted: Vec<WantedTrajectory>,
    /// True if the answers to calls are kept; they can be large.
    pub keep_answers: bool,
}

/// End of a conversation.
#[derive(Clone, Debug, Default)]
pub struct InterceptionEnd {
    /// The end of the server's standard error.
    pub stderr: String,
    /// Exit status of the server process, if there was one.
    pub process_end: Option<ProcessEnd>,
}

/// Something worth telling at once.
#[derive(Clone, Debug, PartialEq)]
pub enum CallNews {
    /// A tool was called.
    Called {
        /// Which call, from 1.
        number: usize,
        /// The tool.
        tool: String,
        /// Its arguments.
        args: Value,
    },
    /// The client sent something that cannot be read.
    Unreadable {
        /// Its beginning.
        text: String,
    },
    /// A call was answered.
    Answered {
        /// Which call.
        number: usize,
        /// The tool.
        tool: String,
        /// How.
        how: Answer,
        /// Duration of the call.
        after_us: u64,
    },
}

/// Kind of answer to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// With a result.
    Result,
    /// With a result that is marked `isError`.
    IsError,
    /// With a JSON-RPC error.
    Error(String),
    /// With something that breaks the protocol.
    Broken(String),
}

/// A call of a tool, as far as it is known.
#[derive(Clone, Debug)]
pub struct ObservedCall {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub args: Value,
    /// Its result or its error; nothing while it is not answered.
    pub outcome: Option<Result<Value, Value>>,
    /// When it was made.
    pub at_us: u64,
    /// Duration of the call.
    pub elapsed_us: u64,
}

/// A read of a resource or a request for a prompt, as far as it is known.
#[derive(Clone, Debug)]
pub struct ObservedRequest {
    /// `resources/read` or `prompts/get`.
    pub method: String,
    /// Its parameters.
    pub params: Value,
    /// Its result or its error; nothing while it is not answered.
    pub outcome: Option<Result<Value, Value>>,
    /// The number of calls of tools made before it.
    pub after_calls: usize,
}

/// Facts about the client that a suite needs to repeat the calls.
#[derive(Clone, Debug, Default)]
pub struct ObservedClient {
    /// Capabilities that the client declared.
    pub capabilities: Value,
    /// True if a handshake was seen.
    pub initialized: bool,
    /// The client's answers to the server, by method, in order.
    pub answers: Vec<(String, Value)>,
}

/// A request that is not answered yet.
#[derive(Debug)]
struct Open {
    method: String,
    at_us: u64,
    /// Its place in the list of calls of tools.
    call: Option<usize>,
    /// Its place in the list of reads and prompts.
    request: Option<usize>,
    /// Its place in the records of the case.
    record: Option<usize>,
}

/// A conversation on its way.
#[derive(Debug)]
pub struct Interception {
    about: InterceptionOptions,
    began: Instant,
    /// Requests that are not answered, by session, who asked, and id.
    open: BTreeMap<(u32, bool, String), Open>,
    records: Vec<CallRecord>,
    /// Messages of the client that could not be read, and the first of them.
    unreadable: usize,
    first_unreadable: Option<String>,
    /// Bytes of the messages in the log, and the number of those that are not in it.
    logged: usize,
    unlogged: usize,
    /// Memory for what is kept of calls, and the number of what is not kept.
    kept: usize,
    left_out: usize,
    /// The calls of tools, in order.
    pub calls: Vec<ObservedCall>,
    /// Reads of resources and requests for prompts, in order; kept where answers are kept.
    pub requests: Vec<ObservedRequest>,
    /// The number of requests that no test repeats, by method.
    pub other_requests: BTreeMap<String, usize>,
    /// Facts about the client.
    pub client: ObservedClient,
}

/// Requests of every client, which no test would repeat.
const USUAL: &[&str] = &[
    "initialize",
    "ping",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "server/discover",
    "tools/list",
];

impl Interception {
    /// Begins to listen.
    pub fn begin(about: InterceptionOptions, sink: &mut dyn Sink) -> Self {
        sink.event(Event::RunStarted(RunStarted {
            format: RunStarted::FORMAT,
            program: about.program.clone(),
            started_unix_ms: about.started_unix_ms,
            total: 1 + about.wanted.len(),
            jobs: 1,
            strict: false,
            shard: None,
            again: Vec::new(),
            context: None,
        }));
        sink.event(Event::CaseStarted(CaseStarted {
            index: 0,
            name: "intercepted conversation".to_owned(),
            file: "(intercept)".to_owned(),
            line: 1,
            trial: 1,
            server: Some(about.server.clone()),
            variant: None,
            tags: Vec::new(),
        }));
        Self {
            about,
            began: Instant::now(),
            open: BTreeMap::new(),
            records: Vec::new(),
            unreadable: 0,
            first_unreadable: None,
            logged: 0,
            unlogged: 0,
            kept: 0,
            left_out: 0,
            calls: Vec::new(),
            requests: Vec::new(),
            other_requests: BTreeMap::new(),
            client: ObservedClient::default(),
        }
    }

    /// Takes in what was said and returns what is worth telling at once.
    pub fn observe(&mut self, heard: TappedMessage, sink: &mut dyn Sink) -> Vec<CallNews> {
        let TappedMessage { at_us, session, direction, part, body } = heard;
        let mut news = Vec::new();
        let mut events = Vec::new();
        let kind = if part == WirePart::Message {
            let message = classify(&body);
            let kind = message.kind();
            let messages = match message {
                Message::Batch(messages) => messages,
                message => vec![message],
            };
            let said = ObservedMessage { at_us, session, direction, body: &body };
            let before = self.unreadable;
            for message in messages {
                self.message(message, &said, &mut news, &mut events);
            }
            // The server may have read another message than this one.
            if direction == Direction::Sent && self.unreadable == before && is_ambiguous(&body) {
                self.observe_non_protocol(&said, &mut news);
            }
            kind
        } else {
            FrameKind::Transport
        };
        if self.logged + body.len() + ITEM > LOGGED {
            self.unlogged += 1;
        } else {
            self.logged += body.len() + ITEM;
            let frame = Frame { at_us, direction, part, kind, body };
            sink.event(Event::Frame { index: 0, session, frame });
        }
        for event in events {
            sink.event(event);
        }
        news
    }

    fn message(
        &mut self,
        message: Message,
        said: &ObservedMessage<'_>,
        news: &mut Vec<CallNews>,
        events: &mut Vec<Event>,
    ) {
        match message {
            Message::Request { id, method, params } => self.request(&id, method, &params, said, news),
            Message::Reply(reply) => self.reply(reply, said, news, events),
            Message::NonProtocol(_) => self.observe_non_protocol(said, news),
            // A server may well make a call that wants no answer.
            Message::Notification { method, .. } if method == CALL => self.observe_non_protocol(said, news),
            Message::Notification { .. } | Message::Batch(_) => {}
        }
    }

    /// Takes text that is not a message. A server may still read it, so it may have been a call.
    fn observe_non_protocol(&mut self, said: &ObservedMessage<'_>, news: &mut Vec<CallNews>) {
        if said.direction == Direction::Sent && !said.body.trim_ascii().is_empty() {
            self.unreadable += 1;
            if self.first_unreadable.is_none() {
                let text = shorten(&escape_line(&shown(said.body)), 200).into_owned();
                news.push(CallNews::Unreadable { text: text.clone() });
                self.first_unreadable = Some(text);
            }
        }
    }

    /// True if there is room to keep a value; otherwise it is counted.
    fn has_room_for(&mut self, value: &Value) -> bool {
        let size = bounded_json::memory_of(value);
        let has_room = self.kept + size <= KEPT;
        if has_room {
            self.kept += size;
        } else {
            self.left_out += 1;
        }
        has_room
    }

    /// The findings about a conversation that is longer than what is kept of it. Without some of the calls, nothing that was
    /// not called is proven.
    fn floods(&self) -> [Option<Finding>; 2] {
        let finding = |count: usize, what: &str| {
            (count > 0)
                .then(|| Finding::error("flood", format!("{count} {what}")).help("send fewer and smaller messages"))
        };
        [
            finding(
                self.left_out,
                &format!("requests or replies were not kept: they take more than {} MiB", KEPT >> 20),
            ),
            finding(self.unlogged, &format!("messages are not in the log, which has {} MiB of them", LOGGED >> 20)),
        ]
    }

    /// The finding about messages that could not be read.
    fn unreadable(&self) -> Option<Finding> {
        let first = self.first_unreadable.clone()?;
        let count = match self.unreadable {
            1 => "1 message of the client".to_owned(),
            count => format!("{count} messages of the client"),
        };
        let text = format!("{count} could not be read, and may have called a tool");
        let mut finding = Finding::error("unreadable-message", text)
            .help("what did not happen cannot be proven; `--strict` does not pass such messages on");
        finding.actual = Some(first);
        Some(finding)
    }

    fn request(
        &mut self,
        id: &Value,
        method: String,
        params: &Value,
        said: &ObservedMessage<'_>,
        news: &mut Vec<CallNews>,
    ) {
        let from_client = said.direction == Direction::Sent;
        let mut open = Open { method, at_us: said.at_us, call: None, request: None, record: None };
        if from_client {
            if open.method == "initialize" {
                self.client.initialized = true;
                self.client.capabilities = params.get("capabilities").cloned().unwrap_or_default();
            }
            if let Some(TracedCall { tool, args }) = trace::called(&open.method, params) {
                if self.has_room_for(params) {
                    open.call = Some(self.calls.len());
                    let number = self.calls.len() + 1;
                    news.push(CallNews::Called { number, tool: tool.clone(), args: args.clone() });
                    self.calls.push(ObservedCall { tool, args, outcome: None, at_us: said.at_us, elapsed_us: 0 });
                }
            } else if open.method == CALL && !params.get("name").is_some_and(Value::is_string) {
                // A server may take something else for a name.
                self.observe_non_protocol(said, news);
            } else if REPEATABLE.contains(&open.method.as_str()) {
                if self.about.keep_answers && self.has_room_for(params) {
                    open.request = Some(self.requests.len());
                    let (method, params) = (open.method.clone(), params.clone());
                    let after_calls = self.calls.len();
                    self.requests.push(ObservedRequest { method, params, outcome: None, after_calls });
                }
            } else if !USUAL.contains(&open.method.as_str())
                && (self.other_requests.len() < OPEN && open.method.len() <= LONG_ID)
            {
                *self.other_requests.entry(open.method.clone()).or_default() += 1;
            }
            if !matches!(open.method.as_str(), "initialize" | "ping") && self.records.len() < CALLS {
                open.record = Some(self.records.len());
                let subject = params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str);
                self.records.push(CallRecord {
                    fault: None,
                    role: CallRole::Act,
                    method: open.method.clone(),
                    subject: subject.map(str::to_owned),
                    request: shown(said.body),
                    reply: None,
                    elapsed_us: 0,
                    server: None,
                });
            }
        }
        let id = id.to_string();
        if self.open.len() < OPEN && id.len() <= LONG_ID && open.method.len() <= LONG_ID {
            self.open.insert((said.session, from_client, id), open);
        } else if open.call.is_some() || open.request.is_some() {
            self.left_out += 1;
        }
    }

    fn reply(&mut self, reply: Reply, said: &ObservedMessage<'_>, news: &mut Vec<CallNews>, events: &mut Vec<Event>) {
        let to_client = said.direction == Direction::Received;
        let Some(id) = reply.id else { return };
        let Some(open) = self.open.remove(&(said.session, to_client, id.to_string())) else { return };
        let after_us = said.at_us.saturating_sub(open.at_us);
        if !to_client {
            if let ReplyBody::Result(result) = reply.body
                && self.has_room_for(&result)
            {
                self.client.answers.push((open.method, result));
            }
            return;
        }
        if let Some(record) = open.record.and_then(|at| self.records.get_mut(at)) {
            record.reply = Some(shown(said.body));
            record.elapsed_us = after_us;
        }
        // What is kept of a reply.
        let is_kept = (open.call.is_some() && (self.about.keep_answers || !matches!(reply.body, ReplyBody::Result(_))))
            || open.request.is_some();
        let has_room = is_kept
            && match &reply.body {
                ReplyBody::Result(result) => self.has_room_for(result),
                ReplyBody::Error(error) => self.has_room_for(&serde_json::to_value(error).unwrap_or_default()),
                ReplyBody::Broken(_) => true,
            };
        if let (Some(call), Some(number)) = (open.call.and_then(|at| self.calls.get_mut(at)), open.call) {
            call.elapsed_us = after_us;
            let how = match &reply.body {
                ReplyBody::Result(result) if result.get("isError") == Some(&Value::Bool(true)) => Answer::IsError,
                ReplyBody::Result(_) => Answer::Result,
                ReplyBody::Error(error) => Answer::Error(error.to_string()),
                ReplyBody::Broken(fault) => Answer::Broken(fault.clone()),
            };
            let tool = call.tool.clone();
            news.push(CallNews::Answered { number: number + 1, tool, how, after_us });
            call.outcome = outcome(reply.body).filter(|_| has_room);
        } else if let Some(request) = open.request.and_then(|at| self.requests.get_mut(at)) {
            request.outcome = outcome(reply.body).filter(|_| has_room);
        } else if let ("initialize", ReplyBody::Result(result)) = (open.method.as_str(), &reply.body) {
            events.push(Event::Connected(self.connected(said.session, result)));
        }
    }

    fn connected(&self, session: u32, result: &Value) -> Connected {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let server = result.get("serverInfo");
        Connected {
            index: 0,
            session,
            transport: self.about.transport.to_owned(),
            protocol: text(result.get("protocolVersion")),
            server_name: text(server.and_then(|server| server.get("name"))),
            server_version: text(server.and_then(|server| server.get("version"))),
            server: None,
            began_us: 0,
        }
    }

    /// Ends the conversation: judges it and reports the result.
    pub fn end(self, end: InterceptionEnd, sink: &mut dyn Sink) {
        let micros = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        let unanswered = self.open.values().filter_map(|open| self.calls.get(open.call?)).map(|call| {
            let finding =
                Finding::warning("unanswered-call", format!("the call of `{}` was never answered", call.tool));
            finding.help("the conversation ended first; look at what the server was doing")
        });
        let [left_out, unlogged] = self.floods();
        let unreadable: Vec<Finding> = self.unreadable().into_iter().chain(left_out).collect();
        let noted = unreadable.iter().cloned().chain(unlogged);
        let noted = noted.map(|finding| Finding { severity: Severity::Warning, ..finding });
        sink.event(Event::CaseFinished(CaseFinished {
            duration_us: micros,
            calls: self.records,
            stderr: end.stderr,
            process_end: end.process_end,
            ..CaseFinished::new(0, Verdict::Passed, unanswered.chain(noted).collect())
        }));
        let trace: Vec<TracedCall> =
            self.calls.into_iter().map(|call| TracedCall { tool: call.tool, args: call.args }).collect();
        for (at, wanted) in self.about.wanted.iter().enumerate() {
            judge(at + 1, wanted, (&trace, &unreadable), &self.about.server, sink);
        }
        sink.event(Event::RunFinished(RunFinished { duration_us: micros, interrupted: false, hint: None }));
    }
}

/// The result or the error of a reply; nothing if it breaks the protocol.
fn outcome(body: ReplyBody) -> Option<Result<Value, Value>> {
    match body {
        ReplyBody::Result(result) => Some(Ok(result)),
        ReplyBody::Error(error) => Some(Err(serde_json::to_value(error).unwrap_or_default())),
        ReplyBody::Broken(_) => None,
    }
}

/// One message, as it was said.
struct ObservedMessage<'b> {
    at_us: u64,
    session: u32,
    direction: Direction,
    body: &'b [u8],
}

fn judge(
    index: usize,
    wanted: &WantedTrajectory,
    (trace, unreadable): (&[TracedCall], &[Finding]),
    server: &str,
    sink: &mut dyn Sink,
) {
    let began = Instant::now();
    sink.event(Event::CaseStarted(CaseStarted {
        index,
        name: wanted.name.clone(),
        file: wanted.source.path().to_owned(),
        line: wanted.source.position(wanted.span.start).line,
        trial: 1,
        server: Some(server.to_owned()),
        variant: None,
        tags: Vec::new(),
    }));
    let mut seen = Observation::new(Outcome::Cancelled, String::new());
    seen.trace = trace.to_vec();
    let mut findings = expectations::judge(&wanted.source, &wanted.expect, &seen);
    findings.extend(unreadable.iter().map(|finding| finding.clone().at(wanted.source.place(wanted.span))));
    if trace.is_empty() {
        let text = "no tool was called, so nothing that is absent proves anything";
        findings.push(Finding::warning("empty-log", text).at(wanted.source.place(wanted.span)));
    }
    let failed = findings.iter().any(|finding| finding.fails(false));
    sink.event(Event::CaseFinished(CaseFinished {
        duration_us: u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX),
        ..CaseFinished::new(index, if failed { Verdict::Failed } else { Verdict::Passed }, findings)
    }));
}

fn shown(body: &[u8]) -> String {
    let head = String::from_utf8_lossy(&body[..body.len().min(SHOWN * 4)]);
    shorten(&head, SHOWN).into_owned()
}

#[cfg(test)]
mod tests;
