//! A whole run of an agent against injected faults, scored in virtual time.
//!
//! Nothing sleeps. Each synthesised timeout consumes one `max_detection_ms`; a run that hit its faults and then replied
//! cleanly recovered after `detections × max_detection_ms`. The mark of detection is the agent's own deadline for a
//! call: an agent that waits for 9 s against a budget of 3 s detects, but not cleanly.

use mcprove_model::Finding;

use super::score::{RecoveryObservation, RecoveryReport, meets_recovery_budget, score_recovery};

/// The compliance family that recovery belongs to; the rules of its findings begin with it.
pub const CLASS: &str = "EDGE";

const NEVER_HIT: &str = "EDGE-fault-never-hit";
const NOT_RECOVERED: &str = "EDGE-not-recovered";
const TOO_SLOW: &str = "EDGE-recovery-too-slow";
const UNCLEAN: &str = "EDGE-unclean-timeout";

/// Events of a run that concern recovery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentMarks {
    /// Number of calls that timed out because of a fault.
    pub detections: u64,
    /// The budget for detecting one of them.
    pub max_detection_ms: u64,
    /// The agent's time limit for a call; `max_detection_ms` if it is not configured.
    pub call_timeout_ms: Option<u64>,
    /// True if the run ended with a final answer of its own, not with a budget or an error.
    pub replied_cleanly: bool,
    /// Number of calls that each injected fault matched, including those that did not time out.
    pub faults_hit: Vec<FaultHits>,
}

/// Number of calls that a fault matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultHits {
    /// The fault's name.
    pub fault: String,
    /// Number of calls.
    pub calls: u64,
}

/// Requirements of a suite on recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoveryBudget {
    /// The most time until recovery; unbounded when absent.
    pub max_recovery_ms: Option<u64>,
    /// True if detection must come within its budget.
    pub require_clean_timeout: bool,
    /// True if a fault may stay unhit.
    pub allow_unhit: bool,
}

/// Result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RecoveryVerdict {
    /// Its times.
    pub report: RecoveryReport,
    /// One line that says how it went, for passing runs too.
    pub summary: String,
    /// Findings; empty if the recovery is as required.
    pub findings: Vec<Finding>,
}

