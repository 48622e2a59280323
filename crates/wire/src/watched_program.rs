//! A program that is watched until it ends or its time is up: the client in a test of clients.

use std::time::Duration;

use mcprove_model::ProcessEnd;
use tokio::io::AsyncReadExt as _;
use tokio::time::timeout;

use crate::process::{Process, Program, SpawnError};

/// Maximum length of standard output that is kept.
const KEPT: usize = 64 << 10;

/// The end of a watched program.
#[derive(Clone, Debug)]
pub struct WatchedEnd {
    /// Its exit; `None` if its time was up and it was ended.
    pub end: Option<ProcessEnd>,
    /// The beginning of its standard output.
    pub stdout: String,
    /// The end of its standard error.
    pub stderr: String,
}

/// Starts a program without input and waits for its end; when the time is up, it is ended with its whole group.
pub async fn watch_program(program: &Program, time: Duration, stderr_bytes: usize) -> Result<WatchedEnd, SpawnError> {
    let (mut process, pipes) = Process::start(program, stderr_bytes)?;
    drop(pipes.stdin);
    let mut from = pipes.stdout;
    let mut stdout = Vec::new();
    let reading = async {
        let mut chunk = vec![0; 8 << 10];
        while let Ok(count @ 1..) = from.read(&mut chunk).await {
            stdout.extend_from_slice(&chunk[..count.min(KEPT.saturating_sub(stdout.len()))]);
        }
        // Another process may hold the pipe open; the end of the program is what counts.
        std::future::pending::<()>().await;
    };
    let exited = timeout(time, async {
        tokio::select! {
            end = process.exited() => end,
            () = reading => unreachable!("it never ends"),
        }
    });
    let end = exited.await.ok();
    let (_, stderr) = process.finish(Duration::from_millis(500)).await;
    Ok(WatchedEnd { end, stdout: String::from_utf8_lossy(&stdout).into_owned(), stderr })
}
