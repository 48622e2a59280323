//! Execution of cases.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcprove_engine::{RunOptions, Sink as _, Stopper, Storing, wanted_side_by_side};
use mcprove_model::{AgentModel, Event, Finding, Isolation, Override, Plan, Redactor, RunFinished, ServerSpec, Target};
use mcprove_report::{Shows, Verbosity, render_findings};
use mcprove_suite::duration;

use crate::atomic_write;
use crate::completing_parser::CompletingParser;
use crate::context::Context;
use crate::failure::Failure;
use crate::finish::RunOutcome;
use crate::inputs::refuse_inputs;
use crate::run_sink::{RunSink, SinkOptions};
use crate::stop_signals::StopSignals;

/// The default deadline of a case.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);
/// Default time limit for the probe of a server's protocol era, as written for `--probe-timeout`.
const PROBE_TIMEOUT_WORDS: &str = "2s";
pub(crate) const PROBE_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum number of concurrent cases.
const MOST_JOBS: usize = 1024;

/// Execution options.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of the user")]
pub(crate) struct Execution {
    /// Default deadline of a case [default: 30s].
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    timeout: Option<Duration>,
    /// Number of concurrent cases: a number, or `auto` [default: 1, or what a suite says].
    #[arg(short, long, value_name = "N")]
    jobs: Option<Jobs>,
    /// A new server for each case, for each file, or one for the whole run [default: what each kind of file promises].
    #[arg(long, value_name = "case|file|run", value_parser = ISOLATION, hide_possible_values = true)]
    isolation: Option<Isolation>,
    /// Start the next server while the current case runs; only for servers that share no port and no file.
    #[arg(long)]
    prestart: bool,
    /// Time limit for detecting the protocol revision (`--protocol auto`).
    #[arg(long, visible_alias = "detect-timeout", value_name = "DURATION", default_value = PROBE_TIMEOUT_WORDS, value_parser = duration::parse)]
    probe_timeout: Duration,
    /// Run stdio servers in a container of this image.
    #[arg(long, value_name = "IMAGE")]
    docker: Option<String>,
    /// Run stdio servers in a sandbox: they write to the fixture copy, their temporary folder and package caches only.
    #[arg(long, conflicts_with = "docker")]
    sandbox: bool,
    /// Stop at the first case that does not pass.
    #[arg(long)]
    fail_fast: bool,
    /// Treat warnings as failures.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Write everything that happened, every message, to a log file.
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
}

/// Options of one run, besides the flags.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a wish of its own")]
pub(crate) struct RunMode {
    /// Findings about the suite or the server that do not keep it from running.
    pub(crate) findings: Vec<Finding>,
    /// True if the command prints these findings itself.
    pub(crate) prints_findings: bool,
    /// Number of calls that scans plan, where calls are counted.
    pub(crate) planned_calls: usize,
    /// True if each result is shown as it becomes known.
    pub(crate) shown: bool,
    /// Details of passing cases that the report keeps.
    pub(crate) shows: Shows,
    /// True if positions around those of a failing case are tried.
    pub(crate) fix: bool,
    /// True if all cases there are will run.
    pub(crate) is_whole: bool,
    /// Mode of stored values.
    pub(crate) storing: Storing,
    /// True if the replies of language models are saved.
    pub(crate) record: bool,
    /// True if no language model judges.
    pub(crate) no_model: bool,
    /// Hides secrets in all output.
    pub(crate) redactor: Redactor,
    /// The command that starts such a run again, without what says how cases are run.
    pub(crate) again: Vec<String>,
    /// Arguments of that command that come last, after `--`.
    pub(crate) last: Vec<String>,
    /// True if a case that failed can be run again by itself.
    pub(crate) has_next_step: bool,
}

impl RunMode {
    /// A run without output that compares stored values.
    pub(crate) fn new(findings: Vec<Finding>, redactor: Redactor) -> Self {
        Self {
            findings,
            prints_findings: false,
            planned_calls: 0,
            shown: false,
            shows: Shows::Verdicts,
            fix: false,
            is_whole: false,
            storing: Storing::Compare,
            record: false,
            no_model: false,
            redactor,
            again: Vec::new(),
            last: Vec::new(),
            has_next_step: true,
        }
    }

    /// A run without output, for the values it brings.
    pub(crate) fn capturing(plan: &Plan, secrets: &[String], findings: Vec<Finding>) -> Self {
        Self { storing: Storing::Capture, ..Self::new(findings, redactor_of(plan, secrets)) }
    }
}

/// The values of `--isolation`.
const ISOLATION: CompletingParser<Isolation> =
    CompletingParser { names: || vec!["case", "file", "run"], parse: isolation };

