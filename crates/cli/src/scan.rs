//! Shared steps of the commands that scan the tools of a server: discover, plan, approve, run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mcprove_engine::{
    Consent, PlannedCall, ScanKind, ScanOptions, ScanResult, ServerInfo, plan_scan, server_info, tool_name,
};
use mcprove_judge::fuzz::secret_values;
use mcprove_judge::tool_effect::ScanPlan;
use mcprove_model::{
    ClientCapabilities, ExitStatus, Override, Redactor, ServerSpec, Severity, Target, nearest, shorten,
};
use mcprove_report::Shows;

use crate::confinement::Confinement;
use crate::context::Context;
use crate::execution::{RunMode, redactor_of};
use crate::failure::Failure;
use crate::finish::{Gates, RunOutcome, Stdout};
use crate::run_flags::{Ending, RunFlags};
use crate::seed_arguments::seed_arguments;
use crate::selection::show_scan;
use crate::server_offer::{info_options, until_stopped};
use crate::subject::Subject;

/// Which tools of which server are called.
#[derive(Debug, clap::Args)]
pub(crate) struct ScanFlags {
    /// Only this tool, even if it looks like it writes (not if it is annotated as writing); may be repeated.
    #[arg(long, value_name = "NAME")]
    tool: Vec<String>,
    /// Also call tools that write or look like it, with any input, without asking.
    #[arg(long, conflicts_with = "read_only")]
    pub(crate) include_writes: bool,
    /// Call only tools that are annotated as read-only.
    #[arg(long)]
    pub(crate) read_only: bool,
    /// A YAML or JSON file with arguments to use: a map from tools to arguments, or to lists of them.
    #[arg(long = "seed-args", value_name = "FILE")]
    pub(crate) given: Option<PathBuf>,
    /// Do not ask. The question comes on a terminal only, when the server has no sandbox and a tool is not marked as read-only.
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    pub(crate) subject: Subject,
    #[command(flatten)]
    pub(crate) confinement: Confinement,
}

/// Inputs of a scan.
#[derive(Debug, clap::Args)]
pub(crate) struct InputFlags {
    /// A folder that is copied before anything is called; `{{fixture}}` in the server's arguments, or its path, is the copy.
    #[arg(long, value_name = "DIR")]
    pub(crate) fixture: Option<PathBuf>,
    /// Seed of the generated inputs.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
}

/// Default time limits of servers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScanTimes {
    /// To start: `npx` and the like may have to fetch the server first.
    pub(crate) start: Duration,
    /// To answer a call.
    pub(crate) call: Duration,
}

impl ScanTimes {
    /// Those of audits and probes.
    pub(crate) const DEFAULT: Self = Self { start: Duration::from_mins(1), call: Duration::from_secs(15) };

    /// The times of a run; one that is given is for both.
    pub(crate) fn with(self, given: Option<Duration>) -> Self {
        Self { start: given.unwrap_or(self.start), call: given.unwrap_or(self.call) }
    }
}

/// A scan that is asked for.
pub(crate) struct ScanRequest<'a> {
    /// The command, as it is typed.
    pub(crate) command: &'static str,
    pub(crate) scan: &'a ScanFlags,
    pub(crate) run: &'a RunFlags,
    pub(crate) fixture: Option<&'a Path>,
    pub(crate) seed: u64,
    pub(crate) times: ScanTimes,
    pub(crate) kind: ScanKind,
}

/// Outcome of a scan.
pub(crate) enum Scan {
    /// Its plan was shown, as the user wished.
    Shown(ExitStatus),
    /// It was made.
    Made(Box<Scanned>),
}

/// A scan that was made.
pub(crate) struct Scanned {
    pub(crate) server: Arc<ServerSpec>,
    /// The server's lists.
    pub(crate) info: ServerInfo,
    /// Each tool of the plan with its input and answers.
    pub(crate) called: Vec<PlannedCall>,
    pub(crate) outcome: RunOutcome,
    /// The names of all cases there are, also of those in other shards.
    known: Vec<String>,
    baseline: Option<mcprove_report::Baseline>,
}

/// Gates of a scan.
const GATES: Gates = Gates { threshold: None, regressions: true };

