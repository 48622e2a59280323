//! A conversation of a scripted client with one server.

mod sending;

use std::time::Duration;

use mcprove_model::{Era, Revision};
use mcprove_suite::scenario_file::ScenarioTransport;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use super::behaviour::Behaviour;
use super::link::{Incoming, Link};
use super::mutation::{self, Reply};
use crate::host::servers::HostServers;

/// The time between two messages of a client, so that nothing happens at once.
const STEP: Duration = Duration::from_millis(1);
/// The time in which a healthy server answers a ping.
const PING: Duration = Duration::from_secs(2);
/// The time that a refusal without one asks for.
const LIMITED: Duration = Duration::from_secs(1);
/// Limits of a client that crashes: a number of messages, or of bytes.
const NOISE: usize = 200;
const LARGE: usize = 1 << 20;
/// The beginning of a canary.
const CANARY: &str = "CANARY-";

/// Name and version of a client.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    pub(super) era: Era,
    pub(super) capabilities: Value,
    /// The mutation that breaks a rule; empty for none.
    pub(super) mutation: &'static str,
}

impl Identity {
    pub(super) fn revision(&self) -> Revision {
        match self.era {
            Era::Legacy => Revision::NEWEST_LEGACY,
            Era::Modern => Revision::NEWEST,
        }
    }
}

/// The outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Called {
    Done,
    /// Refused for good.
    Refused,
    /// Refused for a while.
    Limited(Duration),
    /// The tool is unknown, or its arguments do not fit.
    Unsuitable,
    Failed,
    /// No reply in time.
    Silent,
    /// The connection ended.
    Lost,
    /// The client itself ended.
    Crashed,
}

/// A conversation.
pub(super) struct ClientSession {
    number: usize,
    transport: ScenarioTransport,
    identity: Identity,
    token: Option<String>,
    link: Option<Link>,
    next_id: i64,
    tools: Vec<Value>,
    is_stale: bool,
    changes: usize,
    canaries: Vec<String>,
    agreed: bool,
    /// Messages other than replies.
    noise: usize,
}

impl ClientSession {
    pub(super) fn new(number: usize, transport: ScenarioTransport, identity: Identity, token: Option<String>) -> Self {
        Self {
            number,
            transport,
            identity,
            token,
            link: None,
            next_id: 0,
            tools: Vec::new(),
            is_stale: false,
            changes: 0,
            canaries: Vec::new(),
            agreed: false,
            noise: 0,
        }
    }

    pub(super) fn take_canaries(&mut self) -> Vec<String> {
        std::mem::take(&mut self.canaries)
    }

    /// Connects, shakes hands and lists the tools.
    pub(super) async fn open(&mut self, servers: &mut HostServers, behaviour: &Behaviour) {
        self.connect(servers, behaviour).await;
        if !self.agreed {
            return;
        }
        self.list(servers, behaviour).await;
        for extra in mutation::extras(self.identity.mutation, self.identity.era) {
            self.send_extra(extra).await;
        }
        if let Some(method) =
            mutation::bare(self.identity.mutation).filter(|_| self.transport == ScenarioTransport::Http)
        {
            self.send_bare(method);
        }
    }

    async fn connect(&mut self, servers: &mut HostServers, behaviour: &Behaviour) {
        let link = match self.transport {
            ScenarioTransport::Stdio => Link::lines(servers.connect_lines(self.number)),
            ScenarioTransport::Http => Link::http(servers.connect_http(self.number)),
        };
        self.link = Some(link);
        self.agreed = false;
        if self.identity.era == Era::Modern {
            self.agreed = true;
            let id = self.start("server/discover", json!({})).await;
            let _ = self.reply(&id, PING, behaviour).await;
            return;
        }
        if self.identity.mutation == "lists-first" {
            let id = self.start("tools/list", json!({})).await;
            let _ = self.reply(&id, PING, behaviour).await;
        }
        let params = json!({
            "protocolVersion": self.identity.revision().as_str(),
            "capabilities": self.identity.capabilities,
            "clientInfo": {"name": "mcprove-scripted", "version": env!("CARGO_PKG_VERSION")},
        });
        let id = self.start("initialize", params).await;
        if self.identity.mutation == "eager" {
            self.start("tools/list", json!({})).await;
        }
        if matches!(self.reply(&id, PING, behaviour).await, Ok(reply) if reply.get("result").is_some()) {
            self.agreed = true;
            if self.identity.mutation != "no-initialized" {
                self.notify("notifications/initialized", Value::Null).await;
            }
        }
        if self.identity.mutation == "cancels-initialize" {
            self.notify("notifications/cancelled", json!({"requestId": id})).await;
        }
    }

