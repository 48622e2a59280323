//! `mcprove mock`: a server from a manifest or a recording.

use std::path::PathBuf;
use std::time::Duration;

use mcprove_mock::{HttpListener, ISSUER_FAULTS, IssuerOptions, MUTATIONS, Mock, MockOptions, Offer, conforming};
use mcprove_model::{ExitStatus, FaultRule, Finding, nearest};
use mcprove_report::render_findings;
use mcprove_suite::duration;

use crate::context::Context;
use crate::failure::Failure;
use crate::stop_signals::StopSignals;

/// Pretend to be a server, from a manifest or a recording.
#[derive(Debug, clap::Args)]
#[command(override_usage = "mcprove mock <--tools-from <FILE>|--conforming|--issuer> [OPTIONS]")]
#[command(
    after_help = "Faults apply to `tools/call`, and some to what `tools/list` shows: hang never answers, slow:<ms> answers late, \
                        error:<code> refuses, flaky:<percent> fails by chance; `mcprove explain faults` lists all.\n\nExamples:\n  \
                        mcprove mock --tools-from tools.yml\n  mcprove mock --tools-from tools.yml --fault \
                        search=hang --fault slow:200\n  mcprove mock --tools-from run.ndjson --http 127.0.0.1:0\n  \
                        mcprove mock --conforming --mutation string-ids\n  mcprove mock --issuer --http 127.0.0.1:9000 \
                        --issuer-fault no-pkce"
)]
pub(crate) struct Args {
    /// A manifest (docs/mock.md), the JSON of a `tools/list`, a cassette, or an event log; a log answers what was asked in it.
    #[arg(long, value_name = "FILE", required_unless_present_any = ["conforming", "issuer"])]
    tools_from: Option<PathBuf>,
    /// Simulate a server that passes `mcprove conformance`.
    #[arg(long, conflicts_with = "tools_from")]
    conforming: bool,
    /// Break one rule of the protocol; `mcprove explain mutations` lists them.
    #[arg(long, value_name = "NAME", value_parser = mutation)]
    mutation: Option<&'static str>,
    /// Inject a fault, for every tool or for one: hang, slow:<ms>, malformed, flaky:<percent>, …
    #[arg(long, value_name = "[TOOL=]KIND")]
    fault: Vec<FaultRule>,
    /// Seed of faults that depend on chance, and of canaries.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Serve over HTTP at this address; port 0 takes a free one.
    #[arg(long, value_name = "HOST:PORT")]
    http: Option<String>,
    /// Serve an authorization server at the same address, whose tokens the mock then wants.
    #[arg(long, requires = "http")]
    issuer: bool,
    /// Break the login in one way; may be repeated. `mcprove explain issuer-faults` lists them.
    #[arg(long, value_name = "NAME", requires = "issuer", value_parser = issuer_fault)]
    issuer_fault: Vec<&'static str>,
    /// A scope that calls of one tool take, in addition to `mcp`; may be repeated.
    #[arg(long, value_name = "TOOL=SCOPE", requires = "issuer", value_parser = tool_scope)]
    tool_scope: Vec<(String, String)>,
    /// A client that the authorization server knows, with or without a secret; may be repeated.
    #[arg(long, value_name = "ID[:SECRET]", requires = "issuer")]
    issuer_client: Vec<String>,
    /// Lifetime of access tokens.
    #[arg(long, value_name = "DURATION", default_value = "1h", requires = "issuer", value_parser = duration::parse)]
    token_lifetime: Duration,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let offer = match &args.tools_from {
        None => conforming(),
        Some(path) => {
            let (offer, findings) = mcprove_mock::load(path);
            let Some(offer) = offer else { return Err(Failure::Suite(findings)) };
            warn(&findings, context);
            offer
        }
    };
    check_faults(&offer, &args.fault)?;
    let mutation = args.mutation.unwrap_or_default();
    let issuer = args.issuer.then(|| IssuerOptions {
        faults: args.issuer_fault.clone(),
        tool_scopes: args.tool_scope.clone(),
        lifetime: args.token_lifetime,
        clients: args.issuer_client.iter().map(|text| client(text)).collect(),
        ..IssuerOptions::default()
    });
    let options =
        MockOptions { faults: args.fault.clone(), seed: args.seed, mutation, issuer, ..MockOptions::default() };
    let mock = Mock::new(offer, options);
    // A mock that counts signals must not be ended by one.
    let _held = mock.ignores_sigterm().then(StopSignals::listen);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        Failure::Other { message: format!("the runtime could not be started: {error}"), help: None }
    })?;
    let served = match &args.http {
        Some(address) => runtime.block_on(serve_http(&mock, address, context)),
        None => runtime.block_on(serve_stdio(&mock)),
    };
    // A pending read of standard input would keep the runtime from ending.
    runtime.shutdown_background();
    served.map(|()| ExitStatus::Good)
}

