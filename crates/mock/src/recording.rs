//! A conversation that was recorded, given again: what was answered then is answered now.
//!
//! A request is the same when its method and its params are, apart from `_meta` and from what differs every time
//! (times, random ids). `initialize` is compared by its method alone. Each recorded answer is given once, in order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mcprove_model::{
    Direction, Event, Finding, FrameKind, RpcError, RunStarted, SourceFile, Span, WirePart, bounded_json,
};
use serde_json::{Map, Value, json};

use crate::rpc::{INTERNAL_ERROR, Refusal};

/// A recorded conversation.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    exchanges: Arc<Vec<Exchange>>,
}

#[derive(Clone, Debug)]
struct Exchange {
    method: String,
    /// The params that are compared.
    params: Value,
    outcome: Result<Value, Value>,
}

impl Recording {
    /// Number of exchanges.
    pub fn len(&self) -> usize {
        self.exchanges.len()
    }

    /// True if it holds none.
    pub fn is_empty(&self) -> bool {
        self.exchanges.is_empty()
    }

    /// The next recorded answer to a request: its result, or its error as it was.
    pub(crate) fn answer(
        &self,
        used: &mut BTreeSet<usize>,
        method: &str,
        params: &Value,
    ) -> Result<Result<Value, Value>, Refusal> {
        let wanted = comparable(method, params);
        let mut matching = 0;
        for (at, exchange) in self.exchanges.iter().enumerate() {
            if exchange.method != method || exchange.params != wanted {
                continue;
            }
            matching += 1;
            if used.insert(at) {
                return Ok(exchange.outcome.clone());
            }
        }
        let recorded = self.exchanges.iter().filter(|exchange| exchange.method == method).count();
        let why = match (matching, recorded) {
            (0, 0) => format!("nothing is recorded for `{method}`"),
            (0, _) => format!("none of the {recorded} recorded requests `{method}` has these params"),
            (_, _) => format!("all {matching} recorded answers to this `{method}` were given"),
        };
        // This must not be mistaken for an answer of the recorded server.
        Err(Refusal::new(INTERNAL_ERROR, why).with(json!({(RpcError::NOT_RECORDED): method})))
    }

    fn add(&mut self, request: &Value, reply: &Value) -> Option<()> {
        let method = request.get("method")?.as_str()?.to_owned();
        let outcome = match (reply.get("result"), reply.get("error")) {
            (Some(result), _) => Ok(result.clone()),
            (None, Some(error)) => Err(error.clone()),
            (None, None) => return None,
        };
        let params = comparable(&method, request.get("params").unwrap_or(&Value::Null));
        Arc::make_mut(&mut self.exchanges).push(Exchange { method, params, outcome });
        Some(())
    }
}

/// Reads a cassette: `{"exchanges": [{"request": …, "response": …}]}`; nothing when it is none.
pub(crate) fn from_cassette(cassette: &Value, source: &SourceFile) -> Option<(Recording, Vec<Finding>)> {
    let exchanges = cassette.get("exchanges")?.as_array()?;
    let mut recording = Recording::default();
    let mut findings = Vec::new();
    for (at, exchange) in exchanges.iter().enumerate() {
        let request = exchange.get("request").unwrap_or(&Value::Null);
        let response = exchange.get("response").unwrap_or(&Value::Null);
        if recording.add(request, response).is_none() {
            let message = format!("exchange {at} of `{}` is not a request with its response", source.path());
            findings.push(Finding::warning("bad-exchange", message).help("record it again, or remove it"));
        }
    }
    Some((recording, findings))
}

/// Reads an event log of a run.
pub(crate) fn from_event_log(source: &SourceFile) -> (Option<Recording>, Vec<Finding>) {
    let mut recording = Recording::default();
    let mut open: BTreeMap<(usize, u32, String), Value> = BTreeMap::new();
    let mut at = 0;
    for line in source.text().split_inclusive('\n') {
        let span = Span::new(at, at + line.trim_end().len());
        at += line.len();
        if line.trim().is_empty() {
            continue;
        }
        let event = match serde_json::from_str::<Event>(line) {
            Ok(event) => event,
            Err(error) => {
                let finding = Finding::error("bad-event", format!("this line is not an event: {error}"));
                let help = "give a log that `mcprove run --events FILE` has written to its end";
                return (None, vec![finding.at(source.place(span)).help(help)]);
            }
        };
        match event {
            Event::RunStarted(started) if started.format != RunStarted::FORMAT => {
                let message = format!("the log has format {}, which is not known here", started.format);
                let help = format!("record it again with this program (format {})", RunStarted::FORMAT);
                return (None, vec![Finding::error("bad-event", message).at(source.place(span)).help(help)]);
            }
            Event::Frame { index, session, frame } if frame.part == WirePart::Message => {
                let Some(message) = bounded_json::parse(&frame.body) else { continue };
                let key = (index, session, message.get("id").unwrap_or(&Value::Null).to_string());
                match (frame.direction, frame.kind) {
                    (Direction::Sent, FrameKind::Request) => {
                        open.insert(key, message);
                    }
                    (Direction::Received, FrameKind::Reply) => {
                        if let Some(request) = open.remove(&key) {
                            recording.add(&request, &message);
                        }
                    }
                    (_, _) => {}
                }
            }
            Event::RunStarted(_)
            | Event::Finding { .. }
            | Event::CaseStarted(_)
            | Event::Connected(_)
            | Event::Frame { .. }
            | Event::CaseFinished(_)
            | Event::RunFinished(_) => {}
        }
    }
    if recording.is_empty() {
        let finding = Finding::error("empty-recording", format!("`{}` holds no answered request", source.path()));
        return (None, vec![finding.help("record one with `mcprove run --events FILE`")]);
    }
    (Some(recording), Vec::new())
}

