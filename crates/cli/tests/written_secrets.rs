//! Secrets among the words of a server's command: whatever is written or told of it has the name of a variable there.
#![cfg(unix)]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::shell_server;

const TOOLS: &str = r#"[{"name":"whoami","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}]"#;
const SERVER: &str = "sh server.sh --token tok-5f1e9c77aa01";

fn mcprove(folder: &Path, args: &[&str], token: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    command.args(args).current_dir(folder).env("NO_COLOR", "1").env_remove("MCP_TOKEN").stdin(Stdio::null());
    command.envs(token.map(|token| ("MCP_TOKEN", token))).output().expect("it runs")
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn no_file_holds_a_token_and_every_file_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    shell_server::write(path, TOOLS, r#""${#2} letters""#);
    for (words, below) in [
        (&["init", "a", "--no-workflow"][..], "a"),
        (&["audit", "--output", "b"][..], "b"),
        (&["generate", "--output", "c"][..], "c"),
    ] {
        let written = mcprove(path, &[words, &["--server", SERVER][..]].concat(), None);
        assert_eq!(written.status.code(), Some(0), "{words:?}: {}", told(&written));
        assert!(!told(&written).contains("tok-5"), "{words:?}: {}", told(&written));
        let suite = fs::read_to_string(path.join(below).join("whoami.yaml")).expect("a suite");
        assert!(suite.contains("# The server takes from the environment: MCP_TOKEN.\n"), "{words:?}: {suite}");
        assert!(suite.contains("args: [server.sh, \"--token\", \"${secret:MCP_TOKEN}\"]"), "{words:?}: {suite}");
        assert!(!suite.contains("tok-5"), "{words:?}: {suite}");
        let run = mcprove(path, &["run", below, "--strict"], Some("tok-5f1e9c77aa01"));
        assert_eq!(run.status.code(), Some(0), "{words:?}: {}", told(&run));
    }
    let unset = mcprove(path, &["run", "b"], None);
    assert_eq!(unset.status.code(), Some(2), "{}", told(&unset));
    assert!(told(&unset).contains("the environment variable `MCP_TOKEN` must be set"), "{}", told(&unset));
    // Another server needs no variable of this one.
    let other = mcprove(path, &["run", "b", "--server", "sh server.sh --token tok-another-one"], None);
    assert!(!told(&other).contains("MCP_TOKEN"), "{}", told(&other));
}

#[test]
fn what_fuzzing_keeps_holds_no_token() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    shell_server::write(path, TOOLS, r#""Error: x\n    at run (/srv/app/server.js:1:2)""#);
    let fuzzed = mcprove(path, &["fuzz", "--server", SERVER, "--runs", "3", "--save", "kept"], None);
    assert_eq!(fuzzed.status.code(), Some(1), "{}", told(&fuzzed));
    assert!(told(&fuzzed).contains("runs what was saved; set MCP_TOKEN before\n"), "{}", told(&fuzzed));
    assert!(!told(&fuzzed).contains("tok-5"), "{}", told(&fuzzed));
    let file = fs::read_dir(path.join("kept")).expect("a folder").next().expect("a test").expect("a test").path();
    let suite = fs::read_to_string(file).expect("a suite");
    assert!(suite.contains("# Again: mcprove fuzz --server 'sh server.sh --token ***' --tool whoami"), "{suite}");
    assert!(!suite.contains("tok-5"), "{suite}");
    let run = mcprove(path, &["run", "kept", "--json"], Some("tok-5f1e9c77aa01"));
    assert_eq!(run.status.code(), Some(1), "{}", told(&run));
}

#[test]
fn what_was_recorded_runs_again_whatever_its_secrets_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    shell_server::write(path, TOOLS, r#""$MODE is: #mine""#);
    let calls = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"whoami","arguments":{}}}"#,
        "\n",
    );
    for mode in ["server", "assert", "tok-5f1e9c77aa01"] {
        let config =
            format!(r#"{{"mcpServers":{{"x":{{"command":"sh","args":["server.sh"],"env":{{"MODE":"{mode}"}}}}}}}}"#);
        fs::write(path.join("mcp.json"), config).expect("a file");
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
        command.args(["intercept", "--as-suite", "recorded.yaml", "--client-config", "mcp.json"]).current_dir(path);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it runs");
        child.stdin.take().expect("a pipe").write_all(calls.as_bytes()).expect("it listens");
        assert_eq!(child.wait().expect("an end").code(), Some(0), "{mode}");
        let suite = fs::read_to_string(path.join("recorded.yaml")).expect("a suite");
        assert!(suite.contains("not_empty: true") && !suite.contains("is: #mine"), "{suite}");
        let mut again = Command::new(env!("CARGO_BIN_EXE_mcprove"));
        again.args(["run", "recorded.yaml", "--strict"]).current_dir(path).env("MODE", mode);
        let run = again.output().expect("it runs");
        assert_eq!(run.status.code(), Some(0), "{mode}: {}\n{suite}", told(&run));
    }
}

