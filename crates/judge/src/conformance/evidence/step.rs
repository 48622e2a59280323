//! One step of a recording: a message that was sent, and the replies.

use mcprove_model::{ProcessEnd, shorten};
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
    pub fn after(&self) -> Box<dyn Iterator<Item = (usize, &'r Entry)> + 'r> {
        let (recording, start) = (self.recording, self.at + 1);
        if self.entry.exchange > 0 {
            let positions = recording.index().exchange(self.entry.exchange, start);
            return Box::new(positions.map(|at| (at, &recording.entries[at])));
        }
        let entries = recording.entries.iter().enumerate().skip(start);
        Box::new(entries.take_while(|(_, entry)| !matches!(entry.what, What::Sent(_))))
    }

    /// The messages that answer it, with their places: those with its id, whatever the JSON type; over HTTP everything
    /// on its exchange that is an answer.
    pub fn replies(&self) -> Vec<(Spot, &'r Payload)> {
        let found = self.recording.index().answers.get(&self.at).into_iter().flatten();
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

    /// True if its reply is not all that came.
    pub fn is_shortened(&self) -> bool {
        self.replies().first().is_some_and(|(_, payload)| payload.is_shortened)
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

    /// True if, on pipes, it has no reply, and a line that is not JSON came in its place.
    pub fn is_garbled(&self) -> bool {
        let is_garbage = |entry: &Entry| matches!(&entry.what, What::Received(Payload { json: None, bytes, .. }) if !bytes.trim_ascii().is_empty());
        self.entry.exchange == 0
            && self.id().is_some()
            && self.replies().is_empty()
            && self.after().any(|(_, entry)| is_garbage(entry))
    }

    /// True if the server went away before it answered.
    fn is_cut(&self) -> bool {
        for entry in &self.recording.entries[self.at + 1..] {
            match &entry.what {
                What::OutputClosed | What::Exited(..) if self.entry.exchange == 0 => return true,
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
        let mut positions = self.recording.index().exchange(self.entry.exchange, 0);
        positions.find_map(|at| match &self.recording.entries[at].what {
            What::ResponseHead { status, headers } => Some((*status, headers.as_slice())),
            _ => None,
        })
    }

    /// A header of its HTTP response.
    pub fn header(&self, name: &str) -> Option<&'r str> {
        let (_, headers) = self.head()?;
        headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// All values of a header of its HTTP response.
    pub fn headers(&self, name: &'r str) -> impl Iterator<Item = &'r str> {
        let headers = self.head().map_or(&[][..], |(_, headers)| headers);
        headers.iter().filter(move |(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The URL of its HTTP request.
    pub fn url(&self) -> Option<&'r str> {
        if self.entry.exchange == 0 {
            return None;
        }
        let mut positions = self.recording.index().exchange(self.entry.exchange, 0);
        positions.find_map(|at| match &self.recording.entries[at].what {
            What::RequestHead { url, .. } => Some(url.as_str()),
            _ => None,
        })
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
                What::Exited(end, stderr) => Some(exit_text(end, stderr)),
                _ => None,
            });
            parts.extend(came.take(3));
        } else {
            parts.extend(replies.iter().take(3).map(|(_, payload)| payload.text()));
        }
        if parts.is_empty() { "no reply".to_owned() } else { parts.join("\n") }
    }

    /// The notifications and requests that came between it and its reply (or the next step, if it has none), or on its exchange.
    pub fn side_messages(&self) -> Vec<(Spot, &'r Value)> {
        let start = self.at + 1;
        let positions: Box<dyn Iterator<Item = usize>> = if self.entry.exchange > 0 {
            Box::new(self.recording.index().exchange(self.entry.exchange, start))
        } else {
            // Messages after the next step may belong to that one.
            let end = self.reply_spot().map(|(_, at)| at).or_else(|| self.after().last().map(|(at, _)| at + 1));
            Box::new(start..end.unwrap_or(start))
        };
        let messages = positions.filter_map(|at| match &self.recording.entries[at].what {
            What::Received(Payload { json: Some(json), .. }) if json.get("method").is_some() => {
                Some(((self.number, at), json))
            }
            _ => None,
        });
        messages.collect()
    }
}

/// The end of a process, with the last lines of its standard error, which say why.
fn exit_text(end: &ProcessEnd, stderr: &str) -> String {
    let lines: Vec<&str> = stderr.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(3)..].join("\n");
    if last.is_empty() { format!("the server {end}") } else { format!("the server {end}: {}", shorten(&last, 400)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_is_explained_by_standard_error() {
        let end = &ProcessEnd { code: Some(1), signal: None };
        assert_eq!(exit_text(end, " \n"), format!("the server {end}"));
        assert_eq!(exit_text(end, "a\n\nb\nc\nno module x\n"), format!("the server {end}: b\nc\nno module x"));
    }
}
