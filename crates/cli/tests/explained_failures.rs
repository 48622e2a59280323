//! Failures that say what to do next, and what reports hold besides verdicts.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// A server that counts its calls, and asks its user a question when the tool `ask` is called.
const SERVER: &str = r#"
import json, sys
count = 0
def say(message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    m = json.loads(line)
    method = m.get("method")
    if method == "initialize":
        info = {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
        say({"id": m["id"], "result": info})
    elif method == "tools/list":
        schema = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
        tools = [{"name": name, "inputSchema": schema} for name in sys.argv[1:]]
        say({"id": m["id"], "result": {"tools": tools}})
    elif method == "tools/call" and m["params"]["name"] == "ask":
        call = m["id"]
        say({"id": "q", "method": "elicitation/create", "params": {"message": "who?", "requestedSchema": {"type": "object", "properties": {}}}})
    elif method == "tools/call" and not isinstance(m["params"].get("arguments", {}).get("q", ""), str):
        say({"id": m["id"], "error": {"code": -32602, "message": "q must be a string"}})
    elif method == "tools/call":
        count += 1
        say({"id": m["id"], "result": {"content": [{"type": "text", "text": str(count)}]}})
    elif m.get("id") == "q":
        say({"id": call, "result": {"content": [{"type": "text", "text": "no name"}], "isError": True}})
"#;

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files.iter().chain(&[("server.py", SERVER)]) {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

fn mcprove(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    command.args(args).current_dir(folder).output().expect("mcprove runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn npx_that_asks_before_it_installs_is_given_the_missing_option() {
    let npx = "echo 'npm error code E1' >&2\necho 'npm error npx canceled due to missing packages and no YES option: \
               [\"my-server@1.0.0\"]' >&2\necho 'npm error A complete log of this run is in /x/y.log' >&2\nexit 1\n";
    let suite = "server: {command: sh, args: [npx.sh]}\nassert: {tool: a}\n";
    let folder = folder(&[("npx.sh", npx), ("suite.yaml", suite)]);
    let run = mcprove(folder.path(), &["run", "suite.yaml"]);
    let doctor = mcprove(folder.path(), &["doctor", "--", "sh", "npx.sh"]);
    assert_eq!((run.status.code(), doctor.status.code()), (Some(2), Some(2)));
    for text in [stdout(&run), stdout(&doctor)] {
        assert!(text.contains("npm error code E1 … npm error npx canceled due to missing packages"), "{text}");
        assert!(text.contains("npx asks before it installs a package: add `-y` to its arguments"), "{text}");
    }
}

#[test]
fn coverage_is_in_reports_and_probes_of_errors_cover_error_paths() {
    let suite = "servers: {s: {command: [python3, server.py, one, two]}}\ncoverage: {tools: 50, error_paths: 50}\ntools:\n  \
                 - {name: probes, server: s, tool: one, args: {q: a}, negative_path: {checks: [wrong_type]}}\n";
    let folder = folder(&[("suite.yaml", suite)]);
    let args = ["run", "suite.yaml", "--markdown", "r.md", "--html", "r.html", "--report", "r.json"];
    let run = mcprove(folder.path(), &args);
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    let covered = "covers 1 of 2 tools (50 %), 1 of 2 arguments (50 %), 1 of 2 error paths (50 %)";
    for report in ["r.md", "r.html", "r.json"] {
        let text = fs::read_to_string(folder.path().join(report)).expect("a report");
        assert!(text.contains(covered), "{report}: {text}");
    }
}

#[test]
fn trials_on_one_server_are_not_called_flaky() {
    let suite = "servers: {s: {command: [python3, server.py, count]}}\nassert: [{name: counts, tool: count, args: {q: a}, \
                 expect: {equals: '1'}}]\n";
    let folder = folder(&[("suite.yaml", suite)]);
    let trials = |isolation: &str| {
        let args =
            ["run", "suite.yaml", "--trials", "2", "--isolation", isolation, "--tap", "r.tap", "--report", "r.json"];
        let run = stdout(&mcprove(folder.path(), &args));
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("a report");
        let json: Value = serde_json::from_str(&read("r.json")).expect("JSON");
        (run, read("r.tap"), json["reliability"]["cases"][0].clone())
    };
    let (run, tap, json) = trials("file");
    for text in [&run, &tap] {
        let line = "shared state: counts passed 1 of 2; trial 2: the text differs from line 1, column 1 on (the trials \
                    shared a server; `--isolation case` starts one for each)";
        assert!(text.contains(line) && !text.contains("flaky"), "{text}");
    }
    assert_eq!((&json["flaky"], &json["shared_state"]), (&Value::Bool(false), &Value::Bool(true)));
    let (run, _, json) = trials("case");
    assert!(run.contains("2 trials of 1 case: 2 passed"), "{run}");
    assert!(json.get("shared_state").is_none(), "{json}");
}

#[test]
fn a_question_without_an_answer_shows_what_to_write() {
    let suite = "server: {command: python3, args: [server.py, ask]}\nassert: {tool: ask, args: {q: a}, expect: {not_error: \
                 true}}\n";
    let folder = folder(&[("suite.yaml", suite)]);
    let text = stdout(&mcprove(folder.path(), &["run", "suite.yaml"]));
    assert!(text.contains("`client_capabilities: {elicitation: {action: accept, content: {FIELD: VALUE}}}`"), "{text}");
}

#[test]
fn a_server_without_tools_is_named_and_coverage_is_written() {
    let suite = "server: {command: python3, args: [server.py, one]}\nassert: {tool: one, args: {q: a}, expect: {equals: \
                 '1'}}\n";
    let folder = folder(&[("suite.yaml", suite)]);
    let lint = mcprove(folder.path(), &["schema-lint", "--", "python3", "server.py"]);
    let expected = "error: there are no tools in the server `python3 server.py`: nothing was checked\n";
    assert_eq!((String::from_utf8_lossy(&lint.stderr).as_ref(), lint.status.code()), (expected, Some(4)));
    let run = mcprove(folder.path(), &["coverage", "suite.yaml", "--coverage-json", "c.json"]);
    assert!(stdout(&run).contains("100 %  1 of 1"), "{run:?}");
    let text = fs::read_to_string(folder.path().join("c.json")).expect("a file");
    let json: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&json["total"], &json["covered"]), (&Value::from(1), &Value::from(1)));
}

#[test]
fn a_verbose_audit_shows_requests_and_replies() {
    let folder = folder(&[]);
    let args = ["audit", "--yes", "--server", "python3 server.py one"];
    let plain = stdout(&mcprove(folder.path(), &args));
    assert!(plain.contains("works") && !plain.contains("jsonrpc"), "{plain}");
    let verbose = stdout(&mcprove(folder.path(), &[&args[..], &["-v"]].concat()));
    assert!(verbose.contains("\"name\": \"one\"") && verbose.contains("\"text\": \"1\""), "{verbose}");
    assert!(!verbose.contains("in CI:"), "the command for a build server is for people at a terminal");
}

#[test]
fn details_of_failures_hold_what_the_terminal_shows() {
    let server = r#"
import json, os, sys
def say(message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize":
        say({"id": m["id"], "result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}})
    elif m.get("method") == "tools/list":
        say({"id": m["id"], "result": {"tools": [{"name": n, "inputSchema": {"type": "object"}} for n in ("list", "die")]}})
    elif m.get("method") == "tools/call" and m["params"]["name"] == "die":
        print("loading\nKeyError: 'boom'", file=sys.stderr, flush=True)
        os._exit(3)
    elif m.get("method") == "tools/call":
        d = {"items": [{"id": n, "name": f"item {n}", "more": "x" * 40} for n in range(60)]}
        say({"id": m["id"], "result": {"content": [{"type": "text", "text": json.dumps(d)}], "structuredContent": d}})
"#;
    let suite = "servers: {s: {command: [python3, list.py]}}
tools:
  - {name: path, tool: list, expect: {json_path: {'$.nope': 5}}}
  - {name: dies, tool: die}
  - {name: length, tool: list, expect: {assertions: [{target: result.structuredContent.items, matcher: {length: 59}}]}}
  - {name: item, tool: list, expect: {assertions: [{target: result.structuredContent.items, matcher: {contains: {id: 42, name: Item 42}}}]}}
";
    let folder = folder(&[("list.py", server), ("suite.yaml", suite)]);
    let reports =
        ["--report", "r.json", "--markdown", "r.md", "--junit", "r.xml", "--html", "r.html", "--tap", "r.tap"];
    let run = mcprove(folder.path(), &[&["run", "suite.yaml", "--json"][..], &reports].concat());
    let results: Vec<Value> = serde_json::from_slice(&run.stdout).expect("JSON");
    let detail = |at: usize| results[at]["detail"].as_str().unwrap_or_default().to_owned();
    assert!(detail(0).contains("`$.nope` is missing: `$` has no key `nope`; its keys are `items`"), "{}", detail(0));
    assert!(detail(1).contains("stderr: KeyError: 'boom'"), "{}", detail(1));
    let report = fs::read_to_string(folder.path().join("r.json")).expect("a report");
    let json: Value = serde_json::from_str(&report).expect("JSON");
    let seen = json["cases"][0]["findings"][0]["seen"].as_str().unwrap_or_default();
    assert!(seen.contains("item 59") && seen.len() > 4_000, "the reply is not cut: {seen}");
    for name in ["r.json", "r.md", "r.xml", "r.html", "r.tap"] {
        let text = fs::read_to_string(folder.path().join(name)).expect("a report");
        let text = text.replace("&quot;", "\"").replace("\\\"", "\"").replace("&#96;", "`");
        assert!(text.contains("the length 59") && text.contains("the length 60, from 59 on"), "{name}: {text}");
        assert!(text.contains("item 42 at `/42/name`, the closest of 60 items"), "{name}: {text}");
    }
}

#[test]
fn annotations_are_one_per_case_and_ten_per_level() {
    let test = |n: u32| format!("  - {{name: bad{n}, tool: one, args: {{q: a}}, expect: {{contains: x{n}}}}}\n");
    let tests = (0..12).map(test).collect::<Vec<_>>().concat();
    let suite = format!("servers: {{s: {{command: [python3, server.py, one]}}}}\ntools:\n{tests}");
    let folder = folder(&[("suite.yaml", &suite)]);
    let text = stdout(&mcprove(folder.path(), &["run", "suite.yaml", "--github", "--trials", "2", "--quiet"]));
    let errors: Vec<&str> = text.lines().filter(|line| line.starts_with("::error ")).collect();
    assert_eq!(errors.len(), 10, "{text}");
    for (number, line) in errors[..9].iter().enumerate() {
        assert!(line.contains(&format!("title=bad{number}%3A")) && line.contains("passed 0 of 2 trials"), "{line}");
    }
    assert!(errors[9].contains("and 3 more"), "{text}");
    let first = text.lines().find(|line| line.starts_with("::")).unwrap_or_default();
    assert!(first.starts_with("::error "), "failures come first: {first}");
}

#[test]
fn a_command_without_two_dashes_is_shown_with_them() {
    let folder = folder(&[]);
    let output = mcprove(folder.path(), &["audit", "python3", "server.py"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("the server's command goes after `--`: mcprove audit -- python3 server.py"), "{text}");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_sanitizer_that_no_server_offers_is_an_error_of_the_run() {
    let suite = |name: &str| {
        format!(
            "servers: {{s: {{command: [python3, server.py, one, clean]}}}}\nsecurity: {{trust_boundary: \
             {{required_sanitizers: [{name}]}}}}\ntools: [{{name: a, tool: one, args: {{q: a}}}}]\n"
        )
    };
    let folder = folder(&[("bad.yaml", &suite("claen")), ("good.yaml", &suite("clean"))]);
    let bad = mcprove(folder.path(), &["run", "bad.yaml"]);
    assert!(stdout(&bad).contains("offers the required sanitizer `claen`"), "{bad:?}");
    assert_eq!(bad.status.code(), Some(1));
    assert_eq!(mcprove(folder.path(), &["run", "good.yaml"]).status.code(), Some(0));
}

#[test]
fn a_suite_without_a_server_is_valid_with_one_of_the_command_line() {
    let folder = folder(&[("suite.yaml", "tools: [{name: a, tool: one, args: {q: a}, expect: {equals: '1'}}]\n")]);
    let given = ["--server", "python3 server.py one"];
    assert_eq!(mcprove(folder.path(), &["validate", "suite.yaml"]).status.code(), Some(2));
    for command in ["validate", "run"] {
        let output = mcprove(folder.path(), &[&[command, "suite.yaml"][..], &given].concat());
        assert_eq!(output.status.code(), Some(0), "{command}: {output:?}");
    }
}
