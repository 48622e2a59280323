//! A mock over a pair of byte streams, a message a line.

use std::io;
use std::sync::atomic::Ordering;
use std::task::{Context, Waker};

use mcprove_wire::{BoundedLines, Limits, LinePart, inject_lines};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::task::JoinSet;

use crate::Mock;
use crate::message_sink::{MessageSink, OutgoingMessage};
use crate::mutation::Inward;
use crate::rpc::{PARSE_ERROR, Refusal, read};
use crate::session::{Kind, Session, Work};

impl Mock {
    /// Serves one client until it closes its side. Requests are handled concurrently; those still open when the client
    /// is gone are dropped, so that a hung call keeps nothing alive.
    pub async fn serve(&self, reader: impl AsyncRead + Unpin, writer: impl AsyncWrite + Unpin) -> io::Result<()> {
        if !self.shared.injector.is_needed() {
            return self.serve_healthy(reader, writer).await;
        }
        let (near, far) = tokio::io::duplex(64 << 10);
        let (near_reader, near_writer) = tokio::io::split(near);
        let (far_reader, far_writer) = tokio::io::split(far);
        let connection = self.shared.connections.fetch_add(1, Ordering::Relaxed).to_string();
        let injector = &self.shared.injector;
        let carried = inject_lines(injector, &connection, (reader, writer), (near_reader, near_writer));
        tokio::pin!(carried);
        tokio::select! {
            () = &mut carried => Ok(()),
            served = self.serve_healthy(far_reader, far_writer) => {
                // What it said last is still on its way.
                carried.await;
                served
            }
        }
    }

    async fn serve_healthy(
        &self,
        reader: impl AsyncRead + Unpin,
        mut writer: impl AsyncWrite + Unpin,
    ) -> io::Result<()> {
        let (sink, mut outbox) = MessageSink::new();
        let mutant = self.shared.mutant.clone();
        let connection = mutant.connect();
        let session = Session::new(self.shared.clone(), Kind::Lasting, sink.clone());
        // What a mutation says in place of the mock is not changed again.
        let (direct, mut directs) = tokio::sync::mpsc::unbounded_channel::<Value>();
        let incoming = mutant.clone();
        let reading = async move {
            let limit = Limits::default().message_bytes;
            let mut lines = BoundedLines::new(reader, limit);
            let mut tasks = JoinSet::new();
            // A broken pipe is the end of the client like any other.
            loop {
                // A client that sends requests and does not read their answers is not read either.
                sink.has_room().await;
                let Some(part) = lines.next().await else { break };
                let line = match part {
                    LinePart::Line(line) => line,
                    LinePart::Piece { is_last: false, .. } => continue,
                    LinePart::Piece { is_last: true, .. } => {
                        let refusal = Refusal::new(PARSE_ERROR, format!("a line is longer than {} MiB", limit >> 20));
                        sink.send(OutgoingMessage::Reply {
                            message: refusal.reply(&Value::Null),
                            wrong: Some(refusal.layer),
                        });
                        continue;
                    }
                };
                if !line.iter().all(u8::is_ascii_whitespace) {
                    let changed = if incoming.is_none() { None } else { incoming.line_in(&line, connection) };
                    match changed {
                        Some(Inward::Die) => break,
                        Some(Inward::Answer(replies)) => {
                            for reply in replies {
                                let _ = direct.send(reply);
                            }
                        }
                        Some(Inward::Pass(message)) => tasks_start(session.take(message, &sink), &mut tasks),
                        None => match read(line.trim_ascii()) {
                            Ok(message) => tasks_start(session.take(message, &sink), &mut tasks),
                            Err(refusal) => sink.send(OutgoingMessage::Reply {
                                message: refusal.reply(&Value::Null),
                                wrong: Some(refusal.layer),
                            }),
                        },
                    }
                }
                while tasks.try_join_next().is_some() {}
            }
            if incoming.outlives_input() {
                std::future::pending::<()>().await;
            }
            session.close();
            while tasks.join_next().await.is_some() {}
            Ok(())
        };
        let writing = async move {
            if let Some(line) = mutant.greeting() {
                writer.write_all(line).await?;
            }
            loop {
                let messages = tokio::select! {
                    biased;
                    Some(message) = directs.recv() => vec![message],
                    out = outbox.recv() => match out {
                        Some(out) => mutant.outward(out.into_message(), connection),
                        None => break,
                    },
                };
                for message in messages {
                    let mut bytes = mutant.line(&message).map_err(io::Error::other)?;
                    bytes.push(b'\n');
                    writer.write_all(&bytes).await?;
                }
                if outbox.is_empty() {
                    writer.flush().await?;
                }
            }
            writer.shutdown().await
        };
        tokio::try_join!(reading, writing).map(drop)
    }
}

/// Polls work once, so that requests begin in the order of their arrival, then continues it concurrently with the
/// others.
fn tasks_start(work: Option<Work>, tasks: &mut JoinSet<()>) {
    let Some(mut work) = work else { return };
    if work.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
        tasks.spawn(work);
    }
}
