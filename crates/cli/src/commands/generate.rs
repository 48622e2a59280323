//! `mcprove generate`: an assertion file for everything that a server offers, to be filled in.

use std::path::PathBuf;
use std::time::Duration;

use mcprove_engine::{Consent, tool_name};
use mcprove_model::{ExitStatus, Finding, Severity};
use mcprove_report::{render_findings, to_safe_json};
use mcprove_suite::duration;
use mcprove_suite::starter::FileNames;

use crate::context::Context;
use crate::failure::Failure;
use crate::scan::no_such_tool;
use crate::server_offer::offer_of;
use crate::starter_files::{self, Described, NewSuiteReport};
use crate::stdout::print;
use crate::subject::Subject;

/// Write an assertion file for each tool, resource and prompt of a server; nothing is called.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The tests are drafts: no tool is called, and some will need other arguments. Files that are there already are kept. `mcprove audit --output DIR` also calls the tools, and writes down what they answer.\n\n\
                        Examples:\n  mcprove generate --server 'npx -y my-server' --output evals/"
)]
pub(crate) struct Args {
    /// The folder to write to; created if missing.
    #[arg(short, long, value_name = "DIR", default_value = "evals")]
    output: PathBuf,
    /// Replace files that are there already.
    #[arg(long)]
    overwrite: bool,
    /// Write the files of this tool only; may be repeated.
    #[arg(long, value_name = "NAME")]
    tool: Vec<String>,
    /// Print what was written as JSON, and nothing else, on standard output.
    #[arg(long)]
    json: bool,
    /// Also let the files of tools run that write or look like it.
    #[arg(long)]
    include_writes: bool,
    /// A folder that the server gets a copy of: `{{fixture}}` in its arguments.
    #[arg(long, value_name = "DIR")]
    fixture: Option<PathBuf>,
    /// Time limit for the server to start and to list what it has.
    #[arg(long, value_name = "DURATION", default_value = "15s", value_parser = duration::parse)]
    timeout: Duration,
    #[command(flatten)]
    subject: Subject,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let server = args.subject.spec()?;
    let mut catalog = offer_of(&server, args.fixture.as_deref(), args.timeout, context)?;
    let listed: Vec<String> = catalog.tools.iter().map(|tool| tool_name(tool).to_owned()).collect();
    if let Some(unknown) = args.tool.iter().find(|name| !listed.contains(name)) {
        return Err(no_such_tool(Some(unknown), &listed));
    }
    catalog.tools.retain(|tool| args.tool.is_empty() || args.tool.iter().any(|name| name == tool_name(tool)));
    let consent = if args.include_writes { Consent::IncludeWrites } else { Consent::Cautious };
    let mut names = FileNames::default();
    let described = Described::new(&server, args.fixture.as_deref());
    let mut files = starter_files::of_tools(&catalog, &described, consent, &mut names);
    if args.tool.is_empty() {
        files.extend(starter_files::of_offer(&catalog, &described, &|_| None, &mut names));
    }
    if files.is_empty() {
        if let Some(failed) = catalog.findings.iter().find(|finding| finding.severity >= Severity::Error) {
            return Err(Failure::of(failed));
        }
        return Err(Failure::NothingSelected {
            message: "the server offers no tools, resources or prompts".to_owned(),
            help: "look at what it lists".to_owned(),
        });
    }
    let written = starter_files::write_all(&args.output, &starter_files::texts(&files), args.overwrite)?
        .without(starter_files::unnameable(&catalog));
    if args.json {
        let fixture =
            args.fixture.as_ref().map(|folder| format!(" --fixture {}", folder.display())).unwrap_or_default();
        let next = format!("mcprove run {}{fixture}", args.output.display());
        let begun = NewSuiteReport { variables: described.written.names(), next, ..NewSuiteReport::of(&written) };
        print(&to_safe_json(&begun.as_json(&args.output)))?;
    } else {
        print(&written.files_summary(&args.output))?;
    }
    // If a list was cut, only the received part has files; the user must know.
    let failed: Vec<Finding> = catalog.findings.into_iter().filter(|finding| finding.severity.fails()).collect();
    context.write_stderr(&render_findings(&failed, &context.style()));
    Ok(if failed.is_empty() { ExitStatus::Good } else { ExitStatus::Wrong })
}
