//! Everything that was sent and received in a session, bounded.

use tokio::time::Instant;

use bytes::Bytes;
use mcprove_model::{Direction, Frame, FrameKind, WirePart};

use crate::Limits;
use crate::memory_reservation::{MemoryReservation, Room};

/// Memory that a frame takes besides its bytes.
const FRAME: usize = 128;

/// The log of one session. Frames share the bytes that were read; nothing is copied.
#[derive(Debug)]
pub(crate) struct FrameLog {
    began: Instant,
    frames: Vec<Frame>,
    kept: MemoryReservation,
    left_out: usize,
    limits: Limits,
}

impl FrameLog {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { began: Instant::now(), frames: Vec::new(), kept: MemoryReservation::default(), left_out: 0, limits }
    }

    /// Start of the session.
    pub(crate) fn began(&self) -> Instant {
        self.began
    }

    /// Microseconds since the session began.
    pub(crate) fn now_us(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    pub(crate) fn add(&mut self, direction: Direction, kind: FrameKind, part: WirePart, body: Bytes) {
        // The transport of messages is a frame too, and has no body.
        let size = body.len() + FRAME;
        let Limits { frames, frame_bytes, run_bytes, .. } = self.limits;
        if self.frames.len() >= frames || self.kept.add(size, frame_bytes, run_bytes) != Room::Enough {
            self.left_out += 1;
            return;
        }
        self.frames.push(Frame { at_us: self.now_us(), direction, part, kind, body });
    }

    /// The headers of the last response to a POST; nothing where there is none, as on pipes.
    pub(crate) fn response_headers(&self) -> Option<&[(String, String)]> {
        let is_post = |wanted: u64| {
            self.frames.iter().any(|frame| {
                matches!(&frame.part, WirePart::HttpRequest { exchange, method, .. } if *exchange == wanted && method == "POST")
            })
        };
        self.frames.iter().rev().find_map(|frame| match &frame.part {
            WirePart::HttpResponse { exchange, headers, .. } if is_post(*exchange) => Some(&headers[..]),
            WirePart::HttpResponse { .. }
            | WirePart::HttpRequest { .. }
            | WirePart::Message
            | WirePart::Closed
            | WirePart::StreamEvent { .. } => None,
        })
    }

    /// The frames kept so far; the log goes on empty.
    pub(crate) fn take(&mut self) -> Vec<Frame> {
        self.kept = MemoryReservation::default();
        std::mem::take(&mut self.frames)
    }

    /// Number of frames left out since the last call.
    pub(crate) fn take_left_out(&mut self) -> usize {
        std::mem::take(&mut self.left_out)
    }
}
