//! Opening the sessions of a load, as a host does.

use std::sync::Arc;
use std::time::Duration;

use mcprove_model::{Outcome, ServerSpec, Target};
use mcprove_suite::template::Variables;
use mcprove_wire::{OpenFailure, Session, Stage};
use tokio::time::Instant;

use super::client::Shared;
use super::reference::failure_of;
use crate::server::Opener;

/// Where sessions come from.
#[derive(Clone, Debug)]
pub(super) enum Sessions {
    /// The server of the case.
    Server { server: Arc<ServerSpec>, variables: Variables, opener: Arc<Opener> },
    /// A peer in this process.
    #[cfg(test)]
    Peer(fn(mcprove_wire::transport::Peer)),
}

impl Sessions {
    /// The name of a phase that failed.
    fn phase_of(&self, stage: Stage) -> &'static str {
        match (stage, self) {
            (Stage::Handshake, _) => "handshake",
            (Stage::Start, Self::Server { server, .. }) if matches!(server.target, Target::Remote { .. }) => "connect",
            (Stage::Start, _) => "start",
        }
    }

    pub(super) async fn open(&self, deadline: Instant) -> Result<Session, Box<OpenFailure>> {
        match self {
            Self::Server { server, variables, opener } => opener.open(server, variables, deadline).await,
            #[cfg(test)]
            Self::Peer(serve) => {
                let (transport, peer) = mcprove_wire::Transport::memory(&mcprove_wire::Limits::default());
                serve(peer);
                Session::open(transport, &mcprove_wire::SessionOptions::default(), deadline).await
            }
        }
    }
}

/// The time that the phases of opening a session took.
pub(super) type Phases = Vec<(&'static str, Duration)>;

impl Shared {
    /// Opens a session as a host does: it connects, agrees on a revision, and asks for the tools. What fails half-way is closed.
    pub(super) async fn open(&self) -> Result<(Box<Session>, Phases), NotOpened> {
        let _permit = self.opening.acquire().await;
        let begun = Instant::now();
        let deadline = begun + self.options.start;
        let mut session = match self.sessions.open(deadline).await {
            Ok(session) => Box::new(session),
            Err(failure) => return Err(NotOpened { phase: self.sessions.phase_of(failure.stage), failure }),
        };
        let opened = Instant::now();
        let mut phases = Vec::new();
        // A process is started before its session begins; elsewhere there is nothing to start.
        let ready = if session.transport_name() == "stdio" { session.began().max(begun) } else { begun };
        if ready > begun {
            phases.push(("start", ready - begun));
        }
        phases.push(("handshake", opened - ready));
        session.learn_schemas(deadline).await;
        let listing = session.list("tools/list", "tools", deadline).await;
        if let Some(message) = not_listed(&session, listing.outcome()) {
            let closing = session.close().await;
            let (help, evidence, status, again) = (None, None, None, None);
            let failure = OpenFailure { stage: Stage::Handshake, message, help, evidence, status, again, closing };
            return Err(NotOpened { phase: "list", failure: Box::new(failure) });
        }
        phases.push(("list", opened.elapsed()));
        session.forget();
        Ok((session, phases))
    }
}

/// A session that could not be opened.
#[derive(Debug)]
pub(super) struct NotOpened {
    /// The phase that failed: `start`, `connect`, `handshake` or `list`.
    pub(super) phase: &'static str,
    pub(super) failure: Box<OpenFailure>,
}

/// The reason why a session cannot be used; a server without tools may refuse to list them.
fn not_listed(session: &Session, outcome: Option<&Outcome>) -> Option<String> {
    let has_tools = session.negotiated().capabilities.get("tools").is_some();
    match outcome {
        Some(Outcome::Error(_)) if !has_tools => None,
        Some(outcome) => failure_of(outcome).map(|(_, why)| format!("`tools/list` failed: {why}")),
        None => None,
    }
}
