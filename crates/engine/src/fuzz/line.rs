//! The server that the calls of a tool go to: one after the other, and a fresh one where the last is no longer usable.

use std::time::Duration;

use mcprove_model::{CallRecord, CallRole, Connected, Finding, Frame, Outcome, ProcessEnd, Severity};
use mcprove_wire::{Closing, OpenFailure, Session};
use serde_json::Value;
use tokio::time::Instant;

use super::workshop::{Called, Workshop};
use crate::calls;

/// After how many calls the session's record is emptied, so that it does not grow with the run.
const CHAPTER: usize = 128;

/// How long a ping may take that tells a hang from a slow call.
const PING: Duration = Duration::from_secs(1);

/// A server and what was said to it and its forerunners.
#[derive(Debug)]
pub(crate) struct Line<'w> {
    workshop: &'w Workshop,
    session: Option<Session>,
    /// How many calls the current server has got.
    calls: usize,
    pub(crate) said: Said,
}

/// What was said on a line.
#[derive(Debug, Default)]
pub(crate) struct Said {
    pub(crate) connected: Vec<Connected>,
    pub(crate) frames: Vec<(u32, Frame)>,
    /// What is odd about the conversation, each kind once.
    pub(crate) oddities: Vec<Finding>,
    /// The end of the standard error of the last server that went away by itself.
    pub(crate) stderr: String,
    pub(crate) end: Option<ProcessEnd>,
}

/// A call on a line.
#[derive(Debug)]
pub(crate) struct LineCall {
    pub(crate) called: Called,
    pub(crate) record: CallRecord,
}

impl<'w> Line<'w> {
    pub(crate) fn new(workshop: &'w Workshop, said: Said) -> Self {
        Self { workshop, session: None, calls: 0, said }
    }

    /// Whether the next call is the first that a server gets.
    pub(crate) fn is_fresh(&self) -> bool {
        self.calls == 0
    }

    /// The session, opened where there is none.
    pub(crate) async fn session(&mut self) -> Result<&mut Session, Box<OpenFailure>> {
        if self.session.is_none() {
            let session = self.workshop.open().await?;
            self.calls = 0;
            let negotiated = session.negotiated();
            self.said.connected.push(Connected {
                index: 0,
                session: u32::try_from(self.said.connected.len()).unwrap_or(u32::MAX),
                server: None,
                began_us: 0,
                transport: session.transport_name().to_owned(),
                protocol: negotiated.revision.to_string(),
                server_name: negotiated.server_name.clone(),
                server_version: negotiated.server_version.clone(),
            });
            self.session = Some(session);
        }
        match &mut self.session {
            Some(session) => Ok(session),
            None => unreachable!("it was opened above"),
        }
    }

    /// Calls a tool; a server that went away or did not answer is not used again.
    pub(crate) async fn call(
        &mut self,
        tool: &str,
        arguments: &Value,
        wait: Duration,
    ) -> Result<LineCall, Box<OpenFailure>> {
        let workshop = self.workshop;
        let session = self.session().await?;
        let mut stop = workshop.stop.clone();
        let exchange = tokio::select! {
            biased;
            // What is cut off by the user says nothing about the tool.
            () = stop.stopped() => return Ok(self.cut_off(tool).await),
            exchange = session.call_tool(tool, arguments, Instant::now() + wait) => exchange,
        };
        workshop.count_call();
        let alive_after = match &exchange.outcome {
            Outcome::TimedOut { .. } => Some(is_alive(session, (wait / 4).min(PING)).await),
            // Only looks at what is known already: asking after each call would double their number.
            Outcome::Result(_) | Outcome::Error(_) => (!session.is_open()).then_some(false),
            Outcome::Malformed(_) | Outcome::Refused(_) | Outcome::Closed { .. } | Outcome::Cancelled => None,
        };
        let is_silence = matches!(exchange.outcome, Outcome::TimedOut { .. });
        let stderr = if is_silence { session.stderr() } else { String::new() };
        let is_usable = session.is_open() && !is_silence;
        let record = calls::record(CallRole::Act, Some(tool), &exchange);
        self.calls += 1;
        if !is_usable {
            self.end().await;
        } else if self.calls.is_multiple_of(CHAPTER) {
            self.turn_the_page();
        }
        Ok(LineCall { called: Called { outcome: exchange.outcome, alive_after, stderr }, record })
    }

    async fn cut_off(&mut self, tool: &str) -> LineCall {
        self.end().await;
        let record = CallRecord {
            role: CallRole::Act,
            method: "tools/call".to_owned(),
            subject: Some(tool.to_owned()),
            server: None,
            fault: None,
            request: String::new(),
            reply: None,
            elapsed_us: 0,
        };
        LineCall { called: Called { outcome: Outcome::Cancelled, alive_after: None, stderr: String::new() }, record }
    }

    /// Ends the server, if there is one.
    pub(crate) async fn end(&mut self) {
        self.calls = 0;
        let Some(session) = self.session.take() else { return };
        let went_by_itself = !session.is_open();
        let closing = session.close().await;
        if went_by_itself {
            self.said.stderr.clone_from(&closing.stderr);
            self.said.end = closing.end;
        }
        self.keep(closing);
    }

    /// Takes what was said so far out of the session.
    pub(crate) fn turn_the_page(&mut self) {
        if let Some(closing) = self.session.as_mut().map(Session::end_chapter) {
            self.keep(closing);
        }
    }

    /// Takes in what was said on the session by someone else.
    pub(crate) fn keep(&mut self, closing: Closing) {
        let session = u32::try_from(self.said.connected.len().saturating_sub(1)).unwrap_or(u32::MAX);
        if self.workshop.keep_frames {
            self.said.frames.extend(closing.frames.into_iter().map(|frame| (session, frame)));
        }
        for oddity in closing.oddities {
            let is_known = self.said.oddities.iter().any(|known| known.rule == oddity.rule);
            if oddity.severity >= Severity::Warning && !is_known {
                self.said.oddities.push(oddity);
            }
        }
    }
}

/// Whether a server that did not answer a call answers at all.
pub(crate) async fn is_alive(session: &mut Session, wait: Duration) -> bool {
    let ping = session.ping(Instant::now() + wait).await;
    matches!(ping.outcome, Outcome::Result(_) | Outcome::Error(_))
}
