//! Lists of servers, compared with the stored ones.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mcprove_engine::Catalog;
use mcprove_judge::catalog_change::{CatalogChange, Class, catalog_changes, catalog_document};
use mcprove_model::{ExitStatus, Override, ServerSpec, bounded_json};
use mcprove_report::{escape_terminal_line, to_safe_json, to_stored_json};
use mcprove_suite::load::bounded_read;
use mcprove_suite::starter::FileNames;
use serde_json::{Value, json};

use crate::atomic_write;
use crate::context::Context;
use crate::execution::Execution;
use crate::failure::Failure;
use crate::server_offer::offer_of;
use crate::snapshots::above;
use crate::stdout::print;
use crate::subject::Subject;
use crate::suites::{Suites, usable};

/// Options of a comparison of catalogs.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a wish of its own")]
pub(crate) struct CatalogDiffOptions<'a> {
    /// The suites whose folders store the catalogs, and whose servers are asked if none is named.
    pub(crate) suites: &'a Suites,
    /// The server, when one is named.
    pub(crate) subject: &'a Subject,
    /// True if the new lists are stored.
    pub(crate) update: bool,
    /// True if only what breaks callers fails.
    pub(crate) breaking_only: bool,
    /// True if a catalog that is not stored yet fails.
    pub(crate) new_fails: bool,
    /// True if standard output is for JSON.
    pub(crate) json: bool,
    /// Where servers run, and the time they may take.
    pub(crate) execution: &'a Execution,
}

/// Default time for the lists of a server.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A catalog that was compared.
struct Compared {
    server: String,
    file: PathBuf,
    is_new: bool,
    changes: Vec<CatalogChange>,
}

/// Asks each server what it offers and compares it with what is stored.
pub(crate) fn run(diff_options: &CatalogDiffOptions<'_>, context: &Context) -> Result<ExitStatus, Failure> {
    let mut compared = Vec::new();
    let timeout = diff_options.execution.timeout().unwrap_or(TIMEOUT);
    for (file, CatalogServer { server, fixture }) in servers(diff_options)? {
        let server = diff_options.execution.in_container(Override::default()).apply(&server);
        let now = ask(&server, fixture.as_deref(), timeout, context)?;
        let stored = read(&file)?;
        if diff_options.update && stored.as_ref() != Some(&now) {
            write(&file, &now)?;
        }
        compared.push(Compared {
            server: server.name,
            file,
            is_new: stored.is_none(),
            changes: stored.map(|stored| catalog_changes(&stored, &now)).unwrap_or_default(),
        });
    }
    if diff_options.json {
        print(&to_safe_json(&compared.iter().map(as_json).collect::<Value>()))?;
    } else {
        print(&compared.iter().map(|one| describe_change(one, diff_options.update)).collect::<String>())?;
    }
    let fails = |one: &Compared| {
        one.is_new && diff_options.new_fails
            || one.changes.iter().any(|change| !diff_options.breaking_only || change.class == Class::Breaking)
    };
    let is_wrong = !diff_options.update && compared.iter().any(fails);
    Ok(if is_wrong { ExitStatus::Wrong } else { ExitStatus::Good })
}

/// A server that is asked what it offers.
#[derive(Clone)]
struct CatalogServer {
    /// The server.
    pub(crate) server: ServerSpec,
    /// The folder that it gets a copy of.
    pub(crate) fixture: Option<PathBuf>,
}

