//! `snapshot`: the value is the one that was stored under a name.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Mismatch, Node, Snapshot, SnapshotKind, StoredValues};
use serde_json::{Value, json};

use super::{Decoded, Matcher, MatcherKind, fails, holds, mismatch};
use crate::snapshot::{Masks, difference, of_value};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "snapshot",
    summary: "The value is the one stored under this name next to the suite, with times and the like masked; \
              `mcprove run --update-snapshots` stores it.",
    decode,
    schema: || json!({"type": "string", "minLength": 1}),
    examples: &[
        holds(r#""greeting""#, r#""hello at 2026-11-15T10:00:00Z""#),
        fails(r#""greeting""#, r#""bye at 2026-11-15T10:00:00Z""#),
        fails(r#""never stored""#, r#""hello""#),
    ],
};

#[derive(Debug)]
struct Stored {
    name: String,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Decoded {
    let name = found.text(node, "`snapshot`")?;
    if name.trim().is_empty() {
        found.error_with_help("bad-matcher", node.span, "`snapshot` has no name", "give it a name, unique in the file");
        return None;
    }
    Some(Arc::new(Stored { name: name.to_owned() }))
}

impl Stored {
    fn text(value: &Value, stored: &StoredValues) -> String {
        // Patterns that do not compile are findings of the file, which does not run then.
        let masks = Masks::new(stored.masks.iter().map(String::as_str)).unwrap_or_default();
        masks.with_fixture(stored.fixture.as_deref()).apply(&of_value(value))
    }
}

impl Matcher for Stored {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        self.judge_with(value, &StoredValues::default())
    }

    fn judge_with(&self, value: &Value, stored: &StoredValues) -> Result<(), Mismatch> {
        let name = &self.name;
        let expected = format!("what is stored as `{name}`");
        if let Some(reason) = &stored.unreadable {
            return Err(mismatch(format!("cannot be compared: {reason}"), expected, value));
        }
        let now = Self::text(value, stored);
        match stored.texts.get(name) {
            None => {
                let mut missing = mismatch(format!("is not stored yet as `{name}`"), expected, value);
                missing.help = Some("`mcprove run --update-snapshots` stores it".to_owned());
                Err(missing)
            }
            Some(text) if *text == now => Ok(()),
            Some(text) => {
                let mut changed = mismatch(format!("is not what was stored as `{name}`"), expected, value);
                changed.diff = Some(difference(text, &now));
                changed.help = Some("if that is right, `mcprove run --update-snapshots` stores it".to_owned());
                Err(changed)
            }
        }
    }

    fn wants_stored(&self) -> bool {
        true
    }

    fn to_store(&self, value: &Value, stored: &StoredValues) -> Vec<Snapshot> {
        vec![Snapshot { kind: SnapshotKind::Value, name: self.name.clone(), text: Self::text(value, stored) }]
    }
}
