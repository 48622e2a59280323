//! An open session with a server, for commands that let a person try it.

use mcprove_model::ServerSpec;
use mcprove_suite::template::Variables;
use mcprove_wire::{OpenFailure, Session};
use tokio::time::Instant;

use crate::server_info::InfoOptions;

/// Opens a session; the error says why the server could not be reached.
pub async fn open_session(server: &ServerSpec, options: &InfoOptions<'_>) -> Result<Session, Box<OpenFailure>> {
    options.opener().open(server, &Variables::default(), Instant::now() + options.timeout).await
}
