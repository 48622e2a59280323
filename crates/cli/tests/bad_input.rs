//! Bad input of every kind: a clear word, the right exit code, no panic, no hang, nothing lost.

#![cfg(unix)]

use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const MCPROVE: &str = env!("CARGO_BIN_EXE_mcprove");

fn run(folder: &Path, args: &[&str]) -> Output {
    let began = Instant::now();
    let mut command = Command::new(MCPROVE);
    let output = command.args(args).current_dir(folder).stdin(Stdio::null()).output().expect("mcprove runs");
    assert!(began.elapsed() < Duration::from_secs(20), "{args:?} took {:?}", began.elapsed());
    output
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Nine levels of nine aliases: a few hundred bytes that mean hundreds of millions of values.
fn alias_bomb() -> String {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..9 {
        let items = vec![format!("*a{}", level - 1); 9].join(", ");
        let _ = writeln!(text, "a{level}: &a{level} [{items}]");
    }
    text
}

#[test]
fn files_that_are_no_suites_are_told_and_not_run() {
    let nested_list = format!("assert: {}{}", "[".repeat(50_000), "]".repeat(50_000));
    let nested_map = (0..5_000).fold(String::new(), |mut text, depth| {
        let _ = writeln!(text, "{}k:", " ".repeat(depth));
        text
    });
    let huge = format!("name: {}\n", "x".repeat(5 << 20));
    let files: [(&str, Vec<u8>); 9] = [
        ("alias-bomb", alias_bomb().into_bytes()),
        ("binary", (0..=255_u8).cycle().take(4096).collect()),
        ("empty", Vec::new()),
        ("huge", huge.into_bytes()),
        ("nested-list", nested_list.into_bytes()),
        ("nested-map", nested_map.into_bytes()),
        ("not-utf8", b"name: caf\xe9\n".to_vec()),
        ("nul", b"name: a\0b\nassert: {tool: x}\n".to_vec()),
        ("numbers", b"server: {command: x}\nassert: {tool: x, args: {n: 99999999999999999999999999999, m: 1e999}}\ntimeout: -5s\n".to_vec()),
    ];
    for (name, text) in files {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("case.yaml"), text).expect("a file");
        let output = run(folder.path(), &["run", "case.yaml"]);
        let told = said(&output);
        assert_eq!(output.status.code(), Some(2), "{name}: {}", told.chars().take(500).collect::<String>());
        assert!(told.contains("error") && told.contains("case.yaml"), "{name}: {told}");
        assert!(told.len() < 100_000, "{name} is told in {} bytes", told.len());
    }
}

#[test]
fn paths_that_cannot_be_read_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    symlink(at("loop-b"), at("loop-a")).expect("a link");
    symlink(at("loop-a"), at("loop-b")).expect("a link");
    fs::create_dir(at("circle")).expect("a folder");
    symlink(at("circle"), at("circle/again")).expect("a link");
    fs::write(at("circle/good.yaml"), "trace: [{tool: a}]\ntrajectory: [{type: presence, tools: [a]}]\n")
        .expect("a file");
    symlink(at("nowhere.yaml"), at("dangling.yaml")).expect("a link");
    for path in ["missing", "missing.yaml", "loop-a", "dangling.yaml"] {
        let output = run(folder.path(), &["run", path]);
        assert_eq!(output.status.code(), Some(2), "{path}: {}", said(&output));
        assert!(said(&output).contains(path), "{path}: {}", said(&output));
    }
    let circle = run(folder.path(), &["run", "circle"]);
    assert_eq!(circle.status.code(), Some(0), "a folder that holds itself is read once: {}", said(&circle));
    let odd = folder.path().join(std::ffi::OsStr::from_bytes(b"odd-\xff.yaml"));
    fs::write(&odd, "trace: [{tool: a}]\ntrajectory: [{type: presence, tools: [a]}]\n").expect("a file");
    let output = Command::new(MCPROVE).arg("run").arg(&odd).output().expect("mcprove runs");
    assert!(matches!(output.status.code(), Some(0 | 2)), "{}", said(&output));
}

#[test]
fn options_that_make_no_sense_are_refused_before_anything_starts() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("s.yaml"), "server: {command: touch, args: [started]}\nassert: {tool: x}\n")
        .expect("a file");
    for args in [
        ["--jobs", "0"],
        ["--jobs", "-1"],
        ["--jobs", "99999999999999999999"],
        ["--timeout", "-1s"],
        ["--timeout", "99999999999999999999h"],
        ["--trials", "0"],
        ["--shard", "0/3"],
        ["--shard", "4/3"],
        ["--filter", "/(/"],
    ] {
        let output = run(folder.path(), &["run", "s.yaml", args[0], args[1]]);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", said(&output));
    }
    assert!(!folder.path().join("started").exists());
}

#[test]
fn a_narrow_terminal_and_no_room_for_reports_lose_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let case = "name: a case whose name is a good deal longer than twenty columns\ntrace: [{tool: a}]\n\
                trajectory: [{type: absence, tools: [a]}]\n";
    fs::write(folder.path().join("s.yaml"), case).expect("a file");
    let script = format!("stty cols 20 rows 10; exec {MCPROVE} run s.yaml");
    let output = Command::new("script").args(["-qec", &script, "/dev/null"]).current_dir(folder.path()).output();
    if let Ok(output) = output {
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        assert!(said(&output).contains("absence"), "{}", said(&output));
    }
    // Everything that is written there fails as on a full disk.
    let full = run(folder.path(), &["run", "s.yaml", "--junit", "/dev/full", "--events", "/dev/full"]);
    assert_eq!(full.status.code(), Some(1), "the verdict stands: {}", said(&full));
    assert!(said(&full).contains("No space left"), "{}", said(&full));
    let strict = run(folder.path(), &["run", "s.yaml", "--junit", "/dev/full", "--strict-reports"]);
    assert_eq!(strict.status.code(), Some(2), "{}", said(&strict));
}
