//! A sequence on a fresh server, to see whether a failure comes again, and the search for the least that shows it.

use std::collections::BTreeMap;
use std::time::Duration;

use mcprove_judge::sequences::{Breach, Facts, Judge, Reply, SequenceShrinker, Step, StepTarget, bound};
use tokio::time::Instant;

use super::life::{ServerLife, Surround};

/// Time spent to shrink one failure.
const SHRINKING: Duration = Duration::from_secs(15);

/// Number of times that a sequence is tried as it was found.
const TRIES: usize = 2;

/// The outcome of a replay.
struct Replayed {
    /// The step that failed, and how.
    failed: Option<(usize, Breach)>,
    replies: Vec<Reply>,
    facts: Facts,
}

/// Time after which a change must be seen everywhere.
const SETTLING: Duration = Duration::from_millis(250);

/// Performs steps on a fresh server until one fails with this signature.
async fn replay(surround: &Surround<'_>, steps: &[Step], facts: &Facts, signature: &str, pause: Duration) -> Replayed {
    let mut judge = Judge::new(surround.model, facts.clone());
    let mut replayed = Replayed { failed: None, replies: Vec::new(), facts: facts.clone() };
    let Ok(mut life) = ServerLife::begin(surround).await else { return replayed };
    let mut replies: BTreeMap<u32, Reply> = BTreeMap::new();
    for (at, step) in steps.iter().enumerate() {
        let Some(args) = bound(step, &replies) else { break };
        let bound = Step { args, ..step.clone() };
        let (performed, breach) = life.perform_judged(&mut judge, &bound, pause).await;
        let found = breach.filter(|breach| breach.signature == signature);
        replayed.replies.push(performed.reply.clone());
        let is_broken = performed.reply.is_broken;
        replies.insert(step.id, performed.reply);
        if let Some(breach) = found {
            replayed.failed = Some((at, breach));
            break;
        }
        if is_broken {
            break;
        }
    }
    replayed.facts = judge.facts;
    life.end().await;
    replayed
}

/// The smallest sequence that shows a failure, with its replies; `None` if it does not come again.
pub(crate) async fn minimal(
    surround: &Surround<'_>,
    steps: Vec<Step>,
    facts: &mut Facts,
    signature: &str,
) -> Option<(Breach, Vec<(Step, Reply)>)> {
    let mut best = None;
    for _ in 0..TRIES {
        let replayed = replay(surround, &steps, facts, signature, SETTLING).await;
        facts.learn_instability(&replayed.facts);
        let (at, breach) = replayed.failed?;
        best = Some((breach, at, replayed.replies));
    }
    let (mut breach, at, mut replies) = best?;
    let mut steps = steps;
    steps.truncate(at + 1);
    let until = Instant::now() + SHRINKING;
    let mut shrinker = SequenceShrinker::new(steps, surround.fuzz_context.attempts);
    while !surround.fuzz_context.is_over()
        && Instant::now() < until
        && let Some(candidate) = shrinker.next_candidate()
    {
        // What was valid stays valid.
        if !is_as_valid(surround, shrinker.best(), &candidate) {
            shrinker.tell(None);
            continue;
        }
        let replayed = replay(surround, &candidate, facts, signature, Duration::ZERO).await;
        if replayed.facts.is_less_stable_than(facts) {
            // A reply that changes by itself explains the failure.
            facts.learn_instability(&replayed.facts);
            return None;
        }
        let failed_at = replayed.failed.as_ref().map(|(at, _)| *at);
        shrinker.tell(failed_at);
        if let Some((_, found)) = replayed.failed {
            (breach, replies) = (found, replayed.replies);
        }
    }
    let steps = shrinker.best().to_vec();
    // The least that shows it must do so when the server has had time to settle.
    let last = replay(surround, &steps, facts, signature, SETTLING).await;
    if surround.fuzz_context.is_over() {
        return Some((breach, as_sent(steps, replies)));
    }
    facts.learn_instability(&last.facts);
    (breach, replies) = (last.failed?.1, last.replies);
    Some((breach, as_sent(steps, replies)))
}

/// Steps with their replies, and in their arguments what earlier replies filled in.
fn as_sent(steps: Vec<Step>, replies: Vec<Reply>) -> Vec<(Step, Reply)> {
    let known: BTreeMap<u32, Reply> = steps.iter().map(|step| step.id).zip(replies.iter().cloned()).collect();
    let sent =
        steps.into_iter().map(|step| Step { args: bound(&step, &known).unwrap_or_else(|| step.args.clone()), ..step });
    sent.zip(replies).collect()
}

/// True if every step whose arguments were valid before still has valid ones.
fn is_as_valid(surround: &Surround<'_>, before: &[Step], after: &[Step]) -> bool {
    let changed = after.iter().filter_map(|step| {
        let old = before.iter().find(|old| old.id == step.id)?;
        (old.args != step.args).then_some((old, step))
    });
    changed.into_iter().all(|(old, new)| match new.target {
        StepTarget::Tool(at) => !surround.judges[at].accepts(&old.args) || surround.judges[at].accepts(&new.args),
        StepTarget::Resources | StepTarget::Resource | StepTarget::Restart => true,
    })
}
