//! The server that the calls of a tool go to: one after the other, and a fresh one where the last is no longer usable.

use std::time::Duration;

use mcprove_model::{Connected, Exchange, Finding, Frame, Outcome, ProcessEnd, Severity};
use mcprove_wire::{Closing, OpenFailure, Session};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::context::{Called, FuzzContext};

/// After how many calls the session's record is emptied, so that it does not grow with the run.
const CHAPTER: usize = 128;

/// Time a ping may take; it distinguishes a hang from a slow call.
const PING: Duration = Duration::from_secs(1);

/// Number of calls a server must have answered, one after the other, before several are in flight: as many as most runs
/// make, so that those are never in doubt about which call did what.
const STEADY: usize = 128;

/// Maximum mean time per call for several calls to be in flight: with a slower server, nothing is gained.
const QUICK: Duration = Duration::from_millis(5);

/// A server and what was said to it and its forerunners.
#[derive(Debug)]
pub(crate) struct FuzzConnection<'w> {
    fuzz_context: &'w FuzzContext,
    session: Option<Session>,
    /// Number of calls the current server has got, and the time it worked on them.
    calls: usize,
    busy: Duration,
    /// At which call the session's record is to be emptied.
    chapter_ends: usize,
    pub(crate) said: ConnectionLog,
}

/// The conversation on a line.
#[derive(Debug, Default)]
pub(crate) struct ConnectionLog {
    pub(crate) connected: Vec<Connected>,
    pub(crate) frames: Vec<(u32, Frame)>,
    /// Oddities of the conversation, each kind once.
    pub(crate) oddities: Vec<Finding>,
    /// The end of the standard error of the last server that went away by itself.
    pub(crate) stderr: String,
    pub(crate) end: Option<ProcessEnd>,
}

/// Results of concurrent calls.
#[derive(Debug)]
pub(crate) enum Together {
    /// Each was answered, and the server is still there.
    Clear(Vec<Called>),
    /// It is not known how each of them ended; the server is not used again.
    Unclear(Box<Trouble>),
    /// The user cut them off.
    CutOff,
}

/// A failure of concurrent calls.
#[derive(Debug)]
pub(crate) struct Trouble {
    /// The first call without an answer.
    pub(crate) at: usize,
    /// Its outcome: the server went away, or no answer came.
    pub(crate) called: Called,
}

impl<'w> FuzzConnection<'w> {
    pub(crate) fn new(fuzz_context: &'w FuzzContext, said: ConnectionLog) -> Self {
        Self { fuzz_context, session: None, calls: 0, busy: Duration::ZERO, chapter_ends: CHAPTER, said }
    }

    /// True if the next call is the first that a server gets.
    pub(crate) fn is_fresh(&self) -> bool {
        self.calls == 0
    }