/// Scans the tools of a server; the report has a case for each.
pub(crate) fn scan(request: ScanRequest<'_>, context: &Context) -> Result<Scan, Failure> {
    let ScanRequest { command, scan, run, fixture, seed, times, kind } = request;
    run.check()?;
    let mut server = run.execution.in_container(Override::default()).apply(&scan.server(fixture)?);
    scan.confinement.apply(&mut server, context);
    // Some servers list other tools to a client that answers; the files that are written have none unless it is asked for.
    if !matches!(kind, ScanKind::Audit { repeat: true }) {
        answer_by_default(&mut server);
    }
    // What a server gives away of its environment is shown nowhere.
    server.secrets.extend(secret_values(&Context::secret_values()).map(str::to_owned));
    let server = Arc::new(server);
    let given = scan.given.as_deref().map(|path| seed_arguments(path, context)).transpose()?.unwrap_or_default();
    let baseline = run.baseline()?;
    let mut info = discover(&server, fixture, times, run.execution.probe_timeout(), context)?;
    info.catalog.findings.append(&mut info.findings);
    let listed: Vec<String> = info.catalog.tools.iter().map(|tool| tool_name(tool).to_owned()).collect();
    if listed.is_empty() && scan.tool.is_empty() && matches!(kind, ScanKind::Audit { .. }) && info.catalog.has_offers()
    {
        context.write_stderr("note: the server has no tools; its resources and prompts are tried\n");
    } else {
        known_tools(&scan.tool, &listed, &info)?;
    }
    let planned_calls = match &kind {
        ScanKind::Fuzz(fuzz) => fuzz.runs,
        ScanKind::Audit { .. } | ScanKind::Probe { .. } | ScanKind::Sequences(_) => 0,
    };
    let options = ScanOptions {
        kind,
        consent: scan.consent(),
        tools: scan.tool.clone(),
        given,
        fixture: fixture.map(Path::to_owned),
        start: times.start,
        timeout: times.call,
        seed,
    };
    let planned = plan_scan(&server, &info.catalog, &options);
    let plan = run.selection.plan(&planned.cases, Override::default())?;
    let redactor = redactor_of(&plan, &[]);
    if run.selection.dry_run {
        return show_scan(&plan, &redactor, run.json).map(Scan::Shown);
    }
    approve(&planned.tools, scan.yes || Confinement::is_effective(&server), &redactor, context)?;
    let called = planned.called.iter().filter(|called| called.skipped.is_none()).count();
    let mode = RunMode {
        prints_findings: true,
        planned_calls: planned_calls * called,
        shows: run.outputs.shows().max(Shows::Calls),
        again: std::iter::once(command.to_owned()).chain(scan.subject.words()).collect(),
        ..RunMode::new(planned.findings, redactor)
    };
    let mut outcome = run.run(&plan, mode, context)?;
    let known = planned.cases.iter().map(|case| case.name.clone()).collect();
    let mut called = planned.called;
    let mut scanned = Vec::new();
    for (index, result) in std::mem::take(&mut outcome.scanned) {
        match result {
            ScanResult::Audit(answered) => {
                if let Some(called) = called.iter_mut().find(|called| called.tool == answered.tool) {
                    *called = answered;
                }
            }
            result @ (ScanResult::Fuzz(_) | ScanResult::Sequences(_) | ScanResult::Host(_)) => {
                scanned.push((index, result));
            }
        }
    }
    outcome.scanned = scanned;
    Ok(Scan::Made(Box::new(Scanned { server, info, called, outcome, known, baseline })))
}

impl Scanned {
    /// Writes the reports and decides the exit status; the results have been printed.
    pub(crate) fn finish(self, run: &RunFlags, context: &Context) -> Result<ExitStatus, Failure> {
        let stdout = Stdout::of_own_json(run.json, &run.outputs);
        let known = self.known.iter().map(String::as_str).collect();
        run.finish(self.outcome, Ending { stdout, baseline: self.baseline, known, gates: GATES }, context)
    }

    /// The exit status; a scan that called nothing proves nothing, unless what it saw is wrong. `what` was not done then.
    pub(crate) fn status(
        self,
        run: &RunFlags,
        was_called: bool,
        what: &str,
        context: &Context,
    ) -> Result<ExitStatus, Failure> {
        let is_empty_shard = self.outcome.is_empty_shard;
        let status = self.finish(run, context)?;
        let is_final = !matches!(status, ExitStatus::Good | ExitStatus::NothingSelected);
        if is_final || was_called || is_empty_shard {
            return Ok(status);
        }
        context.write_stderr(&format!("error: no tool was called, so {what}\n"));
        Ok(ExitStatus::NothingSelected)
    }

    /// True if the user stopped it.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.outcome.is_interrupted()
    }
}

/// Answers what the server may ask of its client where the user does not say how: a tool that asks is tried, too.
pub(crate) fn answer_by_default(server: &mut ServerSpec) {
    if server.client == ClientCapabilities::default() {
        server.client = ClientCapabilities::canned(None);
    }
}

