//! The same calls on two servers, and whether they answer the same.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mcprove_judge::sequences::{Difference, Reply, difference};
use mcprove_judge::text_diff;
use mcprove_model::{Act, CallRecord, CallRole, Case, Finding, Outcome, ServerSpec, StepCall, bounded_json, shorten};
use mcprove_wire::{OpenFailure, Session};
use serde_json::Value;
use tokio::time::Instant;

use super::{Connections, Scan, ScanCase, ScanEnd, ScanFuture, ScanSubject};
use crate::calls;
use crate::fixture_guard::{FixtureGuard, with_template};

/// Calls that only read are repeated this many times to compare their durations.
const REPEATS: usize = 5;

/// A reading call that takes this many times as long, and this much longer, is slower.
const SLOWER: u64 = 2;
const SLOWER_US: u64 = 20_000;

/// The longest difference that is shown.
const SHOWN: usize = 1_500;

const TEMPLATE: &str = "{{fixture}}";

/// Calls that are made one after the other on both servers.
#[derive(Clone, Debug)]
pub struct DiffProgram {
    /// Its name: that of the test or the tool.
    pub name: String,
    /// Tools and arguments.
    pub calls: Vec<DiffCall>,
}

/// A call that is made on both servers.
#[derive(Clone, Debug)]
pub struct DiffCall {
    /// The tool.
    pub tool: String,
    /// The arguments; `{{fixture}}` is the copy of the fixture.
    pub args: Value,
    /// True if the call may be repeated: it only reads.
    pub only_reads: bool,
}

/// Options of a comparison.
#[derive(Clone, Debug)]
pub struct DiffOptions {
    /// A folder that each server gets a copy of.
    pub fixture: Option<PathBuf>,
    /// The time a server may take to start.
    pub start: Duration,
    /// The time a call may take.
    pub timeout: Duration,
}

struct DiffCase {
    program: DiffProgram,
    other: Arc<ServerSpec>,
    options: DiffOptions,
}

/// A case for each program: the server of the case is the first of the two.
pub fn plan_diff(
    one: &Arc<ServerSpec>,
    other: &Arc<ServerSpec>,
    programs: Vec<DiffProgram>,
    options: &DiffOptions,
) -> Vec<Arc<Case>> {
    let cases = programs.into_iter().map(|program| {
        let name = program.name.clone();
        let subject = ScanSubject {
            name: &name,
            server: one,
            fixture: options.fixture.clone(),
            skip: program.calls.is_empty().then(|| "it makes no call that both servers can be asked".to_owned()),
            tags: vec!["diff".to_owned()],
            start: options.start,
        };
        subject.case("diff", DiffCase { program, other: Arc::clone(other), options: options.clone() })
    });
    cases.collect()
}

/// The calls of the tests of a suite: setup and act of each test that only calls tools, without values that are known
/// only while it runs.
pub fn suite_programs(cases: &[Arc<Case>]) -> Vec<DiffProgram> {
    let programs = cases.iter().filter(|case| case.skip.is_none()).filter_map(|case| {
        let Act::CallTool(act) = &case.act else { return None };
        let steps = case.setup.iter().filter_map(|step| match &step.call {
            StepCall::Tool { tool, args } => Some((tool, args)),
            StepCall::Resource { .. } | StepCall::Restart { .. } => None,
        });
        let calls = steps.chain([(&act.tool, &act.args)]).map(|(tool, args)| DiffCall {
            tool: tool.to_json().as_str().unwrap_or_default().to_owned(),
            args: args.to_json(),
            only_reads: false,
        });
        let calls: Vec<DiffCall> = calls.collect();
        let is_known = calls.iter().all(|call| !call.args.to_string().replace(TEMPLATE, "").contains("{{"));
        is_known.then(|| DiffProgram { name: case.name.clone(), calls })
    });
    programs.collect()
}

/// The calls of an event log, case by case.
pub fn recorded_calls(log: &str) -> Vec<DiffProgram> {
    let mut programs: Vec<DiffProgram> = Vec::new();
    for line in log.lines() {
        let Some(event) = bounded_json::parse(line) else { continue };
        let Some(records) = event.get("calls").and_then(Value::as_array) else { continue };
        let calls = records.iter().filter_map(|record| {
            // A request that was shortened for display is not JSON.
            let request: Value = serde_json::from_str(record.get("request")?.as_str()?).ok()?;
            let params =
                request.get("params").filter(|_| request.get("method").is_some_and(|method| method == "tools/call"))?;
            let tool = params.get("name")?.as_str()?.to_owned();
            Some(DiffCall { tool, args: params.get("arguments").cloned().unwrap_or_default(), only_reads: false })
        });
        let name = event
            .get("name")
            .and_then(Value::as_str)
            .map_or_else(|| format!("case {}", programs.len() + 1), str::to_owned);
        let calls: Vec<DiffCall> = calls.collect();
        if !calls.is_empty() {
            programs.push(DiffProgram { name, calls });
        }
    }
    programs
}

/// One of the two servers.
struct Side {
    session: Session,
    guard: FixtureGuard,
}

impl Scan for DiffCase {
    fn connections(&self) -> Connections {
        Connections::Own
    }

    fn perform<'s>(&'s self, case: ScanCase<'s>) -> ScanFuture<'s> {
        Box::pin(self.compare(case))
    }
}

