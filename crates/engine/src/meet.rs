//! A first meeting with a server: whether it answers, what it says of itself and what it offers. Nothing is called.

use std::time::Duration;

use mcprove_model::{Finding, ServerSpec};
use mcprove_suite::template::Variables;
use mcprove_wire::{Negotiated, OpenFailure};
use tokio::time::Instant;

use crate::discover::{Catalog, discover};
use crate::tour::{Asking, opener};

/// What a first meeting showed.
#[derive(Debug)]
pub struct Acquaintance {
    /// What was agreed on.
    pub negotiated: Negotiated,
    /// How it was reached, as people call it.
    pub transport: &'static str,
    /// What it offers.
    pub catalog: Catalog,
    /// From nothing to the end of the handshake.
    pub opened: Duration,
    /// What was odd about the conversation.
    pub findings: Vec<Finding>,
}

/// Meets a server; the error says why it could not be reached.
pub async fn meet(server: &ServerSpec, asking: &Asking<'_>) -> Result<Acquaintance, Box<OpenFailure>> {
    let began = Instant::now();
    let deadline = began + asking.timeout;
    let mut session = opener(asking.own_program, asking.limits).open(server, &Variables::default(), deadline).await?;
    let opened = began.elapsed();
    let catalog = discover(&mut session, deadline).await;
    let (negotiated, transport) = (session.negotiated().clone(), session.transport_name());
    let closing = session.close().await;
    Ok(Acquaintance { negotiated, transport, catalog, opened, findings: closing.oddities })
}
