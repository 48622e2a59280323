//! The error contract: requests a server must reject, and what its answers mean.

mod answer;
mod extra_field;
mod missing_required;
mod oversized;
mod unknown_tool;
mod wrong_type;

use serde_json::Value;

use mcprove_model::ToolVerdict;

use crate::scan_verdict::ScanJudgement;

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
    /// The requests it sends.
    pub sends: &'static str,
    /// The class of error the contract names; recorded, not judged.
    pub contract: &'static str,
    /// True if a result within the deadline is as good as a rejection.
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
    /// Size of an oversized argument in bytes.
    pub oversized: usize,
}

/// One wrong request.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeRequest {
    /// The tool that is called.
    pub tool: String,
    /// The arguments.
    pub arguments: Value,
    /// Its defect, in a few words.
    pub what: String,
    /// True if the missing argument is required and has a default: a server may well fill it in.
    pub has_default: bool,
}

/// The result of one wrong request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeResult {
    /// The contract is kept.
    Met,
    /// The request was executed, because the server filled in a default.
    DefaultFilled,
    /// The contract is not kept.
    NotMet,
    /// The rejection proves nothing: valid input fails, too.
    NotProven {
        /// The result of the valid input.
        reason: String,
    },
}

impl Probe {
    /// Default size of an oversized argument in bytes.
    pub const OVERSIZED: usize = 1 << 20;
    /// More than this is not sent: it would say more about pipes than about the server.
    pub const LARGEST: usize = 1 << 26;

    /// The probe of that name.
    pub fn find(name: &str) -> Option<&'static Self> {
        PROBES.iter().find(|probe| probe.name == name)
    }

    /// The requests it makes of a tool; the error says why there are none.
    pub fn requests(&self, subject: &Subject<'_>) -> Result<Vec<ProbeRequest>, String> {
        (self.requests)(subject)
    }

    /// The result of a request, given what happened to valid input before. `None` as the control means that valid input
    /// works, or was not tried.
    pub fn result(&self, request: &ProbeRequest, answer: &Answer, control: Option<&ScanJudgement>) -> ProbeResult {
        let control = control.filter(|control| control.verdict != ToolVerdict::Works && self.needs_control());
        match (self.accepts(answer), answer, control) {
            (true, Answer::Rejected { .. }, Some(control)) => {
                ProbeResult::NotProven { reason: format!("valid input fails, too: {}", control.sentence) }
            }
            (true, _, _) => ProbeResult::Met,
            (false, Answer::Executed, _) if request.has_default => ProbeResult::DefaultFilled,
            (false, _, _) => ProbeResult::NotMet,
        }
    }

    /// True if a rejection proves something only where valid input works: a name that no tool has is rejected by its name.
    fn needs_control(&self) -> bool {
        self.name != "unknown_tool"
    }

    /// True if an answer is what the contract asks for.
    pub fn accepts(&self, answer: &Answer) -> bool {
        match answer {
            Answer::Rejected { .. } => true,
            Answer::Executed => self.may_accept,
            Answer::ErrorText(_) | Answer::Hung | Answer::Crashed(_) | Answer::Malformed(_) => false,
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
    use mcprove_model::Outcome;
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
    fn a_rejection_proves_nothing_where_valid_input_fails() {
        let schema = json!({"required": ["a", "b"], "properties": {"a": {"type": "string"}, "b": {"default": 1}}});
        let made = requests("missing_required", &schema).expect("two");
        assert_eq!(made.iter().map(|request| request.has_default).collect::<Vec<_>>(), [false, true]);
        let probe = Probe::find("missing_required").expect("a probe");
        let rejected = Answer::Rejected { code: None };
        let failing = ScanJudgement {
            verdict: ToolVerdict::Crashed,
            sentence: "the network cannot be reached".to_owned(),
            evidence: None,
        };
        let working = ScanJudgement { verdict: ToolVerdict::Works, sentence: String::new(), evidence: None };
        assert_eq!(probe.result(&made[0], &rejected, Some(&working)), ProbeResult::Met);
        let reason = "valid input fails, too: the network cannot be reached".to_owned();
        assert_eq!(probe.result(&made[0], &rejected, Some(&failing)), ProbeResult::NotProven { reason });
        assert_eq!(probe.result(&made[0], &Answer::Executed, Some(&failing)), ProbeResult::NotMet);
        assert_eq!(probe.result(&made[1], &Answer::Executed, Some(&working)), ProbeResult::DefaultFilled);
        let unknown = Probe::find("unknown_tool").expect("a probe");
        assert_eq!(unknown.result(&made[0], &rejected, Some(&failing)), ProbeResult::Met);
        let said = Outcome::Result(json!({"content": [{"type": "text", "text": "Error: no such row"}]}));
        assert_eq!(answer(&said), Answer::ErrorText("Error: no such row".to_owned()));
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
