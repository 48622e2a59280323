//! `mcprove fuzz`: call every tool with inputs that break programs.

mod propose;
mod stateful;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mcprove_engine::{
    CallCounts, Failure as Found, FuzzScan, FuzzedTool, Keeping, Reproduction, ScanKind, ScanResult, kept_test,
};
use mcprove_model::{ExitStatus, ServerSpec, Verdict};
use mcprove_report::{fuzz_table, to_safe_json};
use mcprove_suite::duration;
use mcprove_suite::template::FIXTURE;
use mcprove_suite::written_server::{FileKind, WrittenServer};
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::Failure;
use crate::logins::redactor;
use crate::run_flags::RunFlags;
use crate::saved_tests;
use crate::scan::{Scan, ScanFlags, ScanRequest, ScanTimes, Scanned, scan};
use crate::stdout::print;

/// Maximum number of fresh servers started to shrink one failure.
const ATTEMPTS: usize = 300;

/// Number of calls for each tool.
const RUNS: usize = 50;

/// Default time limits of servers.
const TIMES: ScanTimes = ScanTimes { start: Duration::from_secs(15), call: Duration::from_secs(5) };

/// Call each tool that does not write, with odd and broken inputs.
///
/// Each tool gets a plan of calls that its schema and the seed decide: what is missing or null, values that break
/// programs, the bounds of the schema, and valid inputs with something changed. A crash, a hang, a broken reply or a leak
/// is a failure; it is reproduced on fresh servers and shrunk to the smallest input that still causes it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mcprove fuzz --server 'npx -y my-server' --save evals/fuzz\n  \
                        mcprove fuzz --url http://localhost:3000/mcp --tool search --runs 500 --seed 7\n  \
                        mcprove fuzz --stateful --include-writes --fixture data --server 'my-server {{fixture}}'")]
#[command(mut_arg("timeout", |timeout| timeout.help("Time limit for the start of the server, and for each call [default: 15s and 5s]")))]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Args {
    /// Number of calls for each tool, or with `--stateful` of all [default: 50, or 6000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,
    /// Preview: make sequences of calls that use what earlier calls returned, and check invariants after each.
    #[arg(long)]
    stateful: bool,
    /// A folder that each server gets a copy of; `{{fixture}}` in the server's arguments, or its path, is the copy.
    #[arg(long, value_name = "DIR", requires = "stateful")]
    fixture: Option<PathBuf>,
    /// A folder of sequences that showed something new: they are made first, and new ones are added.
    #[arg(long, value_name = "DIR", requires = "stateful")]
    corpus: Option<PathBuf>,
    /// Make only the sequences of the corpus.
    #[arg(long, requires = "corpus")]
    replay: bool,
    /// A suite file whose `fuzz` says what cannot be learned from the server.
    #[arg(long, value_name = "FILE", requires = "stateful")]
    suite: Option<PathBuf>,
    /// Stop after this time, whatever is left to do.
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    time: Option<Duration>,
    /// Seed of the inputs; a new one each time when left out, and always printed.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Call nothing: print relations that the tools should keep, as tests.
    #[arg(long, conflicts_with_all = ["stateful", "save"])]
    propose: bool,
    /// Keep each failure in this folder, as an assertion file that fails until it is fixed.
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
    /// Treat success on an input that the tool's own schema refuses as a failure.
    #[arg(long, conflicts_with = "stateful")]
    strict_input: bool,
    #[command(flatten)]
    scan: ScanFlags,
    #[command(flatten)]
    run: RunFlags,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    if args.propose {
        return propose::run(args, context);
    }
    if args.stateful {
        return stateful::run(args, context);
    }
    let seed = args.seed.unwrap_or_else(Context::unix_ms);
    let times = TIMES.with(args.run.execution.timeout());
    let request = ScanRequest {
        command: "fuzz",
        scan: &args.scan,
        run: &args.run,
        fixture: None,
        seed,
        times,
        kind: ScanKind::Fuzz(FuzzScan {
            runs: args.runs(RUNS),
            time: args.time,
            strict_input: args.strict_input,
            attempts: ATTEMPTS,
            command: args.command_line(),
            call: format!("mcprove call {}", args.scan.subject.command_line()),
        }),
    };
    let mut scanned = match scan(request, context) {
        Ok(Scan::Shown(status)) => return Ok(status),
        Ok(Scan::Made(scanned)) => scanned,
        Err(Failure::Interrupted) => {
            context.write_stderr(&format!("interrupted; the seed was {seed}\n"));
            return Ok(ExitStatus::Interrupted);
        }
        Err(failure) => return Err(failure),
    };
    let fuzzed = Fuzzed::of(&mut scanned);
    let keeping = keeping(&scanned.server, times.call, None);
    let kept = match &args.save {
        Some(folder) => keep(folder, &fuzzed, &keeping)?,
        None => Vec::new(),
    };
    if args.run.json {
        let mut json = as_json(&fuzzed, &scanned, args, seed, &kept);
        keeping.secrets.json(&mut json);
        print(&to_safe_json(&json))?;
    } else if args.run.are_for_people() {
        print(&fuzz_table(&scanned.outcome.report, context.verbosity, &context.style()))?;
        print(&ending(&fuzzed, args, seed, &kept, &keeping))?;
    }
    if scanned.is_interrupted() {
        context.write_stderr("interrupted: the plan was not sent to its end\n");
    }
    let was_called = fuzzed.runs().any(|run| run.tally.runs > 0);
    scanned.status(&args.run, was_called, "nothing was fuzzed", context)
}

