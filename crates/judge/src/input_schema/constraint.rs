//! Constraints of a schema on its values: their type, and their size.

use std::collections::HashMap;

use super::pattern_length::bounds_length;
use super::same_value::RelatedSchema;
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

/// Answers for schemas already visited while a question is followed through references; cycles end here.
type Answers = HashMap<SiteId, bool>;

/// Cause of an unbounded size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    Text,
    List,
}

impl<'t> SchemaTree<'t> {
    /// True if any value at all is accepted, as far as its type goes.
    pub(crate) fn accepts_anything(&self, id: SiteId) -> bool {
        self.accepts_all(id, &mut Answers::new())
    }

    /// True if some schema of the same object says what the value under a name is.
    pub(crate) fn is_constrained(&self, object: SiteId, name: &str) -> bool {
        let whole = self.same_value_owners(object).last().unwrap_or(object);
        self.constrains(whole, name, &mut Answers::new())
    }

    /// True if the size of a string or list is bounded by any schema of the same value.
    pub(crate) fn is_bounded(&self, id: SiteId, size: Size) -> bool {
        let mut answers = Answers::new();
        self.bounds(id, size, &mut answers)
            || self.same_value_owners(id).any(|owner| self.bounds(owner, size, &mut answers))
    }

    fn accepts_all(&self, id: SiteId, answers: &mut Answers) -> bool {
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
        if self.parts(id).is_empty() {
            return true;
        }
        if let Some(known) = answers.get(&id) {
            return *known;
        }
        answers.insert(id, true);
        let all = self.parts(id).iter().all(|part| match part {
            RelatedSchema::And(part) | RelatedSchema::Reference(part) => self.accepts_all(*part, answers),
            RelatedSchema::Or(choice) => choice.iter().any(|part| self.accepts_all(*part, answers)),
            RelatedSchema::Sometimes(_) => true,
        });
        answers.insert(id, all);
        all
    }

    fn constrains(&self, id: SiteId, name: &str, answers: &mut Answers) -> bool {
        let own = self.site(id).word(Word::Properties).and_then(|map| map.get(name));
        if own.and_then(|schema| self.site_of(schema)).is_some_and(|schema| !self.accepts_anything(schema)) {
            return true;
        }
        self.any_part(id, answers, &mut |part, answers| self.constrains(part, name, answers))
    }

    fn bounds(&self, id: SiteId, size: Size, answers: &mut Answers) -> bool {
        let schema = self.site(id);
        let own = match size {
            Size::Text => bounds_text(schema),
            Size::List => self.bounds_list(id, schema),
        };
        own || schema.has(Word::Enum)
            || schema.has(Word::Const)
            || self.any_part(id, answers, &mut |part, answers| self.bounds(part, size, answers))
    }

    /// True if something is true of the value because it is of a part that always holds, or of every alternative.
    fn any_part(&self, id: SiteId, answers: &mut Answers, holds: &mut dyn FnMut(SiteId, &mut Answers) -> bool) -> bool {
        if self.parts(id).is_empty() {
            return false;
        }
        if let Some(known) = answers.get(&id) {
            return *known;
        }
        // Whatever leads back here adds nothing.
        answers.insert(id, false);
        let any = self.parts(id).iter().any(|part| match part {
            RelatedSchema::And(part) | RelatedSchema::Reference(part) => holds(*part, answers),
            RelatedSchema::Or(choice) => choice.iter().all(|part| holds(*part, answers)),
            RelatedSchema::Sometimes(_) => false,
        });
        answers.insert(id, any);
        any
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
