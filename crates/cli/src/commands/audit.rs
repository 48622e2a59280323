//! `mcprove audit`: point it at a server and learn which tools are healthy.

use std::fmt::Write as _;
use std::path::PathBuf;

use mcprove_engine::{PlannedCall, ScanKind, tool_name};
use mcprove_judge::catalog_tokens;
use mcprove_model::{ExitStatus, ToolVerdict};
use mcprove_report::{AuditFacts, audit_table, is_tool, known_word, scan_counts, score, to_safe_json, tool_verdict};
use mcprove_suite::starter::FileNames;
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::Failure;
use crate::run_flags::RunFlags;
use crate::scan::{InputFlags, Scan, ScanFlags, ScanRequest, ScanTimes, Scanned, scan};
use crate::starter_files::{self, Described};
use crate::stdout::print;
use crate::subject::Subject;

/// Call each tool that does not write, once, with valid input.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Resources and prompts are read, too. A tool that is annotated as writing, or looks like it, is skipped.\n\nExamples:\n  mcprove audit --server 'npx -y my-server'\n  \
                        mcprove audit --server 'npx -y my-server' --output evals/\n  \
                        mcprove audit --url http://localhost:3000/mcp"
)]
#[command(mut_arg("timeout", |timeout| timeout.help("Time limit for the start of the server, and for each call [default: 60s and 15s]")))]
pub(crate) struct Args {
    /// Exit with 0 also when something crashed or timed out.
    #[arg(long)]
    no_fail: bool,
    /// Write a test for each tool: it expects what the tool answered; each tool is called once more.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// With `--output`: replace files that are there already.
    #[arg(long, requires = "output")]
    overwrite: bool,
    #[command(flatten)]
    inputs: InputFlags,
    #[command(flatten)]
    scan: ScanFlags,
    #[command(flatten)]
    run: RunFlags,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let request = ScanRequest {
        command: "audit",
        scan: &args.scan,
        run: &args.run,
        fixture: args.inputs.fixture.as_deref(),
        seed: args.inputs.seed,
        times: ScanTimes::DEFAULT.with(args.run.execution.timeout()),
        kind: ScanKind::Audit { repeat: args.output.is_some() },
    };
    let scanned = match scan(request, context)? {
        Scan::Shown(status) => return Ok(status),
        Scan::Made(scanned) => scanned,
    };
    if scanned.is_interrupted() {
        context.write_stderr("interrupted: not every tool was called\n");
    }
    let report = &scanned.outcome.report;
    if args.run.json {
        let mut json = as_json(&scanned);
        crate::logins::redactor(scanned.server.secrets.iter().map(String::as_str)).json(&mut json);
        print(&to_safe_json(&json))?;
    } else if args.run.are_for_people() {
        let facts = AuditFacts { tokens: tokens(&scanned), verbosity: context.verbosity };
        print(&audit_table(report, facts, &context.style()))?;
        if args.inputs.fixture.is_none() {
            print(&about_missing_files(&scanned.called))?;
        }
        if context.width.is_some() {
            print(&for_ci(&args.scan.subject))?;
        }
    }
    if !scanned.is_interrupted() {
        write_suite(args, &scanned, context)?;
    }
    let was_called = report.cases.iter().any(|case| is_tool(case) && tool_verdict(case) != ToolVerdict::Skipped);
    let status = scanned.status(&args.run, was_called, "there is no score", context)?;
    Ok(if status == ExitStatus::Wrong && args.no_fail { ExitStatus::Good } else { status })
}

/// The tokens that the tools of the report take of every request.
fn tokens(scanned: &Scanned) -> usize {
    let is_in_report = |tool: &&Value| {
        let cases = &scanned.outcome.report.cases;
        cases.iter().any(|case| case.started.name == tool_name(tool))
    };
    let tools: Vec<Value> = scanned.info.catalog.tools.iter().filter(is_in_report).cloned().collect();
    catalog_tokens(&tools)
}

