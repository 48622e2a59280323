//! `security`: which output may flow between servers, and what clients may claim.

use std::ops::RangeInclusive;
use std::sync::Arc;

use mcprove_judge::{Group, RULES};
use mcprove_model::{
    Boundary, Diagnostics, Era, FlowPair, Negotiation, Node, Protocol, Revision, Security, ServerSpec, nearest,
};
use serde_json::{Value, json};

use super::Unit;
use crate::assertion_file::texts;
use crate::field::{self, Field};
use crate::schema::fragment;

const FIELDS: &[Field] = &[
    Field::optional("capability_negotiation", || field::map("What clients may claim.", NEGOTIATION)),
    Field::optional("scan", scan_schema),
    Field::optional("trust_boundary", || {
        let mut boundary = field::map("Allowed flows from server to server; an empty map allows none.", BOUNDARY);
        boundary["type"] = json!(["object", "null"]);
        boundary
    }),
];

const BOUNDARY: &[Field] = &[
    Field::optional("allowed_flows", || {
        fragment::list("Pairs between which output may flow.", field::map("A direction.", FLOW))
    }),
    Field::optional("min_length", || {
        fragment::count_within("The fewest characters that count as carried; 16 when left out.", &LENGTHS)
    }),
    Field::optional("required_sanitizers", || fragment::texts("Tools of which one must have sanitized what flows.")),
];

const FLOW: &[Field] = &[
    Field::required("from", || fragment::text("The server that it comes from.")),
    Field::required("to", || fragment::text("The server that may receive it.")),
];

const NEGOTIATION: &[Field] = &[
    Field::optional("negotiated", || fragment::texts("The capabilities that were agreed on.")),
    Field::required("target", || fragment::text("The protocol revision; before 2026-07-28 there is nothing to check.")),
];

/// The capabilities of clients and servers in all revisions, sorted.
const CAPABILITIES: &[&str] = &[
    "completions",
    "elicitation",
    "experimental",
    "extensions",
    "logging",
    "prompts",
    "resources",
    "roots",
    "sampling",
    "tasks",
    "tools",
];

const LENGTHS: RangeInclusive<u64> = 1..=1_000_000;

/// Decodes `security`; an empty `trust_boundary` makes no exception, so that every flow is a finding.
pub(super) fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Security {
    found.known_keys(node, "`security`", &field::keys(FIELDS));
    if let Some(scan) = node.get("scan").filter(|scan| !scan.is_null()) {
        found.boolean(scan, "`scan`");
    }
    Security {
        trust_boundary: node.get("trust_boundary").map(|boundary| decode_boundary(boundary, found)),
        capability_negotiation: node
            .get("capability_negotiation")
            .filter(|negotiation| !negotiation.is_null())
            .and_then(|negotiation| decode_negotiation(negotiation, found)),
    }
}

/// A key without a value looks as if something were guarded.
pub(super) fn report_empty(document: &Node, found: &mut Diagnostics<'_>) {
    let entries = document.as_map().unwrap_or_default();
    for entry in entries.iter().filter(|entry| entry.key.text == "security" && entry.value.is_null()) {
        let help = "write `security: {trust_boundary: {}}` to have every flow between servers reported, or remove it";
        found.error_with_help("missing-key", entry.key.span, "`security` declares nothing", help);
    }
}

/// Speaks the stateless revision to servers that say nothing else, when that is what is to be checked.
pub(super) fn make_modern(security: &Security, units: &[Unit], servers: &mut [(String, Option<Arc<ServerSpec>>)]) {
    let target = security.capability_negotiation.as_ref().and_then(|negotiation| Revision::parse(&negotiation.target));
    let Some(target) = target.filter(|target| target.era() == Era::Modern) else { return };
    for (name, server) in servers {
        let says = |unit: &Unit| unit.node.get("servers")?.get(name)?.get("protocol").map(|_| ());
        let own = units.iter().any(|unit| says(unit).is_some());
        if let Some(server) = server.as_mut().and_then(Arc::get_mut).filter(|_| !own) {
            server.protocol = Protocol::Exactly(target);
        }
    }
}

/// Flows between servers that do not exist would allow nothing.
pub(super) fn report_unknown_servers(
    document: &Node,
    servers: &[(String, Option<Arc<ServerSpec>>)],
    found: &mut Diagnostics<'_>,
) {
    let flows = document.get("security").and_then(|security| security.get("trust_boundary")?.get("allowed_flows"));
    let names = || servers.iter().map(|(name, _)| name.as_str());
    for flow in flows.and_then(Node::as_list).unwrap_or_default() {
        for named in FLOW.iter().filter_map(|field| flow.get(field.key)) {
            let Some(text) = named.as_text().filter(|text| names().all(|name| name != *text)) else { continue };
            let help = match nearest(text, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("`servers` has {}", names().collect::<Vec<_>>().join(", ")),
            };
            found.error_with_help("unknown-server", named.span, format!("unknown server `{text}`"), help);
        }
    }
}

