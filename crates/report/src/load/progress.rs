//! The one line that shows a load while it runs.

use crate::columns::fit;
use crate::load::table::micros;

/// A moment of a load.
#[derive(Clone, Debug)]
pub struct LoadLine<'a> {
    /// Calls that were answered well.
    pub answered: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Calls that wait for their reply.
    pub open: u64,
    /// The median latency of the last second.
    pub p50_us: u64,
    /// The 99th percentile of the last second.
    pub p99_us: u64,
    /// Calls answered in each of the last seconds.
    pub history: &'a [u64],
    /// Time since the run began, in microseconds.
    pub elapsed_us: u64,
}

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

impl LoadLine<'_> {
    /// `12s · 1000/s ▁▃█ · p50 1.2 ms · p99 4.0 ms · 3 open · 0 errors`, at most `width` columns.
    pub fn line(&self, width: usize) -> String {
        let most = self.history.iter().copied().max().unwrap_or(0).max(1);
        let bar = |count: &u64| BARS[usize::try_from(count * 7 / most).unwrap_or(7).min(7)];
        let bars: String = self.history.iter().map(bar).collect();
        let rate = self.history.last().copied().unwrap_or_else(|| self.answered * 1_000_000 / self.elapsed_us.max(1));
        let (p50, p99) = (micros(self.p50_us), micros(self.p99_us));
        let seconds = self.elapsed_us / 1_000_000;
        let text = format!(
            "{seconds}s · {rate}/s {bars} · p50 {p50} · p99 {p99} · {} open · {} errors",
            self.open, self.failed
        );
        fit(&text, width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_shows_rate_percentiles_and_errors() {
        let line = LoadLine {
            answered: 3000,
            failed: 2,
            open: 5,
            p50_us: 1_200,
            p99_us: 40_000,
            history: &[0, 500, 1000],
            elapsed_us: 3_200_000,
        };
        assert_eq!(line.line(100), "3s · 1000/s ▁▄█ · p50 1.20 ms · p99 40.0 ms · 5 open · 2 errors");
        assert!(crate::columns::columns(&line.line(20)) <= 20);
    }
}
