//! What scans say of tools that work, fail, lie, ask and leak: a pass proves something, and a failure names its cause.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::shell_server;

/// A server with one tool for each verdict.
const SERVER: &str = r#"
mock_server:
  name: verdicts
  tools:
    - { name: weather, response: "Berlin: 12 °C" }
    - { name: liar, response: "Error: Sheet 'x' not found" }
    - { name: half_liar, response: { success: false, error: no quota left } }
    - { name: locked, responses: [{ error: "Unauthorized: API_KEY is not set" }] }
    - { name: offline, responses: [{ error: { code: -32603, message: "getaddrinfo ENOTFOUND api.example.com" } }] }
    - { name: divide, responses: [{ error: "Error executing tool divide: division by zero" }] }
    - { name: rejects, responses: [{ error: the moon is in the wrong phase }] }
    - name: confirm
      elicitation:
        message: Sure?
        requestedSchema: { type: object, properties: { ok: { type: boolean } }, required: [ok] }
      response: "answered: ${elicitation.action}"
    - name: summarise
      sampling: { messages: [{ role: user, content: { type: text, text: Sum up } }], maxTokens: 9 }
      response: "In short: ${sampling.content.text}"
    - { name: list_users, response: { users: [{ id: u-7, name: Ada }] } }
    - name: get_user
      inputSchema: { type: object, required: [id], properties: { id: { type: string } } }
      responses:
        - { when: args.id == "u-7", result: Ada }
        - { default: true, error: user not found }
    - name: describe
      inputSchema: { type: object, properties: { topic: { type: string }, force: { type: boolean } } }
      responses:
        - { when: has(args.force), error: never force it }
        - { when: has(args.topic), result: a long story }
        - { default: true, error: the topic is required }
  resources:
    - { uri: "demo://here", name: here, text: here }
  prompts:
    - { name: greet, arguments: [{ name: who, required: true }], text: "Hello ${args.who}" }
"#;

fn mcprove(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mcprove"))
        .args(args)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .output()
        .expect("mcprove runs")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn mock(folder: &Path, manifest: &str) -> [String; 3] {
    fs::write(folder.join("server.yaml"), manifest).expect("a file");
    ["--server".to_owned(), "mcprove mock --tools-from server.yaml".to_owned(), "--yes".to_owned()]
}

#[test]
fn each_tool_gets_the_verdict_that_it_earned() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = mock(folder.path(), SERVER);
    let server: Vec<&str> = server.iter().map(String::as_str).collect();
    let output = mcprove(folder.path(), &[&["audit", "--json"], &server[..]].concat());
    let audit: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output)));
    let verdicts: Vec<String> = audit["results"]
        .as_array()
        .expect("results")
        .iter()
        .map(|result| {
            let word = |key: &str| result[key].as_str().unwrap_or("-").to_owned();
            format!("{}: {} ({})", word("tool"), word("verdict"), word("cause"))
        })
        .collect();
    assert_eq!(
        verdicts,
        [
            "weather: works (-)",
            "liar: error-as-success (-)",
            "half_liar: error-as-success (-)",
            "locked: fails (credentials missing)",
            "offline: fails (network unreachable)",
            "divide: crashed (-)",
            "rejects: fails (other)",
            "confirm: works (-)",
            "summarise: works (-)",
            "list_users: works (-)",
            "get_user: works (-)",
            "describe: works (-)",
        ],
        "{}",
        text(&output)
    );
    // Six work of ten about which something was proven.
    assert_eq!(audit["score"], 60);
    assert_eq!(output.status.code(), Some(1), "an exception that nobody handles fails the audit");
    let others: Vec<&str> = audit["resources_and_prompts"]
        .as_array()
        .expect("others")
        .iter()
        .filter_map(|it| it["verdict"].as_str())
        .collect();
    assert_eq!(others, ["works"; 3]);
}

#[test]
fn nothing_proven_is_not_a_hundred_percent() {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = "mock_server:\n  tools:\n    - { name: a, responses: [{ error: Unauthorized }] }\n    \
                    - { name: b, responses: [{ error: Unauthorized }] }\n";
    let server = mock(folder.path(), manifest);
    let server: Vec<&str> = server.iter().map(String::as_str).collect();
    let output = mcprove(folder.path(), &[&["audit"], &server[..]].concat());
    let told = text(&output);
    let expected = "score: none, because nothing could be proven (2 not provable (credentials missing))";
    assert!(told.contains(expected), "{told}");
    assert!(told.contains("hint: 2 tools: credentials are missing; `--env NAME=VALUE`"), "{told}");
}

#[test]
fn a_rejection_proves_nothing_where_valid_input_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = "mock_server:\n  tools:\n    - name: chart\n      inputSchema: { type: object, required: [data], properties: { data: { type: string } } }\n      \
                    responses: [{ error: fetch failed }]\n";
    let server = mock(folder.path(), manifest);
    let server: Vec<&str> = server.iter().map(String::as_str).collect();
    let output = mcprove(folder.path(), &[&["negative"], &server[..]].concat());
    let told = text(&output);
    assert!(
        told.contains("not proven") && told.contains("rejections prove nothing, because valid input fails"),
        "{told}"
    );
    assert_eq!(output.status.code(), Some(0), "{told}");
}

