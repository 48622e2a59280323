//! One signal ends every command that speaks to a server, though a call hangs, and says what became of it.
#![cfg(unix)]

mod processes;
mod subject;

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use processes::processes_in;

#[test]
fn a_signal_ends_a_call_that_hangs() {
    let misbehave = subject::build("misbehave");
    for command in ["audit", "negative", "fuzz"] {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().canonicalize().expect("it is there");
        let began = Instant::now();
        let child = Command::new(env!("CARGO_BIN_EXE_mcprove"))
            .args([command, "--timeout", "60s", "--server"])
            .arg(format!("'{}' half-a-reply", misbehave.display()))
            .current_dir(&home)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("mcprove runs");
        while !processes_in(&home).iter().any(|process| process.starts_with(misbehave.to_string_lossy().as_ref())) {
            assert!(began.elapsed() < Duration::from_secs(20), "{command}: the server was not started");
            thread::sleep(Duration::from_millis(5));
        }
        let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
        assert!(killed.success());
        let output = child.wait_with_output().expect("it ends");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{command}: {told}");
        assert!(told.lines().any(|line| line.starts_with("interrupted")), "{command}: {told}");
        assert!(began.elapsed() < Duration::from_secs(30), "{command} waited for the call");
    }
}

#[test]
fn a_server_that_dies_before_it_lists_tools_was_not_reached() {
    let misbehave = subject::build("misbehave");
    for command in ["audit", "negative", "fuzz", "generate"] {
        let output = Command::new(env!("CARGO_BIN_EXE_mcprove"))
            .args([command, "--server"])
            .arg(format!("'{}' exit-after-initialize", misbehave.display()))
            .output()
            .expect("mcprove runs");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command}: {told}");
        assert!(told.contains("before it answered `tools/list`"), "{command}: {told}");
    }
}