    /// The session, opened where there is none.
    pub(crate) async fn session(&mut self) -> Result<&mut Session, Box<OpenFailure>> {
        if self.session.is_none() {
            let session = self.fuzz_context.open().await?;
            (self.calls, self.busy, self.chapter_ends) = (0, Duration::ZERO, CHAPTER);
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
    pub(crate) async fn call(&mut self, call: ToolInput<'_>, wait: Duration) -> Result<Called, Box<OpenFailure>> {
        let fuzz_context = self.fuzz_context;
        let session = self.session().await?;
        let mut stop = fuzz_context.stop.clone();
        let exchange = tokio::select! {
            biased;
            // What is cut off by the user says nothing about the tool.
            () = stop.stopped() => return Ok(self.cut_off().await),
            exchange = call.make(session, Instant::now() + wait) => exchange,
        };
        fuzz_context.count_calls(1);
        let alive_after = match &exchange.outcome {
            Outcome::TimedOut { .. } => Some(is_alive(session, (wait / 4).min(PING)).await),
            // Only looks at what is known already: asking after each call would double their number.
            Outcome::Result(_) | Outcome::Error(_) => (!session.is_open()).then_some(false),
            Outcome::Malformed(_) | Outcome::Refused(_) | Outcome::Closed { .. } | Outcome::Cancelled => None,
        };
        let is_silence = matches!(exchange.outcome, Outcome::TimedOut { .. });
        let is_gone = matches!(exchange.outcome, Outcome::Closed { .. });
        let stderr = if is_silence || is_gone { session.stderr() } else { String::new() };
        let is_usable = session.is_open() && !is_silence;
        self.busy += Duration::from_micros(exchange.elapsed_us);
        self.count(1, is_usable).await;
        Ok(Called { exchange, alive_after, stderr })
    }

    /// True if several calls may be in flight: the server is there, has been steady and quick, and keeps an order.
    pub(crate) fn is_steady(&self) -> bool {
        let is_quick = || self.busy / u32::try_from(self.calls).unwrap_or(u32::MAX).max(1) < QUICK;
        self.calls >= STEADY && self.session.as_ref().is_some_and(Session::takes_calls_together) && is_quick()
    }

    /// Calls a tool several times without waiting in between; `calls` are the arguments as JSON texts.
    pub(crate) async fn together(
        &mut self,
        tool: &str,
        calls: &[&str],
        quiet: Duration,
    ) -> Result<Together, Box<OpenFailure>> {
        let fuzz_context = self.fuzz_context;
        let session = self.session().await?;
        let mut stop = fuzz_context.stop.clone();
        let exchanges = tokio::select! {
            biased;
            () = stop.stopped() => {
                self.end().await;
                return Ok(Together::CutOff);
            }
            exchanges = session.call_together(tool, calls, quiet) => exchanges,
        };
        fuzz_context.count_calls(calls.len());
        let unanswered = exchanges.iter().position(Option::is_none);
        if unanswered.is_none() && session.is_open() {
            self.count(calls.len(), true).await;
            let called = |exchange| Called { exchange, alive_after: None, stderr: String::new() };
            return Ok(Together::Clear(exchanges.into_iter().flatten().map(called).collect()));
        }
        let outcome = session.how_it_closed().unwrap_or(Outcome::TimedOut { after_ms: 0 });
        let called = Called { stderr: session.stderr(), ..Called::ended(outcome) };
        let trouble = Trouble { at: unanswered.unwrap_or(calls.len() - 1), called };
        self.count(calls.len(), false).await;
        Ok(Together::Unclear(Box::new(trouble)))
    }

    /// Counts calls that the server has got; one that is of no more use is ended.
    async fn count(&mut self, calls: usize, is_usable: bool) {
        self.calls += calls;
        if !is_usable {
            self.end().await;
        } else if self.calls >= self.chapter_ends {
            self.chapter_ends = self.calls + CHAPTER;
            self.turn_the_page();
        }
    }

    async fn cut_off(&mut self) -> Called {
        self.end().await;
        Called::ended(Outcome::Cancelled)
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
        if let Some(closing) = self.session.as_mut().map(Session::drain) {
            self.keep(closing);
        }
    }

    /// Takes in what was said on the session by someone else.
    pub(crate) fn keep(&mut self, closing: Closing) {
        let session = u32::try_from(self.said.connected.len().saturating_sub(1)).unwrap_or(u32::MAX);
        if self.fuzz_context.keep_frames {
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

/// A call of a tool; null arguments are sent as they are, or left out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToolInput<'c> {
    pub(crate) tool: &'c str,
    pub(crate) arguments: &'c Value,
    pub(crate) is_left_out: bool,
}

impl ToolInput<'_> {
    pub(crate) async fn make(self, session: &mut Session, deadline: Instant) -> Exchange {
        if !self.arguments.is_null() || self.is_left_out {
            return session.call_tool(self.tool, self.arguments, deadline).await;
        }
        let mut params = session.tool_params(self.tool, &json!({}));
        params["arguments"] = Value::Null;
        session.request("tools/call", params, deadline).await
    }
}

/// True if a server that did not answer a call answers at all.
pub(crate) async fn is_alive(session: &mut Session, wait: Duration) -> bool {
    let ping = session.ping(Instant::now() + wait).await;
    matches!(ping.outcome, Outcome::Result(_) | Outcome::Error(_))
}
