//! Several calls open at once: does each get its own answer?
//!
//! A reply under load is compared with the one that the same call got when it was alone. Only a reply that is exactly
//! another call's is a mix-up, and only if both calls, alone and several times, are answered as they were before: a tool
//! that answers differently each time is never blamed.

use std::time::Duration;

use mcprove_judge::fuzz::{Evidence, FuzzVerdict};
use mcprove_model::{Exchange, Finding, Outcome, text_of_tool_result};
use mcprove_wire::{Closing, Session};
use serde_json::Value;
use tokio::time::Instant;

use super::connection::FuzzConnection;
use super::context::{Called, FuzzContext, ReplyJudge};
use super::failure::{Failure, Reproduction};
use super::minimal::as_step;

/// Number of concurrent calls.
const AT_ONCE: usize = 8;

/// Number of times calls are repeated, alone, before a failure is attributed to concurrency.
const AGAIN: usize = 3;

/// Oddities of a session that break the protocol when they come with the answers to calls.
const BROKEN: &[&str] = &["duplicate-reply", "malformed-message", "unknown-id"];

/// A call and the answer it got when it was alone.
#[derive(Clone, Debug)]
pub(crate) struct Answered {
    pub(crate) arguments: Value,
    pub(crate) result: Value,
    pub(crate) elapsed_us: u64,
}

/// Keeps an answer for later if it differs from those that are kept; few are enough.
pub(crate) fn remember(known: &mut Vec<Answered>, arguments: &Value, result: &Value, elapsed_us: u64) {
    if known.len() < AT_ONCE && arguments.is_object() && !known.iter().any(|known| known.result == *result) {
        known.push(Answered { arguments: arguments.clone(), result: result.clone(), elapsed_us });
    }
}

/// Opens calls at once on the line's server and says what went wrong.
pub(crate) async fn under_load(
    fuzz_context: &FuzzContext,
    reply_judge: &ReplyJudge,
    known: &[Answered],
    line: &mut FuzzConnection<'_>,
) -> Option<Failure> {
    let total = Duration::from_micros(known.iter().map(|known| known.elapsed_us).sum());
    // Calls that a server works off one after the other must still be answered in time.
    if known.len() < 2 || total > fuzz_context.timeout / 2 || fuzz_context.is_over() {
        return None;
    }
    let all: Vec<&Answered> = known.iter().collect();
    let session = line.session().await.ok()?;
    let (mixed, closing) = burst(fuzz_context, reply_judge, session, &all).await;
    line.keep(closing);
    let mixed = mixed?;
    line.end().await;
    if fuzz_context.is_over() {
        return Some(failure(reply_judge, &mixed, &all, false));
    }
    // The two that were exchanged, in either order, before all of them.
    let (one, other) = (all[mixed.call], mixed.answered_as.map_or(all[usize::from(mixed.call == 0)], |at| all[at]));
    for set in [vec![one, other], vec![other, one], all.clone()] {
        let Ok(mut fresh) = fuzz_context.open().await else { continue };
        let (again, _) = burst(fuzz_context, reply_judge, &mut fresh, &set).await;
        fresh.close().await;
        if let Some(again) = again {
            return Some(failure(reply_judge, &again, &set, true));
        }
    }
    Some(failure(reply_judge, &mixed, &all, false))
}

/// Calls that were in flight together, and what was wrong with one of them that is not wrong when it is alone.
pub(crate) struct Flight<'f> {
    pub(crate) calls: &'f [Value],
    /// The call that it is about.
    pub(crate) at: usize,
    /// A call that is known to be answered when it is alone.
    pub(crate) plain: Option<&'f Value>,
    pub(crate) verdict: FuzzVerdict,
    pub(crate) is_exit: bool,
}

/// A failure that needs concurrent calls, and the smallest number of them that causes it.
pub(crate) async fn at_once(fuzz_context: &FuzzContext, reply_judge: &ReplyJudge, flight: Flight<'_>) -> Failure {
    let Flight { calls, at, plain, verdict, is_exit } = flight;
    let again = async |calls: &[Value]| goes_wrong(fuzz_context, reply_judge, calls, &verdict, is_exit).await;
    let mut least: Option<Vec<Value>> = None;
    // So many of the plainest call, then of the call itself, then all as they were.
    for call in plain.into_iter().chain([&calls[at]]) {
        let mut count = calls.len();
        while count > 1 && again(&vec![call.clone(); count]).await {
            least = Some(vec![as_step(call.clone()); count]);
            count /= 2;
        }
        if least.is_some() {
            break;
        }
    }
    if least.is_none() && again(calls).await {
        let others = calls.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, other)| other);
        least = Some([&calls[at]].into_iter().chain(others).cloned().map(as_step).collect());
    }
    let reproduction = match least {
        Some(mut beside) => Reproduction::Together { arguments: beside.remove(0), beside, alone: None },
        None => Reproduction::Gone,
    };
    Failure {
        tool: reply_judge.name.clone(),
        verdict: if is_exit { under(&verdict, calls.len()) } else { verdict },
        label: format!("{} calls at once", calls.len()),
        original: calls[at].clone(),
        is_left_out: false,
        reproduction,
        times: 1,
        elapsed_us: 0,
        stderr: String::new(),
        fails: true,
    }
}

