//! `mcprove init`: the beginning of a suite.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mcprove_engine::{PlanOptions, Toured, Visit, plan};
use mcprove_model::ExitStatus;
use mcprove_report::{harmless_json, score};
use mcprove_suite::starter::FileNames;
use mcprove_suite::written_server::WrittenServer;

use crate::context::Context;
use crate::execution::{Execution, Manner};
use crate::failure::Failure;
use crate::snapshots;
use crate::starters::{self, Begun, Described, StarterFile, Written};
use crate::stdout::print;
use crate::suites::{Suites, Watched, usable};
use crate::touring::Touring;

/// Where GitHub looks for workflows.
const WORKFLOW: &str = ".github/workflows/mcprove.yml";

/// The first file of somebody who has no server at hand.
const TEMPLATE: &str = include_str!("init_template.yaml");

/// Begin a suite: a template, or everything for a server.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "With a server: every tool that does not say that it writes is called, and each gets an assertion \
                        file and a snapshot. Nobody is asked anything in CI, or where standard input is not a \
                        terminal.\n\nExamples:\n  mcprove init\n  mcprove init evals/ --server 'npx my-server'"
)]
pub(crate) struct Args {
    /// The folder of the suite.
    #[arg(value_name = "DIR", default_value = "evals")]
    folder: PathBuf,
    /// Replace files that are there already.
    #[arg(long)]
    overwrite: bool,
    /// Write no workflow for GitHub.
    #[arg(long)]
    no_workflow: bool,
    /// Print what was written as JSON, and nothing else, on standard output.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    touring: Touring,
}

pub(crate) fn run(mut args: Args, context: &Context) -> Result<ExitStatus, Failure> {
    if !args.touring.is_named()
        && !args.json
        && let Some(command) = Context::ask("The command that starts your server (empty for a template): ")
        && !command.is_empty()
    {
        args.touring.set_server(command);
    }
    if args.touring.is_named() { with_server(&args, context) } else { with_template(&args) }
}

fn with_template(args: &Args) -> Result<ExitStatus, Failure> {
    let file = StarterFile { name: "example.yaml".to_owned(), text: TEMPLATE.to_owned() };
    let written = starters::write_all(&args.folder, &[file], args.overwrite)?;
    refuse_to_replace(&written, &args.folder)?;
    let folder = args.folder.display();
    let next = format!("mcprove run {folder}");
    if args.json {
        print(&harmless_json(&Begun { next, ..Begun::of(&written) }.as_json(&args.folder)))?;
    } else {
        print(&format!("{}next: fill in {folder}/example.yaml, then: {next}\n", written.told(&args.folder)))?;
    }
    Ok(ExitStatus::Good)
}

fn with_server(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let (report, toured) = args.touring.tour_with_replies(Visit::Audit { rehearse: true }, context)?;
    let Some(toured) = toured.filter(|_| report.exit_status() != ExitStatus::Interrupted) else {
        return Ok(ExitStatus::Interrupted);
    };
    let server = args.touring.server()?;
    let described = Described::new(&server, args.touring.fixture());
    let files = files(&toured, &described);
    let written = starters::write_all(&args.folder, &files, args.overwrite)?;
    let written = written.without(starters::unnameable(&toured.catalog));
    refuse_to_replace(&written, &args.folder)?;
    let score = score(&report);
    let mut told = match score {
        Some(score) => format!("score: {score} % (`mcprove audit` says more)\n"),
        None => "no tool could be called\n".to_owned(),
    };
    told.push_str(&written.told(&args.folder));
    let (snapshots, captured) = capture(args, &described.written, context)?;
    told.push_str(&captured);
    if !args.no_workflow {
        let workflow =
            StarterFile { name: WORKFLOW.to_owned(), text: workflow(&args.folder, args, &described.written) };
        let done = starters::write_all(Path::new(""), &[workflow], args.overwrite)?;
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
    if args.json {
        let workflow = (!args.no_workflow).then_some(WORKFLOW);
        let begun = Begun { score, snapshots, workflow, variables, next, ..Begun::of(&written) };
        print(&harmless_json(&begun.as_json(&args.folder)))?;
    } else {
        print(&told)?;
    }
    Ok(ExitStatus::Good)
}

fn files(toured: &Toured, described: &Described<'_>) -> Vec<StarterFile> {
    let mut names = FileNames::default();
    let mut files = starters::of_tour(toured, described, &mut names);
    files.extend(starters::of_offer(&toured.catalog, described, &mut names));
    files
}

/// Stores the replies of the suite that was just written: how many, and what is told of it.
fn capture(args: &Args, server: &WrittenServer, context: &Context) -> Result<(usize, String), Failure> {
    // The files ask the environment for what the server was given here; the replies are those it gave with that.
    let suites = Suites::at(&args.folder, args.touring.fixture()).with_variables(server.variables.clone());
    let mut loaded = suites.load(None, Watched::Perhaps)?;
    args.touring.confinement().apply_to_cases(&mut loaded.cases);
    let warnings = usable(&loaded, false)?;
    let plan = plan(&loaded.cases, &PlanOptions::default());
    let manner = Manner::capturing(&plan, &loaded.secrets, warnings);
    let over = Execution::plain(args.touring.timeout()).run(&plan, manner, context)?;
    let judgement = snapshots::judge(&loaded.cases, &over.report)?;
    judgement.store()?;
    let stored = judgement.count("NEW") + judgement.count("CHANGED") + judgement.count("MATCH");
    let errors = judgement.count("ERROR");
    let replies = if stored == 1 { "1 reply".to_owned() } else { format!("{stored} replies") };
    let mut told = format!("stored {replies} in {}\n", args.folder.join(".snapshots").display());
    if errors > 0 {
        let cases = if errors == 1 { "1 case".to_owned() } else { format!("{errors} cases") };
        let _ = writeln!(told, "{cases} gave no reply; `mcprove run` says why");
    }
    Ok((stored, told))
}

/// A folder that is a suite already is not begun again.
fn refuse_to_replace(written: &Written, folder: &Path) -> Result<(), Failure> {
    if written.added.is_empty() {
        let message = format!("`{}` has these files already", folder.display());
        return Err(Failure::new(message, "name another folder, or give `--overwrite`"));
    }
    Ok(())
}

fn fixture_flag(args: &Args) -> String {
    args.touring.fixture().map_or_else(String::new, |fixture| format!(" --fixture {}", fixture.display()))
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
