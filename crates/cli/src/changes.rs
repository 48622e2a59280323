//! Selection of the cases that a change of files affects. Paths in, cases out; the kernel reports the paths.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcprove_model::{Case, Target};

/// The cases to run again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// Nothing: the change affects no case.
    Nothing,
    /// The cases of these files.
    Files(BTreeSet<PathBuf>),
    /// Everything.
    All,
}

/// The watched paths, and the cases each of them affects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dependencies {
    /// Files and folders that suites are in.
    suites: Vec<PathBuf>,
    /// Files that cases were written in.
    sources: BTreeSet<PathBuf>,
    /// Files and folders that concern every case: fixtures, programs, whatever the user names.
    everywhere: BTreeSet<PathBuf>,
}

impl Dependencies {
    /// Dependencies of these cases. All paths are made absolute, as the kernel reports them.
    pub(crate) fn of(suites: &[PathBuf], cases: &[Arc<Case>], also: &[PathBuf]) -> Self {
        let mut everywhere: BTreeSet<PathBuf> = also.iter().filter_map(|path| absolute(path)).collect();
        for case in cases {
            everywhere.extend(case.fixture.iter().filter_map(|path| absolute(path)));
            everywhere.extend(case.server.iter().flat_map(|server| programs(&server.target)));
        }
        Self {
            suites: suites.iter().filter_map(|path| absolute(path)).collect(),
            sources: cases.iter().filter_map(|case| absolute(Path::new(case.source.path()))).collect(),
            everywhere,
        }
    }

    /// The folders to listen to, and whether with everything below them. Files and folders are listened to through the
    /// folder they are in, too: editors replace files, and other programs replace folders.
    pub(crate) fn folders(&self) -> BTreeMap<PathBuf, bool> {
        let mut folders = BTreeMap::new();
        for path in self.suites.iter().chain(&self.everywhere) {
            if path.is_dir() {
                folders.insert(path.clone(), true);
            }
            if let Some(parent) = path.parent().filter(|parent| parent.is_dir()) {
                folders.entry(parent.to_owned()).or_insert(false);
            }
        }
        folders
    }

    /// A number that changes when one of the files does: its time and size, of suites and of what all cases depend on.
    pub(crate) fn stamp(&self) -> u64 {
        let mut found = BTreeSet::new();
        for path in &self.suites {
            collect(path, &|path| is_yaml(path), &mut found);
        }
        for path in &self.everywhere {
            collect(path, &|_| true, &mut found);
        }
        let mut hasher = DefaultHasher::new();
        found.hash(&mut hasher);
        hasher.finish()
    }

    /// The cases to run after a change of these paths.
    pub(crate) fn again(&self, changed: &BTreeSet<PathBuf>) -> Again {
        let mut files = BTreeSet::new();
        for path in changed {
            // A folder that affects all cases may hold suites too: a suite affects only its own.
            if self.sources.contains(path) {
                files.insert(path.clone());
            } else if self.everywhere.iter().any(|known| path.starts_with(known)) || self.suites.contains(path) {
                return Again::All;
            } else if is_yaml(path) && self.suites.iter().any(|suite| path.starts_with(suite)) {
                // A new file, one without cases so far, or one that others import.
                if path.exists() && !is_imported_by_name(path, &self.sources) {
                    files.insert(path.clone());
                } else {
                    return Again::All;
                }
            }
        }
        if files.is_empty() { Again::Nothing } else { Again::Files(files) }
    }
}

/// Number of files and folders that are looked at for a stamp.
const STAMPED: usize = 5_000;

/// Adds the files at a path that are wanted, each with its time and size. Links are not followed.
fn collect(
    path: &Path,
    is_wanted: &dyn Fn(&Path) -> bool,
    found: &mut BTreeSet<(PathBuf, Option<std::time::SystemTime>, u64)>,
) {
    let Ok(about) = path.symlink_metadata() else { return };
    if about.is_dir() {
        for entry in std::fs::read_dir(path).into_iter().flatten().filter_map(Result::ok) {
            if found.len() < STAMPED {
                collect(&entry.path(), is_wanted, found);
            }
        }
    } else if is_wanted(path) {
        found.insert((path.to_owned(), about.modified().ok(), about.len()));
    }
}

