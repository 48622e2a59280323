//! Two clients at once: the replies, and what can be read afterwards, must be those of some order of the calls.
//!
//! The server itself is the model: every legal order is performed one call after the other on a fresh server, and what
//! concurrent calls give must be among the results.

use std::collections::BTreeMap;
use std::time::Duration;

use mcprove_judge::sequences::{
    Breach, Expected, Explorer, Facts, Judge, Order, Programs, Reply, Step, StepTarget, Surroundings, bound,
    legal_orders, programs, same_history,
};
use serde_json::json;
use tokio::time::Instant;

use super::failure::{Reproduced, SequenceFailure, name_of};
use super::life::{ServerLife, Surround};

/// Number of times that concurrent calls are made before they are taken for harmless.
const TRIES: usize = 10;

/// Time for all of this.
const TIME: Duration = Duration::from_secs(20);

/// Distinct failures after which the work ends.
const FAILURES: usize = 3;

/// The result of the work.
#[derive(Default)]
pub(crate) struct Interleaved {
    pub(crate) failures: Vec<SequenceFailure>,
    /// Pairs of calls that were tried, and pairs whose results differ from run to run.
    pub(crate) pairs: usize,
    pub(crate) unsteady: usize,
}

/// Connections of two clients to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clients {
    /// Two calls that are open at once on one session.
    OneSession,
    /// A session for each.
    TwoSessions,
}

/// Tries pairs of calls at once.
pub(crate) async fn interleave(surround: &Surround<'_>, seed: u64, around: &Surroundings) -> Interleaved {
    let mut result = Interleaved::default();
    let until = Instant::now() + TIME;
    let mut explorer = Explorer::new(surround.model, seed, around, false);
    for family in 0..surround.model.families.len() {
        for programs in prepared(surround, &mut explorer, family).await {
            if surround.fuzz_context.is_over() || Instant::now() >= until || result.failures.len() >= FAILURES {
                return result;
            }
            result.pairs += 1;
            match Box::pin(tried(surround, &programs)).await {
                Tried::Fine => {}
                Tried::Unsteady => result.unsteady += 1,
                Tried::Failed(failure) => {
                    let is_known =
                        result.failures.iter().any(|known| known.breach.signature == failure.breach.signature);
                    if !is_known {
                        result.failures.push(*failure);
                    }
                }
            }
        }
    }
    result
}

/// The pairs of calls on a thing of a family, made on a fresh server.
async fn prepared(surround: &Surround<'_>, explorer: &mut Explorer<'_>, family: usize) -> Vec<Programs> {
    let Ok(mut life) = ServerLife::begin(surround).await else { return Vec::new() };
    let mut judge = Judge::new(surround.model, Facts::default());
    let mut before = Vec::new();
    if let Some(step) = explorer.creation(family, &judge) {
        let performed = life.perform(&step, &step.args).await;
        judge.take(&step, &performed.reply);
        if performed.reply.is_fine {
            before.push(step);
        }
    }
    life.end().await;
    programs(surround.model, &judge, explorer, family, &before)
}

enum Tried {
    Fine,
    Unsteady,
    Failed(Box<SequenceFailure>),
}

async fn tried(surround: &Surround<'_>, programs: &Programs) -> Tried {
    let lengths: Vec<usize> = programs.clients.iter().map(Vec::len).collect();
    let mut legal: Vec<Vec<Reply>> = Vec::new();
    for (number, order) in legal_orders(&lengths).into_iter().enumerate() {
        let Some(history) = in_order(surround, programs, &order).await else { return Tried::Unsteady };
        // A server whose replies differ from run to run proves nothing.
        if number == 0 {
            let again = in_order(surround, programs, &order).await;
            if !again.is_some_and(|again| same_history(&again, &history)) {
                return Tried::Unsteady;
            }
        }
        legal.push(history);
    }
    let mut modes = vec![Clients::OneSession];
    // A second process shares nothing with the first unless its data is in the copy of the fixture.
    if shares_data(surround, programs, &legal).await {
        modes.push(Clients::TwoSessions);
    }
    for mode in modes {
        for _ in 0..TRIES {
            if surround.fuzz_context.is_over() {
                return Tried::Fine;
            }
            let Some(history) = Box::pin(at_once(surround, programs, mode)).await else { continue };
            if !legal.iter().any(|legal| same_history(legal, &history)) {
                let again = Box::pin(comes_again(surround, programs, mode, &legal)).await;
                if again {
                    return Tried::Failed(Box::new(failure(surround, programs, &legal, &history)));
                }
            }
        }
    }
    Tried::Fine
}

