//! The cases of a load: the load itself, and a case for each gate.

use std::sync::{Arc, OnceLock};

use mcprove_judge::load::{Gate, GateResult, LimitSearch, Shape, findings};
use mcprove_model::{Finding, LoadRecord, RateLimit, RateStep, Target, Verdict, number_text};
use mcprove_wire::OpenFailure;
use tokio::time::Instant;

use super::client::Sessions;
use super::driver::{ReferencedCalls, Surroundings, drive};
use super::reference::reference;
use super::{LoadOptions, Workload};
use crate::scan::{Connections, Scan, ScanCase, ScanEnd, ScanFuture};

/// The case that is a load.
pub(super) struct LoadCase {
    pub(super) options: LoadOptions,
    pub(super) workload: Workload,
    /// The record, for the cases of gates.
    pub(super) record: Arc<OnceLock<LoadRecord>>,
}

/// The case of a gate.
pub(super) struct GateCase {
    pub(super) gate: Gate,
    pub(super) record: Arc<OnceLock<LoadRecord>>,
}

/// The share of a rate that must be answered for the rate to be held.
const ANSWERED: f64 = 0.95;

impl Scan for GateCase {
    fn connections(&self) -> Connections {
        Connections::Own
    }

    fn perform<'s>(&'s self, case: ScanCase<'s>) -> ScanFuture<'s> {
        Box::pin(async move {
            let Some(record) = self.record.get() else {
                return ScanEnd::Skipped("the load was not run".to_owned());
            };
            let (verdict, finding) = self.gate.verdict(record);
            // A gate that could not be judged says nothing about the server.
            case.record.is_ungraded = verdict == Verdict::Error;
            case.record.findings.push(finding);
            ScanEnd::Judged
        })
    }
}

impl Scan for LoadCase {
    fn connections(&self) -> Connections {
        Connections::Own
    }

    fn perform<'s>(&'s self, case: ScanCase<'s>) -> ScanFuture<'s> {
        Box::pin(self.load(case))
    }
}

impl LoadCase {
    async fn load(&self, case: ScanCase<'_>) -> ScanEnd {
        let around = Surroundings {
            sessions: Sessions::Server {
                server: Arc::clone(case.server),
                variables: case.fixture_guard.variables().clone(),
                opener: Arc::clone(&case.context.opener),
            },
            meter: Arc::clone(&case.context.load),
            is_virtual: matches!(case.server.target, Target::Mock { virtual_time: true, .. }),
        };
        let mut stop = case.context.stop.clone();
        let ScanCase { record, fixture_guard, .. } = case;
        let mut workload = self.workload.clone();
        for call in std::mem::take(&mut workload.calls) {
            let (call, findings) = call.filled(fixture_guard);
            record.findings.extend(findings);
            workload.calls.push(call);
        }
        // What a signal drops here ends its processes; no reply is waited for.
        let referenced = tokio::select! {
            biased;
            () = stop.stopped() => return ScanEnd::Interrupted,
            referenced = self.referenced(workload, &around, record) => referenced,
        };
        let (work, (transport, protocol)) = match referenced {
            Ok(Some(work)) => work,
            Ok(None) => return ScanEnd::Judged,
            Err(failure) => {
                record.not_opened(*failure);
                return ScanEnd::Judged;
            }
        };
        record.mark(|timings| &mut timings.setup);
        let loading = async {
            if self.options.find_limit {
                self.find_limit(&work, &around).await
            } else {
                drive(&self.options, &work, &around).await
            }
        };
        let loaded = tokio::select! {
            biased;
            () = stop.stopped() => return ScanEnd::Interrupted,
            loaded = loading => loaded,
        };
        record.mark(|timings| &mut timings.call);
        let (load, oddities) = match loaded {
            Ok(loaded) => loaded,
            Err(failure) => {
                record.not_opened(*failure);
                return ScanEnd::Judged;
            }
        };
        let load = LoadRecord { transport, protocol, ..load };
        record.findings.extend(oddities);
        // The shards of a load are judged together.
        if self.options.shard.is_none() {
            record.findings.extend(findings(&load));
            record.findings.extend(no_limit(&load));
            let _ = self.record.set(load.clone());
        }
        record.load = Some(Box::new(load));
        ScanEnd::Judged
    }

