//! Durations under a key.

use std::time::Duration;

use mcprove_model::{Diagnostics, Node};

use crate::duration;

/// A duration that may be left out.
pub(crate) fn optional(node: &Node, key: &str, found: &mut Diagnostics<'_>) -> Option<Duration> {
    let value = node.get(key).filter(|value| !value.is_null())?;
    match duration::parse(found.text(value, &format!("`{key}`"))?) {
        Ok(duration) => Some(duration),
        Err(bad) => {
            found.error_with_help("bad-duration", value.span, bad.message, bad.help);
            None
        }
    }
}
