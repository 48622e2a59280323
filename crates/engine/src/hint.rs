//! Hints that would have made a run faster.

use std::time::Duration;

use mcprove_model::{Act, CaseFinished, Isolation, Plan, Target};

use crate::lanes::{Lane, lanes};
use crate::run::RunOptions;

/// Runs shorter than this are not worth a hint, nor is what saves less than a fifth of one.
const WORTHWHILE: Duration = Duration::from_secs(5);
const SHARE_LEFT: f64 = 0.8;

/// Time of a run that could be saved.
#[derive(Debug, Default)]
pub(crate) struct Spent {
    /// Duration of each case, in the order of the plan.
    durations: Vec<(usize, Duration)>,
    /// Number of servers started.
    started: u32,
    /// Total time of these starts until the first answer.
    starting: Duration,
}

impl Spent {
    pub(crate) fn add(&mut self, finished: &CaseFinished) {
        self.durations.push((finished.index, Duration::from_micros(finished.duration_us)));
        if finished.timings.start > 0 {
            self.started += 1;
            self.starting += Duration::from_micros(finished.timings.start + finished.timings.handshake);
        }
    }

    fn duration(&self, index: usize) -> Option<Duration> {
        let at = self.durations.binary_search_by_key(&index, |(index, _)| *index).ok()?;
        Some(self.durations[at].1)
    }
}

/// Says what would have saved most of the time a run took, if anything would.
pub(crate) fn hint(plan: &Plan, options: &RunOptions, spent: &Spent, took: Duration) -> Option<String> {
    let is_scan = plan.cases.iter().any(|planned| matches!(planned.case.act, Act::Scan(_)));
    if took < WORTHWHILE || is_scan {
        return None;
    }
    // Cases that share a server run one after the other, whatever the number of jobs.
    let lane_took = |lane: &Lane| lane.cases.iter().filter_map(|planned| spent.duration(planned.index)).sum();
    let side_by_side = (options.jobs == 1 && options.cores > 1).then(|| {
        let durations: Vec<_> = lanes(plan, options.isolation, options.cores).iter().map(lane_took).collect();
        parallel_hint(&durations, options.cores, took)
    });
    let shared = (spent.started > 1).then(|| {
        let needed = |isolation| servers(&lanes(plan, Some(isolation), options.jobs));
        let needed = [("file", needed(Isolation::File)), ("run", needed(Isolation::Run))];
        sharing_hint(&Sharing { cases: spent.durations.len(), spent, jobs: options.jobs, took, needed })
    });
    let hints = [side_by_side.flatten(), shared.flatten()];
    hints.into_iter().flatten().max_by_key(|hint| hint.saves).map(|hint| hint.text)
}

/// Number of servers that these lanes start.
fn servers(lanes: &[Lane]) -> u32 {
    let is_process = |lane: &&Lane| {
        let first = lane.cases.first().and_then(|planned| planned.case.server.as_ref());
        first.is_some_and(|server| matches!(server.target, Target::Stdio { .. }))
    };
    u32::try_from(lanes.iter().filter(is_process).count()).unwrap_or(u32::MAX)
}

#[derive(Debug)]
struct Hint {
    saves: Duration,
    text: String,
}

/// Says what `--jobs auto` would have done for a run that went one case after the other; `durations` are of cases, or of
/// several that share a server. A prestarted server counts in the time of its case, and starts during that of another.
fn parallel_hint(durations: &[Duration], cores: usize, took: Duration) -> Option<Hint> {
    let total: Duration = durations.iter().sum();
    let longest = durations.iter().max().copied()?;
    let side_by_side = longest.max(total / u32::try_from(cores.min(durations.len())).unwrap_or(u32::MAX));
    let now = total.min(took);
    if side_by_side > now.mul_f64(SHARE_LEFT) {
        return None;
    }
    let text = format!(
        "with `--jobs auto` ({cores} at a time) this would take about {:.1} s instead of {:.1} s",
        side_by_side.as_secs_f64(),
        now.as_secs_f64()
    );
    Some(Hint { saves: now.saturating_sub(side_by_side), text })
}

struct Sharing<'a> {
    cases: usize,
    spent: &'a Spent,
    jobs: usize,
    took: Duration,
    /// Number of servers needed, by isolation, strictest first.
    needed: [(&'static str, u32); 2],
}

/// Says what fewer servers would have saved. Where cases of a file can share one, nothing is said of sharing more.
fn sharing_hint(sharing: &Sharing<'_>) -> Option<Hint> {
    let Sharing { cases, spent, jobs, took, needed } = sharing;
    // Servers that start concurrently take the time of one.
    let starting = (spent.starting / u32::try_from(*jobs).unwrap_or(u32::MAX)).min(*took);
    let saves = |needed: u32| starting.mul_f64(1.0 - f64::from(needed) / f64::from(spent.started));
    let is_enough = |(_, count): &&(&str, u32)| {
        *count > 0 && *count < spent.started && took.saturating_sub(saves(*count)) <= took.mul_f64(SHARE_LEFT)
    };
    let (isolation, count) = needed.iter().find(is_enough)?;
    let (started, starting, took) = (spent.started, starting.as_secs_f64(), took.as_secs_f64());
    let text = format!(
        "{started} servers were started for {cases} cases, {starting:.1} s of {took:.1} s; with `--isolation {isolation}` it \
         would be {count}, if cases can share one"
    );
    Some(Hint { saves: saves(*count), text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(list: &[u64]) -> Vec<Duration> {
        list.iter().map(|s| Duration::from_secs(*s)).collect()
    }

    #[test]
    fn side_by_side_is_said_only_when_it_would_help() {
        let long = Duration::from_mins(1);
        let hint = parallel_hint(&secs(&[2, 2, 2, 2]), 2, long).expect("it would help");
        assert!(hint.text.contains("about 4.0 s instead of 8.0 s"), "{hint:?}");
        assert!(parallel_hint(&secs(&[8, 1]), 2, long).is_none());
        assert!(parallel_hint(&secs(&[2]), 2, long).is_none());
        assert!(parallel_hint(&[], 2, long).is_none());
        assert!(parallel_hint(&secs(&[2, 2, 2, 2]), 2, Duration::from_secs(4)).is_none(), "prestarted servers");
    }

    fn shared(started: u32, starting: u64, jobs: usize, needed: [u32; 2]) -> Option<String> {
        let spent = Spent { started, starting: Duration::from_millis(starting), ..Spent::default() };
        let needed = [("file", needed[0]), ("run", needed[1])];
        let took = Duration::from_millis(3_400);
        sharing_hint(&Sharing { cases: 200, spent: &spent, jobs, took, needed }).map(|hint| hint.text)
    }

    #[test]
    fn sharing_is_said_with_what_it_would_save() {
        assert_eq!(
            shared(200, 6_200, 2, [1, 1]).as_deref(),
            Some(
                "200 servers were started for 200 cases, 3.1 s of 3.4 s; with `--isolation file` it would be 1, if cases \
                 can share one"
            )
        );
        let of_all = shared(200, 3_100, 1, [200, 1]).expect("files have a case each");
        assert!(of_all.contains("with `--isolation run` it would be 1"), "{of_all}");
    }

    #[test]
    fn sharing_is_not_said_where_it_would_save_little() {
        assert_eq!(shared(200, 400, 1, [1, 1]), None, "starting took little");
        assert_eq!(shared(200, 3_100, 1, [200, 190]), None, "they cannot share much");
        assert_eq!(shared(2, 3_100, 1, [0, 0]), None, "none is a process of ours");
    }
}
