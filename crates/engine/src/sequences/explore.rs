//! The work of finding failures in sequences.

use std::collections::BTreeSet;
use std::time::Duration;

use mcprove_judge::sequences::{Breach, Explorer, Facts, Judge, SequenceTool, Step, StepTarget, Surroundings};
use mcprove_model::{CallRole, Finding};
use mcprove_wire::Closing;

use super::failure::{Reproduced, SequenceFailure, name_of};
use super::life::{ServerLife, Surround};
use super::replay::minimal;
use crate::calls;

/// Distinct failures after which a run ends: more of them seldom have other causes.
const FAILURES: usize = 8;

/// Maximum number of calls kept for the report.
const KEPT: usize = 500;

/// Settings of an exploration.
pub(crate) struct Exploration<'e> {
    pub(crate) seed: u64,
    /// The number of calls.
    pub(crate) calls: usize,
    pub(crate) around: &'e Surroundings,
    /// True if servers are started again on their data.
    pub(crate) restarts: bool,
    pub(crate) keep_frames: bool,
    /// Sequences that are performed first.
    pub(crate) corpus: &'e [Vec<Step>],
    /// True if only those are performed.
    pub(crate) replays_only: bool,
}

/// The result of an exploration.
#[derive(Default)]
pub(crate) struct Explored {
    pub(crate) failures: Vec<SequenceFailure>,
    pub(crate) notes: Vec<Finding>,
    pub(crate) calls: usize,
    pub(crate) servers: usize,
    pub(crate) is_cut_off: bool,
    pub(crate) records: Vec<mcprove_model::CallRecord>,
    pub(crate) said: Vec<Closing>,
    /// Sequences that showed something new.
    pub(crate) corpus: Vec<Vec<Step>>,
    pub(crate) facts: Facts,
}

struct Found {
    breach: Breach,
    steps: Vec<Step>,
}

/// Makes sequences until the calls are used up, and shrinks what fails.
pub(crate) async fn explore(surround: &Surround<'_>, task: &Exploration<'_>) -> Explored {
    let mut explored = Explored::default();
    let mut explorer = Explorer::new(surround.model, task.seed, task.around, task.restarts);
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut shapes: BTreeSet<u64> = BTreeSet::new();
    for steps in task.corpus {
        if surround.fuzz_context.is_over() {
            break;
        }
        perform_stored(surround, steps, &mut explored, &mut known).await;
    }
    if task.replays_only {
        return explored;
    }
    // The next server starts while this one is called, where the two share nothing.
    let shares_nothing = surround.fixture.is_some() || !surround.model.tools.iter().any(SequenceTool::writes);
    let mut next = None;
    while explored.calls < task.calls && explored.failures.len() < FAILURES {
        if surround.fuzz_context.is_over() {
            explored.is_cut_off = true;
            break;
        }
        let started = match next.take() {
            Some(life) => Ok(life),
            None => ServerLife::begin(surround).await,
        };
        let mut life = match started {
            Ok(life) => life,
            Err(failure) => {
                let mut finding =
                    Finding::error("no-session", format!("the server could not be started again: {}", failure.message));
                finding.help = failure.help;
                explored.notes.push(finding);
                break;
            }
        };
        explored.servers += 1;
        explorer.begin();
        let is_last = explored.calls + explorer.calls_of_life() >= task.calls;
        let calls = one_life(surround, task, &mut explorer, &mut life, (&mut explored, &mut known, &mut shapes));
        let found = if shares_nothing && !is_last {
            let (found, started) = tokio::join!(calls, ServerLife::begin(surround));
            // A server that does not run twice at a time is started later.
            next = started.ok();
            found
        } else {
            calls.await
        };
        let said = life.end().await;
        if task.keep_frames {
            explored.said.extend(said);
        }
        if let Some(Found { breach, steps }) = found {
            let mut facts = explored.facts.clone();
            match Box::pin(minimal(surround, steps, &mut facts, &breach.signature)).await {
                // The least that shows it may have another cause than it seemed, which is known already.
                Some((breach, _)) if explored.failures.iter().any(|known| known.breach.cause == breach.cause) => {}
                Some((breach, steps)) => {
                    known.insert(breach.cause.clone());
                    let names = steps.iter().map(|(step, _)| name_of(surround.model, step.target)).collect();
                    explored.failures.push(SequenceFailure {
                        breach,
                        steps,
                        names,
                        reproduced: Reproduced::InOrder,
                        times: 1,
                    });
                }
                None => {
                    let text = format!("{} (it did not come again on a fresh server)", breach.message);
                    explored.notes.push(Finding::note("not-reproduced", text));
                }
            }
            explored.facts.learn_instability(&facts);
        }
    }
    if let Some(next) = next {
        next.end().await;
    }
    explored
}

