//! Where the time of a run went: the sum over its cases.

use mcprove_model::{CaseFinished, Connected, Report, Timings};
use serde::Serialize;

use crate::duration;

/// Runs shorter than this have nothing to save, and say where their time went only when asked.
const WORTHWHILE_US: u64 = 10_000_000;

/// The time of all cases. Concurrent cases take more of it than the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Times {
    /// Number of server processes started.
    servers_started: usize,
    #[serde(flatten)]
    parts: Timings,
}

impl Times {
    /// The time of all cases of a report; `None` when nothing is known of it.
    pub(crate) fn of(report: &Report) -> Option<Self> {
        let mut times = Self::default();
        for case in &report.cases {
            if let Some(finished) = &case.finished {
                times.add(finished, &case.sessions);
            }
        }
        (times.total() > 0).then_some(times)
    }

    /// Takes in one more case and the sessions it had.
    pub(crate) fn add(&mut self, finished: &CaseFinished, sessions: &[Connected]) {
        self.parts.add(&finished.timings);
        if finished.timings.start > 0 {
            self.servers_started += sessions.iter().filter(|session| session.transport == "stdio").count();
        }
    }

    /// The time in words, largest parts only; nothing when none of it is known.
    pub(crate) fn text(&self) -> Option<String> {
        let total = self.total();
        let told = |(_, us): &(&str, u64)| *us > 0 && us.saturating_mul(100) >= total;
        let parts: Vec<_> =
            self.parts.parts().into_iter().filter(told).map(|(name, us)| self.part_text(name, us)).collect();
        (total > 0).then(|| format!("{} in all cases: {}", duration::human(total), parts.join(", ")))
    }

    fn part_text(&self, name: &str, us: u64) -> String {
        let time = duration::human(us);
        match (name, self.servers_started) {
            ("start", 1) => format!("{name} {time} (1 server)"),
            ("start", servers @ 2..) => format!("{name} {time} ({servers} servers)"),
            (_, _) => format!("{name} {time}"),
        }
    }

    fn total(&self) -> u64 {
        self.parts.parts().into_iter().fold(0, |sum, (_, us)| sum.saturating_add(us))
    }
}

/// True if a run took long enough that people ask what it did.
pub(crate) fn is_long(duration_us: u64) -> bool {
    duration_us >= WORTHWHILE_US
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_parts_are_left_out() {
        let parts = Timings { start: 400_000, handshake: 2_600_000, call: 40_000, checks: 3, ..Timings::default() };
        let times = Times { servers_started: 200, parts };
        assert_eq!(
            times.text().as_deref(),
            Some("3.0s in all cases: start 400ms (200 servers), handshake 2.6s, call 40ms")
        );
        assert_eq!(Times::default().text(), None);
    }
}
