//! The loop that runs a plan and orders its events.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use mcprove_model::{CallRole, Event, Finding, Isolation, Plan, Redactor, RunFinished, RunStarted};
use mcprove_wire::{Limits, Tokens};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

use crate::agent_runs::AgentRuns;
use crate::case_run::{CaseContext, run_lane};
use crate::concurrency::LaneScheduler;
use crate::coverage_gate;
use crate::grading::Judges;
use crate::hint::{Spent, hint};
use crate::hooks::Hooks;
use crate::lanes::{Lane, lanes};
use crate::latency::too_slow;
use crate::load::LoadProgress;
use crate::prestart::{ActTurn, LaneQueue};
use crate::record::CaseRun;
use crate::runtime_pool::RuntimePool;
use crate::sanitizers;
use crate::scan::ScanResult;
use crate::selection::Selections;
use crate::server::Opener;
use crate::spending::Spending;
use crate::stop::{Stop, Stopper};
use crate::stored_replies::Storing;
use crate::virtual_time::{is_virtual, run_virtual_lane};

/// Number of cases from which on a lane is worth a thread apart from the one that takes its results.
const LONG: usize = 64;

/// Interval of progress reports while nothing else happens.
const PROGRESS: Duration = Duration::from_millis(100);

/// Options of a run.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of the user, named at the call")]
pub struct RunOptions {
    /// Number of concurrent cases.
    pub jobs: usize,
    /// True if that is for suites that ask for it, and others run one case after the other.
    pub one_by_one: bool,
    /// Number of cases the machine could run concurrently, for the hint at the end.
    pub cores: usize,
    /// The deadline of a case that has none of its own.
    pub timeout: Duration,
    /// True if warnings fail cases.
    pub strict: bool,
    /// True if to stop at the first case that does not pass.
    pub fail_fast: bool,
    /// True if frames of passing cases are wanted.
    pub keep_frames: bool,
    /// The running program, which a suite may name as a server.
    pub own_program: PathBuf,
    /// Name and version of the program, for the log.
    pub program: String,
    /// Wall-clock start, milliseconds since the Unix epoch.
    pub started_unix_ms: u64,
    /// Findings about the suite that do not keep it from running.
    pub findings: Vec<Finding>,
    /// True if positions around those of a failing case are tried.
    pub fix: bool,
    /// True if the replies of language models are saved next to their suites.
    pub record: bool,
    /// True if no language model judges.
    pub no_model: bool,
    /// Time limit for the probe of a server's protocol era.
    pub probe_timeout: Duration,
    /// True if servers are started while the case before them runs; suites may ask for it, too.
    pub prestart: bool,
    /// Isolation of cases if the user sets it; otherwise each case has its own.
    pub isolation: Option<Isolation>,
    /// True if the plan has all cases; with a subset, the coverage of a server is unknown.
    pub is_whole: bool,
    /// Mode of stored values.
    pub storing: Storing,
    /// The arguments that start such a run again.
    pub again: Vec<String>,
    /// Bounds on sessions.
    pub limits: Limits,
    /// Values of the environment that no reply should hold.
    pub environment: Arc<[String]>,
    /// Tokens of servers behind a login.
    pub tokens: Tokens,
}

/// Receiver of the events of a run.
pub trait Sink {
    /// The next event, in order.
    fn event(&mut self, event: Event);
    /// Current progress; not part of the run's record.
    fn progress(&mut self, progress: &Progress<'_>);
    /// True if cases are wanted as they end, through [`Sink::ended`].
    fn wants_ended(&self) -> bool {
        false
    }
    /// An event of a case that has ended, in the order of completion and without frames. All of them come again in order.
    fn ended(&mut self, _event: Event) {}
    /// Result of a scan besides its events, before the events of its case.
    fn scanned(&mut self, _index: usize, _result: ScanResult) {}
}

/// Current progress.
#[derive(Debug)]
pub struct Progress<'a> {
    /// Number of finished cases.
    pub done: usize,
    /// Number of planned cases.
    pub total: usize,
    /// The name of the first that is not over.
    pub next: Option<&'a str>,
    /// Number of cases that run, or wait for their turn with a server of their own.
    pub running: usize,
    /// Number of calls made by scans.
    pub calls: usize,
    /// The numbers of a load, while there is one.
    pub load: Option<LoadProgress>,
}

/// Runs a plan to its end and reports it to `sink` in plan order.
pub async fn run(plan: &Plan, options: RunOptions, stop: Stop, sink: &mut dyn Sink) {
    let began = Instant::now();
    sink.event(Event::RunStarted(RunStarted {
        format: RunStarted::FORMAT,
        program: options.program.clone(),
        started_unix_ms: options.started_unix_ms,
        total: plan.cases.len(),
        jobs: options.jobs,
        strict: options.strict,
        shard: plan.shard.clone(),
        again: options.again.clone(),
        context: None,
    }));
    for finding in &options.findings {
        sink.event(Event::Finding { finding: finding.clone() });
    }
    let spent = run_cases(plan, &options, &stop, sink).await;
    let took = began.elapsed();
    sink.event(Event::RunFinished(RunFinished {
        duration_us: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        interrupted: stop.is_stopped(),
        hint: hint(plan, &options, &spent, took),
    }));
}

