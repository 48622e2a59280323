//! Output of a server that is not a protocol message.

use bytes::{Bytes, BytesMut};
use mcprove_model::{Finding, escape_line, shorten};

use crate::message::{Message, classify};

/// Number of stray lines that are quoted.
const QUOTED: usize = 3;
/// Maximum size of a message that is assembled from several lines.
const SPAN: usize = 1 << 20;
/// Maximum number of attempts to parse such a message; each attempt reads all of it.
const TRIES: usize = 64;

/// Stray lines of a session: counted, the first ones kept, and searched for messages that span several lines.
#[derive(Debug, Default)]
pub(crate) struct NonProtocolOutput {
    count: usize,
    first: Vec<Bytes>,
    /// Lines since one that opened a bracket: perhaps a message printed over several lines.
    open: Option<BytesMut>,
    /// Number of attempts to parse the open lines.
    tries: usize,
}

impl NonProtocolOutput {
    /// Takes in a stray line; returns the message that it completes, with all its bytes.
    pub(crate) fn add(&mut self, line: &Bytes, limit: usize) -> Option<(Message, Bytes)> {
        self.count += 1;
        if self.first.len() < QUOTED {
            // A copy: a slice would keep the whole line.
            self.first.push(Bytes::copy_from_slice(&line[..line.len().min(512)]));
        }
        let trimmed = line.trim_ascii();
        let open = match &mut self.open {
            Some(open) => open,
            None if trimmed.starts_with(b"{") || trimmed.starts_with(b"[") => {
                self.tries = 0;
                self.open.insert(BytesMut::new())
            }
            None => return None,
        };
        if open.len() + line.len() > limit.min(SPAN) {
            self.open = None;
            return None;
        }
        open.extend_from_slice(line);
        open.extend_from_slice(b"\n");
        // Only a line that closes a bracket can complete a document; trying others would be quadratic.
        if !(trimmed.starts_with(b"}") || trimmed.starts_with(b"]")) {
            return None;
        }
        self.tries += 1;
        if self.tries > TRIES {
            self.open = None;
            return None;
        }
        match classify(open) {
            Message::NonProtocol(_) => None,
            message => {
                let bytes = std::mem::take(open).freeze();
                self.open = None;
                Some((message, bytes))
            }
        }
    }

    /// A proper message ends whatever stray document was open.
    pub(crate) fn interrupted(&mut self) {
        self.open = None;
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The finding that shows them, if there are any.
    pub(crate) fn finding(&self) -> Option<Finding> {
        if self.count == 0 {
            return None;
        }
        let lines = match self.count {
            1 => "a line to its output that is not a JSON-RPC message".to_owned(),
            count => format!("{count} lines to its output that are not JSON-RPC messages"),
        };
        let quoted: Vec<_> =
            self.first.iter().map(|l| shorten(&escape_line(&String::from_utf8_lossy(l)), 120).into_owned()).collect();
        let mut finding = Finding::warning("stdout-pollution", format!("the server wrote {lines}"))
            .help("log to standard error: on stdio, standard output carries messages only");
        finding.actual = Some(quoted.join("\n"));
        Some(finding)
    }
}
