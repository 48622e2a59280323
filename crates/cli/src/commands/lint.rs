//! `mcprove lint`: what is doubtful about suites that load.

use std::fs;
use std::path::{Path, PathBuf};

use mcprove_model::{ExitStatus, Finding, Revision, SourceFile, nearest};
use mcprove_report::render_findings;
use mcprove_suite::load::{self, Loaded, Parsed};
use mcprove_suite::{lint, suite_file, yaml};

use crate::atomic_write;
use crate::catalog_report::counted;
use crate::context::Context;
use crate::failure::Failure;
use crate::finding_report::{FindingOutputs, FindingSet};
use crate::fixes;
use crate::stdout::print_exactly;
use crate::suites::{default_paths, load_as_written};

/// Find mistakes in suites, such as checks that cannot fail.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        mcprove lint evals/\n  mcprove lint evals/ --target 2025-11-25\n  \
                        mcprove lint suite.yaml --fix --write\n\nRules: `mcprove explain` lists them.")]
pub(crate) struct Args {
    /// Suite files or folders [default: mcprove.yaml, mcptest.yaml or evals/].
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The protocol revision that servers are to speak.
    #[arg(long, value_name = "REVISION", default_value_t = Revision::NEWEST, value_parser = revision)]
    target: Revision,
    /// Print the file with all possible fixes applied; the remaining findings go to standard error.
    #[arg(long)]
    fix: bool,
    /// Rewrite the files instead of printing.
    #[arg(long, requires = "fix")]
    write: bool,
    #[command(flatten)]
    outputs: FindingOutputs,
}

fn revision(text: &str) -> Result<Revision, String> {
    let known = Revision::ALL.map(Revision::as_str);
    Revision::parse(text).ok_or_else(|| match nearest(text, known) {
        Some(near) => format!("no such revision; did you mean {near}?"),
        None => format!("give one of {}", known.join(", ")),
    })
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let paths = if args.paths.is_empty() { vec![default_paths()?] } else { args.paths.clone() };
    let (mut files, mut problems) = load::parse(&paths);
    files.retain(|file| file.documents.is_empty() || !file.documents.iter().all(suite_file::is_manifest));
    problems.extend(files.iter().flat_map(|file| file.findings.iter().cloned()));
    if problems.iter().any(|finding| finding.severity.fails()) {
        return Err(Failure::Suite(problems));
    }
    if files.is_empty() {
        return Err(Failure::NothingSelected {
            message: "there is no suite to look at".to_owned(),
            help: "name suite files, or folders that hold some".to_owned(),
        });
    }
    let prints = args.fix && !args.write;
    if prints && files.len() > 1 {
        let help = "add `--write`, or name one file";
        return Err(Failure::new("`--fix` prints one file, and there are several", help));
    }
    if prints && (args.outputs.json || args.outputs.github) {
        let message = "`--fix` prints the file on standard output, which `--json` and `--github` want too";
        return Err(Failure::new(message, "add `--write`, or leave one of them out"));
    }
    let mut findings = Vec::new();
    for file in &files {
        let found = lint::lint(&file.source, &file.documents, args.target);
        findings.extend(if args.fix { apply_fixes(file, found, args, context)? } else { found });
    }
    // What loading says of checks that cannot fail is a finding as much as what the rules find.
    let loaded = load_as_written(&paths);
    findings.extend(loaded.findings.iter().filter(|finding| says_nothing_is_asked(finding)).cloned());
    if prints {
        context.write_stderr(&render_findings(&findings, &context.style()));
    } else {
        let tests = files.iter().map(|file| lint::count_tests(&file.documents)).sum();
        let found = FindingSet { findings: &findings, files: files.len(), tests, called: "finding", secrets: &[] };
        args.outputs.print(&found, context)?;
    }
    tell_what_does_not_load(&loaded, context);
    let is_doubtful = findings.iter().any(|finding| finding.fails(true));
    Ok(if is_doubtful { ExitStatus::Wrong } else { ExitStatus::Good })
}

/// True for a warning about a check that accepts everything; `mcprove validate` reports errors.
fn says_nothing_is_asked(finding: &Finding) -> bool {
    matches!(finding.rule.as_ref(), "nothing-asked" | "unknown-keyword") && !finding.severity.fails()
}

/// A file that cannot be run may have no lint findings; warn, so that the two are not confused.
fn tell_what_does_not_load(loaded: &Loaded, context: &Context) {
    let problems = loaded.findings.iter().filter(|finding| finding.severity.fails()).count();
    if problems > 0 {
        let counted = counted(problems, "problem");
        context
            .write_stderr(&format!("warning: {counted} may keep this from running; `mcprove validate` lists them\n"));
    }
}

/// Applies the fixes to a file, and returns the remaining findings.
fn apply_fixes(file: &Parsed, found: Vec<Finding>, args: &Args, context: &Context) -> Result<Vec<Finding>, Failure> {
    let path = file.source.path();
    let (text, mended) = fixes::mended(file.source.text(), &found);
    if !args.write {
        print_exactly(&text)?;
        context.write_stderr(&format!(
            "{path}: fixed {} in the output; the file is unchanged\n",
            counted(mended, "finding")
        ));
        return Ok(found.into_iter().filter(|finding| finding.fix.is_none()).collect());
    }
    if mended == 0 {
        return Ok(found);
    }
    let fail = |error: std::io::Error| {
        Failure::new(format!("`{path}` could not be written: {error}"), "the file is as it was; leave out `--write`")
    };
    // The file may have been saved since it was read.
    if fs::read(path).map_err(fail)? != file.source.text().as_bytes() {
        return Err(Failure::new(format!("`{path}` changed while it was read"), "run it again"));
    }
    atomic_write::write(Path::new(path), text.as_bytes()).map_err(fail)?;
    context.write_stderr(&format!("{path}: fixed {}\n", counted(mended, "finding")));
    let source = SourceFile::new(path.to_owned(), text);
    let (documents, _) = yaml::parse(&source);
    Ok(lint::lint(&source, &documents, args.target))
}