/// Asks a server for its lists.
pub(crate) fn discover(
    server: &ServerSpec,
    fixture: Option<&Path>,
    times: ScanTimes,
    probe_timeout: Duration,
    context: &Context,
) -> Result<ServerInfo, Failure> {
    let _waiting = context.waiting(&format!("asking {} what it offers", server.name));
    let options = mcprove_engine::InfoOptions { fixture, probe_timeout, ..info_options(times.start, context) };
    until_stopped(server_info(server, &options))?.map_err(|failure| Failure::unreachable(&failure, server))
}

/// Refuses to scan what is not there.
pub(crate) fn known_tools(wanted: &[String], listed: &[String], info: &ServerInfo) -> Result<(), Failure> {
    if listed.is_empty() {
        // A list that could not be fetched is not an empty list.
        let failed = info.catalog.findings.iter().find(|finding| finding.severity >= Severity::Error);
        return Err(failed.map_or_else(|| no_such_tool(wanted.first().map(String::as_str), listed), Failure::of));
    }
    match wanted.iter().find(|name| !listed.contains(name)) {
        Some(unknown) => Err(no_such_tool(Some(unknown), listed)),
        None => Ok(()),
    }
}

/// Shows which tools will be called, and asks where it is not clear whether they write.
fn approve(tools: &ScanPlan, is_given: bool, redactor: &Redactor, context: &Context) -> Result<(), Failure> {
    context.write_stderr(&redactor.text(&tools.text()));
    if is_given || tools.unclear().next().is_none() {
        return Ok(());
    }
    let answer = Context::ask("Call them? The tools that are not marked may write. [y/N] ");
    match answer.map(|answer| answer.to_lowercase()).as_deref() {
        None | Some("y" | "yes") => Ok(()),
        Some(_) => Err(Failure::NothingSelected {
            message: "no tool was called, as you decided".to_owned(),
            help: "`--read-only` calls only tools that are annotated as read-only; `--yes` does not ask".to_owned(),
        }),
    }
}

/// Placeholder for the copy of the fixture folder.
const FIXTURE: &str = "{{fixture}}";

impl ScanFlags {
    /// The server; where it is given the path of the fixture, it gets the copy.
    pub(crate) fn server(&self, fixture: Option<&Path>) -> Result<ServerSpec, Failure> {
        let mut server = self.subject.spec()?;
        let Some(fixture) = fixture else { return Ok(server) };
        if !fixture.is_dir() {
            return Err(Failure::new(
                format!("the fixture folder `{}` does not exist", fixture.display()),
                "give `--fixture` an existing folder",
            ));
        }
        let Target::Stdio { args, env, cwd, .. } = &mut server.target else { return Ok(server) };
        let real = fixture.canonicalize().ok().map(|path| path.to_string_lossy().into_owned());
        for arg in args.iter_mut() {
            if Path::new(arg) == fixture
                || real.is_some() && Path::new(arg).canonicalize().ok() == fixture.canonicalize().ok()
            {
                FIXTURE.clone_into(arg);
            } else if let Some(real) = &real {
                *arg = arg.replace(real.as_str(), FIXTURE);
            }
        }
        let texts = args.iter().chain(env.iter().map(|(_, value)| value)).chain(cwd.iter());
        if self.include_writes && !texts.into_iter().any(|text| text.contains(FIXTURE)) {
            return Err(Failure::new(
                "the server does not get the fixture folder, so its tools would write somewhere else",
                "write `{{fixture}}` where the server takes its folder, or leave out `--fixture`",
            ));
        }
        Ok(server)
    }

    fn consent(&self) -> Consent {
        Consent::of(self.include_writes, self.read_only)
    }
}

/// The failure where a server has no tool of a name, or none at all.
pub(crate) fn no_such_tool(wanted: Option<&str>, listed: &[String]) -> Failure {
    let listed = || listed.iter().map(String::as_str);
    let help = match wanted.and_then(|name| nearest(name, listed())) {
        Some(near) => format!("did you mean `{near}`?"),
        None if listed().next().is_none() => "`mcprove doctor` says what it offers".to_owned(),
        None => format!("it has {}", shorten(&listed().collect::<Vec<_>>().join(", "), 300)),
    };
    match wanted {
        Some(name) => Failure::new(format!("the server has no tool `{name}`"), help),
        None => Failure::NothingSelected { message: "the server has no tools".to_owned(), help },
    }
}
