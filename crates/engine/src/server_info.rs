//! Description of a server and its lists. No tool is called.

use std::path::Path;
use std::time::Duration;

use mcprove_model::{Finding, ServerSpec};
use mcprove_wire::{Closing, Limits, Negotiated, OpenFailure, Stage, Tokens};
use tokio::time::Instant;

use crate::discover::{Catalog, discover};
use crate::fixture_guard::FixtureGuard;
use crate::server::Opener;

/// Description of a server and its lists.
#[derive(Debug)]
pub struct ServerInfo {
    /// Result of the handshake.
    pub negotiated: Negotiated,
    /// The transport's name.
    pub transport: &'static str,
    /// Its lists.
    pub catalog: Catalog,
    /// The time from nothing to the end of the handshake.
    pub opened: Duration,
    /// Findings about the conversation.
    pub findings: Vec<Finding>,
}

/// Options for asking a server for its lists.
#[derive(Clone, Copy, Debug)]
pub struct InfoOptions<'a> {
    /// A folder that the server works on a copy of.
    pub fixture: Option<&'a Path>,
    /// The running program, which may be named as a server.
    pub own_program: &'a Path,
    /// The time that the start and the lists may take, each.
    pub timeout: Duration,
    /// The time a server may take to say its era.
    pub probe_timeout: Duration,
    /// Bounds on the session.
    pub limits: Limits,
    /// Tokens of servers behind a login.
    pub tokens: &'a Tokens,
}

impl InfoOptions<'_> {
    pub(crate) fn opener(&self) -> Opener {
        let opener = Opener::new(self.own_program, self.limits, self.probe_timeout);
        Opener { tokens: self.tokens.clone(), ..opener }
    }
}

/// Asks a server for its lists; the error says why it could not be reached.
pub async fn server_info(server: &ServerSpec, options: &InfoOptions<'_>) -> Result<ServerInfo, Box<OpenFailure>> {
    let began = Instant::now();
    let fixture_guard = FixtureGuard::new(options.fixture).map_err(|error| not_copied(&error))?;
    let opener = options.opener();
    let mut session = opener.open(server, fixture_guard.variables(), began + options.timeout).await?;
    let opened = began.elapsed();
    let mut catalog = discover(&mut session, Instant::now() + options.timeout).await;
    catalog.places = fixture_guard.places_as_templates();
    let (negotiated, transport) = (session.negotiated().clone(), session.transport_name());
    let closing = session.close().await;
    Ok(ServerInfo { negotiated, transport, catalog, opened, findings: closing.oddities })
}

/// A fixture that cannot be copied keeps the server from being started.
fn not_copied(error: &std::io::Error) -> Box<OpenFailure> {
    Box::new(OpenFailure {
        stage: Stage::Start,
        message: format!("the fixture folder could not be copied: {error}"),
        help: Some("give `--fixture` a folder that can be read".to_owned()),
        evidence: None,
        status: None,
        again: None,
        closing: Closing::default(),
    })
}
