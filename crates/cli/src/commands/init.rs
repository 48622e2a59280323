//! `mcprove init`: the beginning of a suite.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mcprove_engine::ScanKind;
use mcprove_model::ExitStatus;
use mcprove_report::{is_tool, scan_counts, score, to_safe_json, tool_verdict};
use mcprove_suite::starter::FileNames;
use mcprove_suite::written_server::WrittenServer;

use crate::context::Context;
use crate::failure::Failure;
use crate::run_flags::RunFlags;
use crate::scan::{InputFlags, Scan, ScanFlags, ScanRequest, ScanTimes, Scanned, scan};
use crate::starter_files::{self, Described, NewSuiteReport, StarterFile, TextFile, WrittenFiles};
use crate::stdout::print;
use crate::verified_suite::{Verification, Verified, verify};

/// Where GitHub looks for workflows.
const WORKFLOW: &str = ".github/workflows/mcprove.yml";

/// The first file of a user who has no server at hand.
const TEMPLATE: &str = include_str!("init_template.yaml");

/// Create a suite: a template, or tests made by calling a server.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without a server, DIR/example.yaml is written; on a terminal, a command is asked for first. With a server, each tool that does not write, or look like it, is called. Each tool gets an \
                        assertion file (with `skip` when it was not called), and replies that stay the same are \
                        stored in DIR/.snapshots. The tests are run twice, and a workflow for GitHub is written to .github/ in the current folder. It never prompts in CI, or where standard input is not a terminal.\n\nExamples:\n  mcprove init\n  mcprove init evals/ --server 'npx -y my-server'"
)]
#[command(mut_arg("timeout", |timeout| timeout.help("Time limit for the start of the server, and for each call [default: 60s and 15s]")))]
#[command(mut_arg("json", |json| json.help("Print what was written as JSON, and nothing else, on standard output")))]
pub(crate) struct Args {
    /// The folder of the suite.
    #[arg(value_name = "DIR", default_value = "evals")]
    folder: PathBuf,
    /// Replace files that are there already.
    #[arg(long)]
    overwrite: bool,
    /// Write files only for tools that work.
    #[arg(long)]
    only_working: bool,
    /// Write no workflow for GitHub.
    #[arg(long)]
    no_workflow: bool,
    #[command(flatten)]
    inputs: InputFlags,
    #[command(flatten)]
    scan: ScanFlags,
    #[command(flatten)]
    run: RunFlags,
}

pub(crate) fn run(mut args: Args, context: &Context) -> Result<ExitStatus, Failure> {
    if !args.scan.subject.is_named()
        && !args.run.json
        && let Some(command) = Context::ask("The command that starts your server (empty for a template): ")
        && !command.is_empty()
    {
        args.scan.subject.set_server(command);
    }
    if args.scan.subject.is_named() { with_server(&args, context) } else { with_template(&args) }
}

fn with_template(args: &Args) -> Result<ExitStatus, Failure> {
    let file = TextFile { name: "example.yaml".to_owned(), text: TEMPLATE.to_owned() };
    let written = starter_files::write_all(&args.folder, &[file], args.overwrite)?;
    refuse_to_replace(&written, &args.folder)?;
    let folder = args.folder.display();
    let next = format!("mcprove run {folder}");
    if args.run.json {
        print(&to_safe_json(&NewSuiteReport { next, ..NewSuiteReport::of(&written) }.as_json(&args.folder)))?;
    } else {
        print(&format!("{}next: fill in {folder}/example.yaml, then: {next}\n", written.files_summary(&args.folder)))?;
    }
    Ok(ExitStatus::Good)
}