/// True if two sessions see what the other one changes: when each client has its own and waits for the other, whichever comes
/// first, the replies are those of one server.
async fn shares_data(surround: &Surround<'_>, programs: &Programs, legal: &[Vec<Reply>]) -> bool {
    for first in [0, 1] {
        let apart = one_after_the_other(surround, programs, first).await;
        if !apart.is_some_and(|apart| legal.iter().any(|legal| same_history(legal, &apart))) {
            return false;
        }
    }
    true
}

/// The replies when each client has a session of its own and waits for the other.
async fn one_after_the_other(surround: &Surround<'_>, programs: &Programs, first: usize) -> Option<Vec<Reply>> {
    let mut life = ServerLife::begin(surround).await.ok()?;
    let mut replies = BTreeMap::new();
    for step in &programs.before {
        let args = bound(step, &replies)?;
        replies.insert(step.id, life.perform(step, &args).await.reply);
    }
    // The second begins with what is there, as it does when both are open at once.
    let mut second = life.another().await.ok()?;
    for client in [first, 1 - first] {
        for step in &programs.clients[client] {
            let args = bound(step, &replies)?;
            let own = if client == 0 { &mut life } else { &mut second };
            replies.insert(step.id, own.perform(step, &args).await.reply);
        }
    }
    for step in &programs.after {
        let args = bound(step, &replies)?;
        replies.insert(step.id, life.perform(step, &args).await.reply);
    }
    second.end().await;
    life.end().await;
    history(programs, &replies)
}

async fn comes_again(surround: &Surround<'_>, programs: &Programs, mode: Clients, legal: &[Vec<Reply>]) -> bool {
    for _ in 0..TRIES {
        let history = Box::pin(at_once(surround, programs, mode)).await;
        if history.is_some_and(|history| !legal.iter().any(|legal| same_history(legal, &history))) {
            return true;
        }
    }
    false
}

/// The replies in the order of the programs, whatever the order of the calls.
async fn in_order(surround: &Surround<'_>, programs: &Programs, order: &Order) -> Option<Vec<Reply>> {
    let mut life = ServerLife::begin(surround).await.ok()?;
    let mut replies = BTreeMap::new();
    let mut next = vec![0; programs.clients.len()];
    let mut steps: Vec<&Step> = programs.before.iter().collect();
    for client in order {
        steps.push(programs.clients.get(*client)?.get(next[*client])?);
        next[*client] += 1;
    }
    steps.extend(&programs.after);
    for step in steps {
        let args = bound(step, &replies)?;
        let performed = life.perform(step, &args).await;
        if performed.reply.is_broken || performed.reply.is_refusal {
            life.end().await;
            return None;
        }
        replies.insert(step.id, performed.reply);
    }
    life.end().await;
    history(programs, &replies)
}

/// The replies of a run, in the order of the programs; none if the server refused a call for now.
fn history(programs: &Programs, replies: &BTreeMap<u32, Reply>) -> Option<Vec<Reply>> {
    let judged = programs.clients.iter().flatten().chain(&programs.after);
    judged.map(|step| replies.get(&step.id).filter(|reply| !reply.is_refusal).cloned()).collect()
}

