//! Destination of a mock's messages: a pipe, or the stream of one HTTP exchange.

use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::rpc::Layer;

/// A message on its way out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OutgoingMessage {
    /// The answer to the request that opened the way, and what went wrong with it, if anything.
    Reply { message: Value, wrong: Option<Layer> },
    /// A notification, or a request of the server.
    Other(Value),
}

impl OutgoingMessage {
    pub(crate) fn into_message(self) -> Value {
        match self {
            Self::Reply { message, .. } | Self::Other(message) => message,
        }
    }
}

/// A way out. It ends when every clone is gone.
#[derive(Clone, Debug)]
pub(crate) struct MessageSink(mpsc::UnboundedSender<OutgoingMessage>);

impl MessageSink {
    pub(crate) fn new() -> (Self, mpsc::UnboundedReceiver<OutgoingMessage>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }

    /// Sends a message; it is dropped if the receiver is gone.
    pub(crate) fn send(&self, out: OutgoingMessage) {
        let _ = self.0.send(out);
    }

    /// Sends a notification.
    pub(crate) fn notify(&self, method: &str, params: &Value) {
        let mut message = json!({"jsonrpc": "2.0", "method": method});
        if !params.is_null() {
            message["params"] = params.clone();
        }
        self.send(OutgoingMessage::Other(message));
    }
}
