//! Probes of the error contract, made and judged.

use std::time::Duration;

use mcprove_judge::harm::HarmGuard;
use mcprove_judge::negative::{Answer, Probe, ProbeResult, Subject, answer};
use mcprove_judge::scan_verdict::ScanJudgement;
use mcprove_model::{CallRole, Evidence, Exchange, Finding, Outcome};
use tokio::time::Instant;

use crate::record::CaseRecord;
use crate::restart::Restartable;
use crate::{calls, not_recorded};

/// Maximum length of a request and of its answer shown with a probe; the frames hold all of it.
const SHOWN: usize = 300;

/// A tool that is probed.
#[derive(Debug)]
pub(crate) struct Probing<'p> {
    pub(crate) subject: Subject<'p>,
    pub(crate) server: Restartable<'p>,
    pub(crate) record: &'p mut CaseRecord,
    /// Time each request may take.
    pub(crate) timeout: Duration,
    /// True if the server lists the tool; if not, what it accepts is not known.
    pub(crate) is_listed: bool,
    /// Guard for the inputs that may be sent.
    pub(crate) guard: HarmGuard,
    /// The verdict about valid input, where that was tried first.
    pub(crate) control: Option<ScanJudgement>,
}

/// Results of the probes of one tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Probed {
    /// Probes that made at least one request.
    pub(crate) run: usize,
    /// Those of them that did not meet the contract.
    pub(crate) failed: usize,
    /// Why others had nothing to ask.
    pub(crate) inapplicable: Vec<String>,
}

impl Probed {
    /// True if something was asked, and everything was rejected.
    pub(crate) fn passed(&self) -> bool {
        self.run > 0 && self.failed == 0
    }
}

/// Makes probes, each with a finding for every request: an error where it was not rejected, else a note.
///
/// After a crash or a hang the server is started again.
pub(crate) async fn make(probes: &[&'static Probe], probing: &mut Probing<'_>) -> Probed {
    let mut probed = Probed::default();
    for probe in probes {
        match probe.requests(&probing.subject) {
            Ok(_) => {
                probed.run += 1;
                probed.failed += usize::from(!is_met(probe, probing).await);
            }
            Err(reason) => {
                let reason = if probing.is_listed { reason } else { "the server does not list the tool".to_owned() };
                let text = format!("{}: not applicable: {reason}", probe.name);
                probing.record.findings.push(Finding::note("probe-not-applicable", text.clone()));
                probed.inapplicable.push(text);
            }
        }
    }
    probing.record.mark(|timings| &mut timings.call);
    probed
}

/// True if every request of a probe is rejected.
async fn is_met(probe: &Probe, probing: &mut Probing<'_>) -> bool {
    let mut met = true;
    for request in probe.requests(&probing.subject).unwrap_or_default() {
        if !probing.server.restore(probing.record).await {
            return false;
        }
        let deadline = Instant::now() + probing.timeout;
        let arguments = probing.guard.made_harmless(request.arguments.clone());
        let exchange = probing.server.session.call_tool(&request.tool, &arguments, deadline).await;
        probing.record.calls.push(calls::record(CallRole::Probe, Some(&request.tool), &exchange));
        if let Outcome::Error(error) = &exchange.outcome
            && error.not_recorded().is_some()
        {
            met = false;
            probing.record.findings.push(not_recorded::finding(&error.message));
            continue;
        }
        let seen = answer(&exchange.outcome);
        let result = probe.result(&request, &seen, probing.control.as_ref());
        met &= result != ProbeResult::NotMet;
        probing.record.findings.push(finding(probe, &request.what, &seen, &result, &exchange));
        if seen.is_internal_error() {
            let text =
                format!("{}: {}, and was rejected with -32603: an exception in disguise", probe.name, request.what);
            probing.record.findings.push(Finding::note("internal-error", text));
        }
    }
    // The next probe needs a server that can answer.
    probing.server.restore(probing.record).await;
    met
}

/// The finding about one request of a probe.
fn finding(probe: &Probe, what: &str, seen: &Answer, result: &ProbeResult, exchange: &Exchange) -> Finding {
    let (word, sentence) = match result {
        // Where a result is as good as a rejection, this does not count as a silent execution.
        ProbeResult::Met if *seen == Answer::Executed => {
            ("a result".to_owned(), "it was answered with a result".to_owned())
        }
        ProbeResult::DefaultFilled => {
            let sentence = "the tool filled in the default: the argument is required and has a default";
            ("default filled in".to_owned(), sentence.to_owned())
        }
        ProbeResult::NotProven { reason } => {
            (Finding::NOT_PROVEN.to_owned(), format!("{}; that proves nothing: {reason}", seen.sentence()))
        }
        ProbeResult::Met | ProbeResult::NotMet => (seen.word(), seen.sentence()),
    };
    let text = format!("{what}, and {sentence}");
    let is_met = *result != ProbeResult::NotMet;
    let mut finding = if is_met { Finding::note(probe.name, text) } else { Finding::error(probe.name, text) };
    finding.expected = Some(format!("{} [{}, {}]", probe.contract, probe.taxonomy, probe.paper));
    finding.actual = Some(word);
    let shown = |bytes: &[u8]| calls::shown(bytes, SHOWN);
    finding.evidence =
        Some(Evidence { request: shown(&exchange.request), reply: exchange.reply.as_deref().map(shown) });
    finding
}
