//! Everything that is asked of one value, gathered from all the schemas that speak of it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::accepts::{Dependency, RecordShape, same};
use super::range::Range;
use super::types::Types;

/// A schema that must accept a value, or must not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Demand<'a> {
    pub(crate) schema: &'a Value,
    pub(crate) accepts: bool,
}

impl<'a> Demand<'a> {
    pub(crate) fn must(schema: &'a Value) -> Self {
        Self { schema, accepts: true }
    }

    pub(crate) fn must_not(schema: &'a Value) -> Self {
        Self { schema, accepts: false }
    }
}

/// Requirements on one value, with one combination of choices made.
#[derive(Debug)]
pub(crate) struct Facts<'a> {
    pub(crate) types: Types,
    /// The types in the order in which the author lists them.
    pub(crate) listed: Vec<Types>,
    /// The types that keywords speak of: the better choice where several are allowed.
    pub(crate) spoken_of: Types,
    /// The only values allowed.
    pub(crate) allowed: Option<Vec<&'a Value>>,
    pub(crate) forbidden: Vec<&'a Value>,
    /// Values the author suggests: defaults, then examples.
    pub(crate) hints: Vec<&'a Value>,
    /// The author's description of the value.
    pub(crate) description: Option<&'a str>,
    pub(crate) range: Range<'a>,
    pub(crate) length: Span,
    pub(crate) patterns: Vec<&'a str>,
    pub(crate) formats: Vec<&'a str>,
    pub(crate) list: ListFacts<'a>,
    pub(crate) record: RecordFacts<'a>,
    /// The references that were followed to get here.
    pub(crate) references: Vec<&'a Value>,
    /// True if the value made from these facts has to be judged before it is trusted.
    pub(crate) uncertain: bool,
}

/// Range of a count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) least: u64,
    pub(crate) most: u64,
}

/// Requirements on a list.
#[derive(Debug)]
pub(crate) struct ListFacts<'a> {
    pub(crate) size: Span,
    pub(crate) unique: bool,
    /// The schemas of the first items and of the rest, from each schema that speaks of them.
    pub(crate) tuples: Vec<(&'a [Value], Option<&'a Value>)>,
    pub(crate) contains: Vec<Contains<'a>>,
    /// Schemas that some item must not satisfy.
    pub(crate) broken_items: Vec<&'a Value>,
}

/// Items that a list must contain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contains<'a> {
    pub(crate) schema: &'a Value,
    pub(crate) count: Span,
}

/// Requirements on an object.
#[derive(Debug)]
pub(crate) struct RecordFacts<'a> {
    pub(crate) size: Span,
    pub(crate) shapes: Vec<RecordShape<'a>>,
    pub(crate) required: BTreeSet<&'a str>,
    pub(crate) absent: BTreeSet<&'a str>,
    /// Requirements on properties beyond their shapes.
    pub(crate) demands: BTreeMap<&'a str, Vec<Demand<'a>>>,
    pub(crate) names: Vec<&'a Value>,
    pub(crate) dependencies: Vec<(&'a str, Dependency<'a>)>,
    /// True if properties that no schema speaks of are refused.
    pub(crate) closed: bool,
}

impl Span {
    const ANY: Self = Self { least: 0, most: u64::MAX };

    pub(crate) fn at_least(&mut self, least: u64) {
        self.least = self.least.max(least);
    }

    pub(crate) fn at_most(&mut self, most: u64) {
        self.most = self.most.min(most);
    }

    pub(crate) fn is_empty(self) -> bool {
        self.least > self.most
    }
}

impl<'a> Facts<'a> {
    /// Nothing is asked.
    pub(crate) fn none() -> Self {
        Self {
            types: Types::ALL,
            listed: Vec::new(),
            spoken_of: Types::NONE,
            allowed: None,
            forbidden: Vec::new(),
            hints: Vec::new(),
            description: None,
            range: Range::default(),
            length: Span::ANY,
            patterns: Vec::new(),
            formats: Vec::new(),
            list: ListFacts {
                size: Span::ANY,
                unique: false,
                tuples: Vec::new(),
                contains: Vec::new(),
                broken_items: Vec::new(),
            },
            record: RecordFacts {
                size: Span::ANY,
                shapes: Vec::new(),
                required: BTreeSet::new(),
                absent: BTreeSet::new(),
                demands: BTreeMap::new(),
                names: Vec::new(),
                dependencies: Vec::new(),
                closed: false,
            },
            references: Vec::new(),
            uncertain: false,
        }
    }

    /// Only these values are allowed, as far as they were before.
    pub(crate) fn allow(&mut self, options: impl Iterator<Item = &'a Value>) {
        self.allowed = Some(match self.allowed.take() {
            None => options.collect(),
            Some(before) => {
                let options: Vec<&Value> = options.collect();
                before.into_iter().filter(|known| options.iter().any(|option| same(option, known))).collect()
            }
        });
    }

    /// Leaves out the types whose own demands contradict each other; an error says which when none is left.
    pub(crate) fn settle(&mut self) -> Result<(), String> {
        let before = self.types;
        if self.length.is_empty() {
            self.types = self.types.without(Types::TEXT);
        }
        if self.list.size.is_empty() {
            self.types = self.types.without(Types::LIST);
        }
        let record = &self.record;
        let missing = record.required.iter().find(|name| record.absent.contains(*name));
        if record.size.is_empty() || missing.is_some() || record.required.len() as u64 > record.size.most {
            self.types = self.types.without(Types::RECORD);
        }
        if !self.types.is_empty() {
            return Ok(());
        }
        Err(if before.is_empty() {
            "no type is allowed by everything that is asked".to_owned()
        } else {
            "the bounds contradict each other".to_owned()
        })
    }
}