    /// Lists the tools, all pages.
    pub(super) async fn list(&mut self, servers: &mut HostServers, behaviour: &Behaviour) {
        self.is_stale = false;
        let mut tools = Vec::new();
        let mut cursor: Option<Value> = None;
        for _ in 0..100 {
            let params = cursor.take().map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
            let id = self.start("tools/list", params).await;
            let wait = behaviour.timeout.unwrap_or(PING);
            let Ok(reply) = self.reply(&id, wait, behaviour).await else {
                self.repair(servers, behaviour).await;
                return;
            };
            let page = reply.pointer("/result/tools").and_then(Value::as_array).cloned().unwrap_or_default();
            self.read_canaries(&json!(page));
            tools.extend(page);
            cursor = reply.pointer("/result/nextCursor").cloned();
            if cursor.is_none() {
                break;
            }
        }
        self.tools = tools;
    }

    /// Lists the tools again if the server said that they changed.
    pub(super) async fn refresh_list(&mut self, servers: &mut HostServers, behaviour: &Behaviour) {
        let changes = std::mem::take(&mut self.changes);
        if behaviour.lists_every_time {
            for _ in 0..changes {
                self.list(servers, behaviour).await;
            }
        } else if self.is_stale && behaviour.relists {
            self.list(servers, behaviour).await;
        }
    }

    /// The tool of the list that a call means, with the arguments that its schema requires.
    pub(super) fn nearest_tool(&self, name: &str, args: &Value) -> Option<(String, Value)> {
        let is_meant =
            |tool: &&Value| tool["name"].as_str().is_some_and(|other| other == name || other.starts_with(name));
        let tool = self.tools.iter().find(is_meant)?;
        let mut args = args.clone();
        for required in tool.pointer("/inputSchema/required").and_then(Value::as_array).into_iter().flatten() {
            let Some(key) = required.as_str().filter(|key| args.get(*key).is_none()) else { continue };
            let kind = tool.pointer(&format!("/inputSchema/properties/{key}/type")).and_then(Value::as_str);
            args[key] = if kind == Some("boolean") { json!(true) } else { json!("x") };
        }
        Some((tool["name"].as_str()?.to_owned(), args))
    }

    /// Calls a tool once.
    pub(super) async fn call_tool(
        &mut self,
        servers: &mut HostServers,
        tool: &str,
        args: &Value,
        behaviour: &Behaviour,
    ) -> Called {
        if !self.agreed {
            return Called::Lost;
        }
        let token = format!("p{}", self.next_id + 1);
        let mut params = json!({"name": tool, "arguments": args, "_meta": {"progressToken": token}});
        for _ in 0..5 {
            let id = self.start("tools/call", params.clone()).await;
            let wait = behaviour.timeout.unwrap_or(Duration::from_hours(24));
            let reply = match self.reply(&id, wait, behaviour).await {
                Ok(reply) => reply,
                Err(ended) => return self.ended(&id, ended, servers, behaviour).await,
            };
            if let Some(error) = reply.get("error") {
                return refused(error);
            }
            let result = &reply["result"];
            if behaviour.crashes && result.to_string().len() > LARGE {
                return Called::Crashed;
            }
            self.read_canaries(result);
            if result["resultType"] != "input_required" {
                return Called::Done;
            }
            let responses = result["inputRequests"].as_object().into_iter().flatten();
            let responses: serde_json::Map<String, Value> =
                responses.map(|(key, _)| (key.clone(), json!({"action": "decline"}))).collect();
            params["inputResponses"] = Value::Object(responses);
            if let Some(state) = result.get("requestState") {
                let changed = self.identity.mutation == "changes-state";
                params["requestState"] = if changed { json!("made-up") } else { state.clone() };
            }
        }
        Called::Failed
    }

    /// A call that was not answered.
    async fn ended(&mut self, id: &Value, ended: Called, servers: &mut HostServers, behaviour: &Behaviour) -> Called {
        if ended == Called::Silent {
            let is_stream = self.transport == ScenarioTransport::Http && self.identity.era == Era::Modern;
            if behaviour.cancels && !is_stream {
                self.notify("notifications/cancelled", json!({"requestId": id, "reason": "no reply in time"})).await;
            }
            if let Some(link) = &mut self.link {
                link.abort(id);
            }
            if behaviour.cancels {
                self.repair(servers, behaviour).await;
            }
        }
        if ended == Called::Lost {
            if behaviour.hangs_when_closed {
                std::future::pending::<()>().await;
            }
            if self.transport == ScenarioTransport::Stdio {
                self.connect(servers, behaviour).await;
            }
        }
        ended
    }

