//! The one line that says how far a run is; the caller writes it, and over it.

use std::fmt::Write as _;

use crate::columns::{columns, fit};
use crate::{duration, escape};

/// Progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Cases that ended.
    pub done: usize,
    /// Cases of the plan.
    pub total: usize,
    /// The case that began last.
    pub name: &'a str,
    /// Cases under way.
    pub running: usize,
    /// Cases that passed so far.
    pub passed: usize,
    /// Cases that failed or could not run so far.
    pub failed: usize,
    /// Time since the run began, in microseconds.
    pub elapsed_us: u64,
}

impl Progress<'_> {
    /// `[3/21] 2 passed, 1 failed · name · 2 running · 1.2s, about 5.0s left`, at most `width` columns; the name gives way
    /// first.
    pub fn line(&self, width: usize) -> String {
        let mut head = format!("[{}/{}] ", self.done, self.total);
        if self.passed + self.failed > 0 {
            let failed = if self.failed > 0 { format!(", {} failed", self.failed) } else { String::new() };
            let _ = write!(head, "{} passed{failed} · ", self.passed);
        }
        let mut tail = String::new();
        if self.running > 1 {
            let _ = write!(tail, " · {} running", self.running);
        }
        let _ = write!(tail, " · {}", duration::human(self.elapsed_us));
        if let Some(left) = self.left_us() {
            let _ = write!(tail, ", about {} left", duration::human(left));
        }
        let room = width.saturating_sub(columns(&head) + columns(&tail));
        let line = format!("{head}{}{tail}", fit(&escape::line(self.name), room));
        fit(&line, width)
    }
}

impl Progress<'_> {
    /// The time that the other cases will take if they are like those that ended; `None` before that can be known.
    fn left_us(&self) -> Option<u64> {
        let left = self.total.checked_sub(self.done).filter(|left| *left > 0)?;
        let enough = self.done >= ENOUGH && self.elapsed_us >= 2_000_000;
        enough.then(|| self.elapsed_us / self.done as u64 * left as u64)
    }
}

/// Cases after which an estimate is worth showing.
const ENOUGH: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_never_exceeds_its_width() {
        let progress = Progress {
            done: 3,
            total: 21,
            name: "reads 名前 \u{1b}[31m",
            running: 2,
            passed: 2,
            failed: 1,
            elapsed_us: 1_250_000,
        };
        assert_eq!(progress.line(80), "[3/21] 2 passed, 1 failed · reads 名前 \\x1b[31m · 2 running · 1.2s");
        assert_eq!(progress.line(59), "[3/21] 2 passed, 1 failed · reads 名前 … · 2 running · 1.2s");
        let later = Progress { elapsed_us: 3_000_000, failed: 0, passed: 3, name: "a", ..progress };
        assert_eq!(later.line(80), "[3/21] 3 passed · a · 2 running · 3.0s, about 18.0s left");
        for width in 0..60 {
            assert!(columns(&progress.line(width)) <= width, "{width}");
        }
    }

    #[test]
    fn one_case_at_a_time_needs_no_count() {
        let progress = Progress { done: 0, total: 2, name: "a", running: 1, passed: 0, failed: 0, elapsed_us: 0 };
        assert_eq!(progress.line(80), "[0/2] a · <1ms");
    }
}
