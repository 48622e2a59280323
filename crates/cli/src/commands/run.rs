//! `mcprove run`: suites against servers.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use mcprove_engine::{Filter, Isolation, PlanOptions, RunOptions, Stopper, plan};
use mcprove_model::{ExitStatus, Finding, Plan};
use mcprove_report::known_json;
use mcprove_suite::duration;
use mcprove_suite::load::{LoadOptions, Loaded, ServerOverride, load};

use crate::context::Context;
use crate::failure::Failure;
use crate::live::{Heard, Listeners};

/// Where suites are looked for when none is named.
const DEFAULT_SUITES: &[&str] = &["mcprove.yml", "mcptest.yml", "evals"];

/// Run suites against servers.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[command(
    after_help = "Examples:\n  mcprove run evals/\n  mcprove run evals/ --fixture evals/fixtures --jobs auto\n  \
                        mcprove run evals/ --filter '/read.*file/' --server 'npx my-server'"
)]
pub(crate) struct Args {
    /// Suite files or folders [default: mcprove.yml, mcptest.yml or evals/].
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// One more suite folder or file.
    #[arg(long, value_name = "DIR", visible_alias = "config")]
    suite: Vec<PathBuf>,
    /// A folder copied for each case; `{{fixture}}` is the copy.
    #[arg(long, value_name = "DIR")]
    fixture: Option<PathBuf>,
    /// Use this server command instead of the suite's.
    #[arg(long, value_name = "CMD ARGS")]
    server: Option<String>,
    /// Deadline of a case that has none of its own.
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration::parse)]
    timeout: Duration,
    /// How many cases run side by side: a number, or `auto`.
    #[arg(short, long, value_name = "N", default_value = "1")]
    jobs: Jobs,
    /// Who shares a server: nobody, the cases of a file, or all that want the same.
    #[arg(long, value_name = "case|file|run", default_value = "case", value_parser = isolation)]
    isolation: Isolation,
    /// Run stdio servers in a container of this image.
    #[arg(long, value_name = "IMAGE")]
    docker: Option<String>,
    /// Only cases whose name contains the text, or matches a /regex/.
    #[arg(long, value_name = "TEXT|/REGEX/", value_parser = Filter::parse)]
    filter: Option<Filter>,
    /// Stop at the first case that does not pass.
    #[arg(long)]
    fail_fast: bool,
    /// Show what would run, and start nothing.
    #[arg(long)]
    dry_run: bool,
    /// Print the results as JSON, and nothing else, on standard output.
    #[arg(long)]
    json: bool,
    /// Write everything that happened, every frame, to a log file.
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// Let warnings fail.
    #[arg(long)]
    strict: bool,
}

fn isolation(text: &str) -> Result<Isolation, String> {
    match text {
        "case" => Ok(Isolation::Case),
        "file" => Ok(Isolation::File),
        "run" => Ok(Isolation::Run),
        _ => Err("give `case`, `file` or `run`".to_owned()),
    }
}

/// How many cases run side by side.
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
            (_, Ok(number)) if number <= 1024 => Ok(Self::Number(number)),
            (_, _) => Err("give a number from 1 to 1024, or `auto`".to_owned()),
        }
    }
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let loaded = load_suites(args)?;
    let warnings = usable(&loaded, args.strict)?;
    let plan = plan(&loaded.cases, &PlanOptions { filter: args.filter.clone() });
    if plan.cases.is_empty() {
        return Err(Failure::NothingSelected {
            message: format!("none of the {} cases was selected", loaded.cases.len()),
            help: "`--filter` compares with case names; `--dry-run` lists them".to_owned(),
        });
    }
    if args.dry_run {
        return show(&plan);
    }
    let heard = run_plan(&plan, warnings, args, context)?;
    if args.json {
        print(&known_json(&heard.report))?;
    }
    if let Some(error) = heard.log_error {
        return Err(Failure::new(error, "give `--events` a path that can be written"));
    }
    Ok(heard.report.exit_status())
}

