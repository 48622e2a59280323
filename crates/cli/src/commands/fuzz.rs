//! `mcprove fuzz`: call every tool with inputs that break programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mcprove_engine::{Failure as Found, FuzzOptions, FuzzRun, Keeping, Reproduction, Stopper, fuzz, kept_test};
use mcprove_model::{ExitStatus, Redactor, ServerSpec, Severity, nearest};
use mcprove_report::{Format, Shows, fuzz_table, harmless_json};
use mcprove_suite::duration;
use mcprove_suite::written_server::{FileKind, WrittenServer};
use serde_json::{Value, json};

use crate::confinement::Confinement;
use crate::context::Context;
use crate::execution::{interrupts, runtime};
use crate::failure::Failure;
use crate::kept_tests;
use crate::live::{Approval, Heard, Listeners, Listening};
use crate::outputs::Outputs;
use crate::seed_arguments::seed_arguments;
use crate::stdout::print;
use crate::subject::Subject;
use crate::touring::{consent, create_log, declined};

/// How many fresh servers may be started to make one failure small.
const ATTEMPTS: usize = 300;

/// How long a call may take when nobody says otherwise.
const CALL: Duration = Duration::from_secs(5);

/// How long a server may take to start when nobody says otherwise.
const START: Duration = Duration::from_secs(15);

/// Call every tool of a server with inputs that break programs.
///
/// Each tool gets a plan of calls that its schema and the seed decide: what is missing or null, values that break
/// programs, the bounds of the schema, and valid inputs with something changed. A crash, a hang, a broken reply or a leak
/// is a failure; it is tried again on fresh servers until the least is left that brings it about.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mcprove fuzz --server 'npx my-server' --save evals/fuzz\n  \
                        mcprove fuzz --url http://localhost:3000/mcp --tool search --runs 500 --seed 7")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    /// Only this tool, also if it looks like it writes; may be repeated.
    #[arg(long, value_name = "NAME")]
    tool: Vec<String>,
    /// How many calls each tool gets.
    #[arg(long, value_name = "N", default_value = "50", value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Stop after this time, whatever is left to do.
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    time: Option<Duration>,
    /// How many servers work side by side; what is sent does not depend on it.
    #[arg(short, long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: u16,
    /// What the inputs are made from; a new one each time when left out, and always printed.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// A YAML or JSON file with arguments to begin with: a map from tools to arguments, or to lists of them.
    #[arg(long = "seed-args", value_name = "FILE")]
    given: Option<PathBuf>,
    /// Keep each failure in this folder, as an assertion file that fails until it is mended.
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
    /// Let success on an input that the tool's own schema refuses fail.
    #[arg(long)]
    strict_input: bool,
    /// Call tools that write or look like it, too, and send them anything.
    #[arg(long, conflicts_with = "read_only")]
    include_writes: bool,
    /// Call only tools that say that they only read.
    #[arg(long)]
    read_only: bool,
    /// Do not ask before the first call.
    #[arg(short, long)]
    yes: bool,
    /// How long the server may take to start, and each call [default: 15s and 5s].
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    timeout: Option<Duration>,
    /// Print the results as JSON, and nothing else, on standard output.
    #[arg(long)]
    json: bool,
    /// Write everything that happened, every frame, to a log file.
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    #[command(flatten)]
    subject: Subject,
    #[command(flatten)]
    confinement: Confinement,
    #[command(flatten)]
    outputs: Outputs,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let mut server = args.subject.spec()?;
    args.confinement.apply(&mut server, context);
    let seed = args.seed.unwrap_or_else(Context::unix_ms);
    let given = args.given.as_deref().map(|path| seed_arguments(path, context)).transpose()?.unwrap_or_default();
    let (fuzzed, heard) = args.fuzz(&server, seed, given, context)?;
    if let Some(error) = &heard.log_error {
        return Err(Failure::new(error.clone(), "give `--events` a path that can be written"));
    }
    if heard.declined {
        return Err(declined());
    }
    let Some(fuzzed) = fuzzed else {
        context.complain(&format!("interrupted; the seed was {seed}\n"));
        return Ok(ExitStatus::Interrupted);
    };
    args.known_tools(&fuzzed, &heard)?;
    let keeping = args.keeping(&server);
    let kept = match &args.save {
        Some(folder) => keep(folder, &fuzzed, &keeping)?,
        None => Vec::new(),
    };
    if args.json {
        print(&harmless_json(&as_json(&fuzzed, &server, args, seed, &kept)))?;
    } else {
        print(&fuzz_table(&heard.report, &context.style()))?;
        print(&ending(&fuzzed, args, seed, (&kept, &keeping)))?;
    }
    if let Some(format) = Format::find("github").filter(|_| args.outputs.github) {
        let annotations = (format.render)(&heard.report);
        if args.json { context.complain(&annotations) } else { print(&annotations)? }
    }
    let complaints = args.outputs.write(&heard.report, Context::step_summary().as_deref());
    for complaint in &complaints {
        context.complain(&format!("error: {complaint}\n"));
    }
    if heard.report.exit_status() == ExitStatus::Interrupted {
        context.complain("interrupted: the plan was not sent to its end\n");
        return Ok(ExitStatus::Interrupted);
    }
    if fuzzed.tools.iter().all(|tool| tool.skipped.is_some() || tool.tally.runs == 0) {
        context.complain("error: no tool was called, so nothing was fuzzed\n");
        return Ok(ExitStatus::NothingSelected);
    }
    let status = heard.report.exit_status();
    let unwritten = args.outputs.strict_reports && !complaints.is_empty();
    Ok(if unwritten && status != ExitStatus::Interrupted { ExitStatus::NotDone } else { status })
}

