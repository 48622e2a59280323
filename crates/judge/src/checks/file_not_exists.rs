//! `file_not_exists`: there are no such files after the call.

use mcprove_model::{Check, Diagnostics, FileState, Mismatch, Node, Observation, PlannedCheck};

use super::example::{fails, holds};
use super::{CheckKind, Seen, file_state, shape};
use crate::excerpt::quoted;

const NAME: &str = "file_not_exists";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "After the call, there is nothing at any of these paths.",
    decode,
    schema: shape::texts_schema,
    examples: &[
        holds(r#"["a.txt"]"#, Seen::File { path: "a.txt", before: Some("x"), after: None }),
        fails(r#""a.txt""#, Seen::File { path: "a.txt", before: None, after: Some("x") }),
    ],
};

#[derive(Debug)]
struct FileNotExists {
    path: String,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let paths = shape::texts(NAME, node, found);
    paths.iter().map(|w| shape::planned(NAME, w.span, FileNotExists { path: w.text.to_owned() })).collect()
}

impl Check for FileNotExists {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let expected = format!("nothing at {}", quoted(&self.path));
        let file = file_state::of(seen, &self.path, &expected)?;
        let what = match &file.after {
            FileState::Missing => return Ok(()),
            FileState::Content(_) => "file",
            FileState::Directory => "directory",
            FileState::Unreadable(_) => "unreadable file",
        };
        let when = match &file.before {
            FileState::Missing => "was made by the call",
            FileState::Content(_) | FileState::Directory | FileState::Unreadable(_) => "was there before the call, too",
        };
        Err(Mismatch {
            message: format!("{what} {} exists", quoted(&self.path)),
            expected,
            actual: file_state::described(&file.after),
            diff: None,
            help: Some(format!("it {when}")),
        })
    }

    fn files(&self) -> Vec<&str> {
        vec![&self.path]
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{check, file, mismatch};
    use super::*;

    #[test]
    fn a_directory_exists_too() {
        let seen = file("d", FileState::Directory, FileState::Directory);
        let mismatch = mismatch(NAME, r#""d""#, &seen);
        assert_eq!(mismatch.message, "directory `d` exists");
        assert_eq!(mismatch.help.as_deref(), Some("it was there before the call, too"));
        assert_eq!(check(NAME, r#""d""#).files(), ["d"]);
    }
}
