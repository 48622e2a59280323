//! The one line that says how far a run is that counts calls.

use crate::columns::{columns, fit};
use crate::{duration, escape};

/// Progress of a run that counts calls.
#[derive(Clone, Copy, Debug)]
pub struct CallProgress<'a> {
    /// Calls that were made.
    pub done: usize,
    /// Calls that are planned.
    pub total: usize,
    /// The tool that is worked on.
    pub tool: &'a str,
    /// Time since the run began, in microseconds.
    pub elapsed_us: u64,
}

impl CallProgress<'_> {
    /// `[300/2000] name · 150 calls/s · about 11.3s left`, at most `width` columns; the name gives way first.
    pub fn line(&self, width: usize) -> String {
        let head = format!("[{}/{}] ", self.done, self.total.max(self.done));
        let done = self.done as u64;
        let rate = done.saturating_mul(1_000_000) / self.elapsed_us.max(1);
        let left = self.total.saturating_sub(self.done) as u64;
        let tail = match self.elapsed_us.saturating_mul(left).checked_div(done) {
            Some(us) if left > 0 => format!(" · {rate} calls/s · about {} left", duration::human(us)),
            Some(_) => format!(" · {rate} calls/s"),
            None => String::new(),
        };
        let room = width.saturating_sub(columns(&head) + columns(&tail));
        fit(&format!("{head}{}{tail}", fit(&escape::line(self.tool), room)), width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_fast_and_how_long() {
        let progress = CallProgress { done: 300, total: 2000, tool: "echo", elapsed_us: 2_000_000 };
        assert_eq!(progress.line(80), "[300/2000] echo · 150 calls/s · about 11.3s left");
        let begun = CallProgress { done: 0, elapsed_us: 0, ..progress };
        assert_eq!(begun.line(80), "[0/2000] echo");
        let over = CallProgress { done: 2100, ..progress };
        assert_eq!(over.line(80), "[2100/2100] echo · 1050 calls/s");
        for width in 0..60 {
            assert!(columns(&progress.line(width)) <= width, "{width}");
        }
    }
}
