//! `--client-config`: servers as the configuration files of clients describe them, with their variables.
#![cfg(unix)]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::shell_server;

const TOOLS: &str = r#"[{"name":"whoami","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}]"#;

fn mcprove(folder: &Path, args: &[&str]) -> Output {
    mcprove_with("key-of-the-shop", folder, args)
}

fn mcprove_with(key: &str, folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    command.args(args).current_dir(folder).env("NO_COLOR", "1").env("SHOP_KEY", key).env_remove("API_KEY");
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
    assert!(told(&init).contains("next: set SHOP_KEY, then: mcprove run evals"), "{}", told(&init));
    let snapshot = fs::read_to_string(folder.path().join("evals/.snapshots/whoami.snap")).expect("a snapshot");
    assert!(snapshot.contains("len 15"), "the key was there when the reply was stored: {snapshot}");
    let suite = fs::read_to_string(folder.path().join("evals/whoami.yaml")).expect("a suite");
    assert!(suite.contains("API_KEY: \"${SHOP_KEY}\"") && !suite.contains("key-of-the-shop"), "{suite}");
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
fn what_is_written_names_the_variables_of_the_configuration_and_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    shell_server::write(path, TOOLS, r#""${#API_KEY} ${#1} $2""#);
    let server = r#"{"servers": {"shop": {"command": "sh", "args": ["server.sh", "--key=${SHOP_KEY}", "{{fixture}} {{x}}"], "env": {"API_KEY": "Bearer ${env:SHOP_KEY}"}}}}"#;
    fs::write(path.join("mcp.json"), server).expect("a file");
    for (words, file) in [
        (&["init", "a", "--no-workflow"][..], "a/whoami.yaml"),
        (&["audit", "--output", "b"][..], "b/whoami.yaml"),
        (&["generate", "--output", "c"][..], "c/whoami.yaml"),
    ] {
        let written = mcprove(path, &[words, &["--client-config", "mcp.json"][..]].concat());
        assert_eq!(written.status.code(), Some(0), "{words:?}: {}", told(&written));
        let suite = fs::read_to_string(path.join(file)).expect("a suite");
        for part in [
            "# The server takes from the environment: SHOP_KEY.\n",
            "args: [server.sh, \"--key=${secret:SHOP_KEY}\", \"{{'{{'}}fixture}} {{'{{'}}x}}\"]\n",
            "API_KEY: \"Bearer ${SHOP_KEY}\"\n",
        ] {
            assert!(suite.contains(part), "{words:?}: {part}: {suite}");
        }
        assert!(!suite.contains("key-of-the-shop"), "{suite}");
        let run = mcprove(path, &["run", file, "--strict", "--json"]);
        assert_eq!(run.status.code(), Some(0), "{words:?}: {}", told(&run));
    }
    let suite = fs::read_to_string(path.join("b/whoami.yaml")).expect("a suite");
    assert!(suite.contains("22 21 {{'{{'}}fixture}} {{'{{'}}x}}"), "it expects what came: {suite}");
    // It is the variable that makes it pass.
    let mut without = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    let run = without.args(["run", "b"]).current_dir(path).env_remove("SHOP_KEY").output().expect("it runs");
    assert_eq!(run.status.code(), Some(2), "{}", told(&run));
    assert!(told(&run).contains("the environment variable `SHOP_KEY` must be set"), "{}", told(&run));
}

#[test]
fn what_fuzzing_keeps_holds_no_secret() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    shell_server::write(path, TOOLS, r#""it is $1""#);
    let server = r#"{"servers": {"shop": {"command": "sh", "args": ["server.sh", "${SHOP_KEY}"]}}}"#;
    fs::write(path.join("mcp.json"), server).expect("a file");
    // A value that could not be in a reply by chance.
    let key = "tok-5f1e9c77aa01";
    let fuzzed = mcprove_with(key, path, &["fuzz", "--client-config", "mcp.json", "--runs", "3", "--save", "kept"]);
    assert_eq!(fuzzed.status.code(), Some(1), "{}", told(&fuzzed));
    assert!(
        told(&fuzzed).contains("`mcprove run kept` runs what was saved; set SHOP_KEY before\n"),
        "{}",
        told(&fuzzed)
    );
    let file = fs::read_dir(path.join("kept")).expect("a folder").next().expect("a test").expect("a test").path();
    let suite = fs::read_to_string(file).expect("a suite");
    assert!(suite.contains("in the reply (16 characters)"), "{suite}");
    assert!(suite.contains("# The server takes from the environment: SHOP_KEY.\n"), "{suite}");
    assert!(suite.contains("args: [server.sh, \"${secret:SHOP_KEY}\"]\n"), "{suite}");
    assert!(!suite.contains("tok-"), "{suite}");
    let run = mcprove_with(key, path, &["run", "kept", "--strict", "--json"]);
    assert_eq!(run.status.code(), Some(1), "{}", told(&run));
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
    assert!(suite.contains("API_KEY: \"${SHOP_KEY}\"") && !suite.contains("key-of-the-shop"), "{suite}");
    assert!(suite.contains("# The server takes from the environment: SHOP_KEY.\n"), "{suite}");
}