/// The servers to ask, each with the file that its catalog is stored in.
fn servers(diff_options: &CatalogDiffOptions<'_>) -> Result<BTreeMap<PathBuf, CatalogServer>, Failure> {
    if diff_options.subject.is_named() {
        let folder = match diff_options.suites.first() {
            Some(path) if path.is_file() => path.parent().map(Path::to_owned).unwrap_or_default(),
            Some(path) => path.to_owned(),
            None if Path::new("evals").is_dir() => PathBuf::from("evals"),
            None => PathBuf::new(),
        };
        let asked = CatalogServer { server: diff_options.subject.spec()?, fixture: diff_options.suites.fixture() };
        return Ok([(folder.join(".snapshots/catalog.json"), asked)].into());
    }
    let loaded = diff_options.suites.load_for(diff_options.subject)?;
    usable(&loaded, false)?;
    let mut found: Vec<(PathBuf, CatalogServer)> = Vec::new();
    for case in &loaded.cases {
        let Some(server) = &case.server else { continue };
        let folder = Path::new(case.source.path()).with_file_name(".snapshots");
        let is_known =
            |(known, other): &(PathBuf, CatalogServer)| *known == folder && other.server.target == server.target;
        if !found.iter().any(is_known) {
            found.push((folder, CatalogServer { server: ServerSpec::clone(server), fixture: case.fixture.clone() }));
        }
    }
    if found.is_empty() {
        return Err(Failure::NothingSelected {
            message: "no case of the suite speaks to a server".to_owned(),
            help: "name one with `--server`".to_owned(),
        });
    }
    let mut names: BTreeMap<PathBuf, FileNames> = BTreeMap::new();
    let many = |folder: &PathBuf| found.iter().filter(|(other, _)| other == folder).count() > 1;
    let file = |folder: &PathBuf, server: &ServerSpec, names: &mut FileNames| {
        if many(folder) { format!("catalog-{}.json", names.stem(&server.name)) } else { "catalog.json".to_owned() }
    };
    let placed = found.iter().map(|(folder, asked)| {
        let names = names.entry(folder.clone()).or_default();
        (folder.join(file(folder, &asked.server, names)), asked.clone())
    });
    Ok(placed.collect())
}

fn ask(server: &ServerSpec, fixture: Option<&Path>, timeout: Duration, context: &Context) -> Result<Value, Failure> {
    let Catalog { tools, resources, templates, prompts, findings, .. } = offer_of(server, fixture, timeout, context)?;
    if let Some(finding) = findings.iter().find(|finding| finding.severity.fails()) {
        return Err(Failure::of(finding));
    }
    let mut document = catalog_document(&tools, &resources, &templates, &prompts);
    // What is stored is committed, and what is compared with it must be the same.
    crate::logins::redactor(server.secrets.iter().map(String::as_str)).json(&mut document);
    Ok(document)
}

fn describe_change(one: &Compared, update: bool) -> String {
    let mut text = String::new();
    let path = one.file.display().to_string();
    let (server, file) = (escape_terminal_line(&one.server), escape_terminal_line(&path));
    let word = if one.is_new {
        "NEW"
    } else if one.changes.is_empty() {
        "MATCH"
    } else {
        "CHANGED"
    };
    let _ = writeln!(text, "{word:<8}  {server}  ({file})");
    for change in &one.changes {
        let subject = escape_terminal_line(&change.subject);
        let _ =
            writeln!(text, "          {:<16}  {subject}: {}", change.class.word(), escape_terminal_line(&change.what));
    }
    if one.is_new || !one.changes.is_empty() {
        text.push_str(if update {
            "stored; read the file as you read code\n"
        } else {
            "`--update` stores the new lists\n"
        });
    }
    text
}

fn as_json(one: &Compared) -> Value {
    let changes = one
        .changes
        .iter()
        .map(|change| json!({"class": change.class.word(), "subject": change.subject, "what": change.what}));
    json!({
        "server": one.server,
        "file": one.file.display().to_string(),
        "status": if one.is_new { "NEW" } else if one.changes.is_empty() { "MATCH" } else { "CHANGED" },
        "changes": changes.collect::<Vec<_>>(),
    })
}

fn read(path: &Path) -> Result<Option<Value>, Failure> {
    match bounded_read::read_to_string(path) {
        Ok(text) => bounded_json::value(&text).map(Some).map_err(|error| {
            let message = format!("`{}` is not JSON: {error}", path.display());
            Failure::new(message, "fix the file, or remove it and store the catalog again with `--update`")
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            Err(Failure::new(format!("`{}` could not be read: {error}", path.display()), "look at its permissions"))
        }
    }
}

fn write(path: &Path, catalog: &Value) -> Result<(), Failure> {
    let written = atomic_write::write_within(above(path), path, to_stored_json(catalog).as_bytes());
    written.map_err(|error| {
        Failure::new(format!("`{}` could not be written: {error}", path.display()), "look at its permissions")
    })
}
