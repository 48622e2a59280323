//! One schema, ready to make many values.

use std::cell::Cell;

use serde_json::Value;

use super::Ungeneratable;
use super::checked::Checked;
use super::dice::hash;
use super::document::Document;
use super::facts::Demand;
use super::maker::{Cause, Failure, Maker, Taste, Wishes};
use super::oracle::Oracle;
use super::place::Place;

/// How much work one value may take.
const FUEL: u32 = 400_000;

/// How often a reference may be followed into itself: not at all, if that will do.
const REENTRIES: [usize; 3] = [0, 1, 3];

/// A schema and what was learned of it.
pub(crate) struct Generator<'a> {
    document: Document<'a>,
    oracle: &'a Oracle,
    checked: Checked,
}

impl<'a> Generator<'a> {
    pub(crate) fn new(schema: &'a Value, oracle: &'a Oracle) -> Self {
        Self { document: Document::new(schema), oracle, checked: Checked::default() }
    }

    /// A value as plain as can be.
    pub(crate) fn plain(&self, seed: u64, wishes: Wishes) -> Result<Value, Ungeneratable> {
        self.value(Taste { seed, varied: false, hints: true, wishes, reentries: 0 })
    }

    /// A value that differs from seed to seed.
    pub(crate) fn varied(&self, seed: u64) -> Result<Value, Ungeneratable> {
        self.value(Taste { seed, varied: true, hints: true, wishes: Wishes::Some, reentries: 0 })
    }

    fn value(&self, taste: Taste) -> Result<Value, Ungeneratable> {
        let fuel = Cell::new(FUEL);
        let mut first: Option<Ungeneratable> = None;
        for attempt in 0..5_u64 {
            // Later attempts do without the author's suggestions and begin with other choices.
            let again = Taste {
                seed: hash(taste.seed, &attempt.to_le_bytes()),
                varied: taste.varied || attempt > 1,
                hints: attempt == 0,
                ..taste
            };
            match self.attempt(again, &fuel) {
                Ok(value) => match self.oracle.first_fault(&value) {
                    None => return Ok(value),
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

    fn attempt(&self, taste: Taste, fuel: &Cell<u32>) -> Result<Value, Failure> {
        let mut first = None;
        for reentries in REENTRIES {
            let mut maker = Maker::new(&self.document, &self.checked, fuel, Taste { reentries, ..taste });
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
