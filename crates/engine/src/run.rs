//! The loop that runs a plan and orders its events.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcprove_model::{Event, Finding, Plan, RunFinished, RunStarted, Verdict};
use mcprove_wire::{HttpClient, Limits};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::case_run::{CaseContext, run_case};
use crate::hint::parallel_hint;
use crate::record::CaseRun;
use crate::server::Opener;
use crate::stop::Stop;

/// How a plan is run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// How many cases act side by side.
    pub jobs: usize,
    /// How many the machine could run side by side, for the hint at the end.
    pub cores: usize,
    /// The deadline of a case that has none of its own.
    pub timeout: Duration,
    /// Whether warnings fail cases.
    pub strict: bool,
    /// Whether to stop at the first case that does not pass.
    pub fail_fast: bool,
    /// Whether frames of passing cases are wanted.
    pub keep_frames: bool,
    /// The running program, which a suite may name as a server.
    pub own_program: PathBuf,
    /// Name and version of the program, for the log.
    pub program: String,
    /// Wall-clock start, milliseconds since the Unix epoch.
    pub started_unix_ms: u64,
    /// Findings about the suite that do not keep it from running.
    pub findings: Vec<Finding>,
    /// Bounds on sessions.
    pub limits: Limits,
}

/// Who listens to a run.
pub trait Sink {
    /// The next event, in order.
    fn event(&mut self, event: Event);
    /// What is going on right now; not part of the run's record.
    fn progress(&mut self, progress: &Progress<'_>);
}

/// What is going on right now.
#[derive(Debug)]
pub struct Progress<'a> {
    /// How many cases are over.
    pub done: usize,
    /// How many are planned.
    pub total: usize,
    /// The names of those that run, in plan order.
    pub running: Vec<&'a str>,
}

/// Runs a plan to its end and tells it to `sink` in plan order.
pub async fn run(plan: &Plan, options: RunOptions, stop: Stop, sink: &mut dyn Sink) {
    let began = Instant::now();
    sink.event(Event::RunStarted(RunStarted {
        format: RunStarted::FORMAT,
        program: options.program.clone(),
        started_unix_ms: options.started_unix_ms,
        total: plan.cases.len(),
        jobs: options.jobs,
        strict: options.strict,
    }));
    for finding in &options.findings {
        sink.event(Event::Finding { finding: finding.clone() });
    }
    let durations = run_cases(plan, &options, &stop, sink).await;
    sink.event(Event::RunFinished(RunFinished {
        duration_us: u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX),
        interrupted: stop.is_stopped(),
        hint: parallel_hint(&durations, options.jobs, options.cores),
    }));
}

async fn run_cases(plan: &Plan, options: &RunOptions, stop: &Stop, sink: &mut dyn Sink) -> Vec<Duration> {
    let context = CaseContext {
        opener: Arc::new(Opener {
            own_program: options.own_program.clone(),
            limits: options.limits,
            http: HttpClient::default(),
        }),
        default_timeout: options.timeout,
        strict: options.strict,
        keep_frames: options.keep_frames,
        acting: Arc::new(Semaphore::new(options.jobs)),
        stop: stop.clone(),
    };
    // Side by side, the next servers are started while the current ones are busy; one at a time means just that.
    let in_flight = if options.jobs == 1 { 1 } else { options.jobs * 2 };
    let mut workers = JoinSet::new();
    let mut next = 0;
    let mut reported = 0;
    let mut waiting: BTreeMap<usize, CaseRun> = BTreeMap::new();
    let mut durations = Vec::with_capacity(plan.cases.len());
    let mut give_up: Option<&str> = None;
    while reported < plan.cases.len() {
        if stop.is_stopped() {
            give_up = Some("interrupted");
        }
        while give_up.is_none() && next < plan.cases.len() && workers.len() < in_flight {
            workers.spawn(run_case(plan.cases[next].clone(), context.clone()));
            next += 1;
            tell_progress(plan, reported, next, &waiting, sink);
        }
        if let Some(reason) = give_up
            && workers.is_empty()
        {
            for planned in &plan.cases[next..] {
                waiting.insert(planned.index, CaseRun::skipped(planned, reason));
            }
            next = plan.cases.len();
        } else if let Some(joined) = workers.join_next().await {
            match joined {
                Ok(run) => {
                    waiting.insert(run.finished.index, run);
                }
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                Err(_) => {}
            }
        }
        while let Some(run) = waiting.remove(&reported) {
            reported += 1;
            durations.push(Duration::from_micros(run.finished.duration_us));
            let failed = matches!(run.finished.verdict, Verdict::Failed | Verdict::Error);
            run.into_events().for_each(|event| sink.event(event));
            if failed && options.fail_fast && give_up.is_none() {
                give_up = Some("not run after the first failure");
            }
        }
        tell_progress(plan, reported, next, &waiting, sink);
    }
    durations
}

fn tell_progress(plan: &Plan, reported: usize, next: usize, waiting: &BTreeMap<usize, CaseRun>, sink: &mut dyn Sink) {
    let running = plan.cases[reported..next].iter().filter(|planned| !waiting.contains_key(&planned.index));
    sink.progress(&Progress {
        done: reported + waiting.len(),
        total: plan.cases.len(),
        running: running.map(|planned| planned.case.name.as_str()).collect(),
    });
}
