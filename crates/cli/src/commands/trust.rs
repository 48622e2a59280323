//! `mcprove trust`: what flowed from server to server, and what requests claimed, in recorded conversations.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use mcprove_judge::trust::{Coverage, Recording, coverage, flows, recordings, widenings};
use mcprove_model::{CaseFinished, CaseReport, Era, ExitStatus, Finding, Report, Revision, Security, Verdict};
use mcprove_report::{Terminal, TerminalOptions};

use crate::baselines::Baselines;
use crate::catalog_report::counted;
use crate::context::Context;
use crate::failure::Failure;
use crate::finish::{FinishOptions, Gates, RunOutcome, Stdout, finish};
use crate::logs::{self, Frames};
use crate::outputs::Outputs;
use crate::stdout::print;
use crate::suites::{load_as_written, usable};

/// Check logs for data flows between servers and for capabilities.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "In the log of a run, each case is a conversation of its own. Logs of `mcprove intercept` are taken together \
                  as one conversation, in the order of time.\n\nExamples:\n  mcprove trust run.ndjson --suite suite.yaml\n  \
                  mcprove trust fetcher=fetcher.ndjson database=database.ndjson\n\n\
                  Rules: `mcprove explain SEC-060`, `mcprove explain SEC-061`."
)]
pub(crate) struct Args {
    /// Event logs; `NAME=PATH` gives the server of a log a name, `-` is standard input.
    #[arg(value_name = "EVENTS", required = true)]
    logs: Vec<String>,
    /// A suite file whose `security` declares what may flow; without it, no flow is allowed.
    #[arg(long, value_name = "FILE")]
    suite: Option<PathBuf>,
    /// Print the results as JSON, and nothing else, on standard output.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    outputs: Outputs,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    args.outputs.distinct(&[])?;
    let security = args.suite.as_deref().map(declared).transpose()?.flatten();
    let mut names = BTreeMap::new();
    let mut paths = Vec::new();
    for (number, log) in args.logs.iter().enumerate() {
        let named = log.split_once('=').filter(|_| !Path::new(log).exists());
        if let Some((name, _)) = named {
            names.insert(number, name.to_owned());
        }
        paths.push(PathBuf::from(named.map_or(log.as_str(), |(_, path)| path)));
    }
    let logs::Read { report, complaints } = logs::read(&paths, Frames::Keep)?;
    for complaint in complaints {
        context.write_stderr(&format!("warning: {complaint}\n"));
    }
    let recordings = recordings(&report, &|case, session| name_of(case, session, &names));
    if recordings.iter().all(|recording| recording.calls() == 0 && recording.claims.is_empty()) {
        return Err(Failure::NothingSelected {
            message: "no request was recorded".to_owned(),
            help: "name logs that `mcprove run --events FILE` or `mcprove intercept` wrote".to_owned(),
        });
    }
    let judged = judge(&report, &recordings, security.as_ref());
    if !args.json && args.outputs.are_for_people() {
        let options = TerminalOptions { color: context.color, verbosity: context.verbosity, width: context.width };
        let mut text = Vec::new();
        // Memory takes everything.
        let _ = Terminal::new(&mut text, options).without_next_step().report(&judged);
        let text = String::from_utf8_lossy(&text);
        let calls: usize = recordings.iter().map(Recording::calls).sum();
        let most = recordings.iter().map(|recording| recording.servers.len()).max().unwrap_or(0);
        let (calls, most) = (counted(calls, "call"), counted(most, "server"));
        print(&format!("{text}{calls} of tools looked at, with at most {most} in a conversation\n"))?;
    }
    let options = FinishOptions {
        stdout: Stdout::of(args.json, &args.outputs),
        outputs: &args.outputs,
        baselines: &Baselines::default(),
        baseline: None,
        known: BTreeSet::new(),
        is_partial: false,
        gates: Gates { threshold: None, regressions: false },
    };
    finish(RunOutcome::of(judged), &options, context)
}

/// Trust declarations of a suite; `None` if its file has no tests that could carry them.
fn declared(path: &Path) -> Result<Option<Security>, Failure> {
    let loaded = load_as_written(&[path.to_owned()]);
    usable(&loaded, false)?;
    let suite = loaded.cases.iter().find_map(|case| case.suite.as_ref());
    if suite.is_none() {
        let message = format!("`{}` is not a suite file with tests, so it declares nothing", path.display());
        return Err(Failure::new(message, "give `--suite` a file with `servers:`, `security:` and tests"));
    }
    Ok(suite.map(|suite| suite.security.clone()))
}

/// Name of the server of a session: from the command line, from the suite, or from the server itself.
fn name_of(case: &CaseReport, session: u32, names: &BTreeMap<usize, String>) -> String {
    let open = case.sessions.iter().find(|open| open.session == session);
    let own = open.map(|open| open.server_name.clone()).filter(|name| !name.is_empty());
    let named = names.get(&case.run).cloned().or_else(|| open.and_then(|open| open.server.clone()));
    named.or_else(|| case.started.server.clone()).or(own).unwrap_or_default()
}

/// A report with a case for each conversation.
fn judge(report: &Report, recordings: &[Recording], security: Option<&Security>) -> Report {
    let mut judged = Report { runs: report.runs.clone(), ..Report::default() };
    for recording in recordings {
        let Some(case) = recording.cases.first().map(|index| &report.cases[*index]) else { continue };
        let findings = findings(recording, security);
        let fails = findings.iter().any(|finding| finding.severity.fails());
        let verdict = if fails { Verdict::Failed } else { Verdict::Passed };
        let durations = recording.cases.iter().filter_map(|index| report.cases[*index].finished.as_ref());
        judged.cases.push(CaseReport {
            run: case.run,
            started: case.started.clone(),
            sessions: Vec::new(),
            frames: Vec::new(),
            cut_frames: BTreeMap::new(),
            finished: Some(CaseFinished {
                duration_us: durations.map(|finished| finished.duration_us).max().unwrap_or(0),
                ..CaseFinished::new(case.started.index, verdict, findings)
            }),
        });
    }
    judged
}

/// Secrets were masked when the log was written.
fn findings(recording: &Recording, security: Option<&Security>) -> Vec<Finding> {
    let boundary = security.and_then(|security| security.trust_boundary.as_ref());
    let mut found = flows(&recording.trace, boundary);
    let negotiation = security.and_then(|security| security.capability_negotiation.as_ref());
    let spoken = recording
        .protocols
        .iter()
        .find(|protocol| Revision::parse(protocol).is_some_and(|revision| revision.era() == Era::Modern));
    let target = negotiation.map(|negotiation| negotiation.target.as_str()).or(spoken.map(String::as_str));
    let negotiated = negotiation.and_then(|negotiation| negotiation.negotiated.as_deref());
    if let Some(target) = target {
        found.extend(widenings(target, negotiated, &recording.claims));
        let coverage = coverage(target, negotiated, &recording.claims);
        // Without a declaration, a conversation of one request has nothing to be compared with.
        let is_asked = negotiation.is_some() || !matches!(coverage, Coverage::Nothing(_));
        found.extend(coverage.note().filter(|_| is_asked));
    }
    found
}