impl Args {
    fn fuzz(
        &self,
        server: &ServerSpec,
        seed: u64,
        given: BTreeMap<String, Vec<Value>>,
        context: &Context,
    ) -> Result<(Option<FuzzRun>, Heard), Failure> {
        let log = self.events.as_deref().map(create_log).transpose()?;
        let shows = self.outputs.shows().max(Shows::Calls);
        let jobs = usize::from(self.jobs);
        let options = FuzzOptions {
            consent: consent(self.include_writes, self.read_only),
            tools: self.tool.clone(),
            runs: usize::try_from(self.runs).unwrap_or(usize::MAX),
            time: self.time,
            jobs,
            seed,
            given,
            start: self.timeout.unwrap_or(START),
            timeout: self.timeout.unwrap_or(CALL),
            strict_input: self.strict_input,
            environment: Context::variable_values().into(),
            attempts: ATTEMPTS,
            keep_frames: shows == Shows::Frames || log.is_some(),
            command: self.command_line(),
            own_program: context.own_program.clone(),
            program: concat!("mcprove ", env!("CARGO_PKG_VERSION")).to_owned(),
            started_unix_ms: Context::unix_ms(),
            limits: context.limits,
        };
        let redactor = Redactor::new(server.secrets.iter().map(String::as_str));
        let mut listeners = Listeners::new(context, Listening { log, shown: false, each_once: true, shows, redactor })
            .approved(if self.yes || Confinement::is_effective(server) { Approval::Given } else { Approval::Asked });
        let fuzzed = runtime(jobs.min(context.cores))?.block_on(async {
            let (stopper, stop) = Stopper::pair();
            tokio::select! {
                // Signals are listened to before anything is started.
                biased;
                () = interrupts(&stopper) => None,
                fuzzed = fuzz(server, &options, &stop, &mut listeners) => Some(fuzzed),
            }
        });
        let heard = listeners.finish();
        match fuzzed.transpose() {
            Ok(fuzzed) => Ok((fuzzed.flatten(), heard)),
            Err(failure) => Err(Failure::unreachable(&failure)),
        }
    }

    /// What the tests that are kept have in common.
    fn keeping(&self, server: &ServerSpec) -> Keeping {
        let secrets = || server.secrets.iter().map(String::as_str);
        let values = Context::variable_values();
        Keeping {
            server: WrittenServer::of(server, FileKind::Assertion, &[]),
            timeout: self.timeout.unwrap_or(CALL),
            secrets: Redactor::new(secrets()),
            environment: Redactor::new(secrets().chain(values.iter().map(String::as_str))),
        }
    }

