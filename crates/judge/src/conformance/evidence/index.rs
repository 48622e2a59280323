//! Look-ups in a complete recording, so that judging takes time in proportion to its length.

use std::collections::HashMap;

use super::{Entry, Payload, What, id_text};

/// Positions in a recording by what they are looked up by.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// The messages that answer each entry.
    pub(super) answers: HashMap<usize, Vec<usize>>,
    /// The last entry that each message answers.
    pub(super) requests: HashMap<usize, usize>,
    /// Sent entries, by the first part of their labels.
    pub(super) labels: HashMap<String, Vec<usize>>,
    /// The entries of each HTTP exchange.
    pub(super) exchanges: HashMap<u64, Vec<usize>>,
}

/// Connection of a message with its reply.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Exchange(u64),
    Id(String),
}

impl Index {
    pub(super) fn new(entries: &[Entry]) -> Self {
        let mut index = Self::default();
        let mut waiting: HashMap<Key, Vec<usize>> = HashMap::new();
        for (at, entry) in entries.iter().enumerate() {
            if entry.exchange > 0 {
                index.exchanges.entry(entry.exchange).or_default().push(at);
            }
            match &entry.what {
                What::Sent(sent) => {
                    index.labels.entry(first_part(&entry.step).to_owned()).or_default().push(at);
                    if let Some(key) = key(entry, sent) {
                        waiting.entry(key).or_default().push(at);
                    }
                }
                What::RequestHead { method, .. } if method != "POST" => {
                    index.labels.entry(first_part(&entry.step).to_owned()).or_default().push(at);
                    waiting.entry(Key::Exchange(entry.exchange)).or_default().push(at);
                }
                What::Received(got) if is_reply(got) => {
                    for request in key(entry, got).and_then(|key| waiting.get(&key)).into_iter().flatten() {
                        index.answers.entry(*request).or_default().push(at);
                        index.requests.insert(at, *request);
                    }
                }
                _ => {}
            }
        }
        index
    }

    /// The entries of an HTTP exchange, from a position on.
    pub(super) fn exchange(&self, exchange: u64, from: usize) -> impl Iterator<Item = usize> + '_ {
        self.exchanges.get(&exchange).into_iter().flatten().copied().filter(move |at| *at >= from)
    }
}

/// The part of a label before its first colon.
pub(super) fn first_part(label: &str) -> &str {
    label.split(':').next().unwrap_or_default()
}

fn key(entry: &Entry, payload: &Payload) -> Option<Key> {
    if entry.exchange > 0 {
        return Some(Key::Exchange(entry.exchange));
    }
    payload.json.as_ref()?.get("id").map(|id| Key::Id(id_text(id)))
}

fn is_reply(payload: &Payload) -> bool {
    payload.json.as_ref().is_some_and(|json| json.is_object() && json.get("method").is_none())
}