impl DiffCase {
    async fn open(&self, server: &ServerSpec, case: &ScanCase<'_>) -> Result<Side, String> {
        let guard = FixtureGuard::new(self.options.fixture.as_deref()).map_err(|error| error.to_string())?;
        let server = guard.writable_for(server);
        let until = Instant::now() + self.options.start;
        let opened = case.context.opener.open(&server, guard.variables(), until).await;
        let session = opened.map_err(|failure: Box<OpenFailure>| format!("{}: {}", server.name, failure.message))?;
        Ok(Side { session, guard })
    }

    async fn compare(&self, case: ScanCase<'_>) -> ScanEnd {
        let (one, other) = (self.open(case.server, &case).await, self.open(&self.other, &case).await);
        let (mut one, mut other) = match (one, other) {
            (Ok(one), Ok(other)) => (one, other),
            (Err(problem), _) | (_, Err(problem)) => {
                case.record.findings.push(Finding::error("no-session", problem));
                case.record.is_unreachable = true;
                return ScanEnd::Judged;
            }
        };
        let mut stop = case.context.stop.clone();
        let work = self.work(&mut one, &mut other);
        let result = tokio::select! {
            biased;
            () = stop.stopped() => None,
            result = work => Some(result),
        };
        let number = case.record.opened(&one.session);
        case.record.closed_session(number, one.session.close().await);
        let number = case.record.opened_at(&other.session, Some(&self.other.name));
        case.record.closed_session(number, other.session.close().await);
        case.record.mark(|timings| &mut timings.fuzz);
        match result {
            Some((findings, records)) => {
                case.record.findings.extend(findings);
                case.record.calls.extend(records);
                ScanEnd::Judged
            }
            None => ScanEnd::Interrupted,
        }
    }

    async fn work(&self, one: &mut Side, other: &mut Side) -> (Vec<Finding>, Vec<CallRecord>) {
        let (mut findings, mut records) = (Vec::new(), Vec::new());
        for call in &self.program.calls {
            let (first, first_us, record) = self.call(one, call).await;
            records.push(record);
            let (second, second_us, record) = self.call(other, call).await;
            records.push(CallRecord { server: Some(self.other.name.clone()), ..record });
            let mut found = difference(&first, &second);
            // A reply that differs from itself proves nothing.
            if found != Difference::Same && call.only_reads {
                let (again, _, _) = self.call(one, call).await;
                if difference(&first, &again) != Difference::Same {
                    let text = format!("`{}` answers differently each time", call.tool);
                    findings.push(Finding::note("unsteady-reply", text));
                    // The kind of its answer may be steady, and another one than that of the other server.
                    if found != Difference::Outcome
                        || difference(&first, &again) == Difference::Outcome
                        || difference(&second, &self.call(other, call).await.0) == Difference::Outcome
                    {
                        found = Difference::Same;
                    }
                }
            }
            findings.extend(finding(call, found, &first, &second));
            if second.is_broken || first.is_broken {
                break;
            }
            if call.only_reads && second_us > first_us * SLOWER && second_us > first_us + SLOWER_US {
                findings.extend(self.slower(one, other, call).await);
            }
        }
        (findings, records)
    }

    async fn call(&self, side: &mut Side, call: &DiffCall) -> (Reply, u64, CallRecord) {
        let folder = side.guard.folder().map(str::to_owned);
        let args = match &folder {
            Some(folder) => with_template(&call.args, TEMPLATE, folder),
            None => call.args.clone(),
        };
        let exchange = side.session.call_tool(&call.tool, &args, Instant::now() + self.options.timeout).await;
        let record = calls::record(CallRole::Act, Some(&call.tool), &exchange);
        let outcome = match (exchange.outcome, &folder) {
            (Outcome::Result(result), Some(folder)) => Outcome::Result(with_template(&result, folder, TEMPLATE)),
            (outcome, _) => outcome,
        };
        (Reply::of(&outcome), exchange.elapsed_us, record)
    }

    /// A warning if the second server is slower also when it is asked several times.
    async fn slower(&self, one: &mut Side, other: &mut Side, call: &DiffCall) -> Option<Finding> {
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for _ in 0..REPEATS {
            first.push(self.call(one, call).await.1);
            second.push(self.call(other, call).await.1);
        }
        first.sort_unstable();
        second.sort_unstable();
        let (first, second) = (first[REPEATS / 2], second[REPEATS / 2]);
        (second > first * SLOWER && second > first + SLOWER_US).then(|| {
            let text = format!("`{}` takes {} ms instead of {} ms", call.tool, second / 1000, first / 1000);
            Finding::warning("latency-shift", text)
        })
    }
}

fn finding(call: &DiffCall, found: Difference, first: &Reply, second: &Reply) -> Option<Finding> {
    let mut finding = match found {
        Difference::Same => return None,
        Difference::Order => Finding::note("order-differs", format!("`{}` lists the same in another order", call.tool)),
        Difference::Outcome => {
            let word = |reply: &Reply| match (reply.is_broken, reply.is_fine) {
                (true, _) => "no answer",
                (false, true) => "a result",
                (false, false) => "an error",
            };
            let text = format!("`{}` gives {} instead of {}", call.tool, word(second), word(first));
            Finding::error("reply-differs", text)
        }
        Difference::Content => Finding::error("reply-differs", format!("`{}` answers something else", call.tool)),
    };
    let diff = text_diff("one", "other", &pretty(first), &pretty(second));
    finding.actual = Some(format!("with {}\n{}", shorten(&call.args.to_string(), 300), shorten(&diff, SHOWN)));
    Some(finding)
}

fn pretty(reply: &Reply) -> String {
    reply.doc.as_ref().map_or_else(|| reply.text.clone(), |doc| format!("{doc:#}"))
}
