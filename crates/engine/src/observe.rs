//! The files a case speaks of, read before and after its act.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;

use mcprove_model::{FileSeen, FileState, PlannedCheck};

/// The files that checks speak of, as they are before the act.
#[derive(Debug)]
pub(crate) struct FilesBefore(BTreeMap<String, FileState>);

impl FilesBefore {
    pub(crate) fn read(checks: &[PlannedCheck]) -> Self {
        let paths: BTreeSet<&str> = checks.iter().flat_map(|planned| planned.check.files()).collect();
        Self(paths.into_iter().map(|path| (path.to_owned(), state(path))).collect())
    }

    pub(crate) fn and_after(self) -> BTreeMap<String, FileSeen> {
        self.0
            .into_iter()
            .map(|(path, before)| {
                let after = state(&path);
                (path, FileSeen { before, after })
            })
            .collect()
    }
}

fn state(path: &str) -> FileState {
    match fs::read(path) {
        Ok(content) => FileState::Content(content),
        Err(error) if error.kind() == io::ErrorKind::NotFound => FileState::Missing,
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => FileState::Directory,
        Err(error) => FileState::Unreadable(error.to_string()),
    }
}
