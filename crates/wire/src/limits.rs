//! Bounds that keep a hostile server from costing more than it should.

use std::time::Duration;

/// Bounds on what one session keeps and waits for.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The longest message that is read; the rest of a longer one is discarded.
    pub message_bytes: usize,
    /// How much of the server's standard error is kept: the end of it.
    pub stderr_bytes: usize,
    /// How many notifications are kept.
    pub notifications: usize,
    /// How many frames are kept.
    pub frames: usize,
    /// How many bytes of frames are kept.
    pub frame_bytes: usize,
    /// How many bytes of memory the notifications and requests of a server may take.
    pub kept_bytes: usize,
    /// How many bytes the sessions of a run may keep together, frames included.
    pub run_bytes: usize,
    /// How many pages of a list are followed.
    pub pages: usize,
    /// How many bytes the pages of a list may have together.
    pub list_bytes: usize,
    /// How long a server may take to exit by itself once its input is closed, and again after SIGTERM.
    pub exit_grace: Duration,
    /// How long the right reply is still waited for after a wrong one has come.
    pub settle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 64 << 20,
            stderr_bytes: 64 << 10,
            notifications: 10_000,
            frames: 50_000,
            frame_bytes: 64 << 20,
            kept_bytes: 64 << 20,
            run_bytes: 192 << 20,
            pages: 1_000,
            list_bytes: 64 << 20,
            exit_grace: Duration::from_millis(500),
            settle: Duration::from_millis(250),
        }
    }
}
