//! A command that is run to its end, beside the servers.

use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

/// How much of what a command printed is kept.
const KEPT: usize = 2_000;

/// Runs a command; the error says in one line why it did not end well.
pub async fn run_command(words: &[String], deadline: Duration) -> Result<(), String> {
    command_output(words, deadline).await.map(|_| ())
}

/// Runs a command and returns what it printed; the error says in one line why it did not end well.
pub async fn command_output(words: &[String], deadline: Duration) -> Result<String, String> {
    let Some((program, args)) = words.split_first() else { return Err("there is no command".to_owned()) };
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let shown = words.join(" ");
    let output = match timeout(deadline, command.output()).await {
        Err(_) => return Err(format!("`{shown}` did not end within {:.1} s", deadline.as_secs_f64())),
        Ok(Err(error)) => return Err(format!("`{shown}` could not be started: {error}")),
        Ok(Ok(output)) => output,
    };
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
