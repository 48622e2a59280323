//! `mcprove schema-lint`: what is wrong with the input schemas a server lists, and the mechanical fix.

use std::fmt::Write as _;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use mcprove_judge::{Catalog, Group, Ignores, Selection, SelectionOptions, TightenOptions, Tightened, lint};
use mcprove_model::{Diagnostics, ExitStatus, ServerSpec, SourceFile, escape_line};
use mcprove_report::{Verbosity, render_findings};
use mcprove_suite::load::bounded_read;

use crate::atomic_write;
use crate::catalog_report::{CatalogReport, CatalogReportOptions, Counts, Looked, Printed, Stream, counted};
use crate::context::Context;
use crate::failure::Failure;
use crate::logins::redactor;
use crate::server_offer::offer_of;
use crate::stdout::print_exactly;
use crate::subject::Subject;

/// Time a server may take to start and to list its tools.
const TIMEOUT: Duration = Duration::from_secs(15);

/// Name of standard input in findings.
const STANDARD_INPUT: &str = "<stdin>";

/// Lint the input schemas that a server lists.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[command(
    after_help = "Examples:\n  mcprove schema-lint tools.json\n  mcprove schema-lint tools.json --fix --write\n  \
                        mcprove schema-lint tools.json --all --allow POR,USE-004\n  \
                        mcprove schema-lint recorded.ndjson --json\n\nRules: `mcprove explain` lists them."
)]
pub(crate) struct Args {
    /// What `tools/list` answered, or an event log that has it (of `mcprove intercept`); `-` is standard input.
    #[arg(value_name = "SNAPSHOT")]
    snapshots: Vec<PathBuf>,
    #[command(flatten)]
    subject: Subject,
    /// Print the catalog with closed objects and full `required` lists; findings go to standard error.
    #[arg(long)]
    fix: bool,
    /// Rewrite the files instead of printing.
    #[arg(long, requires = "fix")]
    write: bool,
    /// Keep `required` lists that are not empty.
    #[arg(long, requires = "fix")]
    keep_optional: bool,
    /// Apply every rule, not only the strict ones (SCH).
    #[arg(long, conflicts_with = "select")]
    all: bool,
    /// Apply these rules or groups (SCH, USE, VAL, POR) instead.
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    select: Vec<String>,
    /// Do not apply these rules or groups.
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    allow: Vec<String>,
    /// A YAML file with `ignore:`, a list of findings to ignore.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The lowest severity that fails.
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t = FailOn::Warning)]
    fail_on: FailOn,
    /// Print the findings as JSON, and nothing else, on standard output.
    #[arg(long)]
    json: bool,
    /// Print the findings as GitHub annotations.
    #[arg(long, conflicts_with = "json")]
    github: bool,
    /// Write the findings as SARIF.
    #[arg(long, value_name = "PATH")]
    sarif: Option<PathBuf>,
}

/// The least severity that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Critical findings and errors.
    Critical,
    /// Warnings, too.
    Warning,
    /// Nothing.
    Never,
}

impl FailOn {
    fn fails(self, counts: Counts) -> bool {
        match self {
            Self::Critical => counts.critical + counts.errors > 0,
            Self::Warning => counts.critical + counts.errors + counts.warnings > 0,
            Self::Never => false,
        }
    }
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    check(args)?;
    let mut catalogs = Vec::new();
    for path in &args.snapshots {
        catalogs.push(Snapshot { path, catalog: read(path)? });
    }
    let live = Path::new(LIVE);
    if args.snapshots.is_empty() {
        catalogs.push(Snapshot { path: live, catalog: ask(&args.subject, context)? });
    }
    judge(&catalogs, args, context)
}

/// The path of the catalog of a server that was asked.
const LIVE: &str = "";

/// A catalog and the file it came from.
struct Snapshot<'a> {
    path: &'a Path,
    catalog: Catalog,
}

impl Snapshot<'_> {
    fn name(&self) -> String {
        name(self.path)
    }
}

