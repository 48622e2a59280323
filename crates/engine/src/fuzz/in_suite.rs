//! The `fuzz` block of a test: the same work on one tool, and counts that targets look at.

use std::sync::Arc;
use std::time::Duration;

use mcprove_judge::fuzz::ValuePool;
use mcprove_judge::harm::HarmGuard;
use mcprove_model::{Finding, FuzzBlock, Observation, Outcome, Severity, Target};
use mcprove_suite::template::Variables;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::connection::ConnectionLog;
use super::context::{FuzzContext, FuzzSettings};
use super::finding;
use super::tool::{Task, ToolRun, work};
use crate::conversation::Conversation;
use crate::server::Opener;
use crate::stop::Stop;
use crate::{expectations, implicit_checks, not_recorded};

/// Maximum number of fresh servers started to shrink one failure: a test is not a campaign.
const ATTEMPTS: usize = 100;

/// Time a server may take to start: `max_call_ms` is about calls alone.
const START: Duration = Duration::from_secs(10);

/// Context of the block, in addition to the conversation.
pub(crate) struct Surroundings<'s> {
    pub(crate) opener: &'s Opener,
    pub(crate) environment: &'s Arc<[String]>,
    pub(crate) stop: &'s Stop,
}

/// Fuzzes the tool of a case and adds what there is to say.
pub(crate) async fn perform(block: &FuzzBlock, around: &Surroundings<'_>, talk: &mut Conversation<'_>) {
    let Some(server) = &talk.case.server else { return };
    if matches!(server.target, Target::Cassette { .. }) {
        let place = talk.place(block.span);
        talk.record.findings.push(not_recorded::finding("the calls of `fuzz` are not recorded").at(place));
        return;
    }
    let Some(tool) = implicit_checks::listed_tool(talk).await else {
        let text = "the tool cannot be fuzzed: the server does not list it";
        let place = talk.place(block.span);
        talk.record.findings.push(Finding::error("fuzz", text).at(place));
        return;
    };
    let variables: Variables = talk.variables.clone();
    let fuzz_context = FuzzContext::new(FuzzSettings {
        opener: around.opener.clone(),
        server: server.as_ref().clone(),
        variables,
        start: START,
        timeout: block.max_call,
        attempts: ATTEMPTS,
        strict_input: false,
        keep_frames: false,
        environment: Arc::clone(around.environment),
        stop: around.stop.clone(),
        until: Some(talk.deadline),
        counter: Arc::default(),
    });
    let task = Task {
        tool: &tool,
        seed: block.seed,
        runs: block.cases,
        pool: ValuePool::default(),
        said: ConnectionLog::default(),
        guard: HarmGuard::off(),
    };
    let run = Box::pin(work(&fuzz_context, task)).await;
    judge(block, &run, talk);
}

fn judge(block: &FuzzBlock, run: &ToolRun, talk: &mut Conversation<'_>) {
    let place = talk.place(block.span);
    if !run.is_complete && Instant::now() >= talk.deadline {
        let text = format!("the deadline came after {} of {} calls of `fuzz`", run.tally.runs, block.cases);
        let finding = Finding::error("timeout", text).at(place.clone());
        talk.record.findings.push(finding.help("raise the timeout of the test, or lower `cases`"));
    }
    let counts = counts(run);
    let gate = counts["gate_passed"] == Value::Bool(true);
    let again = format!("`fuzz: {{seed: {}}}` of this test", block.seed);
    let mut findings: Vec<Finding> =
        run.failures.iter().map(|failure| finding::finding(failure, &again, None).at(place.clone())).collect();
    findings.extend(run.notes.iter().cloned());
    if run.is_exhausted {
        let (made, asked) = (run.tally.runs, block.cases);
        let text = format!("{made} calls of `fuzz` instead of {asked}, because there are no more distinct inputs");
        findings.push(Finding::note("fuzzed", text).at(place.clone()));
    }
    if block.expect.checks.is_empty() {
        // Only what is counted fails the gate.
        for finding in &mut findings {
            if finding.severity.fails() && gate {
                finding.severity = Severity::Warning;
            }
        }
        talk.record.findings.extend(findings);
        return;
    }
    // The expectation decides; what was found explains it.
    for finding in &mut findings {
        finding.severity = finding.severity.min(Severity::Note);
    }
    let mut seen = Observation::new(Outcome::Cancelled, "");
    seen.extra = json!({"fuzz": counts});
    let (expect, problems) = expectations::resolve(talk.case, &block.expect, talk.variables);
    talk.record.findings.extend(problems);
    talk.record.findings.extend(expectations::judge(&talk.case.source, &expect, &seen));
    talk.record.findings.extend(findings);
}

/// The values that targets look at.
fn counts(run: &ToolRun) -> Value {
    let tally = run.tally;
    let found = |kind: &str| run.failures.iter().filter(|failure| failure.verdict.kind() == kind).count();
    // What only shows under load is in no call of the plan.
    let (crashes, protocol) = (tally.crashes.max(found("crash")), tally.protocol.max(found("protocol")));
    let gate = crashes == 0 && tally.hangs == 0 && protocol == 0 && tally.leaks == 0;
    json!({
        "cases_run": tally.runs,
        "crashes": crashes,
        "hangs": tally.hangs,
        "protocol_violations": protocol,
        "leaks": tally.leaks,
        "gate_passed": gate,
    })
}
