//! Files and folders → cases and findings. The one place of this crate that reads files.

pub mod bounded_read;
mod case_table;
mod folder;
mod imports;
mod inexact_numbers;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcprove_model::{Case, Diagnostics, Finding, Kind, Node, Place, Redactor, Severity, SourceFile, Span};

use crate::assertion_file::{self, Document};
use crate::context::Context;
use crate::environment::Environment;
pub use crate::server::ServerOverride;
pub use crate::suite_file::PlayedFile;
use crate::{suite_file, yaml};
use folder::SuiteFile;

/// Options for loading files.
pub struct LoadOptions<'a> {
    /// The value of an environment variable.
    pub environment: &'a dyn Fn(&str) -> Option<String>,
    /// The names of the environment variables that are set, for "did you mean".
    pub known_variables: &'a [String],
    /// The folder `{{fixture}}` stands for; without it, a `fixtures/` folder next to the suite is taken.
    pub fixture: Option<PathBuf>,
    /// A server that takes the place of those in the files.
    pub server: Option<ServerOverride>,
    /// True in an unattended run, where a focused test is a mistake.
    pub ci: bool,
}

/// The loaded files.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The cases, in file order.
    pub cases: Vec<Arc<Case>>,
    /// Findings about the files, in file order.
    pub findings: Vec<Finding>,
    /// Number of files read.
    pub files: usize,
    /// Number of tests found in them, including those that cannot be run or are left out.
    pub tests: usize,
    /// Texts that are not to be shown: those under `redact`, and the secrets of suite files, which their servers know too.
    pub secrets: Vec<String>,
    /// The files that suites play as servers.
    pub played: Vec<PlayedFile>,
}

/// A file with its documents, before anything is decoded.
#[derive(Debug)]
pub struct Parsed {
    /// The file.
    pub source: Arc<SourceFile>,
    /// Its documents.
    pub documents: Vec<Node>,
    /// Findings about its text.
    pub findings: Vec<Finding>,
}

/// Reads and parses files and folders without decoding them; what cannot be read is a finding.
pub fn parse(paths: &[PathBuf]) -> (Vec<Parsed>, Vec<Finding>) {
    let found = folder::find(paths, None);
    let mut findings = found.findings;
    let mut files = Vec::new();
    for file in &found.files {
        match read(&file.path) {
            Ok(text) => {
                let mut parsed = parse_text(&file.path, text);
                if file.is_outside {
                    parsed.findings.iter_mut().for_each(withhold);
                }
                files.push(parsed);
            }
            Err(finding) => findings.push(*finding),
        }
    }
    (files, findings)
}

/// Loads a text as if it were the file at a path; what lies next to it is read.
pub fn load_text(path: &Path, text: String, options: &LoadOptions<'_>) -> Loaded {
    let mut loading = Loading::default();
    let file =
        SuiteFile { path: path.to_owned(), fixture: options.fixture.clone(), is_named: false, is_outside: false };
    loading.file(&file, text, options);
    loading.loaded
}

/// True for a file that holds settings of another tool and no tests.
pub fn is_settings_file(path: &Path) -> bool {
    let Ok(text) = read(path) else { return false };
    let documents = parse_text(path, text).documents;
    documents.len() == 1 && documents.iter().all(suite_file::is_settings)
}

/// Loads files and folders; whatever is wrong with any of them is found in one go.
pub fn load(paths: &[PathBuf], options: &LoadOptions<'_>) -> Loaded {
    let found = folder::find(paths, options.fixture.as_deref());
    let mut loading =
        Loading { loaded: Loaded { findings: found.findings, ..Loaded::default() }, ..Loading::default() };
    let texts: Vec<_> = found.files.iter().map(|file| (file, read(&file.path))).collect();
    // A file that another one imports is a part of that one.
    let imported: HashSet<PathBuf> =
        texts.iter().filter_map(|(file, text)| Some(imported_by(&file.path, text.as_ref().ok()?))).flatten().collect();
    for (file, text) in texts {
        let is_imported = !imported.is_empty() && file.path.canonicalize().is_ok_and(|path| imported.contains(&path));
        match text {
            Ok(_) if is_imported => {}
            Ok(text) => loading.file(file, text, options),
            Err(finding) => {
                loading.loaded.files += 1;
                loading.loaded.findings.push(*finding);
            }
        }
    }
    loading.focus(options.ci);
    loading.loaded
}

