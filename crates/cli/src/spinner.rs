//! A line for work that takes more than a moment: on a terminal, after a second, and gone when the work is done.

use std::io::{self, Write as _};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use mcprove_model::escape_line;

use crate::context::Context;

/// Work that is under way; dropping it takes the line away.
pub(crate) struct Spinner {
    line: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Context {
    /// Says what is waited for, should it take more than a second.
    pub(crate) fn waiting(&self, what: &str) -> Spinner {
        if !self.live {
            return Spinner { line: None };
        }
        let what = escape_line(what).into_owned();
        let (done, over) = channel::<()>();
        let width = self.width.unwrap_or(80).saturating_sub(1);
        let thread = std::thread::spawn(move || {
            let mut seconds = 0;
            while over.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
                seconds += 1;
                let line: String = format!("{what} · {seconds}s").chars().take(width).collect();
                // A terminal that is gone shows nothing.
                let _ = io::stderr().write_all(format!("\r\x1b[2K{line}").as_bytes());
            }
            if seconds > 0 {
                let _ = io::stderr().write_all(b"\r\x1b[2K");
            }
        });
        Spinner { line: Some((done, thread)) }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        if let Some((done, thread)) = self.line.take() {
            drop(done);
            // Nothing in it panics; and if it did, the line would only stay.
            let _ = thread.join();
        }
    }
}