/// A fault of a login by its name.
fn issuer_fault(name: &str) -> Result<&'static str, String> {
    let names = ISSUER_FAULTS.iter().map(|fault| fault.name);
    names.clone().find(|known| *known == name).ok_or_else(|| match nearest(name, names) {
        Some(near) => format!("no fault is called that; did you mean `{near}`?"),
        None => "no fault is called that; `mcprove explain issuer-faults` lists them".to_owned(),
    })
}

fn tool_scope(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((tool, scope)) if !tool.is_empty() && !scope.is_empty() => Ok((tool.to_owned(), scope.to_owned())),
        Some(_) | None => Err("write `TOOL=SCOPE`".to_owned()),
    }
}

fn client(text: &str) -> (String, Option<String>) {
    match text.split_once(':') {
        Some((id, secret)) => (id.to_owned(), Some(secret.to_owned())),
        None => (text.to_owned(), None),
    }
}

/// A mutation by its name.
fn mutation(name: &str) -> Result<&'static str, String> {
    let names = MUTATIONS.iter().map(|mutation| mutation.name);
    names.clone().find(|known| *known == name).ok_or_else(|| match nearest(name, names) {
        Some(near) => format!("no mutation is called that; did you mean `{near}`?"),
        None => "no mutation is called that; `mcprove explain mutations` lists them".to_owned(),
    })
}

async fn serve_stdio(mock: &Mock) -> Result<(), Failure> {
    mock.serve(tokio::io::stdin(), tokio::io::stdout()).await.map_err(|error| {
        Failure::new(format!("the client went away: {error}"), "nothing: the mock ends with its client")
    })
}

async fn serve_http(mock: &Mock, address: &str, context: &Context) -> Result<(), Failure> {
    let http_listener = HttpListener::open(address).await.map_err(|error| {
        Failure::new(
            format!("`{address}` cannot be listened on: {error}"),
            "give `--http` an address of this machine and a free port, as in 127.0.0.1:0",
        )
    })?;
    context.write_stderr(&format!("listening on {}\n", http_listener.url()));
    if !http_listener.is_local() {
        context.write_stderr(
            "warning: other machines, and pages in browsers by a name that leads here, can use this mock\n",
        );
    }
    mock.serve_http(http_listener, StopSignals::listen().next()).await;
    Ok(())
}

fn warn(findings: &[Finding], context: &Context) {
    if !findings.is_empty() {
        context.write_stderr(&render_findings(findings, &context.style()));
    }
}

/// A fault for a tool that is not there would never be met.
fn check_faults(offer: &Offer, faults: &[FaultRule]) -> Result<(), Failure> {
    let Offer::Manifest(manifest) = offer else { return Ok(()) };
    for tool in faults.iter().filter_map(|rule| rule.tool.as_deref()) {
        if manifest.tool_names().any(|name| name == tool) {
            continue;
        }
        let help = match nearest(tool, manifest.tool_names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the tools are {}", manifest.tool_names().collect::<Vec<_>>().join(", ")),
        };
        return Err(Failure::new(format!("`--fault` names the tool `{tool}`, which the mock does not have"), help));
    }
    Ok(())
}
