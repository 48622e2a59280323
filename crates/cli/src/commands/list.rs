//! `mcprove list`: the tools, resources, templates and prompts of a server.

use std::fmt::Write as _;
use std::time::Duration;

use mcprove_engine::{Catalog, discover, open_session, tool_name};
use mcprove_model::{ExitStatus, Finding, Severity, nearest, shorten};
use mcprove_report::{escape_terminal_line, render_findings, to_safe_json};
use mcprove_wire::Negotiated;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::context::Context;
use crate::explore::{TargetServer, prompt_signature, tool_signature};
use crate::failure::Failure;
use crate::server_offer::{info_options, until_stopped};
use crate::stdout::print;

/// List the tools, resources, templates and prompts of a server.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mcprove list --server 'npx -y my-server'\n  mcprove list tools --url http://localhost:3000/mcp\n  \
                        mcprove list --schema search --server 'npx -y my-server'"
)]
pub(crate) struct Args {
    /// List only this kind.
    #[arg(value_name = "KIND", value_enum)]
    kind: Option<Kind>,
    /// Print the schemas of this tool as JSON.
    #[arg(long, value_name = "TOOL", conflicts_with_all = ["kind", "json"])]
    schema: Option<String>,
    /// Print everything that the server lists as JSON, and nothing else, on standard output.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reach: TargetServer,
}

/// A kind of thing that servers offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    Tools,
    Resources,
    Templates,
    Prompts,
}

/// A server and its lists.
struct Listed {
    negotiated: Negotiated,
    transport: &'static str,
    catalog: Catalog,
    opened: Duration,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let mut server = args.reach.server()?;
    // Some servers list a tool only for clients that can answer it; nothing is called here, so nothing is asked.
    server.client.by_hand = true;
    let redactor = crate::logins::redactor(server.secrets.iter().map(String::as_str));
    let waiting = context.waiting(&format!("listing what {} offers", server.name));
    let listed = until_stopped(async {
        let began = Instant::now();
        let mut session = open_session(&server, &info_options(args.reach.timeout, context)).await?;
        let opened = began.elapsed();
        let catalog = discover(&mut session, Instant::now() + args.reach.timeout).await;
        let (negotiated, transport) = (session.negotiated().clone(), session.transport_name());
        session.close().await;
        Ok(Listed { negotiated, transport, catalog, opened })
    })?
    .map_err(|failure: Box<mcprove_wire::OpenFailure>| Failure::unreachable(&failure, &server))?;
    drop(waiting);
    let text = match &args.schema {
        Some(name) => schema_of(name, &listed.catalog)?,
        None if args.json => to_safe_json(&as_json(&server.name, &listed)),
        None => table(&listed, args.kind, context.width.unwrap_or(100)),
    };
    print(&redactor.text(&text))?;
    let findings: Vec<Finding> =
        listed.catalog.findings.into_iter().filter(|f| f.severity >= Severity::Warning).collect();
    if !args.json {
        context.write_stderr(&redactor.text(&render_findings(&findings, &context.style())));
    }
    let fails = findings.iter().any(|finding| finding.severity >= Severity::Error);
    Ok(if fails { ExitStatus::Wrong } else { ExitStatus::Good })
}

fn schema_of(name: &str, catalog: &Catalog) -> Result<String, Failure> {
    let Some(tool) = catalog.tool(name) else {
        let near = nearest(name, catalog.tools.iter().map(tool_name));
        let help =
            near.map_or_else(|| "`mcprove list tools` lists them".to_owned(), |near| format!("did you mean `{near}`?"));
        return Err(Failure::new(format!("the server has no tool `{name}`"), help));
    };
    let part = |key: &str| tool.get(key).cloned().unwrap_or(Value::Null);
    let mut schemas = json!({"inputSchema": part("inputSchema")});
    if tool.get("outputSchema").is_some() {
        schemas["outputSchema"] = part("outputSchema");
    }
    Ok(to_safe_json(&schemas))
}

