//! A folder of files that a test writes.

use std::fs;
use std::path::{Path, PathBuf};

use snapbox::dir::DirRoot;

/// A temporary folder; it is gone when the test is over.
pub(crate) struct Folder(DirRoot);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(DirRoot::mutable_temp().expect("a temporary folder can be made"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path().expect("a temporary folder has a path")
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("files are in folders")).expect("folders can be made");
        fs::write(&path, text).expect("files can be written");
        path
    }
}
