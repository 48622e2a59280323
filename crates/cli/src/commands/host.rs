//! `mcprove host`: does a client cope with bad servers?

use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use mcprove_engine::{HOST_PIPE, HostOptions, HostPlayed, HostScanOptions, Player, ScanResult, plan_host};
use mcprove_model::{CaseReport, ExitStatus, Finding, Override, ServerSpec, SourceFile, Target, Verdict};
use mcprove_report::Shows;
use mcprove_suite::load::bounded_read;
use mcprove_suite::scenario_file::{self, ConfigFormat, Scenario};
use mcprove_wire::connect_pipe;

use crate::context::Context;
use crate::execution::{RunMode, redactor_of};
use crate::failure::Failure;
use crate::finish::{Gates, RunOutcome, Stdout};
use crate::run_flags::{Ending, RunFlags};
use crate::selection::show_scan;
use crate::stdout::print;
use crate::subject::stdio;

/// Play bad servers to a client, and judge what it does.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The client is started with a configuration file that names the servers of the scenario. In its \
                  arguments, {config} is that file, {folder} its folder, {url} the URL and {command} the command of the \
                  first server, {command...} the same as several arguments, {servers} all of them as JSON. \
                  `--env` and `--cwd` take them, too. The variables MCPROVE_CONFIG, MCPROVE_FOLDER, MCPROVE_URL, MCPROVE_COMMAND and MCPROVE_SERVERS hold the same. Only \
                  the wire decides.\n\nExamples:\n  mcprove host examples/host/hang.yaml -- my-client --mcp-config {config}\n  \
                  mcprove host examples/host --scripted good\n  mcprove host examples/host/hang.yaml --config-format vscode -- \
                  my-editor --headless {folder}"
)]
pub(crate) struct Args {
    /// Scenario files or folders.
    #[arg(value_name = "SCENARIO", required = true)]
    scenarios: Vec<PathBuf>,
    /// Play the scenarios to mcprove's own client instead, in virtual time: the good one or the bad one.
    #[arg(long, value_name = "good|bad", value_parser = ["good", "bad"], conflicts_with_all = ["command", "config", "env", "cwd"])]
    scripted: Option<String>,
    /// The format of the client's configuration [default: the scenario's, or plain].
    #[arg(long = "config-format", value_name = "FORMAT", value_parser = ConfigFormat::ALL.map(|(name, _)| name))]
    config: Option<String>,
    /// A variable for the environment of the client; may be repeated.
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = variable)]
    env: Vec<(String, String)>,
    /// The folder in which the client is started; `{folder}` is that of its configuration.
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    #[command(flatten)]
    run: RunFlags,
    /// The client and its arguments, after `--`.
    #[arg(last = true, value_name = "CLIENT")]
    command: Vec<String>,
}

fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    args.run.check()?;
    let client = Arc::new(client(args)?);
    let mut scenarios = scenarios(&args.scenarios)?;
    if let Some(timeout) = args.run.execution.timeout() {
        for scenario in &mut scenarios {
            scenario.timeout = timeout;
        }
    }
    let baseline = args.run.baseline()?;
    let options = HostScanOptions {
        scripted: args.scripted.as_ref().map(|which| if which == "bad" { Player::Bad } else { Player::Good }),
        host: HostOptions {
            pipe: pipe_command()?,
            config: args.config.as_deref().and_then(ConfigFormat::parse),
            key: key(),
        },
    };
    let cases = plan_host(&scenarios, &client, &options);
    let plan = args.run.selection.plan(&cases, Override::default())?;
    let redactor = redactor_of(&plan, &[]);
    if args.run.selection.dry_run {
        return show_scan(&plan, &redactor, args.run.json);
    }
    let mode = RunMode {
        prints_findings: true,
        shown: args.run.are_for_people(),
        shows: args.run.outputs.shows().max(Shows::Calls),
        again: again(args),
        last: if args.command.is_empty() { Vec::new() } else { [&["--".to_owned()], &args.command[..]].concat() },
        ..RunMode::new(Vec::new(), redactor)
    };
    let outcome = args.run.run(&plan, mode, context)?;
    if args.run.are_for_people() {
        print(&table(&outcome))?;
    }
    let known = cases.iter().map(|case| case.name.as_str()).collect();
    let gates = Gates { threshold: None, regressions: true };
    let stdout = Stdout::of(args.run.json, &args.run.outputs);
    args.run.finish(outcome, Ending { stdout, baseline, known, gates }, context)
}

/// The command that plays the same scenarios, without the client.
fn again(args: &Args) -> Vec<String> {
    let mut words = vec!["host".to_owned()];
    words.extend(args.scenarios.iter().map(|path| path.display().to_string()));
    let mut option =
        |name: &str, value: Option<String>| words.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
    option("--scripted", args.scripted.clone());
    option("--config-format", args.config.clone());
    for (name, value) in &args.env {
        option("--env", Some(format!("{name}={value}")));
    }
    option("--cwd", args.cwd.as_ref().map(|folder| folder.display().to_string()));
    words
}

/// The client, in the place of the server of a case.
fn client(args: &Args) -> Result<ServerSpec, Failure> {
    if args.scripted.is_some() {
        let target = stdio(vec!["scripted".to_owned()], Vec::new(), None);
        return Ok(ServerSpec { name: "scripted client".to_owned(), target, ..ServerSpec::default() });
    }
    if args.command.is_empty() {
        return Err(Failure::new(
            "no client is named",
            "give its command after `--`, or `--scripted good` for mcprove's own",
        ));
    }
    let cwd = args.cwd.as_ref().map(|folder| folder.display().to_string());
    let is_placeholder = |folder: &Path| folder.to_string_lossy().contains("{folder}");
    if let Some(folder) = args.cwd.as_ref().filter(|folder| !folder.is_dir() && !is_placeholder(folder)) {
        return Err(Failure::new(format!("the folder `{}` does not exist", folder.display()), "fix `--cwd`"));
    }
    let target: Target = stdio(args.command.clone(), args.env.clone(), cwd);
    let secrets = args.env.iter().map(|(_, value)| value.clone()).collect();
    Ok(ServerSpec { name: args.command[0].clone(), target, secrets, ..ServerSpec::default() })
}

