//! What suites can say, from a file to a verdict: one test for each feature, on the mock or on a server of a few lines.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

fn mcprove(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1").env("CI", "").output().expect("mcprove runs")
}

/// The names of the cases with their verdicts, and everything that was printed.
fn verdicts(folder: &Path, arguments: &[&str]) -> (Vec<String>, String) {
    let output = mcprove(folder, &[&["run", "--json"], arguments].concat());
    let all = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let results: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {all}"));
    let text = |result: &Value, key: &str| result[key].as_str().unwrap_or_default().to_owned();
    (results.iter().map(|result| format!("{} {}", text(result, "name"), text(result, "status"))).collect(), all)
}

fn validate(folder: &Path, file: &str) -> String {
    let output = mcprove(folder, &["validate", file]);
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A server that answers each method with a result as written.
fn server(replies: &[(&str, &str)]) -> String {
    let begin =
        r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#;
    let mut text = "while read -r line; do\n  id=$(printf '%s' \"$line\" | sed -n 's/.*\"id\":\\([0-9]*\\).*/\\1/p')\n  case \"$line\" in\n".to_owned();
    let default = [("initialize", begin), ("tools/list", r#"{"tools":[]}"#)];
    for (method, result) in replies.iter().chain(&default) {
        let reply = format!("printf '{{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}}\\n' \"$id\" '{result}'");
        let _ = writeln!(text, "    *'\"method\":\"{method}\"'*) {reply} ;;");
    }
    text.push_str("  esac\ndone\n");
    text
}

#[test]
fn replies_that_official_clients_refuse_fail() {
    let call = "assert: {tool: t, expect: {}}";
    let read = "assert_resources: {read: 'a:b', expect: {}}";
    let get = "assert_prompts: {get: {name: p}, expect: {}}";
    let complete = "assert_completion: {ref: {type: ref/prompt, name: p}, argument: {name: a, value: b}, expect: {}}";
    for (block, method, reply, status) in [
        (call, "tools/call", r#"{"content":[{"type":"text","text":"x"}]}"#, "PASS"),
        (call, "tools/call", r#"{"content":"x"}"#, "FAIL"),
        (call, "tools/call", r#"{"content":[{"text":"x"}]}"#, "FAIL"),
        (call, "tools/call", r#"{"content":[{"type":"text"}]}"#, "FAIL"),
        (call, "tools/call", r#"{"content":[{"type":"text","text":5}]}"#, "FAIL"),
        (call, "tools/call", r#"{"content":[],"isError":"yes"}"#, "FAIL"),
        (read, "resources/read", r#"{"contents":[{"uri":"a:b","text":"x"}]}"#, "PASS"),
        (read, "resources/read", "{}", "FAIL"),
        // Both clients take it, though it is no URI.
        (read, "resources/read", r#"{"contents":[{"uri":"nope","text":"x"}]}"#, "PASS"),
        (get, "prompts/get", r#"{"messages":[]}"#, "PASS"),
        (get, "prompts/get", "{}", "FAIL"),
        (complete, "completion/complete", r#"{"completion":{"values":[]}}"#, "PASS"),
        (complete, "completion/complete", r#"{"completion":{"values":"x"}}"#, "FAIL"),
    ] {
        let script = server(&[(method, reply)]);
        let suite = format!("name: a\nserver: {{command: sh, args: [server.sh]}}\n{block}\n");
        let folder =
            folder(&[("server.sh", &script), ("a.yaml", &suite), ("off.yaml", &format!("implicit: off\n{suite}"))]);
        let (found, all) = verdicts(folder.path(), &["a.yaml"]);
        assert_eq!(found, [format!("a {status}")], "{reply}: {all}");
        assert_eq!(all.contains("SDK client"), status == "FAIL", "{reply}: {all}");
        let (found, all) = verdicts(folder.path(), &["off.yaml"]);
        assert_eq!(found, ["a PASS"], "{reply}: {all}");
    }
}

#[test]
fn a_handshake_that_official_clients_refuse_is_no_session() {
    for (begin, code) in [
        (r#"{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}"#, 0),
        (r#"{"protocolVersion":"2025-06-18","capabilities":{}}"#, 2),
        (r#"{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s"}}"#, 2),
        (r#"{"protocolVersion":"2025-06-18","serverInfo":{"name":"s","version":"1"}}"#, 2),
        (
            r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":true},"serverInfo":{"name":"s","version":"1"}}"#,
            2,
        ),
    ] {
        let script = server(&[("initialize", begin), ("tools/call", r#"{"content":[]}"#)]);
        let suite = "servers: {s: {command: sh server.sh}}\ntools: [{name: a, tool: t, expect: {not_error: true}}]\n";
        let folder =
            folder(&[("server.sh", &script), ("a.yaml", suite), ("off.yaml", &format!("implicit: off\n{suite}"))]);
        let run = |file: &str| mcprove(folder.path(), &["run", file]);
        let output = run("a.yaml");
        assert_eq!(output.status.code(), Some(code), "{begin}: {}", String::from_utf8_lossy(&output.stdout));
        assert_eq!(run("off.yaml").status.code(), Some(0), "{begin}");
    }
}

const DESK: &str = "mock_server:
  tools:
    - name: work
      logs: [{level: info, data: begun}]
      response: done
    - name: quiet
      response: done
    - name: ask
      elicitation: {message: How many?, requestedSchema: {type: object, properties: {n: {type: integer}}}}
      response: '${elicitation.action} ${elicitation.content.n}'
    - name: count
      responses: [{sequence: [call 1, call 2, call 3, call 4]}]
    - name: echo
      response: 'got ${args.a}'
";

#[test]
fn an_awaited_check_is_decided_before_the_timeout() {
    // With the timeout of a day, only `settle` can end the wait.
    let suite = "servers: {desk: {mock: desk.yml}}
assert_logging:
  - {name: none, tool: quiet, timeout: 24h, settle: 0, expect: {min_messages: 1}}
  - {name: one, tool: work, timeout: 24h, expect: {min_messages: 1}}
assert_notifications:
  - {name: method, tool: quiet, timeout: 24h, settle: 10ms, expect: {methods: [notifications/message]}}
";
    let folder = folder(&[("desk.yml", DESK), ("suite.yaml", suite)]);
    let (found, all) = verdicts(folder.path(), &["suite.yaml"]);
    assert_eq!(found, ["none FAIL", "one PASS", "method FAIL"], "{all}");
    let output = mcprove(folder.path(), &["run", "suite.yaml"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("raise `settle:`"), "{text}");
}

#[test]
fn log_messages_are_judged_next_to_the_result() {
    let suite = "servers: {desk: {mock: desk.yml}}
tools:
  - {name: logged, tool: work, expect: {contains: done, logging: {contains_level: info, contains_data: begun}}}
  - {name: silent, tool: work, settle: 1ms, expect: {contains: done, logging: {max_messages: 0}}}
";
    let folder = folder(&[("desk.yml", DESK), ("suite.yaml", suite)]);
    let (found, all) = verdicts(folder.path(), &["suite.yaml"]);
    assert_eq!(found, ["logged PASS", "silent FAIL"], "{all}");
}

#[test]
fn a_folder_may_be_suite_and_fixture() {
    let suite = "name: a\nserver: {command: mcprove, args: [mock, --tools-from, '{{fixture}}/desk.yml']}\nassert: {tool: quiet, expect: {contains: done}}\n";
    let folder = folder(&[("desk.yml", DESK), ("a.yaml", suite)]);
    let path = folder.path().display().to_string();
    let (found, all) = verdicts(folder.path(), &["--suite", &path, "--fixture", &path]);
    assert_eq!(found, ["a PASS"], "{all}");
}

#[test]
fn a_command_with_spaces_is_split_unless_it_is_a_program() {
    let script = format!("#!/bin/sh\n{}", server(&[("tools/call", r#"{"content":[{"type":"text","text":"hi"}]}"#)]));
    let suite = |command: &str| {
        format!("name: a\nserver: {{command: {command}}}\nassert: {{tool: t, expect: {{contains: hi}}}}\n")
    };
    let folder = folder(&[
        ("my server.sh", &script),
        ("split.yaml", &suite("\"sh 'my server.sh'\"")),
        ("whole.yaml", &suite("'./my server.sh'")),
    ]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let path = folder.path().join("my server.sh");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a mode");
    }
    for file in ["split.yaml", "whole.yaml"] {
        let (found, all) = verdicts(folder.path(), &[file]);
        assert_eq!(found, ["a PASS"], "{file}: {all}");
    }
}

#[test]
fn a_test_claims_capabilities_in_every_revision() {
    let suite = |protocol: &str| {
        format!(
            "servers: {{desk: {{mock: desk.yml, protocol: {protocol}}}}}\ntools:\n  - {{name: plain, tool: quiet, expect: \
             {{contains: done}}}}\n  - {{name: claims, tool: quiet, client_capabilities: [sampling], expect: {{contains: done}}}}\n"
        )
    };
    let folder = folder(&[("desk.yml", DESK), ("old.yaml", &suite("'2025-06-18'")), ("new.yaml", &suite("modern"))]);
    for file in ["old.yaml", "new.yaml"] {
        let (found, all) = verdicts(folder.path(), &["--events", "run.ndjson", file]);
        assert_eq!(found, ["plain PASS", "claims PASS"], "{all}");
        let log = fs::read_to_string(folder.path().join("run.ndjson")).expect("a log");
        let claims = log.lines().filter(|line| line.contains(r#"apabilities\":{\"sampling\":{}}"#)).count();
        assert!(claims > 0, "{file}: nothing was claimed");
        let plain = log.lines().filter(|line| line.contains(r#"apabilities\":{}"#)).count();
        assert!(plain > 0, "{file}: everything was claimed");
    }
    let step = "servers: {desk: {mock: desk.yml, protocol: '2025-06-18'}}\ntools:\n  - name: a\n    tool: quiet\n    setup: \
                [{tool: quiet, client_capabilities: [sampling]}]\n    expect: {contains: done}\n";
    fs::write(folder.path().join("step.yaml"), step).expect("written");
    assert!(validate(folder.path(), "step.yaml").contains("a step cannot claim capabilities"), "not refused");
}

#[test]
fn two_answers_to_elicitations_need_one_server() {
    let suite =
        "servers: {desk: {mock: desk.yml, client_capabilities: {elicitation: [{content: {n: 1}}, {action: decline}]}}}
tools:
  - name: in order
    tool: ask
    verify: [{tool: ask, expect: {contains: decline}}]
    expect: {contains: accept 1}
  - {name: own, tool: ask, elicitation: {content: {n: 7}}, expect: {contains: accept 7}}
  - {name: cancelled, tool: ask, elicitation: {action: cancel}, expect: {contains: cancel}}
";
    let folder = folder(&[("desk.yml", DESK), ("suite.yaml", suite)]);
    let (found, all) = verdicts(folder.path(), &["suite.yaml"]);
    assert_eq!(found, ["in order PASS", "own PASS", "cancelled PASS"], "{all}");
}

#[test]
fn an_unscripted_elicitation_shows_the_yaml_that_answers_it() {
    let ask = r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"Sure?","requestedSchema":{"type":"object","properties":{}}}}"#;
    let script = server(&[("tools/call", r#"{"content":[]}"#)]).replace(
        "    *'\"method\":\"tools/call\"'*) ",
        &format!("    *'\"method\":\"tools/call\"'*) printf '%s\\n' '{ask}'; read -r answer; "),
    );
    let suite = "name: a\nserver: {command: sh, args: [server.sh]}\nassert: {tool: t, expect: {contains: yes}}\n";
    let folder = folder(&[("server.sh", &script), ("a.yaml", suite)]);
    let output = mcprove(folder.path(), &["run", "-v", "a.yaml"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("client_capabilities: {elicitation:"), "{text}");
}

#[test]
fn a_step_polls_until_its_reply_is_as_expected() {
    let suite = |until: &str, rest: &str| {
        format!(
            "servers: {{desk: {{mock: desk.yml}}}}\ntools:\n  - name: a\n    tool: quiet\n    setup:\n      - {{tool: count, poll: \
             {{until: {{contains: {until}}}, every: 1ms{rest}}}, capture: {{last: $}}}}\n    expect: {{contains: done}}\n"
        )
    };
    let folder = folder(&[
        ("desk.yml", DESK),
        ("met.yaml", &suite("call 3", "")),
        ("never.yaml", &suite("call 9", ", timeout: 50ms")),
        (
            "nothing.yaml",
            "servers: {desk: {mock: desk.yml}}\ntools: [{name: a, tool: quiet, setup: [{tool: count, poll: {every: 1s}}], expect: {}}]\n",
        ),
    ]);
    let (found, all) = verdicts(folder.path(), &["met.yaml"]);
    assert_eq!(found, ["a PASS"], "{all}");
    let (found, all) = verdicts(folder.path(), &["never.yaml"]);
    assert_eq!(found, ["a FAIL"], "{all}");
    assert!(all.contains("`poll` of `count` was given up"), "{all}");
    assert!(validate(folder.path(), "nothing.yaml").contains("`poll` does not say until when"));
}

#[test]
fn each_row_of_a_table_is_a_test() {
    let suite = "servers: {desk: {mock: desk.yml}}
tools:
  - name: echoes
    tool: echo
    args: {a: '{{in}}'}
    expect: {equals: 'got {{out}}'}
    cases: [{in: 1, out: 1}, {name: text, in: x, out: x}, {in: y, out: z}]
  - {name: 'row {{in}}', tool: echo, args: {a: '{{in}}'}, expect: {equals: 'got {{out}}'}, cases: rows.csv}
  - {name: json, tool: echo, args: {a: '{{in}}'}, expect: {equals: 'got {{out}}'}, cases: rows.json}
";
    let assertion = "server: {command: mcprove, args: [mock, --tools-from, desk.yml]}\nassert: {tool: echo, args: {a: '{{in}}'}, expect: {equals: 'got {{in}}'}}\ncases: [{in: 1}, {in: 2}]\n";
    let folder = folder(&[
        ("desk.yml", DESK),
        ("suite.yaml", suite),
        ("one.yaml", assertion),
        ("rows.csv", "in,out\n1,1\n\"a, b\",\"a, b\"\n"),
        ("rows.json", r#"[{"name": "only", "in": true, "out": true}]"#),
    ]);
    let (found, all) = verdicts(folder.path(), &["suite.yaml"]);
    let expected =
        ["echoes [1] PASS", "echoes [text] PASS", "echoes [3] FAIL", "row 1 PASS", "row a, b PASS", "json [only] PASS"];
    assert_eq!(found, expected, "{all}");
    let (found, all) = verdicts(folder.path(), &["one.yaml"]);
    assert_eq!(found, ["one.yaml [1] PASS", "one.yaml [2] PASS"], "{all}");
    for (table, complaint) in [
        ("gone.csv", "cannot be read"),
        ("../rows.csv", "outside the folder of the suite"),
        ("bad.csv", "line 2 has 1 values for 2 columns"),
        ("[]", "`cases` has no rows"),
        ("[{a: 1, b: 2}]", "the column `b` is not used"),
    ] {
        let text = format!(
            "servers: {{desk: {{mock: desk.yml}}}}\ntools: [{{name: n, tool: echo, args: {{a: '{{{{a}}}}'}}, expect: {{}}, cases: {table}}}]\n"
        );
        fs::write(folder.path().join("bad.csv"), "a,b\nsecret\n").expect("written");
        fs::write(folder.path().join("bad.yaml"), text).expect("written");
        let told = validate(folder.path(), "bad.yaml");
        assert!(told.contains(complaint) && !told.contains("secret"), "{table}: {told}");
    }
}

#[test]
fn the_first_document_gives_defaults_to_the_others() {
    let suite = "defaults:
  server: {command: mcprove, args: [mock, --tools-from, desk.yml]}
  tags: [quick]
---
name: a
assert: {tool: quiet, expect: {contains: done}}
---
name: b
tags: slow
assert: {tool: quiet, expect: {contains: done}}
";
    let folder =
        folder(&[("desk.yml", DESK), ("a.yaml", suite), ("bad.yaml", &suite.replace("tags: [quick]", "sever: 1"))]);
    let (found, all) = verdicts(folder.path(), &["a.yaml"]);
    assert_eq!(found, ["a PASS", "b PASS"], "{all}");
    let (found, all) = verdicts(folder.path(), &["a.yaml", "--tag", "quick"]);
    assert_eq!(found, ["a PASS"], "{all}");
    let told = validate(folder.path(), "bad.yaml");
    assert!(told.contains("unknown key `sever`") && told.contains("did you mean `server`?"), "{told}");
}

#[test]
fn only_what_failed_is_run_again() {
    let suite = "servers: {desk: {mock: desk.yml}}
tools:
  - {name: good, tool: quiet, expect: {contains: done}}
  - {name: bad, tool: quiet, expect: {contains: never}}
";
    let folder = folder(&[("desk.yml", DESK), ("suite.yaml", suite)]);
    let (found, all) = verdicts(folder.path(), &["suite.yaml", "--events", "run.ndjson"]);
    assert_eq!(found, ["good PASS", "bad FAIL"], "{all}");
    let (found, all) = verdicts(folder.path(), &["suite.yaml", "--last-failed", "run.ndjson"]);
    assert_eq!(found, ["bad FAIL"], "{all}");
    fs::write(folder.path().join("suite.yaml"), suite.replace("never", "done")).expect("written");
    mcprove(folder.path(), &["run", "suite.yaml", "--last-failed", "run.ndjson", "--events", "run.ndjson"]);
    let output = mcprove(folder.path(), &["run", "suite.yaml", "--last-failed", "run.ndjson"]);
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no case failed in the earlier run"));
}

#[test]
fn the_same_thing_has_the_same_word_in_both_kinds() {
    let suite = "servers: {desk: {mock: desk.yml}}
tools:
  - {name: tool, tool: echo, arguments: {a: 1}, setup: [{tool: echo, arguments: {a: 2}, expect: {contains: got 2}}], expect: {contains: got 1}}
assert_logging:
  - {name: logging, level: info, tool: work, arguments: {}, expect: {min_messages: 1}}
resources:
  - {name: resource, resource: 'a:b', expect: {contains: x}}
assert_resources:
  - {name: block, uri: 'a:b', expect: {contains: x}}
prompts:
  - {name: prompt, prompt: p, arguments: {who: you}, expect: {contains: you}}
";
    let manifest = format!(
        "{DESK}  resources: [{{uri: 'a:b', name: r, text: x}}]\n  prompts: [{{name: p, arguments: [{{name: who}}], text: 'hello ${{args.who}}'}}]\n"
    );
    let folder = folder(&[("desk.yml", &manifest), ("suite.yaml", suite)]);
    let (found, all) = verdicts(folder.path(), &["suite.yaml"]);
    assert_eq!(found, ["tool PASS", "logging PASS", "resource PASS", "block PASS", "prompt PASS"], "{all}");
}

#[test]
fn mistakes_are_reported_once_and_with_their_place() {
    let agent = "servers: {desk: {mock: desk.yml}}
faults: [{name: f, kind: hng, target: {tool: quiet}}]
agents: [{name: a, servers: [desk], prompt: hi, inject: [f], model: script, script: [{say: hi}], expect: {contains: hi}}]
";
    let test = "tools: [{name: a, tool: quiet, expect: {contains: done}}]\n";
    let with = |rest: &str| format!("servers: {{desk: {{mock: desk.yml}}}}\n{rest}{test}");
    let folder = folder(&[
        ("desk.yml", DESK),
        ("fault.yaml", agent),
        ("parallel.yaml", &with("run_options: {parallel: 9223372036854775807}\n")),
        ("timeout.yaml", &with("performance: {default_timeout_ms: 18446744073709551615}\n")),
        (
            "capability.yaml",
            &with("security: {capability_negotiation: {target: '2026-07-28', negotiated: [samplng]}}\n"),
        ),
        ("empty.yaml", "servers: {desk: {mock: desk.yml}}\ntools: []\n"),
    ]);
    let told = validate(folder.path(), "fault.yaml");
    assert!(told.contains("unknown kind of fault `hng`") && !told.contains("there is no fault"), "{told}");
    let told = validate(folder.path(), "parallel.yaml");
    assert!(told.contains("a whole number from 1 to 1000") && told.contains("parallel.yaml:2:"), "{told}");
    let told = validate(folder.path(), "timeout.yaml");
    assert!(told.contains("`default_timeout_ms` must be a whole number"), "{told}");
    let told = validate(folder.path(), "capability.yaml");
    assert!(told.contains("unknown capability `samplng`") && told.contains("did you mean `sampling`?"), "{told}");
    let output = mcprove(folder.path(), &["run", "empty.yaml"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("there are no tests in the suite") && output.status.code() == Some(4), "{told}");
}

#[test]
fn a_mock_keeps_its_count_when_the_suite_says_so() {
    let mock = "mock_server:\n  fault: recover-after:2\n  tools: [{name: t, response: hi}]\n";
    let suite = |keep: &str| {
        let test = |name: &str| format!("  - {{name: {name}, tool: t, timeout: 300ms, expect: {{contains: hi}}}}\n");
        format!("servers: {{s: {{mock: mock.yml{keep}}}}}\ntools:\n{}{}{}", test("a"), test("b"), test("c"))
    };
    let folder = folder(&[("mock.yml", mock), ("fresh.yaml", &suite("")), ("kept.yaml", &suite(", keep_state: true"))]);
    let (found, all) = verdicts(folder.path(), &["fresh.yaml"]);
    assert_eq!(found, ["a FAIL", "b FAIL", "c FAIL"], "{all}");
    let (found, all) = verdicts(folder.path(), &["kept.yaml"]);
    assert_eq!(found, ["a FAIL", "b FAIL", "c PASS"], "{all}");
}

#[test]
fn files_outside_the_folder_of_a_suite_are_not_quoted() {
    let suite = "servers: {s: {mock: ../secret.yml}}\ntools: [{name: a, tool: t, expect: {contains: x}}]\n";
    let folder = folder(&[("secret.yml", "password: hunter2\nmore: hunter2\n")]);
    fs::create_dir(folder.path().join("suite")).expect("a folder");
    fs::write(folder.path().join("suite/a.yaml"), suite).expect("written");
    let told = validate(folder.path(), "suite/a.yaml");
    assert!(told.contains("outside the suite's folder") && !told.contains("hunter2"), "{told}");
    fs::write(folder.path().join("vars.env"), "TOKEN hunter2\n").expect("written");
    let output = mcprove(folder.path(), &["validate", "suite/a.yaml", "--env-file", "vars.env"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("line 1 of `vars.env`") && !told.contains("hunter2"), "{told}");
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_file_is_not_waited_for() {
    let folder = folder(&[(
        "imports.yaml",
        "imports: [pipe.yaml]\nservers: {s: {command: x}}\ntools: [{name: a, tool: t, expect: {}}]\n",
    )]);
    let made = Command::new("mkfifo").arg(folder.path().join("pipe.yaml")).status().expect("mkfifo runs");
    assert!(made.success());
    for arguments in [["validate", "pipe.yaml"], ["validate", "imports.yaml"]] {
        let output = mcprove(folder.path(), &arguments);
        let told = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(told.contains("it is not a regular file"), "{arguments:?}: {told}");
    }
}

#[test]
fn a_file_of_very_many_documents_is_refused_once() {
    let folder = folder(&[("many.yaml", &"--- x\n".repeat(100_000))]);
    let told = validate(folder.path(), "many.yaml");
    assert!(told.contains("more than 20000 documents"), "{}", &told[..told.len().min(2_000)]);
}

#[test]
fn a_url_stands_in_for_a_server_that_no_file_names() {
    let suite = "name: a\nassert: {tool: t, expect: {contains: x}}\n";
    let folder = folder(&[("a.yaml", suite), ("suite.yaml", "tools: [{name: b, tool: t, expect: {contains: x}}]\n")]);
    for file in ["a.yaml", "suite.yaml"] {
        let output = mcprove(folder.path(), &["validate", file, "--url", "http://127.0.0.1:9/mcp"]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
        let output = mcprove(folder.path(), &["run", file, "--url", "http://127.0.0.1:9/mcp", "--dry-run"]);
        assert!(String::from_utf8_lossy(&output.stdout).contains("http://127.0.0.1:9/mcp"), "{output:?}");
        assert_eq!(mcprove(folder.path(), &["validate", file]).status.code(), Some(2));
    }
}