#[test]
fn a_leak_is_reported_and_its_value_is_shown_nowhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let tools = r#"[{"name":"show","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]"#;
    shell_server::write(folder.path(), tools, r#""token is $API_TOKEN.""#);
    let secret = "tok-4711-abcdef";
    let output = Command::new(env!("CARGO_BIN_EXE_mcprove"))
        .args(["audit", "--server", "sh server.sh", "--junit", "j.xml", "--html", "h.html", "--events", "e.jsonl"])
        .args(["--report", "r.json"])
        .current_dir(folder.path())
        .env("API_TOKEN", secret)
        .output()
        .expect("mcprove runs");
    let told = text(&output);
    assert!(told.contains("error[leak]"), "{told}");
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(!told.contains(secret), "{told}");
    for file in ["j.xml", "h.html", "e.jsonl", "r.json"] {
        let written = fs::read_to_string(folder.path().join(file)).expect(file);
        assert!(written.contains("show") && !written.contains(secret), "{file}");
    }
}

#[test]
fn the_suite_that_init_writes_holds_and_pins_no_defect() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = mock(folder.path(), SERVER);
    let server: Vec<&str> = server.iter().map(String::as_str).collect();
    let output = mcprove(folder.path(), &[&["init", "evals"], &server[..]].concat());
    let told = text(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    let file = |name: &str| fs::read_to_string(folder.path().join("evals").join(name)).expect(name);
    assert!(
        file("liar.yaml").contains("known: ") && file("liar.yaml").contains("is_error: true"),
        "{}",
        file("liar.yaml")
    );
    assert!(file("divide.yaml").contains("known: "), "{}", file("divide.yaml"));
    assert!(file("locked.yaml").contains("skip_unless_env: API_KEY"), "{}", file("locked.yaml"));
    assert!(file("offline.yaml").contains("skip: "), "{}", file("offline.yaml"));
    assert!(!file("prompt-greet.yaml").contains("skip:"), "{}", file("prompt-greet.yaml"));
    for command in ["run", "run", "snapshot"] {
        let output = mcprove(folder.path(), &[command, "evals"]);
        assert_eq!(output.status.code(), Some(0), "{command}: {}", text(&output));
    }
}

#[test]
fn a_known_defect_that_is_gone_is_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("server.yaml"), "mock_server: { tools: [{ name: a, response: fine }] }\n")
        .expect("a file");
    let test = "server: { command: mcprove, args: [mock, --tools-from, server.yaml] }\nknown: it crashes\nassert: { tool: a, expect: { not_error: true } }\n";
    fs::write(folder.path().join("a.yaml"), test).expect("a file");
    let output = mcprove(folder.path(), &["run", "a.yaml"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output).contains("is marked as one that fails: it crashes"), "{}", text(&output));
    let strict = mcprove(folder.path(), &["run", "--strict", "a.yaml"]);
    assert_eq!(strict.status.code(), Some(1), "{}", text(&strict));
    fs::write(
        folder.path().join("server.yaml"),
        "mock_server: { tools: [{ name: a, responses: [{ error: broken }] }] }\n",
    )
    .expect("a file");
    let known = mcprove(folder.path(), &["run", "--strict", "a.yaml"]);
    assert_eq!(known.status.code(), Some(0), "{}", text(&known));
    assert!(text(&known).contains("fails as known: it crashes"), "{}", text(&known));
}

#[test]
fn an_error_of_a_tool_that_is_not_listed_is_no_silent_pass() {
    let folder = tempfile::tempdir().expect("a folder");
    let test = |name: &str, more: &str| {
        let server = "{ command: mcprove, args: [mock, --tools-from, server.yaml] }";
        format!("server: {server}\n{more}assert: {{ tool: {name}, expect: {{ protocol_error: true }} }}\n")
    };
    mock(
        folder.path(),
        "mock_server: { tools: [{ name: quote, responses: [{ error: { code: -32603, message: no } }] }] }\n",
    );
    let run = |text: &str, args: &[&str]| {
        fs::write(folder.path().join("a.yaml"), text).expect("a file");
        mcprove(folder.path(), &[&["run", "a.yaml"], args].concat())
    };
    let output = run(&test("qoute", ""), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("does not list the tool `qoute` (did you mean `quote`?)"), "{}", text(&output));
    let strict = run(&test("qoute", ""), &["--strict"]);
    assert_eq!(strict.status.code(), Some(1), "{}", text(&strict));
    for silent in [test("quote", ""), test("qoute", "implicit: off\n")] {
        let output = run(&silent, &["--strict"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        assert!(!text(&output).contains("does not list"), "{}", text(&output));
    }
}

#[test]
fn answers_to_requests_for_what_does_not_exist_are_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    let capabilities = r#"{"prompts":{},"resources":{}}"#;
    let path = shell_server::write_with(folder.path(), capabilities, "[]", r#""x""#);
    // One result that fits every method, whatever it asks for.
    let anything = r#""result":{"prompts":[{"name":"p"}],"resources":[{"uri":"demo://a","name":"a"}],"resourceTemplates":[],"contents":[{"uri":"demo://a","text":"x"}],"messages":[{"role":"user","content":{"type":"text","text":"x"}}]}"#;
    let script = fs::read_to_string(&path).expect("a file");
    let script = script.replace(r#""error":{"code":-32601,"message":"unknown"}"#, anything);
    fs::write(&path, script).expect("a file");
    let output = mcprove(folder.path(), &["audit", "--server", "sh server.sh"]);
    let said = text(&output);
    for method in ["prompts/get", "resources/read"] {
        assert!(said.contains(&format!("`{method}` with ")) && said.contains("was answered with a result"), "{said}");
    }
    let server = mock(folder.path(), SERVER);
    let server: Vec<&str> = server.iter().map(String::as_str).collect();
    let output = mcprove(folder.path(), &[&["audit"], &server[..]].concat());
    assert!(!text(&output).contains("was answered with a result"), "{}", text(&output));
}
