//! `mcprove diff`: two servers, versions or transports, asked the same.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mcprove_engine::{
    Catalog, Consent, DiffCall, DiffOptions, DiffProgram, ScanKind, ScanOptions, catalog_workload, plan_diff,
    recorded_calls, suite_programs, tool_name,
};
use mcprove_judge::catalog_change::{CatalogChange, Class, catalog_changes, catalog_document};
use mcprove_judge::tool_effect::{ToolEffect, tool_effect};
use mcprove_model::{ExitStatus, Finding, Override, ServerSpec};
use mcprove_report::{fuzz_table, to_safe_json};
use mcprove_suite::load::bounded_read;
use serde_json::{Value, json};

use crate::context::Context;
use crate::execution::{RunMode, redactor_of};
use crate::failure::Failure;
use crate::finish::{Gates, Stdout};
use crate::run_flags::{Ending, RunFlags};
use crate::scan::{ScanTimes, answer_by_default};
use crate::selection::show_scan;
use crate::server_offer::offer_of;
use crate::stdout::print;
use crate::subject::Subject;
use crate::suites::{Suites, usable};

/// Ask two servers the same and compare what they offer and answer.
///
/// The calls come from a suite, from an event log, or are made for every tool that does not write. Replies are compared
/// once times, made-up keys and temporary folders are masked; changes of the lists are classified as breaking, additive
/// or description-only.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mcprove diff 'npx -y my-server@1' 'npx -y my-server@2'\n  \
                        mcprove diff 'my-server --stdio' http://localhost:3000/mcp evals/\n  \
                        mcprove diff old new --recording run.ndjson")]
#[command(mut_arg("timeout", |timeout| timeout.help("Time limit for the start of each server, and for each call [default: 60s and 15s]")))]
pub(crate) struct Args {
    /// The first server: a command, or a URL.
    #[arg(value_name = "A")]
    one: String,
    /// The second server: a command, or a URL.
    #[arg(value_name = "B")]
    other: String,
    /// A suite whose calls are made; without it, calls are made for each tool.
    #[arg(value_name = "SUITE")]
    suite: Option<PathBuf>,
    /// An event log (`--events`) whose calls are made.
    #[arg(long, value_name = "FILE", conflicts_with = "suite")]
    recording: Option<PathBuf>,
    /// A folder that each server gets a copy of; `{{fixture}}` in its arguments is the copy.
    #[arg(long, value_name = "DIR")]
    fixture: Option<PathBuf>,
    /// Also call tools that write or look like it.
    #[arg(long)]
    include_writes: bool,
    /// Only changes of the lists that break callers, and replies that differ, fail.
    #[arg(long)]
    breaking_only: bool,
    /// Seed of the generated inputs.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    run: RunFlags,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    args.run.check()?;
    let times = ScanTimes::DEFAULT.with(args.run.execution.timeout());
    let baseline = args.run.baseline()?;
    let (one, other) = (args.server(&args.one)?, args.server(&args.other)?);
    let fixture = args.fixture.as_deref();
    let (before, now) = (offer(&one, fixture, times.start, context)?, offer(&other, fixture, times.start, context)?);
    let changes = catalog_changes(&document(&before), &document(&now));
    let mut secrets = other.secrets.clone();
    let programs = programs(args, (&before, &now), times, &mut secrets)?;
    let options = DiffOptions { fixture: args.fixture.clone(), start: times.start, timeout: times.call };
    let cases = plan_diff(&one, &other, programs, &options);
    let plan = args.run.selection.plan(&cases, Override::default())?;
    let redactor = redactor_of(&plan, &secrets);
    if args.run.selection.dry_run {
        return show_scan(&plan, &redactor, args.run.json);
    }
    let findings = changes.iter().map(|change| finding(change, args.breaking_only)).collect();
    let mode = RunMode { prints_findings: true, shows: args.run.outputs.shows(), ..RunMode::new(findings, redactor) };
    let outcome = args.run.run(&plan, mode, context)?;
    if args.run.json {
        print(&to_safe_json(&as_json(&changes, &outcome.report)))?;
    } else if args.run.are_for_people() {
        print(&fuzz_table(&outcome.report, context.verbosity, &context.style()))?;
        print(&ending(&changes, &outcome.report))?;
    }
    let names: Vec<String> = cases.iter().map(|case| case.name.clone()).collect();
    let known: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let stdout = Stdout::of_own_json(args.run.json, &args.run.outputs);
    args.run.finish(
        outcome,
        Ending { stdout, baseline, known, gates: Gates { threshold: None, regressions: true } },
        context,
    )
}

impl Args {
    /// The server that an argument names.
    fn server(&self, text: &str) -> Result<Arc<ServerSpec>, Failure> {
        let mut server = self.run.execution.in_container(Override::default()).apply(&Subject::of_text(text).spec()?);
        answer_by_default(&mut server);
        Ok(Arc::new(server))
    }
}

