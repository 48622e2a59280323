//! Files and folders → cases and findings. The one place of this crate that reads files.

mod folder;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcprove_model::{Case, Finding, Place, Severity, SourceFile, Span};

pub use crate::assertion_file::ServerOverride;
use crate::assertion_file::{self, Context, Decoded, Document};
use crate::environment::Environment;
use crate::yaml;
use folder::SuiteFile;

/// What files are loaded with.
pub struct LoadOptions<'a> {
    /// The value of an environment variable.
    pub environment: &'a dyn Fn(&str) -> Option<String>,
    /// The names of the environment variables that are set, for "did you mean".
    pub known_variables: &'a [String],
    /// The folder `{{fixture}}` stands for; without it, a `fixtures/` folder next to the suite is taken.
    pub fixture: Option<PathBuf>,
    /// A server that takes the place of those in the files.
    pub server: Option<ServerOverride>,
}

/// What was loaded.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The cases, in file order.
    pub cases: Vec<Arc<Case>>,
    /// What is wrong with the files, in file order.
    pub findings: Vec<Finding>,
    /// How many files were read.
    pub files: usize,
}

/// Loads files and folders; whatever is wrong with any of them is found in one go.
pub fn load(paths: &[PathBuf], options: &LoadOptions<'_>) -> Loaded {
    let found = folder::find(paths, options.fixture.as_deref());
    let mut loaded = Loaded { findings: found.findings, ..Loaded::default() };
    let mut names = Names::default();
    for file in &found.files {
        loaded.files += 1;
        match read(&file.path) {
            Ok(text) => load_text(file, text, options, (&mut loaded, &mut names)),
            Err(finding) => loaded.findings.push(*finding),
        }
    }
    loaded
}

fn load_text(file: &SuiteFile, text: String, options: &LoadOptions<'_>, (loaded, names): (&mut Loaded, &mut Names)) {
    let source = Arc::new(SourceFile::new(file.path.display().to_string(), text));
    let context = Context {
        environment: Environment { lookup: options.environment, names: options.known_variables },
        fixture: file.fixture.as_deref(),
        server: options.server.as_ref(),
    };
    let (documents, mut findings) = yaml::parse(&source);
    if documents.is_empty() && findings.is_empty() {
        let place = source.place(Span::default());
        let finding = Finding::error("empty-document", "the file is empty").at(place);
        findings.push(finding.help("write an assertion, or remove it"));
    }
    let is_sound = findings.iter().all(|finding| finding.severity < Severity::Error);
    for (index, node) in documents.iter().enumerate() {
        let document = Document { node, number: index + 1, of: documents.len() };
        let mut decoded = assertion_file::decode(&source, document, &context);
        if let Some(clash) = names.register(&file.path, &source, &decoded) {
            decoded.findings.push(clash);
            decoded.case = None;
        }
        findings.append(&mut decoded.findings);
        loaded.cases.extend(decoded.case.filter(|_| is_sound).map(Arc::new));
    }
    findings.sort_by_key(place_in_file);
    loaded.findings.append(&mut findings);
}

/// The names of the cases of each folder, and where each was first used.
#[derive(Default)]
struct Names {
    first: HashMap<(PathBuf, String), String>,
}

impl Names {
    /// Takes a name, or says who has it already: results are kept by name.
    fn register(&mut self, path: &Path, source: &SourceFile, decoded: &Decoded) -> Option<Finding> {
        let key = (folder::folder_of(path).to_path_buf(), decoded.name.clone());
        let Some(first) = self.first.get(&key) else {
            let line = source.position(decoded.name_span.start).line;
            self.first.insert(key, format!("{}:{line}", source.path()));
            return None;
        };
        let message = format!("`{}` is already the name of {first}", decoded.name);
        let place = source.place(decoded.name_span);
        Some(Finding::error("duplicate-name", message).at(place).help("give one of them another name"))
    }
}

fn place_in_file(finding: &Finding) -> (u32, u32) {
    match &finding.place {
        Some(Place::Text(place)) => (place.line, place.column),
        Some(Place::Wire(_)) | None => (0, 0),
    }
}

fn read(path: &Path) -> Result<String, Box<Finding>> {
    let bytes = fs::read(path).map_err(|error| Box::new(folder::unreadable(path, &error.to_string())))?;
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