fn isolation(text: &str) -> Result<Isolation, String> {
    match text {
        "case" => Ok(Isolation::Case),
        "file" => Ok(Isolation::File),
        "run" => Ok(Isolation::Run),
        _ => Err("give `case`, `file` or `run`".to_owned()),
    }
}

fn word_of(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::Case => "case",
        Isolation::File => "file",
        Isolation::Run => "run",
    }
}

/// Number of concurrent cases.
#[derive(Clone, Copy, Debug)]
enum Jobs {
    Auto,
    Number(usize),
}

impl FromStr for Jobs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            ("auto", _) => Ok(Self::Auto),
            (_, Ok(0)) => Err("at least one case must run: give 1 or more, or `auto`".to_owned()),
            (_, Ok(number)) if number <= MOST_JOBS => Ok(Self::Number(number)),
            (_, _) => Err("give a number from 1 to 1024, or `auto`".to_owned()),
        }
    }
}

impl Execution {
    /// Cases one after the other, as they say themselves.
    pub(crate) fn plain(timeout: Duration) -> Self {
        Self {
            timeout: Some(timeout),
            jobs: Some(Jobs::Number(1)),
            isolation: None,
            prestart: false,
            probe_timeout: PROBE_TIMEOUT,
            docker: None,
            sandbox: false,
            fail_fast: false,
            strict: false,
            events: None,
        }
    }

    /// The same with an event log.
    pub(crate) fn logged(self, events: Option<PathBuf>) -> Self {
        Self { events, ..self }
    }

    /// Plain execution of the cases, with the concurrency of these flags.
    pub(crate) fn verifying(&self, timeout: Duration) -> Self {
        Self { jobs: self.jobs, ..Self::plain(timeout) }
    }

    /// The deadline that was given.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// The time a server may take to say its era.
    pub(crate) fn probe_timeout(&self) -> Duration {
        self.probe_timeout
    }

    /// Runs a plan and reports it as it happens.
    pub(crate) fn run(&self, plan: &Plan, mode: RunMode, context: &Context) -> Result<RunOutcome, Failure> {
        refuse_inputs(self.events.iter().map(|path| ("--events".to_owned(), path.as_path())), plan)?;
        let log = self
            .create_log()
            .map_err(|complaint| Failure::new(complaint, "give `--events` a path in an existing folder"))?;
        let jobs = match self.jobs {
            Some(Jobs::Auto) => context.cores,
            Some(Jobs::Number(number)) => number,
            None => wanted_side_by_side(plan, context.cores).min(MOST_JOBS),
        };
        if has_hooks_outside(plan) {
            context.write_stderr("note: hooks of the suite run on this machine, not in the container\n");
        }
        if !mode.shown && !mode.prints_findings && !mode.findings.is_empty() {
            context.write_stderr(&render_findings(&mode.findings, &context.style()));
        }
        let options = RunOptions {
            jobs,
            one_by_one: self.jobs.is_none(),
            cores: context.cores,
            timeout: self.timeout.unwrap_or(TIMEOUT),
            strict: self.strict,
            fail_fast: self.fail_fast,
            keep_frames: log.is_some() || mode.shows >= Shows::Frames || context.verbosity == Verbosity::Verbose,
            own_program: context.own_program.clone(),
            program: concat!("mcprove ", env!("CARGO_PKG_VERSION")).to_owned(),
            started_unix_ms: Context::unix_ms(),
            findings: mode.findings,
            fix: mode.fix,
            record: mode.record,
            no_model: mode.no_model,
            probe_timeout: self.probe_timeout,
            isolation: self.isolation,
            prestart: self.prestart,
            storing: mode.storing,
            is_whole: mode.is_whole && plan.shard.is_none(),
            again: mode.again.into_iter().chain(self.words()).chain(mode.last).collect(),
            limits: context.limits,
            environment: Context::secret_values().into(),
            tokens: crate::logins::tokens().clone(),
        };
        let sink_options = SinkOptions {
            planned_calls: mode.planned_calls,
            log,
            shown: mode.shown,
            each_once: plan.runs_each_once(),
            // What is shown of every call is kept until the end by commands that show a table.
            shows: if !mode.shown && context.verbosity == Verbosity::Verbose {
                mode.shows.max(Shows::Calls)
            } else {
                mode.shows
            },
            redactor: mode.redactor,
            has_next_step: mode.has_next_step,
        };
        let mut sink = RunSink::new(context, sink_options);
        let began = Instant::now();
        // The run has its own threads for concurrent cases.
        let dropped = runtime(1)?.block_on(async {
            let (stopper, stop) = Stopper::pair();
            let interrupts = interrupts(&stopper);
            let running = mcprove_engine::run(plan, options, stop, &mut sink);
            tokio::select! {
                // Signals are listened to before anything is started.
                biased;
                // The second interrupt: whatever runs is dropped, which ends its processes and removes its files.
                () = interrupts => true,
                () = running => false,
            }
        });
        if dropped {
            // The run could not say so itself any more; a log without an end would look cut off.
            let duration_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
            sink.event(Event::RunFinished(RunFinished { duration_us, interrupted: true, hint: None }));
        }
        let result = sink.finish();
        if let Some(unshown) = result.unshown {
            return Err(Failure::new(unshown, "nothing was lost on the server's side; run again"));
        }
        let complaints = result.log_error.into_iter().collect();
        let is_empty_shard = plan.shard.is_some() && plan.cases.is_empty();
        Ok(RunOutcome { report: result.report, scanned: result.scanned, complaints, is_empty_shard, dropped })
    }