/// Writes a suite from what the tools answered, where the user wants one.
fn write_suite(args: &Args, scanned: &Scanned, context: &Context) -> Result<(), Failure> {
    let Some(folder) = &args.output else { return Ok(()) };
    let fixture = args.inputs.fixture.as_deref();
    let described = Described::new(&scanned.server, fixture);
    let files = starter_files::of_scan(&scanned.called, &described, &mut FileNames::default());
    let unnameable = starter_files::unnameable(&scanned.info.catalog);
    let written = starter_files::write_all(folder, &starter_files::texts(&files), args.overwrite)?.without(unnameable);
    let mut text = written.files_summary(folder);
    let flag = fixture.map(|fixture| format!(" --fixture {}", fixture.display())).unwrap_or_default();
    let _ = writeln!(text, "run them: mcprove run {}{flag}", folder.display());
    if !args.run.are_for_people() {
        context.write_stderr(&text);
        return Ok(());
    }
    print(&format!("\n{text}"))
}

/// The command for a build server; shown to people, not to build servers.
fn for_ci(subject: &Subject) -> String {
    format!("\nin CI: mcprove audit {} --yes --junit audit.xml\n", subject.command_line())
}

/// Tools that work on files are asked for files that do not exist; a folder of the user's shows more of them.
fn about_missing_files(called: &[PlannedCall]) -> String {
    let tools = match called.iter().filter(|called| called.misses_file).count() {
        0 => return String::new(),
        1 => "1 tool".to_owned(),
        count => format!("{count} tools"),
    };
    format!(
        "\nhint: {tools} could not be shown a file; `--fixture DIR` gives the server a copy of a folder (write `{{{{fixture}}}}` \
         in its command) and names files in it\n"
    )
}

/// The known shape of an audit, with additional keys.
fn as_json(scanned: &Scanned) -> Value {
    let (report, catalog) = (&scanned.outcome.report, &scanned.info.catalog);
    let transport = report.cases.iter().find_map(|case| case.sessions.first()).map(|session| session.transport.clone());
    let results: Vec<Value> = report
        .cases
        .iter()
        .filter(|case| is_tool(case))
        .map(|case| {
            let finished = case.finished.as_ref();
            let call = finished.and_then(|finished| finished.calls.last());
            let findings = finished.map(|finished| finished.findings.as_slice()).unwrap_or_default();
            let tool = catalog.tool(&case.started.name);
            let called = scanned.called.iter().find(|called| called.tool == case.started.name);
            let seen = called.and_then(|called| called.replies.first());
            let verdict = tool_verdict(case);
            json!({
                "tool": case.started.name,
                "description": tool.and_then(|tool| tool.get("description")),
                "status": known_word(verdict),
                "verdict": verdict.word(),
                "cause": match verdict {
                    ToolVerdict::Fails(cause) => Some(cause.word()),
                    _ => None,
                },
                "detail": findings.first().map(|finding| finding.message.clone()),
                "findings": findings,
                "is_error": seen.is_some_and(|seen| seen.is_error),
                "has_content": seen.is_some_and(|seen| !seen.text.is_empty()),
                "duration_ms": call.map_or(0, |call| call.elapsed_us / 1000),
                "request": call.and_then(|call| serde_json::from_str::<Value>(&call.request).ok()),
            })
        })
        .collect();
    let offers = report.cases.iter().filter(|case| !is_tool(case)).map(|case| {
        let findings = case.finished.as_ref().map(|finished| finished.findings.as_slice()).unwrap_or_default();
        json!({"name": case.started.name, "verdict": tool_verdict(case).word(), "findings": findings})
    });
    json!({
        "server": scanned.server.name,
        "transport": transport,
        "tool_count": results.len(),
        "results": results,
        "resources_and_prompts": offers.collect::<Vec<_>>(),
        "score": score(report),
        "counts": scan_counts(report).line(),
        "catalog_tokens": tokens(scanned),
        "findings": report.findings,
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        subject: Subject,
    }

    #[test]
    fn the_command_for_a_build_server_can_be_pasted() {
        let command = |args: &[&str]| for_ci(&Line::parse_from([&["mcprove"], args].concat()).subject);
        assert_eq!(
            command(&["--server", "npx my-server"]),
            "\nin CI: mcprove audit --server 'npx my-server' --yes --junit audit.xml\n"
        );
        let url = ["--url", "http://127.0.0.1:1/mcp", "--header", "Authorization: Bearer secret"];
        let line = command(&url);
        assert!(line.contains("--url http://127.0.0.1:1/mcp") && !line.contains("secret"), "{line}");
    }
}