/// The results of a fuzz run.
struct Fuzzed {
    tools: Vec<FuzzedCase>,
    /// Duration of the run.
    elapsed: Duration,
}

/// A tool of a fuzz run.
struct FuzzedCase {
    name: String,
    /// The result; `None` if it was not called.
    run: Option<FuzzedTool>,
    skipped: Option<String>,
    duration_us: u64,
}

impl Fuzzed {
    fn of(scanned: &mut Scanned) -> Self {
        let mut runs: BTreeMap<usize, FuzzedTool> = BTreeMap::new();
        for (index, result) in std::mem::take(&mut scanned.outcome.scanned) {
            if let ScanResult::Fuzz(fuzzed) = result {
                runs.insert(index, *fuzzed);
            }
        }
        let report = &scanned.outcome.report;
        let tools = report.cases.iter().map(|case| {
            let finished = case.finished.as_ref();
            let skipped = finished.and_then(|finished| match &finished.verdict {
                Verdict::Skipped { reason } => Some(reason.clone()),
                Verdict::Passed | Verdict::Failed | Verdict::Error => None,
            });
            FuzzedCase {
                name: case.started.name.clone(),
                run: runs.remove(&case.started.index),
                duration_us: finished.filter(|_| skipped.is_none()).map_or(0, |finished| finished.duration_us),
                skipped,
            }
        });
        let elapsed = report.runs.iter().filter_map(|run| run.finished.as_ref()).map(|run| run.duration_us).max();
        Self { tools: tools.collect(), elapsed: Duration::from_micros(elapsed.unwrap_or(0)) }
    }

    fn runs(&self) -> impl Iterator<Item = &FuzzedTool> {
        self.tools.iter().filter_map(|tool| tool.run.as_ref())
    }

    /// All calls that were made, also those that shrank failures.
    fn calls(&self) -> usize {
        self.runs().map(|run| run.calls).sum()
    }
}

/// Settings shared by the tests that are kept.
fn keeping(server: &ServerSpec, timeout: Duration, fixture: Option<&Path>) -> Keeping {
    let secrets = || server.secrets.iter().map(String::as_str);
    let values = Context::secret_values();
    Keeping {
        server: WrittenServer::of(server, FileKind::Assertion, if fixture.is_some() { &[FIXTURE] } else { &[] }),
        timeout,
        secrets: redactor(secrets()),
        environment: redactor(secrets().chain(values.iter().map(String::as_str))),
    }
}

impl Args {
    fn runs(&self, default: usize) -> usize {
        self.runs.map_or(default, |runs| usize::try_from(runs).unwrap_or(usize::MAX))
    }

    /// The command line that repeats this run, without the choice of a tool and a seed.
    fn command_line(&self) -> String {
        let mut line = format!("mcprove fuzz {}", self.scan.subject.command_line());
        for (flag, is_set) in [
            (" --include-writes", self.scan.include_writes),
            (" --read-only", self.scan.read_only),
            (" --strict-input", self.strict_input),
            (" --stateful", self.stateful),
        ] {
            line.push_str(if is_set { flag } else { "" });
        }
        if let Some(timeout) = self.run.execution.timeout() {
            let _ = write!(line, " --timeout {}ms", timeout.as_millis());
        }
        if let Some(path) = &self.fixture {
            let _ = write!(line, " --fixture {}", shell_words::quote(&path.to_string_lossy()));
        }
        if let Some(path) = &self.suite {
            let _ = write!(line, " --suite {}", shell_words::quote(&path.to_string_lossy()));
        }
        if let Some(path) = &self.scan.given {
            let _ = write!(line, " --seed-args {}", shell_words::quote(&path.to_string_lossy()));
        }
        line
    }
}

