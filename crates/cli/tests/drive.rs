//! `mcprove drive`: the protocol that integrations speak, line by line.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

/// Sends lines, and returns the replies.
fn drive_lines(lines: &[String]) -> Vec<Value> {
    let mut program = Command::new(env!("CARGO_BIN_EXE_mcprove"))
        .arg("drive")
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = program.stdin.take().expect("piped");
    stdin.write_all((lines.join("\n") + "\n").as_bytes()).expect("written");
    drop(stdin);
    let output = program.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    String::from_utf8(output.stdout)
        .expect("UTF-8")
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// Sends requests with ids from 1, and returns what each was answered with.
fn drive(requests: &[(&str, Value)]) -> Vec<Value> {
    let line = |(id, (method, params)): (usize, &(&str, Value))| {
        json!({"id": id + 1, "method": method, "params": params}).to_string()
    };
    let replies = drive_lines(&requests.iter().enumerate().map(line).collect::<Vec<_>>());
    assert_eq!(replies.len(), requests.len());
    for (at, reply) in replies.iter().enumerate() {
        assert_eq!(reply["id"], json!(at + 1));
    }
    replies
}

const SHOP: &str = "mcprove mock --tools-from examples/first-suite/fixtures/tools.yml";

#[test]
fn suites_are_collected_and_run() {
    let suite = "examples/first-suite";
    let one = json!([{"file": "examples/first-suite/1-greet.yaml", "name": "greets by name"}]);
    let replies = drive(&[
        ("version", json!({})),
        ("collect", json!({"args": [suite]})),
        ("run", json!({"args": [suite], "tests": one})),
        ("run", json!({"args": [suite, "--filter", "greets"]})),
        ("run", json!({"args": [suite], "tests": []})),
        ("collect", json!({"args": ["no-such-suite"]})),
        ("run", json!({"args": [suite, "--no-such-flag"]})),
    ]);
    assert_eq!(replies[0]["result"]["protocol"], 1);
    let tests = replies[1]["result"]["tests"].as_array().expect("tests");
    assert_eq!(tests.len(), 4);
    assert_eq!(tests[0]["file"], "examples/first-suite/1-greet.yaml");
    assert_eq!(tests[0]["line"], 2);
    for reply in &replies[2..4] {
        let results = reply["result"]["results"].as_array().expect("results");
        assert_eq!(results.len(), 1);
        assert_eq!(results[0]["verdict"], "passed");
        assert_eq!(reply["result"]["exit_code"], 0);
    }
    assert_eq!(replies[4]["error"]["kind"], "nothing-selected");
    assert_eq!(replies[5]["result"]["usable"], false);
    assert!(replies[6]["error"]["message"].as_str().expect("a message").contains("--no-such-flag"), "{}", replies[6]);
}

#[test]
fn a_rule_of_a_conformance_test_is_run_by_its_name() {
    let suite = "examples/conformance/broken.yaml";
    let one = json!([{"file": suite, "name": "conformance: 2025-11-25 mcp-id-echo"}]);
    let replies = drive(&[
        ("collect", json!({"args": [suite]})),
        ("collect", json!({"args": [suite], "tests": one})),
        ("run", json!({"args": [suite], "tests": one})),
    ]);
    assert_eq!(replies[0]["result"]["tests"].as_array().map(Vec::len), Some(3), "{}", replies[0]);
    assert_eq!(replies[1]["result"]["tests"].as_array().map(Vec::len), Some(1), "{}", replies[1]);
    let results = replies[2]["result"]["results"].as_array().expect("results");
    assert_eq!(results.len(), 1);
    assert_eq!(results[0]["verdict"], "failed");
}

#[test]
fn a_failing_case_has_the_message_of_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("wrong.yaml");
    let text = format!(
        "name: wrong\nserver: {{command: mcprove, args: [mock, --tools-from, {}]}}\nassert:\n  tool: greet\n  args: {{name: Ada}}\n  expect: {{contains: Bob}}\n",
        root().join("examples/first-suite/fixtures/tools.yml").display()
    );
    std::fs::write(&file, text).expect("written");
    let replies = drive(&[("run", json!({"args": [file]}))]);
    let result = &replies[0]["result"];
    assert_eq!(result["exit_code"], 1, "{result}");
    let case = &result["results"][0];
    assert_eq!((&case["verdict"], &case["line"]), (&json!("failed"), &json!(1)));
    let message = case["message"].as_str().expect("text");
    assert!(message.contains("error[contains]: the text does not contain `Bob`"), "{message}");
    assert!(message.contains("expect: {contains: Bob}"), "the line is quoted: {message}");
}

