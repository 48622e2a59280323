//! `expect_notification`: an update of a resource was announced.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck};
use serde_json::Value;

use super::example::{fails, holds};
use super::{CheckKind, Seen, shape};
use crate::excerpt::quoted;

const NAME: &str = "expect_notification";
const UPDATED: &str = "notifications/resources/updated";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "An update of the resource that was subscribed to (or of a part of it) was announced; `false` asks for \
              none.",
    decode: |node, found| decode(node, None, found),
    schema: shape::flag_schema,
    examples: &[
        holds(
            "true",
            Seen::Notifications(r#"[{"method": "notifications/resources/updated", "params": {"uri": "a://b"}}]"#),
        ),
        fails("true", Seen::Notifications(r#"[{"method": "notifications/resources/list_changed"}]"#)),
        holds("false", Seen::Notifications(r#"[{"method": "notifications/message", "params": {}}]"#)),
        fails(
            "false",
            Seen::Notifications(r#"[{"method": "notifications/resources/updated", "params": {"uri": "a://b"}}]"#),
        ),
    ],
};

/// Decodes the flag; an update counts when it is about the resource that was subscribed to, if one was.
pub(super) fn decode(node: &Node, subscribed: Option<&Node>, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let Some(wanted) = shape::flag(NAME, node, found) else { return Vec::new() };
    let uri = subscribed.and_then(Node::as_text).map(str::to_owned);
    vec![shape::planned(NAME, node.span, Announced { wanted, uri })]
}

#[derive(Debug)]
struct Announced {
    wanted: bool,
    /// The resource that was subscribed to; any will do when there is none.
    uri: Option<String>,
}

impl Check for Announced {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let updates: Vec<&str> = seen
            .notifications
            .iter()
            .filter(|notification| notification.method == UPDATED)
            .map(|notification| notification.params.get("uri").and_then(Value::as_str).unwrap_or_default())
            .collect();
        // An update may be about a part of what was subscribed to (2025-11-25, Resources, Subscriptions).
        let count = updates.iter().filter(|uri| self.uri.as_ref().is_none_or(|own| uri.starts_with(own))).count();
        if (count > 0) == self.wanted {
            return Ok(());
        }
        let of = self.uri.as_deref().map_or("a resource".to_owned(), quoted);
        let shown = match updates.as_slice() {
            [] => "no updates".to_owned(),
            updates => format!("updates of {}", quoted(&updates.join(", "))),
        };
        let (message, expected) = if self.wanted {
            (format!("no update of {of} was announced"), format!("`{UPDATED}` for {of}"))
        } else {
            (format!("an update of {of} was announced"), format!("no `{UPDATED}` for {of}"))
        };
        Err(Mismatch { message, expected, actual: shown, ..Mismatch::default() })
    }

    fn awaits_more(&self) -> bool {
        self.wanted
    }

    fn breaks_with_more(&self) -> bool {
        !self.wanted
    }
}

#[cfg(test)]
mod tests {
    use mcprove_model::{SourceFile, Span};

    use super::super::trial::observation;
    use super::*;

    #[test]
    fn an_update_of_something_else_does_not_count() {
        let source = SourceFile::new("a.yaml", "true");
        let mut found = Diagnostics::new(&source);
        let flag = Node::from_json(Span::new(0, 4), Value::Bool(true));
        let subscribed = Node::text_at(Span::default(), "a://b");
        let check = decode(&flag, Some(&subscribed), &mut found).remove(0).check;
        let update = |uri| match uri {
            1 => r#"[{"method": "notifications/resources/updated", "params": {"uri": "a://b/part"}}]"#,
            _ => r#"[{"method": "notifications/resources/updated", "params": {"uri": "x://y"}}]"#,
        };
        assert_eq!(check.judge(&observation(&Seen::Notifications(update(1)))), Ok(()));
        let mismatch = check.judge(&observation(&Seen::Notifications(update(2)))).expect_err("another");
        assert_eq!(mismatch.message, "no update of `a://b` was announced");
        assert_eq!(mismatch.actual, "updates of `x://y`");
    }
}
