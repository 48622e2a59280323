//! `file_not_contains`: files hold none of these texts after the call.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck};

use super::example::{fails, holds};
use super::{CheckKind, Seen, file_state, shape};
use crate::excerpt::{self, quoted};

const NAME: &str = "file_not_contains";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "After the call, each of these files is there and contains none of its texts.",
    decode,
    schema: shape::texts_by_path_schema,
    examples: &[
        holds(r#"{"a.txt": "old"}"#, Seen::File { path: "a.txt", before: Some("old"), after: Some("new") }),
        fails(r#"{"a.txt": ["x", "new"]}"#, Seen::File { path: "a.txt", before: None, after: Some("a new line") }),
        fails(r#"{"a.txt": "old"}"#, Seen::File { path: "a.txt", before: Some("old"), after: None }),
    ],
};

#[derive(Debug)]
struct FileNotContains {
    path: String,
    part: String,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let texts = shape::texts_by_path(NAME, node, found).into_iter();
    texts
        .map(|(path, w)| {
            shape::planned(NAME, w.span, FileNotContains { path: path.to_owned(), part: w.text.to_owned() })
        })
        .collect()
}

impl Check for FileNotContains {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let expected = format!("no {}", quoted(&self.part));
        let content = file_state::content_after(seen, &self.path, &expected)?;
        let Some(start) = content.find(&self.part) else { return Ok(()) };
        Err(Mismatch {
            message: format!("file {} contains {}", quoted(&self.path), quoted(&self.part)),
            expected,
            actual: if content.is_empty() {
                "an empty file".to_owned()
            } else {
                excerpt::around(&content, start..start + self.part.len())
            },
            ..Mismatch::default()
        })
    }

    fn files(&self) -> Vec<&str> {
        vec![&self.path]
    }
}
