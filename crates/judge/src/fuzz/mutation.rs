//! One kind of mutation.

use std::borrow::Cow;

use serde_json::Value;

use super::site::Site;
use crate::generate::Dice;

/// Phase in which a case is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// The whole input: valid, empty, without a required part.
    Structural,
    /// One property after the other, with the values that break programs.
    Property,
    /// At and beyond the bounds that the schema sets.
    Boundary,
    /// Valid inputs with one thing changed, then two.
    Random,
}

/// Validity of the result of a mutation under the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// It is always accepted.
    Accepted,
    /// It is always rejected.
    Rejected,
    /// That depends on the schema.
    Either,
}

/// One kind of mutation.
pub struct Mutation {
    /// Its name.
    pub name: &'static str,
    /// Phase in which it is used.
    pub phase: Phase,
    /// Order of use where not all mutations fit: the lowest first.
    pub rank: u8,
    /// Validity of the results under the schema.
    pub label: Label,
    /// A schema of a place where it applies; for structural ones, of the whole input.
    pub example: &'static str,
    pub(crate) make: Make,
}

/// Makes the variants of a mutation for a place.
type Make = fn(&Site<'_, '_>, &mut Dice) -> Vec<Variant>;

impl Mutation {
    pub(super) const fn structural(name: &'static str, rank: u8, example: &'static str, make: Make) -> Self {
        Self { name, phase: Phase::Structural, rank, label: Label::Either, example, make }
    }

    pub(super) const fn property(name: &'static str, rank: u8, example: &'static str, make: Make) -> Self {
        Self { name, phase: Phase::Property, rank, label: Label::Either, example, make }
    }

    pub(super) const fn boundary(name: &'static str, rank: u8, example: &'static str, make: Make) -> Self {
        Self { name, phase: Phase::Boundary, rank, label: Label::Either, example, make }
    }

    pub(super) const fn random(name: &'static str, rank: u8, example: &'static str, make: Make) -> Self {
        Self { name, phase: Phase::Random, rank, label: Label::Either, example, make }
    }

    /// The same mutation, with another label than [`Label::Either`].
    pub(super) const fn labelled(mut self, label: Label) -> Self {
        self.label = label;
        self
    }
}

/// A value for a place, and its special property.
#[derive(Debug)]
pub(crate) struct Variant {
    pub(crate) what: Cow<'static, str>,
    pub(crate) value: Value,
}

impl Variant {
    pub(crate) fn new(what: impl Into<Cow<'static, str>>, value: impl Into<Value>) -> Self {
        Self { what: what.into(), value: value.into() }
    }

    /// A single variant, as most mutations make.
    pub(crate) fn one(what: impl Into<Cow<'static, str>>, value: impl Into<Value>) -> Vec<Self> {
        vec![Self::new(what, value)]
    }
}
