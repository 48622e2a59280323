//! A conversation with one server: requests, their outcomes, and everything else that was said.

mod connect;
mod drain;
mod handshake;
mod inbox;
mod input_required;
mod lists;
mod live_request;
mod modern;
mod overlapping;
mod requests;
mod responders;
mod subscriptions;
mod window;

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use mcprove_model::{
    ClientCapabilities, Finding, Frame, Notification, Outcome, ProcessEnd, Protocol, Refused, Revision,
};
use serde_json::Value;
use tokio::time::Instant;

use crate::flood::Flood;
use crate::frame_log::FrameLog;
use crate::memory_reservation::MemoryReservation;
use crate::non_protocol_output::NonProtocolOutput;
use crate::transport::Transport;
use crate::{Limits, SpawnError};

pub use connect::Endpoint;
pub use lists::Listing;
pub use live_request::{LiveRequest, Question, Step};
pub use overlapping::Finished;
pub use requests::ToolCall;
pub use responders::roots_result;

/// An open session. One owner drives it: waiting for a reply is what moves messages in both directions.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Session {
    transport: Transport,
    limits: Limits,
    client: ClientCapabilities,
    negotiated: Negotiated,
    log: FrameLog,
    next_id: u64,
    pending: Vec<Pending>,
    cancelled: Vec<u64>,
    notifications: Vec<Notification>,
    /// Memory taken by notifications and requests of the server.
    kept: MemoryReservation,
    flood: Flood,
    non_protocol: NonProtocolOutput,
    oddities: Vec<Finding>,
    server_requests: Vec<ServerRequest>,
    sampled: usize,
    elicited: usize,
    accepts_any_handshake: bool,
    request_timeout: Option<Duration>,
    /// Requests of the server that the caller answers.
    questions: VecDeque<Question>,
    /// Standing subscriptions of the modern era: the resource and the request that stands for it.
    subscriptions: Vec<(String, u64)>,
    /// Requests that were answered after they had been cancelled.
    late_replies: Vec<u64>,
    /// The log level asked for; in the modern era every request says it.
    log_level: Option<String>,
    /// Capabilities that requests claim instead of the real ones.
    claims: Option<Value>,
    /// Input schemas of the tools, where the modern era on HTTP needs them and once they are known.
    schemas: Option<HashMap<String, Value>>,
    /// The request on whose exchange the message that is being taken in came.
    origin: Option<u64>,
    /// The HTTP status of the last answer.
    status: Option<u16>,
    /// The server no longer knows the session.
    lost: bool,
    torn: bool,
    closed: Option<(String, Option<ProcessEnd>)>,
    /// A request ended because the server did.
    is_end_reported: bool,
}

/// Options for opening a session.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// Bounds on what is kept and waited for.
    pub limits: Limits,
    /// Capabilities of the client.
    pub client: ClientCapabilities,
    /// The protocol revision to speak.
    pub protocol: Protocol,
    /// Time limit for the request that detects the server's era.
    pub probe_timeout: Duration,
    /// True if a handshake is accepted that official clients refuse.
    pub accepts_any_handshake: bool,
    /// The time in which every request must be answered, where it ends before the caller's deadline.
    pub request_timeout: Option<Duration>,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            client: ClientCapabilities::default(),
            protocol: Protocol::default(),
            probe_timeout: Duration::from_secs(2),
            accepts_any_handshake: false,
            request_timeout: None,
        }
    }
}

/// Result of the negotiation between client and server.
#[derive(Clone, Debug)]
pub struct Negotiated {
    /// The protocol revision.
    pub revision: Revision,
    /// The server's own name.
    pub server_name: String,
    /// The server's own version.
    pub server_version: String,
    /// Capabilities of the server.
    pub capabilities: Value,
    /// The server's instructions to its users.
    pub instructions: Option<String>,
    /// The result of the handshake as it came.
    pub result: Value,
}

/// A request the server made of us, and our answer.
#[derive(Clone, Debug)]
pub struct ServerRequest {
    /// The method.
    pub method: String,
    /// Its params.
    pub params: Value,
    /// True if we gave a result rather than an error.
    pub answered: bool,
}

/// Reason why a session could not be opened: something about the subject, with all evidence.
#[derive(Debug)]
pub struct OpenFailure {
    /// The stage that failed.
    pub stage: Stage,
    /// One lowercase fragment: what went wrong.
    pub message: String,
    /// Advice on what to do next.
    pub help: Option<String>,
    /// The bytes received instead of the reply, if any.
    pub evidence: Option<Bytes>,
    /// The HTTP status that refused it, when one did.
    pub status: Option<u16>,
    /// A fresh connection may do better with this protocol: the server went away when it was asked for its era.
    pub again: Option<Protocol>,
    /// The rest of what is known.
    pub closing: Closing,
}

/// Stages of opening a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The process could not be started, or the URL could not be reached.
    Start,
    /// The handshake was not completed.
    Handshake,
}

/// Record of a closed session.
#[derive(Debug, Default)]
pub struct Closing {
    /// Everything sent and received.
    pub frames: Vec<Frame>,
    /// Oddities that fail nothing by themselves.
    pub oddities: Vec<Finding>,
    /// Every notification, in order.
    pub notifications: Vec<Notification>,
    /// Requests the server made of us.
    pub server_requests: Vec<ServerRequest>,
    /// The end of the server's standard error.
    pub stderr: String,
    /// Exit of the process, if there was one.
    pub end: Option<ProcessEnd>,
}