impl RecoveryVerdict {
    /// True if nothing is wrong.
    pub fn passed(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Scores a run against its budget.
pub fn score_agent_run(marks: &AgentMarks, budget: &RecoveryBudget) -> RecoveryVerdict {
    let AgentMarks { detections, max_detection_ms, .. } = *marks;
    let deadline = marks.call_timeout_ms.unwrap_or(max_detection_ms);
    let report = score_recovery(&RecoveryObservation {
        call_start_ms: 0,
        detected_ms: (detections > 0).then_some(deadline),
        recovered_ms: marks.replied_cleanly.then(|| detections.saturating_mul(max_detection_ms)),
        timeout_budget_ms: max_detection_ms,
    });
    let mut findings = Vec::new();
    if !budget.allow_unhit {
        findings.extend(never_hit(&marks.faults_hit));
    }
    findings.extend(not_recovered(marks, &report));
    findings.extend(too_slow(marks, &report, budget));
    if budget.require_clean_timeout && detections > 0 && !report.clean_timeout {
        let message = format!("the agent waits {deadline} ms for a call, longer than its {max_detection_ms} ms budget");
        findings.push(
            Finding::error(UNCLEAN, message)
                .compared(format!("detection within {max_detection_ms} ms"), format!("detection after {deadline} ms"))
                .help("lower the agent's `call_timeout_ms`, or raise `recovery.max_detection_ms`"),
        );
    }
    let summary = summary(marks, &report);
    RecoveryVerdict { report, summary, findings }
}

/// Findings about faults that no call met: a run that meets none proves nothing.
pub fn never_hit(faults: &[FaultHits]) -> Vec<Finding> {
    let finding = |message: String| {
        Finding::error(NEVER_HIT, message).help(
            "the agent never called the tool, so nothing was tested: check the fault's `target` and the prompt, or \
             accept it with `recovery.allow_unhit: true`",
        )
    };
    if faults.is_empty() {
        return vec![finding("the fault was never hit: none is injected".to_owned())];
    }
    let unhit = faults.iter().filter(|fault| fault.calls == 0);
    unhit.map(|fault| finding(format!("the fault was never hit: `{}`", fault.fault))).collect()
}

fn not_recovered(marks: &AgentMarks, report: &RecoveryReport) -> Option<Finding> {
    if report.recovered {
        return None;
    }
    let message = match marks.detections {
        0 => "did not recover: the run ended without a clean reply".to_owned(),
        1 => "did not recover: after a timeout, the run ended without a clean reply".to_owned(),
        count => format!("did not recover: after {count} timeouts, the run ended without a clean reply"),
    };
    Some(Finding::error(NOT_RECOVERED, message).help(
        "the agent must give up on the tool and answer: fall back to another tool, or say that it is not responding",
    ))
}

fn too_slow(marks: &AgentMarks, report: &RecoveryReport, budget: &RecoveryBudget) -> Option<Finding> {
    let (took, allowed) = (report.time_to_recovery_ms?, budget.max_recovery_ms?);
    if meets_recovery_budget(report, allowed) {
        return None;
    }
    let message = format!(
        "recovered too late: {} took {took} ms (virtual), the budget is {allowed} ms",
        timeouts(marks.detections)
    );
    Some(
        Finding::error(TOO_SLOW, message)
            .compared(format!("recovery within {allowed} ms"), format!("recovery after {took} ms"))
            .help("retry a tool that does not answer less often, or raise `recovery.max_recovery_ms`"),
    )
}

fn summary(marks: &AgentMarks, report: &RecoveryReport) -> String {
    let after = timeouts(marks.detections);
    let budget = marks.max_detection_ms;
    if marks.detections == 0 && marks.faults_hit.iter().all(|fault| fault.calls == 0) {
        return format!("no fault was hit; detection budget {budget} ms");
    }
    match report.time_to_recovery_ms {
        Some(took) => format!("recovered in {took} ms (virtual) after {after}; detection budget {budget} ms"),
        None => format!("did not recover after {after}; detection budget {budget} ms"),
    }
}

fn timeouts(count: u64) -> String {
    if count == 1 { "1 timeout".to_owned() } else { format!("{count} timeouts") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marks(detections: u64, replied_cleanly: bool) -> AgentMarks {
        AgentMarks {
            detections,
            max_detection_ms: 3_000,
            call_timeout_ms: None,
            replied_cleanly,
            faults_hit: vec![FaultHits { fault: "hung-search".into(), calls: detections }],
        }
    }

    const STRICT: RecoveryBudget =
        RecoveryBudget { max_recovery_ms: Some(5_000), require_clean_timeout: true, allow_unhit: false };

    fn rules(verdict: &RecoveryVerdict) -> Vec<&str> {
        verdict.findings.iter().map(|finding| finding.rule.as_ref()).collect()
    }

    #[test]
    fn an_agent_that_gives_up_and_answers_recovers() {
        let verdict = score_agent_run(&marks(1, true), &STRICT);
        assert!(verdict.passed());
        assert_eq!(verdict.report.time_to_recovery_ms, Some(3_000));
        assert_eq!(verdict.summary, "recovered in 3000 ms (virtual) after 1 timeout; detection budget 3000 ms");
    }

    #[test]
    fn an_agent_that_loops_does_not() {
        let verdict = score_agent_run(&marks(10, false), &STRICT);
        assert_eq!(rules(&verdict), [NOT_RECOVERED]);
        assert_eq!(
            verdict.findings[0].message,
            "did not recover: after 10 timeouts, the run ended without a clean reply"
        );
        assert_eq!(verdict.report.user_visible_hang_ms, 3_000);
    }

    #[test]
    fn an_agent_that_retries_too_often_is_too_slow() {
        let verdict = score_agent_run(&marks(2, true), &STRICT);
        assert_eq!(rules(&verdict), [TOO_SLOW]);
        assert_eq!(
            verdict.findings[0].message,
            "recovered too late: 2 timeouts took 6000 ms (virtual), the budget is 5000 ms"
        );
        assert!(score_agent_run(&marks(2, true), &RecoveryBudget { max_recovery_ms: None, ..STRICT }).passed());
    }

    #[test]
    fn an_agent_that_waits_past_its_budget_detects_but_not_cleanly() {
        let patient = AgentMarks { call_timeout_ms: Some(9_000), ..marks(1, true) };
        let verdict = score_agent_run(&patient, &STRICT);
        assert_eq!(rules(&verdict), [UNCLEAN]);
        assert_eq!(verdict.report.time_to_detection_ms, Some(9_000));
        assert!(score_agent_run(&patient, &RecoveryBudget { require_clean_timeout: false, ..STRICT }).passed());
        let hasty = AgentMarks { call_timeout_ms: Some(1_000), ..marks(1, true) };
        assert!(score_agent_run(&hasty, &STRICT).passed());
    }

    #[test]
    fn a_fault_that_is_never_hit_is_no_pass() {
        let verdict = score_agent_run(&marks(0, true), &STRICT);
        assert_eq!(verdict.findings[0].message, "the fault was never hit: `hung-search`");
        assert_eq!(verdict.summary, "no fault was hit; detection budget 3000 ms");
        assert!(score_agent_run(&marks(0, true), &RecoveryBudget { allow_unhit: true, ..STRICT }).passed());
        let none = AgentMarks { faults_hit: Vec::new(), ..marks(0, true) };
        assert_eq!(rules(&score_agent_run(&none, &STRICT)), [NEVER_HIT]);
        let both = AgentMarks {
            faults_hit: vec![FaultHits { fault: "a".into(), calls: 1 }, FaultHits { fault: "b".into(), calls: 0 }],
            ..marks(1, true)
        };
        assert_eq!(score_agent_run(&both, &STRICT).findings[0].message, "the fault was never hit: `b`");
    }

    #[test]
    fn a_slow_call_within_the_deadline_is_hit_and_nothing_times_out() {
        let slow = AgentMarks { faults_hit: vec![FaultHits { fault: "slow".into(), calls: 3 }], ..marks(0, true) };
        let verdict = score_agent_run(&slow, &STRICT);
        assert!(verdict.passed());
        assert_eq!(verdict.report.time_to_recovery_ms, Some(0));
    }

    #[test]
    fn rules_carry_the_class() {
        for rule in [NEVER_HIT, NOT_RECOVERED, TOO_SLOW, UNCLEAN] {
            assert!(rule.starts_with(CLASS));
        }
    }

    proptest! {
        #[test]
        fn any_marks_are_survived(
            detections in any::<u64>(), max_detection_ms in any::<u64>(), call_timeout_ms in prop::option::of(any::<u64>()),
            replied_cleanly in any::<bool>(), max_recovery_ms in prop::option::of(any::<u64>()),
        ) {
            let marks = AgentMarks { detections, max_detection_ms, call_timeout_ms, ..marks(1, replied_cleanly) };
            let verdict = score_agent_run(&marks, &RecoveryBudget { max_recovery_ms, ..STRICT });
            prop_assert!(replied_cleanly || !verdict.passed());
            prop_assert_eq!(verdict.report.recovered, replied_cleanly);
        }
    }
}