/// A kind, its title, its items, and the line that shows one.
type Section<'c> = (Kind, &'static str, &'c [Value], fn(&Value) -> String);

/// Items of a list that are shown to people.
const SHOWN: usize = 1_000;

fn table(listed: &Listed, kind: Option<Kind>, width: usize) -> String {
    let Listed { negotiated, transport, catalog, .. } = listed;
    let name = format!("{} {}", shorten(&negotiated.server_name, 80), shorten(&negotiated.server_version, 40));
    let mut text = format!("{} over {transport}, {}\n", escape_terminal_line(&name), negotiated.revision.as_str());
    let is_shown = |wanted: Kind, items: &[Value]| kind.map_or(!items.is_empty(), |kind| kind == wanted);
    let sections: [Section<'_>; 4] = [
        (Kind::Tools, "tools", &catalog.tools, tool_line),
        (Kind::Resources, "resources", &catalog.resources, |item| resource_line(item, "uri")),
        (Kind::Templates, "resource templates", &catalog.templates, |item| resource_line(item, "uriTemplate")),
        (Kind::Prompts, "prompts", &catalog.prompts, prompt_signature),
    ];
    let mut is_empty = true;
    for (which, title, items, line) in sections {
        if !is_shown(which, items) {
            continue;
        }
        is_empty = false;
        let _ = writeln!(text, "\n{title} ({})", items.len());
        for item in items.iter().take(SHOWN) {
            let _ = writeln!(text, "  {}", escape_terminal_line(&line(item)));
            if let Some(about) = about(item) {
                let _ =
                    writeln!(text, "      {}", shorten(&escape_terminal_line(&about), width.saturating_sub(6).max(40)));
            }
        }
        if items.len() > SHOWN {
            let _ = writeln!(text, "  … and {} more; `--json` prints all", items.len() - SHOWN);
        }
    }
    // A list that could not be read may have items.
    if is_empty && catalog.findings.iter().all(|finding| finding.severity < Severity::Error) {
        text.push_str("\nit offers no tools, resources or prompts\n");
    }
    text
}

/// The signature of a tool, with what it says about its effects.
fn tool_line(tool: &Value) -> String {
    let hint = |name: &str| tool.get("annotations").and_then(|hints| hints.get(name)).and_then(Value::as_bool);
    let mut line = tool_signature(tool);
    if hint("readOnlyHint") == Some(true) {
        line.push_str("  [read-only]");
    } else if hint("destructiveHint") == Some(true) {
        line.push_str("  [destructive]");
    }
    line
}

fn resource_line(item: &Value, key: &str) -> String {
    let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
    let mime = text("mimeType");
    let mime = if mime.is_empty() { String::new() } else { format!("  ({mime})") };
    format!("{}{mime}", text(key))
}

/// The first line of a description, or the title or name where they say more than the line above.
fn about(item: &Value) -> Option<String> {
    let text = |key: &str| item.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let described = text("description").or_else(|| text("title"));
    let described = described.or_else(|| item.get("uri").or(item.get("uriTemplate")).and_then(|_| text("name")));
    described.and_then(|text| text.trim().lines().next()).map(str::to_owned)
}

fn as_json(server: &str, listed: &Listed) -> Value {
    let Listed { negotiated, transport, catalog, opened } = listed;
    json!({
        "server": server,
        "server_name": negotiated.server_name,
        "server_version": negotiated.server_version,
        "transport": transport,
        "protocol": negotiated.revision.as_str(),
        "capabilities": negotiated.capabilities,
        "opened_ms": u64::try_from(opened.as_millis()).unwrap_or(u64::MAX),
        "tools": catalog.tools,
        "resources": catalog.resources,
        "resource_templates": catalog.templates,
        "prompts": catalog.prompts,
        "findings": catalog.findings,
    })
}