/// The failure a test was kept for, by its place among the tools and their failures, and its file.
type Kept = ((usize, usize), PathBuf);

fn keep(folder: &Path, fuzzed: &Fuzzed, keeping: &Keeping) -> Result<Vec<Kept>, Failure> {
    let mut kept = Vec::new();
    for (at, tool) in fuzzed.tools.iter().enumerate() {
        let Some(run) = &tool.run else { continue };
        for (number, failure) in run.failures.iter().enumerate().filter(|(_, failure)| failure.fails) {
            let Some(test) = kept_test(failure, &run.again, keeping) else { continue };
            if keeping.shows_secret(&test) {
                continue;
            }
            let path = saved_tests::write(folder, &test.stem, &test.text).map_err(|error| {
                let message = format!("`{}` could not be written: {error}", folder.join(&test.stem).display());
                Failure::new(message, "give `--save` a folder that can be written")
            })?;
            kept.push(((at, number), path));
        }
    }
    Ok(kept)
}

/// Text after the table: the amount of work, and the kept tests.
fn ending(fuzzed: &Fuzzed, args: &Args, seed: u64, kept: &[Kept], keeping: &Keeping) -> String {
    let mut text = String::new();
    let failures = failures(fuzzed).count();
    let called = fuzzed.tools.iter().filter(|tool| tool.skipped.is_none()).count();
    let planned: usize = fuzzed.runs().map(|run| run.tally.runs).sum();
    let counted = |count: usize, what: &str| if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") };
    if called == 0 {
        return text;
    }
    let more = match fuzzed.calls().saturating_sub(planned) {
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
        per_second(fuzzed.calls(), fuzzed.elapsed),
    );
    for (_, path) in kept {
        let _ = writeln!(text, "saved {}", path.display());
    }
    let unkept = failures_not_reproduced(fuzzed);
    if let (Some(folder), false) = (&args.save, failures == 0) {
        if unkept > 0 {
            let _ = writeln!(text, "not saved: {}, because they did not come again", counted(unkept, "failure"));
        }
        let secret = failures.saturating_sub(unkept + kept.len());
        if secret > 0 {
            let _ = writeln!(text, "not saved: {}, because the tests would show a secret", counted(secret, "failure"));
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

fn failures(fuzzed: &Fuzzed) -> impl Iterator<Item = &Found> {
    fuzzed.runs().flat_map(|run| &run.failures).filter(|failure| failure.fails)
}

fn failures_not_reproduced(fuzzed: &Fuzzed) -> usize {
    failures(fuzzed).filter(|failure| failure.reproduction.arguments().is_none()).count()
}

/// The known shape of a fuzz run, with what it takes to reproduce each failure.
fn as_json(fuzzed: &Fuzzed, scanned: &Scanned, args: &Args, seed: u64, kept: &[Kept]) -> Value {
    let tools: Vec<Value> = fuzzed
        .tools
        .iter()
        .enumerate()
        .map(|(at, tool)| {
            let nothing = CallCounts::default();
            let (tally, found) =
                tool.run.as_ref().map_or((&nothing, [].as_slice()), |run| (&run.tally, run.failures.as_slice()));
            let told = found.iter().enumerate().map(|(number, failure)| {
                let file = kept.iter().find(|(of, _)| *of == (at, number)).map(|(_, path)| path.display().to_string());
                (failure.fails, failure_json(failure, file.as_deref()))
            });
            let (failures, notes): (Vec<_>, Vec<_>) = told.partition(|(fails, _)| *fails);
            let values = |list: Vec<(bool, Value)>| list.into_iter().map(|(_, value)| value).collect::<Vec<_>>();
            json!({
                "tool": tool.name,
                "runs": tally.runs,
                "passed": tally.handled,
                "distinct_inputs": tool.run.as_ref().filter(|run| run.is_exhausted).map(|run| run.tally.runs),
                "failures": values(failures),
                "notes": values(notes),
                "skipped": tool.skipped,
                "duration_ms": tool.duration_us / 1000,
            })
        })
        .collect();
    let total = |of: fn(&CallCounts) -> usize| -> usize { fuzzed.runs().map(|run| of(&run.tally)).sum() };
    // Failures that need several concurrent calls are not in any call of the plan.
    let found = |kind: &str| failures(fuzzed).filter(|failure| failure.verdict.kind() == kind).count();
    json!({
        "server": scanned.server.name,
        "transport": scanned.info.transport,
        "seed": seed,
        "runs_per_tool": args.runs(RUNS),
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
        "left_out": failure.is_left_out,
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