impl RunOptions {
    fn opener(&self) -> Opener {
        Opener::new(&self.own_program, self.limits, self.probe_timeout)
    }
}

async fn run_cases(plan: &Plan, options: &RunOptions, stop: &Stop, sink: &mut dyn Sink) -> Spent {
    let (halt, enough) = Stopper::pair();
    let tokens = options.tokens.clone();
    let halt = options.fail_fast.then(|| Arc::new(halt));
    let lanes = lanes(plan, options.isolation, options.jobs);
    let judges = Judges::default();
    let opener = Arc::new(Opener { tokens: tokens.clone(), refreshes: options.record, ..options.opener() });
    let context = CaseContext {
        opener: Arc::clone(&opener),
        default_timeout: options.timeout,
        strict: options.strict,
        keep_frames: options.keep_frames,
        keep_seen: false,
        // Where the first failure is enough, nothing is begun before it is known that there is none; and where lanes wait for
        // each other or a failed case is tried again, an answer would wait, too, and look late.
        has_own_thread: false,
        may_send_ahead: !options.fail_fast && !options.fix && (options.jobs == 1 || lanes.len() <= options.jobs),
        fix: options.fix,
        storing: options.storing,
        record: options.record,
        no_model: options.no_model,
        judges: judges.clone(),
        acting: Arc::new(Semaphore::new(options.jobs)),
        turn: ActTurn::default(),
        calls: Arc::default(),
        load: Arc::default(),
        stop: stop.clone(),
        hooks: Hooks::of_run(stop, &opener),
        environment: Arc::clone(&options.environment),
        enough,
        halt,
    };
    let hooks = context.hooks.clone();
    let (calls, load) = (Arc::clone(&context.calls), Arc::clone(&context.load));
    let opener = Arc::clone(&context.opener);
    // Dropped after the lanes: dropping a run in the middle waits for what they leave behind.
    let threads = options.jobs.max(1 + usize::from(lanes.iter().any(is_long)));
    let mut pool = RuntimePool::of(threads.min(options.cores));
    let contexts = context.for_threads(pool.size());
    let mut queue = LaneQueue::new(lanes, options);
    let mut turns = LaneScheduler::new(options.one_by_one, options.jobs);
    let (report, mut reports) = mpsc::unbounded_channel();
    let mut workers = JoinSet::new();
    let mut clock = tokio::time::interval(PROGRESS);
    let mut ordered = InOrder::new(plan, tokens);
    while ordered.next < plan.cases.len() {
        while let Some((lane, is_prestarted)) = queue.next(workers.len()) {
            let turn = turns.of(&lane, is_prestarted);
            pool.begin(&mut workers, is_long(&lane), |thread| {
                let (mut context, report) = (contexts[thread].clone(), report.clone());
                context.turn = turn.act.clone();
                // A lane has a large state, which a task moves several times.
                Box::pin(async move {
                    let _held = turn.come().await;
                    if lane.cases.iter().any(|planned| is_virtual(&planned.case)) {
                        run_virtual_lane(lane, context, report).await;
                    } else {
                        run_lane(lane, context, report).await;
                    }
                    thread
                })
            });
        }
        ordered.show_progress(workers.len(), calls.load(Ordering::Relaxed), load.progress(), sink);
        tokio::select! {
            biased;
            Some(runs) = reports.recv() => {
                for run in runs {
                    ordered.take(run, sink);
                }
            }
            _ = clock.tick() => {}
            Some(joined) = workers.join_next() => {
                match joined {
                    Ok(thread) => pool.ended(thread),
                    Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                    Err(_) => {}
                }
            }
        }
    }
    // Shared servers and fixture copies are ended by their lanes.
    while workers.join_next().await.is_some() {}
    let mut findings = hooks.end(plan).await;
    findings.extend(too_slow(plan, &ordered.latencies));
    findings.extend(ordered.selections.findings());
    findings.extend(ordered.agent_runs.findings());
    ordered.spending.add_judges(plan, &judges.costs());
    findings.extend(ordered.spending.findings());
    // With a subset of the cases, the coverage of their suite is unknown.
    if options.is_whole && !stop.is_stopped() {
        findings.extend(sanitizers::unknown(plan, &opener, options.timeout).await);
        findings.extend(coverage_gate::too_little(plan, &opener, options.timeout).await);
    }
    ordered.report(findings, sink);
    ordered.spent
}

/// True for a lane whose results are taken on another thread: they are many, and come one after the other.
fn is_long(lane: &Lane) -> bool {
    lane.cases.len() >= LONG
}

/// Puts what ends in any order back into the order of the plan.
struct InOrder<'p> {
    plan: &'p Plan,
    next: usize,
    waiting: BTreeMap<usize, Box<CaseRun>>,
    spent: Spent,
    /// Duration of the request under test of each case whose suite bounds it.
    latencies: BTreeMap<usize, Duration>,
    /// Which tools agents chose.
    selections: Selections,
    /// Scores of agents that are compared with each other.
    agent_runs: AgentRuns,
    spending: Spending,
    masks: Masks,
}

