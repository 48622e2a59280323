//! `collect` and `run`: the cases of suites.

use std::sync::Arc;

use clap::Parser as _;
use mcprove_engine::{Storing, expand_conformance};
use mcprove_model::{Case, ExitStatus, Override, PlannedCase, Redactor};
use mcprove_report::Shows;
use serde::Deserialize;
use serde_json::{Value, json};

use super::reply;
use crate::commands::run::keys_are_set;
use crate::context::Context;
use crate::execution::{Execution, RunMode, redactor_of};
use crate::failure::Failure;
use crate::selection::Selection;
use crate::snapshots;
use crate::subject::Subject;
use crate::suites::{Suites, Watched, stand_in, usable};

/// The suites and options of a request: the arguments of `mcprove run`.
#[derive(Debug, clap::Parser)]
#[command(no_binary_name = true, disable_help_flag = true, disable_version_flag = true)]
struct Line {
    #[command(flatten)]
    suites: Suites,
    #[command(flatten)]
    subject: Subject,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    execution: Execution,
    /// Store the values of `snapshot` matchers instead of comparing with them.
    #[arg(short = 'u', long)]
    update_snapshots: bool,
}

/// The parameters of `collect` and `run`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    /// The arguments of `mcprove run`.
    #[serde(default)]
    args: Vec<String>,
    /// The cases that are run; all of them if left out.
    tests: Option<Vec<TestId>>,
}

/// Identity of a case.
#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct TestId {
    file: String,
    name: String,
}

impl Params {
    fn line(&self) -> Result<Line, Failure> {
        Line::try_parse_from(&self.args).map_err(|error| {
            let text = error.to_string();
            let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            Failure::new(message, "`mcprove run --help` lists the arguments")
        })
    }

    /// The wanted cases. The cases of a `conformance` test have names of their own.
    fn wanted(&self, cases: &[Arc<Case>], server: &Override) -> Vec<Arc<Case>> {
        let Some(tests) = &self.tests else { return cases.to_vec() };
        let mut cases = expand_conformance(cases, server);
        cases.retain(|case| tests.iter().any(|id| id.name == case.name && id.file == case.source.path()));
        cases
    }
}

/// Lists the cases that would run. Files with mistakes have findings; the cases of the others are still listed.
pub(super) fn collect(params: &Params) -> Result<Value, Failure> {
    let line = params.line()?;
    let server = line.execution.in_container(line.subject.replacement()?);
    let loaded = line.suites.load(stand_in(&server), Watched::Perhaps)?;
    let cases = params.wanted(&loaded.cases, &server);
    let tests: Vec<Value> = match line.selection.plan(&cases, server) {
        Ok(plan) => plan.cases.iter().map(listed).collect(),
        Err(Failure::NothingSelected { .. }) => Vec::new(),
        Err(failure) => return Err(failure),
    };
    let is_usable = usable(&loaded, line.execution.strict).is_ok();
    let message = reply::rendered(&loaded.findings);
    let found = json!({"tests": tests, "usable": is_usable, "findings": loaded.findings, "message": message});
    Ok(without(&Redactor::new(loaded.secrets.iter().map(String::as_str)), found))
}

/// Runs cases; the result has one object per case, in plan order.
pub(super) fn run(params: &Params, context: &Context) -> Result<Value, Failure> {
    let line = params.line()?;
    let server = line.execution.in_container(line.subject.replacement()?);
    let loaded = line.suites.load(stand_in(&server), Watched::Perhaps)?;
    let warnings = usable(&loaded, line.execution.strict)?;
    let is_whole = params.tests.is_none() && !line.selection.is_partial();
    let plan = line.selection.plan(&params.wanted(&loaded.cases, &server), server)?;
    keys_are_set(&plan, false)?;
    let mode = RunMode {
        shows: Shows::Calls,
        is_whole,
        storing: if line.update_snapshots { Storing::Update } else { Storing::Compare },
        again: std::iter::once("run".to_owned()).chain(line.suites.words()).chain(line.subject.words()).collect(),
        ..RunMode::capturing(&plan, &loaded.secrets, Vec::new())
    };
    let secrets = redactor_of(&plan, &loaded.secrets);
    let mut outcome = line.execution.run(&plan, mode, context)?;
    let stored = if line.update_snapshots { snapshots::store_values(&outcome.report)? } else { Vec::new() };
    outcome.report.findings.splice(0..0, warnings);
    let status = if outcome.dropped { ExitStatus::Interrupted } else { outcome.report.exit_status() };
    let summary = outcome.report.summary();
    let results: Vec<Value> = outcome.report.cases.iter().map(reply::of_case).collect();
    let result = json!({
        "results": results,
        "summary": {"passed": summary.passed, "failed": summary.failed, "skipped": summary.skipped, "errors": summary.errors},
        "findings": outcome.report.findings,
        "message": reply::rendered(&outcome.report.findings),
        "stored": stored,
        "complaints": outcome.complaints,
        "exit_code": status.code(),
    });
    Ok(without(&secrets, result))
}

fn listed(planned: &PlannedCase) -> Value {
    let case = &planned.case;
    json!({
        "name": case.name,
        "file": case.source.path(),
        "line": case.source.position(case.span.start).line,
        "variant": planned.variant.as_deref(),
        "trial": planned.trial,
        "server": case.server.as_ref().map(|server| server.name.as_str()),
        "tags": case.tags,
        "skip": case.skip.as_ref().map(|skip| skip.reason.as_str()),
    })
}

/// The value with secrets replaced wherever they are.
fn without(secrets: &Redactor, mut value: Value) -> Value {
    secrets.json(&mut value);
    value
}
