//! Properties of an object that must be present, and those that could be required.
//!
//! Requiring every property of an object that holds itself would leave no finite value, and where alternatives decide
//! about the presence of properties, it would contradict them.

use std::borrow::Cow;
use std::collections::HashSet;

use super::same_value::RelatedSchema;
use super::tree::{Role, SchemaTree, Site, SiteId, Word};
use crate::spanned_json::Json;

/// Requirements of an object on the presence of its properties.
#[derive(Debug)]
pub(crate) struct Presence<'t> {
    /// The names that could be required and are not, as written, in the order of `properties`.
    pub(crate) missing: Vec<Json<'t>>,
    /// The names that cannot be required because the object would have to hold itself.
    pub(crate) circular: Vec<Json<'t>>,
    /// True if nothing at all is required, here or by another schema of the same value.
    pub(crate) none: bool,
    /// True if alternatives or limits decide what is there, so that requiring everything could contradict them.
    pub(crate) decided_elsewhere: bool,
}

impl<'t> SchemaTree<'t> {
    /// Requirements of an object on the presence of its properties; `None` if it declares no properties.
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
        let required: HashSet<Cow<'t, str>> =
            site.word(Word::Required).into_iter().flat_map(Json::items).filter_map(Json::as_text).collect();
        let circles = self.circular_names(id);
        let mut seen = HashSet::new();
        let (mut missing, mut circular) = (Vec::new(), Vec::new());
        // What has a default stays optional.
        let mut has_default = false;
        for (key, schema) in site.properties() {
            let Some(name) = key.as_text() else { continue };
            if is_never(schema) || required.contains(&name) || !seen.insert(name.clone()) {
                continue;
            }
            if circles.contains(&*name) {
                circular.push(key);
            } else if schema.get("default").is_some() {
                has_default = true;
            } else {
                missing.push(key);
            }
        }
        let around = || self.same_value_owners(id).any(|owner| self.site(owner).requires_something());
        let none = !site.requires_something()
            && (!missing.is_empty() || has_default)
            && !around()
            && !self.parts(id).iter().flat_map(RelatedSchema::sites).any(|part| self.requires_somewhere(*part));
        let limited = |id: SiteId| self.limits_presence(id);
        let decided_elsewhere = limited(id) || self.same_value_owners(id).any(limited);
        Some(Presence { missing, circular, none, decided_elsewhere })
    }

    fn requires_somewhere(&self, id: SiteId) -> bool {
        self.reaches(id, |_, site| site.requires_something())
    }

    /// True if alternatives, conditions or a largest number decide which properties are there.
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

    /// The properties of an object whose values would have to hold the object again, were all properties required.
    fn circular_names(&self, object: SiteId) -> HashSet<String> {
        let mut names = HashSet::new();
        if !self.has_references() {
            return names;
        }
        // Whatever schema of the same object speaks of a property, all of it holds for the value; and the object may be
        // part of several wholes that refer to it.
        let groups = || self.groups().of(object);
        let whole = self.same_value_owners(object).last().unwrap_or(object);
        let wholes = groups().filter_map(|group| group.first().copied());
        let targets: Vec<SiteId> = wholes.chain([object, whole]).collect();
        let forcing = self.forcing(&targets);
        for (name, schema) in groups().flatten().chain([&object]).flat_map(|member| self.site(*member).properties()) {
            if self.site_of(schema).is_some_and(|schema| forcing[schema]) {
                names.extend(name.as_text().map(String::from));
            }
        }
        names
    }
}

/// True if a value of a property is never valid, so that the name is forbidden.
fn is_never(schema: Json<'_>) -> bool {
    let everything = |schema: Json<'_>| schema.as_bool() == Some(true) || schema.is_map() && schema.is_empty();
    schema.as_bool() == Some(false) || schema.get("not").is_some_and(everything)
}
