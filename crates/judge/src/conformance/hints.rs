//! Effects of a tool on everything that can be observed from outside, for rules about its hints.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Observable state, each thing under its name: files, listed items, contents of resources.
pub type StateView = BTreeMap<String, String>;

/// Two calls of a tool with the same input, and the state around them.
#[derive(Clone, Debug)]
pub struct HintTrial {
    /// The tool.
    pub tool: String,
    /// Its annotations.
    pub annotations: Value,
    /// The state before, as it was seen twice.
    pub before: [StateView; 2],
    /// The state after the first call.
    pub once: StateView,
    /// The state after the second call.
    pub twice: StateView,
}

/// A difference between two states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<'s> {
    /// Something is there that was not.
    Created(&'s str),
    /// Something is gone.
    Removed(&'s str),
    /// Something is longer, and what it was is still a part of it.
    Extended(&'s str),
    /// Something has another content.
    Replaced(&'s str),
}

impl Change<'_> {
    /// True if something was lost.
    pub fn is_destructive(self) -> bool {
        matches!(self, Self::Removed(_) | Self::Replaced(_))
    }

    /// The change for people.
    pub fn described(self) -> String {
        match self {
            Self::Created(what) => format!("{what} was created"),
            Self::Removed(what) => format!("{what} was removed"),
            Self::Extended(what) => format!("{what} was extended"),
            Self::Replaced(what) => format!("{what} was changed"),
        }
    }
}

impl HintTrial {
    /// A hint of the tool.
    pub fn hint(&self, name: &str) -> Option<bool> {
        self.annotations.get(name).and_then(Value::as_bool)
    }

    /// Changes made by the first call.
    pub fn first_changes(&self) -> Vec<Change<'_>> {
        self.changes(&self.before[1], &self.once)
    }

    /// Changes made by the second call.
    pub fn second_changes(&self) -> Vec<Change<'_>> {
        self.changes(&self.once, &self.twice)
    }

    /// The differences between two states, without what changes by itself.
    fn changes<'s>(&'s self, before: &'s StateView, after: &'s StateView) -> Vec<Change<'s>> {
        let [first, second] = &self.before;
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let is_stable = |name: &&String| first.get(*name) == second.get(*name);
        let changed =
            names.into_iter().filter(is_stable).filter_map(|name| match (before.get(name), after.get(name)) {
                (None, Some(_)) => Some(Change::Created(name)),
                (Some(_), None) => Some(Change::Removed(name)),
                (Some(old), Some(new)) if old == new => None,
                (Some(old), Some(new)) if new.contains(old.as_str()) => Some(Change::Extended(name)),
                (Some(_), Some(_)) => Some(Change::Replaced(name)),
                (None, None) => None,
            });
        changed.collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn state(items: &[(&str, &str)]) -> StateView {
        items.iter().map(|(name, content)| ((*name).to_owned(), (*content).to_owned())).collect()
    }

    #[test]
    fn what_changes_by_itself_is_left_out() {
        let trial = HintTrial {
            tool: "t".to_owned(),
            annotations: json!({"readOnlyHint": true}),
            before: [
                state(&[("clock", "1"), ("a", "x"), ("b", "y")]),
                state(&[("clock", "2"), ("a", "x"), ("b", "y")]),
            ],
            once: state(&[("clock", "3"), ("a", "xx"), ("c", "new")]),
            twice: state(&[("clock", "4"), ("a", "z"), ("c", "new")]),
        };
        assert_eq!(trial.first_changes(), [Change::Extended("a"), Change::Removed("b"), Change::Created("c")]);
        assert_eq!(trial.second_changes(), [Change::Replaced("a")]);
        assert_eq!((trial.hint("readOnlyHint"), trial.hint("idempotentHint")), (Some(true), None));
    }
}
