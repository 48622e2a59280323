//! Verdicts: each rule once, root causes first, consequences folded under them.

use std::collections::{BTreeMap, BTreeSet};

use super::evidence::{Evidence, Spot};
use super::rule::{Absent, Rule, Ruling, Violation};
use super::rules::RULES;

/// The rule that speaks last: what a more specific rule reports of a message is not reported again.
const GENERAL: &str = "mcp-schema-valid";

/// The rules that need nothing but messages, so that any recording can be judged by them.
pub const STATIC_RULES: &[&str] = &[
    "mcp-handshake",
    "mcp-stdout",
    "mcp-id-echo",
    "mcp-envelope",
    "mcp-one-reply",
    "mcp-schema-valid",
    "mcp-tool-definition",
    "mcp-input-schema",
    "mcp-tool-output-schema",
    "mcp-tool-result",
    "mcp-structured-output",
    "mcp-result-type",
    "mcp-cache-hints",
    "mcp-no-server-requests",
    "mcp-x-mcp-header",
    "mcp-error-codes",
    "mcp-server-info",
    "mcp-capability-shape",
    "mcp-binary-content",
    "mcp-progress",
    "mcp-tool-names",
    "mcp-templates",
    "mcp-elicitation",
    "mcp-sampling",
    "mcp-no-secrets",
    "mcp-annotations",
];

/// The verdict of one rule.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Something was checked, and all of it holds.
    Pass,
    /// A MUST is broken.
    Fail,
    /// A SHOULD is broken.
    Warn,
    /// The server does not declare the feature.
    NotApplicable(String),
    /// The server lacks what a test needs.
    NotTestable(String),
    /// Nothing happened that could have broken the rule.
    NotExercised(String),
    /// Another rule failed first.
    BlockedBy(&'static str),
}

impl Verdict {
    /// Its name in reports.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Warn => "warn",
            Self::NotApplicable(_) => "n/a",
            Self::NotTestable(_) => "not testable",
            Self::NotExercised(_) => "not exercised",
            Self::BlockedBy(_) => "blocked",
        }
    }

    /// The reason it carries.
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Pass | Self::Fail | Self::Warn => None,
            Self::NotApplicable(why) | Self::NotTestable(why) | Self::NotExercised(why) => Some(why.clone()),
            Self::BlockedBy(rule) => Some(format!("blocked by `{rule}`")),
        }
    }
}

/// A rule with its verdict.
#[derive(Clone, Debug)]
pub struct Graded {
    /// The rule.
    pub rule: &'static Rule,
    /// Its verdict.
    pub verdict: Verdict,
    /// The violations.
    pub violations: Vec<Violation>,
}

/// Judges evidence by those of these rules that apply to its revision and transport.
pub fn judge(evidence: &Evidence, selected: impl Fn(&Rule) -> bool) -> Vec<Graded> {
    let mut graded: Vec<Graded> = Vec::new();
    let applies = |rule: &&Rule| rule.applies(evidence.revision, evidence.channel) && selected(rule);
    for rule in RULES.iter().filter(applies) {
        let mut ruling = Ruling::new(evidence);
        (rule.judge)(&mut ruling);
        graded.push(grade(rule, ruling));
    }
    fold(&mut graded);
    for one in &mut graded {
        shorten(&mut one.violations);
    }
    graded
}

/// The number of violations of a clause that are listed one by one.
const LISTED: usize = 5;

