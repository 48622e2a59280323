//! Names that must occur, must not occur, or must occur one after the other.

use std::sync::Arc;

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck, nearest};

use super::among::TextPresence;
use super::shape::{self, Written};
use crate::excerpt::{self, quoted};

/// The names of a sequence of things that were seen.
#[derive(Debug)]
pub(super) struct Names {
    /// All names, in order.
    pub(super) of: fn(&Observation) -> Vec<String>,
    /// Message for a name that does not occur.
    pub(super) missing: fn(&str) -> String,
    /// Message for a name with the number of its occurrences.
    pub(super) present: fn(&str, usize) -> String,
    /// Message for a first name that occurs, but not after the second.
    pub(super) too_early: fn(&str, &str) -> String,
    /// Shown if the list is empty.
    pub(super) empty: &'static str,
}

/// A check with a name that is asked for by one name or several, each a check of its own.
pub(super) struct NamesCheck<'n> {
    pub(super) name: &'static str,
    pub(super) node: &'n Node,
    pub(super) names: &'static Names,
}

/// Each of these occurs, or none of them does.
pub(super) fn occurring(
    asked: &NamesCheck<'_>,
    wanted: TextPresence,
    found: &mut Diagnostics<'_>,
) -> Vec<PlannedCheck> {
    let written = shape::texts(asked.name, asked.node, found);
    let check = |w: &Written<'_>| Occurs { name: w.text.to_owned(), wanted, names: asked.names };
    written.iter().map(|w| shape::planned(asked.name, w.span, check(w))).collect()
}

/// These occur one after the other, with anything between them.
pub(super) fn in_order(asked: &NamesCheck<'_>, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let written = shape::texts(asked.name, asked.node, found);
    let wanted: Arc<[String]> = written.iter().map(|w| w.text.to_owned()).collect();
    let check = |index| InOrder { wanted: Arc::clone(&wanted), index, names: asked.names };
    written.iter().enumerate().map(|(index, w)| shape::planned(asked.name, w.span, check(index))).collect()
}

/// The names in order, bounded, for the `actual` of a mismatch.
pub(super) fn shown(names: &[String], empty: &str) -> String {
    if names.is_empty() { empty.to_owned() } else { excerpt::around(&names.join(" → "), 0..0) }
}

/// Help for a name that does not occur: the one that was most likely meant.
pub(super) fn did_you_mean(name: &str, names: &[String]) -> Option<String> {
    let by_ending = || names.iter().find(|known| known.rsplit('/').next() == Some(name)).map(String::as_str);
    let near = nearest(name, names.iter().map(String::as_str)).or_else(by_ending)?;
    Some(format!("did you mean {}, which is there?", quoted(near)))
}

#[derive(Debug)]
struct Occurs {
    name: String,
    wanted: TextPresence,
    names: &'static Names,
}

impl Check for Occurs {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let names = (self.names.of)(seen);
        let count = names.iter().filter(|name| **name == self.name).count();
        let name = quoted(&self.name);
        let (message, expected, help) = match (self.wanted, count) {
            (TextPresence::Required, 1..) | (TextPresence::Forbidden, 0) => return Ok(()),
            (TextPresence::Required, 0) => ((self.names.missing)(&name), name, did_you_mean(&self.name, &names)),
            (TextPresence::Forbidden, count) => ((self.names.present)(&name, count), format!("no {name}"), None),
        };
        Err(Mismatch { message, expected, actual: shown(&names, self.names.empty), diff: None, help })
    }

    fn awaits_more(&self) -> bool {
        matches!(self.wanted, TextPresence::Required)
    }

    fn breaks_with_more(&self) -> bool {
        matches!(self.wanted, TextPresence::Forbidden)
    }
}

/// One name of a sequence. A name that is missing does not hide the ones after it: they are looked for after the last
/// one that was found.
#[derive(Debug)]
struct InOrder {
    wanted: Arc<[String]>,
    /// Index of the name that this check is about.
    index: usize,
    names: &'static Names,
}

impl Check for InOrder {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let names = (self.names.of)(seen);
        let wanted = &self.wanted[self.index];
        let (from, previous) = self.begin(&names);
        if names[from..].contains(wanted) {
            return Ok(());
        }
        let occurs = names.contains(wanted);
        let (message, expected) = match previous {
            Some(previous) if occurs => (
                (self.names.too_early)(&quoted(wanted), &quoted(previous)),
                format!("{} after {}", quoted(wanted), quoted(previous)),
            ),
            Some(_) | None => ((self.names.missing)(&quoted(wanted)), quoted(wanted)),
        };
        Err(Mismatch {
            message,
            expected,
            actual: shown(&names, self.names.empty),
            diff: None,
            help: if occurs { None } else { did_you_mean(wanted, &names) },
        })
    }

    fn awaits_more(&self) -> bool {
        true
    }
}

impl InOrder {
    /// Start of the search for this name: after the last earlier name that was found, which is returned too.
    fn begin(&self, names: &[String]) -> (usize, Option<&str>) {
        let mut from = 0;
        let mut previous = None;
        for wanted in &self.wanted[..self.index] {
            if let Some(at) = names[from..].iter().position(|name| name == wanted) {
                from += at + 1;
                previous = Some(wanted.as_str());
            }
        }
        (from, previous)
    }
}
