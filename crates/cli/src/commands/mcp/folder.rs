//! The folder the server works in: every path of a request is inside it.

use std::fs;
use std::path::{Component, Path, PathBuf};

use mcprove_suite::load;

use crate::failure::Failure;

/// The folder that suites are read from and tests are written to.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    root: PathBuf,
    read_only: bool,
}

impl Folder {
    pub(super) fn at(path: &Path, read_only: bool) -> Result<Self, Failure> {
        let root = path.canonicalize().map_err(|error| {
            Failure::new(format!("the folder `{}` cannot be used: {error}", path.display()), "give `--dir` a folder")
        })?;
        Ok(Self { root, read_only })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// A path of a request that exists.
    pub(super) fn existing(&self, path: &str) -> Result<PathBuf, String> {
        let joined = self.root.join(relative(path)?);
        let real = joined.canonicalize().map_err(|error| format!("`{path}` cannot be read: {error}"))?;
        self.inside(path, &real)?;
        Ok(real)
    }

    /// A path of a request that a test is written to. Its folder is made if need be.
    pub(super) fn writable(&self, path: &str) -> Result<PathBuf, String> {
        if self.read_only {
            return Err("this server was started with `--read-only`: it writes no files".to_owned());
        }
        let relative = relative(path)?;
        if !is_suite(&relative) {
            return Err(format!("`{path}` is not a name of a test: it must end in `.yaml` or `.yml`"));
        }
        let file = self.root.join(&relative);
        let parent = file.parent().unwrap_or(&self.root);
        // The part of the path that exists must not lead out of the folder by a link; what is made then cannot.
        let existing = parent.ancestors().find(|folder| folder.exists()).unwrap_or(&self.root);
        let real = existing.canonicalize().map_err(|error| format!("`{path}` cannot be written: {error}"))?;
        self.inside(path, &real)?;
        if file.is_symlink() {
            return Err(format!("`{path}` is a link, which is not written through"));
        }
        Ok(file)
    }

    /// A suite that imports the file of this path, if there is one: its tests are changed by what is written. Files import others of
    /// their folder and of those below it only.
    pub(super) fn importer_of(&self, path: &Path) -> Option<PathBuf> {
        let file = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let folders = file.ancestors().skip(1).take_while(|folder| folder.starts_with(&self.root));
        let files = folders.flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
        files
            .map(|entry| entry.path())
            .filter(|other| other.is_file() && is_suite(other))
            .find(|other| imports(other, &file))
    }

    /// A path as a request would name it.
    pub(super) fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }

    fn inside(&self, path: &str, real: &Path) -> Result<(), String> {
        if real.starts_with(&self.root) { Ok(()) } else { Err(outside(path)) }
    }
}

/// True for a name that a test may have.
fn is_suite(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// True if a suite imports a file.
fn imports(suite: &Path, file: &Path) -> bool {
    let folder = suite.parent().unwrap_or(suite);
    let (parsed, _) = load::parse(&[suite.to_owned()]);
    let documents = parsed.iter().flat_map(|parsed| &parsed.documents);
    let named =
        documents.filter_map(|document| document.get("imports")?.as_list()).flatten().filter_map(|name| name.as_text());
    named.map(|name| folder.join(name)).any(|path| path.canonicalize().unwrap_or(path) == file)
}

fn relative(path: &str) -> Result<PathBuf, String> {
    let path_of = Path::new(path);
    let is_plain = path_of.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if path.is_empty() || !is_plain { Err(outside(path)) } else { Ok(path_of.to_owned()) }
}

fn outside(path: &str) -> String {
    format!("`{path}` is not inside the folder of this server; give a relative path without `..`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside() {
        let outer = tempfile::tempdir().expect("a folder");
        let inner = outer.path().join("inner");
        std::fs::create_dir_all(inner.join("evals")).expect("made");
        std::fs::write(outer.path().join("secret.yaml"), "x").expect("written");
        let folder = Folder::at(&inner, false).expect("a folder");
        for path in ["../secret.yaml", "/etc/passwd", "evals/../../secret.yaml", ""] {
            assert!(folder.existing(path).is_err(), "{path}");
            assert!(folder.writable(path).is_err(), "{path}");
        }
        assert!(folder.writable("evals/a.yaml").is_ok());
        assert!(folder.writable("new/deep/a.yml").is_ok());
        assert!(folder.writable("evals/a.sh").is_err());
        assert!(Folder::at(&inner, true).expect("a folder").writable("evals/a.yaml").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_lead_out() {
        let outer = tempfile::tempdir().expect("a folder");
        let inner = outer.path().join("inner");
        std::fs::create_dir_all(&inner).expect("made");
        std::fs::write(outer.path().join("secret.yaml"), "x").expect("written");
        std::os::unix::fs::symlink(outer.path(), inner.join("out")).expect("linked");
        std::os::unix::fs::symlink(outer.path().join("secret.yaml"), inner.join("a.yaml")).expect("linked");
        let folder = Folder::at(&inner, false).expect("a folder");
        for path in ["out/secret.yaml", "a.yaml"] {
            assert!(folder.existing(path).is_err(), "{path}");
            assert!(folder.writable(path).is_err(), "{path}");
        }
        assert!(folder.writable("out/new.yaml").is_err());
        assert!(folder.writable("out/deep/new.yaml").is_err());
    }
}
