//! A command that is run to its end, beside the servers.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

use crate::process_group::{Ending, ProcessGroup};
use crate::watchdog::Guard;

/// How much of what a command printed is kept.
const KEPT: usize = 2_000;

/// The group of a command that has not ended by itself; it is ended when nobody waits for it any more.
struct Group(Option<ProcessGroup>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = &self.0 {
            group.end(Ending::Forced);
        }
    }
}

/// Runs a command; the error says in one line why it did not end well.
pub async fn run_command(words: &[String], deadline: Duration) -> Result<(), String> {
    command_output(words, deadline).await.map(|_| ())
}

/// What a command printed, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// The exit code; -1 if a signal ended it.
    pub code: i32,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

/// Runs a command in a folder and returns what it printed, however it ended; the error says why it could not be run.
pub async fn captured_command(words: &[String], folder: &Path, deadline: Duration) -> Result<Captured, String> {
    let Some((program, args)) = words.split_first() else { return Err("there is no command".to_owned()) };
    let mut command = Command::new(program);
    command.args(args).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.kill_on_drop(true);
    ProcessGroup::lead(&mut command);
    let child = command.spawn().map_err(|error| format!("`{program}` could not be started: {error}"))?;
    let mut group = Group(ProcessGroup::of(&child));
    let _guard = Guard::group(group.0.as_ref());
    let output = match timeout(deadline, child.wait_with_output()).await {
        Err(_) => return Err(format!("`{program}` did not end within {:.0} s", deadline.as_secs_f64())),
        Ok(Err(error)) => return Err(format!("`{program}` could not be waited for: {error}")),
        Ok(Ok(output)) => output,
    };
    group.0 = None;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().unwrap_or(-1);
    Ok(Captured { code, stdout: text(&output.stdout), stderr: text(&output.stderr) })
}

/// Runs a command and returns what it printed; the error says in one line why it did not end well.
pub async fn command_output(words: &[String], deadline: Duration) -> Result<String, String> {
    let Some((program, args)) = words.split_first() else { return Err("there is no command".to_owned()) };
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.kill_on_drop(true);
    ProcessGroup::lead(&mut command);
    let shown = words.join(" ");
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Err(format!("`{shown}` could not be started: {error}")),
    };
    let mut group = Group(ProcessGroup::of(&child));
    let _guard = Guard::group(group.0.as_ref());
    let output = match timeout(deadline, child.wait_with_output()).await {
        Err(_) => return Err(format!("`{shown}` did not end within {:.1} s", deadline.as_secs_f64())),
        Ok(Err(error)) => return Err(format!("`{shown}` could not be waited for: {error}")),
        Ok(Ok(output)) => output,
    };
    // What it started to stay (a service for the cases) stays.
    group.0 = None;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = if output.stderr.is_empty() { &output.stdout } else { &output.stderr };
    let tail = String::from_utf8_lossy(&said[said.len().saturating_sub(KEPT)..]).trim().to_owned();
    let how = match output.status.code() {
        Some(code) => format!("ended with code {code}"),
        None => "was ended by a signal".to_owned(),
    };
    Err(if tail.is_empty() { format!("`{shown}` {how}") } else { format!("`{shown}` {how}: {tail}") })
}
