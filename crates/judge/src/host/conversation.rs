//! One conversation of a client with one server, with what both sides declared.

use std::borrow::Cow;

use mcprove_model::{Direction, Era, Revision, WirePart};
use serde_json::Value;

use super::evidence::{HostEvidence, HostFrame};
use crate::conformance::Channel;

/// Key of the revision in the `_meta` of a modern request.
pub(super) const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Key of the capabilities in the `_meta` of a modern request.
pub(super) const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// A conversation.
#[derive(Clone, Debug)]
pub struct Conversation<'e> {
    /// The server's name.
    pub server: &'e str,
    /// The transport.
    pub channel: Channel,
    /// All frames, in order.
    pub frames: Vec<&'e HostFrame>,
    /// The revision in use: agreed on, or named by the first modern request.
    pub revision: Option<Revision>,
    /// Capabilities that the client declared in its handshake, or in its first modern request.
    pub client: &'e Value,
    /// Capabilities that the server declared; `None` if it was not asked.
    pub declared: Option<&'e Value>,
}

impl<'e> Conversation<'e> {
    /// The conversations of the evidence in which the client said something.
    pub fn all(evidence: &'e HostEvidence) -> Vec<Self> {
        let mut keys: Vec<(usize, u32)> = Vec::new();
        for frame in evidence.frames.iter().filter(|frame| frame.direction == Direction::Sent) {
            if frame.part != WirePart::Closed && !keys.contains(&(frame.server, frame.session)) {
                keys.push((frame.server, frame.session));
            }
        }
        keys.into_iter().map(|(server, session)| Self::new(evidence, server, session)).collect()
    }

    fn new(evidence: &'e HostEvidence, server: usize, session: u32) -> Self {
        let frames: Vec<&HostFrame> =
            evidence.frames.iter().filter(|frame| (frame.server, frame.session) == (server, session)).collect();
        let about = &evidence.servers[server];
        let mut talk = Self {
            server: &about.name,
            channel: about.channel,
            frames,
            revision: None,
            client: &Value::Null,
            declared: None,
        };
        talk.read_handshake();
        talk
    }

    fn read_handshake(&mut self) {
        let initialize = self.requests().find(|frame| frame.method() == Some("initialize"));
        if let Some(request) = initialize {
            self.client = &request.params()["capabilities"];
            let reply = self.reply_to(request).and_then(|reply| reply.json.as_ref()?.get("result"));
            self.declared = reply.map(|result| &result["capabilities"]);
            let agreed = reply.and_then(|result| result["protocolVersion"].as_str());
            self.revision = agreed.or(request.params()["protocolVersion"].as_str()).and_then(Revision::parse);
            return;
        }
        let modern = self
            .requests()
            .find(|frame| frame.params().get("_meta").is_some_and(|meta| meta.get(META_VERSION).is_some()));
        if let Some(request) = modern {
            let meta = &request.params()["_meta"];
            self.client = &meta[META_CAPABILITIES];
            self.revision = meta[META_VERSION].as_str().and_then(Revision::parse);
        }
        let discover = self.requests().find(|frame| frame.method() == Some("server/discover"));
        let reply = discover.and_then(|request| self.reply_to(request)?.json.as_ref()?.get("result"));
        self.declared = reply.map(|result| &result["capabilities"]);
    }

    /// True if it has no handshake.
    pub fn is_modern(&self) -> bool {
        self.revision.is_some_and(|revision| revision.era() == Era::Modern)
    }

    /// Messages of the client.
    pub fn sent(&self) -> impl Iterator<Item = &'e HostFrame> + '_ {
        self.frames.iter().copied().filter(|frame| frame.is_sent())
    }

    /// Requests of the client.
    pub fn requests(&self) -> impl Iterator<Item = &'e HostFrame> + '_ {
        self.frames.iter().copied().filter(|frame| frame.is_request())
    }

    /// Replies of the client.
    pub fn replies(&self) -> impl Iterator<Item = &'e HostFrame> + '_ {
        self.sent().filter(|frame| frame.method().is_none() && frame.json.as_ref().is_some_and(Value::is_object))
    }

    /// Messages of the server.
    pub fn received(&self) -> impl Iterator<Item = &'e HostFrame> + '_ {
        let is_message = |frame: &&HostFrame| frame.direction == Direction::Received && frame.part == WirePart::Message;
        self.frames.iter().copied().filter(is_message)
    }

    /// Requests of the server.
    pub fn asked(&self) -> impl Iterator<Item = &'e HostFrame> + '_ {
        self.received().filter(|frame| frame.method().is_some() && frame.id().is_some())
    }

    /// The server's reply to a request of the client.
    pub fn reply_to(&self, request: &HostFrame) -> Option<&'e HostFrame> {
        let id = request.id()?;
        self.received().find(|frame| frame.at_us >= request.at_us && frame.answers(id))
    }

    /// The position of a frame; earlier frames have smaller ones.
    pub fn position(&self, frame: &HostFrame) -> usize {
        self.frames.iter().position(|other| std::ptr::eq(*other, frame)).unwrap_or(usize::MAX)
    }

    /// The heads of the HTTP requests, each with the message in its body.
    pub fn posts(&self) -> Vec<(Post<'e>, Option<&'e HostFrame>)> {
        let mut posts = Vec::new();
        for (at, frame) in self.frames.iter().enumerate() {
            let WirePart::HttpRequest { method, url, headers, exchange } = &frame.part else { continue };
            let next = self.frames[at + 1..].iter().copied().find(|frame| frame.direction == Direction::Sent);
            let body = next.filter(|frame| frame.part == WirePart::Message && method == "POST");
            posts.push((Post { frame, method, url, headers, exchange: *exchange }, body));
        }
        posts
    }
}

/// The head of an HTTP request.
#[derive(Clone, Copy, Debug)]
pub struct Post<'e> {
    /// Its frame.
    pub frame: &'e HostFrame,
    /// Its method.
    pub method: &'e str,
    /// Its URL.
    pub url: &'e str,
    /// Its headers, with names in lower case.
    pub headers: &'e [(String, String)],
    /// Its exchange.
    pub exchange: u64,
}

impl<'e> Post<'e> {
    /// A header; one that is sent several times is a list.
    pub fn get(&self, name: &str) -> Option<Cow<'e, str>> {
        let mut values = self.headers.iter().filter(|(field, _)| field == name).map(|(_, value)| value.as_str());
        let first = values.next()?;
        Some(values.fold(Cow::Borrowed(first), |all, value| Cow::Owned(format!("{all}, {value}"))))
    }
}
