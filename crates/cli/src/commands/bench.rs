//! `mcprove bench`: what a server holds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcprove_engine::{
    Consent, LoadOptions, ScanKind, ScanOptions, SessionPer, Workload, catalog_workload, override_servers, plan_load,
    suite_workload,
};
use mcprove_judge::load::{Gate, Shape};
use mcprove_model::{ExitStatus, ServerSpec, nearest};
use mcprove_report::{Shows, load_summary, openmetrics, otlp, to_safe_json};
use mcprove_suite::duration;
use mcprove_wire::process_usage;
use serde_json::Value;

use crate::atomic_write;
use crate::baselines::Baselines;
use crate::context::Context;
use crate::execution::{Execution, RunMode, TIMEOUT, redactor_of};
use crate::failure::Failure;
use crate::finish::{FinishOptions, Gates, RunOutcome, Stdout, finish};
use crate::inputs::refuse_inputs;
use crate::k6_export;
use crate::load_baseline;
use crate::load_permission::{may_load, stays_on_host};
use crate::outputs::Outputs;
use crate::scan::{ScanTimes, answer_by_default, discover, known_tools};
use crate::stdout::print;
use crate::subject::Subject;
use crate::suites::{Suites, Watched, stand_in, usable};

/// Measure the load that a server can take: throughput, latency, errors, memory.
///
/// Calls come from a suite, from `--tool` and `--args`, or from the tools that the server says only read. With `--rate`,
/// calls arrive whether or not earlier ones were answered, and latency counts from when a call should have started. With
/// `--clients`, each client waits for its reply before it calls again. Loopback and private addresses are loaded without
/// question; any other host only with `--i-may-load HOST`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mcprove bench --tool echo --args '{\"text\":\"hi\"}' --rate 100/s -- node server.js\n  \
                  mcprove bench --url http://localhost:3000/mcp --clients 20 --duration 30s --gate 'p95 < 200ms'\n  \
                  mcprove bench evals/ --rate 50/s --html load.html --gate 'errors < 0.1%'\n  \
                  mcprove bench --url http://localhost:3000/mcp --find-limit"
)]
pub(crate) struct Args {
    #[command(flatten)]
    suites: Suites,
    /// Call only this tool.
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Arguments of the tool [default: made from its schema].
    #[arg(long = "args", id = "args", value_name = "JSON", requires = "tool")]
    arguments: Option<String>,
    /// Also call tools that write or look like it.
    #[arg(long)]
    include_writes: bool,
    /// Calls that arrive per second, such as `100/s` or `30/min`.
    #[arg(long, value_name = "N/s", value_parser = rate, help_heading = "Load")]
    rate: Option<f64>,
    /// Number of sessions; without `--rate`, each waits for its reply before it calls again [default: 1].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = "Load")]
    clients: Option<u32>,
    /// Stages of the clients (`50@10s` holds a level, `..200@30s` moves to one), or with `--rate` or `/s` (`50/s@10s`) of the
    /// rate; separated by commas.
    #[arg(long, value_name = "STAGES", conflicts_with_all = ["duration", "calls", "find_limit"], help_heading = "Load")]
    ramp: Option<String>,
    /// Length of the measurement [default: 10s; 5s a step with --find-limit].
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, help_heading = "Load")]
    duration: Option<Duration>,
    /// Stop after this number of calls.
    #[arg(long, value_name = "N", conflicts_with_all = ["duration", "find_limit"], value_parser = clap::value_parser!(u64).range(1..), help_heading = "Load")]
    calls: Option<u64>,
    /// Load before the measurement that is not counted [default: 1s; none with --calls].
    #[arg(long, value_name = "DURATION", value_parser = duration::parse_with_zero, help_heading = "Load")]
    warm_up: Option<Duration>,
    /// Maximum number of concurrent calls of a session [default: 1; 1000 with --rate].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000), help_heading = "Load")]
    in_flight: Option<u32>,
    /// A session for each call, one for the whole load of a client, or a new one after N calls.
    #[arg(long, value_name = "call|client|N", default_value = "client", value_parser = session_per, help_heading = "Load")]
    session_per: SessionPer,
    /// Judge every N-th reply: by the checks of the suite, or by the reply that the call gets alone.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Load")]
    check_every: u64,
    /// Find the highest rate that keeps the gates [default: p99 < 1s, errors < 1%].
    #[arg(long, conflicts_with = "shard", help_heading = "Load")]
    find_limit: bool,
    /// Allow load on this host, which is not a loopback or private address; may be repeated.
    #[arg(long, value_name = "HOST", help_heading = "Load")]
    i_may_load: Vec<String>,
    /// Process of a running local server whose memory, processor time and files are measured.
    #[arg(long, value_name = "PID", help_heading = "Load")]
    pid: Option<u32>,
    /// Run shard K of N of the load; `mcprove report` merges the event logs exactly.
    #[arg(long, value_name = "K/N", value_parser = shard, help_heading = "Load")]
    shard: Option<(u32, u32)>,
    /// Begin at this time, in seconds since 1970, so that all shards begin together.
    #[arg(long, value_name = "UNIX", help_heading = "Load")]
    start_at: Option<u64>,
    /// A limit that fails the run, such as `p95 < 200ms`, `errors < 0.1%`, `memory growth < 1MB/1000 calls`; may be repeated.
    #[arg(long, value_name = "GATE", value_parser = Gate::parse)]
    gate: Vec<Gate>,
    /// Compare with the event log of an earlier run; a change beyond noise fails the run.
    #[arg(long, value_name = "EVENTS", conflicts_with = "shard")]
    compare: Option<PathBuf>,
    /// Time limit of a call, and of the start of a session [default: 10s and 1m].
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    timeout: Option<Duration>,
    /// Write everything that happened to a log file.
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// Print the results as JSON, and nothing else, on standard output.
    #[arg(long)]
    json: bool,
    /// Write the load as a script for k6, and make no load.
    #[arg(long, value_name = "FILE", conflicts_with = "find_limit", help_heading = "Reports")]
    export_k6: Option<PathBuf>,
    /// Write the text format of Prometheus (`OpenMetrics`).
    #[arg(long, value_name = "PATH", help_heading = "Reports")]
    openmetrics: Option<PathBuf>,
    /// Write OTLP metrics as JSON, the body of `POST /v1/metrics`.
    #[arg(long, value_name = "PATH", help_heading = "Reports")]
    otlp: Option<PathBuf>,
    #[command(flatten)]
    outputs: Outputs,
    #[command(flatten)]
    subject: Subject,
}

