//! `mcprove logout`: forget a login, and give its tokens back.

use mcprove_model::oauth::LoginRecord;
use mcprove_model::{ExitStatus, escape_line, without_password};
use mcprove_wire::HttpClient;
use mcprove_wire::oauth::revoke;

use crate::context::Context;
use crate::failure::Failure;
use crate::logins::LoginStore;
use crate::server_offer::until_stopped;
use crate::stdout::print;

/// Forget a login, and revoke its tokens where the authorization server can.
#[derive(Debug, clap::Args)]
#[command(override_usage = "mcprove logout <URL|--all>")]
#[command(after_help = "Examples:\n  mcprove logout https://example.com/mcp\n  mcprove logout --all")]
pub(crate) struct Args {
    /// The URL of the server.
    #[arg(value_name = "URL", required_unless_present = "all")]
    url: Option<String>,
    /// Forget all logins.
    #[arg(long, conflicts_with = "url")]
    all: bool,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let store = LoginStore::of_user();
    let failed = |error: String| Failure::new(error, "fix or remove the file");
    let servers = match &args.url {
        Some(url) => vec![url.clone()],
        None => store.all().map_err(failed)?.into_iter().map(|record| record.server).collect(),
    };
    let mut forgotten: Vec<LoginRecord> = Vec::new();
    for server in &servers {
        if let Some(record) = store.remove(server).map_err(failed)? {
            forgotten.push(record);
        } else {
            let message = format!("there is no login at `{}`", escape_line(&without_password(server)));
            return Err(Failure::new(message, "`mcprove login --list` lists the logins"));
        }
    }
    if forgotten.is_empty() {
        print("no logins\n")?;
    }
    for record in &forgotten {
        let server = escape_line(&without_password(&record.server)).into_owned();
        let client = HttpClient::default();
        match until_stopped(Box::pin(revoke(record, &client)))? {
            Ok(true) => print(&format!("logged out of {server}; its tokens are revoked\n"))?,
            Ok(false) => print(&format!("logged out of {server}; its tokens are valid until they expire\n"))?,
            Err(error) => {
                context.write_stderr(&format!("warning: the tokens were not revoked: {error}\n"));
                print(&format!("logged out of {server}\n"))?;
            }
        }
    }
    Ok(ExitStatus::Good)
}
