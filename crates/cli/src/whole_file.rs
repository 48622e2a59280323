//! Files that are there as a whole or not at all.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Writes a file beside its place and moves it there, so that no reader ever sees half of it.
pub(crate) fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let existing = fs::metadata(path).ok();
    if existing.as_ref().is_some_and(|existing| !existing.is_file()) {
        // A pipe or `/dev/stderr` is written to; to move a file there would take it away from everybody.
        return fs::OpenOptions::new().write(true).open(path)?.write_all(content);
    }
    // A link stays one: the file it points to is replaced.
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = match place.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        Some(_) | None => PathBuf::from("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".mcprove-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // What the user's mask leaves of this, as for any other file; temporary files are private otherwise.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    // The name of the temporary file would only puzzle people.
    let in_words = |error: io::Error| fs::metadata(&folder).err().unwrap_or_else(|| error.kind().into());
    let mut file = builder.tempfile_in(&folder).map_err(in_words)?;
    file.write_all(content)?;
    if let Some(existing) = existing {
        file.as_file().set_permissions(existing.permissions())?;
    }
    file.persist(place)?;
    Ok(())
}

/// Adds to the end of a file that others may write to as well.
pub(crate) fn append(path: &Path, content: &[u8]) -> io::Result<()> {
    fs::OpenOptions::new().append(true).create(true).open(path)?.write_all(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("report.xml");
        for content in ["a long first content", "short"] {
            write(&path, content.as_bytes()).expect("written");
            assert_eq!(fs::read_to_string(&path).expect("read"), content);
        }
        assert_eq!(names(folder.path()), ["report.xml"]);
    }

    #[test]
    fn what_cannot_be_written_says_why_and_leaves_what_was_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let missing = folder.path().join("missing/report.xml");
        assert_eq!(write(&missing, b"x").expect_err("no folder").kind(), io::ErrorKind::NotFound);
        assert!(write(folder.path(), b"x").is_err(), "a folder is no file");
        assert!(names(folder.path()).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_a_device_a_device() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").expect("written");
        std::os::unix::fs::symlink(&file, &link).expect("linked");
        write(&link, b"new").expect("written");
        assert!(fs::symlink_metadata(&link).expect("the link").is_symlink());
        assert_eq!(fs::read(&file).expect("read"), b"new");
        write(Path::new("/dev/null"), b"x").expect("written");
        assert!(!fs::metadata("/dev/null").expect("the device").is_file());
    }
}
