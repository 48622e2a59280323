//! `conformance`: the rules of the protocol are judged next to the tests, for every server of the suite.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Node, Protocol, Revision, ServerSpec, Target, nearest};
use serde_json::{Value, json};

use super::{Servers, Unit};
use crate::schema::fragment;

/// The key of a suite file.
pub(super) const KEY: &str = "conformance";

/// A server whose conformance a suite wants judged.
#[derive(Clone, Debug, PartialEq)]
pub struct ConformanceLane {
    /// The server.
    pub server: Arc<ServerSpec>,
    /// The revision that is judged; all that the server serves when absent.
    pub protocol: Option<Protocol>,
}

/// The servers to judge; the key alone asks for it.
pub(super) fn decode(units: &[Unit], servers: &Servers, found: &mut [Diagnostics<'_>]) -> Vec<ConformanceLane> {
    let mut lanes = Vec::new();
    for (unit, found) in units.iter().zip(found) {
        let entries = unit.node.as_map().unwrap_or_default();
        let Some(entry) = entries.iter().find(|entry| entry.key.text == KEY) else { continue };
        let protocol = decode_version(&entry.value, found);
        for (name, server) in servers {
            let Some(server) = server else { continue };
            if matches!(server.target, Target::Mock { .. } | Target::Cassette { .. }) {
                let message = format!("the conformance of `{name}` is not judged: it is played from a file");
                found.warning(
                    "unused-key",
                    entry.key.span,
                    message,
                    Some("name a server that is started, or a URL".to_owned()),
                );
                continue;
            }
            lanes.push(ConformanceLane { server: Arc::clone(server), protocol });
        }
        if servers.is_empty() {
            let help = "name the server in `servers`";
            found.error_with_help("missing-key", entry.key.span, "`conformance` has no server to judge", help);
        }
    }
    lanes
}

/// The JSON Schema of `conformance`.
pub(super) fn schema() -> Value {
    let version = fragment::text("The revision to judge, for example `2025-11-25`; all that are served when left out.");
    let mut schema = fragment::map(
        "Judge the servers by the rules of `mcprove conformance`, next to the tests.",
        json!({"target_version": version}),
        &[],
    );
    schema["type"] = json!(["object", "null"]);
    schema
}

fn decode_version(node: &Node, found: &mut Diagnostics<'_>) -> Option<Protocol> {
    if node.is_null() {
        return None;
    }
    found.known_keys(node, "`conformance`", &["target_version"]);
    let version = node.get("target_version").filter(|version| !version.is_null())?;
    let text = found.text(version, "`target_version`")?;
    let revision = Revision::parse(text);
    if revision.is_none() {
        let known = Revision::ALL.map(Revision::as_str);
        let help = match nearest(text, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("write one of {}", known.join(", ")),
        };
        found.error_with_help("unknown-protocol", version.span, format!("unknown revision `{text}`"), help);
    }
    revision.map(Protocol::Exactly)
}
