//! Recordings of probes: every message with its direction, time and HTTP exchange, and views of it for rules.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::OnceLock;

use bytes::Bytes;
use mcprove_model::{Era, ProcessEnd, Revision, bounded_json, shorten};
use serde_json::Value;

use super::hints::HintTrial;
use index::Index;

mod frames;
mod index;
mod reply_memory;
mod step;

pub use reply_memory::ReplyMemory;
pub use step::Step;

/// Everything that was recorded about a server under one revision and transport.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// The revision that was asked for.
    pub revision: Revision,
    /// The transport.
    pub channel: Channel,
    /// True if the server is on this machine.
    pub is_local: bool,
    /// The recordings, in order.
    pub recordings: Vec<Recording>,
    /// Tools that were not called, with the reason.
    pub uncalled: Vec<(String, String)>,
    /// True if the server serves both eras.
    pub is_dual_era: bool,
    /// Effects of tools with hints; `None` where tools that write may not be called.
    pub hints: Option<Vec<HintTrial>>,
    /// Notes about what was left out.
    pub notes: Vec<String>,
}

/// A transport, as rules distinguish them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Lines over standard input and output.
    Stdio,
    /// Streamable HTTP.
    Http,
}

impl Channel {
    /// Its name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
        }
    }
}

/// One conversation.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The probe that made it.
    pub probe: &'static str,
    /// The capabilities that the client declared.
    pub client: Value,
    /// The events, in order.
    pub entries: Vec<Entry>,
    /// Look-ups, made when they are needed.
    index: OnceLock<Index>,
}

/// Something that happened in a conversation.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Microseconds since the conversation began.
    pub at_us: u64,
    /// The HTTP exchange, from 1; 0 on pipes.
    pub exchange: u64,
    /// The label of the step, for what was sent.
    pub step: String,
    /// The event.
    pub what: What,
}

/// Event of a recording.
#[derive(Clone, Debug)]
pub enum What {
    /// A message, or bytes in its place, went out.
    Sent(Payload),
    /// A message, or bytes in its place, came in.
    Received(Payload),
    /// The head of an HTTP request.
    RequestHead {
        /// Its method.
        method: String,
        /// Its URL.
        url: String,
        /// Its headers.
        headers: Vec<(String, String)>,
    },
    /// The head of an HTTP response.
    ResponseHead {
        /// Its status.
        status: u16,
        /// Its headers.
        headers: Vec<(String, String)>,
    },
    /// An event of a stream, before its data.
    StreamEvent {
        /// Its id.
        id: Option<String>,
        /// True if it has no data.
        is_empty: bool,
    },
    /// The response of an exchange is complete.
    ExchangeEnded,
    /// No response came: the reason.
    ExchangeFailed(String),
    /// The reply to the named step did not come in time.
    TimedOut,
    /// Our side was closed.
    InputClosed,
    /// The server closed its side.
    OutputClosed,
    /// SIGTERM was sent.
    Terminated,
    /// The process ended by itself, with the end of its standard error.
    Exited(ProcessEnd, String),
    /// The process was still alive after the grace period, and was killed.
    Killed,
    /// Processes of its group were still alive after it had exited.
    Leftovers,
}

/// Bytes, and the JSON they are.
#[derive(Clone, Debug)]
pub struct Payload {
    /// The bytes.
    pub bytes: Bytes,
    /// The JSON, if they are.
    pub json: Option<Value>,
    /// True if it is not all that came: a list was shortened to its names ([`Recording::shorten_repeats`]), or the whole to its
    /// beginning ([`ReplyMemory`]).
    pub is_shortened: bool,
}

impl Payload {
    /// Reads bytes.
    pub fn new(bytes: Bytes) -> Self {
        let json = bounded_json::parse(&bytes);
        Self { bytes, json, is_shortened: false }
    }

    /// The text, with what is not UTF-8 replaced, shortened.
    pub fn text(&self) -> String {
        shorten(&String::from_utf8_lossy(&self.bytes[..self.bytes.len().min(4_000)]), 600).into_owned()
    }
}

/// A place in the evidence: a recording and an entry in it.
pub type Spot = (usize, usize);

impl Evidence {
    /// Recordings of a server that is elsewhere, with nothing else known about it.
    pub fn new(revision: Revision, channel: Channel, recordings: Vec<Recording>) -> Self {
        Self {
            revision,
            channel,
            is_local: false,
            recordings,
            uncalled: Vec::new(),
            is_dual_era: false,
            hints: None,
            notes: Vec::new(),
        }
    }

    /// The recording of a probe.
    pub fn recording(&self, probe: &str) -> Option<(usize, &Recording)> {
        self.recordings.iter().enumerate().find(|(_, recording)| recording.probe == probe)
    }

