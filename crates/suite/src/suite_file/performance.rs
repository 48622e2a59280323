//! `performance`: how long tests may take.

use std::time::Duration;

use mcprove_model::{Diagnostics, Node};
use serde_json::{Value, json};

use super::outside;
use crate::schema::fragment;

const KEYS: &[&str] = &["default_timeout_ms", "p95_latency_ms"];

/// How long tests may take.
#[derive(Clone, Copy, Default)]
pub(super) struct Performance {
    pub(super) default_timeout: Option<Duration>,
    pub(super) p95_latency: Option<Duration>,
}

/// Decodes `performance`.
pub(super) fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Performance {
    let Some(entries) = found.map(node, "`performance`") else { return Performance::default() };
    outside::known_keys(entries, "`performance`", (KEYS, &[]), found);
    Performance {
        default_timeout: milliseconds(node, "default_timeout_ms", found),
        p95_latency: milliseconds(node, "p95_latency_ms", found),
    }
}

/// The JSON Schema of `performance`.
pub(super) fn schema() -> Value {
    let properties = json!({
        "default_timeout_ms": fragment::count("The deadline of tests that have none of their own.", 1),
        "p95_latency_ms": fragment::count("What the slowest twentieth of the requests may take.", 1),
    });
    fragment::map("How long tests may take.", properties, &[])
}

/// A time in milliseconds that may be left out; 0 would never be met.
pub(super) fn milliseconds(node: &Node, key: &str, found: &mut Diagnostics<'_>) -> Option<Duration> {
    let value = node.get(key).filter(|value| !value.is_null())?;
    let count = value.as_count().filter(|count| *count > 0);
    if count.is_none() {
        found.wrong_kind(value, &format!("`{key}`"), "a whole number of milliseconds from 1");
    }
    count.map(Duration::from_millis)
}
