//! What a schema says about the values it accepts: their type, and their size.

use super::pattern_length::bounds_length;
use super::same_value::Part;
use super::tree::{Role, SchemaTree, Site, SiteId, Word};
use crate::spanned_json::{Json, JsonKind};

/// Formats whose values have a largest length in practice.
const BOUNDING_FORMATS: &[&str] = &[
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "idn-email",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "time",
    "uuid",
];

/// What makes the size of a value unbounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    Text,
    List,
}

impl<'t> SchemaTree<'t> {
    /// Whether any value at all is accepted, as far as its type goes.
    pub(crate) fn accepts_anything(&self, id: SiteId) -> bool {
        self.accepts_anything_but(id, &mut Vec::new())
    }

    /// Whether some schema of the same object says what the value under a name is.
    pub(crate) fn is_constrained(&self, object: SiteId, name: &str) -> bool {
        let whole = self.same_value_owners(object).last().unwrap_or(object);
        self.constrains(whole, name, &mut Vec::new())
    }

    /// Whether the size of a string or list is bounded by any schema of the same value.
    pub(crate) fn is_bounded(&self, id: SiteId, size: Size) -> bool {
        self.bounds(id, size, &mut Vec::new())
            || self.same_value_owners(id).any(|owner| self.bounds(owner, size, &mut Vec::new()))
    }

    fn accepts_anything_but(&self, id: SiteId, seen: &mut Vec<SiteId>) -> bool {
        let site = self.site(id);
        if let Some(whole) = site.json.as_bool() {
            return whole;
        }
        if site.has(Word::Type) || site.has(Word::Enum) || site.has(Word::Const) {
            return false;
        }
        // A reference that leads nowhere is a fault of its own, and one that leads back here adds nothing.
        if site.has(Word::Ref) && self.referred(id).is_none() {
            return false;
        }
        if seen.contains(&id) {
            return true;
        }
        seen.push(id);
        self.parts(id).iter().all(|part| match part {
            Part::And(part) | Part::Reference(part) => self.accepts_anything_but(*part, seen),
            Part::Or(choice) => choice.iter().any(|part| self.accepts_anything_but(*part, seen)),
            Part::Sometimes(_) => true,
        })
    }

    fn constrains(&self, id: SiteId, name: &str, seen: &mut Vec<SiteId>) -> bool {
        if seen.contains(&id) {
            return false;
        }
        seen.push(id);
        let own = self.site(id).word(Word::Properties).and_then(|map| map.get(name));
        if own.and_then(|schema| self.site_of(schema)).is_some_and(|schema| !self.accepts_anything(schema)) {
            return true;
        }
        self.parts(id).iter().any(|part| match part {
            Part::And(part) | Part::Reference(part) => self.constrains(*part, name, seen),
            Part::Or(choice) => choice.iter().all(|part| self.constrains(*part, name, &mut seen.clone())),
            Part::Sometimes(_) => false,
        })
    }

    fn bounds(&self, id: SiteId, size: Size, seen: &mut Vec<SiteId>) -> bool {
        if seen.contains(&id) {
            return false;
        }
        seen.push(id);
        let schema = self.site(id);
        let own = match size {
            Size::Text => bounds_text(schema),
            Size::List => self.bounds_list(id, schema),
        };
        own || schema.has(Word::Enum)
            || schema.has(Word::Const)
            || self.parts(id).iter().any(|part| match part {
                Part::And(part) | Part::Reference(part) => self.bounds(*part, size, seen),
                Part::Or(choice) => choice.iter().all(|part| self.bounds(*part, size, &mut seen.clone())),
                Part::Sometimes(_) => false,
            })
    }

    fn bounds_list(&self, id: SiteId, site: &Site<'t>) -> bool {
        let never = |word: Word| site.word(word).is_some_and(|schema| schema.as_bool() == Some(false));
        let old_tuple = site.word(Word::Items).is_some_and(|items| items.kind() == JsonKind::List);
        let no_more = never(Word::Items)
            || never(Word::UnevaluatedItems) && (site.has(Word::PrefixItems) || old_tuple)
            || never(Word::AdditionalItems) && old_tuple;
        // Different values of an enumeration are as many as it has.
        let finite =
            |(_, held): (SiteId, &Site<'t>)| held.role == Role::Item && (held.has(Word::Enum) || held.has(Word::Const));
        let unique = site.word(Word::UniqueItems).and_then(Json::as_bool) == Some(true);
        site.has(Word::MaxItems) || no_more || unique && self.held_by(id).any(finite)
    }
}

fn bounds_text(site: &Site<'_>) -> bool {
    let text = |word: Word| site.word(word).and_then(Json::as_text);
    site.has(Word::MaxLength)
        || text(Word::Format).is_some_and(|format| BOUNDING_FORMATS.contains(&&*format))
        || text(Word::Pattern).is_some_and(|pattern| bounds_length(&pattern))
}