/// The cases that were written in one of these files.
pub(crate) fn cases_of(files: &BTreeSet<PathBuf>, cases: &[Arc<Case>]) -> Vec<Arc<Case>> {
    let is_in = |case: &&Arc<Case>| absolute(Path::new(case.source.path())).is_some_and(|path| files.contains(&path));
    cases.iter().filter(is_in).cloned().collect()
}

/// The path as the kernel reports it, even if it does not exist at the moment.
fn absolute(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().or_else(|| {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(parent.canonicalize().ok()?.join(path.file_name()?))
    })
}

/// The files that a server is started from: its program if it is named by a path, and arguments that are files.
pub(crate) fn programs(target: &Target) -> Vec<PathBuf> {
    let Target::Stdio { command, args, cwd, .. } = target else { return Vec::new() };
    let base = cwd.as_deref().map_or(Path::new(""), Path::new);
    let named = Some(command).filter(|command| command.contains('/'));
    let files = named.into_iter().chain(args).map(|word| base.join(word)).filter(|path| path.is_file());
    files.filter_map(|path| absolute(&path)).collect()
}

fn is_yaml(path: &Path) -> bool {
    path.extension().and_then(OsStr::to_str).is_some_and(|extension| matches!(extension, "yaml" | "yml"))
}

/// True if a suite that has cases speaks of a file by its name.
fn is_imported_by_name(path: &Path, sources: &BTreeSet<PathBuf>) -> bool {
    let Some(name) = path.file_name().and_then(OsStr::to_str) else { return false };
    sources.iter().any(|source| std::fs::read_to_string(source).is_ok_and(|text| text.contains(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_concerns_its_file_or_everybody() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().canonicalize().expect("a path");
        let at = |name: &str| home.join(name);
        for (name, text) in [
            ("a.yaml", "x"),
            ("b.yaml", "imports: [part.yml]"),
            ("new.yaml", "x"),
            ("part.yml", "x"),
            ("server.js", ""),
        ] {
            std::fs::write(at(name), text).expect("a file");
        }
        std::fs::create_dir(at("fixtures")).expect("a folder");
        let known = Dependencies {
            suites: vec![home.clone()],
            sources: [at("a.yaml"), at("b.yaml")].into(),
            everywhere: [at("fixtures"), at("server.js")].into(),
        };
        let again = |names: &[&str]| known.again(&names.iter().map(|name| at(name)).collect());
        assert_eq!(again(&["a.yaml"]), Again::Files([at("a.yaml")].into()));
        assert_eq!(again(&["a.yaml", "new.yaml"]), Again::Files([at("a.yaml"), at("new.yaml")].into()));
        assert_eq!(again(&["fixtures/deep/x.txt"]), Again::All);
        assert_eq!(again(&["a.yaml", "server.js"]), Again::All);
        assert_eq!(again(&["part.yml"]), Again::All, "others import it");
        assert_eq!(again(&["gone.yaml"]), Again::All, "what is gone may have been imported");
        assert_eq!(again(&[".a.yaml.swp", "4913", "notes.txt"]), Again::Nothing);
        assert_eq!(known.again(&[home.clone()].into()), Again::All, "the folder itself was replaced");
        let above = home.parent().expect("a parent").to_owned();
        assert_eq!(known.folders(), [(above, false), (home.clone(), true), (at("fixtures"), true)].into());
        assert_eq!(absolute(&at("gone")), Some(at("gone")), "what is gone may come back");
        let before = known.stamp();
        std::fs::write(at("notes.txt"), "not a suite").expect("a file");
        assert_eq!(known.stamp(), before);
        std::fs::write(at("fixtures/x.txt"), "x").expect("a file");
        assert_ne!(known.stamp(), before, "a fixture");
        let before = known.stamp();
        std::fs::write(at("a.yaml"), "longer than before").expect("a file");
        assert_ne!(known.stamp(), before, "a suite");
    }
}