/// Default time limits.
const TIMES: ScanTimes = ScanTimes { start: Duration::from_mins(1), call: Duration::from_secs(10) };
/// Default length of a load, and of a step of the search for its limit.
const DURATION: Duration = Duration::from_secs(10);
const STEP: Duration = Duration::from_secs(5);
/// Default time before the measurement.
const WARM_UP: Duration = Duration::from_secs(1);
/// The first rate of the search where none is given.
const FIRST_RATE: f64 = 10.0;
/// The gates of the search where none is given.
const LIMIT_GATES: [&str; 2] = ["p99 < 1s", "errors < 1%"];
/// The most clients.
const MOST_CLIENTS: f64 = 10_000.0;
/// The longest load that ends with its last call.
const LONGEST: Duration = Duration::from_hours(24);

/// A load that was planned.
struct Planned {
    server: Arc<ServerSpec>,
    workload: Workload,
    gates: Vec<Gate>,
    findings: Vec<mcprove_model::Finding>,
    secrets: Vec<String>,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    args.outputs.distinct(&[
        ("--events", args.events.as_deref()),
        ("--openmetrics", args.openmetrics.as_deref()),
        ("--otlp", args.otlp.as_deref()),
        ("--export-k6", args.export_k6.as_deref()),
    ])?;
    let earlier = args.compare.as_deref().map(load_baseline::read).transpose()?;
    let planned = args.planned(context)?;
    let options = args.options(planned.gates.clone())?;
    if let Some(pid) = args.pid
        && process_usage(&[pid]).is_none()
    {
        let help = "give the id of a process that runs on this machine; its use is known on Linux only";
        return Err(Failure::new(format!("the process {pid} cannot be measured"), help));
    }
    if let Some(path) = &args.export_k6 {
        return k6_export::write(path, &planned.server, &planned.workload, &options, context);
    }
    let plan = plan_load(&planned.server, &planned.workload, &options);
    let metrics = [("--openmetrics", &args.openmetrics), ("--otlp", &args.otlp)].into_iter();
    let metrics = metrics.filter_map(|(flag, path)| Some((flag.to_owned(), path.as_deref()?)));
    refuse_inputs(args.outputs.paths().chain(metrics), &plan)?;
    let mode = RunMode {
        shown: !args.json && args.outputs.are_for_people(),
        shows: args.outputs.shows().max(Shows::Calls),
        has_next_step: false,
        ..RunMode::new(planned.findings, redactor_of(&plan, &planned.secrets))
    };
    let execution = Execution::plain(TIMEOUT).logged(args.events.clone());
    let mut outcome = execution.run(&plan, mode, context)?;
    if outcome.is_interrupted() {
        context.write_stderr("interrupted: the load was not made to its end\n");
    }
    if let Some(earlier) = &earlier {
        load_baseline::compare(earlier, &mut outcome, (!args.json).then_some(&context.style()))?;
    }
    args.finish(outcome, context)
}

