//! A client's messages without those that cannot be read.

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use super::line_cutter::LineCutter;
use crate::Limits;
use crate::ambiguous::is_ambiguous;
use crate::message::{Message, NonProtocol, classify};

/// Passes on the lines that are messages until a side ends; `refused` gets the others.
pub async fn pass_readable<R, W>(mut from: R, mut to: W, limits: Limits, refused: impl Fn(&Bytes))
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut cutter = LineCutter::new(limits.message_bytes);
    let mut chunk = vec![0; 64 << 10];
    loop {
        let count = from.read(&mut chunk).await.unwrap_or(0);
        let lines = if count == 0 { cutter.finish().into_iter().collect() } else { cutter.push(&chunk[..count]) };
        for line in lines {
            // A line that was cut off at the limit cannot be a message any more.
            match classify(&line) {
                Message::NonProtocol(NonProtocol::Text | NonProtocol::Unreadable(_)) => refused(&line),
                Message::NonProtocol(NonProtocol::Blank) => {}
                _ if is_ambiguous(&line) => refused(&line),
                Message::Request { .. } | Message::Notification { .. } | Message::Reply(_) | Message::Batch(_) => {
                    if to.write_all(&line).await.is_err() || to.write_all(b"\n").await.is_err() {
                        return;
                    }
                }
            }
        }
        if count == 0 || to.flush().await.is_err() {
            let _ = to.shutdown().await;
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn only_messages_pass() {
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#;
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{}}}"#,
            "[".repeat(300) + &"]".repeat(300)
        );
        let without = call.replace(r#""jsonrpc":"2.0","#, "");
        let twice = call.replace("}}", r#","name":"b"}}"#);
        let said = format!("{call}\n{deep}\n\n{without}\n{{\n\"jsonrpc\":\"2.0\"}}\n{twice}\n{call}");
        let count = Cell::new(0);
        let mut passed = Vec::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime
            .block_on(pass_readable(said.as_bytes(), &mut passed, Limits::default(), |_| count.set(count.get() + 1)));
        assert_eq!(String::from_utf8(passed).expect("text"), format!("{call}\n{call}\n"));
        assert_eq!(count.get(), 5);
    }
}