/// Judges catalogs from any source, fixes them if asked to, and reports the remaining findings.
fn judge(snapshots: &[Snapshot<'_>], args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let options = SelectionOptions { all: args.all, select: &args.select, allow: &args.allow };
    let rules = Selection::new(options).map_err(|message| Failure::new(message, "rules have ids, names and groups"))?;
    if rules.iter().len() == 0 {
        return Err(Failure::NothingSelected {
            message: "no rule is left to apply".to_owned(),
            help: "`--allow` takes rules away from those of `--select` or `--all`".to_owned(),
        });
    }
    let config = args.config.as_deref().map(Config::read).transpose()?;
    let server = if args.snapshots.is_empty() { args.subject.spec()? } else { ServerSpec::default() };
    let secrets = redactor(server.secrets.iter().map(String::as_str));
    let mut report = CatalogReport::new(report_options(args, context), secrets);
    let only_schemas = rules.iter().all(|rule| rule.group() == Group::Strictness);
    let mut looked = Looked { only_schemas, ..Looked::default() };
    let mut empty = Vec::new();
    for snapshot in snapshots {
        let tools = snapshot.catalog.tool_count();
        if tools == 0 {
            let is_live = snapshot.path == Path::new(LIVE);
            empty.push(if is_live { format!("the server `{}`", server.name) } else { snapshot.name() });
        }
        looked.tools += tools;
        looked.without_schema += snapshot.catalog.tools_without_schema();
        let mended = if args.fix { Some(fix_catalog(snapshot, args, context)?) } else { None };
        // A file that was fixed is judged in its new form; otherwise the remaining findings have their old places.
        let after =
            mended.as_ref().filter(|mended| args.write && mended.changed > 0).map(|mended| reread(snapshot, mended));
        lint(after.as_ref().unwrap_or(&snapshot.catalog), &rules, &mut |fault| {
            if config.as_ref().is_some_and(|config| config.ignores.cover(&fault)) {
                report.ignore();
            } else if !args.fix || !fault.fixable {
                report.add(&fault);
            }
        });
    }
    if let Some(config) = &config {
        config.tell_idle(context);
    }
    let counts = report.counts();
    let sarif = report.finish(looked).map_err(|error| Failure::Other {
        message: format!("the findings could not be printed: {error}"),
        help: None,
    })?;
    if let (Some(path), Some(text)) = (&args.sarif, sarif) {
        atomic_write::write_report(path, text.as_bytes()).map_err(|error| {
            let message = format!("`{}` could not be written: {error}", path.display());
            Failure::new(message, "give `--sarif` a path in an existing folder")
        })?;
    }
    if !empty.is_empty() {
        context.write_stderr(&format!("error: there are no tools in {}: nothing was checked\n", empty.join(", ")));
    }
    let unchecked = counts.all() == 0 && looked.is_nothing();
    if unchecked && empty.is_empty() {
        context.write_stderr("error: no tool has an input schema: nothing was checked\n");
    }
    Ok(if args.fail_on.fails(counts) {
        ExitStatus::Wrong
    } else if unchecked || !empty.is_empty() {
        ExitStatus::NothingSelected
    } else {
        ExitStatus::Good
    })
}

/// Checks for conflicts of flags that the argument parser cannot express.
fn check(args: &Args) -> Result<(), Failure> {
    let prints = args.fix && !args.write;
    if args.snapshots.is_empty() && !args.subject.is_named() {
        return Err(Failure::new(
            "neither a file nor a server was named",
            "name a file that holds a list of tools, or give `--server \"CMD ARGS\"`",
        ));
    }
    if args.snapshots.is_empty() && args.fix {
        return Err(Failure::new(
            "`--fix` changes files, and a server was named",
            "save its `tools/list` to a file first",
        ));
    }
    if prints && args.snapshots.len() > 1 {
        return Err(Failure::new(
            "`--fix` prints one catalog, and several files were named",
            "add `--write`, or name one file",
        ));
    }
    if prints && (args.json || args.github) {
        return Err(Failure::new(
            "`--fix` prints the catalog on standard output, which `--json` and `--github` want too",
            "add `--write`, or leave one of them out",
        ));
    }
    if args.write && args.snapshots.iter().any(|path| path == Path::new("-")) {
        return Err(Failure::new("standard input cannot be rewritten", "leave out `--write`, and redirect the output"));
    }
    let names: Vec<&PathBuf> = args.snapshots.iter().filter(|path| *path == Path::new("-")).collect();
    if names.len() > 1 {
        return Err(Failure::new("`-` is named twice, and standard input can be read once", "name it once"));
    }
    Ok(())
}

fn report_options(args: &Args, context: &Context) -> CatalogReportOptions {
    let is_verbose = context.verbosity == Verbosity::Verbose;
    let chooses = args.all || args.fix || !args.select.is_empty() || !args.allow.is_empty();
    let printed = match (args.json, args.github) {
        (true, _) => Printed::Json,
        (false, true) => Printed::Annotations,
        (false, false) if chooses || is_verbose => Printed::Lines,
        (false, false) => Printed::Rules,
    };
    CatalogReportOptions {
        printed,
        stream: if args.fix && !args.write { Stream::Error } else { Stream::Output },
        style: context.style(),
        helpful: is_verbose,
        sarif: args.sarif.is_some(),
        started_unix_ms: Context::unix_ms(),
    }
}

/// Asks a server for its tools.
fn ask(subject: &Subject, context: &Context) -> Result<Catalog, Failure> {
    let server = subject.spec()?;
    let catalog = offer_of(&server, None, TIMEOUT, context)?;
    if let Some(finding) = catalog.findings.iter().find(|finding| finding.severity.fails()) {
        return Err(Failure::of(finding));
    }
    Ok(Catalog::of_server(&server.name, &catalog.tools))
}

fn read(path: &Path) -> Result<Catalog, Failure> {
    let content = if path == Path::new("-") {
        let mut content = Vec::new();
        io::stdin().read_to_end(&mut content).map(|_| content)
    } else {
        bounded_read::read(path)
    };
    let content = content.map_err(|error| {
        Failure::new(
            format!("`{}` could not be read: {error}", path.display()),
            "name a file that holds a list of tools",
        )
    })?;
    Catalog::read(&name(path), content).map_err(|error| Failure::new(error.to_string(), error.help))
}

fn name(path: &Path) -> String {
    if path == Path::new("-") { STANDARD_INPUT.to_owned() } else { path.display().to_string() }
}

/// Prints or writes the fixed catalog, and lists the parameters that became required.
fn fix_catalog(snapshot: &Snapshot<'_>, args: &Args, context: &Context) -> Result<Tightened, Failure> {
    let options = TightenOptions { keep_optional: args.keep_optional };
    let mended = snapshot.catalog.tighten(options).ok_or_else(|| {
        Failure::new(
            format!("{} is an event log, which is a record and is not changed", snapshot.name()),
            "save the result of `tools/list` to a separate file, and fix that",
        )
    })?;
    if !args.write {
        print_exactly(&mended.text)?;
    } else if mended.changed > 0 {
        let help = "the file is as it was; leave out `--write` to print the catalog instead";
        write(snapshot.path, &mended.text, help)?;
    }
    context.write_stderr(&fix_summary(snapshot, &mended, args.write));
    Ok(mended)
}

fn fix_summary(snapshot: &Snapshot<'_>, mended: &Tightened, written: bool) -> String {
    let mut text = String::new();
    for required in &mended.required {
        let list = |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let (tool, names) = (&required.tool, list(&required.names));
        let mut line = format!("now required in tool `{tool}`: {names} (at {})", required.pointer);
        if !required.kept.is_empty() {
            let _ = write!(line, "; {} stays optional, because the object holds itself", list(&required.kept));
        }
        let _ = writeln!(text, "{}", escape_line(&line));
    }
    let schemas = counted(mended.changed, "schema");
    text + &match (mended.changed, written) {
        (0, _) => format!("{}: nothing to fix\n", snapshot.name()),
        (_, true) => format!("{}: fixed {schemas} in place\n", snapshot.name()),
        (_, false) => format!("{}: fixed {schemas} in the output; the file is unchanged\n", snapshot.name()),
    }
}

/// The catalog as it was just written.
fn reread(snapshot: &Snapshot<'_>, mended: &Tightened) -> Catalog {
    let text = mended.text.clone().into_bytes();
    Catalog::read(&snapshot.name(), text).expect("edits of a catalog leave a catalog")
}

fn write(path: &Path, text: &str, help: &str) -> Result<(), Failure> {
    atomic_write::write(path, text.as_bytes())
        .map_err(|error| Failure::new(format!("`{}` could not be written: {error}", path.display()), help))
}

/// Findings that a project ignores.
struct Config {
    source: SourceFile,
    ignores: Ignores,
}

impl Config {
    fn read(path: &Path) -> Result<Self, Failure> {
        let text = bounded_read::read_to_string(path).map_err(|error| {
            Failure::new(format!("`{}` could not be read: {error}", path.display()), "give `--config` a YAML file")
        })?;
        let source = SourceFile::new(path.display().to_string(), text);
        let (documents, findings) = mcprove_suite::yaml::parse(&source);
        let mut found = Diagnostics::new(&source);
        for finding in findings {
            found.add(finding);
        }
        let ignores = documents.first().map(|file| Ignores::decode(file, &mut found)).unwrap_or_default();
        let findings = found.into_findings();
        if findings.iter().any(|finding| finding.fails(true)) {
            return Err(Failure::Config(findings));
        }
        Ok(Self { source, ignores })
    }

    /// Reports entries that ignore nothing any more: they would hide the next finding.
    fn tell_idle(&self, context: &Context) {
        let mut found = Diagnostics::new(&self.source);
        self.ignores.report_idle(&mut found);
        context.write_stderr(&render_findings(&found.into_findings(), &context.style()));
    }
}
