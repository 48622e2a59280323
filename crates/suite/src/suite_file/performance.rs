//! `performance`: how long tests may take.

use std::ops::RangeInclusive;
use std::time::Duration;

use mcprove_model::{Diagnostics, Node};
use serde_json::Value;

use super::unsupported_keys;
use crate::field::{self, Field};
use crate::schema::fragment;

const FIELDS: &[Field] = &[
    Field::optional("default_timeout_ms", || fragment::count_within("The default time limit of tests.", &MILLISECONDS)),
    Field::optional("p95_latency_ms", || {
        fragment::count_within("Maximum 95th percentile of the request times.", &MILLISECONDS)
    }),
];

/// Times in milliseconds: up to 365 days.
pub(super) const MILLISECONDS: RangeInclusive<u64> = 1..=31_536_000_000;

/// Time limits of tests.
#[derive(Clone, Copy, Default)]
pub(super) struct Performance {
    pub(super) default_timeout: Option<Duration>,
    pub(super) p95_latency: Option<Duration>,
}

/// Decodes `performance`.
pub(super) fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Performance {
    let Some(entries) = found.map(node, "`performance`") else { return Performance::default() };
    unsupported_keys::known_keys(entries, "`performance`", (&field::keys(FIELDS), &[]), found);
    Performance {
        default_timeout: milliseconds(node, "default_timeout_ms", found),
        p95_latency: milliseconds(node, "p95_latency_ms", found),
    }
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