/// Keeps a fault that comes again and again once, and of many different ones the first few.
fn shorten(violations: &mut Vec<Violation>) {
    let mut seen = BTreeSet::new();
    let mut counts: BTreeMap<(&'static str, bool), usize> = BTreeMap::new();
    violations.retain(|violation| {
        if !seen.insert((violation.clause, violation.message.clone())) {
            return false;
        }
        let count = counts.entry((violation.clause, violation.fails)).or_default();
        *count += 1;
        *count <= LISTED
    });
    for ((clause, fails), count) in counts.into_iter().filter(|(_, count)| *count > LISTED) {
        let message = format!("{} more violations of this clause", count - LISTED);
        violations.push(Violation { clause, fails, message, spot: None, request: None, reply: None });
    }
}

fn grade(rule: &'static Rule, ruling: Ruling<'_>) -> Graded {
    let Ruling { violations, checked, absent, has_garbled_reply, .. } = ruling;
    let verdict = if violations.iter().any(|violation| violation.fails) {
        Verdict::Fail
    } else if !violations.is_empty() {
        Verdict::Warn
    } else if has_garbled_reply {
        Verdict::BlockedBy("mcp-stdout")
    } else if checked > 0 {
        Verdict::Pass
    } else {
        match absent {
            Some(Absent::NotApplicable(why)) => Verdict::NotApplicable(why),
            Some(Absent::NotTestable(why)) => Verdict::NotTestable(why),
            Some(Absent::NotExercised(why)) => Verdict::NotExercised(why),
            None => Verdict::NotExercised("nothing in this run put it to the test".to_owned()),
        }
    };
    Graded { rule, verdict, violations }
}

/// Reports a root cause once: rules that it blocks name it, and a message is not called invalid in general if a rule
/// reports its defect.
fn fold(graded: &mut [Graded]) {
    let failed: Vec<&'static str> =
        graded.iter().filter(|graded| graded.verdict == Verdict::Fail).map(|graded| graded.rule.id).collect();
    for one in graded.iter_mut() {
        let cause = one.rule.blocked_by.iter().find(|cause| failed.contains(cause));
        if let Some(cause) = cause
            && one.verdict != Verdict::Pass
        {
            one.verdict = Verdict::BlockedBy(cause);
            one.violations.clear();
        }
    }
    let known: BTreeSet<Spot> = graded
        .iter()
        .filter(|graded| graded.rule.id != GENERAL)
        .flat_map(|graded| &graded.violations)
        .filter_map(|violation| violation.spot)
        .collect();
    let first = graded.iter().find(|graded| graded.rule.id != GENERAL && !graded.violations.is_empty());
    let first = first.map(|graded| graded.rule.id);
    if let Some(general) = graded.iter_mut().find(|graded| graded.rule.id == GENERAL) {
        let had = general.violations.len();
        let is_at = |violation: &Violation| violation.spot.is_some_and(|spot| known.contains(&spot));
        // The same fault in a later reply has the same cause.
        let explained: BTreeSet<String> = general
            .violations
            .iter()
            .filter(|violation| is_at(violation))
            .map(|violation| violation.message.clone())
            .collect();
        general.violations.retain(|violation| !is_at(violation) && !explained.contains(&violation.message));
        if had > 0
            && general.violations.is_empty()
            && let Some(cause) = first
        {
            general.verdict = Verdict::BlockedBy(cause);
        }
    }
}

/// The counts of a grade line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grade {
    /// Rules that hold.
    pub passed: usize,
    /// Rules that are broken.
    pub failed: usize,
    /// Rules with warnings.
    pub warned: usize,
    /// Rules about features the server does not declare.
    pub not_applicable: usize,
    /// Rules that could not be tested, or that nothing put to the test.
    pub not_testable: usize,
}

impl Grade {
    /// Counts verdicts.
    pub fn of(graded: &[Graded]) -> Self {
        let mut grade = Self::default();
        for graded in graded {
            match graded.verdict {
                Verdict::Pass => grade.passed += 1,
                Verdict::Fail => grade.failed += 1,
                Verdict::Warn => grade.warned += 1,
                Verdict::NotApplicable(_) => grade.not_applicable += 1,
                Verdict::NotTestable(_) | Verdict::NotExercised(_) | Verdict::BlockedBy(_) => grade.not_testable += 1,
            }
        }
        grade
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use mcprove_model::Revision;
    use serde_json::{Value, json};

    use crate::conformance::{Channel, Entry, Evidence, Payload, Recording, Verdict, What, judge};

    /// A message of a conversation: its label, if it was sent, and its text.
    type Line<'l> = (Option<&'l str>, String);

