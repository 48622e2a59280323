//! Several matchers of one value: all of them hold, one at least, or exactly one.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Mismatch, Node, Snapshot, StoredValues};
use serde_json::{Value, json};

use super::{Decoded, Matcher, Missing, decode_matchers, inner_schema, mismatch};

/// Required number of several matchers.
#[derive(Clone, Copy, Debug)]
pub(super) enum MatcherQuantifier {
    All,
    Any,
    One,
}

/// Decodes the list of matchers under the key `what`.
pub(super) fn decode(node: &Node, what: &str, wanted: MatcherQuantifier, found: &mut Diagnostics<'_>) -> Decoded {
    Some(Arc::new(Several { matchers: decode_matchers(node, what, found)?, wanted }))
}

/// The JSON Schema of such a list.
pub(super) fn schema() -> Value {
    json!({"type": "array", "minItems": 1, "items": inner_schema()})
}

#[derive(Debug)]
struct Several {
    matchers: Vec<Arc<dyn Matcher>>,
    wanted: MatcherQuantifier,
}

impl Matcher for Several {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        self.judge_with(value, &StoredValues::default())
    }

    fn wants_stored(&self) -> bool {
        self.matchers.iter().any(|matcher| matcher.wants_stored())
    }

    fn to_store(&self, value: &Value, stored: &StoredValues) -> Vec<Snapshot> {
        self.matchers.iter().flat_map(|matcher| matcher.to_store(value, stored)).collect()
    }

    fn accepts_missing(&self, missing: Missing) -> bool {
        let held = self.matchers.iter().filter(|matcher| matcher.accepts_missing(missing)).count();
        match self.wanted {
            MatcherQuantifier::All => held == self.matchers.len(),
            MatcherQuantifier::Any => held > 0,
            MatcherQuantifier::One => held == 1,
        }
    }

    fn unjudged(&self, value: &Value, stored: &StoredValues) -> Option<Mismatch> {
        let (mut held, mut missed, mut first) = (0, 0, None);
        for matcher in &self.matchers {
            match matcher.judge_with(value, stored).is_err().then(|| matcher.unjudged(value, stored)) {
                None => held += 1,
                Some(None) => missed += 1,
                Some(unjudged) => first = first.or(unjudged),
            }
        }
        // What the others decide still counts.
        let is_decided = match self.wanted {
            MatcherQuantifier::All => missed > 0,
            MatcherQuantifier::Any => held > 0,
            MatcherQuantifier::One => held > 1,
        };
        first.filter(|_| !is_decided)
    }

    fn judge_with(&self, value: &Value, stored: &StoredValues) -> Result<(), Mismatch> {
        let missed: Vec<Mismatch> =
            self.matchers.iter().filter_map(|matcher| matcher.judge_with(value, stored).err()).collect();
        let held = self.matchers.len() - missed.len();
        if let Some(unjudged) = (!missed.is_empty()).then(|| self.unjudged(value, stored)).flatten() {
            return Err(unjudged);
        }
        match self.wanted {
            MatcherQuantifier::All => match missed.into_iter().next() {
                None => Ok(()),
                Some(first) => {
                    Err(mismatch(format!("does not match all: it {}", first.message), first.expected, value))
                }
            },
            MatcherQuantifier::Any if held > 0 => Ok(()),
            MatcherQuantifier::Any => {
                let expected: Vec<String> = missed.into_iter().map(|missed| missed.expected).collect();
                Err(mismatch("matches none of several matchers", expected.join(", or "), value))
            }
            MatcherQuantifier::One if held == 1 => Ok(()),
            MatcherQuantifier::One => {
                let message = format!("matches {held} of several matchers, not exactly one");
                Err(mismatch(message, "exactly one match", value))
            }
        }
    }
}
