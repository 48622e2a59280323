//! `mcprove mcp`, tested by mcprove itself, and used as a coding agent uses it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_mcprove");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

/// A project whose configuration names one server.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = root().join("examples/first-suite/fixtures/tools.yml");
    let config = json!({"mcpServers": {"shop": {"command": PROGRAM, "args": ["mock", "--tools-from", manifest]}}});
    fs::write(folder.path().join(".mcp.json"), config.to_string()).expect("written");
    folder
}

/// Runs mcprove on `mcprove mcp` of a project.
fn on(project: &Path, words: &[&str]) -> Output {
    let server = format!("{PROGRAM} mcp --dir {}", project.display());
    let mut command = Command::new(PROGRAM);
    command.args(words).args(["--server", &server]).env("NO_COLOR", "1").output().expect("it runs")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn its_own_suite_passes_in_both_eras() {
    let project = project();
    let suite = root().join("crates/cli/tests/mcp/own.yaml");
    for protocol in ["legacy", "modern"] {
        let output = on(project.path(), &["run", &suite.display().to_string(), "--protocol", protocol]);
        assert_eq!(output.status.code(), Some(0), "{protocol}: {}", said(&output));
        assert!(said(&output).contains("16 cases: 16 passed"), "{}", said(&output));
    }
    assert!(!project.path().join("evals/wrong.yaml").exists());
}

#[test]
fn its_tools_describe_themselves_well() {
    let project = project();
    let output = on(project.path(), &["schema-lint", "--all"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}

/// Sends requests to `mcprove drive`, whose first opens `mcprove mcp`.
fn drive(project: &Path, calls: &[(&str, Value)]) -> Vec<Value> {
    let server = json!({"command": PROGRAM, "args": ["mcp", "--dir", project]});
    let mut lines = vec![json!({"method": "open", "params": {"server": server}}).to_string()];
    for (tool, args) in calls {
        lines.push(json!({"method": "call", "params": {"session": 1, "tool": tool, "args": args}}).to_string());
    }
    let mut program =
        Command::new(PROGRAM).arg("drive").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    program.stdin.take().expect("piped").write_all((lines.join("\n") + "\n").as_bytes()).expect("written");
    let output = program.wait_with_output().expect("it ends");
    let replies = String::from_utf8(output.stdout).expect("UTF-8");
    let replies = replies.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    replies.skip(1).map(|reply| reply["result"].clone()).collect()
}

#[test]
fn an_agent_writes_and_runs_a_test() {
    let project = project();
    let proposed = drive(project.path(), &[("propose_tests", json!({"server": "shop", "max_tokens": 10_000}))]);
    let file = &proposed[0]["structured"]["files"][0];
    let (path, content) = (file["path"].as_str().expect("a path"), file["content"].as_str().expect("content"));
    assert_eq!(path, "evals/greet.yaml");
    let completed = replace_block(content, "contains: Bob");
    let right = replace_block(content, "contains: Hello");
    let replies = drive(
        project.path(),
        &[
            ("write_test", json!({"path": path, "content": completed})),
            ("validate_suite", json!({"path": "evals"})),
            ("run_suite", json!({"path": "evals"})),
            ("write_test", json!({"path": path, "content": right})),
            ("write_test", json!({"path": path, "content": right, "overwrite": true})),
            ("run_suite", json!({"path": "evals"})),
        ],
    );
    let structured = |at: usize| &replies[at]["structured"];
    assert_eq!(structured(0)["tests"], 1, "{}", replies[0]);
    assert_eq!(structured(1)["usable"], true, "{}", replies[1]);
    assert_eq!(structured(2)["passed"], false, "{}", replies[2]);
    let failure = &structured(2)["failures"][0];
    assert_eq!(failure["file"], "evals/greet.yaml");
    assert_eq!(failure["findings"][0]["expected"], "Bob");
    assert!(replies[3]["is_error"] == true, "nothing is overwritten unasked: {}", replies[3]);
    assert_eq!(structured(5)["passed"], true, "{}", replies[5]);
}

/// The test with another expectation, on its call.
fn replace_block(content: &str, expect: &str) -> String {
    let head = content.split("\nassert:").next().expect("a head");
    let head: Vec<&str> = head.lines().filter(|line| !line.starts_with("skip:")).collect();
    format!("{}\nassert:\n  tool: greet\n  args: {{name: Ada}}\n  expect: {{{expect}}}\n", head.join("\n"))
}

#[test]
fn a_server_that_only_reads_writes_nothing() {
    let project = project();
    let server = format!("{PROGRAM} mcp --read-only --dir {}", project.path().display());
    let line = json!({"method": "open", "params": {"server": server}}).to_string()
        + "\n"
        + &json!({"method": "call", "params": {"session": 1, "tool": "write_test", "args": {"path": "a.yaml", "content": "x: 1"}}})
            .to_string()
        + "\n";
    let mut program =
        Command::new(PROGRAM).arg("drive").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    program.stdin.take().expect("piped").write_all(line.as_bytes()).expect("written");
    let output = program.wait_with_output().expect("it ends");
    assert!(said(&output).contains("it writes no files"), "{}", said(&output));
}

#[test]
fn every_tool_can_be_tried_in_an_empty_folder_and_in_a_project() {
    let empty = tempfile::tempdir().expect("a folder");
    for (folder, server) in [(empty.path(), "example"), (project().path(), "shop")] {
        let output = on(folder, &["audit", "--yes"]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let tools = "list_servers inspect_server propose_tests validate_suite explain_finding lint_schemas".split(' ');
        for tool in tools {
            let line = said(&output).lines().find(|line| line.contains(&format!(" {tool} "))).map(str::to_owned);
            assert!(line.as_ref().is_some_and(|line| line.starts_with("works")), "{server} {tool}: {line:?}");
        }
        let listed = drive(folder, &[("list_servers", json!({}))]);
        assert_eq!(listed[0]["structured"]["servers"][0]["name"], server, "{}", listed[0]);
    }
}

#[test]
fn conformance_lists_the_rules_that_are_broken() {
    let folder = tempfile::tempdir().expect("a folder");
    let good = json!({"server": "example", "rule": "mcp-handshake"});
    let replies = drive(folder.path(), &[("conformance", good)]);
    assert_eq!(replies[0]["structured"]["clean"], true, "{}", replies[0]);
    let broken = json!({"command": PROGRAM, "args": ["mock", "--mutation", "handshake-incomplete"]});
    fs::write(folder.path().join(".mcp.json"), json!({"mcpServers": {"broken": broken}}).to_string()).expect("written");
    let replies = drive(folder.path(), &[("conformance", json!({"server": "broken", "rule": "mcp-handshake"}))]);
    let answer = &replies[0]["structured"];
    assert_eq!(answer["clean"], false, "{}", replies[0]);
    assert!(answer["failures"][0]["detail"].as_str().is_some_and(|text| text.contains("mcp-handshake")), "{answer}");
}

/// Each of these starts a command that only the agent named.
#[test]
fn a_test_that_starts_a_command_is_not_written() {
    let project = project();
    let config: Value =
        serde_json::from_str(&fs::read_to_string(project.path().join(".mcp.json")).expect("read")).expect("JSON");
    let shop = &config["mcpServers"]["shop"];
    let witness = project.path().join("witness");
    let touch = format!("touch '{}'", witness.display());
    let call = json!({"name": "greets", "tool": "greet", "args": {"name": "Ada"}, "expect": {"contains": "Ada"}});
    let command: Vec<&Value> = [&shop["command"]].into_iter().chain(shop["args"].as_array().expect("a list")).collect();
    let suite = |more: Value| {
        let mut suite = json!({"servers": {"shop": {"command": command}}, "tools": [call]});
        suite.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
        suite.to_string()
    };
    let with = |key: &str, value: Value| {
        let mut test = call.clone();
        test[key] = value;
        suite(json!({"tools": [test]}))
    };
    let scorer = json!([{"name": "s", "type": "exec", "command": ["touch", witness]}]);
    let eval = json!([{"name": "e", "prompt": "x", "response": "y", "rubric": "good"}]);
    let env = json!({"shop": {"command": command, "env": {"GIT_SSH_COMMAND": touch}}});
    let refused = [
        (with("transform", json!({"request": touch})), "`transform` runs commands"),
        (with("transform", json!({"response": touch})), "`transform` runs commands"),
        (suite(json!({"defaultTest": {"transform": {"response": touch}}})), "written as `{jq: PROGRAM}`"),
        (suite(json!({"scorers": scorer, "evals": eval})), "`scorers` runs commands"),
        // A suite that imports it would use them.
        (suite(json!({"scorers": scorer})), "`scorers` runs commands"),
        (suite(json!({"hooks": {"beforeAll": touch}})), "`hooks` runs commands"),
        (suite(json!({"servers": env})), "`env` of"),
    ];
    for (content, reason) in refused {
        let calls = [
            ("write_test", json!({"path": "evals/a.yaml", "content": content})),
            ("run_suite", json!({"path": "evals/a.yaml"})),
        ];
        let replies = drive(project.path(), &calls);
        let text = replies[0]["text"].as_str().unwrap_or_default();
        assert!(replies[0]["is_error"] == true && text.contains(reason), "{content}: {}", replies[0]);
        assert!(!witness.exists(), "{content}");
    }
    let harmless = with("transform", json!({"request": {"jq": "."}, "response": "jq '.'"}));
    let replies = drive(
        project.path(),
        &[
            ("write_test", json!({"path": "evals/a.yaml", "content": harmless})),
            ("run_suite", json!({"path": "evals/a.yaml"})),
        ],
    );
    assert_eq!(replies[1]["structured"]["passed"], true, "{} {}", replies[0], replies[1]);
}