/// A request that has been sent.
#[derive(Debug)]
struct Pending {
    id: u64,
    method: String,
    request: Bytes,
    sent_at: Instant,
    /// It stays open on purpose: a subscription.
    stands: bool,
    /// It was sent as raw bytes: any reply that answers nothing else is its reply.
    raw: bool,
    /// Something that may be a broken reply to this request, and until when the right one is awaited.
    suspect: Option<Suspect>,
    /// The refusal that it ends with if nothing more comes.
    refusal: Option<Box<Refused>>,
    answer: Option<Answer>,
}

/// A message that may be a broken reply.
#[derive(Debug)]
struct Suspect {
    /// The end of the wait for the right one.
    until: Instant,
    /// The id of the finding if the right one comes.
    rule: &'static str,
    fault: String,
    outcome: Outcome,
    bytes: Bytes,
}

impl Suspect {
    /// The outcome of the request and its reply, as no other reply came.
    fn into_reply(self) -> (Outcome, Option<Bytes>) {
        (self.outcome, Some(self.bytes))
    }
}

/// Answer to a request.
#[derive(Debug)]
struct Answer {
    outcome: Outcome,
    reply: Bytes,
    elapsed_us: u64,
}

impl Session {
    fn new(transport: Transport, options: &SessionOptions) -> Self {
        Self {
            transport,
            limits: options.limits,
            client: options.client.clone(),
            negotiated: Negotiated {
                revision: Revision::NEWEST_LEGACY,
                server_name: String::new(),
                server_version: String::new(),
                capabilities: Value::Null,
                instructions: None,
                result: Value::Null,
            },
            log: FrameLog::new(options.limits),
            next_id: 1,
            pending: Vec::new(),
            cancelled: Vec::new(),
            notifications: Vec::new(),
            kept: MemoryReservation::default(),
            flood: Flood::default(),
            non_protocol: NonProtocolOutput::default(),
            oddities: Vec::new(),
            server_requests: Vec::new(),
            sampled: 0,
            elicited: 0,
            accepts_any_handshake: options.accepts_any_handshake,
            request_timeout: options.request_timeout,
            questions: VecDeque::new(),
            subscriptions: Vec::new(),
            late_replies: Vec::new(),
            log_level: None,
            claims: None,
            schemas: None,
            origin: None,
            status: None,
            lost: false,
            torn: false,
            closed: None,
            is_end_reported: false,
        }
    }

    /// Opens a session over a transport that is there already.
    pub async fn open(
        transport: Transport,
        options: &SessionOptions,
        deadline: Instant,
    ) -> Result<Self, Box<OpenFailure>> {
        let mut session = Self::new(transport, options);
        match session.agree(options.protocol, options.probe_timeout, deadline).await {
            Ok(()) => Ok(session),
            Err(refusal) => Err(Box::new(refusal.into_failure(session).await)),
        }
    }

    /// Result of the negotiation between client and server.
    pub fn negotiated(&self) -> &Negotiated {
        &self.negotiated
    }

    /// The name of the transport.
    pub fn transport_name(&self) -> &'static str {
        self.transport.name()
    }

    /// Every notification so far.
    pub fn notifications(&self) -> &[Notification] {
        &self.notifications
    }

    /// The headers of the last response to a POST; nothing where the server does not speak HTTP.
    pub fn response_headers(&self) -> Option<&[(String, String)]> {
        self.log.response_headers()
    }

    /// Every request the server made of us so far.
    pub fn server_requests(&self) -> &[ServerRequest] {
        &self.server_requests
    }

    /// True if the server is still there, as far as we know.
    pub fn is_open(&self) -> bool {
        self.closed.is_none() && !self.lost
    }

    /// Start of the session; its frames count from here.
    pub fn began(&self) -> Instant {
        self.log.began()
    }

    /// Standard error of the server so far.
    pub fn stderr(&self) -> String {
        self.transport.stderr()
    }

    /// Ends the session and, with it, the server.
    pub async fn close(mut self) -> Closing {
        // Boxed to keep the callers' futures small.
        let ended = Box::pin(self.transport.close(&self.limits)).await;
        // The transport is gone, but what it still had to say is part of the conversation.
        self.transport = Transport::memory(&self.limits).0;
        for arrival in ended.late {
            self.take_in(arrival);
        }
        let is_crash = |end: &ProcessEnd| end.is_crash() || ended.by_itself && end.was_killed();
        if let Some(end) = ended.end.filter(|end| is_crash(end) && !self.is_end_reported) {
            let text = format!("the server {end} after its last reply");
            self.keep_odd(Finding::warning("crash-after-reply", text));
        }
        self.into_closing(ended.stderr, ended.end)
    }

    fn into_closing(mut self, stderr: String, end: Option<ProcessEnd>) -> Closing {
        self.oddities.extend(self.non_protocol.finding());
        self.flood.frames += self.log.take_left_out();
        self.oddities.extend(std::mem::take(&mut self.flood).finding());
        Closing {
            frames: self.log.take(),
            oddities: self.oddities,
            notifications: self.notifications,
            server_requests: self.server_requests,
            stderr,
            end,
        }
    }
}

impl OpenFailure {
    /// The failure of a process that could not be started.
    pub fn not_started(error: &SpawnError) -> Self {
        Self {
            stage: Stage::Start,
            message: error.to_string(),
            help: Some(error.help().to_owned()),
            evidence: None,
            status: None,
            again: None,
            closing: Closing::default(),
        }
    }
}