#[test]
fn no_configuration_gives_its_secrets_to_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    shell_server::write(path, TOOLS, r#""fine""#);
    let config = r#"{"mcpServers": {"x": {"command": "sh", "args": ["server.sh",
        "postgresql://user:hush-1-hush@localhost/db", "--header", "Authorization: Bearer hush-2-hush",
        "--header=X-API-Key:hush-3-hush", "--env=BAR_TOKEN=hush-4-hush", "-eFOO_TOKEN=hush-5-hush", "-e", "DB_PASS=hush-6-hush",
        "--auth", "hush-7-hush", "--pat", "hush-8-hush", "--bearer=hush-9-hush", "http://hush-10-hush-hush@h?code=hush-11-hush",
        "--token", "hush-12-hush"],
        "env": {"DATABASE_URL": "postgres://admin:hush-13-hush@${T_HOST}/db", "AUTH": "Bearer hush-14-hush ${T_HOST}",
        "MCP_TOKEN": "hush-15-hush", "T_TOKEN": "${T_TOKEN:-hush-16-hush}", "ODD": "${env:t-var}"}}}}"#;
    fs::write(path.join("mcp.json"), config).expect("a file");
    let variables = [("T_HOST", "db.example"), ("t-var", "hush-17-hush")];
    let run = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
        command.args(args).current_dir(path).env("NO_COLOR", "1").stdin(Stdio::null());
        command.envs(variables.iter().copied()).output().expect("it runs")
    };
    let written = run(&["generate", "--output", "a", "--client-config", "mcp.json"], &variables);
    assert_eq!(written.status.code(), Some(0), "{}", told(&written));
    let suite = fs::read_to_string(path.join("a/whoami.yaml")).expect("a suite");
    assert!(!suite.contains("hush") && !told(&written).contains("hush"), "{suite}\n{}", told(&written));
    assert!(suite.contains("t_var (`t-var` of the configuration)"), "{suite}");
    let needed = [
        "MCP_PASSWORD",
        "MCP_AUTHORIZATION",
        "MCP_X_API_KEY",
        "BAR_TOKEN",
        "FOO_TOKEN",
        "DB_PASS",
        "MCP_AUTH",
        "MCP_PAT",
        "MCP_BEARER",
        "MCP_PASSWORD_2",
        "MCP_CODE",
        "MCP_TOKEN_2",
        "DATABASE_URL",
        "AUTH",
        "MCP_TOKEN",
        "T_TOKEN",
        "t_var",
    ];
    let set: Vec<(&str, &str)> = needed.iter().map(|name| (*name, "given-by-the-user")).collect();
    let again = run(&["run", "a", "--strict"], &set);
    assert_eq!(again.status.code(), Some(0), "{}\n{suite}", told(&again));
}

/// A server that shows its token in another encoding: the reply is not what a file expects.
#[test]
fn no_file_holds_an_encoded_token() {
    for (how, shown) in [("base64", "dG9rLTVmMWU5Yzc3YWEwMQ"), ("od -An -tx1 | tr -d \" \"", "746f6b2d")] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        shell_server::write(path, TOOLS, &format!("\"I am $(printf %s $2 | {})\"", how.replace('"', "'")));
        for (words, below) in [
            (&["init", "a", "--no-workflow"][..], "a/whoami.yaml"),
            (&["audit", "--output", "b"][..], "b/whoami.yaml"),
            (&["call", "whoami", "--save", "c.yaml"][..], "c.yaml"),
        ] {
            let written = mcprove(path, &[words, &["--server", SERVER][..]].concat(), None);
            assert_eq!(written.status.code(), Some(0), "{words:?}: {}", told(&written));
            let suite = fs::read_to_string(path.join(below)).expect("a suite");
            assert!(!suite.contains(shown) && suite.contains("not_empty: true"), "{words:?}: {suite}");
        }
    }
}

/// A file that is committed, and the answers that an agent reads, hold what a server says but not the secrets it repeats.
#[test]
fn lockfiles_and_agents_get_no_token() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let tools = r#"[{"name":"whoami","description":"tok-5f1e9c77aa01","annotations":{"readOnlyHint":true},"inputSchema":
        {"type":"object","properties":{"of":{"type":"string","enum":["tok-5f1e9c77aa01","\u202e"]}}}}]"#;
    shell_server::write(path, &tools.replace('\n', ""), r#""the token is ${#2} letters: $2""#);
    let locked = mcprove(path, &["lock", "--server", SERVER, "--env", "TOKEN=tok-5f1e9c77aa01"], None);
    assert_eq!(locked.status.code(), Some(0), "{}", told(&locked));
    let lock = fs::read_to_string(path.join("mcprove.lock")).expect("a lockfile");
    assert!(lock.contains("\"***\"") && !lock.contains("tok-5"), "{lock}");
    assert!(!lock.contains('\u{202e}') && lock.contains("\\u202e"), "what acts is escaped: {lock}");
    let again = mcprove(path, &["lock", "--check", "--server", SERVER, "--env", "TOKEN=tok-5f1e9c77aa01"], None);
    assert_eq!(again.status.code(), Some(0), "{}", told(&again));

    let config = serde_json::json!({"mcpServers": {"s": {"command": "sh",
        "args": ["server.sh", "--token", "${MCP_TOKEN}"], "env": {"MCP_TOKEN": "${MCP_TOKEN}"}}}});
    fs::write(path.join(".mcp.json"), config.to_string()).expect("a configuration");
    let asked = [
        r#"{"method":"open","params":{"server":{"command":"PROGRAM","args":["mcp"],"env":{"MCP_TOKEN":"tok-5f1e9c77aa01"}}}}"#,
        r#"{"method":"call","params":{"session":1,"tool":"inspect_server","args":{"server":"s"}}}"#,
        r#"{"method":"call","params":{"session":1,"tool":"call_tool","args":{"server":"s","tool":"whoami","arguments":{}}}}"#,
    ];
    let mut drive = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    let mut drive =
        drive.arg("drive").current_dir(path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let lines = asked.join("\n").replace("PROGRAM", env!("CARGO_BIN_EXE_mcprove")) + "\n";
    drive.stdin.take().expect("piped").write_all(lines.as_bytes()).expect("written");
    let answers = String::from_utf8(drive.wait_with_output().expect("it ends").stdout).expect("UTF-8");
    assert!(answers.contains("***") && !answers.contains("tok-5"), "{answers}");
}
