//! `mcprove mcp`: mcprove as an MCP server, for coding agents.

mod budget;
mod commands;
mod folder;
mod program;
mod reads;
mod servers;
mod tools;
mod write;

use std::path::PathBuf;
use std::sync::Arc;

use mcprove_mock::{HttpListener, Mock, MockOptions};
use mcprove_model::{ExitStatus, SourceFile};

use crate::context::Context;
use crate::execution::runtime;
use crate::failure::Failure;
use crate::stop_signals::StopSignals;

/// The server's lists: names, descriptions and schemas. The answers come from [`tools::Tools`].
const OFFER: &str = include_str!("mcp/offer.yaml");

/// Run mcprove as an MCP server that tests servers for agents.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Only servers that a suite of the folder, a client's configuration or `--add-server` names are started. Files are \
                  written inside the folder only.\n\nExamples:\n  mcprove mcp\n  mcprove mcp --dir my-server --client-config \
                  .mcp.json\n  mcprove mcp --http 127.0.0.1:8080 --read-only\n  claude mcp add mcprove -- mcprove mcp"
)]
pub(crate) struct Args {
    /// The folder that suites are read from and tests are written to.
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Offer the servers of this configuration file of a client; `.mcp.json`, `.cursor/mcp.json` and `.vscode/mcp.json` of the folder are read anyway.
    #[arg(long, value_name = "FILE")]
    client_config: Vec<PathBuf>,
    /// Offer this server, too; may be repeated.
    #[arg(long, value_name = "NAME=CMD ARGS")]
    add_server: Vec<String>,
    /// Write no files; tools of the servers are still called.
    #[arg(long)]
    read_only: bool,
    /// Serve over HTTP at this address; port 0 takes a free one.
    #[arg(long, value_name = "HOST:PORT")]
    http: Option<String>,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let folder = folder::Folder::at(&args.dir, args.read_only)?;
    let servers = servers::Servers::new(&folder, &args.client_config, &args.add_server, &context.own_program)?;
    let offer = OFFER.replace("A_SERVER", &example_name(&servers));
    let tools = tools::Tools::new(folder, servers, context);
    let (offer, findings) = mcprove_mock::read(&SourceFile::new("offer.yaml", offer));
    let Some(offer) = offer else { return Err(Failure::Suite(findings)) };
    let options = MockOptions { handler: Some(Arc::new(tools)), ..MockOptions::default() };
    let mock = Mock::new(offer, options);
    let runtime = runtime(2)?;
    let served = match &args.http {
        Some(address) => runtime.block_on(serve_http(&mock, address, context)),
        None => runtime.block_on(mock.serve(tokio::io::stdin(), tokio::io::stdout())).map_err(|error| {
            Failure::new(format!("the client went away: {error}"), "nothing: the server ends with its client")
        }),
    };
    // A pending read of standard input would keep the runtime from ending.
    runtime.shutdown_background();
    served.map(|()| ExitStatus::Good)
}

/// A server that the schemas name as an example: the first that a request could name.
fn example_name(servers: &servers::Servers) -> String {
    let is_plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    let known = servers.all();
    let first = known.iter().find(|known| known.is_whole() && is_plain(&known.name));
    format!("\"{}\"", first.map_or("my-server", |known| known.name.as_str()))
}

async fn serve_http(mock: &Mock, address: &str, context: &Context) -> Result<(), Failure> {
    let http_listener = HttpListener::open(address).await.map_err(|error| {
        let help = "give `--http` an address of this machine and a free port, as in 127.0.0.1:0";
        Failure::new(format!("`{address}` cannot be listened on: {error}"), help)
    })?;
    context.write_stderr(&format!("listening on {}\n", http_listener.url()));
    if !http_listener.is_local() {
        context
            .write_stderr("warning: other machines can use this server, and with it the servers that it may start\n");
    }
    mock.serve_http(http_listener, StopSignals::listen().next()).await;
    Ok(())
}
