//! `mcprove audit`: point it at a server and learn which tools are healthy.

use std::fmt::Write as _;
use std::path::PathBuf;

use mcprove_engine::{Toured, Visit};
use mcprove_judge::catalog_tokens;
use mcprove_model::{CaseReport, ExitStatus, Finding, Report};
use mcprove_report::{AuditFacts, Health, audit_table, harmless_json, score};
use mcprove_suite::starter::FileNames;
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::Failure;
use crate::outputs::Outputs;
use crate::starters::{self, Described};
use crate::stdout::print;
use crate::touring::Touring;

/// Call every tool of a server once with a valid input.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mcprove audit --server 'npx my-server'\n  \
                        mcprove audit --server 'npx my-server' --output evals/\n  \
                        mcprove audit --url http://localhost:3000/mcp")]
pub(crate) struct Args {
    /// Print the results as JSON, and nothing else, on standard output.
    #[arg(long)]
    json: bool,
    /// Exit with 0 also when something crashed or timed out.
    #[arg(long)]
    no_fail: bool,
    /// Write an assertion file for each tool that expects what it answered; each is called once more for that.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// With `--output`: replace files that are there already.
    #[arg(long, requires = "output")]
    overwrite: bool,
    #[command(flatten)]
    touring: Touring,
    #[command(flatten)]
    outputs: Outputs,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let visit = Visit::Audit { rehearse: args.output.is_some() };
    let (report, toured) = args.touring.tour_with_replies(visit, context)?;
    let tokens = toured.as_ref().map_or(0, |toured| catalog_tokens(&toured.catalog.tools));
    if args.json {
        print(&harmless_json(&as_json(&report, toured.as_ref(), &args.touring.server()?.name)))?;
    } else {
        print(&audit_table(&report, AuditFacts { tokens }, &context.style()))?;
        if args.touring.fixture().is_none() {
            print(&about_missing_files(&report))?;
        }
    }
    if let (Some(folder), Some(toured)) = (&args.output, &toured) {
        let server = args.touring.server()?;
        let described = Described::new(&server, args.touring.fixture());
        let files = starters::of_tour(toured, &described, &mut FileNames::default());
        let written =
            starters::write_all(folder, &files, args.overwrite)?.without(starters::unnameable(&toured.catalog));
        let mut told = written.told(folder);
        let shown = folder.display();
        match args.touring.fixture() {
            Some(fixture) => {
                let _ = writeln!(told, "run them: mcprove run {shown} --fixture {}", fixture.display());
            }
            None => {
                let _ = writeln!(told, "run them: mcprove run {shown}");
            }
        }
        if args.json { context.complain(&told) } else { print(&format!("\n{told}"))? }
    }
    for complaint in args.outputs.write(&report, None) {
        context.complain(&format!("error: {complaint}\n"));
    }
    Ok(match (score(&report), report.exit_status()) {
        (_, ExitStatus::Interrupted) => ExitStatus::Interrupted,
        (None, _) => {
            context.complain("error: no tool was called, so there is no score\n");
            ExitStatus::NothingSelected
        }
        (Some(_), ExitStatus::Wrong) if args.no_fail => ExitStatus::Good,
        (Some(_), status) => status,
    })
}

/// Tools that work on files are asked for files that nobody has; a folder of one's own shows more of them.
fn about_missing_files(report: &Report) -> String {
    let is_missing = |finding: &Finding| {
        let words = ["ENOENT", "no such file", "allowed director"];
        finding.rule == "says-why" && words.iter().any(|word| finding.message.contains(word))
    };
    let findings = |case: &CaseReport| case.finished.as_ref().is_some_and(|case| case.findings.iter().any(is_missing));
    let tools = match report.cases.iter().filter(|case| findings(case)).count() {
        0 => return String::new(),
        1 => "1 tool".to_owned(),
        count => format!("{count} tools"),
    };
    format!(
        "\nhint: {tools} could not be shown a file; `--fixture DIR` gives the server a copy of a folder (write `{{{{fixture}}}}` \
         in its command) and names files in it\n"
    )
}

/// The known shape of an audit, with more beside it.
fn as_json(report: &Report, toured: Option<&Toured>, server: &str) -> Value {
    let transport = report.cases.iter().find_map(|case| case.sessions.first()).map(|session| session.transport.clone());
    let results: Vec<Value> = report
        .cases
        .iter()
        .map(|case| {
            let finished = case.finished.as_ref();
            let call = finished.and_then(|finished| finished.calls.last());
            let findings = finished.map(|finished| finished.findings.as_slice()).unwrap_or_default();
            let tool = toured.and_then(|toured| toured.catalog.tool(&case.started.name));
            let called = toured.and_then(|toured| toured.called.iter().find(|called| called.tool == case.started.name));
            let seen = called.and_then(|called| called.replies.first());
            let health = Health::of(case);
            json!({
                "tool": case.started.name,
                "description": tool.and_then(|tool| tool.get("description")),
                "status": health.known_word(),
                "health": health.word(),
                "detail": findings.first().map(|finding| finding.message.clone()),
                "findings": findings,
                "is_error": seen.is_some_and(|seen| seen.is_error),
                "has_content": seen.is_some_and(|seen| !seen.text.is_empty()),
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
        "catalog_tokens": toured.map(|toured| catalog_tokens(&toured.catalog.tools)),
        "findings": report.findings,
    })
}
