//! The tools that servers list, with the places they were read from.

use std::borrow::Cow;
use std::sync::OnceLock;

use mcprove_model::{Position, Span, TextPlace};

use crate::spanned_json::{Json, JsonKind, Lines, SpannedJson};

/// Lines longer than this are not quoted in findings: a catalog may be one line of ten megabytes.
const QUOTED_LINE: usize = 400;

/// Tools as they were listed, ready to be judged.
#[derive(Debug)]
pub struct Catalog {
    pub(crate) documents: Vec<Document>,
    pub(crate) listings: Vec<Listing>,
}

/// One text that tools were read from.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) origin: Origin,
    pub(crate) json: SpannedJson,
    lines: OnceLock<Lines>,
}

/// Origin of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The text of a file.
    File { path: String },
    /// A frame in an event log.
    Log { path: String, line: u32 },
    /// A server that answered just now.
    Server { name: String },
}

/// One listing of one server, all pages together.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) tools: Vec<ToolAt>,
}

/// Position of a tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToolAt {
    pub(crate) document: usize,
    pub(crate) slot: u32,
    /// The list that contains it.
    pub(crate) list: u32,
    /// The document of the text that contains the list, because a text may hold several pages.
    pub(crate) root: u32,
    /// Its place in that list.
    pub(crate) index: usize,
}

impl Catalog {
    /// Number of tools.
    pub fn tool_count(&self) -> usize {
        self.listings.iter().map(|listing| listing.tools.len()).sum()
    }

    /// Number of tools without an input schema that can be judged.
    pub fn tools_without_schema(&self) -> usize {
        let has_schema = |tool: &&ToolAt| self.tool(tool).get("inputSchema").is_some_and(Json::is_map);
        self.listings.iter().flat_map(|listing| &listing.tools).filter(|tool| !has_schema(tool)).count()
    }

    /// The text it was read from, if all of it is in one file and can be edited there.
    pub fn editable_text(&self) -> Option<&str> {
        match self.documents.as_slice() {
            [Document { origin: Origin::File { .. }, json, .. }] => Some(json.text()),
            _ => None,
        }
    }

    pub(crate) fn tool(&self, tool: &ToolAt) -> Json<'_> {
        self.documents[tool.document].json.at(tool.slot)
    }

    /// The JSON Pointer of a part of a tool, in the document that holds the tool.
    pub(crate) fn pointer(&self, tool: &ToolAt, part: Json<'_>) -> String {
        let json = &self.documents[tool.document].json;
        let list = json.at(tool.root).pointer_to(json.at(tool.list));
        format!("{list}/{}{}", tool.index, self.tool(tool).pointer_to(part))
    }
}

impl Document {
    pub(crate) fn new(origin: Origin, json: SpannedJson) -> Self {
        Self { origin, json, lines: OnceLock::new() }
    }

    /// The file and the position in it; `None` for what a server said.
    pub(crate) fn position(&self, part: Json<'_>) -> Option<(&str, Position)> {
        match &self.origin {
            Origin::File { path } => Some((path, self.position_of(shown(part).start))),
            Origin::Log { path, line } => Some((path, Position { line: *line, column: 1 })),
            Origin::Server { .. } => None,
        }
    }

    /// The place of a part; `None` for what a server said.
    pub(crate) fn place(&self, part: Json<'_>) -> Option<TextPlace> {
        let (file, from) = self.position(part)?;
        let mut place = TextPlace {
            file: file.to_owned(),
            line: from.line,
            column: from.column,
            end_line: from.line,
            end_column: from.column + 1,
            excerpt: String::new(),
        };
        if let Origin::File { .. } = self.origin {
            let span = shown(part);
            let to = self.position_of(span.end);
            (place.end_line, place.end_column) = (to.line, to.column);
            let line = Lines::line(self.json.text(), span.start, QUOTED_LINE);
            line.unwrap_or_default().clone_into(&mut place.excerpt);
        }
        Some(place)
    }

    /// True if it records a past conversation that cannot be changed.
    pub(crate) fn is_record(&self) -> bool {
        match &self.origin {
            Origin::Log { .. } => true,
            Origin::File { .. } | Origin::Server { .. } => false,
        }
    }

    /// Its display name.
    pub(crate) fn label(&self) -> Cow<'_, str> {
        match &self.origin {
            Origin::File { path } => Cow::Borrowed(path),
            Origin::Log { path, line } => Cow::Owned(format!("{path}:{line}")),
            Origin::Server { name } => Cow::Borrowed(name),
        }
    }

    fn position_of(&self, offset: u32) -> Position {
        self.lines.get_or_init(|| Lines::new(self.json.text())).position(self.json.text(), offset)
    }
}

/// The marked span of a part: its key, else the value, of which only the bracket when it has parts of its own.
fn shown(part: Json<'_>) -> Span {
    if let Some(key) = part.key() {
        return key.span();
    }
    let span = part.span();
    let bracket = matches!(part.kind(), JsonKind::List | JsonKind::Map);
    if bracket { Span { end: span.start + 1, ..span } } else { span }
}
