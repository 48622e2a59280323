//! Auxiliary commands that run to completion, such as set-up and clean-up commands.

use std::io;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::process_group::{Ending, ProcessGroup};
use crate::program_file::executable;
use crate::watchdog::Guard;

/// Maximum length of a command's output that is kept for messages.
const KEPT: usize = 2_000;
/// Maximum length of standard output that is kept for callers that request it.
const OUTPUT: usize = 1 << 20;
/// The same for callers that read all of it.
const CAPTURED: usize = 24 << 20;

/// The process group of a running command; dropping it ends the group.
#[derive(Debug)]
struct Group(Option<ProcessGroup>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = &self.0 {
            group.end(Ending::Forced);
        }
    }
}

/// Waits for the end of a command and reads what it prints: the beginning of its output, the end of its complaints.
async fn output_of(child: &mut Child, most: usize, most_stderr: usize) -> io::Result<Output> {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let reading = async {
        let keep_first = |kept: &mut Vec<u8>, chunk: &[u8]| {
            kept.extend_from_slice(&chunk[..chunk.len().min(most.saturating_sub(kept.len()))]);
        };
        let keep_last = |kept: &mut Vec<u8>, chunk: &[u8]| {
            kept.extend_from_slice(chunk);
            kept.drain(..kept.len().saturating_sub(most_stderr));
        };
        tokio::join!(read_all(out, &mut stdout, keep_first), read_all(err, &mut stderr, keep_last));
    };
    let ((), status) = tokio::join!(reading, child.wait());
    Ok(Output { status: status?, stdout, stderr })
}

/// Reads a stream to its end, whatever of it is kept.
async fn read_all(stream: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>, keep: impl Fn(&mut Vec<u8>, &[u8])) {
    let Some(mut stream) = stream else { return };
    let mut chunk = vec![0; 16 << 10];
    while let Ok(count @ 1..) = stream.read(&mut chunk).await {
        keep(kept, &chunk[..count]);
    }
}

/// Starts a program that lives on when this one ends, such as a browser. An interrupt at the terminal does not reach it.
pub fn start_detached(words: &[String]) -> Result<std::process::Child, String> {
    let Some((program, args)) = words.split_first() else { return Err("the command is empty".to_owned()) };
    let mut command = std::process::Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().map_err(|error| format!("`{program}` could not be started: {error}"))
}

/// Runs a command; the error says in one line why it did not end well.
pub async fn run_command(words: &[String], deadline: Duration) -> Result<(), String> {
    command_output(words, deadline).await.map(|_| ())
}

/// Output and exit status of a command.
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
    let Some((program, args)) = words.split_first() else { return Err("the command is empty".to_owned()) };
    let mut command = Command::new(executable(program, &[]));
    command.args(args).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.kill_on_drop(true);
    ProcessGroup::lead(&mut command);
    let mut child = command.spawn().map_err(|error| format!("`{program}` could not be started: {error}"))?;
    let mut group = Group(ProcessGroup::of(&child));
    let _guard = Guard::group(group.0.as_ref());
    let output = match timeout(deadline, output_of(&mut child, CAPTURED + 1, OUTPUT)).await {
        Err(_) => return Err(format!("`{program}` did not end within {:.0} s", deadline.as_secs_f64())),
        Ok(Err(error)) => return Err(format!("`{program}` could not be waited for: {error}")),
        Ok(Ok(output)) => output,
    };
    group.0 = None;
    if output.stdout.len() > CAPTURED {
        return Err(format!("`{program}` printed more than {} MiB", CAPTURED >> 20));
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().unwrap_or(-1);
    Ok(Captured { code, stdout: text(&output.stdout), stderr: text(&output.stderr) })
}

/// Runs a command and returns what it printed; the error says in one line why it did not end well.
pub async fn command_output(words: &[String], deadline: Duration) -> Result<String, String> {
    let Some((program, args)) = words.split_first() else { return Err("the command is empty".to_owned()) };
    let mut command = Command::new(executable(program, &[]));
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.kill_on_drop(true);
    ProcessGroup::lead(&mut command);
    let shown = words.join(" ");
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Err(format!("`{shown}` could not be started: {error}")),
    };
    let mut group = Group(ProcessGroup::of(&child));
    let _guard = Guard::group(group.0.as_ref());
    let output = match timeout(deadline, output_of(&mut child, OUTPUT, KEPT)).await {
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

/// A command that runs on until this is dropped.
#[derive(Debug)]
pub struct Background {
    _child: Child,
    _group: Group,
    _guard: Guard,
}

impl Background {
    /// Starts a command; the error says why it could not be started.
    pub fn start(words: &[String]) -> Result<Self, String> {
        let Some((program, args)) = words.split_first() else { return Err("the command is empty".to_owned()) };
        let mut command = Command::new(executable(program, &[]));
        command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.kill_on_drop(true);
        ProcessGroup::lead(&mut command);
        let child = command.spawn().map_err(|error| format!("`{program}` could not be started: {error}"))?;
        let group = Group(ProcessGroup::of(&child));
        let guard = Guard::group(group.0.as_ref());
        Ok(Self { _child: child, _group: group, _guard: guard })
    }
}

/// A command that is given a text and prints one.
#[derive(Debug)]
pub struct FilterCommand<'a> {
    /// The program and its arguments.
    pub words: &'a [String],
    /// Variables added to the environment.
    pub variables: &'a [(String, String)],
    /// The folder it is started in; the caller's when absent.
    pub cwd: Option<&'a str>,
    /// The time in which it must end.
    pub deadline: Duration,
}

impl FilterCommand<'_> {
    /// Runs the command with a text on its standard input, and returns what it prints.
    pub async fn run(&self, input: &str) -> Result<String, String> {
        let Some((program, args)) = self.words.split_first() else { return Err("the command is empty".to_owned()) };
        let mut command = Command::new(executable(program, &[]));
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        if let Some(cwd) = self.cwd {
            command.current_dir(cwd);
        }
        command.kill_on_drop(true);
        ProcessGroup::lead(&mut command);
        let mut child = command.spawn().map_err(|error| format!("`{program}` could not be started: {error}"))?;
        let mut group = Group(ProcessGroup::of(&child));
        let _guard = Guard::group(group.0.as_ref());
        let stdin = child.stdin.take();
        let writing = async {
            if let Some(mut stdin) = stdin {
                // A command that does not read its input may still answer.
                let _ = stdin.write_all(input.as_bytes()).await;
            }
        };
        let both = async { tokio::join!(writing, output_of(&mut child, OUTPUT, KEPT)).1 };
        let output = match timeout(self.deadline, both).await {
            Err(_) => return Err(format!("`{program}` did not end within {:.1} s", self.deadline.as_secs_f64())),
            Ok(Err(error)) => return Err(format!("`{program}` could not be waited for: {error}")),
            Ok(Ok(output)) => output,
        };
        group.0 = None;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let tail =
            String::from_utf8_lossy(&output.stderr[output.stderr.len().saturating_sub(KEPT)..]).trim().to_owned();
        let code = output.status.code().map_or_else(|| "a signal".to_owned(), |code| format!("code {code}"));
        Err(format!("`{program}` ended with {code}: {tail}"))
    }
}