/// The keys of `security`.
pub(super) fn keys() -> Vec<&'static str> {
    field::keys(FIELDS)
}

/// The JSON Schema of `security`.
pub(super) fn schema() -> Value {
    field::map("Declarations about trust.", FIELDS)
}

fn scan_schema() -> Value {
    fragment::flag(
        "Every server is a test of `tool_quality`, too: the texts of its tools must not mislead a model (TXT rules).",
    )
}

/// `scan: true` as tests: one per server, which expects that no rule for texts speaks.
pub(super) fn scan_tests(document: &Node) -> Vec<Node> {
    let scan = document.get("security").and_then(|security| security.get("scan"));
    let Some(scan) = scan.filter(|scan| scan.as_bool() == Some(true)) else { return Vec::new() };
    let servers = document.get("servers").and_then(Node::as_map).unwrap_or_default().iter();
    let texts = RULES.iter().filter(|rule| rule.group() == Group::Texts);
    let expect: Vec<Value> = texts
        .map(|rule| {
            let target = format!("rules[\"{}\"]", rule.id);
            json!({"target": target, "matcher": {"exact": 0}, "message": rule.summary})
        })
        .collect();
    let test = |server: &mcprove_model::Entry| {
        let name = format!("security scan of {}", server.key.text);
        Node::from_json(scan.span, json!({"name": name, "server": server.key.text.as_str(), "expect": expect}))
    };
    servers.map(test).collect()
}

fn decode_boundary(node: &Node, found: &mut Diagnostics<'_>) -> Boundary {
    let mut boundary = Boundary::default();
    if node.is_null() {
        return boundary;
    }
    found.known_keys(node, "`trust_boundary`", &field::keys(BOUNDARY));
    let part = |key: &str| node.get(key).filter(|part| !part.is_null());
    if let Some(flows) = part("allowed_flows") {
        let flows = found.list(flows, "`allowed_flows`").iter();
        boundary.allowed_flows = flows.filter_map(|flow| decode_flow(flow, found)).collect();
    }
    if let Some(tools) = part("required_sanitizers") {
        boundary.required_sanitizers = texts::list(tools, "`required_sanitizers`", found);
    }
    if let Some(length) = part("min_length") {
        let least = found.count_within(length, "`min_length`", LENGTHS);
        if let Some(least) = least.and_then(|least| usize::try_from(least).ok()) {
            boundary.min_length = least;
        }
    }
    boundary
}

fn decode_flow(node: &Node, found: &mut Diagnostics<'_>) -> Option<FlowPair> {
    let entries = found.map(node, "a flow")?;
    let place = entries.first().map_or(node.span, |entry| entry.key.span);
    found.known_keys(node, "a flow", &field::keys(FLOW));
    let mut end = |key: &str| {
        let Some(named) = node.get(key).filter(|named| !named.is_null()) else {
            let message = format!("this flow has no `{key}`");
            found.error_with_help("missing-key", place, message, "write `- {from: fetcher, to: database}`");
            return None;
        };
        found.text(named, &format!("`{key}`")).map(str::to_owned)
    };
    let (from, to) = (end("from"), end("to"));
    Some(FlowPair { from: from?, to: to? })
}

/// A capability that no revision knows can never be claimed, so that listing it permits nothing.
fn report_unknown_capability(name: &Node, found: &mut Diagnostics<'_>) {
    let Some(text) = name.as_text().filter(|text| !CAPABILITIES.contains(text)) else { return };
    let help = match nearest(text, CAPABILITIES.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("capabilities are {}", CAPABILITIES.join(", ")),
    };
    found.error_with_help("unknown-capability", name.span, format!("unknown capability `{text}`"), help);
}

fn decode_negotiation(node: &Node, found: &mut Diagnostics<'_>) -> Option<Negotiation> {
    let entries = found.known_keys(node, "`capability_negotiation`", &field::keys(NEGOTIATION));
    let place = entries.first().map_or(node.span, |entry| entry.key.span);
    let negotiated = node.get("negotiated").filter(|names| !names.is_null());
    let negotiated = negotiated.map(|names| {
        for name in names.as_list().unwrap_or_default() {
            report_unknown_capability(name, found);
        }
        texts::list(names, "`negotiated`", found)
    });
    let Some(target) = node.get("target").filter(|target| !target.is_null()) else {
        let message = "`capability_negotiation` does not say for which revision";
        found.error_with_help("missing-key", place, message, "add `target: \"2026-07-28\"`");
        return None;
    };
    let text = found.text(target, "`target`")?;
    if Revision::parse(text).is_none() {
        let known: Vec<&str> = Revision::ALL.iter().map(|revision| revision.as_str()).collect();
        let message = format!("unknown protocol revision `{text}`");
        found.error_with_help("unknown-revision", target.span, message, format!("there is {}", known.join(", ")));
    }
    Some(Negotiation { target: text.to_owned(), negotiated, span: place })
}
