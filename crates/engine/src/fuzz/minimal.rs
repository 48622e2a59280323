//! From a call that failed to the least that fails in the same way, on a fresh server for each attempt.
//!
//! The call alone comes first. Where that is not enough, the call before it is suspected, then all calls that the server
//! had got; if the same call again and again does, it is a matter of their number, else those that are not needed are
//! left out. What counts are attempts, not seconds, so that a run is the same on a slow machine.

use std::time::Duration;

use mcprove_judge::fuzz::{FuzzVerdict, Shrinker};
use mcprove_judge::harm::HarmGuard;
use serde_json::{Map, Value};

use super::attempt::{AttemptOutcome, TargetFailure, attempt};
use super::context::{FuzzContext, ReplyJudge};
use super::failure::Reproduction;

/// Maximum number of calls over all attempts on a failure that takes many calls.
const CALLS: usize = 20_000;

/// The least that fails, and what is wrong then.
pub(crate) struct Minimal {
    pub(crate) reproduction: Reproduction,
    pub(crate) verdict: Option<FuzzVerdict>,
    /// True if it was the call before that is to blame.
    pub(crate) is_of_the_call_before: bool,
}

/// A failure to be shrunk.
pub(crate) struct Suspect<'a> {
    pub(crate) wanted: TargetFailure,
    /// True if nothing came, rather than something wrong.
    pub(crate) is_silence: bool,
    pub(crate) arguments: &'a Value,
    /// The arguments of the calls that the server had got before.
    pub(crate) before: Vec<Value>,
    /// Guard for the inputs that may be sent.
    pub(crate) guard: &'a HarmGuard,
}

/// Makes a failure small.
pub(crate) async fn minimal(fuzz_context: &FuzzContext, reply_judge: &ReplyJudge, suspect: &Suspect<'_>) -> Minimal {
    let mut search = Search {
        fuzz_context,
        reply_judge,
        wanted: &suspect.wanted,
        guard: suspect.guard,
        left: fuzz_context.attempts,
        // Silence is waited for again and again; whether it lasts is made sure of in the end.
        wait: if suspect.is_silence { fuzz_context.short_wait() } else { fuzz_context.timeout },
        verdict: None,
        is_of_the_call_before: false,
    };
    let reproduction = match search.find(suspect).await {
        Some(reproduction) => reproduction,
        None if fuzz_context.is_over() => Reproduction::NotTried,
        None => Reproduction::Gone,
    };
    Minimal { reproduction, verdict: search.verdict, is_of_the_call_before: search.is_of_the_call_before }
}

/// Ways to make a call fail.
#[derive(Clone, Copy)]
enum Form<'a> {
    Alone,
    Repeated(usize),
    After(&'a [Value]),
}

impl<'a> Form<'a> {
    fn sequence(self, call: &'a Value) -> Vec<&'a Value> {
        match self {
            Self::Alone => vec![call],
            Self::Repeated(times) => vec![call; times],
            Self::After(before) => before.iter().chain([call]).collect(),
        }
    }
}

struct Search<'a> {
    fuzz_context: &'a FuzzContext,
    reply_judge: &'a ReplyJudge,
    wanted: &'a TargetFailure,
    guard: &'a HarmGuard,
    left: usize,
    wait: Duration,
    verdict: Option<FuzzVerdict>,
    is_of_the_call_before: bool,
}

