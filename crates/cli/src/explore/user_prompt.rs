//! Questions to the person at the terminal.

use tokio::sync::oneshot;

use crate::context::Context;

/// Asks for a line without blocking the session; `None` without a terminal or at the end of the input.
pub(crate) async fn ask_line(question: &str) -> Option<String> {
    let question = question.to_owned();
    let (send, receive) = oneshot::channel();
    // A thread of its own: a read from a terminal cannot be interrupted, and must not keep the program from ending.
    std::thread::spawn(move || {
        let _ = send.send(Context::ask(&question));
    });
    receive.await.ok().flatten()
}
