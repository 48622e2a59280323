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
    /// How many pages of a list are followed.
    pub pages: usize,
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
            frame_bytes: 256 << 20,
            pages: 1_000,
            exit_grace: Duration::from_millis(500),
            settle: Duration::from_millis(250),
        }
    }
}