#[derive(Default)]
struct Loading {
    loaded: Loaded,
    names: Names,
    /// The cases that shut out all others, by their index, each with the place that says so.
    focused: Vec<(usize, Finding)>,
}

impl Loading {
    fn file(&mut self, file: &SuiteFile, text: String, options: &LoadOptions<'_>) {
        let Parsed { source, documents, mut findings } = parse_text(&file.path, text);
        let known = self.loaded.secrets.len();
        if let Some(large) = documents.iter().find_map(large_list) {
            self.loaded.files += 1;
            let message = format!("a list of more than {MOST_TESTS} items: as tests, they would take too much memory");
            let finding = Finding::error("too-large", message).at(source.place(large.span));
            return self.loaded.findings.push(finding.help("divide it into several files, and run them one by one"));
        }
        if documents.len() == 1 && documents.iter().all(suite_file::is_manifest) {
            if file.is_named {
                let message = format!("`{}` is the manifest of a mock, not a suite", source.path());
                let finding = Finding::error("not-a-suite", message);
                self.loaded.findings.push(finding.help("`mcprove mock` plays it; name it under `mock:` in a suite"));
            }
            return;
        }
        if documents.len() == 1 && documents.iter().all(suite_file::is_settings) {
            let message =
                format!("`{}` holds settings or rules of mcptest and no tests; it was skipped", source.path());
            let note = Finding::note("settings-file", message).at(source.place(Span::default()));
            return self.loaded.findings.push(note.help("the same settings are flags of `mcprove run`"));
        }
        self.loaded.files += 1;
        if documents.is_empty() && findings.is_empty() {
            let place = source.place(Span::default());
            let finding = Finding::error("empty-document", "the file is empty").at(place);
            findings.push(finding.help("write an assertion, or remove it"));
        }
        let is_sound = findings.iter().all(|finding| finding.severity < Severity::Error);
        let of = documents.len();
        let mut room = assertion_file::cases::Room::new();
        let already = self.loaded.cases.len();
        for (index, mut node) in documents.into_iter().enumerate() {
            if suite_file::is_suite(&node) {
                let cases = self.suite(file, &source, node, options, &mut findings);
                self.loaded.cases.extend(cases.into_iter().filter(|_| is_sound));
                continue;
            }
            let mut found = Diagnostics::new(&source);
            case_table::read(&mut node, folder::folder_of(&file.path), &mut found);
            assertion_file::aliases::rename_document(&mut node);
            let nodes = assertion_file::cases::expand(node, &mut room, &mut found);
            findings.extend(found.into_findings());
            for node in nodes {
                let document = Document { node: &node, number: index + 1, of };
                let cases = self.assertion(file, &source, document, options, &mut findings);
                self.loaded.cases.extend(cases.into_iter().filter(|_| is_sound));
            }
        }
        if let Some(finding) = too_many_columns(&self.loaded.cases[already..]) {
            self.loaded.cases.truncate(already);
            findings.push(finding);
        }
        findings.sort_by_cached_key(|finding| file_of(finding, &source));
        // A mistake in the defaults of a file, or in a table, is found with each of its tests.
        findings.dedup();
        if let (false, secrets @ [_, ..]) = (findings.is_empty(), &self.loaded.secrets[known..]) {
            let redactor = Redactor::new(secrets.iter().map(String::as_str));
            for finding in &mut findings {
                redactor.finding(finding);
            }
        }
        if file.is_outside && findings.iter().any(|finding| finding.severity >= Severity::Error) {
            findings.iter_mut().for_each(withhold);
        }
        self.loaded.findings.append(&mut findings);
    }

    fn assertion(
        &mut self,
        file: &SuiteFile,
        source: &Arc<SourceFile>,
        document: Document<'_>,
        options: &LoadOptions<'_>,
        findings: &mut Vec<Finding>,
    ) -> Vec<Arc<Case>> {
        let mut decoded = assertion_file::decode(source, document, &context(file, options, None));
        self.loaded.tests += 1;
        findings.append(&mut decoded.findings);
        self.loaded.secrets.append(&mut decoded.secrets);
        let named = Named { within: folder::folder_of(&file.path), name: &decoded.name, span: decoded.name_span };
        match self.names.register(&named, source) {
            Some(clash) => {
                findings.push(clash);
                Vec::new()
            }
            None => decoded.case.map(Arc::new).into_iter().collect(),
        }
    }

