//! `budget`: what language models may cost.

use std::ops::RangeInclusive;

use mcprove_model::{Budget, Diagnostics, Node};
use serde_json::Value;

use super::unsupported_keys;
use crate::field::{self, Field};
use crate::schema::fragment;

const FIELDS: &[Field] = &[
    Field::optional("per_suite_usd_cents", || {
        fragment::count_within("Maximum total cost of all agents of the file, in cents of a US dollar.", &CENTS)
    }),
    Field::optional("per_test_usd_cents", || {
        fragment::count_within("Maximum cost of one run of an agent, in cents of a US dollar.", &CENTS)
    }),
];
const MICROS_PER_CENT: u64 = 10_000;
const CENTS: RangeInclusive<u64> = 0..=1_000_000_000;

/// Decodes `budget`.
pub(super) fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Budget {
    let Some(entries) = found.map(node, "`budget`") else { return Budget::default() };
    unsupported_keys::known_keys(entries, "`budget`", &field::keys(FIELDS), &[], found);
    Budget {
        per_test_usd_micros: cents(node, "per_test_usd_cents", found),
        per_suite_usd_micros: cents(node, "per_suite_usd_cents", found),
    }
}

/// The JSON Schema of `budget`.
pub(super) fn schema() -> Value {
    field::map("Cost limits of language models.", FIELDS)
}

fn cents(node: &Node, key: &str, found: &mut Diagnostics<'_>) -> Option<u64> {
    let value = node.get(key).filter(|value| !value.is_null())?;
    found.count_within(value, &format!("`{key}`"), CENTS).map(|count| count * MICROS_PER_CENT)
}