/// The scenarios of files and folders, in order.
fn scenarios(paths: &[PathBuf]) -> Result<Vec<Scenario>, Failure> {
    let mut scenarios: Vec<Scenario> = Vec::new();
    let mut findings = Vec::new();
    for path in paths {
        for file in files(path)? {
            let shown = file.display().to_string();
            let text = bounded_read::read_written(&file).map_err(|error| {
                Failure::new(
                    format!("`{shown}` could not be read: {error}"),
                    "give a scenario file or a folder of them",
                )
            })?;
            let (read, problems) = scenario_file::read(&Arc::new(SourceFile::new(shown.clone(), text)));
            if problems.iter().any(|finding| finding.fails(false)) && leads_away(&file) {
                // A link may lead to anything, such as a file of credentials.
                let message = format!("`{shown}` is a link out of its folder and has {} problems", problems.len());
                let finding = Finding::error("outside-folder", message);
                return Err(Failure::Suite(vec![finding.help("copy the file into the folder to see them")]));
            }
            findings.extend(problems);
            scenarios.extend(read);
        }
    }
    if findings.iter().any(|finding| finding.fails(false)) {
        return Err(Failure::Suite(findings));
    }
    if let Some(twice) = scenarios
        .iter()
        .enumerate()
        .find_map(|(at, one)| scenarios[..at].iter().any(|other| other.name == one.name).then_some(&one.name))
    {
        return Err(Failure::new(format!("there are two scenarios `{twice}`"), "give each a name of its own"));
    }
    Ok(scenarios)
}

/// True for a link to a file in another folder.
fn leads_away(file: &Path) -> bool {
    let is_link = file.symlink_metadata().is_ok_and(|about| about.is_symlink());
    let folder = file.parent().filter(|folder| *folder != Path::new("")).unwrap_or_else(|| Path::new("."));
    match (file.canonicalize(), folder.canonicalize()) {
        (Ok(file), Ok(folder)) => is_link && !file.starts_with(folder),
        _ => false,
    }
}

fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let failure = |error: std::io::Error| {
        Failure::new(
            format!("`{}` could not be read: {error}", path.display()),
            "give a scenario file or a folder of them",
        )
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failure)? {
        let file = entry.map_err(failure)?.path();
        if file.extension().is_some_and(|kind| kind == "yaml" || kind == "yml") {
            files.push(file);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(Failure::new(format!("`{}` has no scenarios", path.display()), "write `*.yaml` files there"));
    }
    Ok(files)
}

/// This program, as a server that a client starts.
fn pipe_command() -> Result<Vec<String>, Failure> {
    let program = std::env::current_exe().map_err(|error| Failure::Other {
        message: format!("the path of this program is not known: {error}"),
        help: None,
    })?;
    Ok(vec![program.display().to_string(), HOST_PIPE.to_owned()])
}

/// The role of a server that a client started: its pipes go to the run that observes it.
pub(crate) fn host_pipe(mut words: impl Iterator<Item = String>) -> ExitCode {
    let (Some(address), Some(key)) = (words.next(), words.next()) else {
        return ExitCode::from(ExitStatus::NotDone.code());
    };
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return ExitCode::from(ExitStatus::NotDone.code());
    };
    let is_there = runtime.block_on(connect_pipe(&address, &key, tokio::io::stdin(), tokio::io::stdout())).is_ok();
    // A pending read of standard input would keep the runtime from ending.
    runtime.shutdown_background();
    if is_there { ExitCode::SUCCESS } else { ExitCode::from(ExitStatus::NotDone.code()) }
}

/// A secret of this run: the pipes of servers are for its clients alone.
fn key() -> String {
    let random = RandomState::new();
    format!("{:016x}{:016x}", random.hash_one(0), random.hash_one(1))
}

/// The reactions of the client, a line for each fault it met.
fn table(outcome: &RunOutcome) -> String {
    let mut text = String::new();
    let cases: HashMap<usize, &CaseReport> =
        outcome.report.cases.iter().map(|case| (case.started.index, case)).collect();
    let mut left_out = 0;
    for (index, result) in &outcome.scanned {
        let ScanResult::Host(HostPlayed { reactions, rules, requests }) = result else { continue };
        if text.len() > MOST_TABLE {
            left_out += 1;
            continue;
        }
        let name = cases.get(index).map(|case| name_of(case)).unwrap_or_default();
        let _ = writeln!(text, "\n{name}: {requests} requests; {} client rules hold, {} broken", rules.0, rules.1);
        for reaction in reactions.iter().take(LINES) {
            let _ = writeln!(text, "  {}", reaction.line());
        }
        if reactions.len() > LINES {
            let _ = writeln!(text, "  and {} more", reactions.len() - LINES);
        }
    }
    if left_out > 0 {
        let _ = writeln!(text, "\n{left_out} more scenarios are not listed");
    }
    text
}

/// The most faults that are listed of a scenario.
const LINES: usize = 8;

/// The most bytes of the list of scenarios.
const MOST_TABLE: usize = 256 << 10;

fn name_of(case: &CaseReport) -> String {
    let is_good = case.finished.as_ref().is_some_and(|end| end.verdict == Verdict::Passed);
    let mark = if is_good { "" } else { " (failed)" };
    format!("{}{mark}", case.started.name)
}
