//! Which properties of an object must be there, and which could be required.
//!
//! Requiring every property of an object that holds itself would leave no finite value, and where alternatives decide
//! what is there, it would contradict them.

use super::same_value::Part;
use super::tree::{Role, SchemaTree, Site, SiteId, Word};
use crate::spanned_json::Json;

/// What an object says about which of its properties are there.
#[derive(Debug)]
pub(crate) struct Presence<'t> {
    /// The names that could be required and are not, as written, in the order of `properties`.
    pub(crate) missing: Vec<Json<'t>>,
    /// The names that cannot be required because the object would have to hold itself.
    pub(crate) circular: Vec<Json<'t>>,
    /// Whether nothing at all is required, here or by another schema of the same value.
    pub(crate) none: bool,
    /// Whether alternatives or limits decide what is there, so that requiring everything could contradict them.
    pub(crate) decided_elsewhere: bool,
}

impl<'t> SchemaTree<'t> {
    /// What an object says about the presence of its properties; `None` when it declares none of its own.
    pub(crate) fn presence(&self, id: SiteId) -> Option<Presence<'t>> {
        let site = self.site(id);
        if site.condition || site.word(Word::Properties).is_none_or(|map| !map.is_map() || map.is_empty()) {
            return None;
        }
        let declared_around = |name: Json<'_>| {
            name.as_text().is_some_and(|n| self.same_value_owners(id).any(|o| self.site(o).declares(&n)))
        };
        if site.properties().all(|(name, _)| declared_around(name)) {
            return None;
        }
        let required: Vec<Json<'t>> = site.word(Word::Required).into_iter().flat_map(Json::items).collect();
        let is_required = |name: Json<'t>| required.iter().any(|other| same_text(*other, name));
        let (mut missing, mut circular) = (Vec::new(), Vec::new());
        for (name, schema) in site.properties() {
            let twice = missing.iter().chain(&circular).any(|other| same_text(*other, name));
            if is_never(schema) || is_required(name) || twice {
                continue;
            }
            if self.holds_itself(name, id) { circular.push(name) } else { missing.push(name) }
        }
        let around = || self.same_value_owners(id).any(|owner| self.site(owner).requires_something());
        let none = !site.requires_something()
            && !missing.is_empty()
            && !around()
            && !self.parts(id).iter().flat_map(Part::sites).any(|part| self.requires_somewhere(*part));
        let limited = |id: SiteId| self.limits_presence(id);
        let decided_elsewhere = limited(id) || self.same_value_owners(id).any(limited);
        Some(Presence { missing, circular, none, decided_elsewhere })
    }

    fn requires_somewhere(&self, id: SiteId) -> bool {
        self.reaches(id, &mut Vec::new(), &Site::requires_something)
    }

    /// Whether alternatives, conditions or a largest number decide which properties are there.
    fn limits_presence(&self, id: SiteId) -> bool {
        let site = self.site(id);
        let decides = |(held, held_site): (SiteId, &Site<'t>)| match held_site.role {
            Role::AnyOf | Role::Conditional | Role::Condition => self.requires_somewhere(held),
            Role::Root
            | Role::Property
            | Role::PatternProperty
            | Role::MapValue
            | Role::Item
            | Role::TupleItem
            | Role::Definition
            | Role::AllOf => false,
        };
        site.has(Word::MaxProperties) || self.held_by(id).any(decides)
    }

    /// Whether every value of a property would have to hold the object again, were all properties required.
    fn holds_itself(&self, name: Json<'t>, object: SiteId) -> bool {
        if !self.has_references() {
            return false;
        }
        let Some(name) = name.as_text() else { return false };
        let holds = |id: SiteId, whole: SiteId| {
            let schema = self.site(id).word(Word::Properties).and_then(|map| map.get(&name));
            let schema = schema.and_then(|schema| self.site_of(schema));
            schema.is_some_and(|id| [object, whole].iter().any(|target| self.must_hold(id, *target, &mut Vec::new())))
        };
        // Whatever schema of the same object speaks of the property, all of it holds for the value; and the object may be
        // part of several wholes that refer to it.
        let whole = self.same_value_owners(object).last().unwrap_or(object);
        holds(object, whole)
            || self.groups().iter().any(|group| {
                group.contains(&object)
                    && group.iter().any(|member| holds(*member, group.first().copied().unwrap_or(whole)))
            })
    }

    fn must_hold(&self, id: SiteId, object: SiteId, seen: &mut Vec<SiteId>) -> bool {
        if id == object {
            return true;
        }
        let site = self.site(id);
        if seen.contains(&id) || site.has(Word::Enum) || site.has(Word::Const) {
            return false;
        }
        seen.push(id);
        let is_type = |name: &str| site.word(Word::Type).is_some_and(|kind| kind.is_text(name));
        let in_part = |part: &Part, seen: &mut Vec<SiteId>| match part {
            Part::And(part) | Part::Reference(part) => self.must_hold(*part, object, seen),
            Part::Or(choice) => choice.iter().all(|part| self.must_hold(*part, object, &mut seen.clone())),
            Part::Sometimes(_) => false,
        };
        if self.parts(id).iter().any(|part| in_part(part, seen)) {
            return true;
        }
        let filled = is_type("array") && site.word(Word::MinItems).and_then(Json::as_count).is_some_and(|n| n > 0);
        let held: Vec<SiteId> = self
            .held_by(id)
            .filter(|(_, held)| match held.role {
                Role::Property => is_type("object"),
                Role::Item => filled,
                Role::Root
                | Role::PatternProperty
                | Role::MapValue
                | Role::TupleItem
                | Role::Definition
                | Role::AllOf
                | Role::AnyOf
                | Role::Conditional
                | Role::Condition => false,
            })
            .map(|(held, _)| held)
            .collect();
        held.into_iter().any(|held| self.must_hold(held, object, seen))
    }
}

/// Whether a value of a property is never valid, so that the name is forbidden.
fn is_never(schema: Json<'_>) -> bool {
    let everything = |schema: Json<'_>| schema.as_bool() == Some(true) || schema.is_map() && schema.is_empty();
    schema.as_bool() == Some(false) || schema.get("not").is_some_and(everything)
}

/// Whether two strings mean the same text, however they are written.
fn same_text(a: Json<'_>, b: Json<'_>) -> bool {
    a.as_text().is_some_and(|text| b.is_text(&text))
}
