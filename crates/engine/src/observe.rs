//! The files a case speaks of, read before and after its act.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use mcprove_model::{FileSeen, FileState, PlannedCheck};
use mcprove_wire::TEMPORARY;

/// Files larger than this are not read.
const LARGEST: u64 = 256 << 20;

/// The files that checks speak of, as they are before the act.
#[derive(Debug)]
pub(crate) struct FilesBefore(BTreeMap<String, (FileState, bool)>);

impl FilesBefore {
    pub(crate) fn read(checks: &[PlannedCheck]) -> Self {
        let paths: BTreeSet<&str> = checks.iter().flat_map(|planned| planned.check.files()).collect();
        Self(paths.into_iter().map(|path| (path.to_owned(), (state(path), leads_out(path)))).collect())
    }

    pub(crate) fn and_after(self) -> BTreeMap<String, FileSeen> {
        self.0
            .into_iter()
            .map(|(path, (before, led_out))| {
                // What the server did is not what some file outside contains.
                let after = if !led_out && leads_out(&path) {
                    FileState::Unreadable("a link leads out of the fixture".to_owned())
                } else {
                    state(&path)
                };
                (path, FileSeen { before, after })
            })
            .collect()
    }
}

/// True if a path in the copy of a fixture is, by links, a path outside of it.
fn leads_out(path: &str) -> bool {
    let prefix = format!("{TEMPORARY}fixture-");
    let path = Path::new(path);
    let is_copy = |folder: &&Path| folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix));
    let Some(copy) = path.ancestors().find(is_copy) else { return false };
    path.canonicalize().is_ok_and(|real| !real.starts_with(copy.canonicalize().as_deref().unwrap_or(copy)))
}

/// Reads a file, if it is one: a pipe or a device could block for ever.
fn state(path: &str) -> FileState {
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => FileState::Missing,
        io::ErrorKind::IsADirectory => FileState::Directory,
        _ => FileState::Unreadable(error.to_string()),
    };
    match fs::metadata(path) {
        Err(error) => unreadable(error),
        Ok(metadata) if metadata.is_dir() => FileState::Directory,
        Ok(metadata) if !metadata.is_file() => FileState::Unreadable("it is not a regular file".to_owned()),
        Ok(metadata) if metadata.len() > LARGEST => {
            FileState::Unreadable(format!("it is larger than {} MiB", LARGEST >> 20))
        }
        Ok(_) => fs::read(path).map_or_else(unreadable, FileState::Content),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_the_server_made_does_not_show_what_is_outside() {
        let outside = tempfile::NamedTempFile::new().expect("a file");
        let folder = tempfile::Builder::new().prefix(&format!("{TEMPORARY}fixture-")).tempdir().expect("a folder");
        let (link, inner) = (folder.path().join("link"), folder.path().join("inner"));
        fs::write(&inner, "x").expect("written");
        std::os::unix::fs::symlink(outside.path(), &link).expect("linked");
        std::os::unix::fs::symlink(&inner, folder.path().join("near")).expect("linked");
        let leads = |name: &str| leads_out(&folder.path().join(name).display().to_string());
        assert!(leads("link"));
        assert!(!leads("near") && !leads("inner") && !leads("missing"));
        assert!(!leads_out(&outside.path().display().to_string()));
    }
}
