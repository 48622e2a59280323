//! `negative_path` of a tool test: wrong requests that the tool must reject.

use std::time::Duration;

use mcprove_judge::negative::{PROBES, Probe};
use mcprove_model::{Diagnostics, NegativePath, Node, Vocabulary, nearest};
use serde_json::{Value, json};

use crate::assertion_file::block::Input;
use crate::assertion_file::{expectation, time};
use crate::field::{self, Field};
use crate::schema::fragment;

pub(super) const KEY: &str = "negative_path";

const FIELDS: &[Field] = &[
    Field::optional("checks", || {
        json!({
            "type": ["array", "null"],
            "minItems": 1,
            "items": {"enum": PROBES.iter().map(|probe| probe.name).collect::<Vec<_>>()},
            "description": "The probes to make; all of them when it is left out.",
        })
    }),
    Field::optional("expect", || fragment::expect(Vocabulary::NegativePath)),
    Field::optional("oversized_bytes", || {
        fragment::count("Size of an oversized argument in bytes; 1 MiB when left out.", 1)
    }),
    Field::optional("timeout", || fragment::duration("Time limit of each request; 5 s when left out.")),
];

/// Targets that differ when no probe could be made.
const COUNTING: &[&str] = &["negative_path", "negative_path.checks_run", "negative_path.gate_passed"];

/// Default time limit of each request.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Decodes the block; an empty one asks for everything. `test` is the test that contains it.
pub(super) fn decode(node: &Node, test: &Input<'_>, found: &mut Diagnostics<'_>) -> Option<NegativePath> {
    if !node.is_null() {
        field::entries(node, "`negative_path`", FIELDS, found)?;
    }
    let part = |key: &str| node.get(key).filter(|part| !part.is_null());
    let checks = match part("checks") {
        Some(checks) => decode_checks(checks, found),
        None => PROBES.iter().map(|probe| probe.name).collect(),
    };
    let bytes = part("oversized_bytes").and_then(|bytes| found.count_of(bytes, "`oversized_bytes`"));
    let bytes = bytes.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX).min(Probe::LARGEST));
    let timeout = time::optional(node, "timeout", found);
    let expect = expectation::decode(part("expect"), Vocabulary::NegativePath, test.scope, found);
    let (own, of_test) = (targets(part("expect")), targets(test.expect));
    let speaks_of_probes = of_test.iter().any(|target| target.starts_with("negative_path"));
    Some(NegativePath {
        checks,
        oversized_bytes: bytes.unwrap_or(Probe::OVERSIZED),
        timeout: timeout.unwrap_or(TIMEOUT),
        default_gate: expect.checks.is_empty() && !speaks_of_probes,
        counts_probes: own.iter().chain(&of_test).any(|target| COUNTING.contains(target)),
        expect,
    })
}

/// The JSON Schema of the block.
pub(super) fn schema() -> Value {
    let mut schema = field::map("Wrong requests that the tool must reject.", FIELDS);
    schema["type"] = json!(["object", "null"]);
    schema["x-mcprove-status"] = "preview".into();
    schema
}

fn decode_checks(node: &Node, found: &mut Diagnostics<'_>) -> Vec<&'static str> {
    let names = || PROBES.iter().map(|probe| probe.name);
    let mut wanted = Vec::new();
    for item in found.list(node, "`checks`") {
        let Some(name) = found.text(item, "a probe of `checks`") else { continue };
        if let Some(probe) = Probe::find(name) {
            wanted.push(probe.name);
            continue;
        }
        let help = match nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there is {}", names().collect::<Vec<_>>().join(", ")),
        };
        found.error_with_help("unknown-probe", item.span, format!("unknown probe `{name}`"), help);
    }
    if node.as_list().is_some_and(<[Node]>::is_empty) {
        let message = "`checks` names no probe, so nothing would be asked";
        found.error_with_help("nothing-asked", node.span, message, "leave it out to make all of them");
    }
    names().filter(|name| wanted.contains(name)).collect()
}

/// Targets of an expectation.
fn targets(expect: Option<&Node>) -> Vec<&str> {
    let list = expect.and_then(|expect| expect.get("assertions").or(Some(expect))).and_then(Node::as_list);
    let targets = list.unwrap_or_default().iter().filter_map(|assertion| assertion.get("target")?.as_text());
    targets.map(|target| target.strip_prefix("$.").unwrap_or(target)).collect()
}
