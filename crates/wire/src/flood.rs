//! A server that sends more than is kept.

use mcprove_model::Finding;

/// Counts of the messages and bytes that a session discarded.
#[derive(Debug, Default)]
pub(crate) struct Flood {
    /// Frames that are not in the log.
    pub(crate) frames: usize,
    /// Notifications that were not kept because there were too many.
    pub(crate) notifications: usize,
    /// Messages that were not kept because they would have taken too much memory, and their bytes.
    pub(crate) messages: usize,
    pub(crate) bytes: usize,
}

impl Flood {
    /// Counts a message that is not kept.
    pub(crate) fn add(&mut self, bytes: usize) {
        self.messages += 1;
        self.bytes += bytes;
    }

    /// The finding that names the flood, if there was one. Many small messages are a warning; megabytes of unsolicited
    /// messages are a failure.
    pub(crate) fn finding(&self) -> Option<Finding> {
        if self.messages > 0 {
            let sent = format!("{} unsolicited messages with {} in all", self.messages, size(self.bytes));
            let text = format!("the server floods its client: {sent} were not kept");
            return Some(
                Finding::error("flood", text)
                    .help("send less, or raise the bounds: `--limit kept-bytes=…`, `--limit run-bytes=…`"),
            );
        }
        if self.frames == 0 && self.notifications == 0 {
            return None;
        }
        let (frames, notifications) = (self.frames, self.notifications);
        Some(Finding::warning(
            "flood",
            format!(
                "the server sent more than is kept: {frames} frames and {notifications} notifications were left out"
            ),
        ))
    }
}

fn size(bytes: usize) -> String {
    if bytes >= 1 << 20 { format!("{} MiB", bytes >> 20) } else { format!("{} KiB", bytes.div_ceil(1 << 10)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcprove_model::Severity;

    #[test]
    fn megabytes_are_a_failure_and_many_messages_a_warning() {
        assert_eq!(Flood::default().finding(), None);
        let many = Flood { frames: 1, notifications: 2, ..Flood::default() };
        assert_eq!(many.finding().expect("a finding").severity, Severity::Warning);
        let large = Flood { messages: 3000, bytes: 3000 << 20, ..Flood::default() };
        let finding = large.finding().expect("a finding");
        assert_eq!(finding.severity, Severity::Error);
        assert!(finding.message.contains("3000 unsolicited messages with 3000 MiB"), "{}", finding.message);
    }
}
