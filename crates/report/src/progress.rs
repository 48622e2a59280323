//! The one line that says how far a run is; the caller writes it, and over it.

use std::fmt::Write as _;

use crate::columns::{columns, fit};
use crate::{duration, harmless};

/// How far a run is.
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
    /// Time since the run began, in microseconds.
    pub elapsed_us: u64,
}

impl Progress<'_> {
    /// `[3/21] name · 2 running · 1.2s`, at most `width` columns; the name gives way first.
    pub fn line(&self, width: usize) -> String {
        let head = format!("[{}/{}] ", self.done, self.total);
        let mut tail = String::new();
        if self.running > 1 {
            let _ = write!(tail, " · {} running", self.running);
        }
        let _ = write!(tail, " · {}", duration::human(self.elapsed_us));
        let room = width.saturating_sub(columns(&head) + columns(&tail));
        let line = format!("{head}{}{tail}", fit(&harmless::line(self.name), room));
        fit(&line, width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_never_exceeds_its_width() {
        let progress =
            Progress { done: 3, total: 21, name: "reads 名前 \u{1b}[31m", running: 2, elapsed_us: 1_250_000 };
        assert_eq!(progress.line(80), "[3/21] reads 名前 \\x1b[31m · 2 running · 1.2s");
        assert_eq!(progress.line(38), "[3/21] reads 名前 … · 2 running · 1.2s");
        for width in 0..60 {
            assert!(columns(&progress.line(width)) <= width, "{width}");
        }
    }

    #[test]
    fn one_case_at_a_time_needs_no_count() {
        let progress = Progress { done: 0, total: 2, name: "a", running: 1, elapsed_us: 0 };
        assert_eq!(progress.line(80), "[0/2] a · <1ms");
    }
}
