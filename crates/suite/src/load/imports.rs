//! Reads the files a suite file imports: inside its folder, each once, never in a circle.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use mcprove_model::{Diagnostics, Finding, Node, SourceFile, Span};

use super::{folder, read};
use crate::suite_file::{Unit, imports};
use crate::yaml;

/// The document of a file with those of all files it imports, itself first.
pub(super) fn with_imports(path: &Path, source: &Arc<SourceFile>, node: Node) -> (Vec<Unit>, Vec<Finding>) {
    let mut import = Import { root: real(folder::folder_of(path)), ..Import::default() };
    let way = vec![real(path)];
    import.unit(path, Unit { source: Arc::clone(source), node }, &way);
    (import.units, import.findings)
}

/// The files that a document imports, by their real paths; [`with_imports`] reports their problems.
pub(super) fn imported_by(path: &Path, source: &SourceFile, node: &Node) -> Vec<PathBuf> {
    let mut unheard = Diagnostics::new(source);
    let folder = folder::folder_of(path);
    imports(node, &mut unheard).iter().map(|(named, _)| real(&folder.join(named))).collect()
}

#[derive(Default)]
struct Import {
    /// The folder that imported files must be in.
    root: PathBuf,
    units: Vec<Unit>,
    findings: Vec<Finding>,
    /// Files that were read, by their real path.
    taken: Vec<PathBuf>,
}

impl Import {
    /// Takes a file and then what it imports; `way` are the files that led here.
    fn unit(&mut self, path: &Path, unit: Unit, way: &[PathBuf]) {
        let mut found = Diagnostics::new(&unit.source);
        let named = imports(&unit.node, &mut found);
        self.findings.extend(found.into_findings());
        let source = Arc::clone(&unit.source);
        self.units.push(unit);
        for (name, span) in named {
            if let Err(finding) = self.file(&folder::folder_of(path).join(&name), &name, span, &source, way) {
                self.findings.push(*finding);
            }
        }
    }

    fn file(
        &mut self,
        path: &Path,
        name: &str,
        span: Span,
        source: &SourceFile,
        way: &[PathBuf],
    ) -> Result<(), Box<Finding>> {
        let told = |rule: &'static str, message: String, help: &str| {
            Box::new(Finding::error(rule, message).at(source.place(span)).help(help))
        };
        let climbs = Path::new(name).components().any(|part| matches!(part, Component::ParentDir | Component::RootDir));
        let real = real(path);
        // A missing file has its own finding.
        if climbs || path.exists() && !real.starts_with(&self.root) {
            let message = format!("`{name}` is outside the folder of the suite");
            return Err(told("outside-folder", message, "move it into the folder of the suite"));
        }
        if way.contains(&real) {
            let message = format!("`{name}` imports itself, perhaps through others");
            return Err(told("import-cycle", message, "remove one of the imports"));
        }
        if self.taken.contains(&real) {
            return Ok(());
        }
        self.taken.push(real.clone());
        let text = read(path).map_err(|finding| {
            let message = format!("`{name}` cannot be imported: {}", finding.message);
            told("unreadable-file", message, "check the path; it is relative to the file that imports it")
        })?;
        let imported = Arc::new(SourceFile::new(path.display().to_string(), text));
        let (documents, mut findings) = yaml::parse(&imported);
        self.findings.append(&mut findings);
        let mut documents = documents.into_iter();
        let (Some(node), None) = (documents.next(), documents.next()) else {
            let message = format!("`{name}` must hold exactly one document");
            return Err(told("bad-import", message, "write a map of keys of a suite file, without `---`"));
        };
        let way: Vec<PathBuf> = way.iter().cloned().chain([real]).collect();
        self.unit(path, Unit { source: imported, node }, &way);
        Ok(())
    }
}

/// The real path of what exists; otherwise the path as it is.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}
