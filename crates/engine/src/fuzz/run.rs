//! All tools of a server, in what order, and how it is told.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant as Clock};

use mcprove_judge::fuzz::ValuePool;
use mcprove_judge::harm::HarmGuard;
use mcprove_judge::tool_effect::{Consent, ScanPlan, ToolEffect};
use mcprove_model::{
    CaseFinished, CaseStarted, Event, Finding, RunFinished, RunStarted, ServerSpec, Severity, Timings, Verdict,
};
use mcprove_suite::template::Variables;
use mcprove_wire::OpenFailure;
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::FuzzOptions;
use super::failure::Failure;
use super::line::Said;
use super::survey::survey;
use super::telling;
use super::tool::{Tally, Task, ToolRun, work};
use super::workshop::{Tools, Workshop};
use crate::discover::{discover, tool_name};
use crate::run::{CallProgress, Sink};
use crate::stop::Stop;
use crate::tour::{not_copied, opener};
use crate::workplace::Scratch;

/// How often progress is told.
const PROGRESS: Duration = Duration::from_millis(100);

/// A server that was fuzzed.
#[derive(Debug)]
pub struct FuzzRun {
    /// How it was spoken to.
    pub transport: String,
    /// The names of all tools it lists.
    pub listed: Vec<String>,
    /// The tools that were chosen, in listed order.
    pub tools: Vec<FuzzedTool>,
    /// All calls that were made, also those that made failures small.
    pub calls: usize,
    /// How long it took.
    pub elapsed: Duration,
}

/// A tool that was fuzzed, or not.
#[derive(Debug)]
pub struct FuzzedTool {
    /// Its name.
    pub name: String,
    /// What became of its calls.
    pub tally: Tally,
    /// What failed, and what is worth knowing.
    pub failures: Vec<Failure>,
    /// Why it was not called, if so.
    pub skipped: Option<String>,
    /// How long it took.
    pub duration_us: u64,
    /// The command that works on it again.
    pub again: String,
}

/// Fuzzes the tools of a server and tells it to `sink`; the error says why the server could not be reached. There is
/// nothing to tell when it is stopped before the tools are known.
pub async fn fuzz(
    server: &ServerSpec,
    options: &FuzzOptions,
    stop: &Stop,
    sink: &mut dyn Sink,
) -> Result<Option<FuzzRun>, Box<OpenFailure>> {
    let began = Clock::now();
    let scratch = Scratch::new().map_err(|error| not_copied(&error))?;
    let workshop = Arc::new(Workshop::new(Tools {
        opener: opener(&options.own_program, options.limits),
        server: scratch.writable_for(server),
        variables: Variables::default(),
        start: options.start,
        timeout: options.timeout,
        attempts: options.attempts,
        strict_input: options.strict_input,
        keep_frames: options.keep_frames,
        environment: Arc::clone(&options.environment),
        stop: stop.clone(),
        until: options.time.map(|time| Instant::now() + time),
    }));
    let meeting = async {
        let mut session = workshop.open().await?;
        let transport = session.transport_name().to_owned();
        let catalog = discover(&mut session, Instant::now() + options.start).await;
        session.close().await;
        Ok::<_, Box<OpenFailure>>((transport, catalog))
    };
    let mut stopping = stop.clone();
    let (transport, mut catalog) = tokio::select! {
        biased;
        () = stopping.stopped() => return Ok(None),
        met = meeting => met?,
    };
    let listed = catalog.tools.iter().map(|tool| tool_name(tool).to_owned()).collect();
    catalog.tools.retain(|tool| options.tools.is_empty() || options.tools.iter().any(|only| tool_name(tool) == only));
    let plan = ScanPlan::new(&catalog.tools, catalog.instructions.as_deref(), options.consent, &options.tools);
    if !sink.approve(&plan) {
        return Ok(None);
    }
    sink.event(Event::RunStarted(RunStarted {
        format: RunStarted::FORMAT,
        program: options.program.clone(),
        started_unix_ms: options.started_unix_ms,
        total: catalog.tools.len(),
        jobs: options.jobs,
        strict: false,
        shard: None,
        again: Vec::new(),
    }));
    let seed = Finding::note("seed", format!("seed {}", options.seed));
    for finding in catalog.findings.iter().cloned().chain([seed]) {
        sink.event(Event::Finding { finding });
    }
    let mut run = Round { options, workshop: &workshop, planned: 0, began, guards: Vec::new() };
    run.guards =
        catalog.tools.iter().enumerate().map(|(at, tool)| run.guard(tool, plan.effect(at), &scratch)).collect();
    let tools = run.all(catalog.tools, &plan, sink).await;
    drop(scratch);
    sink.event(Event::RunFinished(RunFinished {
        duration_us: micros(began.elapsed()),
        interrupted: stop.is_stopped(),
        hint: None,
    }));
    Ok(Some(FuzzRun { transport, listed, tools, calls: workshop.calls(), elapsed: began.elapsed() }))
}

