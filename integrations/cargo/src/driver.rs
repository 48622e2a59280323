//! A client of `mcprove drive`: one JSON object per line in both directions.

use std::fmt;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A request that could not be done: a mistake in it, or a server that could not be reached.
#[derive(Debug)]
pub struct DriveError(String);

impl DriveError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    fn of_reply(error: &Value) -> Self {
        let mut message = error["message"].as_str().unwrap_or_default().to_owned();
        for (key, label) in [("evidence", "it sent"), ("help", "help")] {
            if let Some(text) = error[key].as_str() {
                message = format!("{message}\n  {label}: {text}");
            }
        }
        Self(message)
    }
}

impl fmt::Display for DriveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DriveError {}

/// A running `mcprove drive`. It ends when this is dropped.
#[derive(Debug)]
pub struct Driver {
    program: String,
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    id: u64,
    /// True after the first reply: the program is mcprove.
    has_answered: bool,
}

const ANOTHER_PROGRAM: &str = "if this is not mcprove, set MCPROVE to the full path of the program";

impl Driver {
    /// Starts the program that `MCPROVE` names, or that of the `PATH`.
    pub fn start() -> Result<Self, DriveError> {
        let program = std::env::var("MCPROVE").unwrap_or_else(|_| "mcprove".to_owned());
        let not_started = |error: io::Error| {
            let help = "install mcprove, or set MCPROVE to the full path of the program";
            DriveError(format!("`{program}` could not be started: {error}\n  help: {help}"))
        };
        let mut command = Command::new(&program);
        command.arg("drive").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().map_err(not_started)?;
        let (input, output) = (process.stdin.take(), process.stdout.take());
        let output = output.ok_or_else(|| not_started(io::ErrorKind::BrokenPipe.into()))?;
        Ok(Self { program, process, input, output: BufReader::new(output), id: 0, has_answered: false })
    }

    /// Sends a request and waits for its result. `docs/drive.md` lists the methods.
    pub fn request(&mut self, method: &str, params: &Value) -> Result<Value, DriveError> {
        self.id += 1;
        let line = json!({"id": self.id, "method": method, "params": params}).to_string() + "\n";
        let mut answer = String::new();
        let written = self.input.as_mut().map_or(Ok(()), |input| input.write_all(line.as_bytes()));
        let read = written.and_then(|()| self.output.read_line(&mut answer));
        if read.is_err() || answer.is_empty() {
            return Err(self.ended());
        }
        let reply = serde_json::from_str::<Value>(&answer).ok().filter(|reply| reply["id"] == self.id);
        let Some(mut reply) = reply.filter(|reply| reply["result"].is_object() || reply["error"].is_object()) else {
            // Another program may never end.
            let _ = self.process.kill();
            let shown: String = answer.trim().chars().take(80).collect();
            let message =
                format!("`{} drive` sent `{shown}`, which is no reply\n  help: {ANOTHER_PROGRAM}", self.program);
            return Err(DriveError(message));
        };
        self.has_answered = true;
        match reply.get("error") {
            Some(error) => Err(DriveError::of_reply(error)),
            None => Ok(reply["result"].take()),
        }
    }

    fn ended(&mut self) -> DriveError {
        self.input = None;
        let status = self.process.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        let mut message = format!("`{} drive` ended ({status}); its standard error says why", self.program);
        if !self.has_answered {
            message = format!("{message}\n  help: {ANOTHER_PROGRAM}");
        }
        DriveError(message)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // The program ends with its input, after it has closed its servers.
        self.input = None;
        let _ = self.process.wait();
    }
}
