//! Files that are there as a whole or not at all.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use mcprove_suite::load::bounded_read::{self, Input};

use crate::logins::without_tokens;

/// Writes a file under a temporary name and renames it, so that readers never see a partial file.
pub(crate) fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let content = &*unmarked(content);
    let existing = fs::metadata(path).ok();
    if existing.as_ref().is_some_and(|existing| !existing.is_file()) {
        // A pipe or `/dev/stderr` is written to; renaming a file to it would replace the device for all programs.
        return open_other(path)?.write_all(content);
    }
    // A link stays one: the file it points to is replaced.
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    replace(&place, content, existing)
}

/// Writes a report; a file that this process has read is left alone.
pub(crate) fn write_report(path: &Path, content: &[u8]) -> io::Result<()> {
    match bounded_read::input_at(path) {
        Some(_) => Err(is_input()),
        None => write(path, content),
    }
}

/// Writes a file inside a folder, with the folders on the way. A link at its place is replaced, and a folder on the way that
/// leads out of it by a link is an error: the owner of the link does not decide what is overwritten.
pub(crate) fn write_within(folder: &Path, path: &Path, content: &[u8]) -> io::Result<()> {
    let content = &*unmarked(content);
    let (parent, name) = (path.parent().unwrap_or(folder), path.file_name().unwrap_or_default());
    let real = |path: &Path| fs::canonicalize(if path.as_os_str().is_empty() { Path::new(".") } else { path });
    let folder = real(folder)?;
    let is_there = |path: &&Path| path.as_os_str().is_empty() || path.exists();
    // Checked before folders are made, and once more when they are there.
    for existing in [parent.ancestors().find(is_there).unwrap_or(parent), parent] {
        fs::create_dir_all(if existing.as_os_str().is_empty() { Path::new(".") } else { existing })?;
        if !real(existing)?.starts_with(&folder) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a link leads out of the folder"));
        }
    }
    let place = real(parent)?.join(name);
    let existing = fs::symlink_metadata(&place).ok();
    if existing.as_ref().is_some_and(|existing| !existing.is_file() && !existing.is_symlink()) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    replace(&place, content, existing.filter(fs::Metadata::is_file))
}

/// Writes a file that is not there yet; a link at its place counts as one that is there.
pub(crate) fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(&unmarked(content)).inspect_err(|_| drop(fs::remove_file(path)))
}

/// Creates an event log, which is written bit by bit; a pipe must have a reader. Of the files that this process has read, it
/// replaces only another log.
pub(crate) fn create_log(path: &Path) -> io::Result<fs::File> {
    if bounded_read::input_at(path) == Some(Input::File) {
        return Err(is_input());
    }
    match fs::metadata(path) {
        Ok(existing) if !existing.is_file() => open_other(path),
        Ok(_) | Err(_) => fs::File::create(path),
    }
}

fn is_input() -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, "it is one of the files that were read")
}

/// Opens a path that is not a regular file; a pipe without a reader is an error, as opening it would block for ever.
#[cfg(unix)]
fn open_other(path: &Path) -> io::Result<fs::File> {
    use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl, open};
    let opened = open(path, OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY, Mode::empty());
    let file = opened.map_err(|error| match error {
        rustix::io::Errno::NXIO => io::Error::new(io::ErrorKind::NotConnected, "it is a pipe that nothing reads"),
        other => other.into(),
    })?;
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(fs::File::from(file))
}

#[cfg(not(unix))]
fn open_other(path: &Path) -> io::Result<fs::File> {
    fs::OpenOptions::new().write(true).open(path)
}

/// The content without the tokens of logins; bytes that are not text stay.
fn unmarked(content: &[u8]) -> Cow<'_, [u8]> {
    let text = std::str::from_utf8(content).ok().map(without_tokens);
    match text {
        Some(Cow::Owned(text)) => Cow::Owned(text.into_bytes()),
        Some(Cow::Borrowed(_)) | None => Cow::Borrowed(content),
    }
}

fn replace(place: &Path, content: &[u8], existing: Option<fs::Metadata>) -> io::Result<()> {
    let folder = match place.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        Some(_) | None => PathBuf::from("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".mcprove-");
    #[cfg(target_os = "linux")]
    if let Some(mut file) = unnamed(&folder) {
        file.write_all(content)?;
        if let Some(existing) = &existing {
            file.set_permissions(existing.permissions())?;
        }
        if let Ok(named) = builder.make_in(&folder, |path| name(&file, path)) {
            return Ok(named.into_temp_path().persist(place)?);
        }
    }
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

/// A file without a name, of which nothing is left if the program is killed before it is complete; none where the file system has no
/// such files.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> Option<fs::File> {
    use rustix::fs::{Mode, OFlags, open};
    let opened = open(folder, OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC, Mode::from_raw_mode(0o666));
    opened.ok().map(fs::File::from)
}

/// Gives a file a name.
#[cfg(target_os = "linux")]
fn name(file: &fs::File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd as _;
    let open = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, open, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

/// Adds to the end of a file that others may write to as well.
pub(crate) fn append(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = match fs::metadata(path) {
        Ok(existing) if !existing.is_file() => open_other(path)?,
        _ if bounded_read::input_at(path).is_some() => return Err(is_input()),
        Ok(_) | Err(_) => fs::OpenOptions::new().append(true).create(true).open(path)?,
    };
    file.write_all(&unmarked(content))
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
    fn a_link_in_a_target_folder_is_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let (target, outside) = (folder.path().join("evals"), folder.path().join("outside"));
        fs::create_dir_all(target.join("sub")).expect("a folder");
        fs::create_dir(&outside).expect("a folder");
        fs::write(outside.join("precious"), "old").expect("written");
        std::os::unix::fs::symlink(outside.join("precious"), target.join("a.yaml")).expect("linked");
        std::os::unix::fs::symlink(&outside, target.join("out")).expect("linked");
        write_within(&target, &target.join("a.yaml"), b"new").expect("written");
        write_within(&target, &target.join("sub/new/b.yaml"), b"new").expect("written");
        assert!(fs::symlink_metadata(target.join("a.yaml")).expect("a file").is_file());
        assert!(write_within(&target, &target.join("out/precious"), b"new").is_err());
        assert!(write_within(&target, &target.join("out/new/a.yaml"), b"new").is_err());
        assert!(!outside.join("new").exists());
        assert!(write_within(&target, &target.join("sub"), b"new").is_err());
        assert_eq!(fs::read(outside.join("precious")).expect("read"), b"old");
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_that_nothing_reads_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
        assert!(write(&pipe, b"x").expect_err("no reader").to_string().contains("nothing reads"));
        assert!(create_log(&pipe).is_err());
        assert!(append(&pipe, b"x").expect_err("no reader").to_string().contains("nothing reads"));
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