    fn sent<'l>(label: &'l str, message: &Value) -> Line<'l> {
        (Some(label), message.to_string())
    }

    fn got(message: &Value) -> Line<'static> {
        (None, message.to_string())
    }

    /// The verdict of a rule on a conversation over stdio, and its messages.
    fn verdict(rule: &str, probe: &'static str, lines: Vec<Line<'_>>) -> (Verdict, Vec<String>) {
        graded(rule, recorded(probe, lines))
    }

    fn recorded(probe: &'static str, lines: Vec<Line<'_>>) -> Recording {
        let mut recording = Recording::new(probe, Value::Null);
        recording.entries = lines
            .into_iter()
            .map(|(label, text)| {
                let payload = Payload::new(Bytes::from(text));
                let what = if label.is_some() { What::Sent(payload) } else { What::Received(payload) };
                Entry { at_us: 0, exchange: 0, step: label.unwrap_or_default().to_owned(), what }
            })
            .collect();
        recording
    }

    fn graded(rule: &str, recording: Recording) -> (Verdict, Vec<String>) {
        let evidence =
            Evidence { is_local: true, ..Evidence::new(Revision::V2025_11_25, Channel::Stdio, vec![recording]) };
        let graded = judge(&evidence, |known| known.id == rule).remove(0);
        (graded.verdict, graded.violations.into_iter().map(|violation| violation.message).collect())
    }

    fn call(id: u64, token: u64) -> Line<'static> {
        let params = json!({"name": "work", "_meta": {"progressToken": token}});
        sent("call:work", &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
    }

    fn progress(token: u64, progress: u64) -> Line<'static> {
        let params = json!({"progressToken": token, "progress": progress});
        got(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))
    }

    fn done(id: u64) -> Line<'static> {
        got(&json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}}))
    }

    #[test]
    fn a_progress_token_is_free_again_after_the_reply() {
        let rule = |lines| verdict("mcp-progress", "main", lines).0;
        assert_eq!(rule(vec![call(1, 7), progress(7, 5), done(1), call(2, 7), progress(7, 1), done(2)]), Verdict::Pass);
        assert_eq!(rule(vec![call(1, 7), progress(7, 5), progress(7, 1), done(1)]), Verdict::Fail);
        assert_eq!(rule(vec![call(1, 7), done(1), progress(7, 5)]), Verdict::Fail);
        assert_eq!(rule(vec![call(1, 7), progress(8, 5), done(1)]), Verdict::Fail);
    }

    #[test]
    fn a_fraction_as_id_is_not_forbidden() {
        let rule = |what: &str, id: &Value| {
            let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
            let lines = vec![sent(what, &ping), got(&json!({"jsonrpc": "2.0", "id": id, "result": {}}))];
            verdict("mcp-survives-malformed", "hostile", lines).0
        };
        assert_eq!(rule("bad:a fraction as id", &json!(1.5)), Verdict::Warn);
        assert_eq!(rule("bad:an object as id", &json!({})), Verdict::Fail);
    }

    #[test]
    fn only_the_last_message_before_the_end_has_ended_the_server() {
        let lines = vec![
            (Some("bad:plain text"), "hello".to_owned()),
            got(&json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "Parse error"}})),
            sent("alive:plain text", &json!({"jsonrpc": "2.0", "id": 2, "method": "ping"})),
            got(&json!({"jsonrpc": "2.0", "id": 2, "result": {}})),
            (Some("bad:a number"), "1".to_owned()),
        ];
        let mut recording = recorded("hostile", lines);
        recording.entries.push(Entry { at_us: 0, exchange: 0, step: String::new(), what: What::OutputClosed });
        let (verdict, messages) = graded("mcp-survives-malformed", recording);
        assert_eq!(verdict, Verdict::Fail);
        assert_eq!(messages, ["malformed input (a number) ended the server"]);
    }

    #[test]
    fn a_reply_that_cannot_be_read_is_reported_by_the_rule_about_output() {
        let ping = || sent("ping", &json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
        let garbled = || vec![ping(), (None, "{".to_owned()), (None, "\"id\": 1}".to_owned())];
        assert_eq!(verdict("mcp-ping", "main", garbled()).0, Verdict::BlockedBy("mcp-stdout"));
        assert_eq!(verdict("mcp-stdout", "main", garbled()).0, Verdict::Fail);
        // Silence is silence, also after a line of a log that has nothing to do with it.
        assert_eq!(verdict("mcp-ping", "main", vec![ping()]).0, Verdict::Fail);
        assert_eq!(verdict("mcp-ping", "main", vec![(None, "ready".to_owned()), ping()]).0, Verdict::Fail);
    }

    #[test]
    fn many_violations_of_a_clause_are_counted() {
        let ask = |id: u64| {
            let reply = json!({"jsonrpc": "2.0", "id": id.to_string(), "result": {}});
            [sent("ping", &json!({"jsonrpc": "2.0", "id": id, "method": "ping"})), got(&reply)]
        };
        let (found, messages) = verdict("mcp-id-echo", "main", (1..=60).flat_map(ask).collect());
        assert_eq!(found, Verdict::Fail);
        assert_eq!(messages.len(), 6);
        assert_eq!(messages[5], "55 more violations of this clause");
    }
}
