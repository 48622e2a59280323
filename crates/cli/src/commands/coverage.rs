//! `mcprove coverage`: how much of a server a suite asserts.

use std::path::PathBuf;
use std::time::Duration;

use mcprove_engine::Catalog;
use mcprove_judge::coverage::{Offer, coverage};
use mcprove_model::{Case, CoverageCount, ExitStatus, ServerCoverage, ServerSpec};
use mcprove_report::{coverage_table, to_safe_json};
use mcprove_suite::duration;
use serde_json::{Value, json};

use crate::atomic_write;
use crate::context::Context;
use crate::failure::Failure;
use crate::server_offer::offer_of;
use crate::stdout::print;
use crate::subject::Subject;
use crate::suites::{Suites, usable};

/// Compare a suite with what a server lists; no case is run.
#[derive(Debug, clap::Args)]
#[command(after_help = "What setup and teardown call is not coverage, nor is a case that is skipped or expects \
                        nothing.\n\nExamples:\n  mcprove coverage evals/ --server 'npx -y my-server'\n  \
                        mcprove coverage evals/ --min 80")]
pub(crate) struct Args {
    #[command(flatten)]
    suites: Suites,
    /// Exit with 1 when fewer than this percentage of the tools have an assertion.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    min: Option<f64>,
    /// Exit with 1 when fewer than this percentage of the arguments are passed.
    #[arg(long = "min-args", value_name = "PERCENT", value_parser = percent)]
    min_arguments: Option<f64>,
    /// Exit with 1 when fewer than this percentage of the tools have a test that expects an error.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    min_errors: Option<f64>,
    /// Print the results as JSON, and nothing else, on standard output.
    #[arg(long)]
    json: bool,
    /// Write the results as JSON to this file.
    #[arg(long, value_name = "PATH")]
    coverage_json: Option<PathBuf>,
    /// Time limit for the server to start and to list what it has.
    #[arg(long, value_name = "DURATION", default_value = "15s", value_parser = duration::parse)]
    timeout: Duration,
    #[command(flatten)]
    subject: Subject,
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').trim().parse::<f64>().ok();
    number.filter(|number| (0.0..=100.0).contains(number)).ok_or_else(|| "give a number from 0 to 100".to_owned())
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let loaded = args.suites.load_for(&args.subject)?;
    usable(&loaded, false)?;
    let cases: Vec<&Case> = loaded.cases.iter().map(AsRef::as_ref).collect();
    let server = server_of(args, &cases)?;
    let fixture = cases.iter().find_map(|case| case.fixture.clone());
    let Catalog { tools, resources, templates, prompts, findings, .. } =
        offer_of(&server, fixture.as_deref(), args.timeout, context)?;
    if let Some(finding) = findings.iter().find(|finding| finding.severity.fails()) {
        return Err(Failure::of(finding));
    }
    let offer = Offer { tools: &tools, resources: &resources, templates: &templates, prompts: &prompts };
    let reach = coverage(offer, cases.iter().copied());
    let redactor = crate::logins::redactor(server.secrets.iter().chain(&loaded.secrets).map(String::as_str));
    let json = || {
        let mut json = as_json(&reach);
        redactor.json(&mut json);
        to_safe_json(&json)
    };
    if let Some(path) = &args.coverage_json {
        atomic_write::write_report(path, json().as_bytes()).map_err(|error| {
            let message = format!("`{}` could not be written: {error}", path.display());
            Failure::new(message, "give `--coverage-json` a path in an existing folder")
        })?;
    }
    if args.json {
        print(&json())?;
    } else {
        print(&redactor.text(&coverage_table(&reach, &context.style())))?;
    }
    let gates = [
        ("tools", args.min, reach.tools()),
        ("arguments", args.min_arguments, reach.arguments()),
        ("error paths", args.min_errors, reach.error_paths()),
    ];
    let asks = gates.iter().any(|(_, least, _)| least.is_some());
    if asks && reach.tools().total == 0 {
        context.write_stderr("error: the server lists no tools, so nothing can be covered\n  help: `mcprove doctor` says what it offers\n");
        return Ok(ExitStatus::NothingSelected);
    }
    let mut status = ExitStatus::Good;
    for (what, least, part) in gates {
        if let Some(least) = least
            && part.percent() < least
        {
            context
                .write_stderr(&format!("error: {:.1} % of the {what}, and {least} % are asked for\n", part.percent()));
            status = ExitStatus::Wrong;
        }
    }
    Ok(status)
}

/// The server that all cases speak to, which one that was named has taken the place of; or that one alone.
fn server_of(args: &Args, cases: &[&Case]) -> Result<ServerSpec, Failure> {
    let mut servers = cases.iter().filter_map(|case| case.server.as_ref());
    let Some(first) = servers.next() else {
        if args.subject.is_named() {
            return args.subject.spec();
        }
        return Err(Failure::new("no case of the suite speaks to a server", "name one with `--server`"));
    };
    if servers.any(|other| other.target.label() != first.target.label()) {
        return Err(Failure::new("the suite speaks to several servers", "name the one to look at with `--server`"));
    }
    Ok(ServerSpec::clone(first))
}

/// The known shape, with the details as additional keys.
fn as_json(reach: &ServerCoverage) -> Value {
    let tools = reach.tools();
    let covered = reach.tools.iter().filter(|tool| tool.assertions > 0);
    let covered: Vec<Value> = covered.map(|tool| json!({"name": tool.name, "assertions": tool.assertions})).collect();
    let uncovered: Vec<&str> =
        reach.tools.iter().filter(|tool| tool.assertions == 0).map(|tool| tool.name.as_str()).collect();
    let part =
        |part: CoverageCount| json!({"total": part.total, "covered": part.covered, "percentage": part.percent()});
    json!({
        "total": tools.total,
        "covered": tools.covered,
        "percentage": tools.percent(),
        "covered_tools": covered,
        "uncovered_tools": uncovered,
        "arguments": part(reach.arguments()),
        "enum_values": part(reach.values()),
        "error_paths": part(reach.error_paths()),
        "resources": part(reach.resources()),
        "prompts": part(reach.prompts()),
        "details": reach,
    })
}
