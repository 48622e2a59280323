//! Objects that accept undeclared properties, and the way to close each.
//!
//! Closing one branch of an `allOf` with `additionalProperties: false` rejects what its neighbours declare, so an object is
//! closed where all of it is in view, and what others build upon stays open.

use std::collections::BTreeSet;

use super::rivals::Rivals;
use super::same_value::RelatedSchema;
use super::tree::{Role, SchemaTree, Site, SiteId, Word};

/// Way to close an open object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Close {
    /// By `additionalProperties: false` in the schema itself.
    Additional,
    /// By `unevaluatedProperties: false`, because other schemas of the same value declare properties too.
    Unevaluated,
    /// Only by its author: nothing says what belongs into it, or it is used in two ways.
    Author,
}

/// The objects that accept undeclared properties, in the order of the text.
pub(crate) fn open_objects(tree: &SchemaTree<'_>) -> Vec<(SiteId, Close)> {
    let rivals = Rivals::of(tree);
    let mut search =
        OpenObjects { tree, rivals, head: 0, open: Vec::new(), composed: BTreeSet::new(), alone: Vec::new() };
    for (id, site) in tree.sites() {
        if !site.condition && !site.role.is_in_place() {
            search.head = id;
            search.visit(id);
        }
    }
    search.settled()
}

struct OpenObjects<'a, 't> {
    tree: &'a SchemaTree<'t>,
    rivals: Rivals,
    /// Start of the current visit.
    head: SiteId,
    /// The open objects, and the start of the visit that found each.
    open: Vec<(SiteId, Close, SiteId)>,
    /// Schemas that are referred to together with other properties.
    composed: BTreeSet<SiteId>,
    /// Schemas that are referred to by themselves, and the start of the visit that found each.
    alone: Vec<(SiteId, SiteId)>,
}

impl OpenObjects<'_, '_> {
    /// The open objects without the definitions that others build upon: those must stay open for additions.
    fn settled(self) -> Vec<(SiteId, Close)> {
        let Self { tree, open, composed, alone, .. } = self;
        let is_base = |id: SiteId| composed.contains(&id);
        // A definition that is only ever built upon does not use the schemas it refers to.
        let mut used: BTreeSet<SiteId> = BTreeSet::new();
        let stands = |id: SiteId, used: &BTreeSet<SiteId>| {
            !is_base(id) || tree.site(id).role != Role::Definition || used.contains(&id)
        };
        loop {
            let more: Vec<SiteId> =
                alone.iter().filter(|(_, head)| stands(*head, &used)).map(|(target, _)| *target).collect();
            let known = used.len();
            used.extend(more);
            if used.len() == known {
                break;
            }
        }
        let mut open: Vec<(SiteId, Close)> = open
            .into_iter()
            .filter(|(_, _, head)| stands(*head, &used))
            .map(|(id, close, head)| (id, if is_base(head) { Close::Author } else { close }))
            .collect();
        open.sort_unstable_by_key(|(id, _)| *id);
        open.dedup_by_key(|(id, _)| *id);
        open
    }

    fn found(&mut self, id: SiteId, close: Close) {
        self.open.push((id, close, self.head));
    }

    fn visit(&mut self, id: SiteId) {
        let tree = self.tree;
        let site = tree.site(id);
        if !site.json.is_map() || site.has(Word::Type) && !site.allows_type("object") {
            return;
        }
        let parts = tree.parts(id);
        let describing: Vec<&RelatedSchema> =
            parts.iter().filter(|part| part.sites().iter().any(|id| tree.describes_properties(*id))).collect();
        let closed = is_closed(site);
        if self.rivals.to(id).any(|rival| tree.describes_properties(rival)) {
            // Each of them must let through what the others declare.
            for part in parts {
                self.mark_composed(part);
            }
            if !closed && tree.describes_properties(id) {
                self.found(id, Close::Author);
            }
            return;
        }
        match (site.lists_properties(), describing.as_slice()) {
            (_, []) => self.alone(id, site, closed),
            (false, [only]) if !closed => self.pass_on(only),
            (declares, _) => {
                for part in &describing {
                    self.mark_composed(part);
                }
                if !closed {
                    let close = if declares && tree.covers(site, &describing) {
                        Close::Additional
                    } else if tree.is_modern() && !tree.evaluates_everything(id) {
                        Close::Unevaluated
                    } else {
                        Close::Author
                    };
                    self.found(id, close);
                }
            }
        }
    }

    /// No other schema says anything about its properties.
    fn alone(&mut self, id: SiteId, site: &Site<'_>, closed: bool) {
        if closed {
            return;
        }
        let listed = site.lists_properties();
        let root = site.role == Role::Root;
        let said_open = site.has(Word::AdditionalProperties) || site.has(Word::UnevaluatedProperties);
        let unknown = site.has(Word::Ref) && self.tree.referred(id).is_none();
        if unknown && (root || listed) {
            self.found(id, Close::Author);
        } else if unknown || said_open && !site.declares_properties() {
            // An object that says it takes anything, or a reference that leads nowhere.
        } else if listed || root && !site.has(Word::Ref) {
            self.found(id, Close::Additional);
        } else if site.allows_type("object") {
            self.found(id, Close::Author);
        }
    }

    /// All that is said about properties is said by one part.
    fn pass_on(&mut self, part: &RelatedSchema) {
        match part {
            RelatedSchema::Reference(target) => self.alone.push((*target, self.head)),
            RelatedSchema::And(_) | RelatedSchema::Or(_) | RelatedSchema::Sometimes(_) => {
                part.sites().iter().for_each(|id| self.visit(*id));
            }
        }
    }

    /// Whatever is referred to from here on is composed with something else.
    fn mark_composed(&mut self, part: &RelatedSchema) {
        for id in part.sites() {
            if let RelatedSchema::Reference(target) = part
                && !self.composed.insert(*target)
            {
                continue;
            }
            for inner in self.tree.parts(*id) {
                self.mark_composed(inner);
            }
        }
    }
}

/// True if nothing but what is declared gets in, or a schema says what else does.
fn is_closed(site: &Site<'_>) -> bool {
    let says = |word: Word| {
        site.word(word).is_some_and(|schema| schema.as_bool() == Some(false) || !schema.is_empty() && schema.is_map())
    };
    says(Word::AdditionalProperties) || says(Word::UnevaluatedProperties)
}

impl<'t> SchemaTree<'t> {
    /// True if this schema or another of the same value declares properties.
    fn describes_properties(&self, id: SiteId) -> bool {
        self.reaches(id, |_, site| site.lists_properties())
    }

    /// True if `unevaluatedProperties` would find nothing left: `additionalProperties` other than false takes all names.
    fn evaluates_everything(&self, id: SiteId) -> bool {
        let takes_all = |site: &Site<'t>| {
            site.word(Word::AdditionalProperties).is_some_and(|schema| schema.as_bool() != Some(false))
        };
        self.reaches(id, |_, site| takes_all(site))
    }

    /// True if an object declares every name that its parts declare, so that closing it rejects none of them.
    fn covers(&self, site: &Site<'t>, parts: &[&RelatedSchema]) -> bool {
        let foreign = |other: &Site<'t>| {
            let pattern = other.word(Word::PatternProperties).is_some_and(|map| !map.is_empty());
            pattern || other.properties().any(|(name, _)| name.as_text().is_none_or(|name| !site.declares(&name)))
        };
        !parts.iter().flat_map(|part| part.sites()).any(|id| self.reaches(*id, |_, site| foreign(site)))
    }
}
