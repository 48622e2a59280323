//! `run_options`: server reuse, servers that are started ahead, and the number of concurrent tests.

use std::ops::RangeInclusive;

use mcprove_model::{Diagnostics, Isolation, Node, Parallel, nearest};
use serde_json::{Value, json};

use super::unsupported_keys;
use crate::field::{self, Field};
use crate::schema::fragment;

const FIELDS: &[Field] = &[
    Field::optional("parallel", || {
        json!({
            "anyOf": [{"const": "auto"}, {"const": false}, fragment::count_within("That many.", &TESTS_AT_ONCE), {"type": "null"}],
            "description": "Number of concurrent tests; one when left out, so that a server with state gives \
                            the same verdicts every time.",
        })
    }),
    Field::optional("prestart", || {
        json!({
            "type": ["boolean", "null"],
            "description": "Start the next server while the current test runs; only for servers that share no port and no file.",
        })
    }),
    Field::optional("restart_policy", || {
        json!({
            "enum": POLICIES.map(|(name, _)| name),
            "description": "Server reuse: per run, per file (when left out), or per test.",
        })
    }),
];

/// Keys of the other tool, and what to do instead.
pub(super) const OUTSIDE: &[(&str, &str)] = &[
    ("failure_policy", "a failure is a failure here; repeat a run with `--trials` to see whether it is steady"),
    ("inconclusive", "repeat a run with `--trials` to see whether a failure is steady"),
];

const POLICIES: [(&str, Isolation); 3] =
    [("per_file", Isolation::File), ("per_run", Isolation::Run), ("per_test", Isolation::Case)];

/// More tests than this at a time only wait for each other.
const TESTS_AT_ONCE: RangeInclusive<u64> = 1..=1_000;

/// Execution options of tests.
#[derive(Clone, Copy)]
pub(super) struct RunOptions {
    pub(super) isolation: Isolation,
    pub(super) parallel: Parallel,
    pub(super) prestart: bool,
}

impl Default for RunOptions {
    /// Tests of a file share a server, one after the other: a stateful server gives the same verdicts every time.
    fn default() -> Self {
        Self { isolation: Isolation::File, parallel: Parallel::One, prestart: false }
    }
}

/// Decodes `run_options`.
pub(super) fn decode(node: &Node, found: &mut Diagnostics<'_>) -> RunOptions {
    let mut options = RunOptions::default();
    let Some(entries) = found.map(node, "`run_options`") else { return options };
    unsupported_keys::known_keys(entries, "`run_options`", &field::keys(FIELDS), OUTSIDE, found);
    if let Some(policy) = node.get("restart_policy").filter(|policy| !policy.is_null()) {
        options.isolation = decode_policy(policy, found).unwrap_or(options.isolation);
    }
    if let Some(parallel) = node.get("parallel").filter(|parallel| !parallel.is_null()) {
        options.parallel = decode_parallel(parallel, found).unwrap_or(options.parallel);
    }
    if let Some(prestart) = node.get("prestart").filter(|prestart| !prestart.is_null()) {
        options.prestart = found.boolean(prestart, "`prestart`").unwrap_or(options.prestart);
    }
    options
}

/// The keys that are known.
pub(super) fn keys() -> Vec<&'static str> {
    field::keys(FIELDS)
}

/// The JSON Schema of `run_options`.
pub(super) fn schema() -> Value {
    field::map("Execution of tests.", FIELDS)
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
    match node.as_count().filter(|count| TESTS_AT_ONCE.contains(count)).map(usize::try_from) {
        Some(Ok(1)) => Some(Parallel::One),
        Some(Ok(count)) => Some(Parallel::AtMost(count)),
        Some(Err(_)) | None => {
            let (least, most) = TESTS_AT_ONCE.into_inner();
            let wanted = format!("auto, false or a whole number from {least} to {most}");
            found.wrong_kind(node, "`parallel`", &wanted);
            None
        }
    }
}