/// Performs a stored sequence; what fails is kept as it is.
async fn perform_stored(
    surround: &Surround<'_>,
    steps: &[Step],
    explored: &mut Explored,
    known: &mut BTreeSet<String>,
) {
    let Ok(mut life) = ServerLife::begin(surround).await else { return };
    explored.servers += 1;
    let mut judge = Judge::new(surround.model, explored.facts.clone());
    let mut replies = std::collections::BTreeMap::new();
    let mut failed = None;
    for (at, step) in steps.iter().enumerate() {
        let Some(args) = mcprove_judge::sequences::bound(step, &replies) else { break };
        let bound = Step { args, ..step.clone() };
        let (performed, breach) = life.perform_judged(&mut judge, &bound, Duration::ZERO).await;
        explored.calls += usize::from(step.target != StepTarget::Restart);
        let is_broken = performed.reply.is_broken;
        replies.insert(step.id, performed.reply);
        if let Some(breach) = breach.filter(|breach| !known.contains(&breach.cause)) {
            failed = Some((at, breach));
            break;
        }
        if is_broken {
            break;
        }
    }
    explored.facts = judge.facts;
    life.end().await;
    let Some((at, breach)) = failed else { return };
    known.insert(breach.cause.clone());
    let mut facts = explored.facts.clone();
    if let Some((breach, steps)) =
        Box::pin(minimal(surround, steps[..=at].to_vec(), &mut facts, &breach.signature)).await
    {
        let names = steps.iter().map(|(step, _)| name_of(surround.model, step.target)).collect();
        explored.failures.push(SequenceFailure { breach, steps, names, reproduced: Reproduced::InOrder, times: 1 });
    }
    explored.facts.learn_instability(&facts);
}

/// The calls of one server; ends with the first new failure.
async fn one_life(
    surround: &Surround<'_>,
    task: &Exploration<'_>,
    explorer: &mut Explorer<'_>,
    life: &mut ServerLife<'_>,
    (explored, known, shapes): (&mut Explored, &mut BTreeSet<String>, &mut BTreeSet<u64>),
) -> Option<Found> {
    let mut judge = Judge::new(surround.model, std::mem::take(&mut explored.facts));
    let mut steps: Vec<Step> = Vec::new();
    let mut is_new = false;
    let mut found = None;
    while explored.calls < task.calls && !explorer.is_life_over() && !surround.fuzz_context.is_over() {
        let Some(step) = explorer.next(&judge) else {
            // Nothing can be called.
            explored.calls = task.calls;
            break;
        };
        let (performed, breach) = life.perform_judged(&mut judge, &step, Duration::ZERO).await;
        explored.calls += usize::from(step.target != StepTarget::Restart);
        is_new |= shapes.insert(super::corpus::shape(&step, &performed.reply, performed.exchange.elapsed_us));
        if task.keep_frames && explored.records.len() < KEPT {
            let name = name_of(surround.model, step.target);
            explored.records.push(calls::record(CallRole::Probe, Some(&name), &performed.exchange));
        }
        let is_broken = performed.reply.is_broken;
        steps.push(step);
        if let Some(breach) = breach {
            if known.insert(breach.cause.clone()) {
                found = Some(Found { breach, steps: steps.clone() });
                break;
            }
            let again = explored.failures.iter_mut().find(|failure| failure.breach.cause == breach.cause);
            if let Some(failure) = again {
                failure.times += 1;
            }
        }
        if is_broken {
            break;
        }
    }
    explored.facts = judge.facts;
    if is_new && explored.corpus.len() < 1000 {
        explored.corpus.push(steps);
    }
    found
}
