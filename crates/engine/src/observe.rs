//! The files a case speaks of, read before and after its act.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;

use mcprove_model::{FileSeen, FileState, PlannedCheck};

/// Files larger than this are not read.
const LARGEST: u64 = 256 << 20;

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