impl Args {
    /// The server, the calls and the gates.
    fn planned(&self, context: &Context) -> Result<Planned, Failure> {
        let is_suite = self.suites.first().is_some() || !self.subject.is_named();
        let planned = if is_suite { self.of_suite()? } else { self.of_catalog(context)? };
        may_load(&planned.server, &self.i_may_load)?;
        Ok(Planned { server: Arc::new(stays_on_host((*planned.server).clone())), ..planned })
    }

    /// The tests of a suite that are one request each.
    fn of_suite(&self) -> Result<Planned, Failure> {
        if self.tool.is_some() || self.include_writes {
            return Err(Failure::new(
                "`--tool` and `--include-writes` choose from the tools of a server, and a suite says what to call",
                "leave out the suite, or these flags",
            ));
        }
        let given = self.subject.replacement()?;
        let loaded = self.suites.load(stand_in(&given), Watched::Perhaps)?;
        let mut findings = usable(&loaded, false)?;
        let cases = override_servers(&loaded.cases, &given);
        let mut weights = BTreeMap::new();
        let mut gates = self.gate.clone();
        for suite in cases.iter().filter_map(|case| case.suite.as_ref()) {
            weights.extend(suite.load.weights.iter().cloned());
            let texts = suite.load.gates.iter().filter_map(|text| Gate::parse(text).ok());
            for gate in texts {
                if !gates.contains(&gate) {
                    gates.push(gate);
                }
            }
        }
        let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        if let Some(unknown) = weights.keys().find(|name| !names.contains(name.as_str())) {
            let help = match nearest(unknown, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "give weights to tests of the suite, by their names".to_owned(),
            };
            return Err(Failure::new(format!("`performance.weights` names no test: `{unknown}`"), help));
        }
        let made = suite_workload(&cases, &weights).map_err(|why| {
            Failure::new(
                why,
                "a load calls tools, reads resources and gets prompts, on one server; `--server` or `--url` names it",
            )
        })?;
        findings.extend(made.left_out.iter().map(|(name, why)| {
            mcprove_model::Finding::note("left-out", format!("`{name}` is not part of the load: {why}"))
        }));
        Ok(Planned { server: made.server, workload: made.workload, gates, findings, secrets: loaded.secrets.clone() })
    }

