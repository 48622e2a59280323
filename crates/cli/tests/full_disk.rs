//! A full disk: whatever could not be written is named with the reason, the exit code is 2, and nothing is left half
//! written. `/dev/full` takes nothing, and a link there makes any file such a disk; `tests/hostile/full-disk` does the
//! same on a real one.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const MCPROVE: &str = env!("CARGO_BIN_EXE_mcprove");
const FULL: &str = "/dev/full";

/// A folder with a mock, a suite that passes and a log of it.
fn place() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fs::write(at("mock.yml"), "mock_server:\n  tools:\n    - {name: hello, response: hello you}\n").expect("a file");
    let suite =
        "servers:\n  m: {mock: mock.yml}\nassert:\n  - {name: says hello, tool: hello, expect: {contains: [hello]}}\n";
    fs::write(at("suite.yaml"), suite).expect("a file");
    let case = "name: c\nserver: {command: mcprove, args: [mock, --tools-from, mock.yml]}\nassert: {tool: hello, expect: {contains: [hello]}}\n";
    fs::write(at("case.yaml"), case).expect("a file");
    let logged = run(folder.path(), &["run", "suite.yaml", "--events", "run.ndjson"]);
    assert_eq!(logged.status.code(), Some(0), "{}", said(&logged));
    folder
}

fn run(folder: &Path, args: &[&str]) -> Output {
    Command::new(MCPROVE).args(args).current_dir(folder).stdin(Stdio::null()).output().expect("mcprove runs")
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn every_report_that_cannot_be_written_is_exit_code_2() {
    let folder = place();
    for flag in
        ["--junit", "--markdown", "--html", "--report", "--sarif", "--badge", "--tap", "--events", "--save-baseline"]
    {
        let output = run(folder.path(), &["run", "suite.yaml", flag, FULL]);
        assert!(said(&output).contains("No space left"), "{flag}: {}", said(&output));
        assert!(said(&output).contains(FULL), "{flag} names the file: {}", said(&output));
        assert_eq!(output.status.code(), Some(2), "{flag}: {}", said(&output));
        assert!(said(&output).contains("1 passed"), "{flag}: the verdict is told: {}", said(&output));
    }
}

#[test]
fn a_file_that_may_not_be_so_large_is_an_error_and_the_others_are_written() {
    let folder = place();
    let script = format!("ulimit -f 8; exec '{MCPROVE}' run suite.yaml --html run.html --junit run.xml");
    let limited = Command::new("sh").args(["-c", &script]).current_dir(folder.path()).stdin(Stdio::null()).output();
    let limited = limited.expect("sh runs");
    assert_eq!(limited.status.code(), Some(2), "{}", said(&limited));
    assert!(said(&limited).contains("1 passed"), "{}", said(&limited));
    assert!(said(&limited).contains("run.html") && said(&limited).contains("File too large"), "{}", said(&limited));
    assert!(folder.path().join("run.xml").exists() && !folder.path().join("run.html").exists());
}

#[test]
fn whatever_else_is_written_says_so_too() {
    let folder = place();
    let at = |name: &str| folder.path().join(name);
    let server = format!("'{MCPROVE}' mock --tools-from mock.yml");
    fs::create_dir_all(at("evals")).expect("a folder");
    symlink(FULL, at("evals/hello.yaml")).expect("a link");
    // A link in the folder is not followed: the file takes its place.
    let output = run(folder.path(), &["generate", "--output", "evals", "--overwrite", "--server", &server]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(at("evals/hello.yaml").symlink_metadata().expect("a file").is_file());
    for args in [
        &["schema-lint", "--sarif", FULL, "--server", &server][..],
        &["audit", "--events", FULL, "--server", &server],
        &["fuzz", "--events", FULL, "--runs", "2", "--server", &server],
        &["report", "run.ndjson", "--html", FULL],
    ] {
        let output = run(folder.path(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", said(&output));
        assert!(said(&output).contains("No space left"), "{args:?}: {}", said(&output));
    }
    let left: Vec<_> = fs::read_dir(folder.path())
        .expect("a folder")
        .chain(fs::read_dir(at("evals")).expect("a folder"))
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with(".mcprove"))
        .collect();
    assert!(left.is_empty(), "half-written files are left: {left:?}");
}

#[test]
fn a_standard_output_that_takes_nothing_is_told_and_one_that_is_closed_is_not() {
    let folder = place();
    let server = format!("'{MCPROVE}' mock --tools-from mock.yml");
    for args in [
        &["run", "suite.yaml"][..],
        &["run", "suite.yaml", "--json"],
        &["run", "suite.yaml", "--dry-run"],
        &["validate", "suite.yaml"],
        &["report", "run.ndjson"],
        &["audit", "--server", &server],
        &["audit", "--json", "--server", &server],
        &["negative", "--server", &server],
        &["fuzz", "--runs", "2", "--server", &server],
        &["schema-lint", "--all", "--server", &server],
        &["coverage", "suite.yaml", "--server", &server],
        &["doctor", "--server", &server],
        &["schema", "suite"],
        &["explain"],
        &["man"],
    ] {
        let mut command = Command::new(MCPROVE);
        command.args(args).current_dir(folder.path()).stdin(Stdio::null());
        let full = File::options().write(true).open(FULL).expect("it opens");
        let output = command.stdout(full).stderr(Stdio::piped()).output().expect("mcprove runs");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {told}");
        assert!(told.contains("No space left"), "{args:?}: {told}");

        // Somebody who has seen enough, as `head` does.
        let mut child = command.stdout(Stdio::piped()).spawn().expect("mcprove runs");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 1 | 4)), "{args:?}: {:?} {told}", output.status);
        assert!(!told.contains("panicked") && !told.contains("Broken pipe"), "{args:?}: {told}");
    }
}
