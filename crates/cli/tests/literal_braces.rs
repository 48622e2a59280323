//! Names and replies with `{{…}}` in them: whatever writes a suite writes one that runs, and asks for those very braces.
#![cfg(unix)]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::shell_server;

const TOOLS: &str = r#"[{"name":"fill","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"text":{"const":"{{name}} costs $$5 or ${PRICE}"}},"required":["text"]}}]"#;
const ANSWER: &str = r#""Dear {{name}}, see {{fixture}} and {{'{{'}}.""#;

fn mcprove(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    command.args(args).current_dir(folder).env("NO_COLOR", "1").stdin(Stdio::null());
    command.output().expect("it runs")
}

fn server(folder: &Path) {
    shell_server::write(folder, TOOLS, ANSWER);
}

fn passes(folder: &Path, path: &str) {
    let run = mcprove(folder, &["run", path, "--strict"]);
    let told = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(0), "{told}");
    assert!(!told.contains("warning"), "{told}");
}

#[test]
fn what_init_audit_and_generate_write_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    server(folder.path());
    for (args, path) in [
        (vec!["init", "a", "--no-workflow", "--server", "sh server.sh"], "a"),
        (vec!["audit", "--output", "b", "--server", "sh server.sh"], "b"),
        (vec!["generate", "--output", "c", "--server", "sh server.sh"], "c"),
    ] {
        let written = mcprove(folder.path(), &args);
        assert_eq!(written.status.code(), Some(0), "{}", String::from_utf8_lossy(&written.stderr));
        passes(folder.path(), path);
    }
    let suite = fs::read_to_string(folder.path().join("b/fill.yaml")).expect("a file");
    assert!(suite.contains("Dear {{'{{'}}name}}, see {{'{{'}}fixture}}"), "{suite}");
    // It can fail: another answer is another verdict.
    shell_server::write(folder.path(), TOOLS, r#""Dear Ada""#);
    assert_eq!(mcprove(folder.path(), &["run", "b"]).status.code(), Some(1));
}

#[test]
fn what_intercept_writes_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    server(folder.path());
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    command.args(["intercept", "--as-suite", "suite.yaml", "--", "sh", "server.sh"]).current_dir(folder.path());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"fill","arguments":{"text":"{{name}} costs $$5 or ${PRICE}"}}}"#,
    ] {
        writeln!(stdin, "{line}").expect("written");
    }
    drop(stdin);
    child.wait().expect("it ends");
    let suite = fs::read_to_string(folder.path().join("suite.yaml")).expect("a suite");
    assert!(suite.contains("{{'{{'}}name}}"), "{suite}");
    passes(folder.path(), "suite.yaml");
}
