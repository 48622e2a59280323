//! A private folder that goes away whatever happens: when it is dropped, and when this program is killed.

use std::io;
use std::path::Path;

use tempfile::TempDir;

use crate::watchdog::{Guard, TEMPORARY};

/// A temporary folder that only this user can look into.
#[derive(Debug)]
pub struct TemporaryFolder {
    folder: TempDir,
    _guard: Guard,
}

impl TemporaryFolder {
    /// A new folder; the word says in its name what it is for.
    pub fn new(purpose: &str) -> io::Result<Self> {
        let prefix = format!("{TEMPORARY}{purpose}-");
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(std::fs::Permissions::from_mode(0o700));
        }
        let folder = builder.tempdir()?;
        let guard = Guard::folder(folder.path());
        Ok(Self { folder, _guard: guard })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_private_and_goes_away() {
        let folder = TemporaryFolder::new("test").expect("a folder");
        let path = folder.path().to_owned();
        assert!(path.is_dir());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(path.metadata().expect("there").permissions().mode() & 0o777, 0o700);
        }
        drop(folder);
        assert!(!path.exists());
    }
}
