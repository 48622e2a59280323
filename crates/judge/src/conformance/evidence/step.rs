//! One step of a recording: a message that was sent, and the replies.

use serde_json::Value;

use super::{Entry, Payload, Recording, Spot, What};
use crate::conformance::answer::Answer;

/// A message that was sent, and the replies.
#[derive(Clone, Copy, Debug)]
pub struct Step<'r> {
    pub(super) recording: &'r Recording,
    pub(super) number: usize,
    pub(super) at: usize,
    /// The entry.
    pub entry: &'r Entry,
    /// The message.
    pub sent: &'r Payload,
}

impl<'r> Step<'r> {
    /// True if its label is this, or begins with this and a colon.
    pub fn is(&self, label: &str) -> bool {
        self.entry.step.strip_prefix(label).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    }

    /// The part of its label after the first colon.
    pub fn subject(&self) -> &'r str {
        self.entry.step.split_once(':').map_or("", |(_, subject)| subject)
    }

    /// The recording it belongs to.
    pub fn recording(&self) -> &'r Recording {
        self.recording
    }

    /// Its place.
    pub fn spot(&self) -> Spot {
        (self.number, self.at)
    }

    /// A member of the message that was sent.
    pub fn sent_member(&self, pointer: &str) -> Option<&'r Value> {
        self.sent.json.as_ref()?.pointer(pointer)
    }

    /// The method that was sent.
    pub fn method(&self) -> &'r str {
        self.sent_member("/method").and_then(Value::as_str).unwrap_or_default()
    }

    /// The id that was sent.
    pub fn id(&self) -> Option<&'r Value> {
        self.sent_member("/id")
    }

    /// The entries received on its exchange, or, on pipes, until the next step.
    pub fn after(&self) -> impl Iterator<Item = (usize, &'r Entry)> + use<'r> {
        let (exchange, start) = (self.entry.exchange, self.at + 1);
        let end = if exchange > 0 {
            self.recording.entries.len()
        } else {
            let next = self.recording.entries[start..].iter().position(|entry| matches!(entry.what, What::Sent(_)));
            next.map_or(self.recording.entries.len(), |next| start + next)
        };
        let entries = self.recording.entries[..end].iter().enumerate().skip(start);
        entries.filter(move |(_, entry)| exchange == 0 || entry.exchange == exchange)
    }

    /// The messages that answer it, with their places: those with its id, whatever the JSON type; over HTTP everything
    /// on its exchange that is an answer.
    pub fn replies(&self) -> Vec<(Spot, &'r Payload)> {
        let found = self.recording.answers().get(&self.at).into_iter().flatten();
        let payloads = found.filter_map(|at| match &self.recording.entries[*at].what {
            What::Received(payload) => Some(((self.number, *at), payload)),
            _ => None,
        });
        payloads.collect()
    }

    /// The place of its reply.
    pub fn reply_spot(&self) -> Option<Spot> {
        self.replies().first().map(|(spot, _)| *spot)
    }

    /// Its answer.
    pub fn answer(&self) -> Answer<'r> {
        let replies = self.replies();
        if let Some((_, payload)) = replies.first() {
            return Answer::of(payload);
        }
        match self.status() {
            Some(status) => Answer::Status(status),
            None if self.is_cut() => Answer::Gone,
            None => Answer::Silence,
        }
    }

    /// True if the server went away before it answered.
    fn is_cut(&self) -> bool {
        for entry in &self.recording.entries[self.at + 1..] {
            match &entry.what {
                What::OutputClosed | What::Exited(_) if self.entry.exchange == 0 => return true,
                What::ExchangeFailed(_) if entry.exchange == self.entry.exchange => return true,
                // What ends after this was ended by us.
                What::InputClosed | What::Terminated => return false,
                _ => {}
            }
        }
        false
    }

    /// The HTTP status it got.
    pub fn status(&self) -> Option<u16> {
        self.head().map(|(status, _)| status)
    }

    /// The head of its HTTP response.
    pub fn head(&self) -> Option<(u16, &'r [(String, String)])> {
        if self.entry.exchange == 0 {
            return None;
        }
        self.recording.entries.iter().find_map(|entry| match &entry.what {
            What::ResponseHead { status, headers } if entry.exchange == self.entry.exchange => {
                Some((*status, headers.as_slice()))
            }
            _ => None,
        })
    }

    /// A header of its HTTP response.
    pub fn header(&self, name: &str) -> Option<&'r str> {
        let (_, headers) = self.head()?;
        headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The media type of its HTTP response, in lower case.
    pub fn media_type(&self) -> Option<String> {
        let kind = self.header("content-type")?.split(';').next().unwrap_or_default();
        Some(kind.trim().to_ascii_lowercase())
    }

    /// The body of its HTTP response, or the text received until the next step.
    pub fn reply_text(&self) -> String {
        let replies = self.replies();
        let mut parts: Vec<String> = Vec::new();
        if let Some((status, _)) = self.head() {
            let kind = self.header("content-type").unwrap_or("no content type");
            parts.push(format!("HTTP {status}, {kind}"));
        }
        if replies.is_empty() {
            let came = self.after().filter_map(|(_, entry)| match &entry.what {
                What::Received(payload) => Some(payload.text()),
                What::ExchangeFailed(why) => Some(why.clone()),
                What::OutputClosed => Some("the server closed its output".to_owned()),
                What::Exited(end) => Some(format!("the server {end}")),
                _ => None,
            });
            parts.extend(came.take(3));
        } else {
            parts.extend(replies.iter().take(3).map(|(_, payload)| payload.text()));
        }
        if parts.is_empty() { "no reply".to_owned() } else { parts.join("\n") }
    }

    /// The notifications and requests that came between it and its reply, or on its exchange.
    pub fn side_messages(&self) -> Vec<(Spot, &'r Value)> {
        let exchange = self.entry.exchange;
        let end = if exchange > 0 {
            self.recording.entries.len()
        } else {
            self.reply_spot().map_or(self.recording.entries.len(), |(_, at)| at)
        };
        let mut found = Vec::new();
        for (at, entry) in self.recording.entries[..end].iter().enumerate().skip(self.at + 1) {
            if exchange > 0 && entry.exchange != exchange {
                continue;
            }
            if let What::Received(Payload { json: Some(json), .. }) = &entry.what
                && json.get("method").is_some()
            {
                found.push(((self.number, at), json));
            }
        }
        found
    }
}
