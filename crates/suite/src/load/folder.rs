//! Finds the files of a suite: which they are, in which order, and with which fixture folder.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use mcprove_model::{Finding, nearest};

/// The folder next to a suite that is its fixture when no other is given.
const DEFAULT_FIXTURE: &str = "fixtures";

/// A file to load.
pub(super) struct SuiteFile {
    /// Its path as the user named it.
    pub(super) path: PathBuf,
    /// The fixture folder of its cases, when there is one.
    pub(super) fixture: Option<PathBuf>,
    /// True if the user named it, and not a folder it is in.
    pub(super) is_named: bool,
    /// True if a link leads to it, out of the folder that was named or that it was named in.
    pub(super) is_outside: bool,
}

/// Files found under the paths a user named.
#[derive(Default)]
pub(super) struct FoundFiles {
    pub(super) files: Vec<SuiteFile>,
    pub(super) findings: Vec<Finding>,
}

/// Finds the files under each path, in order; a file that is reached twice counts once.
pub(super) fn find(paths: &[PathBuf], fixture: Option<&Path>) -> FoundFiles {
    let mut search = Search { fixture, ..Search::default() };
    if let Some(fixture) = fixture.filter(|fixture| !fixture.is_dir()) {
        let finding =
            Finding::error("no-such-path", format!("the fixture folder `{}` does not exist", fixture.display()));
        search.found.findings.push(finding.help("give the folder that `{{fixture}}` stands for"));
    }
    let real: Vec<PathBuf> = paths.iter().filter_map(|path| path.canonicalize().ok()).collect();
    // A folder may be both the suite and the fixture; then its files are both.
    let is_apart = |fixture: &PathBuf| !real.iter().any(|suite| suite.starts_with(fixture));
    search.excluded.extend(fixture.and_then(|fixture| fixture.canonicalize().ok()).filter(is_apart));
    for path in paths {
        search.path(path);
    }
    search.found
}

#[derive(Default)]
struct Search<'a> {
    fixture: Option<&'a Path>,
    found: FoundFiles,
    /// Fixture folders, by their real path: what is in them is data.
    excluded: HashSet<PathBuf>,
    /// The real path of the folder that was named, or of the file that was.
    root: PathBuf,
    /// Folders that were read, by their real path, so that links in a circle end.
    visited: HashSet<PathBuf>,
    /// Files that were taken, by the real path of their folder and their name.
    taken: HashSet<(PathBuf, OsString)>,
}

impl Search<'_> {
    fn path(&mut self, path: &Path) {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                let fixture = self.fixture_of(path);
                if self.fixture.is_none() {
                    self.excluded.extend(fixture.as_ref().and_then(|fixture| fixture.canonicalize().ok()));
                }
                self.root = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
                let before = (self.found.files.len(), self.found.findings.len());
                self.folder(path, fixture.as_deref());
                if before == (self.found.files.len(), self.found.findings.len()) {
                    let message = format!("no assertions in `{}`", path.display());
                    let finding = Finding::error("no-assertions", message);
                    self.found.findings.push(finding.help("name a folder that holds `.yaml` or `.yml` files"));
                }
            }
            Ok(_) => {
                let parent = folder_of(path);
                let fixture = self.fixture_of(parent);
                let real = parent.canonicalize().unwrap_or_else(|_| parent.to_path_buf());
                self.root.clone_from(&real);
                self.file(path.to_path_buf(), real, fixture.as_deref(), true);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let finding = Finding::error("no-such-path", format!("`{}` does not exist", path.display()));
                let near = fs::read_dir(folder_of(path)).ok().and_then(|siblings| near_sibling(path, siblings));
                let help =
                    near.map_or("check the path".to_owned(), |near| format!("did you mean `{}`?", near.display()));
                self.found.findings.push(finding.help(help));
            }
            Err(error) => self.unreadable(path, &error),
        }
    }

    /// Reads a folder and those below it, files and folders in one order by the bytes of their names.
    fn folder(&mut self, folder: &Path, fixture: Option<&Path>) {
        let real = match folder.canonicalize() {
            Ok(real) => real,
            Err(error) => return self.unreadable(folder, &error),
        };
        if self.excluded.contains(&real) || !self.visited.insert(real.clone()) {
            return;
        }
        let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) => return self.unreadable(folder, &error),
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let path = folder.join(&name);
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() || kind.is_symlink() && path.is_dir() {
                self.folder(&path, fixture);
            } else if is_yaml(&path) && (kind.is_file() || kind.is_symlink()) {
                // Pipes and devices are left alone: reading one could wait for ever.
                self.file(path, real.clone(), fixture, false);
            }
        }
    }

    fn file(&mut self, path: PathBuf, real_folder: PathBuf, fixture: Option<&Path>, is_named: bool) {
        let name = path.file_name().unwrap_or_default().to_os_string();
        let leads_out = || {
            let is_link = fs::symlink_metadata(&path).is_ok_and(|about| about.is_symlink());
            is_link && path.canonicalize().is_ok_and(|real| !real.starts_with(&self.root))
        };
        let is_outside = !real_folder.starts_with(&self.root) || leads_out();
        if self.taken.insert((real_folder, name)) {
            self.found.files.push(SuiteFile { path, fixture: fixture.map(Path::to_path_buf), is_named, is_outside });
        }
    }

    /// The fixture of a suite in `folder`: the one that was given, else the one next to it.
    fn fixture_of(&self, folder: &Path) -> Option<PathBuf> {
        match self.fixture {
            Some(given) => Some(given.to_path_buf()),
            None => Some(folder.join(DEFAULT_FIXTURE)).filter(|fixture| fixture.is_dir()),
        }
    }

    fn unreadable(&mut self, path: &Path, error: &io::Error) {
        self.found.findings.push(unreadable(path, &error.to_string()));
    }
}

/// A finding about a path that cannot be read.
pub(super) fn unreadable(path: &Path, why: &str) -> Finding {
    Finding::error("unreadable-file", format!("`{}` cannot be read: {why}", path.display()))
}

/// The folder a file is in; a bare name is in the current one.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    }
}

/// An existing path in the same folder with almost the same name.
fn near_sibling(path: &Path, siblings: fs::ReadDir) -> Option<PathBuf> {
    let mut names: Vec<String> = siblings.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    let near = nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str))?;
    Some(path.with_file_name(near))
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}