    fn suite(
        &mut self,
        file: &SuiteFile,
        source: &Arc<SourceFile>,
        node: Node,
        options: &LoadOptions<'_>,
        findings: &mut Vec<Finding>,
    ) -> Vec<Arc<Case>> {
        let (mut units, mut problems) = imports::with_imports(&file.path, source, node);
        for unit in &mut units {
            let source = Arc::clone(&unit.source);
            let mut found = Diagnostics::new(&source);
            case_table::read_lists(&mut unit.node, folder::folder_of(Path::new(source.path())), &mut found);
            problems.extend(found.into_findings());
        }
        findings.append(&mut problems);
        let folder = folder::folder_of(&file.path);
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf()).display().to_string();
        let mut decoded = suite_file::decode(units, &context(file, options, Some(&folder)));
        findings.append(&mut decoded.findings);
        self.loaded.secrets.append(&mut decoded.secrets);
        if options.server.is_none() {
            self.loaded.played.append(&mut decoded.played);
        }
        self.loaded.tests += decoded.tests.len();
        let at = self.names.place(&file.path);
        self.names.first[at].reserve(decoded.tests.len());
        let mut cases = Vec::with_capacity(decoded.tests.len());
        for test in decoded.tests {
            let named = Named { within: &file.path, name: &test.name, span: test.name_span };
            if let Some(clash) = self.names.register(&named, &test.source) {
                findings.push(clash);
                continue;
            }
            let Some(case) = test.case else { continue };
            if let Some(span) = test.only {
                let finding =
                    Finding::error("focused-in-ci", format!("`only` keeps all tests but `{}` from running", test.name));
                let finding = finding.at(test.source.place(span)).help("remove `only` before it is shared");
                self.focused.push((self.loaded.cases.len() + cases.len(), finding));
            }
            cases.push(case);
        }
        cases
    }

    /// Leaves out all but the focused tests, if there are any; in an unattended run, that is a mistake.
    fn focus(&mut self, ci: bool) {
        if self.focused.is_empty() {
            return;
        }
        if ci {
            self.loaded.findings.extend(self.focused.drain(..).map(|(_, finding)| finding));
            return;
        }
        let all = self.loaded.cases.len();
        let kept: HashSet<usize> = self.focused.iter().map(|(index, _)| *index).collect();
        let mut index = 0;
        self.loaded.cases.retain(|_| {
            index += 1;
            kept.contains(&(index - 1))
        });
        let left_out = all - self.loaded.cases.len();
        let message = format!("{left_out} of {all} tests are left out because others say `only`");
        let mut finding = Finding::warning("focused", message);
        finding.place = self.focused.first().and_then(|(_, first)| first.place.clone());
        self.loaded.findings.push(finding.help("remove `only` to run all of them"));
    }
}

fn context<'a>(file: &'a SuiteFile, options: &'a LoadOptions<'_>, folder: Option<&'a str>) -> Context<'a> {
    Context {
        environment: Environment { lookup: options.environment, names: options.known_variables },
        fixture: file.fixture.as_deref(),
        server: options.server.as_ref(),
        folder,
    }
}

/// Leaves the text of a file out of a finding: a link in a suite may lead to anything, such as a file of credentials.
fn withhold(finding: &mut Finding) {
    let message = "something is wrong here; the text is not shown, because a link leads to it out of the folder";
    let mut place = finding.place.take();
    if let Some(Place::Text(place)) = &mut place {
        place.excerpt.clear();
    }
    *finding = Finding { place, ..Finding::new(finding.rule.clone(), finding.severity, message) };
}

/// The most tests of a file; each takes about two kilobytes in memory.
const MOST_TESTS: usize = 150_000;

/// The first case of a file whose matrix makes too many tests, together with those before it.
fn too_many_columns(cases: &[Arc<Case>]) -> Option<Finding> {
    let mut tests = 0_usize;
    let case = cases.iter().find(|case| {
        let columns = case
            .matrix
            .as_ref()
            .map_or(1, |matrix| matrix.servers.len().max(1).saturating_mul(matrix.revisions.len().max(1)));
        tests = tests.saturating_add(columns);
        tests > MOST_TESTS
    })?;
    let message = format!("with their matrices, the tests up to this one are more than {MOST_TESTS}");
    let finding = Finding::error("too-large", message).at(case.source.place(case.span));
    Some(finding.help("divide the file, or name fewer servers and revisions"))
}

