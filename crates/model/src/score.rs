//! An answer that commands or language models grade.

use std::sync::Arc;

use serde_json::Value;

use crate::Span;

/// An answer that commands or language models grade.
#[derive(Clone, Debug)]
pub struct Score {
    /// The question.
    pub prompt: String,
    /// The answer.
    pub response: String,
    /// Description of a good answer, of any form.
    pub rubric: Value,
    /// The commands that grade it.
    pub scorers: Arc<[Scorer]>,
    /// Its position in the file.
    pub span: Span,
}

/// A command that reads `{prompt, response, rubric}` and prints `{verdict, score, reasoning}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scorer {
    /// Its name.
    pub name: String,
    /// The program and its arguments.
    pub words: Vec<String>,
}