fn comparable(method: &str, params: &Value) -> Value {
    if method == "initialize" {
        return Value::Null;
    }
    match params {
        Value::Object(map) => {
            let mut map: Map<String, Value> = map.iter().map(|(k, v)| (k.clone(), settled(v))).collect();
            map.shift_remove("_meta");
            // No params are the same as empty ones.
            if map.is_empty() { Value::Null } else { Value::Object(map) }
        }
        other => other.clone(),
    }
}

/// A value with what differs every time put aside.
fn settled(value: &Value) -> Value {
    match value {
        Value::String(text) if is_uuid(text) => Value::String("<uuid>".to_owned()),
        Value::String(text) if is_time(text) => Value::String("<time>".to_owned()),
        Value::Array(items) => Value::Array(items.iter().map(settled).collect()),
        Value::Object(map) => Value::Object(map.iter().map(|(k, v)| (k.clone(), settled(v))).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// `2026-11-05T10:00:00`, with or without what follows the seconds.
fn is_time(text: &str) -> bool {
    let shape = b"0000-00-00T00:00:00";
    text.len() >= shape.len()
        && text.len() <= 40
        && text.bytes().zip(shape).all(|(byte, want)| if *want == b'0' { byte.is_ascii_digit() } else { byte == *want })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cassette() -> Recording {
        let call = |n: u64, city: &str| {
            json!({
                "request": {"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": "w", "arguments": {"city": city, "at": "2026-01-01T00:00:00Z"}}},
                "response": {"jsonrpc": "2.0", "id": n, "result": {"n": n}}
            })
        };
        let cassette = json!({"version": 1, "exchanges": [
            {"request": {"method": "initialize", "params": {"protocolVersion": "2025-03-26"}}, "response": {"result": {"protocolVersion": "2025-03-26"}}},
            call(1, "Oslo"), call(2, "Rome"), call(3, "Oslo"),
            {"request": {"method": "ping"}, "response": {"error": {"code": -1, "message": "no"}}},
            {"request": 3}
        ]});
        let source = SourceFile::new("c.json", "");
        let (recording, findings) = from_cassette(&cassette, &source).expect("a cassette");
        assert_eq!(findings.len(), 1);
        recording
    }

    #[test]
    fn answers_come_in_order_and_once() {
        let recording = cassette();
        let mut used = BTreeSet::new();
        let oslo = json!({"arguments": {"at": "2027-05-05T11:11:11.5Z", "city": "Oslo"}, "name": "w", "_meta": {"progressToken": 9}});
        let mut ask = |method: &str, params: &Value| recording.answer(&mut used, method, params);
        assert_eq!(
            ask("initialize", &json!({"protocolVersion": "x"})),
            Ok(Ok(json!({"protocolVersion": "2025-03-26"})))
        );
        assert_eq!(ask("tools/call", &oslo), Ok(Ok(json!({"n": 1}))));
        assert_eq!(ask("tools/call", &oslo), Ok(Ok(json!({"n": 3}))));
        assert!(ask("tools/call", &oslo).expect_err("used up").message.contains("all 2 recorded answers"));
        assert_eq!(ask("ping", &json!({})), Ok(Err(json!({"code": -1, "message": "no"}))));
        let other = json!({"name": "w", "arguments": {}});
        assert!(ask("tools/call", &other).expect_err("other params").message.contains("none of the 3"));
        let unknown = ask("x/y", &other).expect_err("unknown");
        assert!(unknown.message.contains("nothing is recorded"));
        assert_eq!(unknown.data, Some(json!({"mcprove/not-recorded": "x/y"})));
    }

    #[test]
    fn values_that_differ_every_time_are_put_aside() {
        assert!(is_uuid("123e4567-e89b-12d3-a456-426614174000") && !is_uuid("123e4567-e89b-12d3-a456-42661417400g"));
        assert!(is_time("2026-01-01T00:00:00+02:00") && !is_time("2026-01-01"));
    }
}
