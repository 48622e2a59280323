//! Bounded reading of files, whatever size they claim: a device or a pipe may never end. Files that were read are listed, so
//! that no report is written over one.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

/// No file that a program writes for people to read is larger.
const LARGEST: u64 = 256 << 20;

/// No file that people write is larger: its tree takes several times as much.
const LARGEST_WRITTEN: u64 = 64 << 20;

/// Kind of a file that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file that a person or another program wrote.
    File,
    /// An event log, which a later log may replace.
    Log,
}

static INPUTS: LazyLock<Mutex<HashMap<PathBuf, Input>>> = LazyLock::new(Mutex::default);

/// Lists a file that is read by other means.
pub fn remember(path: &Path, kind: Input) {
    let mut inputs = INPUTS.lock().unwrap_or_else(PoisonError::into_inner);
    if !inputs.contains_key(path) {
        inputs.insert(path.to_owned(), kind);
    }
}

/// The kind of a file that this process has read, by whatever path; `None` if it has not.
pub fn input_at(path: &Path) -> Option<Input> {
    path.metadata().ok().filter(fs::Metadata::is_file)?;
    let inputs = INPUTS.lock().unwrap_or_else(PoisonError::into_inner);
    let found = inputs.iter().filter(|(input, _)| is_same_file(input, path)).map(|(_, kind)| *kind);
    // A file that was read as both is not only a log.
    found.max_by_key(|kind| *kind == Input::File)
}

/// True if both paths name one file, through links as well.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let identity = |path: &Path| path.metadata().ok().map(|about| (about.dev(), about.ino()));
        identity(one).is_some_and(|one| identity(other) == Some(one))
    }
    #[cfg(not(unix))]
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// The content of a file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_at_most(path, LARGEST)
}

/// The content of a file that people write, which is text.
pub fn read_written(path: &Path) -> io::Result<String> {
    text_of(read_written_bytes(path)?)
}

/// The bytes of a file that people write.
pub fn read_written_bytes(path: &Path) -> io::Result<Vec<u8>> {
    read_at_most(path, LARGEST_WRITTEN)
}

/// The content of a file that is text.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    text_of(read(path)?)
}

fn text_of(content: Vec<u8>) -> io::Result<String> {
    String::from_utf8(content).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

fn read_at_most(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    // Opening a pipe waits for its other end.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    remember(path, Input::File);
    let file = File::open(path)?;
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let too_large = || io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {} MiB", largest >> 20));
    if length > largest {
        return Err(too_large());
    }
    let mut content = Vec::with_capacity(usize::try_from(length.min(largest)).unwrap_or(0) + 1);
    file.take(largest + 1).read_to_end(&mut content)?;
    if content.len() as u64 > largest {
        return Err(too_large());
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_is_not_read_to_its_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, vec![b'x'; (1 << 20) + 1]).expect("a file");
        assert_eq!(read_at_most(&path, (1 << 20) + 1).expect("it fits").len(), (1 << 20) + 1);
        let error = read_at_most(&path, 1 << 20).expect_err("too large");
        assert_eq!(error.to_string(), "it is larger than 1 MiB");
        #[cfg(unix)]
        for never_ends in ["/dev/zero", "/dev/tty", "/"] {
            assert!(read_at_most(Path::new(never_ends), 1 << 20).is_err(), "{never_ends}");
        }
    }

    #[test]
    fn files_that_were_read_are_known_by_every_path() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for name in ["read", "unread", "log"] {
            fs::write(at(name), "x").expect("a file");
        }
        read(&at("read")).expect("read");
        remember(&at("log"), Input::Log);
        let others = [("./read", Some(Input::File)), ("unread", None), ("log", Some(Input::Log)), ("missing", None)];
        for (name, kind) in others {
            assert_eq!(input_at(&at(name)), kind, "{name}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(at("read"), at("link")).expect("linked");
            fs::hard_link(at("read"), at("twin")).expect("linked");
            assert_eq!([input_at(&at("link")), input_at(&at("twin"))], [Some(Input::File); 2]);
        }
    }

    #[test]
    fn what_is_no_text_says_so() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, b"caf\xe9").expect("a file");
        assert_eq!(read_to_string(&path).expect_err("no text").to_string(), "it is not UTF-8");
    }
}
