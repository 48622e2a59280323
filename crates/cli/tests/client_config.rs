//! `--client-config`: servers as the configuration files of clients describe them, with their variables.
#![cfg(unix)]

mod shell_server;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const TOOLS: &str = r#"[{"name":"whoami","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}]"#;

fn mcprove(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    command
        .args(args)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("SHOP_KEY", "key-of-the-shop")
        .env_remove("API_KEY");
    command.output().expect("it runs")
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn config(folder: &Path, value: &str) {
    let text = format!(
        "{{ // as editors write it\n  \"servers\": {{\"shop\": {{\"command\": \"sh\", \"args\": [\"${{workspaceFolder}}/server.sh\"], \
         \"env\": {{\"API_KEY\": \"{value}\"}},}}}}\n}}"
    );
    fs::create_dir_all(folder.join(".vscode")).expect("a folder");
    fs::write(folder.join(".vscode/mcp.json"), text).expect("a file");
}

#[test]
fn variables_reach_the_server_and_no_output() {
    let folder = tempfile::tempdir().expect("a folder");
    shell_server::write(folder.path(), TOOLS, r#""len ${#API_KEY}""#);
    config(folder.path(), "${env:SHOP_KEY}");
    let init = mcprove(folder.path(), &["init", "evals", "--no-workflow", "--client-config", ".vscode/mcp.json"]);
    assert_eq!(init.status.code(), Some(0), "{}", told(&init));
    assert!(told(&init).contains("next: set API_KEY, then: mcprove run evals"), "{}", told(&init));
    let snapshot = fs::read_to_string(folder.path().join("evals/.snapshots/whoami.snap")).expect("a snapshot");
    assert!(snapshot.contains("len 15"), "the key was there when the reply was stored: {snapshot}");
    let suite = fs::read_to_string(folder.path().join("evals/whoami.yaml")).expect("a suite");
    assert!(suite.contains("${API_KEY}") && !suite.contains("key-of-the-shop"), "{suite}");
    let again = mcprove(folder.path(), &["snapshot", "evals", "--client-config", ".vscode/mcp.json"]);
    assert_eq!(again.status.code(), Some(0), "{}", told(&again));
}

#[test]
fn a_secret_among_the_words_of_a_command_is_not_told() {
    let folder = tempfile::tempdir().expect("a folder");
    shell_server::write(folder.path(), TOOLS, r#""x""#);
    let server = r#"{"servers": {"shop": {"command": "sh", "args": ["server.sh", "--key=${env:SHOP_KEY}"]}}}"#;
    fs::write(folder.path().join("mcp.json"), server).expect("a file");
    for command in ["audit", "doctor", "fuzz", "schema-lint"] {
        for format in [&["--json"][..], &[]] {
            let words = [&[command, "--client-config", "mcp.json"][..], format].concat();
            let said = told(&mcprove(folder.path(), &words));
            assert!(!said.contains("key-of-the-shop"), "{words:?}: {said}");
        }
    }
}

#[test]
fn what_is_missing_is_told_with_its_file_and_key() {
    let folder = tempfile::tempdir().expect("a folder");
    shell_server::write(folder.path(), TOOLS, r#""x""#);
    for (value, expected) in [
        (
            "${env:NOBODY_SETS_THIS}",
            "error: `servers.shop.env.API_KEY` of `.vscode/mcp.json` needs the environment variable `NOBODY_SETS_THIS`, \
             which is not set\n  help: set `NOBODY_SETS_THIS` and run again\n",
        ),
        (
            "${input:api-key}",
            "error: `servers.shop.env.API_KEY` of `.vscode/mcp.json` needs the input `api-key`, which a client would ask \
             you for\n  help: set the environment variable `MCPROVE_INPUT_API_KEY` to it and run again\n",
        ),
    ] {
        config(folder.path(), value);
        let output = mcprove(folder.path(), &["doctor", "--client-config", ".vscode/mcp.json"]);
        assert_eq!((output.status.code(), told(&output).as_str()), (Some(2), expected));
    }
}

#[test]
fn a_suite_that_was_overheard_names_the_variable_and_not_its_value() {
    let folder = tempfile::tempdir().expect("a folder");
    shell_server::write(folder.path(), TOOLS, r#""len ${#API_KEY}""#);
    config(folder.path(), "${env:SHOP_KEY}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    command.args(["intercept", "--as-suite", "suite.yaml", "--client-config", ".vscode/mcp.json"]);
    command.current_dir(folder.path()).env("SHOP_KEY", "key-of-the-shop");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"whoami","arguments":{}}}"#,
    ] {
        writeln!(stdin, "{line}").expect("written");
    }
    drop(stdin);
    child.wait().expect("it ends");
    let suite = fs::read_to_string(folder.path().join("suite.yaml")).expect("a suite");
    assert!(suite.contains("${API_KEY}") && !suite.contains("key-of-the-shop"), "{suite}");
}
