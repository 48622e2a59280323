//! `threshold`: the share of checks that must hold.

use mcprove_model::{Diagnostics, Node};
use serde_json::{Value, json};

/// The weighted share of checks that must hold; any other value is reported.
pub fn decode_threshold(node: &Node, found: &mut Diagnostics<'_>) -> Option<f64> {
    let share = node.as_number().and_then(serde_json::Number::as_f64).filter(|share| (0.0..=1.0).contains(share));
    if share.is_none() {
        let message = format!("`threshold` must be a number from 0 to 1, found {}", node.kind_name());
        found.error_with_help("wrong-type", node.span, message, "write for example `threshold: 0.8`");
    }
    if share == Some(0.0) {
        let help = "write how much of it must hold, for example `threshold: 0.8`".to_owned();
        found.warning("nothing-asked", node.span, "with `threshold: 0`, no check can fail the test", Some(help));
    }
    share
}

/// The JSON Schema of a `threshold`.
pub fn threshold_schema() -> Value {
    json!({
        "type": "number",
        "minimum": 0,
        "maximum": 1,
        "description": "The weighted share of checks that must hold; all of them when it is left out.",
    })
}
