//! Recordings from the frames of an event log, and frames for one.

use mcprove_model::{Direction, Frame, FrameKind, Revision, WirePart, bounded_json};
use serde_json::Value;

use super::super::schemas;
use super::{Entry, Payload, Recording, What};

impl Recording {
    /// A recording of frames from an event log.
    pub fn from_frames<'f>(frames: impl Iterator<Item = &'f Frame>) -> Self {
        let mut entries = Vec::new();
        for frame in frames {
            let payload = || Payload::new(frame.body.clone());
            let (exchange, what) = match (&frame.part, frame.direction) {
                (WirePart::Message, Direction::Sent) => (0, What::Sent(payload())),
                (WirePart::Message, Direction::Received) => (0, What::Received(payload())),
                (WirePart::HttpRequest { exchange, method, url, headers }, _) => (
                    *exchange,
                    What::RequestHead { method: method.clone(), url: url.clone(), headers: headers.to_vec() },
                ),
                (WirePart::HttpResponse { exchange, status, headers }, _) => {
                    (*exchange, What::ResponseHead { status: *status, headers: headers.to_vec() })
                }
                (WirePart::StreamEvent { exchange, .. }, _) => {
                    (*exchange, What::StreamEvent { id: None, is_empty: frame.body.is_empty() })
                }
                (WirePart::Closed, Direction::Sent) => (0, What::InputClosed),
                (WirePart::Closed, Direction::Received) => (0, What::OutputClosed),
            };
            let is_sent = matches!(what, What::Sent(_));
            let method = if is_sent { label_of(&frame.body) } else { String::new() };
            entries.push(Entry { at_us: frame.at_us, exchange, step: method, what });
        }
        Self { entries, ..Self::new("main", Value::Null) }
    }

    /// The frames of an event log. What is no message, HTTP head or stream event is left out.
    pub fn into_frames(self) -> Vec<Frame> {
        self.entries.into_iter().filter_map(into_frame).collect()
    }
}

fn into_frame(Entry { at_us, exchange, what, .. }: Entry) -> Option<Frame> {
    let transport =
        |direction, part| Frame { at_us, direction, part, kind: FrameKind::Transport, body: bytes::Bytes::new() };
    let message = |direction, payload: Payload| Frame {
        at_us,
        direction,
        part: WirePart::Message,
        kind: payload.json.as_ref().map_or(FrameKind::Stray, FrameKind::of),
        body: payload.bytes,
    };
    match what {
        What::Sent(payload) => Some(message(Direction::Sent, payload)),
        What::Received(payload) => Some(message(Direction::Received, payload)),
        What::RequestHead { method, url, headers } => {
            Some(transport(Direction::Sent, WirePart::HttpRequest { exchange, method, url, headers: headers.into() }))
        }
        What::ResponseHead { status, headers } => {
            Some(transport(Direction::Received, WirePart::HttpResponse { exchange, status, headers: headers.into() }))
        }
        What::StreamEvent { is_empty: true, .. } => {
            Some(transport(Direction::Received, WirePart::StreamEvent { exchange, event: "message".to_owned() }))
        }
        _ => None,
    }
}

/// The label of a step that was not made by a probe, as a probe would name it.
fn label_of(body: &[u8]) -> String {
    let json: Value = bounded_json::parse(body).unwrap_or_default();
    let method = json["method"].as_str().unwrap_or_default();
    match method {
        // A server may refuse an invalid request, and a version that does not exist.
        "server/discover" if is_valid("DiscoverRequest", version(&json), &json) => "discover".to_owned(),
        "initialize" if is_valid("InitializeRequest", Some(Revision::NEWEST_LEGACY), &json) => method.to_owned(),
        "server/discover" | "initialize" => format!("refusable:{method}"),
        "tools/list" => "list:tools".to_owned(),
        "prompts/list" => "list:prompts".to_owned(),
        "resources/list" => "list:resources".to_owned(),
        "resources/templates/list" => "list:templates".to_owned(),
        "tools/call" => format!("call:{}", json["params"]["name"].as_str().unwrap_or_default()),
        other => other.to_owned(),
    }
}

/// The revision that a request names.
fn version(request: &Value) -> Option<Revision> {
    Revision::parse(request["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str()?)
}

fn is_valid(kind: &str, revision: Option<Revision>, request: &Value) -> bool {
    revision.is_some_and(|revision| schemas::fault(revision, kind, request).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_recording_comes_back_from_its_frames() {
        let payload = |json: Value| Payload::new(bytes::Bytes::from(json.to_string()));
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        let head = What::RequestHead { method: "POST".to_owned(), url: "http://h/mcp".to_owned(), headers: Vec::new() };
        let answer = What::ResponseHead { status: 200, headers: vec![("a".to_owned(), "b".to_owned())] };
        let whats = [
            (1, head),
            (0, What::Sent(payload(request))),
            (1, answer),
            (0, What::Received(payload(json!({"jsonrpc": "2.0", "id": 1, "result": {}})))),
            (0, What::Received(payload(json!({"jsonrpc": "2.0", "method": "notifications/message"})))),
            (0, What::Received(Payload::new(bytes::Bytes::from_static(b"banner")))),
            (1, What::ExchangeEnded),
        ];
        let entries = whats.into_iter().map(|(exchange, what)| Entry { at_us: 7, exchange, step: String::new(), what });
        let frames = Recording { entries: entries.collect(), ..Recording::new("full", Value::Null) }.into_frames();
        let kinds: Vec<FrameKind> = frames.iter().map(|frame| frame.kind).collect();
        let expected = "Transport, Request, Transport, Reply, Notification, Stray";
        assert_eq!(format!("{kinds:?}"), format!("[{expected}]"));
        let again = Recording::from_frames(frames.iter());
        assert_eq!(again.entries[1].step, "list:tools");
        assert_eq!(again.into_frames(), frames);
    }
}
