//! JSON text that knows the position of each of its parts.
//!
//! A catalog of tools is authored text as soon as it lies in a file: findings name its lines, and a fix edits it and
//! keeps everything else byte for byte. So the text is kept, together with one small slot per value, in the order of
//! the text: no string is copied, no map is built, and ten thousand tools take a few megabytes.

mod lines;
mod parse;
mod tree;

pub(crate) use lines::Lines;
pub(crate) use parse::ParseError;
pub(crate) use tree::{Json, JsonKind};

/// A JSON text and the places of its values.
#[derive(Debug)]
pub(crate) struct SpannedJson {
    text: String,
    slots: Vec<Slot>,
    roots: Vec<u32>,
}

/// One value or one key. A key is right before its value; the parts of a list or map are right after it.
#[derive(Clone, Copy, Debug)]
struct Slot {
    start: u32,
    end: u32,
    /// The slot after this one and all its parts.
    next: u32,
    kind: JsonKind,
    /// True if the slot before this one is its key.
    keyed: bool,
}

impl SpannedJson {
    /// Reads one or more consecutive JSON documents, as in a file of JSON lines; text that is not JSON is returned.
    pub(crate) fn parse(text: impl Into<String>) -> Result<Self, (String, ParseError)> {
        let text = text.into();
        match parse::parse(&text) {
            Ok((slots, roots)) => Ok(Self { text, slots, roots }),
            Err(error) => Err((text, error)),
        }
    }

    /// The whole text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The documents, in the order of the text.
    pub(crate) fn roots(&self) -> impl ExactSizeIterator<Item = Json<'_>> {
        self.roots.iter().map(|at| Json::new(self, *at))
    }

    /// The value in a slot.
    pub(crate) fn at(&self, slot: u32) -> Json<'_> {
        Json::new(self, slot)
    }

    fn slot(&self, at: u32) -> Slot {
        self.slots[at as usize]
    }
}
