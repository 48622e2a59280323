//! The error contract of a tool: requests that it must reject.

use std::time::Duration;

use mcprove_judge::harm::argument_schema;
use mcprove_judge::negative::{Probe, Subject};
use mcprove_judge::scan_verdict::ScanCall;
use mcprove_judge::tool_effect::ToolEffect;
use mcprove_model::{CallRole, Finding, Observation, ToolVerdict};
use serde_json::Value;
use tokio::time::Instant;

use super::audit::judge_exchange;
use super::{Scan, ScanCase, ScanEnd, ScanFuture};
use crate::calls;
use crate::discover::tool_name;
use crate::probes::{self, Probing};
use crate::sandbox_refusals::SandboxRules;

/// Wrong requests to a tool.
pub(crate) struct ProbeTool {
    pub(crate) tool: Value,
    pub(crate) effect: ToolEffect,
    /// A valid input, which is spoilt in one place at a time; paths in it are templates.
    pub(crate) input: Value,
    /// Arguments that the user gave.
    pub(crate) given: Vec<Value>,
    /// True if everything may be sent.
    pub(crate) allows_all: bool,
    pub(crate) probes: Vec<&'static Probe>,
    /// The size of an oversized argument in bytes.
    pub(crate) oversized: usize,
    /// The time each request may take.
    pub(crate) timeout: Duration,
}

impl Scan for ProbeTool {
    fn perform<'s>(&'s self, case: ScanCase<'s>) -> ScanFuture<'s> {
        Box::pin(self.probe(case))
    }
}

impl ProbeTool {
    async fn probe(&self, case: ScanCase<'_>) -> ScanEnd {
        let Some(server) = case.lane else { unreachable!("probes work on the session of their lane") };
        let guard = case.fixture_guard.guard(&self.tool, &self.effect, &self.given);
        let (schema, base) = (argument_schema(&self.tool), case.fixture_guard.filled(&self.input));
        // A rejection proves something only where valid input is not rejected.
        let name = tool_name(&self.tool);
        let exchange = server.session.call_tool(name, &base, Instant::now() + self.timeout).await;
        case.record.calls.push(calls::record(CallRole::Setup, Some(name), &exchange));
        let mut control = judge_exchange(&exchange, server.session, |call| ScanCall { arguments: &base, ..call });
        let rules = SandboxRules::of(case.server, case.fixture_guard.variables());
        let seen = Observation::of_tool_call(exchange.outcome);
        if let Some(refusal) = rules.and_then(|rules| rules.refusal(&seen, &server.session.stderr())) {
            control.sentence = refusal.to_string();
        }
        if control.verdict != ToolVerdict::Works {
            let text = format!("rejections prove nothing, because valid input fails, too: {}", control.sentence);
            let finding = Finding::note("control-failed", text);
            case.record.findings.push(finding.help("`--seed-args FILE` gives the tool arguments that work"));
        }
        let mut probing = Probing {
            subject: Subject { tool: tool_name(&self.tool), schema: &schema, base: &base, oversized: self.oversized },
            server,
            record: case.record,
            timeout: self.timeout,
            is_listed: true,
            guard: guard.allowing_all_if(self.allows_all),
            control: Some(control),
        };
        probes::make(&self.probes, &mut probing).await;
        ScanEnd::Judged
    }
}
