//! `file_contains`: files hold these texts after the call.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck};

use super::example::{fails, holds};
use super::{CheckKind, Seen, file_state, shape};
use crate::excerpt::{self, quoted};
use crate::nearest_match;

const NAME: &str = "file_contains";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "After the call, each of these files contains its text, or each of its texts.",
    decode,
    schema: shape::texts_by_path_schema,
    examples: &[
        holds(r#"{"a.txt": "new"}"#, Seen::File { path: "a.txt", before: None, after: Some("a new line") }),
        holds(r#"{"a.txt": ["new", "line"]}"#, Seen::File { path: "a.txt", before: None, after: Some("a new line") }),
        fails(r#"{"a.txt": ["new", "old"]}"#, Seen::File { path: "a.txt", before: None, after: Some("a new line") }),
        fails(r#"{"a.txt": "new"}"#, Seen::File { path: "a.txt", before: Some("new"), after: None }),
        fails(r#"{"a.txt": "new"}"#, Seen::Text("no file was looked at")),
    ],
};

#[derive(Debug)]
struct FileContains {
    path: String,
    part: String,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let texts = shape::texts_by_path(NAME, node, found).into_iter();
    texts
        .map(|(path, w)| shape::planned(NAME, w.span, FileContains { path: path.to_owned(), part: w.text.to_owned() }))
        .collect()
}

impl Check for FileContains {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let expected = excerpt::around(&self.part, 0..0);
        let content = file_state::content_after(seen, &self.path, &expected)?;
        if content.contains(&self.part) {
            return Ok(());
        }
        let near = nearest_match::find(&content, &self.part);
        let view = near.as_ref().map_or(0..0, |near| near.range.clone());
        Err(Mismatch {
            message: format!("file {} does not contain {}", quoted(&self.path), quoted(&self.part)),
            expected,
            actual: if content.is_empty() { "an empty file".to_owned() } else { excerpt::around(&content, view) },
            diff: None,
            help: near.map(|near| near.help),
        })
    }

    fn files(&self) -> Vec<&str> {
        vec![&self.path]
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{check, observation};
    use super::*;

    #[test]
    fn the_file_is_declared_and_quoted() {
        let check = check(NAME, r#"{"dir/a.txt": "Total"}"#);
        assert_eq!(check.files(), ["dir/a.txt"]);
        let seen = observation(&Seen::File { path: "dir/a.txt", before: None, after: Some("total: 3") });
        let mismatch = check.judge(&seen).expect_err("a mismatch");
        assert_eq!(mismatch.message, "file `dir/a.txt` does not contain `Total`");
        assert_eq!(mismatch.actual, "total: 3");
        assert_eq!(mismatch.help.as_deref(), Some("found `total`, which differs in case"));
    }
}
