//! `mcprove login`: log in to a server as a host would.

use std::sync::Arc;
use std::time::Duration;

use mcprove_model::oauth::{LoginRecord, OauthSettings};
use mcprove_model::{ExitStatus, escape_line, without_password};
use mcprove_report::to_safe_json;
use mcprove_suite::duration;
use mcprove_wire::HttpClient;
use mcprove_wire::oauth::{LoginHost, LoginLog, LoginRequest, log_in};
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::Failure;
use crate::logins::{LoginStore, Logins, redactor};
use crate::server_offer::until_stopped;
use crate::stdout::print;

/// Log in to a server, and keep the login for other commands.
#[derive(Debug, clap::Args)]
#[command(override_usage = "mcprove login <URL> [OPTIONS]\n       mcprove login --list [--json]")]
#[command(
    after_help = "The authorization server is found from the URL. Logins are kept in a file that only you can read; \
                        `MCPROVE_CONFIG_DIR` names another folder.\n\nExamples:\n  mcprove login https://example.com/mcp\n  \
                        mcprove login http://localhost:3000/mcp --no-browser --scope files:read\n  mcprove login --list"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Args {
    /// The URL of the server.
    #[arg(value_name = "URL", required_unless_present = "list")]
    url: Option<String>,
    /// List the logins that are kept.
    #[arg(long, conflicts_with = "url")]
    list: bool,
    /// Print the URL, and open no browser.
    #[arg(long)]
    no_browser: bool,
    /// A scope to ask for; may be repeated [default: those that the server names].
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,
    /// The id of a client that is registered with the authorization server.
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    /// The environment variable that holds the secret of the client.
    #[arg(long, value_name = "NAME", requires = "client_id")]
    client_secret_env: Option<String>,
    /// The https URL of a document that describes the client, for servers that take such.
    #[arg(long, value_name = "URL", conflicts_with = "client_id")]
    client_metadata_url: Option<String>,
    /// The port of the redirect on 127.0.0.1 [default: any that is free].
    #[arg(long, value_name = "PORT")]
    redirect_port: Option<u16>,
    /// Bind the token to a key (DPoP).
    #[arg(long)]
    dpop: bool,
    /// Time limit for signing in.
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration::parse)]
    timeout: Duration,
    /// Print the result as JSON, and nothing else, on standard output.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, _: &Context) -> Result<ExitStatus, Failure> {
    let Some(url) = &args.url else { return list(args) };
    if !url.starts_with("http://") && !url.starts_with("https://") {
        let message = format!("`{}` is not an http or https URL", escape_line(&without_password(url)));
        return Err(Failure::new(message, "give the URL of the server, as in `mcprove login https://example.com/mcp`"));
    }
    let settings = settings(args)?;
    // A login that cannot be kept would be in vain.
    let unkept =
        |error: String| Failure::new(error, "fix or remove the file, or name another folder: `MCPROVE_CONFIG_DIR`");
    LoginStore::of_user().check().map_err(unkept)?;
    let host: Arc<dyn LoginHost> = Arc::new(Logins::new(!args.no_browser));
    let request = LoginRequest {
        server: url,
        settings: &settings,
        challenge: None,
        previous: None,
        host: &host,
        patience: args.timeout,
    };
    let client = HttpClient::default();
    // A server that refuses may repeat what it was sent.
    let secrets = redactor(settings.client_secret.iter().map(String::as_str));
    let safe = |text: &str| secrets.text(text).into_owned();
    let record = until_stopped(Box::pin(log_in(&request, &client, &LoginLog::default())))?
        .map_err(|obstacle| Failure::new(safe(&obstacle.message()), safe(&obstacle.help)))?;
    host.save(&record).map_err(unkept)?;
    if args.json {
        print(&to_safe_json(&shown(&record)))?;
    } else {
        let path = LoginStore::of_user().path().map(|path| path.display().to_string()).unwrap_or_default();
        print(&format!("logged in to {}\n", line(&record)))?;
        print(&format!("kept in {path}; `mcprove logout {}` forgets it\n", without_password(url)))?;
    }
    Ok(ExitStatus::Good)
}

fn settings(args: &Args) -> Result<OauthSettings, Failure> {
    let client_secret = match &args.client_secret_env {
        Some(name) => Some(Context::variable(name).filter(|value| !value.is_empty()).ok_or_else(|| {
            Failure::new(format!("the environment variable `{name}` is not set"), format!("set `{name}` and run again"))
        })?),
        None => None,
    };
    Ok(OauthSettings {
        client_id: args.client_id.clone(),
        client_secret,
        client_metadata_url: args.client_metadata_url.clone(),
        scopes: (!args.scope.is_empty()).then(|| args.scope.clone()),
        redirect_port: args.redirect_port,
        dpop: args.dpop,
        ..OauthSettings::default()
    })
}

fn list(args: &Args) -> Result<ExitStatus, Failure> {
    let store = LoginStore::of_user();
    let logins = store.all().map_err(|error| Failure::new(error, "fix or remove the file"))?;
    if args.json {
        let logins: Vec<Value> = logins.iter().map(shown).collect();
        print(&to_safe_json(&json!({"logins": logins})))?;
        return Ok(ExitStatus::Good);
    }
    if logins.is_empty() {
        print("no logins; `mcprove login URL` makes one\n")?;
    }
    for record in &logins {
        print(&format!("{}\n", line(record)))?;
    }
    Ok(ExitStatus::Good)
}

/// A login in one line, without its secrets.
fn line(record: &LoginRecord) -> String {
    let scopes = match record.granted.join(" ") {
        scopes if scopes.is_empty() => String::new(),
        scopes => format!(", scopes {}", escape_line(&scopes)),
    };
    let server = without_password(&record.server).into_owned();
    format!("{} with {}{scopes}, {}", escape_line(&server), escape_line(&record.issuer), lifetime(record))
}

fn lifetime(record: &LoginRecord) -> String {
    let left = record.expires_at.map(|at| at.saturating_sub(Context::unix_ms() / 1000));
    let renewed = if record.refresh_token.is_some() { ", then renewed" } else { "" };
    match left {
        None => "without an end".to_owned(),
        Some(0) if record.refresh_token.is_some() => "to be renewed".to_owned(),
        Some(0) => "expired".to_owned(),
        Some(seconds @ 1..120) => format!("valid for {seconds} s{renewed}"),
        Some(seconds @ 120..7200) => format!("valid for {} min{renewed}", seconds / 60),
        Some(seconds) => format!("valid for {} h{renewed}", seconds / 3600),
    }
}

fn shown(record: &LoginRecord) -> Value {
    json!({
        "server": without_password(&record.server),
        "resource": record.resource,
        "issuer": record.issuer,
        "client_id": record.client.id,
        "scopes": record.granted,
        "expires_at": record.expires_at,
        "renewable": record.refresh_token.is_some(),
    })
}