    /// Connects again if the server does not answer at all.
    async fn repair(&mut self, servers: &mut HostServers, behaviour: &Behaviour) {
        let method = if self.identity.era == Era::Modern { "server/discover" } else { "ping" };
        let id = self.start(method, json!({})).await;
        if self.reply(&id, PING, behaviour).await.is_err() {
            if let Some(link) = self.link.take() {
                link.close().await;
            }
            self.connect(servers, behaviour).await;
        }
    }

    /// Waits for a reply, and deals with everything else that comes.
    async fn reply(&mut self, id: &Value, wait: Duration, behaviour: &Behaviour) -> Result<Value, Called> {
        let deadline = Instant::now() + wait;
        loop {
            let Some(link) = &mut self.link else { return Err(Called::Lost) };
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(incoming) = timeout(left, link.receive()).await else { return Err(Called::Silent) };
            match incoming {
                Incoming::Message(message) => {
                    let is_reply = message.get("method").is_none();
                    if is_reply && message.get("id") == Some(id) {
                        return Ok(message);
                    }
                    self.noise += 1;
                    if behaviour.crashes && (is_reply || self.noise > NOISE) {
                        return Err(Called::Crashed);
                    }
                    if !is_reply {
                        self.asked(&message, behaviour).await;
                    } else if self.transport == ScenarioTransport::Http {
                        // The exchange ended without a reply to it.
                        return Err(Called::Failed);
                    }
                }
                Incoming::Status(status, headers, of) if of == *id => {
                    return Err(match status {
                        429 => {
                            let seconds = headers.get("retry-after").and_then(|wait| wait.parse().ok());
                            Called::Limited(seconds.map_or(LIMITED, Duration::from_secs))
                        }
                        401 | 403 => Called::Refused,
                        _ => Called::Failed,
                    });
                }
                Incoming::Closed(of) if of.is_null() || of == *id => return Err(Called::Lost),
                // On pipes it is unknown which call it belongs to; over HTTP it is clear.
                Incoming::Garbage(of) if of == *id => return Err(Called::Failed),
                Incoming::Status(..) | Incoming::Closed(_) | Incoming::Garbage(_) => {}
            }
        }
    }

    /// Deals with a request or a notification of the server.
    async fn asked(&mut self, message: &Value, behaviour: &Behaviour) {
        let method = message["method"].as_str().unwrap_or_default();
        let Some(id) = message.get("id") else {
            if method == "notifications/tools/list_changed" {
                self.is_stale = true;
                self.changes += 1;
            }
            return;
        };
        // 2026-07-28 has no requests of servers; they are not answered.
        if self.identity.era == Era::Modern {
            if self.identity.mutation == "answers-modern" {
                self.put(&json!({"jsonrpc": "2.0", "id": id, "result": {}})).await;
            }
            return;
        }
        let capability = match method {
            "sampling/createMessage" => "sampling",
            "elicitation/create" => "elicitation",
            "roots/list" => "roots",
            _ => "",
        };
        let is_declared = self.identity.capabilities.get(capability).is_some() || behaviour.answers_undeclared;
        let answer = match method {
            "ping" => Ok(json!({})),
            "sampling/createMessage" if is_declared => Ok(json!({
                "role": "assistant", "content": {"type": "text", "text": "Hello"}, "model": "scripted",
            })),
            "elicitation/create" if is_declared => Ok(json!({"action": "decline"})),
            "roots/list" if is_declared => Ok(json!({"roots": []})),
            _ => Err(json!({"code": -32_601, "message": "method not found"})),
        };
        let reply = match answer {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
        };
        let replies = match mutation::reply(self.identity.mutation, reply) {
            Reply::Send(replies) => replies,
            Reply::Nothing => return,
        };
        for reply in replies {
            self.put(&reply).await;
        }
    }

    fn read_canaries(&mut self, value: &Value) {
        let text = value.to_string();
        let found = text.match_indices(CANARY).map(|(at, _)| {
            text[at..].chars().take_while(|char| char.is_ascii_alphanumeric() || *char == '-').collect::<String>()
        });
        self.canaries.extend(found);
    }

    pub(super) async fn close(self) {
        sleep(STEP).await;
        if let Some(link) = self.link {
            link.close().await;
        }
    }
}

/// The request of an error.
fn refused(error: &Value) -> Called {
    match error["code"].as_i64() {
        Some(-32_000) => {
            let wait = error.pointer("/data/retryAfterMs").and_then(Value::as_u64);
            Called::Limited(wait.map_or(LIMITED, Duration::from_millis))
        }
        Some(-32_001) => Called::Refused,
        Some(-32_602) => Called::Unsuitable,
        _ => Called::Failed,
    }
}
