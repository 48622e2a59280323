//! Schemas that speak of the same value: under `allOf`, `anyOf`, `$ref` and the like, none of them says all there is to say.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::tree::{Role, SchemaTree, Site, SiteId, Word};

/// Another schema that speaks of the same value.
#[derive(Clone, Debug)]
pub(super) enum RelatedSchema {
    /// It always holds.
    And(SiteId),
    /// It always holds and is defined elsewhere.
    Reference(SiteId),
    /// One of them holds.
    Or(Vec<SiteId>),
    /// It holds under a condition.
    Sometimes(SiteId),
}

impl RelatedSchema {
    /// The schemas it consists of.
    pub(super) fn sites(&self) -> &[SiteId] {
        match self {
            Self::And(id) | Self::Reference(id) | Self::Sometimes(id) => std::slice::from_ref(id),
            Self::Or(ids) => ids,
        }
    }
}

/// Facts about a whole tree, computed on demand.
#[derive(Debug, Default)]
pub(super) struct SameValue {
    parts: OnceCell<BTreeMap<SiteId, Vec<RelatedSchema>>>,
    groups: OnceCell<Groups>,
}

/// The schemas that speak of the same value, for each value of which several speak.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// The first of each is the whole.
    pub(super) all: Vec<Vec<SiteId>>,
    of: BTreeMap<SiteId, Vec<usize>>,
}

impl Groups {
    /// The groups that a schema belongs to.
    pub(super) fn of(&self, id: SiteId) -> impl Iterator<Item = &[SiteId]> {
        self.of.get(&id).into_iter().flatten().map(|index| self.all[*index].as_slice())
    }
}

impl<'t> SchemaTree<'t> {
    /// The schemas that speak of the same value, for each value of which several speak.
    pub(super) fn groups(&self) -> &Groups {
        self.same_value.groups.get_or_init(|| {
            let mut groups = Groups::default();
            for id in self.all_parts().keys().filter(|id| !self.site(**id).role.is_in_place()) {
                let members = self.members(*id);
                for member in &members {
                    groups.of.entry(*member).or_default().push(groups.all.len());
                }
                groups.all.push(members);
            }
            groups
        })
    }

    /// The other schemas that speak of the same value.
    pub(super) fn parts(&self, id: SiteId) -> &[RelatedSchema] {
        self.all_parts().get(&id).map_or(&[], Vec::as_slice)
    }

    /// A schema and all others of the same value; it comes first.
    pub(super) fn members(&self, id: SiteId) -> Vec<SiteId> {
        let mut members = Vec::new();
        self.reaches(id, |member, _| {
            members.push(member);
            false
        });
        members
    }

    /// True if something is true of this schema or another of the same value.
    pub(super) fn reaches(&self, id: SiteId, mut holds: impl FnMut(SiteId, &Site<'t>) -> bool) -> bool {
        if holds(id, self.site(id)) {
            return true;
        }
        if self.parts(id).is_empty() {
            return false;
        }
        let mut seen = BTreeSet::from([id]);
        let mut waiting = vec![id];
        while let Some(id) = waiting.pop() {
            for part in self.parts(id).iter().flat_map(RelatedSchema::sites) {
                if seen.insert(*part) {
                    if holds(*part, self.site(*part)) {
                        return true;
                    }
                    waiting.push(*part);
                }
            }
        }
        false
    }

    fn all_parts(&self) -> &BTreeMap<SiteId, Vec<RelatedSchema>> {
        self.same_value.parts.get_or_init(|| {
            let mut parts: BTreeMap<SiteId, Vec<RelatedSchema>> = BTreeMap::new();
            for (id, site) in self.sites() {
                if let Some(target) = self.referred(id) {
                    parts.entry(id).or_default().push(RelatedSchema::Reference(target));
                }
                let Some(owner) = site.owner.filter(|_| site.role.is_in_place()) else { continue };
                let of_owner = parts.entry(owner).or_default();
                match site.role {
                    Role::AllOf => of_owner.push(RelatedSchema::And(id)),
                    Role::Conditional => of_owner.push(RelatedSchema::Sometimes(id)),
                    Role::AnyOf => self.add_choice(of_owner, owner, id),
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
            parts
        })
    }

    /// Adds an alternative to those of the same keyword.
    fn add_choice(&self, parts: &mut Vec<RelatedSchema>, owner: SiteId, id: SiteId) {
        let list = |word: Word| self.site(owner).word(word).map_or(0..0, |list| list.slot()..list.next_slot());
        let any_of = list(Word::AnyOf);
        let is_any_of = |id: SiteId| any_of.contains(&self.site(id).json.slot());
        // Alternatives are in the order of the text, so only those added last can be of the same keyword.
        match parts.iter_mut().rev().find(|part| matches!(part, RelatedSchema::Or(_))) {
            Some(RelatedSchema::Or(choice))
                if choice.first().is_some_and(|first| is_any_of(*first) == is_any_of(id)) =>
            {
                choice.push(id);
            }
            Some(_) | None => parts.push(RelatedSchema::Or(vec![id])),
        }
    }
}
