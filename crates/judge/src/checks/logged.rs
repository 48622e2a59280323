//! `logging`: the log messages of a tool call, judged next to its result.

use mcprove_model::{Diagnostics, Node, PlannedCheck};
use serde_json::{Value, json};

use super::example::{fails, holds};
use super::{CheckKind, Seen, logging};

const NAME: &str = "logging";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "The server logged as these checks of `assert_logging` expect.",
    decode,
    schema,
    examples: &[
        holds(
            r#"{"min_messages": 1, "contains_level": "info"}"#,
            Seen::Notifications(r#"[{"method": "notifications/message", "params": {"level": "info"}}]"#),
        ),
        holds(r#"{"max_messages": 0}"#, Seen::Notifications("[]")),
        fails(
            r#"{"not_contains_level": "error"}"#,
            Seen::Notifications(r#"[{"method": "notifications/message", "params": {"level": "error"}}]"#),
        ),
    ],
};

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let names: Vec<&str> = logging::CHECKS.iter().map(|kind| kind.name).collect();
    let entries = found.known_keys(node, "`logging`", &names);
    if entries.is_empty() && node.as_map().is_some() {
        let help = "write for example `logging: {min_messages: 1}`";
        found.error_with_help("nothing-asked", node.span, "`logging` checks nothing", help);
    }
    let mut checks = Vec::new();
    for kind in logging::CHECKS {
        let Some(entry) = entries.iter().find(|entry| entry.key.text == kind.name) else { continue };
        checks.extend(
            (kind.decode)(&entry.value, found).into_iter().map(|planned| PlannedCheck { name: NAME, ..planned }),
        );
    }
    checks
}

fn schema() -> Value {
    let mut properties = serde_json::Map::new();
    for kind in logging::CHECKS {
        let mut schema = (kind.schema)();
        schema["description"] = kind.summary.into();
        properties.insert(kind.name.to_owned(), schema);
    }
    json!({"type": "object", "additionalProperties": false, "minProperties": 1, "properties": properties})
}