fn load_suites(args: &Args) -> Result<Loaded, Failure> {
    let mut paths: Vec<PathBuf> = args.paths.iter().chain(&args.suite).cloned().collect();
    if paths.is_empty() {
        let found = DEFAULT_SUITES.iter().map(Path::new).find(|path| path.exists());
        paths.push(found.map(Path::to_owned).ok_or_else(|| {
            Failure::new(
                format!("no suite was named, and there is no {} here", DEFAULT_SUITES.join(", ")),
                "name a suite (`mcprove run PATH`); a first one is in the README",
            )
        })?);
    }
    if let Some(fixture) = &args.fixture
        && !fixture.is_dir()
    {
        return Err(Failure::new(
            format!("the fixture folder `{}` does not exist", fixture.display()),
            "give `--fixture` an existing folder",
        ));
    }
    let names = Context::variable_names();
    Ok(load(
        &paths,
        &LoadOptions {
            environment: &|name| Context::variable(name),
            known_variables: &names,
            fixture: args.fixture.clone(),
            server: args.server.as_deref().map(server_override).transpose()?,
        },
    ))
}

fn server_override(text: &str) -> Result<ServerOverride, Failure> {
    let mut words = shell_words::split(text)
        .map_err(|error| {
            Failure::new(format!("`--server {text}` cannot be split into words: {error}"), "close the quote")
        })?
        .into_iter();
    let command = words.next().ok_or_else(|| Failure::new("`--server` is empty", "give a command"))?;
    Ok(ServerOverride { command, args: words.collect() })
}

/// The warnings of a suite that can be run; one that cannot is a failure with everything that is wrong.
fn usable(loaded: &Loaded, strict: bool) -> Result<Vec<Finding>, Failure> {
    if loaded.findings.iter().any(|finding| finding.fails(strict)) {
        return Err(Failure::Suite(loaded.findings.clone()));
    }
    Ok(loaded.findings.clone())
}

fn run_plan(plan: &Plan, warnings: Vec<Finding>, args: &Args, context: &Context) -> Result<Heard, Failure> {
    let log = args.events.as_ref().map(|path| create(path)).transpose()?;
    let jobs = match args.jobs {
        Jobs::Auto => context.cores,
        Jobs::Number(number) => number,
    };
    let options = RunOptions {
        jobs,
        cores: context.cores,
        timeout: args.timeout,
        strict: args.strict,
        fail_fast: args.fail_fast,
        keep_frames: log.is_some(),
        own_program: context.own_program.clone(),
        program: concat!("mcprove ", env!("CARGO_PKG_VERSION")).to_owned(),
        started_unix_ms: Context::unix_ms(),
        findings: warnings,
        isolation: args.isolation,
        docker: args.docker.clone(),
        limits: mcprove_wire::Limits::default(),
    };
    let mut listeners = Listeners::new(context, log, !args.json);
    let runtime = runtime(jobs.min(context.cores))?;
    runtime.block_on(async {
        let (stopper, stop) = Stopper::pair();
        let interrupts = interrupts(&stopper);
        let running = mcprove_engine::run(plan, options, stop, &mut listeners);
        tokio::select! {
            () = running => {}
            // The second interrupt: whatever runs is dropped, which ends its processes and removes its files.
            () = interrupts => {}
        }
    });
    Ok(listeners.finish())
}

/// Tells the run to stop at the first interrupt and ends at the second.
async fn interrupts(stopper: &Stopper) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate), Ok(mut hang_up)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()), signal(SignalKind::hangup()))
    else {
        return std::future::pending().await;
    };
    for _ in 0..2 {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
        }
        stopper.stop();
    }
}

fn runtime(threads: usize) -> Result<tokio::runtime::Runtime, Failure> {
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

fn create(path: &Path) -> Result<(String, File), Failure> {
    let shown = path.display().to_string();
    match File::create(path) {
        Ok(file) => Ok((shown, file)),
        Err(error) => Err(Failure::new(
            format!("the event log `{shown}` could not be created: {error}"),
            "give `--events` a path in an existing folder",
        )),
    }
}

fn show(plan: &Plan) -> Result<ExitStatus, Failure> {
    let mut text = String::new();
    for planned in &plan.cases {
        let case = &planned.case;
        let line = case.source.position(case.span.start).line;
        let server = case.server.as_ref().map_or_else(String::new, |server| server.target.label());
        let name = mcprove_model::escape_line(&case.name).into_owned();
        let skip = case.skip.as_ref().map_or_else(String::new, |skip| format!("  (skipped: {})", skip.reason));
        let _ = writeln!(text, "{name}  {}:{line}  {server}{skip}", case.source.path());
    }
    let _ = writeln!(text, "{} cases would run; nothing was started", plan.cases.len());
    print(&text)?;
    Ok(ExitStatus::Good)
}

fn print(text: &str) -> Result<(), Failure> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::Other { message: format!("standard output could not be written: {error}"), help: None })
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