/// The tools of a run.
struct Round<'r> {
    options: &'r FuzzOptions,
    workshop: &'r Arc<Workshop>,
    planned: usize,
    began: Clock,
    /// What may be sent to each tool.
    guards: Vec<HarmGuard>,
}

/// A tool that is done.
struct Done {
    index: usize,
    run: Result<ToolRun, String>,
    duration_us: u64,
}

impl Round<'_> {
    fn guard(&self, tool: &Value, effect: &ToolEffect, scratch: &Scratch) -> HarmGuard {
        let given = self.options.given.get(tool_name(tool)).map(Vec::as_slice).unwrap_or_default();
        let guard = HarmGuard::new(tool, effect, scratch.path()).with_given(given);
        if self.options.consent == Consent::IncludeWrites { guard.allowing_all() } else { guard }
    }

    async fn all(&mut self, tools: Vec<Value>, plan: &ScanPlan, sink: &mut dyn Sink) -> Vec<FuzzedTool> {
        let refused: Vec<Option<&str>> = (0..tools.len()).map(|at| plan.skipped(at)).collect();
        let guarded = tools.iter().zip(&self.guards);
        let allowed: Vec<(&Value, &HarmGuard)> =
            guarded.zip(&refused).filter(|(_, refused)| refused.is_none()).map(|(guarded, _)| guarded).collect();
        self.planned = allowed.len() * self.options.runs;
        // One tool has nobody to learn from but itself.
        let (pool, said) = if allowed.len() > 1 {
            survey(self.workshop, &allowed, self.options.seed).await
        } else {
            (ValuePool::default(), Vec::new())
        };
        let mut said = VecDeque::from(said);
        let mut waiting = VecDeque::new();
        let mut done = BTreeMap::new();
        for (index, reason) in refused.iter().enumerate() {
            match reason {
                Some(reason) => {
                    done.insert(index, Done { index, run: Err((*reason).to_owned()), duration_us: 0 });
                }
                None => waiting.push_back((index, said.pop_front().unwrap_or_default())),
            }
        }
        let tools = Arc::new(tools);
        let mut workers = JoinSet::new();
        let mut clock = tokio::time::interval(PROGRESS);
        let mut told: Vec<FuzzedTool> = Vec::new();
        while told.len() < tools.len() {
            while let Some(due) = done.remove(&told.len()) {
                told.push(self.tell(&tools[told.len()], due, sink));
            }
            while workers.len() < self.options.jobs
                && let Some((index, said)) = waiting.pop_front()
            {
                workers.spawn(self.worker(index, &tools, pool.clone(), said));
            }
            if let Some(tool) = tools.get(told.len()) {
                sink.calls(&CallProgress {
                    done: self.workshop.calls(),
                    total: self.planned,
                    tool: tool_name(tool),
                    elapsed: self.began.elapsed(),
                });
            }
            if workers.is_empty() {
                continue;
            }
            tokio::select! {
                biased;
                Some(joined) = workers.join_next() => match joined {
                    Ok(run) => {
                        let run: Done = run;
                        done.insert(run.index, run);
                    }
                    Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                    Err(_) => {}
                },
                _ = clock.tick() => {}
            }
        }
        told
    }

    fn worker(
        &self,
        index: usize,
        tools: &Arc<Vec<Value>>,
        mut pool: ValuePool,
        said: Said,
    ) -> impl Future<Output = Done> + Send + 'static {
        let (workshop, tools) = (Arc::clone(self.workshop), Arc::clone(tools));
        let (seed, runs) = (self.options.seed, self.options.runs);
        let guard = self.guards[index].clone();
        for given in self.options.given.get(tool_name(&tools[index])).into_iter().flatten() {
            pool.give(given.clone());
        }
        async move {
            let began = Clock::now();
            let not_called = || Err(format!("{} before its first call", workshop.why_over()));
            if workshop.is_over() {
                return Done { index, run: not_called(), duration_us: 0 };
            }
            let run = Box::pin(work(&workshop, Task { tool: &tools[index], seed, runs, pool, said, guard })).await;
            // What was not called is not in order, unless something else is known to be wrong.
            let was_called = run.tally.runs > 0 || run.notes.iter().any(|note| note.severity >= Severity::Error);
            let run = if was_called { Ok(run) } else { not_called() };
            Done { index, run, duration_us: micros(began.elapsed()) }
        }
    }

    /// Tells a tool that is done as a case.
    fn tell(&self, tool: &Value, done: Done, sink: &mut dyn Sink) -> FuzzedTool {
        let (index, name) = (done.index, tool_name(tool).to_owned());
        let again = self.again(&name);
        sink.event(Event::CaseStarted(CaseStarted {
            index,
            name: name.clone(),
            file: String::new(),
            line: 0,
            trial: 1,
            server: Some(self.workshop.server_name().to_owned()),
            variant: None,
        }));
        let mut finished = CaseFinished {
            index,
            verdict: Verdict::Passed,
            findings: Vec::new(),
            duration_us: done.duration_us,
            timings: Timings { call: done.duration_us, ..Timings::default() },
            calls: Vec::new(),
            stderr: String::new(),
            process_end: None,
            snapshots: Vec::new(),
            agent: None,
        };
        let run = match done.run {
            Ok(run) => run,
            Err(reason) => {
                finished.verdict = Verdict::Skipped { reason: reason.clone() };
                sink.event(Event::CaseFinished(finished));
                let (tally, failures) = (Tally::default(), Vec::new());
                return FuzzedTool { name, tally, failures, skipped: Some(reason), duration_us: 0, again };
            }
        };
        for mut connected in run.said.connected {
            connected.index = index;
            sink.event(Event::Connected(connected));
        }
        for (session, frame) in run.said.frames {
            sink.event(Event::Frame { index, session, frame });
        }
        // Other reasons to leave a plan have notes of their own.
        let cut_off = !run.is_complete && run.notes.is_empty();
        finished.findings.extend(run.failures.iter().map(|failure| telling::finding(failure, &again)));
        finished.findings.extend(run.notes);
        finished.findings.extend(run.said.oddities);
        finished.findings.push(Finding::note("fuzzed", self.summary(&run.tally, cut_off)));
        finished.findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        let is_wrong = finished.findings.iter().any(|finding| finding.severity >= Severity::Error);
        let was_reached = run.tally.runs > 0 || run.is_complete;
        finished.verdict = match (is_wrong, was_reached) {
            (true, true) => Verdict::Failed,
            (true, false) => Verdict::Error,
            (false, _) => Verdict::Passed,
        };
        finished.calls = run.records;
        finished.stderr = run.said.stderr;
        finished.process_end = run.said.end;
        sink.event(Event::CaseFinished(finished));
        FuzzedTool {
            name,
            tally: run.tally,
            failures: run.failures,
            skipped: None,
            duration_us: done.duration_us,
            again,
        }
    }

    /// What became of the calls of a tool, in one line.
    fn summary(&self, tally: &Tally, cut_off: bool) -> String {
        let calls = if tally.runs == 1 { "call" } else { "calls" };
        let until = if cut_off { format!(" until {}", self.workshop.why_over()) } else { String::new() };
        format!("{} {calls}{until}: {}", tally.runs, tally.told())
    }

    /// The command that works on one tool again.
    fn again(&self, tool: &str) -> String {
        let FuzzOptions { command, seed, runs, .. } = self.options;
        format!("{command} --tool {} --runs {runs} --seed {seed}", quoted(tool))
    }
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/');
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
