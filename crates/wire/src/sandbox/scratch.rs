//! The folder of a confined server's temporary files.

use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::remove_folder::remove_folder;
use crate::watchdog::{Guard, TEMPORARY};

/// A private folder that is removed when its server has ended, also when mcprove is killed.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: TempDir,
    path: PathBuf,
    _guard: Guard,
}

impl Scratch {
    pub(crate) fn make() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(&format!("{TEMPORARY}scratch-")).tempdir()?;
        let guard = Guard::folder(folder.path());
        let path = folder.path().canonicalize()?;
        Ok(Self { folder, path, _guard: guard })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A process that is just being killed may still add a file.
        if remove_folder(self.folder.path()).is_err() {
            let _ = remove_folder(self.folder.path());
        }
    }
}
