//! `run_options`: who shares a server, and how many tests run side by side.

use mcprove_model::{Diagnostics, Isolation, Node, Parallel, nearest};
use serde_json::{Value, json};

use super::outside;
use crate::schema::fragment;

const KEYS: &[&str] = &["parallel", "restart_policy"];

const OUTSIDE: &[(&str, &str)] = &[
    ("failure_policy", "a failure is a failure here; repeat a run with `--trials` to see whether it is steady"),
    ("inconclusive", "repeat a run with `--trials` to see whether a failure is steady"),
];

const POLICIES: [(&str, Isolation); 3] =
    [("per_file", Isolation::File), ("per_run", Isolation::Run), ("per_test", Isolation::Case)];

/// How tests are run.
#[derive(Clone, Copy)]
pub(super) struct RunOptions {
    pub(super) isolation: Isolation,
    pub(super) parallel: Parallel,
}

impl Default for RunOptions {
    /// Tests of a file share a server, one after the other: a stateful server gives the same verdicts every time.
    fn default() -> Self {
        Self { isolation: Isolation::File, parallel: Parallel::One }
    }
}

/// Decodes `run_options`.
pub(super) fn decode(node: &Node, found: &mut Diagnostics<'_>) -> RunOptions {
    let mut options = RunOptions::default();
    let Some(entries) = found.map(node, "`run_options`") else { return options };
    outside::known_keys(entries, "`run_options`", (KEYS, OUTSIDE), found);
    if let Some(policy) = node.get("restart_policy").filter(|policy| !policy.is_null()) {
        options.isolation = decode_policy(policy, found).unwrap_or(options.isolation);
    }
    if let Some(parallel) = node.get("parallel").filter(|parallel| !parallel.is_null()) {
        options.parallel = decode_parallel(parallel, found).unwrap_or(options.parallel);
    }
    options
}

/// The JSON Schema of `run_options`.
pub(super) fn schema() -> Value {
    let properties = json!({
        "parallel": {
            "anyOf": [{"const": "auto"}, {"const": false}, {"type": "integer", "minimum": 1}, {"type": "null"}],
            "description": "How many tests may run side by side; one when left out, so that a server with state gives \
                            the same verdicts every time.",
        },
        "restart_policy": {
            "enum": POLICIES.map(|(name, _)| name),
            "description": "Who shares a server: all tests of a run, those of a file (when left out), or nobody.",
        },
    });
    fragment::map("How tests are run.", properties, &[])
}

fn decode_policy(node: &Node, found: &mut Diagnostics<'_>) -> Option<Isolation> {
    let text = found.text(node, "`restart_policy`")?;
    let known = POLICIES.into_iter().find(|(name, _)| *name == text);
    if known.is_none() {
        let help = match nearest(text, POLICIES.map(|(name, _)| name)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "write per_run, per_file or per_test".to_owned(),
        };
        found.error_with_help("unknown-policy", node.span, format!("unknown restart policy `{text}`"), help);
    }
    known.map(|(_, isolation)| isolation)
}

fn decode_parallel(node: &Node, found: &mut Diagnostics<'_>) -> Option<Parallel> {
    if node.as_text() == Some("auto") {
        return Some(Parallel::Auto);
    }
    if node.as_bool() == Some(false) {
        return Some(Parallel::One);
    }
    match node.as_count().and_then(|count| usize::try_from(count).ok()) {
        Some(1) => Some(Parallel::One),
        Some(count) if count > 1 => Some(Parallel::AtMost(count)),
        Some(_) | None => {
            found.wrong_kind(node, "`parallel`", "auto, false or a whole number from 1");
            None
        }
    }
}
