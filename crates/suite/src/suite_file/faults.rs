//! `faults`: what goes wrong on purpose, by name, for agents to be given.

use mcprove_model::{Diagnostics, FAULTS, Fault, FaultKind, FaultNumber, Node, Span, nearest};
use serde_json::{Value, json};

use super::{Servers, Unit};
use crate::assertion_file::block;
use crate::field::{self, Field};
use crate::schema::fragment;

const FIELDS: &[Field] = &[
    Field::optional("delay_ms", || fragment::count_within("Delay of answers; for `slow`.", &(0..=MOST))),
    Field::optional("failures", || {
        fragment::count_within("Number of calls that hang first; for `recover_after`.", &(1..=MOST))
    }),
    Field::required("kind", || json!({"enum": kinds(), "description": "What it does, as in `mcprove mock --fault`."})),
    Field::optional(
        "number",
        || json!({"type": "integer", "description": "The number behind the name in `mcprove mock --fault`; for the other kinds."}),
    ),
    Field::required("name", || fragment::text("Its name for `inject` of an agent.")),
    Field::required("target", || {
        field::map("The affected calls: of a tool, of a server, or of a tool of a server.", TARGET)
    }),
];

const TARGET: &[Field] = &[
    Field::optional("server", || fragment::text("The server, as `servers` names it; any when left out.")),
    Field::optional("tool", || fragment::text("The tool; any when left out.")),
];
/// A day in milliseconds, and more calls than any test makes.
const MOST: u64 = 86_400_000;

/// The kinds, in the order of the table.
fn kinds() -> Vec<String> {
    FAULTS.iter().map(|row| row.name.replace('-', "_")).filter(|name| name != "none").collect()
}

