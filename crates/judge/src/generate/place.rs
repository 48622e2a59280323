//! Place in a value that is being made.

use std::fmt::Write as _;

use super::seeded_random;
use crate::json_pointer::escaped;

/// A place in the value being made, known by the way to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'p> {
    parent: Option<&'p Place<'p>>,
    step: Step<'p>,
    depth: usize,
    hash: u64,
}

#[derive(Clone, Copy, Debug)]
enum Step<'p> {
    Top,
    Name(&'p str),
    Index(usize),
}

impl<'p> Place<'p> {
    pub(crate) const TOP: Self = Self { parent: None, step: Step::Top, depth: 0, hash: 0 };

    pub(crate) fn property(&'p self, name: &'p str) -> Self {
        let hash = seeded_random::hash(self.hash, name.as_bytes());
        Self { parent: Some(self), step: Step::Name(name), depth: self.depth + 1, hash }
    }

    pub(crate) fn item(&'p self, index: usize) -> Self {
        let hash = seeded_random::hash(self.hash, &index.to_le_bytes());
        Self { parent: Some(self), step: Step::Index(index), depth: self.depth + 1, hash }
    }

    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// A number of its own for this place.
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    /// The name of the property at this place, or of the list it is an item of.
    pub(crate) fn name(&self) -> &'p str {
        match (self.step, self.parent) {
            (Step::Name(name), _) => name,
            (Step::Index(_), Some(parent)) => parent.name(),
            (Step::Index(_) | Step::Top, _) => "",
        }
    }

    /// The JSON Pointer of this place.
    pub(crate) fn pointer(&self) -> String {
        let mut pointer = self.parent.map(Place::pointer).unwrap_or_default();
        match self.step {
            Step::Top => {}
            Step::Name(name) => {
                pointer.push('/');
                pointer.push_str(&escaped(name));
            }
            Step::Index(index) => {
                let _ = write!(pointer, "/{index}");
            }
        }
        pointer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_a_pointer_and_a_name() {
        let top = Place::TOP;
        let list = top.property("a/b");
        let item = list.item(2);
        assert_eq!((item.pointer().as_str(), item.name(), item.depth()), ("/a~1b/2", "a/b", 2));
        assert_eq!((top.pointer().as_str(), top.name()), ("", ""));
    }
}