    /// What does all of this again, up to the choice of a tool and a seed.
    fn command_line(&self) -> String {
        let mut line = format!("mcprove fuzz {}", self.subject.command_line());
        for (flag, is_set) in [
            (" --include-writes", self.include_writes),
            (" --read-only", self.read_only),
            (" --strict-input", self.strict_input),
        ] {
            line.push_str(if is_set { flag } else { "" });
        }
        if let Some(timeout) = self.timeout {
            let _ = write!(line, " --timeout {}ms", timeout.as_millis());
        }
        if let Some(path) = &self.given {
            let _ = write!(line, " --seed-args {}", shell_words::quote(&path.to_string_lossy()));
        }
        line
    }

    fn known_tools(&self, fuzzed: &FuzzRun, heard: &Heard) -> Result<(), Failure> {
        // A list that could not be had is not an empty list.
        let failed = heard.report.findings.iter().find(|finding| finding.severity >= Severity::Error);
        if let Some(failed) = failed.filter(|_| fuzzed.tools.is_empty()) {
            return Err(Failure::of(failed));
        }
        if fuzzed.tools.is_empty() && self.tool.is_empty() {
            return Err(Failure::NothingSelected {
                message: "the server has no tools".to_owned(),
                help: "look at what it lists".to_owned(),
            });
        }
        let names = || fuzzed.listed.iter().map(String::as_str);
        let Some(unknown) = self.tool.iter().find(|name| !names().any(|known| known == name.as_str())) else {
            return Ok(());
        };
        Err(Failure::NothingSelected {
            message: format!("the server has no tool `{unknown}`"),
            help: nearest(unknown, names())
                .map_or_else(|| "`mcprove audit` lists its tools".to_owned(), |near| format!("did you mean `{near}`?")),
        })
    }
}

/// The failure a test was kept for, by its place among the tools and their failures, and its file.
type Kept = ((usize, usize), PathBuf);

fn keep(folder: &Path, fuzzed: &FuzzRun, keeping: &Keeping) -> Result<Vec<Kept>, Failure> {
    let mut kept = Vec::new();
    for (at, tool) in fuzzed.tools.iter().enumerate() {
        for (number, failure) in tool.failures.iter().enumerate().filter(|(_, failure)| failure.fails) {
            let Some(test) = kept_test(failure, &tool.again, keeping) else { continue };
            let path = kept_tests::write(folder, &test.stem, &test.text).map_err(|error| {
                let message = format!("`{}` could not be written: {error}", folder.join(&test.stem).display());
                Failure::new(message, "give `--save` a folder that can be written")
            })?;
            kept.push(((at, number), path));
        }
    }
    Ok(kept)
}

/// What is said after the table: how much was done, and what was kept.
fn ending(fuzzed: &FuzzRun, args: &Args, seed: u64, (kept, keeping): (&[Kept], &Keeping)) -> String {
    let mut text = String::new();
    let failures = failures(fuzzed).count();
    let called = fuzzed.tools.iter().filter(|tool| tool.skipped.is_none()).count();
    let planned: usize = fuzzed.tools.iter().map(|tool| tool.tally.runs).sum();
    let counted = |count: usize, what: &str| if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") };
    if called == 0 {
        return text;
    }
    let more = match fuzzed.calls.saturating_sub(planned) {
        0 => String::new(),
        more => format!(" and {more} more to look closer"),
    };
    let _ = writeln!(
        text,
        "\n{} in {}, {}{more}, {:.1} s, {:.0} calls/s, seed {seed}",
        counted(failures, "failure"),
        counted(called, "tool"),
        counted(planned, "call"),
        fuzzed.elapsed.as_secs_f64(),
        per_second(fuzzed.calls, fuzzed.elapsed),
    );
    for (_, path) in kept {
        let _ = writeln!(text, "saved {}", path.display());
    }
    let unkept = failures_not_reproduced(fuzzed);
    if let (Some(folder), false) = (&args.save, failures == 0) {
        if unkept > 0 {
            let _ = writeln!(text, "not saved: {}, because they did not come again", counted(unkept, "failure"));
        }
        if !kept.is_empty() {
            let set = match keeping.server.names().as_slice() {
                [] => String::new(),
                names => format!("; set {} before", names.join(", ")),
            };
            let _ = writeln!(text, "`mcprove run {}` runs what was saved{set}", folder.display());
        }
    }
    text
}

