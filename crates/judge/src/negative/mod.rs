//! The error contract: requests a server must reject, and what its answers mean.

mod answer;
mod extra_field;
mod missing_required;
mod oversized;
mod unknown_tool;
mod wrong_type;

use serde_json::Value;

pub use answer::{Answer, answer};

/// A probe: one way a request can be wrong, keyed to the fault taxonomies.
#[derive(Debug)]
pub struct Probe {
    /// Its name in files.
    pub name: &'static str,
    /// Its id in the fault taxonomy.
    pub taxonomy: &'static str,
    /// The paper the taxonomy is from.
    pub paper: &'static str,
    /// What is sent.
    pub sends: &'static str,
    /// The class of error the contract names; recorded, not judged.
    pub contract: &'static str,
    /// Whether a result within the deadline is as good as a rejection.
    pub may_accept: bool,
    requests: fn(&Subject<'_>) -> Result<Vec<ProbeRequest>, String>,
}

/// Every probe, in the order they are made.
pub const PROBES: &[Probe] =
    &[unknown_tool::PROBE, missing_required::PROBE, wrong_type::PROBE, extra_field::PROBE, oversized::PROBE];

/// The tool that is probed.
#[derive(Debug)]
pub struct Subject<'s> {
    /// Its name.
    pub tool: &'s str,
    /// Its input schema; null when it has none.
    pub schema: &'s Value,
    /// Arguments that the schema accepts.
    pub base: &'s Value,
    /// How many bytes an oversized argument has.
    pub oversized: usize,
}

/// One wrong request.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeRequest {
    /// The tool that is called.
    pub tool: String,
    /// The arguments.
    pub arguments: Value,
    /// What is wrong with it, in a few words.
    pub what: String,
}

impl Probe {
    /// How many bytes an oversized argument has, unless somebody says otherwise.
    pub const OVERSIZED: usize = 1 << 20;
    /// More than this is not sent: it would say more about pipes than about the server.
    pub const LARGEST: usize = 1 << 28;

    /// The probe of that name.
    pub fn find(name: &str) -> Option<&'static Self> {
        PROBES.iter().find(|probe| probe.name == name)
    }

    /// The requests it makes of a tool; the error says why there are none.
    pub fn requests(&self, subject: &Subject<'_>) -> Result<Vec<ProbeRequest>, String> {
        (self.requests)(subject)
    }

    /// Whether an answer is what the contract asks for.
    pub fn accepts(&self, answer: &Answer) -> bool {
        match answer {
            Answer::Rejected { .. } => true,
            Answer::Executed => self.may_accept,
            Answer::Hung | Answer::Crashed(_) | Answer::Malformed(_) => false,
        }
    }
}

/// The base arguments with one member changed.
fn with(base: &Value, key: &str, value: Value) -> Value {
    let mut changed = base.as_object().cloned().unwrap_or_default();
    changed.insert(key.to_owned(), value);
    Value::Object(changed)
}

/// The declared properties of a schema.
fn properties<'s>(subject: &Subject<'s>) -> impl Iterator<Item = (&'s String, &'s Value)> {
    subject.schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::errors;
    use serde_json::json;

    fn requests(name: &str, schema: &Value) -> Result<Vec<ProbeRequest>, String> {
        let base = json!({"query": "x", "limit": 3});
        let subject = Subject { tool: "search", schema, base: &base, oversized: 1 << 20 };
        Probe::find(name).expect(name).requests(&subject)
    }

    fn strict() -> Value {
        json!({"type": "object", "required": ["query", "limit"], "additionalProperties": false, "properties": {
            "query": {"type": "string", "maxLength": 100},
            "limit": {"type": ["integer", "null"]},
            "flag": {"type": ["boolean", "null"]},
            "nested": {"type": "object", "properties": {"deep": {"type": "number"}}},
            "free": {},
        }})
    }

    #[test]
    fn every_wrong_request_really_violates_the_schema() {
        for name in ["missing_required", "wrong_type", "extra_field"] {
            let made = requests(name, &strict()).expect(name);
            assert!(!made.is_empty(), "{name}");
            for request in made {
                let errors = errors(&strict(), &request.arguments).expect("a valid schema");
                assert!(!errors.is_empty(), "{name}: {request:?} is valid");
            }
        }
    }

    #[test]
    fn what_probes_came_to_is_shown_by_every_report() {
        let known = mcprove_model::Finding::SUB_RESULTS;
        assert!(known.is_sorted() && PROBES.iter().all(|probe| known.contains(&probe.name)), "{known:?}");
    }

    #[test]
    fn each_property_has_its_turn() {
        assert_eq!(requests("missing_required", &strict()).expect("two").len(), 2);
        let wrong = requests("wrong_type", &strict()).expect("typed properties");
        let about: Vec<&str> = wrong.iter().map(|request| request.what.split('`').nth(1).unwrap_or("")).collect();
        assert_eq!(about, ["query", "limit", "flag", "nested", "nested.deep"]);
    }

    #[test]
    fn what_cannot_be_asked_says_why() {
        let open = json!({"type": "object", "properties": {"a": {}}});
        assert!(requests("extra_field", &open).expect_err("open").contains("additionalProperties"));
        assert!(requests("missing_required", &open).expect_err("nothing required").contains("required"));
        assert!(requests("wrong_type", &open).expect_err("no types").contains("type"));
        assert!(requests("oversized", &json!({"properties": {"a": {"type": "integer"}}})).is_err());
        assert_eq!(requests("unknown_tool", &open).expect("always").len(), 1);
    }
}