    /// The calls that work alone, with their replies; `None` where one fails that the user named.
    async fn referenced(
        &self,
        workload: Workload,
        around: &Surroundings,
        record: &mut crate::record::CaseRecord,
    ) -> Result<Option<(ReferencedCalls, (String, String))>, Box<OpenFailure>> {
        let deadline = Instant::now() + self.options.start;
        let mut session = around.sessions.open(deadline).await?;
        let number = record.opened(&session);
        let named = (session.transport_name().to_owned(), session.negotiated().revision.to_string());
        session.learn_schemas(deadline).await;
        let (mut calls, mut references, mut failed) = (Vec::new(), Vec::new(), Vec::new());
        for call in workload.calls {
            match reference(&call, &mut session, self.options.timeout).await {
                Ok(reference) => {
                    calls.push(call);
                    references.push(reference);
                }
                Err(finding) if call.is_generated => {
                    let note = Finding::note("left-out", format!("not part of the load: {}", finding.message));
                    record.findings.push(note.help("give its arguments with `--tool` and `--args`"));
                    // A call may have ended the server.
                    if !session.is_open() {
                        session = around.sessions.open(deadline).await?;
                    }
                }
                Err(finding) => failed.push(finding),
            }
        }
        let closing = session.close().await;
        record.closed_session(number, closing);
        if calls.is_empty() && failed.is_empty() {
            let text = "no tool could be called with a generated input";
            failed
                .push(Finding::error("no-load", text).help("name a tool and its arguments: `--tool NAME --args JSON`"));
        }
        if !failed.is_empty() {
            record.findings.extend(failed);
            return Ok(None);
        }
        let order = Workload { calls: calls.clone(), fixture: None }.order();
        Ok(Some((ReferencedCalls { calls, references, order }, named)))
    }

    /// Loads the server at rising rates until it breaks; the record is that of the highest rate held.
    async fn find_limit(
        &self,
        work: &ReferencedCalls,
        around: &Surroundings,
    ) -> Result<(LoadRecord, Vec<Finding>), Box<OpenFailure>> {
        let gates = &self.options.gates;
        let mut search = LimitSearch::new(self.options.shape.highest());
        let mut limit = RateLimit::default();
        let mut best: Option<(LoadRecord, Vec<Finding>)> = None;
        let mut last = None;
        while let Some(rate) = search.next_rate() {
            let shape = Shape::constant(rate, self.options.shape.length());
            let options = LoadOptions { shape, begin: None, calls: None, ..self.options.clone() };
            let (record, oddities) = match drive(&options, work, around).await {
                Ok(loaded) => loaded,
                Err(failure) if limit.steps.is_empty() => return Err(failure),
                // The rate before has ended the server: what was found until then is known.
                Err(failure) => {
                    limit.lost = Some(failure.message.clone());
                    break;
                }
            };
            let broken = broken(&record, rate, gates);
            limit.steps.push(RateStep {
                rate,
                achieved: record.throughput(),
                p99_us: record.latency().quantile(0.99),
                errors: record.error_share(),
                broken: broken.clone(),
            });
            search.observe(broken.is_none());
            if broken.is_none() {
                best = Some((record, oddities));
            } else {
                last = Some((record, oddities));
                // The next rate begins when the server has worked off what the last one left behind.
                recovered(&options, work, around).await;
            }
        }
        limit.held = search.held();
        let (record, oddities) = best.or(last).unwrap_or_default();
        Ok((LoadRecord { limit: Some(limit), ..record }, oddities))
    }
}

/// The findings about a server that holds no rate at all, or ended during the search.
fn no_limit(load: &LoadRecord) -> Vec<Finding> {
    let Some(limit) = &load.limit else { return Vec::new() };
    let lost = limit.lost.as_ref().map(|why| {
        let rate = limit.steps.last().map_or(0.0, |step| step.rate);
        Finding::error("failed-call", format!("the server opens no session after {}/s: {why}", number_text(rate)))
            .help("a server that is overloaded answers late or refuses calls; it does not end")
    });
    let none = limit.held.is_none().then(|| {
        let first = limit.steps.first().and_then(|step| step.broken.clone()).unwrap_or_default();
        Finding::error("no-rate-held", format!("the server holds no rate: {first}"))
            .help("begin lower with `--rate`, or loosen the gates")
    });
    lost.into_iter().chain(none).collect()
}

/// The reason why a rate was not held.
fn broken(record: &LoadRecord, rate: f64, gates: &[Gate]) -> Option<String> {
    let broken = gates.iter().find_map(|gate| match gate.judge(record) {
        GateResult::Broken(value) => Some(format!("{gate} is broken: {value}")),
        GateResult::Unknown(why) => Some(format!("{gate}: {why}")),
        GateResult::Kept(_) => None,
    });
    broken.or_else(|| {
        let answered = record.throughput();
        (answered < rate * ANSWERED).then(|| format!("{answered:.0}/s of {rate:.0}/s were answered"))
    })
}

/// Waits until a call is answered again.
async fn recovered(options: &LoadOptions, work: &ReferencedCalls, around: &Surroundings) {
    let deadline = Instant::now() + options.start;
    if let Ok(mut session) = around.sessions.open(deadline).await {
        if let Some(call) = work.calls.first() {
            call.request.perform(&mut session, Instant::now() + options.timeout).await;
        }
        session.close().await;
    }
}
