//! `mcprove audit`: point it at a server and learn which tools are healthy.

use mcprove_engine::Visit;
use mcprove_model::{ExitStatus, Report};
use mcprove_report::{Health, audit_table, score};
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::Failure;
use crate::outputs::Outputs;
use crate::stdout::print;
use crate::touring::Touring;

/// Call every tool of a server once with a valid input.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mcprove audit --server 'npx my-server'\n  mcprove audit --url http://localhost:3000/mcp"
)]
pub(crate) struct Args {
    #[command(flatten)]
    touring: Touring,
    /// Print the results as JSON, and nothing else, on standard output.
    #[arg(long)]
    json: bool,
    /// Exit with 0 also when something crashed or timed out.
    #[arg(long)]
    no_fail: bool,
    #[command(flatten)]
    outputs: Outputs,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let report = args.touring.tour(Visit::Audit, context)?;
    if args.json {
        print(&format!("{:#}\n", as_json(&report, &args.touring.server_name()?)))?;
    } else {
        print(&audit_table(&report, &context.style()))?;
    }
    for complaint in args.outputs.write(&report, None) {
        context.complain(&format!("error: {complaint}\n"));
    }
    Ok(match (score(&report), report.exit_status()) {
        (None, _) => {
            context.complain("error: no tool was called, so there is no score\n");
            ExitStatus::NothingSelected
        }
        (Some(_), ExitStatus::Wrong) if args.no_fail => ExitStatus::Good,
        (Some(_), status) => status,
    })
}

/// The known shape of an audit.
fn as_json(report: &Report, server: &str) -> Value {
    let transport = report.cases.iter().find_map(|case| case.sessions.first()).map(|session| session.transport.clone());
    let results: Vec<Value> = report
        .cases
        .iter()
        .map(|case| {
            let finished = case.finished.as_ref();
            let call = finished.and_then(|finished| finished.calls.last());
            let detail = finished.and_then(|finished| finished.findings.first()).map(|finding| finding.message.clone());
            json!({
                "tool": case.started.name,
                "status": Health::of(case).word(),
                "detail": detail,
                "duration_ms": call.map_or(0, |call| call.elapsed_us / 1000),
                "request": call.and_then(|call| serde_json::from_str::<Value>(&call.request).ok()),
            })
        })
        .collect();
    json!({
        "server": server,
        "transport": transport,
        "tool_count": report.cases.len(),
        "results": results,
        "score": score(report),
    })
}
