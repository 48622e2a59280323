//! `performance`: how long tests may take.

use std::ops::RangeInclusive;
use std::time::Duration;

use mcprove_judge::load::Gate;
use mcprove_model::{Diagnostics, Node, SuiteLoad};
use serde_json::{Value, json};

use super::unsupported_keys;
use crate::field::{self, Field};
use crate::schema::fragment;

const FIELDS: &[Field] = &[
    Field::optional("default_timeout_ms", || fragment::count_within("The default time limit of tests.", &MILLISECONDS)),
    Field::optional("gates", || {
        fragment::texts("Limits that fail `mcprove bench`, such as `p95 < 200ms` or `errors < 0.1%`.")
    }),
    Field::optional("p95_latency_ms", || {
        fragment::count_within("Maximum 95th percentile of the request times.", &MILLISECONDS)
    }),
    Field::optional("weights", || {
        json!({
            "type": "object",
            "description": "Shares of tests in the calls of `mcprove bench`, by name; 1 when left out, 0 leaves a test out.",
            "additionalProperties": fragment::count_within("The share of the test.", &WEIGHT),
        })
    }),
];

/// Shares of tests.
const WEIGHT: RangeInclusive<u64> = 0..=1000;

/// Times in milliseconds: up to 365 days.
pub(super) const MILLISECONDS: RangeInclusive<u64> = 1..=31_536_000_000;

/// Time limits of tests.
#[derive(Clone, Default)]
pub(super) struct Performance {
    pub(super) default_timeout: Option<Duration>,
    pub(super) p95_latency: Option<Duration>,
    pub(super) load: SuiteLoad,
}

/// Decodes `performance`.
pub(super) fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Performance {
    let Some(entries) = found.map(node, "`performance`") else { return Performance::default() };
    unsupported_keys::known_keys(entries, "`performance`", &field::keys(FIELDS), &[], found);
    Performance {
        default_timeout: milliseconds(node, "default_timeout_ms", found),
        p95_latency: milliseconds(node, "p95_latency_ms", found),
        load: SuiteLoad { gates: gates(node, found), weights: weights(node, found) },
    }
}

fn gates(node: &Node, found: &mut Diagnostics<'_>) -> Vec<String> {
    let Some(items) = node.get("gates").filter(|value| !value.is_null()) else { return Vec::new() };
    let mut gates = Vec::new();
    for item in found.list(items, "`gates`") {
        let Some(text) = found.text(item, "a gate") else { continue };
        match Gate::parse(text) {
            Ok(_) => gates.push(text.to_owned()),
            Err(message) => found.error("gate", item.span, message),
        }
    }
    gates
}

fn weights(node: &Node, found: &mut Diagnostics<'_>) -> Vec<(String, u32)> {
    let Some(map) = node.get("weights").filter(|value| !value.is_null()) else { return Vec::new() };
    let entries = found.map(map, "`weights`").into_iter().flatten();
    let mut weights = Vec::new();
    for entry in entries {
        if let Some(weight) = found.count_within(&entry.value, "a weight", WEIGHT) {
            weights.push((entry.key.text.to_string(), u32::try_from(weight).unwrap_or(u32::MAX)));
        }
    }
    weights
}

/// The JSON Schema of `performance`.
pub(super) fn schema() -> Value {
    field::map("Time limits of tests.", FIELDS)
}

/// A time in milliseconds that may be left out; 0 would never be met.
pub(super) fn milliseconds(node: &Node, key: &str, found: &mut Diagnostics<'_>) -> Option<Duration> {
    let value = node.get(key).filter(|value| !value.is_null())?;
    found.count_within(value, &format!("`{key}`"), MILLISECONDS).map(Duration::from_millis)
}
