//! Properties that several schemas of the same object speak of at once.
//!
//! Each must let through the properties that the others declare. Alternatives are not rivals: a value is one of them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::same_value::RelatedSchema;
use super::tree::{SchemaTree, SiteId};

/// Steps of a search, and pairs it may find: more than any schema written by people takes, because circles of references
/// could otherwise go on for very long.
const ENOUGH: usize = 20_000;

/// For each schema of a property the others that speak of the same value.
#[derive(Debug, Default)]
pub(super) struct Rivals {
    of: BTreeMap<SiteId, BTreeSet<SiteId>>,
}

impl Rivals {
    pub(super) fn of(tree: &SchemaTree<'_>) -> Self {
        let mut search = Search { tree, rivals: Self::default(), waiting: Vec::new(), steps: 0 };
        for group in &tree.groups().all {
            let Some(whole) = group.first() else { continue };
            search.conjoin(*whole, &mut Conjoined::default(), &mut Vec::new());
        }
        // The rivals hold values themselves, of which they speak together.
        while let Some((a, b)) = search.waiting.pop() {
            let mut conjoined = Conjoined::default();
            search.conjoin(a, &mut conjoined, &mut Vec::new());
            search.conjoin(b, &mut conjoined, &mut Vec::new());
        }
        search.rivals
    }

    /// The other schemas of the same property.
    pub(super) fn to(&self, id: SiteId) -> impl Iterator<Item = SiteId> {
        self.of.get(&id).into_iter().flatten().copied()
    }
}

/// The properties that are declared so far for one value.
#[derive(Clone, Debug, Default)]
struct Conjoined<'t> {
    properties: HashMap<Cow<'t, str>, BTreeSet<SiteId>>,
}

struct Search<'a, 't> {
    tree: &'a SchemaTree<'t>,
    rivals: Rivals,
    waiting: Vec<(SiteId, SiteId)>,
    steps: usize,
}

impl<'t> Search<'_, 't> {
    /// Adds the declarations of a schema to those that hold at the same time.
    fn conjoin(&mut self, id: SiteId, conjoined: &mut Conjoined<'t>, path: &mut Vec<SiteId>) {
        self.steps += 1;
        if self.steps > ENOUGH || path.contains(&id) {
            return;
        }
        path.push(id);
        for (name, schema) in self.tree.site(id).properties() {
            let (Some(name), Some(schema)) = (name.as_text(), self.tree.site_of(schema)) else { continue };
            let others = conjoined.properties.entry(name).or_default();
            for other in others.iter().filter(|other| **other != schema) {
                let fresh = self.rivals.of.entry(schema).or_default().insert(*other);
                self.rivals.of.entry(*other).or_default().insert(schema);
                if fresh {
                    self.waiting.push((schema, *other));
                }
            }
            others.insert(schema);
        }
        let tree = self.tree;
        for part in tree.parts(id) {
            match part {
                RelatedSchema::And(part) | RelatedSchema::Reference(part) | RelatedSchema::Sometimes(part) => {
                    self.conjoin(*part, conjoined, path);
                }
                RelatedSchema::Or(choice) => self.conjoin_choice(choice, conjoined, path),
            }
        }
        path.pop();
    }

    /// Each alternative holds together with the declarations so far, and later ones together with all alternatives.
    fn conjoin_choice(&mut self, choice: &[SiteId], conjoined: &mut Conjoined<'t>, path: &mut Vec<SiteId>) {
        let mut all = conjoined.clone();
        for alternative in choice {
            let mut one = conjoined.clone();
            self.conjoin(*alternative, &mut one, path);
            for (name, sites) in one.properties {
                all.properties.entry(name).or_default().extend(sites);
            }
        }
        *conjoined = all;
    }
}
