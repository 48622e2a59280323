//! Server processes: started in a group of their own, and gone when we are done.

use std::collections::VecDeque;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcprove_model::ProcessEnd;
use tokio::io::{AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::process_group::{Ending, ProcessGroup, signal_of};
use crate::program_file::executable;
use crate::sandbox::{Confined, SandboxPolicy, Scratch, confine};
use crate::watchdog::Guard;

/// Polling interval for a group without its leader: the end of another process's child is not reported.
const GROUP_POLL: Duration = Duration::from_millis(5);
/// Time for the last lines of standard error after the process has exited; another process may hold the pipe.
const STDERR_SETTLE: Duration = Duration::from_millis(100);

/// A program to start.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The executable, looked up on the PATH.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables added to our environment.
    pub env: Vec<(String, String)>,
    /// Its folder; ours when absent.
    pub cwd: Option<String>,
    /// Its confinement, where the system supports one; `None` starts it unconfined.
    pub sandbox: Option<SandboxPolicy>,
}

/// Reason why a program could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// There is no such program.
    #[error("the command `{0}` was not found")]
    NotFound(String),
    /// The file is there, but not what its first line names.
    #[error("the interpreter that the first line of `{0}` names was not found")]
    NoInterpreter(String),
    /// The folder to start it in does not exist.
    #[error("the folder `{0}` does not exist")]
    NoFolder(String),
    /// It may not be executed.
    #[error("the command `{0}` may not be executed")]
    NotExecutable(String),
    /// It could not be confined, and so was not started.
    #[error("the command `{0}` could not be confined: {1}")]
    NotConfined(String, String),
    /// Anything else.
    #[error("the command `{0}` could not be started: {1}")]
    Other(String, io::Error),
}

impl SpawnError {
    /// Advice on what to do next.
    pub fn help(&self) -> &'static str {
        match self {
            Self::NotFound(command) if command.contains(' ') => {
                "put the arguments into `args:`; `command` is the program alone"
            }
            Self::NotFound(_) => "install it, or give its full path; servers are looked up on the PATH",
            Self::NoInterpreter(_) => "install it, or fix the first line of the file",
            Self::NoFolder(_) => "fix `cwd:` of the server",
            Self::NotExecutable(_) => "make the file executable, or run it through its interpreter",
            Self::NotConfined(..) => "start it without the sandbox: `--no-sandbox`, or leave out `sandbox`",
            Self::Other(..) => "try the command by hand",
        }
    }
}

/// A running server process and its group.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    group: Option<ProcessGroup>,
    end: Option<ProcessEnd>,
    stderr: StderrTail,
    /// Reads standard error; `None` once it has ended.
    drain: Option<JoinHandle<()>>,
    /// Ends the group if we are killed before we can.
    _guard: Guard,
    /// The folder of its temporary files, if it is confined; removed once the group has ended.
    _scratch: Option<Scratch>,
}

/// The pipes of a process that a transport speaks over.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
}

impl Process {
    /// Starts a program in a process group of its own, with its standard error drained into a bounded tail.
    pub(crate) fn start(program: &Program, stderr_bytes: usize) -> Result<(Self, Pipes), SpawnError> {
        Self::start_echoing(program, stderr_bytes, tokio::io::sink())
    }

    /// Starts a program as [`Process::start`] does; its standard error is also copied to `echo`.
    pub(crate) fn start_echoing(
        program: &Program,
        stderr_bytes: usize,
        echo: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(Self, Pipes), SpawnError> {
        let confined =
            confine(program).map_err(|error| SpawnError::NotConfined(program.command.clone(), error.to_string()))?;
        let mut command = command_line(program, confined.as_ref());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        ProcessGroup::lead(&mut command);
        if let Some(cwd) = &program.cwd {
            command.current_dir(cwd);
        }
        let mut child = command.spawn().map_err(|error| spawn_error(program, error))?;
        let group = ProcessGroup::of(&child);
        let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            unreachable!("all three streams were asked to be piped");
        };
        let tail = StderrTail::new(stderr_bytes);
        let drain = Some(tokio::spawn(tail.clone().drain(stderr, echo)));
        let guard = Guard::group(group.as_ref());
        let scratch = confined.map(|confined| confined.scratch);
        let process = Self { child, group, end: None, stderr: tail, drain, _guard: guard, _scratch: scratch };
        Ok((process, Pipes { stdin, stdout }))
    }

    /// Its id while it runs.
    pub(crate) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits for the leader to exit. Safe to cancel.
    pub(crate) async fn exited(&mut self) -> ProcessEnd {
        if let Some(end) = self.end {
            return end;
        }
        let end = match self.child.wait().await {
            Ok(status) => process_end(status),
            Err(_) => ProcessEnd { code: None, signal: None },
        };
        self.end = Some(end);
        end
    }

    /// The kept end of its standard error.
    pub(crate) fn stderr(&self) -> &StderrTail {
        &self.stderr
    }

    /// Lets the last lines of standard error arrive once the process is gone.
    pub(crate) async fn stderr_settled(&mut self) {
        if let Some(drain) = &mut self.drain
            && timeout(STDERR_SETTLE, drain).await.is_ok()
        {
            self.drain = None;
        }
    }

