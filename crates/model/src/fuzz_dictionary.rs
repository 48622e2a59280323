//! Declarations of a suite for sequences of calls: what cannot be learned from a server.

use serde_json::Value;

use crate::{Expectation, Span};

/// Declarations of a suite for sequences of calls.
#[derive(Clone, Debug, Default)]
pub struct FuzzDictionary {
    /// Which tools are about the same kind of thing.
    pub links: Vec<FuzzLink>,
    /// Calls whose reply must hold after every change.
    pub invariants: Vec<FuzzInvariant>,
    /// Findings that are not demanded of the server.
    pub off: Vec<String>,
}

impl FuzzDictionary {
    /// True if it says nothing.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty() && self.invariants.is_empty() && self.off.is_empty()
    }
}

/// The tools about one kind of thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FuzzLink {
    /// The kind of thing.
    pub thing: String,
    /// The name under which replies have its key.
    pub key: String,
    /// Its tools.
    pub tools: Vec<LinkedTool>,
}

/// A tool, and what it does with a thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedTool {
    /// Its part.
    pub part: LinkPart,
    /// Its name.
    pub tool: String,
    /// The argument that takes the key, or the text to search for.
    pub argument: Option<String>,
    /// Its place in the file.
    pub span: Span,
}

/// The role of a tool for a kind of thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkPart {
    /// It counts all.
    Count,
    /// It makes one, and gives it a key.
    Create,
    /// It deletes one by its key.
    Delete,
    /// It lists all.
    List,
    /// It shows one by its key.
    Read,
    /// It lists those with a text.
    Search,
    /// It makes or replaces one under a key of the caller's.
    Set,
    /// It changes one by its key.
    Update,
}

/// A call whose reply must hold after every change.
#[derive(Clone, Debug)]
pub struct FuzzInvariant {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub args: Value,
    /// The expected reply.
    pub expect: Expectation,
    /// The same as it is written.
    pub written: Value,
    /// Its place in the file.
    pub span: Span,
}