impl Search<'_> {
    async fn find(&mut self, suspect: &Suspect<'_>) -> Option<Reproduction> {
        let call = suspect.arguments;
        if self.fails_at(&[call]).await.is_some() {
            let arguments = self.shrunk(call.clone(), Form::Alone).await;
            return Some(Reproduction::Alone { arguments });
        }
        let last = suspect.before.last()?;
        if self.wanted.is_exit && self.fails_at(&[last]).await.is_some() {
            // It answered, and went away before the next call reached it.
            self.is_of_the_call_before = true;
            let arguments = self.shrunk(last.clone(), Form::Alone).await;
            return Some(Reproduction::Alone { arguments });
        }
        let whole: Vec<&Value> = suspect.before.iter().chain([call]).collect();
        let mut again = self.fails_at(&whole).await;
        if again.is_none() {
            again = self.fails_at(&whole).await;
        }
        // It may well come sooner than it did.
        let whole = &whole[..=again?];
        let (call, before) = whole.split_last()?;
        if let Some(at) = self.fails_at(&vec![*call; whole.len()]).await {
            self.left = self.left.min(CALLS / (at + 1));
            let arguments = self.shrunk((*call).clone(), Form::Repeated(at + 1)).await;
            let times = self.fails_at(&vec![&arguments; at + 1]).await.map_or(at + 1, |at| at + 1);
            return Some(Reproduction::Repeated { arguments, times });
        }
        let before: Vec<Value> = before.iter().map(|call| (*call).clone()).collect();
        let before = self.needed(before, call).await;
        let arguments = self.shrunk((*call).clone(), Form::After(&before)).await;
        Some(Reproduction::After { before, arguments })
    }

    /// The call of a sequence that fails, if one does.
    async fn fails_at(&mut self, sequence: &[&Value]) -> Option<usize> {
        if self.left == 0 || self.fuzz_context.is_over() {
            return None;
        }
        self.left -= 1;
        match attempt(self.fuzz_context, self.reply_judge, self.wanted, sequence, self.wait).await {
            AttemptOutcome::Failed { at, verdict } => {
                self.verdict = Some(verdict);
                Some(at)
            }
            AttemptOutcome::Fine => None,
            AttemptOutcome::Impossible => {
                self.left = 0;
                None
            }
        }
    }

    /// Smaller arguments that still fail.
    async fn shrunk(&mut self, arguments: Value, form: Form<'_>) -> Value {
        let mut shrinker = Shrinker::new(arguments.clone(), self.left).guarded(self.guard.clone());
        let mut steps = vec![arguments];
        while let Some(candidate) = shrinker.next_candidate() {
            if self.left == 0 || self.fuzz_context.is_over() {
                break;
            }
            let fails = self.fails_at(&form.sequence(&candidate)).await.is_some();
            shrinker.tell(fails);
            if fails {
                steps.push(candidate);
            }
        }
        if self.wait == self.fuzz_context.timeout {
            return shrinker.best().clone();
        }
        self.lasting(steps, form).await
    }

    /// The smallest of ever smaller arguments that fails also when it is waited for as long as in the run.
    async fn lasting(&mut self, mut steps: Vec<Value>, form: Form<'_>) -> Value {
        self.wait = self.fuzz_context.timeout;
        self.left = self.left.max(8);
        let (mut low, mut high) = (0, steps.len());
        // The first is known to last; the last is looked at first, because most hangs do.
        let mut at = steps.len() - 1;
        while high - low > 1 {
            if self.fails_at(&form.sequence(&steps[at])).await.is_some() {
                low = at;
            } else {
                high = at;
            }
            at = low.midpoint(high);
        }
        steps.swap_remove(low)
    }

    /// The calls before the last one without which it does not fail.
    async fn needed(&mut self, mut before: Vec<Value>, call: &Value) -> Vec<Value> {
        let mut size = before.len().div_ceil(2);
        while size > 0 {
            let mut start = 0;
            while start < before.len() {
                let end = (start + size).min(before.len());
                let fewer: Vec<Value> = before[..start].iter().chain(&before[end..]).cloned().collect();
                let sequence: Vec<&Value> = fewer.iter().chain([call]).collect();
                if self.fails_at(&sequence).await == Some(fewer.len()) {
                    before = fewer;
                } else {
                    start = end;
                }
            }
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
        before
    }
}

/// Arguments as a step of an assertion file can hold them: absent ones are empty ones.
pub(crate) fn as_step(arguments: Value) -> Value {
    if arguments.is_object() { arguments } else { Value::Object(Map::new()) }
}
