//! What becomes of commands whose server hangs, dies or babbles: one signal ends each, and each quotes what it saw.
#![cfg(unix)]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::processes::processes_in;
use crate::subject;

#[test]
fn a_signal_ends_a_call_that_hangs() {
    let misbehave = subject::build("misbehave");
    for command in ["audit", "negative", "fuzz", "init", "conformance"] {
        interrupt(&misbehave, &[command, "--timeout", "60s"], "half-a-reply");
    }
    interrupt(&misbehave, &["bench", "--tool", "echo", "--timeout", "60s"], "half-a-reply");
}

#[test]
fn cases_that_a_signal_kept_from_running_are_summed_up_in_one_line() {
    let misbehave = subject::build("misbehave");
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().canonicalize().expect("it is there");
    let mut suite = format!("servers: {{s: {{command: {misbehave:?}, args: [half-a-reply]}}}}\ntools:\n");
    for number in 0..6 {
        let _ = writeln!(suite, "  - {{name: t{number}, tool: echo, args: {{text: hi}}, expect: {{contains: [hi]}}}}");
    }
    fs::write(home.join("suite.yaml"), suite).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    command.args(["run", "suite.yaml", "--timeout", "60s"]).current_dir(&home).stdin(Stdio::null());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("mcprove runs");
    while !processes_in(&home).iter().any(|process| process.starts_with(misbehave.to_string_lossy().as_ref())) {
        thread::sleep(Duration::from_millis(5));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(killed.success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    let printed = [output.stdout, output.stderr].concat();
    let printed = String::from_utf8_lossy(&printed);
    let lines: Vec<&str> = printed.lines().filter(|line| line.contains("interrupted")).collect();
    assert_eq!(lines, ["interrupted: 6 of 6 cases were not run to their end"], "{printed}");
    assert!(!printed.contains("t5"), "{printed}");
}

#[test]
fn a_signal_ends_a_handshake_that_hangs() {
    let misbehave = subject::build("misbehave");
    for command in [
        "audit",
        "bench",
        "conformance",
        "coverage",
        "doctor",
        "fuzz",
        "generate",
        "init",
        "negative",
        "schema-lint",
        "snapshot",
    ] {
        let args: &[&str] = match command {
            "schema-lint" => &[command],
            "coverage" => &[command, "case.yaml", "--timeout", "60s"],
            "snapshot" => &[command, "case.yaml", "--catalog", "--timeout", "60s"],
            _ => &[command, "--timeout", "60s"],
        };
        interrupt(&misbehave, args, "silent");
    }
}

#[test]
fn a_signal_ends_a_hook_that_hangs() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().canonicalize().expect("it is there");
    let suite = "servers: {s: {command: x}}\nhooks: {beforeAll: sh -c 'sleep 20; touch done'}\n\
                 tools: [{name: a, tool: echo, expect: {contains: [hi]}}]\n";
    fs::write(home.join("suite.yaml"), suite).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    command.args(["run", "suite.yaml"]).current_dir(&home).stdin(Stdio::null());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("mcprove runs");
    while !processes_in(&home).iter().any(|process| process.contains("sleep")) {
        thread::sleep(Duration::from_millis(5));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(killed.success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!home.join("done").exists(), "the hook was waited for");
    // A process that is killed takes a moment to go.
    let ended = Instant::now();
    while ended.elapsed() < Duration::from_secs(15) && !processes_in(&home).is_empty() {
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(processes_in(&home), Vec::<String>::new());
}

#[test]
fn too_few_open_files_are_named() {
    for limit in [6, 8, 12, 16] {
        let script = format!("ulimit -n {limit}; exec '{}' doctor", env!("CARGO_BIN_EXE_mcprove"));
        let output = Command::new("sh").args(["-c", &script]).output().expect("sh runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(&format!("only {limit} files may be open")), "{said}");
    }
}

/// Sends one signal to a command once it has started the server, and looks how it ends.
fn interrupt(misbehave: &Path, args: &[&str], behaviour: &str) {
    let command = args[0];
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().canonicalize().expect("it is there");
    let case = "server: {command: x}\nassert: {tool: echo, args: {text: hi}, expect: {contains: [hi]}}\n";
    fs::write(home.join("case.yaml"), case).expect("a file");
    let began = Instant::now();
    let child = Command::new(env!("CARGO_BIN_EXE_mcprove"))
        .args(args)
        .arg("--server")
        .arg(format!("'{}' {behaviour}", misbehave.display()))
        .current_dir(&home)
        .stdin(Stdio::null())
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
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{command}: {said}");
    assert!(said.lines().any(|line| line.starts_with("interrupted")), "{command}: {said}");
    // A process that is killed takes a moment to go.
    let ended = Instant::now();
    while ended.elapsed() < Duration::from_secs(30) && !processes_in(&home).is_empty() {
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(processes_in(&home), Vec::<String>::new(), "{command} left processes behind");
}

#[test]
fn a_server_that_dies_before_it_lists_tools_was_not_reached() {
    let misbehave = subject::build("misbehave");
    let named = ["--tool", "echo"];
    for (command, words) in
        [("audit", &[][..]), ("negative", &[]), ("fuzz", &[]), ("generate", &[]), ("audit", &named), ("fuzz", &named)]
    {
        let output = Command::new(env!("CARGO_BIN_EXE_mcprove"))
            .arg(command)
            .args(words)
            .arg("--server")
            .arg(format!("'{}' exit-after-initialize", misbehave.display()))
            .output()
            .expect("mcprove runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command}: {said}");
        assert!(said.contains("before it answered `tools/list`"), "{command}: {said}");
    }
}

#[test]
fn what_a_server_printed_where_messages_belong_is_quoted() {
    let misbehave = subject::build("misbehave");
    for (command, behaviour, quoted) in [
        ("audit", "garbage-first", "Starting server..."),
        ("doctor", "garbage-first", "Starting server..."),
        ("fuzz", "bom", "\\u{feff}{"),
        ("generate", "bogus-version", "\"protocolVersion\":\"1999-01-01\""),
        ("audit", "both", "both yes and no"),
        ("audit", "half-a-reply", "\"jsonrpc\":\"2.0\",\"id\""),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_mcprove"))
            .args([command, "--timeout", "2s", "--server"])
            .arg(format!("'{}' {behaviour}", misbehave.display()))
            .stdin(Stdio::null())
            .output()
            .expect("mcprove runs");
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(said.contains(quoted), "{command} {behaviour}: {said}");
    }
}

/// A server that never lists its tools, and makes a file when it is asked for them.
const LISTLESS: &str = r#"while read -r line; do
  case $line in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}' ;;
    *'"tools/list"'*) touch asked ;;
  esac
done
"#;

#[test]
fn a_signal_ends_a_call_whose_server_never_lists_its_tools() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().canonicalize().expect("it is there");
    fs::write(home.join("server.sh"), LISTLESS).expect("a file");
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcprove"))
        .args(["call", "echo", "--server", "sh server.sh"])
        .current_dir(&home)
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("mcprove runs");
    while !home.join("asked").exists() {
        assert!(child.try_wait().expect("it can be asked").is_none(), "it ended before the signal");
        thread::sleep(Duration::from_millis(5));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(killed.success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "interrupted: nothing was called\n");
}

/// A server that answers a call after some notifications, and then makes a file.
const QUICK: &str = r#"while read -r line; do
  case $line in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}' ;;
    *'"tools/call"'*)
      touch called
      while [ ! -e answer ]; do sleep 0.01; done
      for n in 1 2 3; do echo '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}'; done
      echo '{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"hi"}]}}'
      touch answered ;;
  esac
done
"#;

#[test]
fn an_answer_that_came_while_the_program_stood_still_is_read_before_its_time_is_judged() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().canonicalize().expect("it is there");
    fs::write(home.join("server.sh"), QUICK).expect("a file");
    let case = format!(
        "name: quick\nserver: {{ command: sh, args: [server.sh], cwd: '{}' }}\ntimeout: 1s\n\
         assert: {{ tool: t, args: {{}}, expect: {{ contains: [hi] }} }}\n",
        home.display()
    );
    fs::write(home.join("case.yaml"), case).expect("a file");
    let child = Command::new(env!("CARGO_BIN_EXE_mcprove"))
        .args(["run", "case.yaml"])
        .current_dir(&home)
        .stdout(Stdio::piped())
        .spawn()
        .expect("mcprove runs");
    let signal = |name: &str| {
        let status = Command::new("kill").args([name, &child.id().to_string()]).status();
        assert!(status.expect("kill runs").success());
    };
    let began = Instant::now();
    let until = |file: &str| {
        while !home.join(file).exists() {
            assert!(began.elapsed() < Duration::from_secs(20), "there is no file `{file}`");
            thread::sleep(Duration::from_millis(5));
        }
    };
    until("called");
    let called = Instant::now();
    signal("-STOP");
    fs::write(home.join("answer"), "").expect("a file");
    until("answered");
    // The deadline of the call passes while nobody reads its answer.
    while called.elapsed() < Duration::from_millis(1_500) {
        thread::sleep(Duration::from_millis(50));
    }
    signal("-CONT");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
}