fn offer(
    server: &ServerSpec,
    fixture: Option<&Path>,
    timeout: Duration,
    context: &Context,
) -> Result<Catalog, Failure> {
    let catalog = offer_of(server, fixture, timeout, context)?;
    match catalog.findings.iter().find(|finding| finding.severity.fails()) {
        Some(finding) => Err(Failure::of(finding)),
        None => Ok(catalog),
    }
}

fn document(catalog: &Catalog) -> Value {
    catalog_document(&catalog.tools, &catalog.resources, &catalog.templates, &catalog.prompts)
}

/// The calls to make. Tools that only one of the servers has are among the changes of the lists.
/// The secrets of a suite are added: the servers that are compared may have them, too.
fn programs(
    args: &Args,
    (before, now): (&Catalog, &Catalog),
    times: ScanTimes,
    secrets: &mut Vec<String>,
) -> Result<Vec<DiffProgram>, Failure> {
    let instructions = before.instructions.as_deref();
    let listed = |catalog: &Catalog, name: &str| catalog.tools.iter().any(|tool| tool_name(tool) == name);
    let reads = |name: &str| {
        let tool = before.tools.iter().find(|tool| tool_name(tool) == name);
        tool.is_some_and(|tool| matches!(tool_effect(tool, instructions), ToolEffect::Reads | ToolEffect::Unclear))
    };
    let mut programs = match (&args.suite, &args.recording) {
        (Some(path), _) => {
            let suites = Suites::at(path, args.fixture.as_deref());
            let loaded = suites.load_for(&Subject::of_text(&args.one))?;
            usable(&loaded, false)?;
            secrets.extend(loaded.secrets.iter().cloned());
            let servers = loaded.cases.iter().flat_map(|case| case.servers());
            secrets.extend(servers.flat_map(|server| server.secrets.iter().cloned()));
            suite_programs(&loaded.cases)
        }
        (None, Some(path)) => {
            let text = bounded_read::read_to_string(path).map_err(|error| {
                let message = format!("`{}` could not be read: {error}", path.display());
                Failure::new(message, "give `--recording` an event log, as `--events` writes it")
            })?;
            recorded_calls(&text)
        }
        (None, None) => generated(args, before, times),
    };
    for program in &mut programs {
        program.calls.retain(|call| listed(before, &call.tool) && listed(now, &call.tool));
        program.calls.retain(|call| args.suite.is_some() || args.include_writes || reads(&call.tool));
        for call in &mut program.calls {
            call.only_reads = reads(&call.tool);
        }
    }
    if programs.is_empty() {
        return Err(Failure::NothingSelected {
            message: "there is nothing to call on both servers".to_owned(),
            help: "give a suite, or allow tools that write with `--include-writes`".to_owned(),
        });
    }
    Ok(programs)
}

fn generated(args: &Args, catalog: &Catalog, times: ScanTimes) -> Vec<DiffProgram> {
    let options = ScanOptions {
        kind: ScanKind::Audit { repeat: false },
        consent: Consent::of(args.include_writes, false),
        tools: Vec::new(),
        given: std::collections::BTreeMap::new(),
        fixture: args.fixture.clone(),
        start: times.start,
        timeout: times.call,
        seed: args.seed,
    };
    let made = catalog_workload(catalog, &options);
    let programs = made.workload.tool_calls().map(|(tool, input, _)| {
        let call = DiffCall { tool: tool.to_owned(), args: input.clone(), only_reads: false };
        DiffProgram { name: tool.to_owned(), calls: vec![call] }
    });
    programs.collect()
}

fn finding(change: &CatalogChange, breaking_only: bool) -> Finding {
    let text = format!("{}: {}", change.subject, change.what);
    match change.class {
        Class::Breaking => Finding::error("breaking-change", text),
        Class::Additive if !breaking_only => Finding::warning("additive-change", text),
        Class::Additive | Class::DescriptionOnly => Finding::note("cosmetic-change", text),
    }
}

fn ending(changes: &[CatalogChange], report: &mcprove_model::Report) -> String {
    let count = |class: Class| changes.iter().filter(|change| change.class == class).count();
    let findings =
        report.cases.iter().filter_map(|case| case.finished.as_ref()).flat_map(|finished| &finished.findings);
    let differing = findings.filter(|finding| finding.rule == "reply-differs").count();
    format!(
        "\n{} breaking, {} additive, {} description-only; {differing} replies differ\n",
        count(Class::Breaking),
        count(Class::Additive),
        count(Class::DescriptionOnly),
    )
}

fn as_json(changes: &[CatalogChange], report: &mcprove_model::Report) -> Value {
    let rows = changes
        .iter()
        .map(|change| json!({"class": change.class.word(), "subject": change.subject, "what": change.what}));
    let cases = report.cases.iter().map(|case| {
        let findings = case.finished.iter().flat_map(|finished| &finished.findings);
        let findings =
            findings.map(|finding| json!({"rule": finding.rule, "message": finding.message, "detail": finding.actual}));
        json!({"name": case.started.name, "findings": findings.collect::<Vec<_>>()})
    });
    json!({"changes": rows.collect::<Vec<_>>(), "cases": cases.collect::<Vec<_>>()})
}
