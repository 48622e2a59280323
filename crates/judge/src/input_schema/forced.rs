//! Values that would have to hold an object if all properties of all objects were required.

use std::cell::OnceCell;

use super::same_value::RelatedSchema;
use super::tree::{Role, SchemaTree, SiteId, Word};
use crate::spanned_json::Json;

/// For each schema those that cannot be met without it, one step away.
#[derive(Debug, Default)]
pub(super) struct Forced {
    steps: OnceCell<Steps>,
}

#[derive(Debug)]
struct Steps {
    /// The schemas that need this one.
    needed_by: Vec<Vec<SiteId>>,
    /// The alternatives that this schema is one of.
    choices_with: Vec<Vec<usize>>,
    /// The owners of these alternatives, and their number.
    choices: Vec<(SiteId, usize)>,
}

impl SchemaTree<'_> {
    /// For each schema, true if its values would have to hold a value of one of the `targets`.
    pub(super) fn forcing(&self, targets: &[SiteId]) -> Vec<bool> {
        let steps = self.forced.steps.get_or_init(|| self.steps());
        let mut forcing = vec![false; steps.needed_by.len()];
        let mut left: Vec<usize> = steps.choices.iter().map(|(_, count)| *count).collect();
        let mut waiting = targets.to_vec();
        while let Some(id) = waiting.pop() {
            if std::mem::replace(&mut forcing[id], true) {
                continue;
            }
            waiting.extend(&steps.needed_by[id]);
            for choice in &steps.choices_with[id] {
                left[*choice] -= 1;
                // Only when every alternative leads there is there no way around it.
                if left[*choice] == 0 {
                    waiting.push(steps.choices[*choice].0);
                }
            }
        }
        forcing
    }

    fn steps(&self) -> Steps {
        let count = self.sites().count();
        let mut steps =
            Steps { needed_by: vec![Vec::new(); count], choices_with: vec![Vec::new(); count], choices: Vec::new() };
        for (id, site) in self.sites() {
            // A value that is listed holds nothing that is not listed with it.
            if site.has(Word::Enum) || site.has(Word::Const) {
                continue;
            }
            for part in self.parts(id) {
                match part {
                    RelatedSchema::And(part) | RelatedSchema::Reference(part) => steps.needed_by[*part].push(id),
                    RelatedSchema::Or(choice) => {
                        for part in choice {
                            steps.choices_with[*part].push(steps.choices.len());
                        }
                        steps.choices.push((id, choice.len()));
                    }
                    RelatedSchema::Sometimes(_) => {}
                }
            }
        }
        for (id, site) in self.sites() {
            let Some(owner) = site.owner.map(|owner| (owner, self.site(owner))) else { continue };
            let (owner, owner_site) = owner;
            let is_type = |name: &str| owner_site.word(Word::Type).is_some_and(|kind| kind.is_text(name));
            let filled = || owner_site.word(Word::MinItems).and_then(Json::as_count).is_some_and(|count| count > 0);
            let needed = match site.role {
                Role::Property => is_type("object"),
                Role::Item => is_type("array") && filled(),
                Role::Root
                | Role::PatternProperty
                | Role::MapValue
                | Role::TupleItem
                | Role::Definition
                | Role::AllOf
                | Role::AnyOf
                | Role::Conditional
                | Role::Condition => false,
            };
            if needed && !owner_site.has(Word::Enum) && !owner_site.has(Word::Const) {
                steps.needed_by[id].push(owner);
            }
        }
        steps
    }
}
