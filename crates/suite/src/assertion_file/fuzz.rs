//! `fuzz`: adversarial calls of the same tool, once everything else held.

use std::ops::RangeInclusive;
use std::time::Duration;

use mcprove_judge::matchers::assertions_schema;
use mcprove_model::{Diagnostics, FuzzBlock, Node, Vocabulary};
use serde_json::{Value, json};

use super::expectation;
use super::templates::Scope;
use crate::field::{self, Field};
use crate::schema::fragment;

const FIELDS: &[Field] = &[
    Field::optional("cases", || fragment::count_within("Number of calls; 64 when left out.", &CALLS)),
    Field::optional("expect", expect_schema),
    Field::optional("max_call_ms", || {
        fragment::count_within("Time limit of a call in milliseconds; 2000 when left out.", &CALL_TIMES)
    }),
    Field::optional("seed", || fragment::count("Seed of the calls; 0 when left out.", 0)),
];

/// Default number of calls.
const CASES: usize = 64;

/// Default time limit of a call.
const MAX_CALL: Duration = Duration::from_secs(2);

const CALLS: RangeInclusive<u64> = 1..=1_000_000;
const CALL_TIMES: RangeInclusive<u64> = 1..=86_400_000;

/// Decodes the block; one that was left empty asks for what is usual.
pub(super) fn decode(caller: &Node, scope: &Scope, found: &mut Diagnostics<'_>) -> Option<Box<FuzzBlock>> {
    let entry = caller.as_map()?.iter().find(|entry| entry.key.text == "fuzz")?;
    let node = &entry.value;
    if !node.is_null() {
        field::entries(node, "`fuzz`", FIELDS, found)?;
    }
    let mut number = |key: &str, bounds: RangeInclusive<u64>| {
        let value = node.get(key).filter(|value| !value.is_null())?;
        found.count_within(value, &format!("`{key}`"), bounds)
    };
    let seed = number("seed", 0..=u64::MAX).unwrap_or(0);
    let cases = number("cases", CALLS).map_or(CASES, |cases| usize::try_from(cases).unwrap_or(usize::MAX));
    let max_call = number("max_call_ms", CALL_TIMES).map_or(MAX_CALL, Duration::from_millis);
    let expect = node.get("expect").filter(|expect| !expect.is_null());
    if let Some(expect) = expect.filter(|expect| expect.as_list().is_none()) {
        // A check of a result would hold whatever the counts are.
        let message = format!("`expect` of `fuzz` must be a list of targets, found {}", expect.kind_name());
        let help = "write `- {target: fuzz.crashes, matcher: {exact: 0}}`";
        found.error_with_help("wrong-type", expect.span, message, help);
        return None;
    }
    let expect = expectation::decode(expect, Vocabulary::Fuzz, scope, found);
    Some(Box::new(FuzzBlock { seed, cases, max_call, expect, span: entry.key.span }))
}

/// The JSON Schema of the block.
pub(super) fn schema() -> Value {
    let mut schema = field::map(
        "Adversarial calls of the same tool, made once everything else held. Targets of its `expect` are \
         `fuzz.cases_run`, `fuzz.crashes`, `fuzz.hangs`, `fuzz.protocol_violations`, `fuzz.leaks` and \
         `fuzz.gate_passed`; without one, the last must be true.",
        FIELDS,
    );
    schema["type"] = json!(["object", "null"]);
    schema
}

fn expect_schema() -> Value {
    let mut expect = assertions_schema();
    expect["description"] = "Expectations about the counts.".into();
    expect
}
