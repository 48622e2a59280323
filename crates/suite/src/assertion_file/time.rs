//! Durations under a key.

use std::time::Duration;

use mcprove_model::{Diagnostics, Node, SETTLE};
use serde_json::Value;

use crate::duration::{self, BadDuration};
use crate::schema::fragment;

/// A duration that may be left out.
pub(crate) fn optional(node: &Node, key: &str, found: &mut Diagnostics<'_>) -> Option<Duration> {
    decoded(node, key, duration::parse, found)
}

/// `settle`: the time after a reply in which notifications are still awaited; it may be zero.
pub(crate) fn settle(node: &Node, found: &mut Diagnostics<'_>) -> Duration {
    decoded(node, "settle", duration::parse_with_zero, found).unwrap_or(SETTLE)
}

/// The JSON Schema of `settle`.
pub(crate) fn settle_schema() -> Value {
    fragment::duration("The time after the reply in which notifications are still awaited; `200ms` when left out.")
}

fn decoded(
    node: &Node,
    key: &str,
    parse: fn(&str) -> Result<Duration, BadDuration>,
    found: &mut Diagnostics<'_>,
) -> Option<Duration> {
    let value = node.get(key).filter(|value| !value.is_null())?;
    match parse(found.text(value, &format!("`{key}`"))?) {
        Ok(duration) => Some(duration),
        Err(bad) => {
            found.error_with_help("bad-duration", value.span, bad.message, bad.help);
            None
        }
    }
}
