//! mcprove itself, run as another process: a server that crashes or hangs there does no harm here.

use std::path::Path;
use std::time::Duration;

use mcprove_wire::captured_command;
use serde_json::Value;

/// Time a command may take.
const DEADLINE: Duration = Duration::from_mins(10);

/// The JSON a command printed, and its exit code.
pub(super) struct Printed {
    pub(super) json: Value,
    pub(super) code: i32,
}

/// Runs a command of mcprove that prints JSON, in a folder.
pub(super) async fn run(program: &Path, words: &[String], folder: &Path) -> Result<Printed, String> {
    let line: Vec<String> = std::iter::once(program.display().to_string()).chain(words.iter().cloned()).collect();
    let captured = captured_command(&line, folder, DEADLINE).await?;
    match serde_json::from_str(&captured.stdout) {
        Ok(json) => Ok(Printed { json, code: captured.code }),
        // What it complained about is the answer.
        Err(_) => Err(captured.stderr.trim().to_owned()),
    }
}
