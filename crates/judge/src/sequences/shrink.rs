//! Shrinks a failing sequence: fewer calls first, then simpler arguments. The caller replays each candidate.

use serde_json::Value;

use super::step::Step;
use crate::fuzz::Shrinker;

/// Attempts for the arguments of one step.
const OF_ARGUMENTS: usize = 24;

/// The search for a smaller sequence that still fails.
#[derive(Debug)]
pub struct SequenceShrinker {
    best: Vec<Step>,
    asked: Option<Vec<Step>>,
    left: usize,
    phase: Phase,
    is_smaller: bool,
    /// True if arguments became simpler since calls were left out.
    is_simpler: bool,
}

#[derive(Debug)]
enum Phase {
    /// Leave out this many calls from this one on.
    Drop {
        size: usize,
        start: usize,
    },
    /// Simplify the arguments of this step.
    Arguments {
        at: usize,
        shrinker: Option<Box<Shrinker>>,
    },
    Done,
}

impl SequenceShrinker {
    /// Begins with a sequence that fails at its last step; at most `attempts` candidates are handed out.
    pub fn new(failing: Vec<Step>, attempts: usize) -> Self {
        let size = failing.len().div_ceil(2).max(1);
        Self {
            best: failing,
            asked: None,
            left: attempts,
            phase: Phase::Drop { size, start: 0 },
            is_smaller: false,
            is_simpler: false,
        }
    }

    /// The next sequence to try; none when nothing smaller is left or all attempts are used.
    pub fn next_candidate(&mut self) -> Option<Vec<Step>> {
        while self.left > 0 {
            let candidate = match &mut self.phase {
                Phase::Done => return None,
                Phase::Drop { size, start } => {
                    // The last call is the one that shows the failure.
                    if *start + 1 >= self.best.len() {
                        if *size > 1 {
                            (*size, *start) = (size.div_ceil(2), 0);
                        } else if std::mem::take(&mut self.is_smaller) {
                            *start = 0;
                        } else {
                            self.phase = Phase::Arguments { at: 0, shrinker: None };
                        }
                        continue;
                    }
                    let end = (*start + *size).min(self.best.len() - 1);
                    let gone = *start..end;
                    *start = end;
                    without(&self.best, gone)
                }
                Phase::Arguments { at, shrinker } => {
                    let Some(step) = self.best.get(*at) else {
                        // Simpler arguments may need fewer calls: a smaller page, fewer things.
                        self.phase = if std::mem::take(&mut self.is_simpler) {
                            Phase::Drop { size: 1, start: 0 }
                        } else {
                            Phase::Done
                        };
                        continue;
                    };
                    let shrinker =
                        shrinker.get_or_insert_with(|| Box::new(Shrinker::new(step.args.clone(), OF_ARGUMENTS)));
                    let Some(args) = shrinker.next_candidate() else {
                        self.phase = Phase::Arguments { at: *at + 1, shrinker: None };
                        continue;
                    };
                    with_arguments(&self.best, *at, &args)
                }
            };
            let Some(candidate) = candidate else {
                self.hear(false);
                continue;
            };
            self.left -= 1;
            self.asked = Some(candidate.clone());
            return Some(candidate);
        }
        None
    }

    /// Takes the result of the last candidate. A sequence that fails before its end is cut there.
    pub fn tell(&mut self, failed_at: Option<usize>) {
        let Some(mut candidate) = self.asked.take() else { return };
        if let Some(at) = failed_at {
            candidate.truncate(at + 1);
            if let Phase::Drop { start, .. } = &mut self.phase {
                let removed = self.best.len() - candidate.len();
                *start = start.saturating_sub(removed);
                self.is_smaller = true;
            }
            self.is_simpler |= matches!(self.phase, Phase::Arguments { .. });
            self.best = candidate;
        }
        self.hear(failed_at.is_some());
    }

    fn hear(&mut self, did: bool) {
        if let Phase::Arguments { shrinker: Some(shrinker), .. } = &mut self.phase {
            shrinker.tell(did);
        }
    }

    /// The smallest sequence known to fail.
    pub fn best(&self) -> &[Step] {
        &self.best
    }
}

/// The sequence without some calls, and without those that take values from their replies.
fn without(steps: &[Step], gone: std::ops::Range<usize>) -> Option<Vec<Step>> {
    let mut removed: Vec<u32> = steps[gone].iter().map(|step| step.id).collect();
    let mut left = Vec::new();
    for step in steps.iter().filter(|step| !removed.contains(&step.id)).cloned().collect::<Vec<_>>() {
        if step.binds.iter().any(|bind| removed.contains(&bind.step)) {
            removed.push(step.id);
        } else {
            left.push(step);
        }
    }
    let keeps_last = left.last().map(|step| step.id) == steps.last().map(|step| step.id);
    (keeps_last && left.len() < steps.len()).then_some(left)
}

/// The sequence with other arguments in one step, and the same value wherever it was used.
fn with_arguments(steps: &[Step], at: usize, args: &Value) -> Option<Vec<Step>> {
    let mut changed = steps.to_vec();
    let step = changed.get_mut(at)?;
    // A place that an earlier reply fills must stay.
    if step.binds.iter().any(|bind| args.pointer(&bind.at).is_none()) {
        return None;
    }
    let mut args = args.clone();
    for bind in &step.binds {
        if let (Some(filled), Some(old)) = (args.pointer_mut(&bind.at), step.args.pointer(&bind.at)) {
            *filled = old.clone();
        }
    }
    if args == step.args {
        return None;
    }
    step.args = args;
    Some(changed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::step::{Bind, StepTarget};
    use super::*;

    fn step(id: u32, tool: usize, binds: Vec<Bind>) -> Step {
        Step { id, target: StepTarget::Tool(tool), args: json!({"text": format!("word{id}")}), binds }
    }

    #[test]
    fn only_the_calls_that_matter_are_left() {
        // The failure takes a call of tool 3, then one of tool 7, then the last one.
        let mut steps: Vec<Step> = (0..40).map(|id| step(id, (id % 11) as usize, Vec::new())).collect();
        steps.push(step(40, 20, vec![Bind { at: "/text".to_owned(), step: 3, path: "/id".to_owned() }]));
        let fails = |steps: &[Step]| {
            let at = |tool| steps.iter().position(|step| step.target == StepTarget::Tool(tool));
            match (at(3), at(7), at(20)) {
                (Some(three), Some(seven), Some(last)) if three < seven && seven < last => Some(last),
                _ => None,
            }
        };
        let mut shrinker = SequenceShrinker::new(steps, 400);
        while let Some(candidate) = shrinker.next_candidate() {
            shrinker.tell(fails(&candidate));
        }
        let left: Vec<u32> = shrinker.best().iter().map(|step| step.id).collect();
        assert_eq!(left.len(), 3, "{left:?}");
        assert_eq!(left[0], 3, "the call that the last one takes a value from stays");
        assert_eq!(shrinker.best()[0].args, json!({}));
    }
}
