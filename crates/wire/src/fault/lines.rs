//! Faults on pipes: a message a line.

use bytes::Bytes;
use mcprove_model::bounded_json;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;

use super::{Action, Injector, Inward};

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
    let (mut asked, mut answered) = (BufReader::new(from_client), BufReader::new(from_server));
    let (mut request, mut reply) = (Vec::new(), Vec::new());
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
            read = asked.read_until(b'\n', &mut request), if client_is_there => {
                if read.is_ok_and(|count| count > 0) {
                    if !is_frozen && !up(injector, connection, &request, &mut to_server, &ready).await {
                        client_is_there = false;
                    }
                } else {
                    client_is_there = false;
                    let _ = to_server.shutdown().await;
                }
                request.clear();
            }
            read = answered.read_until(b'\n', &mut reply) => {
                if !read.is_ok_and(|count| count > 0) {
                    let _ = to_client.shutdown().await;
                    return;
                }
                if !is_frozen {
                    down(injector, connection, &reply, &ready);
                }
                reply.clear();
            }
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
    to_server.write_all(&bytes).await.is_ok() && to_server.flush().await.is_ok()
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
