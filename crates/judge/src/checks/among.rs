//! A part that is looked for among several texts: one of them must have it, or none may.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck};

use super::shape;
use crate::excerpt::{self, quoted};
use crate::nearest_match;

/// Texts that are searched.
#[derive(Debug)]
pub(super) struct Texts {
    /// Message if no text has the part: the part follows.
    pub(super) none: &'static str,
    /// Message if a text has it: the part follows.
    pub(super) some: &'static str,
    /// Shown if the list of texts is empty.
    pub(super) empty: &'static str,
    /// All that were seen.
    pub(super) of: fn(&Observation) -> Vec<String>,
}

/// Presence or absence of a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TextPresence {
    Required,
    Forbidden,
}

/// A check with a name that is asked for by one text or several, each a check of its own.
pub(super) struct TextsCheck<'n> {
    pub(super) name: &'static str,
    pub(super) node: &'n Node,
    pub(super) wanted: TextPresence,
    pub(super) texts: &'static Texts,
}

pub(super) fn decode(asked: &TextsCheck<'_>, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let parts = shape::texts(asked.name, asked.node, found);
    let check = |part: &str| Among { part: part.to_owned(), wanted: asked.wanted, texts: asked.texts };
    parts.iter().map(|w| shape::planned(asked.name, w.span, check(w.text))).collect()
}

#[derive(Debug)]
struct Among {
    part: String,
    wanted: TextPresence,
    texts: &'static Texts,
}

impl Check for Among {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let texts = (self.texts.of)(seen);
        let part = quoted(&self.part);
        let holder = texts.iter().find_map(|text| Some((text, text.find(&self.part)?)));
        match (self.wanted, holder) {
            (TextPresence::Required, Some(_)) | (TextPresence::Forbidden, None) => Ok(()),
            (TextPresence::Required, None) => {
                let all = texts.join("\n");
                let near = nearest_match::find(&all, &self.part);
                let view = near.as_ref().map_or(0..0, |near| near.range.clone());
                Err(Mismatch {
                    message: format!("{} {part}", self.texts.none),
                    expected: excerpt::around(&self.part, 0..0),
                    actual: match (texts.is_empty(), all.is_empty()) {
                        (true, _) => self.texts.empty.to_owned(),
                        (false, true) => "an empty text".to_owned(),
                        (false, false) => excerpt::around(&all, view),
                    },
                    diff: None,
                    help: near.map(|near| near.help),
                })
            }
            (TextPresence::Forbidden, Some((text, start))) => Err(Mismatch {
                message: format!("{} {part}", self.texts.some),
                expected: format!("no {part}"),
                actual: excerpt::around(text, start..start + self.part.len()),
                diff: None,
                help: self.part.is_empty().then(|| "every text contains the empty text".to_owned()),
            }),
        }
    }

    fn awaits_more(&self) -> bool {
        matches!(self.wanted, TextPresence::Required)
    }

    fn breaks_with_more(&self) -> bool {
        matches!(self.wanted, TextPresence::Forbidden)
    }
}
