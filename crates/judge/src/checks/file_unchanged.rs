//! `file_unchanged`: files are the same after the call as before it.

use mcprove_model::{Check, Diagnostics, FileState, Mismatch, Node, Observation, PlannedCheck};

use super::example::{fails, holds};
use super::{CheckKind, Seen, file_state, shape};
use crate::diff::{self, Sides};
use crate::excerpt::{self, quoted};

const NAME: &str = "file_unchanged";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "Each of these files is there before the call and has the same content after it.",
    decode,
    schema: shape::texts_schema,
    examples: &[
        holds(r#"["a.txt"]"#, Seen::File { path: "a.txt", before: Some("x"), after: Some("x") }),
        fails(r#"["a.txt"]"#, Seen::File { path: "a.txt", before: Some("x"), after: Some("y") }),
        fails(r#""a.txt""#, Seen::File { path: "a.txt", before: Some("x"), after: None }),
        fails(r#""a.txt""#, Seen::File { path: "a.txt", before: None, after: Some("x") }),
        fails(r#""a.txt""#, Seen::File { path: "a.txt", before: None, after: None }),
    ],
};

#[derive(Debug)]
struct FileUnchanged {
    path: String,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let paths = shape::texts(NAME, node, found);
    paths.iter().map(|w| shape::planned(NAME, w.span, FileUnchanged { path: w.text.to_owned() })).collect()
}

impl Check for FileUnchanged {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let path = quoted(&self.path);
        let file = file_state::of(seen, &self.path, "the same file before and after the call")?;
        let (message, help) = match (&file.before, &file.after) {
            (FileState::Content(before), FileState::Content(after)) if before == after => return Ok(()),
            (FileState::Content(before), FileState::Content(after)) => return Err(self.changed(before, after)),
            (FileState::Missing, _) => {
                let help = "it must be there before the call: is the path right, does setup make it?";
                (format!("file {path} did not exist before the call"), Some(help))
            }
            (FileState::Directory, _) => {
                (format!("{path} is a directory"), Some("name the files in it that must not change"))
            }
            (FileState::Unreadable(why), _) => (format!("file {path} could not be read before the call: {why}"), None),
            (FileState::Content(_), FileState::Missing) => (format!("file {path} is gone after the call"), None),
            (FileState::Content(_), FileState::Directory) => {
                (format!("file {path} is a directory after the call"), None)
            }
            (FileState::Content(_), FileState::Unreadable(why)) => {
                (format!("file {path} could not be read after the call: {why}"), None)
            }
        };
        Err(Mismatch {
            message,
            expected: format!("as before: {}", file_state::described(&file.before)),
            actual: file_state::described(&file.after),
            diff: None,
            help: help.map(str::to_owned),
        })
    }

    fn files(&self) -> Vec<&str> {
        vec![&self.path]
    }
}

impl FileUnchanged {
    fn changed(&self, before: &[u8], after: &[u8]) -> Mismatch {
        let message = format!("file {} changed", quoted(&self.path));
        let (Ok(old), Ok(new)) = (str::from_utf8(before), str::from_utf8(after)) else {
            let same = before.iter().zip(after).take_while(|(a, b)| a == b).count();
            return Mismatch {
                message: format!("{message} from byte {same} on"),
                expected: format!("as before: {} bytes", before.len()),
                actual: format!("{} bytes", after.len()),
                ..Mismatch::default()
            };
        };
        let from = diff::common_prefix(old, new);
        let shown =
            |text: &str| if text.is_empty() { "an empty file".to_owned() } else { excerpt::around(text, from..from) };
        Mismatch {
            message,
            expected: shown(old),
            actual: shown(new),
            diff: Some(diff::unified(Sides { old: "before", new: "after" }, old, new)),
            help: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{file, mismatch};
    use super::*;

    #[test]
    fn the_change_is_shown_as_a_diff() {
        let seen = file("a", FileState::Content(b"one\ntwo".to_vec()), FileState::Content(b"one\n2".to_vec()));
        let diff = mismatch(NAME, r#""a""#, &seen).diff.expect("a diff");
        assert_eq!(diff, "--- before\n+++ after\n@@ -1,2 +1,2 @@\n one\n-two\n+2");
    }

    #[test]
    fn bytes_are_told_by_their_place() {
        let seen = file("a", FileState::Content(vec![1, 0xff]), FileState::Content(vec![1, 0xfe, 3]));
        let mismatch = mismatch(NAME, r#""a""#, &seen);
        assert_eq!(mismatch.message, "file `a` changed from byte 1 on");
        assert_eq!(mismatch.actual, "3 bytes");
    }

    #[test]
    fn what_is_no_file_is_named() {
        let message = |before, after| mismatch(NAME, r#""a""#, &file("a", before, after)).message;
        assert_eq!(message(FileState::Missing, FileState::Missing), "file `a` did not exist before the call");
        assert_eq!(message(FileState::Directory, FileState::Directory), "`a` is a directory");
        let content = || FileState::Content(Vec::new());
        assert_eq!(message(content(), FileState::Missing), "file `a` is gone after the call");
        assert_eq!(message(content(), FileState::Directory), "file `a` is a directory after the call");
    }
}
