//! Bounded reading of files, whatever size they claim: a device or a pipe may never end.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// No file written by hand is larger, nor one that a program wrote for people to read.
const LARGEST: u64 = 256 << 20;

/// The content of a file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_at_most(path, LARGEST)
}

/// The content of a file that is text.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

fn read_at_most(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    // Opening a pipe waits for its other end.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let file = File::open(path)?;
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let mut content = Vec::with_capacity(usize::try_from(length.min(largest)).unwrap_or(0) + 1);
    file.take(largest + 1).read_to_end(&mut content)?;
    if content.len() as u64 > largest {
        let text = format!("it is larger than {} MiB", largest >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
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
    fn what_is_no_text_says_so() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, b"caf\xe9").expect("a file");
        assert_eq!(read_to_string(&path).expect_err("no text").to_string(), "it is not UTF-8");
    }
}
