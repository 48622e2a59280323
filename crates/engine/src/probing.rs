//! Probes of the error contract, made and judged.

use mcprove_judge::negative::{Answer, Probe, Subject, answer};
use mcprove_model::{CallRole, Finding, shorten};
use serde_json::Value;
use tokio::time::Instant;

use crate::calls;
use crate::tour::Stopover;

/// What became of one probe of one tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probed {
    /// Every request was rejected, as it should be.
    Passed,
    /// A request was not.
    Failed,
    /// There was nothing to ask.
    NotApplicable,
}

/// Makes the requests of a probe and adds a finding for each that was not rejected.
pub(crate) async fn make(probe: &'static Probe, oversized: usize, stop: &mut Stopover<'_>) -> Probed {
    let nothing = Value::Null;
    let schema = stop.tool.get("inputSchema").unwrap_or(&nothing);
    let subject = Subject { tool: stop.name, schema, base: &stop.input, oversized };
    let requests = match probe.requests(&subject) {
        Ok(requests) => requests,
        Err(reason) => {
            let text = format!("{}: not applicable: {reason}", probe.name);
            stop.record.findings.push(Finding::note("probe-not-applicable", text));
            return Probed::NotApplicable;
        }
    };
    let mut probed = Probed::Passed;
    for request in requests {
        let exchange = stop.session.call_tool(&request.tool, &request.arguments, Instant::now() + stop.timeout).await;
        stop.record.calls.push(calls::record(CallRole::Act, Some(&request.tool), &exchange));
        let seen = answer(&exchange.outcome);
        let text = format!("{}: {}, and {}", probe.name, request.what, seen.sentence());
        let mut finding = if probe.accepts(&seen) {
            Finding::note(probe.name, text)
        } else {
            probed = Probed::Failed;
            Finding::error(probe.name, text)
        };
        finding.expected = Some(format!("{} [{}, {}]", probe.contract, probe.taxonomy, probe.paper));
        // Where a result is as good as a rejection, it is no silent execution.
        let word = if probe.accepts(&seen) && seen == Answer::Executed { "a result".to_owned() } else { seen.word() };
        finding.actual = Some(word);
        finding.help = Some(format!("the request was {}", shorten(&String::from_utf8_lossy(&exchange.request), 300)));
        stop.record.findings.push(finding);
        if seen.is_internal_error() {
            let text =
                format!("{}: {}, and was rejected with -32603: an exception in disguise", probe.name, request.what);
            stop.record.findings.push(Finding::note("internal-error", text));
        }
        if !stop.session.is_open() {
            break;
        }
    }
    stop.record.mark(|timings| &mut timings.call);
    probed
}