/// True if calls that are sent together go wrong in the same way again.
async fn goes_wrong(
    fuzz_context: &FuzzContext,
    reply_judge: &ReplyJudge,
    calls: &[Value],
    verdict: &FuzzVerdict,
    is_exit: bool,
) -> bool {
    let Ok(mut session) = fuzz_context.open().await else { return false };
    let texts: Vec<String> = calls.iter().map(Value::to_string).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let answers = session.call_together(&reply_judge.name, &texts, fuzz_context.timeout).await;
    fuzz_context.count_calls(texts.len());
    let is_gone = session.how_it_closed().is_some();
    session.close().await;
    let is_same = |(arguments, exchange): (&Value, Option<Exchange>)| {
        let called = exchange.map(|exchange| Called::ended(exchange.outcome));
        let again = called.map(|called| reply_judge.verdict(&called, arguments, reply_judge.accepts(arguments)));
        again.is_some_and(|again| reply_judge.signature(&again) == reply_judge.signature(verdict))
    };
    if is_exit { is_gone } else { calls.iter().zip(answers).any(is_same) }
}

/// A verdict about a server that went away, with what it was busy with.
fn under(verdict: &FuzzVerdict, calls: usize) -> FuzzVerdict {
    let what = verdict.evidence().map(|evidence| evidence.message.as_str()).unwrap_or_default();
    FuzzVerdict::Crash(Evidence::new(&format!("{what} while {calls} calls were open")))
}

/// A call that was answered wrongly under load.
struct Mixed {
    call: usize,
    /// Whose answer it was, where it was another's.
    answered_as: Option<usize>,
    verdict: FuzzVerdict,
    elapsed_us: u64,
}

/// Opens calls at once; says what went wrong, and what was said until then.
async fn burst(
    fuzz_context: &FuzzContext,
    reply_judge: &ReplyJudge,
    session: &mut Session,
    set: &[&Answered],
) -> (Option<Mixed>, Closing) {
    let deadline = Instant::now() + fuzz_context.timeout;
    session.learn_schemas(deadline).await;
    let ids: Vec<u64> = set
        .iter()
        .map(|known| {
            let params = session.tool_params(&reply_judge.name, &known.arguments);
            session.start("tools/call", &params)
        })
        .collect();
    let mut seen = Vec::new();
    for id in ids {
        seen.push(session.finish(id, deadline).await);
        fuzz_context.count_calls(1);
    }
    let closing = session.drain();
    (mixed(fuzz_context, reply_judge, session, set, (&seen, &closing.oddities)).await, closing)
}

/// The first call that was answered wrongly.
async fn mixed(
    fuzz_context: &FuzzContext,
    reply_judge: &ReplyJudge,
    session: &mut Session,
    set: &[&Answered],
    (seen, odd): (&[Exchange], &[Finding]),
) -> Option<Mixed> {
    let wrong = |call: usize, answered_as, verdict| {
        let elapsed_us = seen[call].elapsed_us;
        Some(Mixed { call, answered_as, verdict, elapsed_us })
    };
    for (call, exchange) in seen.iter().enumerate() {
        match &exchange.outcome {
            Outcome::Closed { what, .. } => {
                let crash = FuzzVerdict::Crash(Evidence::new(what));
                return wrong(call, None, under(&crash, set.len()));
            }
            Outcome::Malformed(malformed) => {
                return wrong(call, None, FuzzVerdict::Protocol(Evidence::new(&malformed.fault)));
            }
            Outcome::Result(_)
            | Outcome::Error(_)
            | Outcome::Refused(_)
            | Outcome::TimedOut { .. }
            | Outcome::Cancelled => {}
        }
    }
    if let Some(odd) = odd.iter().find(|odd| BROKEN.contains(&odd.rule.as_ref())) {
        let evidence = Evidence::new(&format!("{} while {} calls were open", odd.message, set.len()));
        return wrong(0, None, FuzzVerdict::Protocol(evidence));
    }
    let exchanged = seen.iter().enumerate().find_map(|(call, exchange)| {
        let Outcome::Result(result) = &exchange.outcome else { return None };
        let other = set.iter().position(|known| known.result == *result)?;
        (other != call).then_some((call, other))
    });
    let (call, other) = exchanged?;
    for known in [set[call], set[other]].into_iter().cycle().take(2 * AGAIN) {
        let again = session.call_tool(&reply_judge.name, &known.arguments, Instant::now() + fuzz_context.timeout).await;
        fuzz_context.count_calls(1);
        if again.outcome != Outcome::Result(known.result.clone()) {
            return None;
        }
    }
    let evidence = Evidence::new("a call got the answer to another that was open at the same time");
    wrong(call, Some(other), FuzzVerdict::Protocol(evidence))
}

fn failure(reply_judge: &ReplyJudge, mixed: &Mixed, set: &[&Answered], came_again: bool) -> Failure {
    let call = set[mixed.call];
    let others = set.iter().enumerate().filter(|(at, _)| *at != mixed.call).map(|(_, other)| other.arguments.clone());
    let text = text_of_tool_result(&call.result);
    let reproduction = if came_again {
        Reproduction::Together {
            arguments: call.arguments.clone(),
            beside: others.collect(),
            alone: mixed.answered_as.map(|_| text),
        }
    } else {
        Reproduction::Gone
    };
    Failure {
        tool: reply_judge.name.clone(),
        verdict: mixed.verdict.clone(),
        label: format!("{} calls at once", set.len()),
        original: call.arguments.clone(),
        is_left_out: false,
        reproduction,
        times: 1,
        elapsed_us: mixed.elapsed_us,
        stderr: String::new(),
        fails: true,
    }
}