    /// The override with the image or the sandbox that servers are to run in.
    pub(crate) fn in_container(&self, server: Override) -> Override {
        Override { docker: self.docker.clone(), sandbox: self.sandbox, ..server }
    }

    /// Where the event log goes.
    pub(crate) fn events(&self) -> (&'static str, Option<&Path>) {
        ("--events", self.events.as_deref())
    }

    /// The options that decide what happens in a case, where they are not what they are by default.
    fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut option = |name: &str, value: Option<String>| {
            words.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
        };
        option("--timeout", self.timeout.filter(|timeout| *timeout != TIMEOUT).map(milliseconds));
        option("--probe-timeout", (self.probe_timeout != PROBE_TIMEOUT).then(|| milliseconds(self.probe_timeout)));
        option("--isolation", self.isolation.map(|isolation| word_of(isolation).to_owned()));
        option("--docker", self.docker.clone());
        words.extend(self.prestart.then(|| "--prestart".to_owned()));
        words.extend(self.sandbox.then(|| "--sandbox".to_owned()));
        words.extend(self.strict.then(|| "--strict".to_owned()));
        words
    }

    fn create_log(&self) -> Result<Option<(String, File)>, String> {
        let Some(path) = &self.events else { return Ok(None) };
        let shown = path.display().to_string();
        match atomic_write::create_log(path) {
            Ok(file) => Ok(Some((shown, file))),
            Err(error) => Err(format!("the event log `{shown}` could not be created: {error}")),
        }
    }
}

/// True if servers of a plan run in containers and commands of its suites do not.
fn has_hooks_outside(plan: &Plan) -> bool {
    let in_container = |server: &Arc<ServerSpec>| matches!(&server.target, Target::Stdio { docker: Some(_), .. });
    plan.cases.iter().any(|planned| {
        let has_hooks = planned.case.suite.as_ref().is_some_and(|suite| !suite.hooks.is_empty());
        has_hooks && planned.case.servers().any(in_container)
    })
}

fn milliseconds(duration: Duration) -> String {
    format!("{}ms", duration.as_millis())
}

/// Knows the secrets of a suite, those of all servers of a plan, and the keys of its models.
pub(crate) fn redactor_of(plan: &Plan, secrets: &[String]) -> Redactor {
    let servers = plan.cases.iter().flat_map(|planned| planned.case.servers());
    let keys = plan.cases.iter().filter_map(|planned| match &planned.case.agent()?.model {
        AgentModel::Named(named) => named.provider.as_ref()?.key.as_ref()?.value.as_ref().map(|key| key.0.clone()),
        AgentModel::Script(_) => None,
    });
    let of_server = |server: &'_ Arc<ServerSpec>| -> Vec<String> {
        server.secrets.iter().cloned().chain(server.target.password().map(str::to_owned)).collect()
    };
    let mut all: Vec<String> = servers.flat_map(of_server).chain(secrets.iter().cloned()).chain(keys).collect();
    all.sort_unstable();
    all.dedup();
    Redactor::new(all.iter().map(String::as_str))
}

/// Stops the run at the first interrupt and ends at the second.
pub(crate) async fn interrupts(stopper: &Stopper) {
    let mut signals = StopSignals::listen();
    for _ in 0..2 {
        signals.next().await;
        stopper.stop();
    }
}

pub(crate) fn runtime(threads: usize) -> Result<tokio::runtime::Runtime, Failure> {
    let mut builder = match threads {
        0 | 1 => tokio::runtime::Builder::new_current_thread(),
        threads => {
            let mut builder = tokio::runtime::Builder::new_multi_thread();
            builder.worker_threads(threads);
            builder
        }
    };
    builder
        .enable_all()
        .build()
        .map_err(|error| Failure::Other { message: format!("the runtime could not be started: {error}"), help: None })
}