fn with_server(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let times = ScanTimes::DEFAULT.with(args.run.execution.timeout());
    let request = ScanRequest {
        command: "init",
        scan: &args.scan,
        run: &args.run,
        fixture: args.inputs.fixture.as_deref(),
        seed: args.inputs.seed,
        times,
        kind: ScanKind::Audit { repeat: true },
    };
    let scanned = match scan(request, context)? {
        Scan::Shown(status) => return Ok(status),
        Scan::Made(scanned) if scanned.is_interrupted() => {
            context.write_stderr("interrupted: nothing was written\n");
            return Ok(ExitStatus::Interrupted);
        }
        Scan::Made(scanned) => scanned,
    };
    let described = Described::new(&scanned.server, args.inputs.fixture.as_deref());
    let mut files = files(&scanned, &described);
    if args.only_working {
        files
            .retain(|file| file.starter.skip.is_none() && file.starter.known.is_none() && file.starter.needs.is_none());
    }
    let written = starter_files::write_all(&args.folder, &starter_files::texts(&files), args.overwrite)?;
    let written = written.without(starter_files::unnameable(&scanned.info.catalog));
    refuse_to_replace(&written, &args.folder)?;
    let score = score(&scanned.outcome.report);
    let mut told = format!("{} (`mcprove audit` says more)\n", scan_counts(&scanned.outcome.report).summary());
    told.push_str(&written.files_summary(&args.folder));
    // Files of an earlier time are not ours to change.
    files.retain(|file| written.added.contains(&args.folder.join(&file.name)));
    let verification = Verification {
        folder: &args.folder,
        fixture: args.inputs.fixture.as_deref(),
        variables: described.written.variables.clone(),
        confinement: args.scan.confinement,
        execution: args.run.execution.verifying(times.call),
    };
    let verified = {
        let _waiting = context.waiting("running the new suite until it holds");
        verify(&mut files, &verification, context)?
    };
    if verified.is_interrupted {
        context.write_stderr("interrupted: the new files were not verified\n");
        return Ok(ExitStatus::Interrupted);
    }
    told.push_str(&told_of(&verified, &files, &args.folder));
    if !args.no_workflow {
        let workflow = TextFile { name: WORKFLOW.to_owned(), text: workflow(&args.folder, args, &described.written) };
        let done = starter_files::write_all(Path::new(""), &[workflow], args.overwrite)?;
        let word = if done.added.is_empty() { "kept" } else { "wrote" };
        let _ = writeln!(told, "{word} {WORKFLOW}");
    }
    let variables = described.written.names();
    let set = match variables.as_slice() {
        [] => String::new(),
        names => format!("set {}, then: ", names.join(", ")),
    };
    let next = format!("mcprove run {}{}", args.folder.display(), fixture_flag(args));
    let _ = writeln!(told, "next: {set}{next}");
    if args.run.json {
        let workflow = (!args.no_workflow).then_some(WORKFLOW);
        let begun = NewSuiteReport {
            score,
            snapshots: verified.stored,
            workflow,
            variables,
            next,
            ..NewSuiteReport::of(&written)
        };
        print(&to_safe_json(&begun.as_json(&args.folder)))?;
    } else {
        print(&told)?;
    }
    // What is wrong with the server today is what the suite says from now on.
    Ok(match scanned.finish(&args.run, context)? {
        ExitStatus::Good | ExitStatus::Wrong | ExitStatus::NothingSelected => ExitStatus::Good,
        status @ (ExitStatus::Interrupted | ExitStatus::NotDone | ExitStatus::Bug) => status,
    })
}

fn files<'d>(scanned: &Scanned, described: &'d Described<'_>) -> Vec<StarterFile<'d>> {
    let mut names = FileNames::default();
    let mut files = starter_files::of_scan(&scanned.called, described, &mut names);
    let tried = |name: &str| {
        let case = scanned.outcome.report.cases.iter().find(|case| !is_tool(case) && case.started.name == name)?;
        Some(tool_verdict(case))
    };
    files.extend(starter_files::of_offer(&scanned.info.catalog, described, &tried, &mut names));
    files
}

/// The end of the verification, for people.
fn told_of(verified: &Verified, files: &[StarterFile<'_>], folder: &Path) -> String {
    let count = |wanted: &dyn Fn(&StarterFile<'_>) -> bool| files.iter().filter(|file| wanted(file)).count();
    let tests = |count: usize| if count == 1 { "1 test".to_owned() } else { format!("{count} tests") };
    let known = count(&|file| file.starter.known.is_some());
    let idle = count(&|file| file.starter.skip.is_some() || file.starter.needs.is_some());
    let holding = files.len() - known - idle;
    let verb = if holding == 1 { "holds" } else { "hold" };
    let mut text = format!("verified in two runs: {} {verb}", tests(holding));
    for (count, what) in [
        (verified.weakened, "with weaker checks, because replies differ"),
        (known, "known to fail (`known:` says why)"),
        (idle, "skipped (`skip:` says why)"),
    ] {
        if count > 0 {
            let _ = write!(text, ", {count} {what}");
        }
    }
    let replies = if verified.stored == 1 { "1 reply".to_owned() } else { format!("{} replies", verified.stored) };
    let _ = writeln!(text, "\nstored {replies} in {}", folder.join(".snapshots").display());
    text
}

/// A folder that is a suite already is not begun again.
fn refuse_to_replace(written: &WrittenFiles, folder: &Path) -> Result<(), Failure> {
    if written.added.is_empty() {
        let message = format!("`{}` has these files already", folder.display());
        return Err(Failure::new(message, "name another folder, or give `--overwrite`"));
    }
    Ok(())
}

fn fixture_flag(args: &Args) -> String {
    args.inputs.fixture.as_deref().map_or_else(String::new, |fixture| format!(" --fixture {}", fixture.display()))
}

/// A workflow that runs the suite on every push.
fn workflow(folder: &Path, args: &Args, server: &WrittenServer) -> String {
    let (folder, fixture) = (folder.display(), fixture_flag(args));
    let variables = server.names();
    let mut env = String::new();
    if !variables.is_empty() {
        env.push_str("    env:\n");
        for name in variables {
            let _ = writeln!(env, "      {name}: ${{{{ secrets.{name} }}}}");
        }
    }
    format!(
        "# Runs the suite on every push. Add the steps that install what your server needs.\n\
         name: mcprove\non: [push, pull_request]\njobs:\n  suite:\n    runs-on: ubuntu-latest\n{env}    steps:\n      \
         - uses: actions/checkout@v4\n      - run: cargo install --locked --git {repository} mcprove\n      \
         - run: mcprove ci {folder}{fixture}\n      - run: mcprove snapshot {folder}{fixture}\n",
        repository = env!("CARGO_PKG_REPOSITORY"),
    )
}