/// A list of a document with too many items to be tests.
fn large_list(document: &Node) -> Option<&Node> {
    let Kind::Map(entries) = &document.kind else { return None };
    let is_large = |node: &&Node| matches!(&node.kind, Kind::List(items) if items.len() > MOST_TESTS);
    entries.iter().map(|entry| &entry.value).find(is_large)
}

fn parse_text(path: &Path, text: String) -> Parsed {
    let source = Arc::new(SourceFile::new(path.display().to_string(), text));
    let (documents, mut findings) = yaml::parse(&source);
    let mut found = Diagnostics::new(&source);
    inexact_numbers::warn(source.text(), &documents, &mut found);
    let documents = assertion_file::defaults::apply(documents, &mut found);
    findings.extend(found.into_findings());
    Parsed { source, documents, findings }
}

/// Imports of a file; only a file with the word `imports` is parsed for this.
fn imported_by(path: &Path, text: &str) -> Vec<PathBuf> {
    if !text.contains("imports:") {
        return Vec::new();
    }
    let source = SourceFile::new(path.display().to_string(), text);
    let (documents, _) = yaml::parse(&source);
    let suites = documents.iter().filter(|node| suite_file::is_suite(node));
    suites.flat_map(|node| imports::imported_by(path, &source, node)).collect()
}

/// A name, and where it must be unique.
struct Named<'n> {
    within: &'n Path,
    name: &'n str,
    span: Span,
}

/// The names of cases, and where each was first used: those of assertion files by folder, those of suite files by file.
#[derive(Default)]
struct Names {
    places: HashMap<PathBuf, usize>,
    /// The place of the last case, which is that of most others.
    last: Option<(PathBuf, usize)>,
    first: Vec<HashMap<String, (Arc<SourceFile>, Span)>>,
}

impl Names {
    /// Takes a name, or says who has it already: results are kept by name.
    fn register(&mut self, named: &Named<'_>, source: &Arc<SourceFile>) -> Option<Finding> {
        let at = self.place(named.within);
        let (first, span) = match self.first[at].entry(named.name.to_owned()) {
            Entry::Vacant(entry) => {
                entry.insert((Arc::clone(source), named.span));
                return None;
            }
            Entry::Occupied(entry) => entry.into_mut(),
        };
        let message =
            format!("`{}` is already the name of {}:{}", named.name, first.path(), first.position(span.start).line);
        let place = source.place(named.span);
        Some(Finding::error("duplicate-name", message).at(place).help("give one of them another name"))
    }

    /// The position of the names of a place.
    fn place(&mut self, within: &Path) -> usize {
        if let Some((last, at)) = &self.last
            && last.as_os_str() == within.as_os_str()
        {
            return *at;
        }
        let at = *self.places.entry(within.to_path_buf()).or_insert_with(|| {
            self.first.push(HashMap::new());
            self.first.len() - 1
        });
        self.last = Some((within.to_path_buf(), at));
        at
    }
}

/// Place of a finding, to sort by: first the file itself, then the files it imports in their order.
fn file_of(finding: &Finding, source: &SourceFile) -> (bool, String, (u32, u32)) {
    let file = match &finding.place {
        Some(Place::Text(place)) if place.file != source.path() => place.file.clone(),
        Some(Place::Text(_) | Place::Wire(_)) | None => String::new(),
    };
    (!file.is_empty(), file, place_in_file(finding))
}

/// Place of a finding in its file, to sort by.
pub(crate) fn place_in_file(finding: &Finding) -> (u32, u32) {
    match &finding.place {
        Some(Place::Text(place)) => (place.line, place.column),
        Some(Place::Wire(_)) | None => (0, 0),
    }
}

fn read(path: &Path) -> Result<String, Box<Finding>> {
    let bytes = bounded_read::read_written_bytes(path)
        .map_err(|error| Box::new(folder::unreadable(path, &error.to_string())))?;
    String::from_utf8(bytes).map_err(|error| {
        let bytes = error.as_bytes();
        if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
            return Box::new(folder::unreadable(path, "it is UTF-16").help("save it as UTF-8"));
        }
        let valid = &bytes[..error.utf8_error().valid_up_to()];
        let line = valid.split(|byte| *byte == b'\n').count();
        Box::new(folder::unreadable(path, &format!("line {line} is not UTF-8")).help("save it as UTF-8"))
    })
}