    /// The tool that was named, or all tools that say that they only read.
    fn of_catalog(&self, context: &Context) -> Result<Planned, Failure> {
        let mut server = stays_on_host(self.subject.spec()?);
        // Nothing is asked of a host that may not be loaded.
        may_load(&server, &self.i_may_load)?;
        answer_by_default(&mut server);
        let fixture = self.suites.fixture();
        let times = TIMES.with(self.timeout);
        let probe = crate::execution::PROBE_TIMEOUT;
        let info = discover(&server, fixture.as_deref(), times, probe, context)?;
        let listed: Vec<String> =
            info.catalog.tools.iter().map(|tool| mcprove_engine::tool_name(tool).to_owned()).collect();
        let tools: Vec<String> = self.tool.iter().cloned().collect();
        known_tools(&tools, &listed, &info)?;
        let mut given = BTreeMap::new();
        if let (Some(tool), Some(text)) = (&self.tool, &self.arguments) {
            given.insert(tool.clone(), vec![arguments(text)?]);
        }
        // Load on a tool that may write is made only where the user names it.
        let consent = match (self.include_writes, &self.tool) {
            (true, _) => Consent::IncludeWrites,
            (false, Some(_)) => Consent::Cautious,
            (false, None) => Consent::ReadOnly,
        };
        let options = ScanOptions {
            kind: ScanKind::Audit { repeat: false },
            consent,
            tools,
            given,
            fixture,
            start: times.start,
            timeout: times.call,
            seed: 0,
        };
        let made = catalog_workload(&info.catalog, &options);
        if made.workload.is_empty() {
            let why = made.left_out.first().map(|(tool, why)| format!("`{tool}`: {why}")).unwrap_or_default();
            return Err(Failure::NothingSelected {
                message: format!("no tool of the server may be called ({why})"),
                help: "name one with `--tool NAME --args JSON`, or add `--include-writes`".to_owned(),
            });
        }
        let secrets = server.secrets.clone();
        let (server, gates) = (Arc::new(server), self.gate.clone());
        Ok(Planned { server, workload: made.workload, gates, findings: info.findings, secrets })
    }

