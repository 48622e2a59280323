//! Schemas that speak of the same value: under `allOf`, `anyOf`, `$ref` and the like, none of them says all there is to say.

use super::tree::{Role, SchemaTree, Site, SiteId, Word};

/// Another schema that speaks of the same value.
#[derive(Debug)]
pub(super) enum Part {
    /// It always holds.
    And(SiteId),
    /// It always holds and stands elsewhere.
    Reference(SiteId),
    /// One of them holds.
    Or(Vec<SiteId>),
    /// It holds under a condition.
    Sometimes(SiteId),
}

impl Part {
    /// The schemas it consists of.
    pub(super) fn sites(&self) -> &[SiteId] {
        match self {
            Self::And(id) | Self::Reference(id) | Self::Sometimes(id) => std::slice::from_ref(id),
            Self::Or(ids) => ids,
        }
    }
}

impl<'t> SchemaTree<'t> {
    /// The schemas that speak of the same value, for each value of which several speak; the first is the whole.
    pub(super) fn groups(&self) -> &[Vec<SiteId>] {
        self.groups.get_or_init(|| {
            let heads = self.sites().filter(|(id, site)| !site.role.is_in_place() && self.has_parts(*id));
            heads
                .map(|(id, _)| {
                    let mut members = Vec::new();
                    self.reaches(id, &mut members, &|_| false);
                    members
                })
                .collect()
        })
    }

    /// The other schemas that speak of the same value.
    pub(super) fn parts(&self, id: SiteId) -> Vec<Part> {
        if !self.has_parts(id) {
            return Vec::new();
        }
        let site = self.site(id);
        let mut parts: Vec<Part> = self.referred(id).map(Part::Reference).into_iter().collect();
        let (mut any, mut one) = (Vec::new(), Vec::new());
        let any_of = site.word(Word::AnyOf).map_or(0..0, |list| list.slot()..list.next_slot());
        for (held, held_site) in self.held_by(id) {
            match held_site.role {
                Role::AllOf => parts.push(Part::And(held)),
                Role::AnyOf if any_of.contains(&held_site.json.slot()) => any.push(held),
                Role::AnyOf => one.push(held),
                Role::Conditional => parts.push(Part::Sometimes(held)),
                Role::Root
                | Role::Property
                | Role::PatternProperty
                | Role::MapValue
                | Role::Item
                | Role::TupleItem
                | Role::Definition
                | Role::Condition => {}
            }
        }
        parts.extend([any, one].into_iter().filter(|choice| !choice.is_empty()).map(Part::Or));
        parts
    }

    /// Whether something is true of this schema or another of the same value.
    pub(super) fn reaches(&self, id: SiteId, seen: &mut Vec<SiteId>, holds: &dyn Fn(&Site<'t>) -> bool) -> bool {
        if seen.contains(&id) {
            return false;
        }
        seen.push(id);
        holds(self.site(id)) || self.parts(id).iter().flat_map(Part::sites).any(|part| self.reaches(*part, seen, holds))
    }

    /// Whether other schemas may speak of the same value.
    fn has_parts(&self, id: SiteId) -> bool {
        const WORDS: [Word; 7] =
            [Word::AllOf, Word::AnyOf, Word::OneOf, Word::Ref, Word::If, Word::DependentSchemas, Word::Dependencies];
        let site = self.site(id);
        WORDS.iter().any(|word| site.has(*word))
    }
}
