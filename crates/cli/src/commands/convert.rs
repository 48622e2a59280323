//! `mcprove convert`: assertion files as one suite file, and suites of mcptest without what mcprove does not know.

use std::path::{Path, PathBuf};

use mcprove_model::ExitStatus;
use mcprove_report::{render_findings, to_safe_json};
use mcprove_suite::convert::convert;
use mcprove_suite::convert::mcptest::{Rewritten, rewrite};
use mcprove_suite::load::LoadOptions;
use mcprove_suite::{load, suite_file};
use serde_json::json;

use crate::atomic_write;
use crate::catalog_report::counted;
use crate::context::Context;
use crate::failure::Failure;
use crate::stdout::{print, print_exactly};

/// Turn files of other tools into suite files with the same verdicts.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mcprove convert evals/ > suite.yaml\n  mcprove convert evals/ -o all.yaml\n  \
                        mcprove convert --from mcptest mcptest.yaml > mcprove.yaml\n  \
                        mcprove convert --from mcptest tests/ --write")]
pub(crate) struct Args {
    /// Folders or files with assertions, or suites of mcptest.
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// The tool that the files were written for.
    #[arg(long, value_name = "TOOL", value_enum, default_value_t = Tool::McpAssert)]
    from: Tool,
    /// With `--from mcptest`: change the files in place.
    #[arg(long, conflicts_with = "output")]
    write: bool,
    /// Write to this file, which must not exist, instead of printing.
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Print the result as JSON, and nothing else, on standard output.
    #[arg(long)]
    json: bool,
}

/// A tool whose files are converted.
#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
enum Tool {
    /// Assertion files: one test per file.
    McpAssert,
    /// Suite files: many tests per file.
    Mcptest,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    if args.from == Tool::Mcptest {
        return run_mcptest(args, context);
    }
    if args.write {
        let help = "add `--from mcptest`, or write another file with `--output`";
        return Err(Failure::new("`--write` is for suites of mcptest", help));
    }
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
        print(&to_safe_json(&told))?;
        return Ok(ExitStatus::Good);
    }
    match &args.output {
        Some(path) => context.write_stderr(&format!("{} with {tests}: written\n", path.display())),
        None => print_exactly(&converted.text)?,
    }
    if let Some(note) = note {
        context.write_stderr(&format!("note: {note}\n"));
    }
    Ok(ExitStatus::Good)
}

/// Rewrites suites of mcptest and lists what was left out; a file with other mistakes is not written.
fn run_mcptest(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let (files, mut findings) = load::parse(&args.paths);
    let suites: Vec<_> = files.iter().filter(|file| file.documents.iter().any(suite_file::is_suite)).collect();
    findings.extend(suites.iter().flat_map(|file| file.findings.iter().cloned()));
    if findings.iter().any(|finding| finding.severity.fails()) {
        return Err(Failure::Suite(findings));
    }
    if suites.is_empty() {
        return Err(Failure::NothingSelected {
            message: "there is no suite to convert".to_owned(),
            help: "name a suite file of mcptest, or a folder that holds some".to_owned(),
        });
    }
    if suites.len() > 1 && !args.write {
        let message = format!("there are {} suites, and one can be printed", suites.len());
        return Err(Failure::new(message, "add `--write` to change them in place, or name one file"));
    }
    let names = Context::variable_names();
    let mut rewritten = Vec::new();
    for file in suites {
        let path = file.source.path();
        let options = LoadOptions {
            environment: &|name| Context::variable(name),
            known_variables: &names,
            fixture: None,
            server: None,
            ci: false,
        };
        let check = |text: &str| load::load_text(Path::new(path), text.to_owned(), &options).findings;
        rewritten.push((path, rewrite(path, file.source.text(), check)));
    }
    let mut errors = Vec::new();
    for (path, result) in &rewritten {
        errors.extend(result.errors.iter().cloned());
        if !result.errors.is_empty() {
            continue;
        }
        match &args.output {
            Some(output) => write(output, &result.text)?,
            None if args.write => atomic_write::write(Path::new(*path), result.text.as_bytes()).map_err(|error| {
                Failure::new(format!("`{path}` could not be written: {error}"), "check its permissions")
            })?,
            None if !args.json => print_exactly(&result.text)?,
            None => {}
        }
    }
    tell_rewritten(args, &rewritten, context)?;
    if errors.is_empty() { Ok(ExitStatus::Good) } else { Err(Failure::Suite(errors)) }
}

fn tell_rewritten(args: &Args, rewritten: &[(&str, Rewritten)], context: &Context) -> Result<(), Failure> {
    let prints = args.output.is_none() && !args.write;
    if args.json {
        let file = |(path, result): &(&str, Rewritten)| {
            json!({
                "file": path,
                "is_converted": result.errors.is_empty(),
                "left_out": result.left_out,
                "rewritten": result.rewritten,
                "suite": (prints && result.errors.is_empty()).then_some(&result.text),
            })
        };
        let output = args.output.as_ref().map(|path| path.display().to_string());
        let files: Vec<_> = rewritten.iter().map(file).collect();
        print(&to_safe_json(&json!({"output": output, "files": files})))?;
        return Ok(());
    }
    for (path, result) in rewritten {
        context.write_stderr(&render_findings(&result.left_out, &context.style()));
        let left_out = result.left_out.len();
        let outcome = if result.errors.is_empty() { "converted" } else { "not converted" };
        let values = counted(result.rewritten, "value");
        context
            .write_stderr(&format!("{path}: {outcome}, {values} rewritten, {} left out\n", counted(left_out, "key")));
    }
    Ok(())
}

/// Warning if the suite will not find its fixture.
const NO_FIXTURE: &str = "tests use {{fixture}}, and `fixtures/` is not next to the suite; run it with `--fixture DIR`";

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    if path.exists() {
        let message = format!("`{}` is there already", path.display());
        return Err(Failure::new(message, "name another file, or remove this one"));
    }
    atomic_write::write(path, text.as_bytes()).map_err(|error| {
        let message = format!("`{}` could not be written: {error}", path.display());
        Failure::new(message, "give `--output` a path in an existing folder")
    })
}

/// True if the suite finds its fixture without a path; false if the suite is printed.
fn finds_fixture(output: Option<&Path>) -> bool {
    output.and_then(Path::parent).is_none_or(|folder| folder.join("fixtures").is_dir())
}
