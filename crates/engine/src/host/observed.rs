//! The frames of a scenario that are kept: a client that floods costs no more than a server that does.

use mcprove_judge::host::{HostFrame, LeftOut};
use mcprove_model::{WirePart, bounded_json};
use mcprove_wire::{Limits, TappedMessage};
use serde_json::Value;

/// Memory for the frames of a scenario, as bytes and once they are read.
const BYTES: usize = 96 << 20;

/// Observations of a client.
#[derive(Debug, Default)]
pub(super) struct Observed {
    /// The frames that are kept.
    pub(super) frames: Vec<HostFrame>,
    /// Those that are not.
    pub(super) left_out: LeftOut,
    bytes: usize,
}

impl Observed {
    /// Keeps a message as a frame if there is room for it; a batch is followed by its messages.
    pub(super) fn add(&mut self, server: usize, message: TappedMessage) {
        let TappedMessage { at_us, session, direction, part, body } = message;
        let room = BYTES.saturating_sub(self.bytes);
        if self.frames.len() >= Limits::default().frames || body.len() > room {
            self.left_out.frames += 1;
            self.left_out.bytes += body.len();
            return;
        }
        let (json, size) = bounded_json::parse_within(&body, room - body.len()).unzip();
        self.bytes += body.len() + size.unwrap_or_default();
        let batch = json.as_ref().and_then(Value::as_array).cloned().unwrap_or_default();
        let whole = HostFrame { at_us, server, session, direction, part, body, json, in_batch: false };
        let item = |item: Value| HostFrame {
            body: item.to_string().into(),
            json: Some(item),
            part: WirePart::Message,
            in_batch: true,
            ..whole.clone()
        };
        let items: Vec<HostFrame> = batch.into_iter().map(item).collect();
        // The messages of a batch take as much again.
        self.bytes +=
            items.iter().map(|item| item.body.len()).sum::<usize>() + size.filter(|_| !items.is_empty()).unwrap_or(0);
        self.frames.push(whole);
        self.frames.extend(items);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcprove_model::Direction;

    fn message(body: Vec<u8>) -> TappedMessage {
        TappedMessage { at_us: 0, session: 0, direction: Direction::Sent, part: WirePart::Message, body: body.into() }
    }

    #[test]
    fn a_flood_is_counted_and_not_kept() {
        let mut observed = Observed::default();
        for _ in 0..20 {
            observed.add(0, message(vec![b'x'; 10 << 20]));
        }
        assert_eq!((observed.frames.len(), observed.left_out.frames), (9, 11));
        observed.add(0, message(b"{}".to_vec()));
        assert_eq!(observed.frames.last().expect("a frame").json, Some(serde_json::json!({})), "there is room for it");
    }

    #[test]
    fn a_message_that_grows_is_kept_as_bytes_alone() {
        let mut observed = Observed::default();
        let body = format!("[{}0]", "0,".repeat(2 << 20));
        observed.add(0, message(body.into_bytes()));
        assert_eq!(observed.frames[0].json, None);
    }
}