    /// All steps whose label is this or begins with this and a colon, in all recordings of a probe.
    pub fn steps<'e>(&'e self, probe: &str, label: &str) -> Vec<Step<'e>> {
        let mut found = Vec::new();
        for (number, recording) in self.recordings.iter().enumerate().filter(|(_, r)| r.probe == probe) {
            found.extend(recording.labelled(number, label));
        }
        found
    }

    /// The first step of this label.
    pub fn step<'e>(&'e self, probe: &str, label: &str) -> Option<Step<'e>> {
        self.steps(probe, label).into_iter().next()
    }

    /// All steps of all recordings.
    pub fn all_steps(&self) -> impl Iterator<Item = Step<'_>> {
        self.recordings.iter().enumerate().flat_map(|(number, recording)| recording.steps(number))
    }

    /// All messages that came in, with their places.
    pub fn received(&self) -> impl Iterator<Item = (Spot, &Recording, &Entry, &Payload)> {
        self.recordings.iter().enumerate().flat_map(|(number, recording)| {
            recording.entries.iter().enumerate().filter_map(move |(at, entry)| match &entry.what {
                What::Received(payload) => Some(((number, at), recording, entry, payload)),
                _ => None,
            })
        })
    }

    /// True if the revision has no handshake.
    pub fn is_modern(&self) -> bool {
        self.revision.era() == Era::Modern
    }

    /// The result of the opening request, if it was answered with one.
    pub fn opening(&self) -> Option<&Value> {
        let label = if self.is_modern() { "discover" } else { "initialize" };
        self.recordings
            .iter()
            .enumerate()
            .flat_map(|(number, recording)| recording.labelled(number, label))
            .find_map(|step| step.answer().result())
    }

    /// Capabilities that the server declared.
    pub fn capabilities(&self) -> &Value {
        self.opening().and_then(|opening| opening.get("capabilities")).unwrap_or(&Value::Null)
    }

    /// True if the server declared a capability.
    pub fn declares(&self, name: &str) -> bool {
        self.capabilities().get(name).is_some()
    }

    /// The items of a list, from all its pages, with the place of the reply; read once.
    pub fn listed(&self, kind: &str) -> Vec<(Spot, &Value)> {
        let member = member_of(kind);
        let mut items = Vec::new();
        for step in self.steps("main", &format!("list:{kind}")) {
            let Some(spot) = step.reply_spot().filter(|_| !step.is_shortened()) else { continue };
            let list = step.answer().result().and_then(|result| result.get(member)).and_then(Value::as_array);
            items.extend(list.into_iter().flatten().map(|item| (spot, item)));
        }
        items
    }
}

/// The member of a list result that holds its items.
pub fn member_of(kind: &str) -> &str {
    if kind == "templates" { "resourceTemplates" } else { kind }
}

/// The member of an item that names it.
pub fn key_member(kind: &str) -> &'static str {
    match kind {
        "resources" => "uri",
        "templates" => "uriTemplate",
        _ => "name",
    }
}

/// The items of a list, by name and hash.
#[derive(Clone, Debug, Default)]
pub struct ListDigest(HashMap<String, u64>);

impl ListDigest {
    /// The digest of a list.
    pub fn new(kind: &str, items: &[Value]) -> Self {
        let key = key_member(kind);
        Self(items.iter().filter_map(|item| Some((item.get(key)?.as_str()?.to_owned(), hash(item)))).collect())
    }

    /// True if the list has exactly this item.
    fn has(&self, kind: &str, item: &Value) -> bool {
        let name = item.get(key_member(kind)).and_then(Value::as_str);
        name.and_then(|name| self.0.get(name)).is_some_and(|known| *known == hash(item))
    }
}

fn hash(item: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    item.to_string().hash(&mut hasher);
    hasher.finish()
}

/// The size from which on a reply is large.
const LARGE: usize = 64 << 10;

impl Recording {
    /// An empty recording of a probe.
    pub fn new(probe: &'static str, client: Value) -> Self {
        Self { probe, client, entries: Vec::new(), index: OnceLock::new() }
    }

    /// Shortens large lists that were recorded from an entry on, if all their items are known: they keep their names alone. A
    /// list is read several times in each revision, and everything but its order was judged the first time.
    pub fn shorten_repeats(&mut self, from: usize, kind: &str, known: &ListDigest) {
        let key = key_member(kind);
        for entry in self.entries.iter_mut().skip(from) {
            let What::Received(payload) = &mut entry.what else { continue };
            if payload.bytes.len() < LARGE {
                continue;
            }
            let list = |json: &'_ mut Value| json.get_mut("result")?.get_mut(member_of(kind)).map(Value::take);
            let Some(Value::Array(mut items)) = payload.json.as_mut().and_then(list) else { continue };
            payload.is_shortened = items.iter().all(|item| known.has(kind, item));
            if payload.is_shortened {
                for item in &mut items {
                    *item = serde_json::json!({ key: item.get(key) });
                }
            }
            if let Some(json) = &mut payload.json {
                json["result"][member_of(kind)] = Value::Array(items);
                if payload.is_shortened {
                    payload.bytes = Bytes::from(json.to_string());
                }
            }
        }
    }

