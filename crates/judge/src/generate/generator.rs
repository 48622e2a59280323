//! One schema, ready to make many values.

use std::cell::Cell;
use std::collections::BTreeMap;

use serde_json::Value;

use super::Ungeneratable;
use super::checked::Checked;
use super::document::Document;
use super::facts::Demand;
use super::names;
use super::oracle::Oracle;
use super::place::Place;
use super::seeded_random::hash;
use super::value_builder::{Cause, Failure, GeneratorOptions, Maker, OptionalProperties};

/// Budget of work for one value.
const FUEL: u32 = 400_000;

/// Maximum number of times a reference is followed into itself: none, if that is enough.
const REENTRIES: [usize; 3] = [0, 1, 3];

/// A schema and what was learned of it.
pub(crate) struct Generator<'a> {
    document: Document<'a>,
    oracle: Option<&'a Oracle>,
    checked: Checked,
}

impl<'a> Generator<'a> {
    /// Without an oracle, because the schema cannot be used, values are made as well as can be.
    pub(crate) fn new(schema: &'a Value, oracle: Option<&'a Oracle>) -> Self {
        Self { document: Document::new(schema), oracle, checked: Checked::default() }
    }

    pub(crate) fn document(&self) -> &Document<'a> {
        &self.document
    }

    pub(crate) fn checked(&self) -> &Checked {
        &self.checked
    }

    /// A value as plain as can be.
    pub(crate) fn plain(&self, seed: u64, optional: OptionalProperties) -> Result<Value, Ungeneratable> {
        self.value(GeneratorOptions { seed, varied: false, hints: true, optional, reentries: 0 })
    }

    /// A value that differs from seed to seed.
    pub(crate) fn varied(&self, seed: u64) -> Result<Value, Ungeneratable> {
        self.value(GeneratorOptions {
            seed,
            varied: true,
            hints: true,
            optional: OptionalProperties::Some,
            reentries: 0,
        })
    }

    /// An object of all properties that the schema names, each made on its own, for schemas that allow nothing as a
    /// whole; what cannot be made is a text.
    pub(crate) fn properties_one_by_one(&self, seed: u64) -> Value {
        let named = self.document.root().get("properties").and_then(Value::as_object);
        let mut made: BTreeMap<&str, Value> = BTreeMap::new();
        for (name, schema) in named.into_iter().flatten() {
            let fuel = Cell::new(FUEL / 100);
            let options =
                GeneratorOptions { seed, varied: false, hints: true, optional: OptionalProperties::None, reentries: 1 };
            let mut maker = Maker::new(&self.document, &self.checked, &fuel, options);
            let top = Place::TOP;
            let value = maker.make(&[Demand::must(schema)], &top.property(name), 0);
            made.insert(name, value.unwrap_or_else(|_| Value::from(names::text(name))));
        }
        Value::Object(made.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    fn value(&self, options: GeneratorOptions) -> Result<Value, Ungeneratable> {
        let fuel = Cell::new(FUEL);
        let mut first: Option<Ungeneratable> = None;
        for attempt in 0..5_u64 {
            // Later attempts do without the author's suggestions and begin with other choices.
            let again = GeneratorOptions {
                seed: hash(options.seed, &attempt.to_le_bytes()),
                varied: options.varied || attempt > 1,
                hints: attempt == 0,
                ..options
            };
            match self.attempt(again, &fuel) {
                Ok(value) => match self.oracle.and_then(|oracle| oracle.first_fault(&value)) {
                    None => return Ok(in_order(value)),
                    Some((pointer, reason)) => {
                        let reason = format!("what was made is refused: {reason}");
                        first.get_or_insert(Ungeneratable { pointer, reason });
                    }
                },
                Err(failure) => {
                    let spent = failure.cause == Cause::Spent;
                    first.get_or_insert(failure.told);
                    if spent {
                        break;
                    }
                }
            }
        }
        Err(first.unwrap_or_else(|| Ungeneratable { pointer: String::new(), reason: "nothing was made".to_owned() }))
    }

    fn attempt(&self, options: GeneratorOptions, fuel: &Cell<u32>) -> Result<Value, Failure> {
        let mut first = None;
        for reentries in REENTRIES {
            let mut maker = Maker::new(&self.document, &self.checked, fuel, GeneratorOptions { reentries, ..options });
            match maker.make(&[Demand::must(self.document.root())], &Place::TOP, 0) {
                Ok(value) => return Ok(value),
                Err(failure) => {
                    let endless = failure.cause == Cause::Endless;
                    first.get_or_insert(failure);
                    if !endless {
                        break;
                    }
                }
            }
        }
        Err(first.unwrap_or_else(|| Failure::at(&Place::TOP, Cause::Spent, "nothing was made".to_owned())))
    }
}

/// The same value with all keys in order: suggestions of the author's come with keys in any order.
fn in_order(mut value: Value) -> Value {
    value.sort_all_objects();
    value
}
