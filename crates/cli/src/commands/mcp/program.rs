//! mcprove itself, run as another process: a server that crashes or hangs there does no harm here.

use std::path::Path;
use std::time::Duration;

use mcprove_model::bounded_json;
use mcprove_wire::captured_command;
use serde_json::Value;

/// Time a command may take.
const DEADLINE: Duration = Duration::from_mins(10);

/// Memory that the JSON of a command may take once it is read.
pub(super) const READ: usize = 128 << 20;

/// The JSON a command printed, and its exit code.
pub(super) struct Printed {
    pub(super) json: Value,
    pub(super) code: i32,
}

/// Runs a command of mcprove that prints JSON, in a folder.
pub(super) async fn run(program: &Path, words: &[String], folder: &Path) -> Result<Printed, String> {
    let line: Vec<String> = std::iter::once(program.display().to_string()).chain(words.iter().cloned()).collect();
    let captured = captured_command(&line, folder, DEADLINE).await?;
    match bounded_json::parse_within(captured.stdout.as_bytes(), READ) {
        Some((json, _)) => Ok(Printed { json, code: captured.code }),
        // What it complained about is the answer.
        None if captured.stdout.trim().is_empty() => Err(captured.stderr.trim().to_owned()),
        None => Err("the answer is too large to be read; name one tool or one test".to_owned()),
    }
}