    /// Ends the process and everything in its group. Its input is closed, and it had its time to exit by itself:
    /// SIGTERM to the group, a grace period, then SIGKILL.
    pub(crate) async fn finish(mut self, grace: Duration) -> (ProcessEnd, String) {
        if self.end.is_none() {
            self.end_group(Ending::Asked);
            if timeout(grace, self.exited()).await.is_err() {
                self.end_group(Ending::Forced);
                // Where the system could not end the group.
                let _ = self.child.start_kill();
            }
        }
        let end = self.exited().await;
        self.sweep_group(grace).await;
        self.stderr_settled().await;
        (end, self.stderr.text())
    }

    /// Ends what the leader left behind in its group.
    async fn sweep_group(&mut self, grace: Duration) {
        if !self.group_lives() {
            self.group = None;
            return;
        }
        self.end_group(Ending::Asked);
        let deadline = Instant::now() + grace;
        let gone = timeout_at(deadline, async {
            while self.group_lives() {
                sleep(GROUP_POLL).await;
            }
        });
        if gone.await.is_err() {
            self.end_group(Ending::Forced);
        }
        self.group = None;
    }

    /// True if anything of its group is left.
    pub(crate) fn group_lives(&self) -> bool {
        self.named_group().is_some_and(ProcessGroup::lives)
    }

    /// Its group, while its number is that of no other.
    fn named_group(&self) -> Option<&ProcessGroup> {
        self.group.as_ref().filter(|_| ProcessGroup::OUTLIVES_LEADER || self.end.is_none())
    }

    /// Signals the whole group to end.
    pub(crate) fn end_group(&self, ending: Ending) {
        if let Some(group) = self.named_group() {
            group.end(ending);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Reached with a live group only when a run is abandoned (Ctrl-C, panic): leave nothing behind.
        self.end_group(Ending::Forced);
        if let Some(drain) = &self.drain {
            drain.abort();
        }
    }
}

/// The command line of a program with its variables.
fn command_line(program: &Program, confined: Option<&Confined>) -> Command {
    let mut command = match confined {
        Some(confined) => {
            let mut command = Command::new(&confined.command);
            command.args(&confined.prefix).arg(&program.command);
            command
        }
        None => Command::new(executable(&program.command, &program.env)),
    };
    command.args(&program.args).envs(program.env.iter().map(|(name, value)| (name, value)));
    if let Some(confined) = confined {
        command.envs(confined.env.iter().map(|(name, value)| (name, value)));
    }
    command
}

fn process_end(status: ExitStatus) -> ProcessEnd {
    ProcessEnd { code: status.code(), signal: signal_of(status) }
}

/// The reason for which the system did not start a program.
pub(crate) fn spawn_error(program: &Program, error: io::Error) -> SpawnError {
    let command = program.command.clone();
    match error.kind() {
        io::ErrorKind::NotFound => match &program.cwd {
            Some(cwd) if !std::path::Path::new(cwd).is_dir() => SpawnError::NoFolder(cwd.clone()),
            _ if command.contains('/') && std::path::Path::new(&command).exists() => SpawnError::NoInterpreter(command),
            _ => SpawnError::NotFound(command),
        },
        io::ErrorKind::PermissionDenied => SpawnError::NotExecutable(command),
        _ => SpawnError::Other(command, error),
    }
}

/// The end of what a server wrote to its standard error, shared with the task that reads it.
#[derive(Clone, Debug)]
pub struct StderrTail {
    ring: Arc<Mutex<VecDeque<u8>>>,
    limit: usize,
}

impl StderrTail {
    fn new(limit: usize) -> Self {
        Self { ring: Arc::default(), limit }
    }

    async fn drain(self, mut stderr: ChildStderr, mut echo: impl AsyncWrite + Unpin) {
        let mut chunk = vec![0; 8 << 10];
        while let Ok(count) = stderr.read(&mut chunk).await {
            if count == 0 {
                return;
            }
            self.add(&chunk[..count]);
            // The reader may be gone.
            let _ = echo.write_all(&chunk[..count]).await;
            let _ = echo.flush().await;
        }
    }

    fn add(&self, bytes: &[u8]) {
        let mut ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = &bytes[bytes.len().saturating_sub(self.limit)..];
        let excess = (ring.len() + bytes.len()).saturating_sub(self.limit);
        ring.drain(..excess);
        ring.extend(bytes);
    }

    /// The text kept so far, with what is not UTF-8 replaced.
    pub fn text(&self) -> String {
        let mut ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        if ring.is_empty() {
            return String::new();
        }
        let bytes = ring.make_contiguous();
        let cut = bytes.len() >= self.limit;
        // A line that was cut says little, and half of a secret in it could hardly be recognised any more. Where it is
        // all there is, a mark says that it was cut.
        let (mark, whole) = match memchr::memchr(b'\n', bytes) {
            Some(end) if cut => ("", &bytes[end + 1..]),
            None if cut => ("…", &*bytes),
            Some(_) | None => ("", &*bytes),
        };
        format!("{mark}{}", String::from_utf8_lossy(whole))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_keeps_the_end() {
        let tail = StderrTail::new(5);
        tail.add(b"abc");
        tail.add(b"defg");
        assert_eq!(tail.text(), "…cdefg");
        tail.add(b"0123456789");
        assert_eq!(tail.text(), "…56789");
        tail.add(b"a\nbc");
        assert_eq!(tail.text(), "bc");
    }
}
