//! Memory for the replies of a conformance run: what is larger is kept by its beginning.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use mcprove_model::bounded_json;
use serde_json::{Map, Value};

use super::{LARGE, Payload};

/// Bytes that the messages of a run may take, as they came and as values.
const MOST: usize = 48 << 20;
/// Bytes that the beginnings of further messages may take; a server that sends more is not listened to.
const MOST_BEGINNINGS: usize = 32 << 20;
/// Bytes that one message may take before its beginning is kept.
const MOST_OF_ONE: usize = 24 << 20;
/// Bytes that one message may take while it is read.
const MOST_READ: usize = 96 << 20;
/// Bytes that a message takes besides its content.
const OVERHEAD: usize = 512;
/// Values, and bytes of a string, of the beginning of a message. A string of base64 stays one.
const VALUES: usize = 200;
const STRING: usize = 4 << 10;

/// Memory for the replies of a run, shared by all its conversations.
#[derive(Debug, Default)]
pub struct ReplyMemory {
    used: AtomicUsize,
    shortened: AtomicUsize,
    /// Held while a large message is read: two at a time could take twice the memory.
    reading: Mutex<()>,
}

impl ReplyMemory {
    /// Reads a message; of one that takes too much memory, the beginning is kept.
    pub fn read(&self, bytes: Bytes) -> Payload {
        let _turn = (bytes.len() > LARGE).then(|| self.reading.lock().unwrap_or_else(PoisonError::into_inner));
        let Ok(read) = bounded_json::read(&bytes, MOST_READ) else {
            return self.unreadable(bytes);
        };
        let size = read.size + bytes.len() + OVERHEAD;
        let is_kept = bytes.len() <= STRING || size <= MOST_OF_ONE && self.used.load(Ordering::Relaxed) + size <= MOST;
        if is_kept {
            self.used.fetch_add(size, Ordering::Relaxed);
            return Payload { bytes, json: Some(read.value), is_shortened: false };
        }
        let mut left = VALUES;
        let json = beginning(&read.value, &mut left);
        let payload = Payload { bytes: Bytes::from(json.to_string()), json: Some(json), is_shortened: true };
        self.shortened.fetch_add(1, Ordering::Relaxed);
        self.used.fetch_add(payload.bytes.len() * 2 + OVERHEAD, Ordering::Relaxed);
        payload
    }

    /// Text that is not JSON, or takes too much memory as a value: what is quoted of it is its beginning.
    fn unreadable(&self, bytes: Bytes) -> Payload {
        let is_long = bytes.len() > LARGE;
        let bytes = if is_long { Bytes::copy_from_slice(&bytes[..LARGE]) } else { bytes };
        self.used.fetch_add(bytes.len() + OVERHEAD, Ordering::Relaxed);
        self.shortened.fetch_add(usize::from(is_long), Ordering::Relaxed);
        Payload { bytes, json: None, is_shortened: is_long }
    }

    /// True if so much came that no more is read.
    pub fn is_used_up(&self) -> bool {
        self.used.load(Ordering::Relaxed) > MOST + MOST_BEGINNINGS
    }

    /// A note about the messages whose beginnings were kept, if there are any.
    pub fn note(&self) -> Option<String> {
        let count = self.shortened.load(Ordering::Relaxed);
        let messages = if count == 1 { "1 message".to_owned() } else { format!("{count} messages") };
        (count > 0)
            .then(|| format!("{messages} of the server took too much memory; only the beginning of each was judged"))
    }
}

/// The first values of a value, and the first bytes of its strings. Members of the outermost objects are all kept.
fn beginning(value: &Value, left: &mut usize) -> Value {
    *left = left.saturating_sub(1);
    match value {
        Value::String(text) => Value::from(&text[..text.floor_char_boundary(STRING)]),
        Value::Array(items) => {
            let mut kept = Vec::new();
            for item in items {
                if *left == 0 {
                    break;
                }
                kept.push(beginning(item, left));
            }
            Value::Array(kept)
        }
        Value::Object(map) => {
            let mut kept = Map::new();
            // Small members first: the id of a reply may come after its result.
            let is_small = |value: &&Value| !matches!(value, Value::Array(_) | Value::Object(_));
            let (small, large): (Vec<_>, Vec<_>) = map.iter().partition(|(_, value)| is_small(value));
            for (key, value) in small.into_iter().chain(large) {
                if *left == 0 {
                    break;
                }
                if key.len() <= STRING {
                    kept.insert(key.clone(), beginning(value, left));
                }
            }
            Value::Object(kept)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text(value: &Value) -> Bytes {
        Bytes::from(value.to_string())
    }

    #[test]
    fn a_message_that_grows_is_kept_by_its_beginning() {
        let memory = ReplyMemory::default();
        let reply =
            |count: usize| json!({"result": {"content": vec![0; count], "isError": false}, "jsonrpc": "2.0", "id": 7});
        let small = memory.read(text(&reply(10)));
        assert_eq!((small.json, small.is_shortened), (Some(reply(10)), false));
        assert_eq!(memory.note(), None);
        let large = memory.read(text(&reply(400_000)));
        let json = large.json.expect("still a message");
        assert!(large.is_shortened && large.bytes.len() < 2_000);
        assert_eq!((&json["id"], &json["result"]["isError"]), (&json!(7), &json!(false)));
        assert!((100..=VALUES).contains(&json["result"]["content"].as_array().map_or(0, Vec::len)), "{json}");
        assert!(memory.note().is_some_and(|note| note.starts_with("1 message ")));
        // What would take even more is not read as JSON.
        let huge = memory.read(text(&reply(4_000_000)));
        assert!(huge.is_shortened && huge.json.is_none() && huge.bytes.len() == LARGE);
    }

    #[test]
    fn many_messages_are_kept_by_their_beginnings_and_then_not_read() {
        let memory = ReplyMemory::default();
        let message = text(&json!({"method": "notifications/message", "params": {"data": "m".repeat(8 << 20)}}));
        let shortened = (0..12).filter(|_| memory.read(message.clone()).is_shortened).count();
        assert_eq!(shortened, 10, "two are 32 MiB");
        assert!(!memory.is_used_up());
        let garbage = Bytes::from(vec![b'x'; LARGE]);
        for _ in 0..2_000 {
            memory.read(garbage.clone());
        }
        assert!(memory.is_used_up());
    }
}