    fn options(&self, mut gates: Vec<Gate>) -> Result<LoadOptions, Failure> {
        // Where nothing else is said, a rate is held if these are.
        if self.find_limit && gates.is_empty() {
            gates.extend(LIMIT_GATES.iter().filter_map(|gate| Gate::parse(gate).ok()));
        }
        let times = TIMES.with(self.timeout);
        let rate = self.rate.or_else(|| self.find_limit.then_some(FIRST_RATE));
        // A stage such as `50/s@10s` is a rate, whether or not `--rate` gives another.
        let is_open = rate.is_some() || self.ramp.as_ref().is_some_and(|stages| stages.contains("/s"));
        if let (None, true, Some(stages)) = (rate, is_open, &self.ramp)
            && stages.split(',').any(|stage| !stage.contains("/s"))
        {
            let help = "write `/s` in every stage, or in none and give `--rate`";
            return Err(Failure::new("some stages are rates, and others numbers of clients", help));
        }
        let begin = if is_open { 0.0 } else { f64::from(self.clients.unwrap_or(1)) };
        let level = rate.unwrap_or(begin);
        let shape = match (&self.ramp, self.calls) {
            (Some(stages), _) => {
                let parse = |text: &str| duration::parse(text).map_err(|error| error.to_string());
                Shape::parse(stages, level, parse)
                    .map_err(|message| Failure::new(message, "write for example `--ramp '10@5s,..200@30s,200@1m'`"))?
            }
            (None, Some(calls)) if is_open => {
                #[expect(clippy::cast_precision_loss, reason = "a number of calls")]
                let seconds = calls as f64 / level;
                Shape::constant(level, Duration::from_secs_f64(seconds.clamp(1e-6, 1e7)))
            }
            (None, Some(_)) => Shape::constant(level, LONGEST),
            (None, None) => {
                let default = if self.find_limit { STEP } else { DURATION };
                Shape::constant(level, self.duration.unwrap_or(default))
            }
        };
        let is_whole = |level: f64| (level - level.round()).abs() < f64::EPSILON;
        if !is_open && !shape.stages().iter().all(|stage| is_whole(stage.from) && is_whole(stage.to)) {
            return Err(Failure::new("a number of clients is not whole", "give whole numbers, or rates: `1.5/s@10s`"));
        }
        if !is_open && shape.highest() > MOST_CLIENTS {
            return Err(Failure::new("the stages have more than 10,000 clients", "give fewer clients"));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 10,000 clients")]
        let most = shape.highest().min(MOST_CLIENTS).ceil() as u32;
        let clients = if is_open { self.clients.unwrap_or(1) } else { most };
        let warm_up = self.warm_up.unwrap_or(if self.calls.is_some() { Duration::ZERO } else { WARM_UP });
        Ok(LoadOptions {
            shape,
            is_open,
            clients,
            in_flight: self.in_flight.unwrap_or(if is_open { 1000 } else { 1 }),
            session_per: self.session_per,
            warm_up,
            calls: self.calls,
            timeout: times.call,
            start: times.start,
            check_every: self.check_every,
            gates,
            find_limit: self.find_limit,
            shard: self.shard,
            begin: self.begin()?,
            pid: self.pid,
        })
    }

    /// The moment at which the load begins.
    fn begin(&self) -> Result<Option<Instant>, Failure> {
        let Some(at) = self.start_at else { return Ok(None) };
        let wait = at.saturating_mul(1000).checked_sub(Context::unix_ms());
        match wait.map(Duration::from_millis) {
            Some(wait) if wait <= Duration::from_hours(1) => Ok(Some(Instant::now() + wait)),
            Some(_) => Err(Failure::new("`--start-at` is more than an hour away", "give a time in seconds since 1970")),
            None => Err(Failure::new("`--start-at` is in the past", "give all shards a time that none has missed")),
        }
    }

    fn finish(&self, mut outcome: RunOutcome, context: &Context) -> Result<ExitStatus, Failure> {
        if self.json {
            print(&to_safe_json(&load_summary(&outcome.report)))?;
        }
        let metrics = self.openmetrics.as_ref().map(|path| (path, openmetrics(&outcome.report)));
        let exported = self.otlp.as_ref().and_then(|path| Some((path, to_safe_json(&otlp(&outcome.report)?))));
        for (path, content) in metrics.into_iter().chain(exported) {
            if let Err(error) = atomic_write::write_report(path, content.as_bytes()) {
                outcome.complaints.push(format!("`{}` could not be written: {error}", path.display()));
            }
        }
        let options = FinishOptions {
            stdout: Stdout::of_own_json(self.json, &self.outputs),
            outputs: &self.outputs,
            baselines: &Baselines::default(),
            baseline: None,
            known: BTreeSet::new(),
            is_partial: self.shard.is_some(),
            gates: Gates { threshold: None, regressions: true },
        };
        finish(outcome, &options, context)
    }
}

/// Reads a rate in calls per second.
fn rate(text: &str) -> Result<f64, String> {
    let (number, per) = text.trim().split_once('/').unwrap_or((text.trim(), "s"));
    let seconds = match per.trim() {
        "s" | "sec" | "second" => 1.0,
        "m" | "min" | "minute" => 60.0,
        "h" | "hour" => 3600.0,
        _ => return Err("give a rate such as `100/s` or `30/min`".to_owned()),
    };
    match number.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number / seconds <= 1e6 => Ok(number / seconds),
        Ok(_) | Err(_) => Err("give a rate such as `100/s` or `30/min`".to_owned()),
    }
}

fn session_per(text: &str) -> Result<SessionPer, String> {
    match (text, text.parse::<u64>()) {
        ("client", _) => Ok(SessionPer::Client),
        ("call", _) => Ok(SessionPer::Calls(1)),
        (_, Ok(number)) if number > 0 => Ok(SessionPer::Calls(number)),
        (_, _) => Err("give `call`, `client` or a number of calls".to_owned()),
    }
}

fn shard(text: &str) -> Result<(u32, u32), String> {
    let parsed = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
    parsed.filter(|(number, of)| (1..=*of).contains(number)).ok_or_else(|| "give `K/N`, with K from 1 to N".to_owned())
}

fn arguments(text: &str) -> Result<Value, Failure> {
    match serde_json::from_str(text) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(Failure::new("`--args` is not a JSON object", "write for example `--args '{\"text\":\"hi\"}'`")),
        Err(error) => Err(Failure::new(
            format!("`--args` is not valid JSON: {error}"),
            "write for example `--args '{\"text\":\"hi\"}'`",
        )),
    }
}
