//! The end of a conversation, and of the process.

use std::time::Duration;

use mcprove_judge::conformance::{Recording, What};
use mcprove_wire::{RawEnding, RawLine};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::{Link, Wire};

impl Link {
    /// Sends SIGTERM, and waits for the end.
    pub(in crate::conformance) async fn terminate(mut self) -> Recording {
        if matches!(&self.wire, Wire::Pipe(pipe) if pipe.is_process()) {
            if let Wire::Pipe(pipe) = &self.wire {
                pipe.terminate();
            }
            self.note(0, "", What::Terminated);
            self.end().await;
        } else {
            self.close_input().await;
        }
        self.finish().await
    }

    /// Closes the server's input, and waits for the end.
    pub(in crate::conformance) async fn close(mut self) -> Recording {
        self.close_input().await;
        self.finish().await
    }

    async fn close_input(&mut self) {
        match &mut self.wire {
            Wire::Pipe(pipe) => {
                pipe.close_input();
                self.note(0, "", What::InputClosed);
                self.end().await;
            }
            Wire::Http(_) => {
                // Streams that should end have a moment to do so.
                let quiet = self.pace.quiet;
                self.pause(quiet).await;
            }
        }
    }

    /// Waits for the end of the process, and records how it came.
    async fn end(&mut self) {
        let deadline = Instant::now() + self.pace.grace;
        let Wire::Pipe(pipe) = &mut self.wire else { return };
        let is_process = pipe.is_process();
        let mut end = None;
        let mut late = Vec::new();
        let mut is_open = !self.is_closed;
        while end.is_none() && (is_open || is_process) {
            let Ok(next) = timeout_at(deadline, pipe.ending(is_open)).await else { break };
            match next {
                RawEnding::Line(RawLine::Line(line)) => {
                    if !self.memory.is_used_up() {
                        late.push(self.memory.read(line));
                    }
                }
                RawEnding::Line(RawLine::Closed) => is_open = false,
                RawEnding::Exited(exited) => end = Some(exited),
            }
        }
        let stderr = pipe.stderr();
        let leftovers = end.is_some() && pipe.has_leftovers().await;
        for line in late {
            self.note(0, "", What::Received(line));
        }
        match end {
            Some(end) => self.note(0, "", What::Exited(end, stderr)),
            None if !is_open && !is_process => self.note(0, "", What::OutputClosed),
            None => self.note(0, "", What::Killed),
        }
        if leftovers {
            self.note(0, "", What::Leftovers);
        }
        self.is_closed = true;
    }

    async fn finish(mut self) -> Recording {
        match self.wire {
            Wire::Pipe(pipe) => pipe.finish(Duration::from_millis(100)).await,
            Wire::Http(web) => {
                for (_, handle) in web.open {
                    handle.abort();
                }
            }
        }
        std::mem::replace(&mut self.recording, Recording::new("", Value::Null))
    }
}