    /// Keeps the first items of lists that were recorded from an entry on: a list can be larger than it is worth.
    pub fn cut_lists(&mut self, from: usize, kind: &str, most: usize) {
        for entry in self.entries.iter_mut().skip(from) {
            let What::Received(payload) = &mut entry.what else { continue };
            let Some(json) = &mut payload.json else { continue };
            let Some(Value::Array(items)) = json.get_mut("result").and_then(|result| result.get_mut(member_of(kind)))
            else {
                continue;
            };
            if items.len() > most {
                items.truncate(most);
                items.shrink_to_fit();
                payload.bytes = Bytes::from(json.to_string());
            }
        }
    }

    /// Adds an entry.
    pub fn push(&mut self, entry: Entry) {
        self.index = OnceLock::new();
        self.entries.push(entry);
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::new(&self.entries))
    }

    /// Everything that was sent, as steps.
    pub fn steps(&self, number: usize) -> impl Iterator<Item = Step<'_>> {
        (0..self.entries.len()).filter_map(move |at| self.step(number, at))
    }

    /// The step at a position, if something was sent there.
    pub fn step(&self, number: usize, at: usize) -> Option<Step<'_>> {
        let entry = self.entries.get(at)?;
        match &entry.what {
            What::Sent(sent) => Some(Step { recording: self, number, at, entry, sent }),
            What::RequestHead { method, .. } if method != "POST" => {
                Some(Step { recording: self, number, at, entry, sent: nothing() })
            }
            _ => None,
        }
    }

    /// The steps whose label is this or begins with this and a colon.
    fn labelled<'r>(&'r self, number: usize, label: &str) -> impl Iterator<Item = Step<'r>> {
        let known = self.index().labels.get(index::first_part(label)).into_iter().flatten();
        known.filter_map(move |at| self.step(number, *at)).filter(move |step| step.is(label))
    }

    /// The last step that the message at a position answers.
    pub fn request_of(&self, number: usize, at: usize) -> Option<Step<'_>> {
        self.step(number, *self.index().requests.get(&at)?)
    }

    /// True if a message from an entry on is not all that came.
    pub fn has_shortened(&self, from: usize) -> bool {
        self.entries[from..].iter().any(|entry| matches!(&entry.what, What::Received(payload) if payload.is_shortened))
    }

    /// The position of the first entry that fits.
    pub fn position(&self, fits: impl Fn(&What) -> bool) -> Option<usize> {
        self.entries.iter().position(|entry| fits(&entry.what))
    }
}

fn nothing() -> &'static Payload {
    static NOTHING: std::sync::OnceLock<Payload> = std::sync::OnceLock::new();
    NOTHING.get_or_init(|| Payload { bytes: Bytes::new(), json: None, is_shortened: false })
}

/// An id without its JSON type.
pub(super) fn id_text(id: &Value) -> String {
    match id {
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 => format!("{float:.0}"),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// True if two ids are the same, apart from their JSON type.
pub fn is_same_id(sent: &Value, got: &Value) -> bool {
    sent == got || id_text(sent) == id_text(got)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_large_list_that_is_known_keeps_its_names_alone() {
        let tool = |name: &str| json!({"name": name, "description": "x".repeat(LARGE)});
        let known = ListDigest::new("tools", &[tool("a"), tool("b")]);
        let read = |tools: Value| {
            let reply = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}});
            let what = What::Received(Payload::new(Bytes::from(reply.to_string())));
            let entry = Entry { at_us: 0, exchange: 0, step: String::new(), what };
            let mut recording = Recording { entries: vec![entry], ..Recording::new("main", Value::Null) };
            recording.shorten_repeats(0, "tools", &known);
            let What::Received(payload) = recording.entries.remove(0).what else { unreachable!("it was received") };
            let tools = payload.json.as_ref().map(|json| json["result"]["tools"].clone()).unwrap_or_default();
            (tools, payload.is_shortened, payload.bytes.len() < LARGE)
        };
        assert_eq!(read(json!([tool("b"), tool("a")])), (json!([{"name": "b"}, {"name": "a"}]), true, true));
        // What is new is judged, so it is kept.
        for tools in [json!([tool("a"), tool("c")]), json!([tool("a"), {"name": "b", "inputSchema": 5}])] {
            assert_eq!(read(tools.clone()), (tools, false, false));
        }
        let small = json!([{"name": "a"}]);
        assert_eq!(read(small.clone()), (small, false, true));
    }
}
