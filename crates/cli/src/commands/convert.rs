//! `mcprove convert`: a folder of assertion files as one suite file with the same verdicts.

use std::path::{Path, PathBuf};

use mcprove_model::ExitStatus;
use mcprove_report::harmless_json;
use mcprove_suite::convert::convert;
use mcprove_suite::{load, suite_file};
use serde_json::json;

use crate::catalog_report::counted;
use crate::context::Context;
use crate::failure::Failure;
use crate::stdout::{print, print_exactly};
use crate::whole_file;

/// Turn assertion files into one suite file with the same verdicts.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mcprove convert evals/ > suite.yaml\n  mcprove convert evals/ -o suite.yaml")]
pub(crate) struct Args {
    /// Folders or files with assertions.
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// Write to this file, which must not exist, instead of printing.
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Print the result as JSON, and nothing else, on standard output.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let waiting = context.waiting("reading assertion files");
    let (mut files, mut findings) = load::parse(&args.paths);
    // The folder of suites may also hold the manifest of a mock.
    files.retain(|file| file.documents.is_empty() || !file.documents.iter().all(suite_file::is_manifest));
    findings.extend(files.iter().flat_map(|file| file.findings.iter().cloned()));
    let converted = convert(&files);
    findings.extend(converted.findings);
    drop(waiting);
    if findings.iter().any(|finding| finding.severity.fails()) {
        return Err(Failure::Suite(findings));
    }
    if converted.tests == 0 {
        return Err(Failure::NothingSelected {
            message: "there is no assertion to convert".to_owned(),
            help: "name a folder that holds assertion files".to_owned(),
        });
    }
    let tests = counted(converted.tests, "test");
    if let Some(path) = &args.output {
        write(path, &converted.text)?;
    }
    let lacks_fixture = converted.text.contains("{{fixture}}") && !finds_fixture(args.output.as_deref());
    let note = lacks_fixture.then_some(NO_FIXTURE);
    if args.json {
        let suite = args.output.is_none().then_some(&converted.text);
        let output = args.output.as_ref().map(|path| path.display().to_string());
        let notes: Vec<&str> = note.into_iter().collect();
        let told = json!({"tests": converted.tests, "output": output, "suite": suite, "notes": notes});
        print(&harmless_json(&told))?;
        return Ok(ExitStatus::Good);
    }
    match &args.output {
        Some(path) => context.complain(&format!("{} with {tests}: written\n", path.display())),
        None => print_exactly(&converted.text)?,
    }
    if let Some(note) = note {
        context.complain(&format!("note: {note}\n"));
    }
    Ok(ExitStatus::Good)
}

/// Warning if the suite will not find its fixture.
const NO_FIXTURE: &str = "tests use {{fixture}}, and `fixtures/` is not next to the suite; run it with `--fixture DIR`";

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    if path.exists() {
        let message = format!("`{}` is there already", path.display());
        return Err(Failure::new(message, "name another file, or remove this one"));
    }
    whole_file::write(path, text.as_bytes()).map_err(|error| {
        let message = format!("`{}` could not be written: {error}", path.display());
        Failure::new(message, "give `--output` a path in an existing folder")
    })
}

/// True if the suite finds its fixture without a path; false if the suite is printed.
fn finds_fixture(output: Option<&Path>) -> bool {
    output.and_then(Path::parent).is_none_or(|folder| folder.join("fixtures").is_dir())
}