#[test]
fn a_session_is_driven_and_judged_with_the_checks_of_suites() {
    let call =
        |args: Value, expect: Value| ("call", json!({"session": 1, "tool": "greet", "args": args, "expect": expect}));
    let replies = drive(&[
        ("open", json!({"server": SHOP})),
        ("list", json!({"session": 1})),
        call(json!({"name": "Ada"}), json!({"contains": "Ada"})),
        call(json!({"name": "Ada"}), json!({"contains": "Bob"})),
        ("call", json!({"session": 1, "tool": "greet", "args": {"name": "Eve"}})),
        (
            "expect",
            json!({"session": 1, "reply": 3, "expect": [{"target": "result.content[0].text", "matcher": {"contains": "Eve"}}]}),
        ),
        ("expect", json!({"session": 1, "reply": 3, "expect": {"not_contains": "Eve"}})),
        ("expect", json!({"session": 1, "reply": 3, "expect": {"contain": "Eve"}})),
        ("expect", json!({"session": 1, "reply": 3, "expect": {"file_unchanged": "Cargo.toml"}})),
        ("call", json!({"session": 1, "tool": "nope"})),
        ("expect", json!({"session": 1, "reply": 4, "expect": {"protocol_error": -32602}})),
        (
            "test",
            json!({"session": 1, "test": {"assert": {"tool": "order", "args": {"article": "tea"}, "expect": {"is_error": true}}}}),
        ),
        ("close", json!({"session": 1})),
        ("list", json!({"session": 1})),
    ]);
    assert_eq!(replies[0]["result"]["server"]["name"], "corner-shop");
    assert_eq!(replies[1]["result"]["tools"].as_array().expect("tools").len(), 3);
    let passed: Vec<_> = replies.iter().map(|reply| reply["result"]["passed"].as_bool()).collect();
    assert_eq!(passed[2..7], [Some(true), Some(false), Some(true), Some(true), Some(false)]);
    assert_eq!(replies[4]["result"]["text"], "Hello, Eve!");
    assert!(replies[3]["result"]["message"].as_str().expect("text").contains("does not contain `Bob`"));
    assert!(replies[7]["error"]["message"].as_str().expect("text").contains("did you mean `contains`?"));
    assert_eq!(replies[8]["result"]["findings"][0]["rule"], "late-expectation");
    assert_eq!(replies[9]["result"]["outcome"], "error");
    assert_eq!(replies[9]["result"]["error"]["code"], -32602);
    assert_eq!((passed[10], passed[11]), (Some(true), Some(true)));
    assert_eq!(replies[13]["error"]["message"], "session 1 is not open");
}

#[test]
fn snapshots_are_stored_next_to_the_file_of_the_caller() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("test_shop.py");
    let session = |update: bool| ("open", json!({"server": SHOP, "file": file, "update_snapshots": update}));
    let call = ("call", json!({"session": 1, "tool": "greet", "args": {"name": "Ada"}}));
    let snapshot = |name: &str| {
        ("expect", json!({"session": 1, "reply": 1, "expect": [{"target": "result", "matcher": {"snapshot": name}}]}))
    };
    let missing = drive(&[session(false), call.clone(), snapshot("greeting")]);
    assert_eq!(missing[2]["result"]["passed"], false, "a missing snapshot fails");
    let stored = drive(&[session(true), call.clone(), snapshot("greeting")]);
    assert_eq!(stored[2]["result"]["passed"], true);
    assert!(folder.path().join(".snapshots/test_shop.snap").is_file());
    let compared = drive(&[session(false), call, snapshot("greeting"), snapshot("another")]);
    assert_eq!(compared[2]["result"]["passed"], true);
    assert_eq!(compared[3]["result"]["passed"], false);
}

#[test]
fn mistakes_of_the_caller_are_answered() {
    let lines = [
        "nonsense",
        r#"{"id": 7}"#,
        r#"{"id": 8, "method": "cal"}"#,
        r#"{"id": 9, "method": "open", "params": {"serve": "x"}}"#,
        r#"{"id": 10, "method": "open", "params": {"server": "no-such-program-here"}}"#,
    ];
    let replies = drive_lines(&lines.map(str::to_owned));
    let message = |at: usize| replies[at]["error"]["message"].as_str().expect("a message").to_owned();
    assert_eq!((&replies[0]["id"], &replies[1]["id"]), (&Value::Null, &json!(7)));
    assert!(message(1).contains("missing field `method`"));
    assert_eq!(replies[2]["error"]["help"], "did you mean `call`?");
    assert!(message(3).contains("unknown field `serve`"));
    assert_eq!(replies[4]["error"]["kind"], "server");
}

#[test]
fn an_expectation_that_checks_nothing_is_a_mistake() {
    let mut requests = vec![("open", json!({"server": SHOP})), ("call", json!({"session": 1, "tool": "nope"}))];
    for empty in [json!({}), json!([]), json!({"contains": []})] {
        requests.push(("expect", json!({"session": 1, "reply": 1, "expect": empty})));
        requests.push(("call", json!({"session": 1, "tool": "nope", "expect": empty})));
    }
    let replies = drive(&requests);
    assert_eq!(replies[1]["result"]["outcome"], "error");
    for reply in &replies[2..] {
        assert_eq!(reply["error"]["message"], "`expect` checks nothing", "{reply}");
    }
}
