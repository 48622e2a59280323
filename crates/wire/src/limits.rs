//! Bounds that keep a hostile server from costing more than it should.

use std::time::Duration;

/// Bounds on what one session keeps and waits for.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The longest message that is read; the rest of a longer one is discarded.
    pub message_bytes: usize,
    /// Maximum length of standard error that is kept; the end of it is kept.
    pub stderr_bytes: usize,
    /// Maximum number of notifications that are kept.
    pub notifications: usize,
    /// Maximum number of frames that are kept.
    pub frames: usize,
    /// Maximum size of the kept frames, in bytes.
    pub frame_bytes: usize,
    /// Maximum memory for the notifications and requests of a server, in bytes.
    pub kept_bytes: usize,
    /// Maximum memory for all sessions of a run, frames included, in bytes.
    pub run_bytes: usize,
    /// Maximum number of pages of a list.
    pub pages: usize,
    /// Maximum size of all pages of a list, in bytes.
    pub list_bytes: usize,
    /// Time for a server to exit after its input is closed, and again after SIGTERM.
    pub exit_grace: Duration,
    /// Time to wait for the correct reply after a wrong one.
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
