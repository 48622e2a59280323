//! Faults on pipes: a message a line.

use bytes::Bytes;
use mcprove_model::bounded_json;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;

use super::{Action, Injector, Inward};
use crate::bounded_lines::{BoundedLines, LinePart};
use crate::limits::Limits;

/// Carries lines between a client and a server until one of them closes its side or a fault ends the connection.
/// `connection` distinguishes conversations with the same server.
pub async fn inject_lines<R, W, S, T>(injector: &Injector, connection: &str, client: (R, W), server: (S, T))
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    S: AsyncRead + Unpin,
    T: AsyncWrite + Unpin,
{
    let (from_client, mut to_client) = client;
    let (from_server, mut to_server) = server;
    let limit = Limits::default().message_bytes;
    let (mut asked, mut answered) = (BoundedLines::new(from_client, limit), BoundedLines::new(from_server, limit));
    // Actions whose waits are over, or that a request met at once.
    let (ready, mut due) = mpsc::unbounded_channel::<Vec<Action>>();
    let mut is_frozen = false;
    let mut client_is_there = true;
    loop {
        tokio::select! {
            biased;
            Some(actions) = due.recv() => match write(&actions, &mut to_client).await {
                Written::On => {}
                Written::Frozen => is_frozen = true,
                Written::Closed => return,
            },
            part = asked.next(), if client_is_there => match part {
                Some(_) if is_frozen => {}
                Some(LinePart::Line(request)) => {
                    client_is_there = up(injector, connection, &request, &mut to_server, &ready).await;
                }
                // No fault is about a message of that length: it passes as it is.
                Some(LinePart::Piece { bytes, .. }) => client_is_there = pass(&bytes, &mut to_server).await,
                None => {
                    client_is_there = false;
                    let _ = to_server.shutdown().await;
                }
            },
            part = answered.next() => match part {
                Some(_) if is_frozen => {}
                Some(LinePart::Line(reply)) => down(injector, connection, &reply, &ready),
                Some(LinePart::Piece { bytes, .. }) => {
                    if !pass(&bytes, &mut to_client).await {
                        return;
                    }
                }
                None => {
                    let _ = to_client.shutdown().await;
                    return;
                }
            },
        }
    }
}

/// Takes a line of the client; false if the server takes no more.
async fn up(
    injector: &Injector,
    connection: &str,
    line: &[u8],
    to_server: &mut (impl AsyncWrite + Unpin),
    ready: &mpsc::UnboundedSender<Vec<Action>>,
) -> bool {
    let inward = match bounded_json::parse(line) {
        Some(message) => injector.sent(connection, &message),
        None => Inward::Pass,
    };
    let bytes = match inward {
        Inward::Pass => Bytes::copy_from_slice(line),
        Inward::Replace(message) => Bytes::from(format!("{message}\n")),
        Inward::Lose | Inward::Accept => return true,
        Inward::Answer(actions) => {
            let _ = ready.send(actions);
            return true;
        }
    };
    pass(&bytes, to_server).await
}

/// Writes bytes; false if the other side is closed.
async fn pass(bytes: &[u8], to: &mut (impl AsyncWrite + Unpin)) -> bool {
    to.write_all(bytes).await.is_ok() && to.flush().await.is_ok()
}

/// Takes a line of the server; what has to wait does so without holding up others.
fn down(injector: &Injector, connection: &str, line: &[u8], ready: &mpsc::UnboundedSender<Vec<Action>>) {
    let actions = match bounded_json::parse(line) {
        Some(message) => {
            let before = message.clone();
            let actions = injector.received(connection, message);
            // What is not changed keeps its bytes.
            if actions == [Action::Send(before)] { vec![raw(line)] } else { actions }
        }
        None => vec![raw(line)],
    };
    if !actions.first().is_some_and(Action::is_wait) {
        let _ = ready.send(actions);
        return;
    }
    let (injector, ready) = (injector.clone(), ready.clone());
    tokio::spawn(async move {
        tokio::select! {
            () = injector.wait(&actions) => {}
            () = ready.closed() => return,
        }
        let _ = ready.send(actions);
    });
}

fn raw(line: &[u8]) -> Action {
    Action::Raw(Bytes::copy_from_slice(line.strip_suffix(b"\n").unwrap_or(line)))
}

enum Written {
    On,
    Frozen,
    Closed,
}

async fn write(actions: &[Action], to: &mut (impl AsyncWrite + Unpin)) -> Written {
    for action in actions {
        let bytes = match action {
            Action::Wait(_) | Action::UntilCancelled(_) | Action::UntilOther(..) => continue,
            Action::Send(message) => Bytes::from(format!("{message}\n")),
            Action::Refuse(refusal) => Bytes::from(format!("{}\n", refusal.reply)),
            Action::Raw(bytes) => [bytes, &b"\n"[..]].concat().into(),
            Action::Drip(message, every) => {
                for byte in format!("{message}\n").into_bytes() {
                    if to.write_all(&[byte]).await.is_err() || to.flush().await.is_err() {
                        return Written::Closed;
                    }
                    tokio::time::sleep(*every).await;
                }
                continue;
            }
            Action::Cut(message) => {
                let _ = to.write_all(&super::change::first_half(message)).await;
                let _ = to.shutdown().await;
                return Written::Closed;
            }
            Action::Close => {
                let _ = to.shutdown().await;
                return Written::Closed;
            }
            Action::Freeze => return Written::Frozen,
        };
        if to.write_all(&bytes).await.is_err() {
            return Written::Closed;
        }
    }
    if to.flush().await.is_ok() { Written::On } else { Written::Closed }
}
