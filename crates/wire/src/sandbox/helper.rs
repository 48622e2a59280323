//! The hidden mode of the program: it confines itself and becomes the server.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use crate::Program;
use crate::process::{SpawnError, spawn_error};

/// The argument that makes the program confine itself and become a server.
pub const CONFINED: &str = "__confined";

/// The start of the line by which the helper reports that it could not become the server.
const REPORT: &str = "mcprove-sandbox: ";
const NOT_EXECUTED: &str = "exec ";
const NOT_CONFINED: &str = "confine ";

/// Confines this process by the paths before `--` and becomes the command after it. Returns only if that fails: with the
/// line for standard error.
pub fn run_confined(mut arguments: impl Iterator<Item = OsString>) -> String {
    let writable: Vec<PathBuf> = arguments.by_ref().take_while(|word| word != "--").map(PathBuf::from).collect();
    let Some(command) = arguments.next() else { return format!("{REPORT}{NOT_CONFINED}the command is empty\n") };
    match become_server(&writable, &command, arguments) {
        Failure::NotConfined(why) => format!("{REPORT}{NOT_CONFINED}{}\n", why.replace('\n', " ")),
        Failure::NotExecuted(error) => {
            format!("{REPORT}{NOT_EXECUTED}{}\n", error.raw_os_error().unwrap_or_default())
        }
    }
}

/// The step that failed.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "the helper runs on Linux only"))]
enum Failure {
    NotConfined(String),
    NotExecuted(io::Error),
}

#[cfg(target_os = "linux")]
fn become_server(writable: &[PathBuf], command: &OsString, arguments: impl Iterator<Item = OsString>) -> Failure {
    use std::os::unix::process::CommandExt as _;
    if let Err(why) = super::landlock_rules::apply(writable) {
        return Failure::NotConfined(why);
    }
    Failure::NotExecuted(std::process::Command::new(command).args(arguments).exec())
}

#[cfg(not(target_os = "linux"))]
fn become_server(_: &[PathBuf], _: &OsString, _: impl Iterator<Item = OsString>) -> Failure {
    Failure::NotConfined("this system has no Landlock".to_owned())
}

/// The reason for which a confined program did not start, by its standard error; `None` if it was started.
pub(crate) fn failure_of_start(program: &Program, stderr: &str) -> Option<SpawnError> {
    program.sandbox.as_ref()?;
    let command = || program.command.clone();
    for line in stderr.lines() {
        if let Some(report) = line.strip_prefix(REPORT) {
            if let Some(number) = report.strip_prefix(NOT_EXECUTED).and_then(|number| number.trim().parse().ok()) {
                return Some(spawn_error(program, io::Error::from_raw_os_error(number)));
            }
            let why = report.strip_prefix(NOT_CONFINED)?;
            return Some(SpawnError::NotConfined(command(), why.to_owned()));
        }
        // macOS: "sandbox-exec: execvp() of 'x' failed: No such file or directory".
        if line.starts_with("sandbox-exec: execvp() of ") {
            let kind = if line.contains("Permission denied") {
                io::ErrorKind::PermissionDenied
            } else {
                io::ErrorKind::NotFound
            };
            return Some(spawn_error(program, kind.into()));
        }
        if let Some(why) = line.strip_prefix("sandbox-exec: ") {
            return Some(SpawnError::NotConfined(command(), why.to_owned()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SandboxPolicy;

    #[test]
    fn the_report_of_the_helper_becomes_the_usual_error() {
        let program =
            Program { command: "no-such".into(), sandbox: Some(SandboxPolicy::default()), ..Program::default() };
        let text = |stderr: &str| failure_of_start(&program, stderr).map(|error| error.to_string());
        assert_eq!(text("mcprove-sandbox: exec 2\n").as_deref(), Some("the command `no-such` was not found"));
        assert_eq!(text("mcprove-sandbox: exec 13\n").as_deref(), Some("the command `no-such` may not be executed"));
        let refused = "the command `no-such` could not be confined: EPERM";
        assert_eq!(text("mcprove-sandbox: confine EPERM\n").as_deref(), Some(refused));
        let mac = "sandbox-exec: execvp() of 'no-such' failed: No such file or directory\n";
        assert_eq!(text(mac).as_deref(), Some("the command `no-such` was not found"));
        assert_eq!(text("API_KEY not set\n"), None);
        let free = Program { sandbox: None, ..program.clone() };
        assert!(failure_of_start(&free, "mcprove-sandbox: exec 2\n").is_none());
    }
}
