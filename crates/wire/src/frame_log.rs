//! Everything that was sent and received in a session, bounded.

use tokio::time::Instant;

use bytes::Bytes;
use mcprove_model::{Direction, Frame, FrameKind, Part};

use crate::Limits;

/// The log of one session. Frames share the bytes that were read; nothing is copied.
#[derive(Debug)]
pub(crate) struct FrameLog {
    began: Instant,
    frames: Vec<Frame>,
    bytes: usize,
    left_out: usize,
    limits: Limits,
}

impl FrameLog {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { began: Instant::now(), frames: Vec::new(), bytes: 0, left_out: 0, limits }
    }

    /// When the session began.
    pub(crate) fn began(&self) -> Instant {
        self.began
    }

    /// Microseconds since the session began.
    pub(crate) fn now_us(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    pub(crate) fn add(&mut self, direction: Direction, kind: FrameKind, part: Part, body: Bytes) {
        if self.frames.len() >= self.limits.frames || self.bytes + body.len() > self.limits.frame_bytes {
            self.left_out += 1;
            return;
        }
        self.bytes += body.len();
        self.frames.push(Frame { at_us: self.now_us(), direction, part, kind, body });
    }

    /// The frames kept so far; the log goes on empty.
    pub(crate) fn take(&mut self) -> Vec<Frame> {
        self.bytes = 0;
        std::mem::take(&mut self.frames)
    }

    /// The frames kept, and how many were left out.
    pub(crate) fn finish(self) -> (Vec<Frame>, usize) {
        (self.frames, self.left_out)
    }
}
