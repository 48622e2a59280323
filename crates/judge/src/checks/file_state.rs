//! Files that checks speak of, and why their content cannot be looked at.

use std::borrow::Cow;

use mcprove_model::{FileSeen, FileState, Mismatch, Observation};

use crate::excerpt::quoted;

/// State of a file; the engine reads every file that a check names, so a missing entry is a bug of mcprove and is
/// reported as one.
pub(super) fn of<'o>(seen: &'o Observation, path: &str, expected: &str) -> Result<&'o FileSeen, Mismatch> {
    seen.files.get(path).ok_or_else(|| Mismatch {
        message: format!("file {} was not looked at", quoted(path)),
        expected: expected.to_owned(),
        actual: "nothing is known of the file".to_owned(),
        diff: None,
        help: Some("this is a fault of mcprove, please report it".to_owned()),
    })
}

/// The content of a file after the call; bytes that are not UTF-8 are replaced, which cannot hide or make a match.
pub(super) fn content_after<'o>(seen: &'o Observation, path: &str, expected: &str) -> Result<Cow<'o, str>, Mismatch> {
    let file = of(seen, path, expected)?;
    let without = |message: String, help: Option<&str>| Mismatch {
        message,
        expected: expected.to_owned(),
        actual: described(&file.after),
        diff: None,
        help: help.map(str::to_owned),
    };
    match &file.after {
        FileState::Content(bytes) => Ok(String::from_utf8_lossy(bytes)),
        FileState::Missing => Err(without(
            format!("file {} does not exist", quoted(path)),
            match &file.before {
                FileState::Missing => None,
                FileState::Content(_) | FileState::Directory | FileState::Unreadable(_) => {
                    Some("it was there before the call")
                }
            },
        )),
        FileState::Directory => Err(without(format!("{} is a directory, not a file", quoted(path)), None)),
        FileState::Unreadable(why) => Err(without(format!("file {} could not be read: {why}", quoted(path)), None)),
    }
}

/// A file at one moment, in a few words.
pub(super) fn described(state: &FileState) -> String {
    match state {
        FileState::Missing => "no file".to_owned(),
        FileState::Content(bytes) => format!("a file of {} bytes", bytes.len()),
        FileState::Directory => "a directory".to_owned(),
        FileState::Unreadable(why) => format!("a file that could not be read: {why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{file, text};
    use super::*;

    #[test]
    fn what_stands_in_the_way_of_the_content_is_named() {
        let content = |before, after| content_after(&file("a", before, after), "a", "x").expect_err("no content");
        let gone = content(FileState::Content(Vec::new()), FileState::Missing);
        assert_eq!(gone.message, "file `a` does not exist");
        assert_eq!(gone.help.as_deref(), Some("it was there before the call"));
        assert_eq!(content(FileState::Missing, FileState::Missing).help, None);
        assert_eq!(content(FileState::Missing, FileState::Directory).message, "`a` is a directory, not a file");
        let denied = content(FileState::Missing, FileState::Unreadable("permission denied".to_owned()));
        assert_eq!(denied.message, "file `a` could not be read: permission denied");
        assert!(content_after(&text(""), "a", "x").expect_err("unknown").message.contains("was not looked at"));
    }
}