fn per_second(calls: usize, elapsed: Duration) -> f64 {
    f64::from(u32::try_from(calls).unwrap_or(u32::MAX)) / elapsed.as_secs_f64().max(1e-6)
}

fn failures(fuzzed: &FuzzRun) -> impl Iterator<Item = &Found> {
    fuzzed.tools.iter().flat_map(|tool| &tool.failures).filter(|failure| failure.fails)
}

fn failures_not_reproduced(fuzzed: &FuzzRun) -> usize {
    failures(fuzzed).filter(|failure| failure.reproduction.arguments().is_none()).count()
}

/// The known shape of a fuzz run, with what it takes to reproduce each failure.
fn as_json(fuzzed: &FuzzRun, server: &ServerSpec, args: &Args, seed: u64, kept: &[Kept]) -> Value {
    let tools: Vec<Value> = fuzzed
        .tools
        .iter()
        .enumerate()
        .map(|(at, tool)| {
            let told = tool.failures.iter().enumerate().map(|(number, failure)| {
                let file = kept.iter().find(|(of, _)| *of == (at, number)).map(|(_, path)| path.display().to_string());
                (failure.fails, failure_json(failure, file.as_deref()))
            });
            let (failures, notes): (Vec<_>, Vec<_>) = told.partition(|(fails, _)| *fails);
            let values = |list: Vec<(bool, Value)>| list.into_iter().map(|(_, value)| value).collect::<Vec<_>>();
            json!({
                "tool": tool.name,
                "runs": tool.tally.runs,
                "passed": tool.tally.handled,
                "failures": values(failures),
                "notes": values(notes),
                "skipped": tool.skipped,
                "duration_ms": tool.duration_us / 1000,
            })
        })
        .collect();
    let total = |of: fn(&mcprove_engine::Tally) -> usize| -> usize { fuzzed.tools.iter().map(|t| of(&t.tally)).sum() };
    // What only several calls at once bring about is in no call of the plan.
    let found = |kind: &str| failures(fuzzed).filter(|failure| failure.verdict.kind() == kind).count();
    json!({
        "server": server.name,
        "transport": fuzzed.transport,
        "seed": seed,
        "runs_per_tool": args.runs,
        "tools": tools,
        "summary": {
            "tools_tested": fuzzed.tools.iter().filter(|tool| tool.skipped.is_none()).count(),
            "total_runs": total(|tally| tally.runs),
            "total_passed": total(|tally| tally.handled),
            "total_failures": failures(fuzzed).count(),
            "crashes": total(|tally| tally.crashes).max(found("crash")),
            "timeouts": total(|tally| tally.hangs),
            "slow": total(|tally| tally.slow),
            "protocol_errors": total(|tally| tally.protocol).max(found("protocol")),
            "leaks": total(|tally| tally.leaks),
            "accepted_invalid": total(|tally| tally.accepted_invalid),
            "output_mismatches": total(|tally| tally.output_mismatches),
        },
    })
}

fn failure_json(failure: &Found, file: Option<&str>) -> Value {
    let detail = failure.verdict.evidence().map(|evidence| evidence.message.clone());
    let mut told = json!({
        "label": failure.label,
        "status": failure.verdict.kind(),
        "detail": detail.unwrap_or_default(),
        "times": failure.times,
        "duration_ms": failure.elapsed_us / 1000,
        "original": failure.original,
        "minimal": failure.reproduction.arguments(),
        "reproduced": failure.reproduction.arguments().is_some(),
        "file": file,
    });
    match &failure.reproduction {
        Reproduction::Repeated { times, .. } => told["repeat"] = json!(times),
        Reproduction::After { before, .. } => told["before"] = json!(before),
        Reproduction::Together { beside, .. } => told["beside"] = json!(beside),
        Reproduction::Alone { .. } | Reproduction::NotTried | Reproduction::Gone => {}
    }
    told
}
