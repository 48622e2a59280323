//! The cases of a load: the load itself, and a case for each gate.

use std::sync::{Arc, OnceLock};

use mcprove_judge::load::{Gate, findings};
use mcprove_model::{Finding, LoadRecord, Target, Verdict, number_text};
use mcprove_wire::OpenFailure;
use tokio::time::Instant;

use super::driver::{ReferencedCalls, Surroundings, drive, unless_stopped};
use super::limit::find_limit;
use super::reference::reference;
use super::sessions::Sessions;
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
            stop: case.context.stop.clone(),
            is_virtual: matches!(case.server.target, Target::Mock { virtual_time: true, .. }),
        };
        let ScanCase { record, fixture_guard, .. } = case;
        let mut workload = self.workload.clone();
        for call in std::mem::take(&mut workload.calls) {
            let (call, findings) = call.filled(fixture_guard);
            record.findings.extend(findings);
            workload.calls.push(call);
        }
        let referenced = Box::pin(self.referenced(workload, &around, record)).await;
        let (work, (transport, protocol)) = match referenced {
            _ if around.stop.is_stopped() => return ScanEnd::Interrupted,
            Ok(Some(work)) => work,
            Ok(None) => return ScanEnd::Judged,
            Err(failure) => {
                record.not_opened(*failure);
                return ScanEnd::Judged;
            }
        };
        record.mark(|timings| &mut timings.setup);
        let loaded = if self.options.find_limit {
            find_limit(&self.options, &work, &around).await
        } else {
            drive(&self.options, &work, &around).await
        };
        record.mark(|timings| &mut timings.call);
        let (load, oddities) = match loaded {
            Ok(loaded) => loaded,
            Err(_) if around.stop.is_stopped() => return ScanEnd::Interrupted,
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
            record.findings.extend(limit_findings(&load));
            let _ = self.record.set(load.clone());
        }
        // Of a load that was stopped, what was measured until then is reported, and no verdict.
        let is_interrupted = load.interrupted;
        record.load = Some(Box::new(load));
        if is_interrupted { ScanEnd::Interrupted } else { ScanEnd::Judged }
    }

    /// The calls that work alone, with their replies; `None` where one fails that the user named, or the run was stopped.
    async fn referenced(
        &self,
        workload: Workload,
        around: &Surroundings,
        record: &mut crate::record::CaseRecord,
    ) -> Result<Option<(ReferencedCalls, (String, String))>, Box<OpenFailure>> {
        let deadline = Instant::now() + self.options.start;
        let mut stop = around.stop.clone();
        let Some(opened) = unless_stopped(&mut stop, Box::pin(around.sessions.open(deadline))).await else {
            return Ok(None);
        };
        let mut session = opened?;
        let number = record.opened(&session);
        let named = (session.transport_name().to_owned(), session.negotiated().revision.to_string());
        let _ = unless_stopped(&mut stop, session.learn_schemas(deadline)).await;
        let (mut calls, mut references, mut failed) = (Vec::new(), Vec::new(), Vec::new());
        for call in workload.calls {
            let referenced = tokio::select! {
                biased;
                () = stop.stopped() => break,
                referenced = reference(&call, &mut session, self.options.timeout) => referenced,
            };
            match referenced {
                Ok(reference) => {
                    calls.push(call);
                    references.push(reference);
                }
                Err(finding) if call.is_generated => {
                    let note = Finding::note("left-out", format!("not part of the load: {}", finding.message));
                    record.findings.push(note.help("give its arguments with `--tool` and `--args`"));
                    // A call may have ended the server.
                    if !session.is_open() {
                        let deadline = Instant::now() + self.options.start;
                        let opened = unless_stopped(&mut stop, Box::pin(around.sessions.open(deadline))).await;
                        let ended = match opened {
                            Some(Ok(opened)) => std::mem::replace(&mut session, opened),
                            Some(Err(failure)) => {
                                session.close().await;
                                return Err(failure);
                            }
                            None => break,
                        };
                        ended.close().await;
                    }
                }
                Err(finding) => failed.push(finding),
            }
        }
        let closing = session.close().await;
        record.closed_session(number, closing);
        if stop.is_stopped() {
            return Ok(None);
        }
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
}

/// The findings about a search for the highest rate: none is held, the server ended, or the result is not certain.
fn limit_findings(load: &LoadRecord) -> Vec<Finding> {
    let Some(limit) = &load.limit else { return Vec::new() };
    let lost = limit.lost.as_ref().map(|why| {
        let rate = limit.steps.last().map_or(0.0, |step| step.rate);
        Finding::error("failed-call", format!("the server opens no session after {}/s: {why}", number_text(rate)))
            .help("a server that is overloaded answers late or refuses calls; it does not end")
    });
    let none = (limit.held.is_none() && !load.interrupted).then(|| {
        let first = limit.steps.first().and_then(|step| step.broken.clone()).unwrap_or_default();
        Finding::error("no-rate-held", format!("the server holds no rate: {first}"))
            .help("begin lower with `--rate`, or loosen the gates")
    });
    let varies = limit.range.map(|(low, high)| {
        let (low, high) = (number_text(low), number_text(high));
        let text =
            format!("tries between {low}/s and {high}/s contradict each other: the limit changed during the search");
        Finding::note("limit-varies", text).help("repeat it on a quieter machine, or with a longer `--duration`")
    });
    let own = limit.is_own.then(|| {
        let text = "mcprove itself was late at the rates that were not held: the server may hold more";
        Finding::note("limit-of-mcprove", text)
            .help("give it a machine of its own, or more sessions and with them threads: `--clients`")
    });
    lost.into_iter().chain(none).chain(varies).chain(own).collect()
}
