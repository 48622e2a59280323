//! `budget`: what language models may cost.

use mcprove_model::{Budget, Diagnostics, Node};
use serde_json::{Value, json};

use super::outside;
use crate::schema::fragment;

const KEYS: &[&str] = &["per_suite_usd_cents", "per_test_usd_cents"];
const MICROS_PER_CENT: u64 = 10_000;

/// Decodes `budget`.
pub(super) fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Budget {
    let Some(entries) = found.map(node, "`budget`") else { return Budget::default() };
    outside::known_keys(entries, "`budget`", (KEYS, &[]), found);
    Budget {
        per_test_usd_micros: cents(node, "per_test_usd_cents", found),
        per_suite_usd_micros: cents(node, "per_suite_usd_cents", found),
    }
}

/// The JSON Schema of `budget`.
pub(super) fn schema() -> Value {
    let properties = json!({
        "per_suite_usd_cents": fragment::count("What all agents of the file may cost together, in cents of a US dollar.", 0),
        "per_test_usd_cents": fragment::count("What one run of an agent may cost, in cents of a US dollar.", 0),
    });
    fragment::map("What language models may cost.", properties, &[])
}

fn cents(node: &Node, key: &str, found: &mut Diagnostics<'_>) -> Option<u64> {
    let value = node.get(key).filter(|value| !value.is_null())?;
    let count = value.as_count();
    if count.is_none() {
        found.wrong_kind(value, &format!("`{key}`"), "a whole number of cents from 0");
    }
    count.map(|count| count.saturating_mul(MICROS_PER_CENT))
}