/// Hides tokens that became known during the run, which other redactors do not know.
struct Masks {
    tokens: Tokens,
    known: usize,
    redactor: Redactor,
}

impl Masks {
    fn cover(&mut self, event: &mut Event) {
        let count = self.tokens.count();
        if count > self.known {
            self.known = count;
            self.redactor = Redactor::new(self.tokens.given().iter().map(String::as_str));
        }
        self.redactor.event(event);
    }
}

impl<'p> InOrder<'p> {
    fn new(plan: &'p Plan, tokens: Tokens) -> Self {
        Self {
            plan,
            next: 0,
            waiting: BTreeMap::new(),
            spent: Spent::default(),
            latencies: BTreeMap::new(),
            selections: Selections::default(),
            agent_runs: AgentRuns::default(),
            spending: Spending::default(),
            masks: Masks { tokens, known: 0, redactor: Redactor::default() },
        }
    }

    /// Reports what was found in the run as a whole.
    fn report(&mut self, findings: Vec<Finding>, sink: &mut dyn Sink) {
        for finding in findings {
            let mut event = Event::Finding { finding };
            self.masks.cover(&mut event);
            sink.event(event);
        }
    }

    /// Takes a finished case and reports all that are now due.
    fn take(&mut self, run: Box<CaseRun>, sink: &mut dyn Sink) {
        if sink.wants_ended() {
            for mut event in run.brief_events() {
                self.masks.cover(&mut event);
                sink.ended(event);
            }
        }
        self.waiting.insert(run.finished.index, run);
        // Indices are those of the whole plan, so a shard has gaps between them.
        while let Some(due) = self.plan.cases.get(self.next)
            && let Some(mut run) = self.waiting.remove(&due.index)
        {
            self.next += 1;
            // Virtual time costs no real time, so there is nothing to save.
            if !is_virtual(&due.case) {
                self.spent.add(&run.finished);
            }
            let is_bounded = due.case.suite.as_ref().is_some_and(|suite| suite.bounds_latency());
            if let Some(call) = run.finished.calls.iter().rfind(|call| is_bounded && call.role == CallRole::Act) {
                self.latencies.insert(run.finished.index, Duration::from_micros(call.elapsed_us));
            }
            self.selections.add(&due.case, &run.finished);
            self.agent_runs.add(&due.case, &run.finished);
            self.spending.add(&due.case, &run.finished);
            if let Some(result) = run.scanned.take() {
                sink.scanned(run.finished.index, result);
            }
            run.report(|mut event| {
                self.masks.cover(&mut event);
                sink.event(event);
            });
        }
    }

    fn show_progress(&self, running: usize, calls: usize, load: Option<LoadProgress>, sink: &mut dyn Sink) {
        let mut due = self.plan.cases[self.next..].iter().filter(|planned| !self.waiting.contains_key(&planned.index));
        sink.progress(&Progress {
            done: self.next + self.waiting.len(),
            total: self.plan.cases.len(),
            next: due.next().map(|planned| planned.case.name.as_str()),
            running,
            calls,
            load,
        });
    }
}

#[cfg(test)]
mod tests {
    use mcprove_suite::load::{LoadOptions, load};

    use super::*;
    use crate::{PlanOptions, plan};

    #[derive(Default)]
    struct Orders {
        in_order: Vec<usize>,
        as_ended: Vec<usize>,
    }

    impl Sink for Orders {
        fn event(&mut self, event: Event) {
            if let Event::CaseFinished(finished) = event {
                self.in_order.push(finished.index);
            }
        }

        fn progress(&mut self, _: &Progress<'_>) {}

        fn wants_ended(&self) -> bool {
            true
        }

        fn ended(&mut self, event: Event) {
            if let Event::CaseFinished(finished) = event {
                self.as_ended.push(finished.index);
            }
        }
    }

    #[test]
    fn cases_are_shown_as_they_end_and_logged_in_the_order_of_the_plan() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("suite.yaml");
        let tests = "  - {name: a, tool: t}\n  - {name: b, tool: t}\n  - {name: c, tool: t}\n";
        std::fs::write(&path, format!("servers: {{s: {{command: server}}}}\ntools:\n{tests}")).expect("written");
        let options =
            LoadOptions { environment: &|_| None, known_variables: &[], fixture: None, server: None, ci: false };
        let plan = plan(&load(&[path], &options).cases, &PlanOptions::default());
        let mut ordered = InOrder::new(&plan, Tokens::default());
        let mut orders = Orders::default();
        for at in [2, 0, 1] {
            ordered.take(CaseRun::skipped(&plan.cases[at], "not needed"), &mut orders);
        }
        assert_eq!(orders.as_ended, [2, 0, 1]);
        assert_eq!(orders.in_order, [0, 1, 2]);
    }
}