/// The replies when the first calls of the clients are open at once.
async fn at_once(surround: &Surround<'_>, programs: &Programs, mode: Clients) -> Option<Vec<Reply>> {
    let mut life = ServerLife::begin(surround).await.ok()?;
    let mut replies = BTreeMap::new();
    for step in &programs.before {
        let args = bound(step, &replies)?;
        let performed = life.perform(step, &args).await;
        replies.insert(step.id, performed.reply);
    }
    let firsts: Vec<&Step> = programs.clients.iter().filter_map(|client| client.first()).collect();
    let [one, other] = firsts.as_slice() else { return None };
    let (args_one, args_other) = (bound(one, &replies)?, bound(other, &replies)?);
    let deadline = Instant::now() + surround.fuzz_context.timeout;
    match mode {
        Clients::OneSession => {
            let (filled_one, filled_other) = (life.filled(&args_one), life.filled(&args_other));
            let session = life.session.as_mut()?;
            let (StepTarget::Tool(at_one), StepTarget::Tool(at_other)) = (one.target, other.target) else {
                return None;
            };
            let first = session.start_call(&surround.model.tools[at_one].name, &filled_one);
            let second = session.start_call(&surround.model.tools[at_other].name, &filled_other);
            let reply_one = session.finish(first, deadline).await;
            let reply_other = session.finish(second, deadline).await;
            surround.fuzz_context.count_calls(2);
            let performed = life.judged(one, &filled_one, reply_one).await;
            replies.insert(one.id, performed.reply);
            let performed = life.judged(other, &filled_other, reply_other).await;
            replies.insert(other.id, performed.reply);
        }
        Clients::TwoSessions => {
            let mut second = life.another().await.ok()?;
            let (first_done, second_done) =
                tokio::join!(life.perform(one, &args_one), second.perform(other, &args_other));
            replies.insert(one.id, first_done.reply);
            replies.insert(other.id, second_done.reply);
            second.end().await;
        }
    }
    for step in &programs.after {
        let args = bound(step, &replies)?;
        let performed = life.perform(step, &args).await;
        replies.insert(step.id, performed.reply);
    }
    life.end().await;
    history(programs, &replies)
}

/// The failure, with only those of the later calls that show it.
fn failure(surround: &Surround<'_>, programs: &Programs, legal: &[Vec<Reply>], seen: &[Reply]) -> SequenceFailure {
    let calls: Vec<&Step> = programs.clients.iter().flatten().collect();
    let is_wrong = |at: usize| !legal.iter().any(|legal| legal[at].text == seen[at].text);
    // One reply that no order gives says it all; otherwise it takes all of them together.
    let telling: Vec<usize> = match (0..seen.len()).rev().find(|at| is_wrong(*at)) {
        Some(at) => vec![at],
        None => (calls.len()..seen.len()).collect(),
    };
    let from = programs.before.len();
    let mut steps: Vec<(Step, Reply)> = programs.before.iter().map(|step| (step.clone(), Reply::restarted())).collect();
    for (at, (step, reply)) in calls.iter().copied().chain(&programs.after).zip(seen).enumerate() {
        if at < calls.len() || telling.contains(&at) {
            steps.push((step.clone(), reply.clone()));
        }
    }
    let names: Vec<String> = steps.iter().map(|(step, _)| name_of(surround.model, step.target)).collect();
    let (one, other) = (&names[from], &names[from + 1]);
    let expected = match telling.as_slice() {
        [at] if legal.iter().all(|history| history[*at].text == legal[0][*at].text) => {
            Expected::Checks(json!({"equals": legal[0][*at].text}))
        }
        _ => Expected::Unsaid,
    };
    let mut signature = [one.clone(), other.clone()];
    signature.sort();
    let breach = Breach {
        rule: "no-legal-order".to_owned(),
        message: format!("`{one}` and `{other}` at once: no order of the two calls gives these replies"),
        signature: format!("no-legal-order {}", signature.join(" ")),
        cause: format!("no-legal-order {}", signature.join(" ")),
        expected,
    };
    let until = from + calls.len();
    SequenceFailure { breach, steps, names, reproduced: Reproduced::AtOnce { from, until }, times: 1 }
}