/// Decodes the `faults` of all files together; a name twice is a mistake.
pub(super) fn decode(units: &[Unit], servers: &Servers, found: &mut [Diagnostics<'_>]) -> Faults {
    let mut faults: Vec<Fault> = Vec::new();
    let mut unusable = Vec::new();
    for (unit, found) in units.iter().zip(found) {
        let Some(list) = unit.node.get("faults").filter(|list| !list.is_null()) else { continue };
        for node in found.list(list, "`faults`") {
            let Some((fault, name_span)) = decode_fault(node, servers, found) else {
                unusable.extend(node.get("name").and_then(Node::as_text).map(str::to_owned));
                continue;
            };
            if faults.iter().any(|other| other.name == fault.name) {
                let message = format!("there is another fault `{}`", fault.name);
                found.error_with_help("duplicate-name", name_span, message, "give each fault a name of its own");
            } else {
                faults.push(fault);
            }
        }
    }
    Faults { usable: faults, unusable }
}

/// The faults of a suite.
pub(super) struct Faults {
    /// Those that agents may be given.
    pub(super) usable: Vec<Fault>,
    /// The names of those with mistakes, which are reported where they are written.
    pub(super) unusable: Vec<String>,
}

/// The JSON Schema of `faults`.
pub(super) fn schema() -> Value {
    fragment::list("Faults for `inject` of agents.", field::map("A fault.", FIELDS))
}

fn decode_fault(node: &Node, servers: &Servers, found: &mut Diagnostics<'_>) -> Option<(Fault, Span)> {
    let entries = field::entries(node, "a fault", FIELDS, found)?;
    let place = entries.first().map_or(node.span, |entry| entry.key.span);
    let name = block::named(node, "name", place, found);
    let kind = decode_kind(node, place, found);
    let (server, tool) = decode_target(node, place, servers, found)?;
    let name = name?;
    let fault = Fault { name: name.as_text()?.to_owned(), tool, server, kind: kind? };
    Some((fault, name.span))
}

fn decode_kind(node: &Node, place: Span, found: &mut Diagnostics<'_>) -> Option<FaultKind> {
    let kind = block::named(node, "kind", place, found)?;
    let text = kind.as_text()?;
    let (wanted, decoded) = match text {
        "slow" => {
            let delay = number(node, "delay_ms", &kind, 0, found);
            (Some("delay_ms"), delay.map(FaultKind::slow))
        }
        "recover_after" | "recover-after" => {
            let failures = number(node, "failures", &kind, 1, found);
            (Some("failures"), failures.map(FaultKind::recover_after))
        }
        _ => {
            let Some(row) = FAULTS.iter().find(|row| row.name == text.replace('_', "-") && row.name != "none") else {
                let kinds = kinds();
                let help = match nearest(text, kinds.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("kinds are {}", kinds.join(", ")),
                };
                found.error_with_help("unknown-kind", kind.span, format!("unknown kind of fault `{text}`"), help);
                return None;
            };
            let value = node.get("number").filter(|value| !value.is_null());
            let given = match value.map(|value| (value, value.to_json().as_i64())) {
                Some((value, None)) => {
                    found.wrong_kind(value, "`number`", "a whole number");
                    return None;
                }
                Some((_, number)) => number,
                None => None,
            };
            let wanted = (row.number != FaultNumber::None).then_some("number");
            match FaultKind::named(text, given) {
                Ok(fault) => (wanted, Some(fault)),
                // The key is reported below.
                Err(_) if wanted.is_none() => (None, Some(FaultKind { id: row.id, number: 0 })),
                Err(message) => {
                    let (what, help) = message.split_once(": ").unwrap_or((&message, ""));
                    let span = value.map_or(kind.span, |value| value.span);
                    found.error_with_help("bad-fault", span, what, format!("{help}; `number:` has the number"));
                    return None;
                }
            }
        }
    };
    for entry in node.as_map().unwrap_or_default() {
        let key = entry.key.text.as_str();
        if matches!(key, "delay_ms" | "failures" | "number") && wanted != Some(key) && !entry.value.is_null() {
            let message = format!("`{key}` means nothing to a fault of the kind `{text}`");
            found.error_with_help("wrong-key", entry.key.span, message, "remove it, or choose another `kind`");
        }
    }
    decoded
}

fn number(node: &Node, key: &str, kind: &Node, least: u64, found: &mut Diagnostics<'_>) -> Option<u64> {
    let Some(value) = node.get(key).filter(|value| !value.is_null()) else {
        let message = format!("a fault of the kind `{}` needs `{key}`", kind.as_text().unwrap_or_default());
        found.error_with_help("missing-key", kind.span, message, format!("add `{key}:`"));
        return None;
    };
    found.count_within(value, &format!("`{key}`"), least..=MOST)
}

type Target = (Option<String>, Option<String>);

fn decode_target(node: &Node, place: Span, servers: &Servers, found: &mut Diagnostics<'_>) -> Option<Target> {
    let help = "add `target: {tool: …}`, `{server: …}` or both";
    let Some(target) = node.get("target").filter(|target| !target.is_null()) else {
        found.error_with_help("missing-key", place, "this fault has no `target`", help);
        return None;
    };
    let entries = field::entries(target, "`target`", TARGET, found)?;
    let mut part = |key: &str| {
        let value = target.get(key).filter(|value| !value.is_null())?;
        found.text(value, &format!("`{key}`")).map(|text| (text.to_owned(), value.span))
    };
    let (server, tool) = (part("server"), part("tool"));
    if server.is_none() && tool.is_none() && entries.iter().all(|entry| field::has(TARGET, &entry.key.text)) {
        found.error_with_help("missing-key", target.span, "`target` names neither a tool nor a server", help);
        return None;
    }
    if let Some((name, span)) = &server
        && servers.iter().all(|(known, _)| known != name)
    {
        let names = || servers.iter().map(|(name, _)| name.as_str());
        let help = match nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("`servers` has {}", names().collect::<Vec<_>>().join(", ")),
        };
        found.error_with_help("unknown-server", *span, format!("unknown server `{name}`"), help);
        return None;
    }
    Some((server.map(|(name, _)| name), tool.map(|(name, _)| name)))
}
