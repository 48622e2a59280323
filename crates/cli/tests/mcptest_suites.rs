//! Suites written for mcptest: the files that its `init` writes, and each key in a test that passes and one that fails.

mod graded;
mod lanes;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

/// The mock of all tests: it greets, counts, fails and knows a probe.
const MANIFEST: &str = r#"
mock_server:
  name: example
  tools:
    - name: say_hello
      description: Greet somebody.
      input_schema: {type: object, properties: {name: {type: string}}, required: [name]}
      response: {content: [{type: text, text: "Hello, ${args.name}!"}], structuredContent: {greeting: "Hello", id: 7, tags: [a, b]}}
    - name: query
      description: A statement.
      response: {content: [{type: text, text: "SELECT a FROM b"}]}
    - name: page
      description: A document.
      response: {content: [{type: text, text: "<note><to>a</to></note>"}]}
    - name: broken
      description: An error of the tool.
      response: {isError: true, content: [{type: text, text: "no"}]}
    - name: __mcptest_probe__
      description: Answers to anything.
      response: {content: [{type: text, text: "ok"}]}
"#;

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("tests")).expect("made");
    fs::write(folder.path().join("tests/example-server.yml"), MANIFEST).expect("written");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

/// The mock over HTTP, until it is dropped.
struct Served {
    child: Child,
    url: String,
}

impl Served {
    fn start(folder: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
        command.args(["mock", "--http", "127.0.0.1:0", "--tools-from", "tests/example-server.yml"]);
        let mut child = command.current_dir(folder).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stderr.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let url = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}")).to_owned();
        Self { child, url }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn mcprove(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1").env("CI", "").env("EXAMPLE_TOKEN", "t0ken-t0ken");
    command.env_remove("ANTHROPIC_API_KEY").env_remove("OPENAI_API_KEY");
    command.output().expect("mcprove runs")
}

/// The names of the cases with their verdicts, and everything that was printed.
fn verdicts(folder: &Path, arguments: &[&str]) -> (Vec<String>, String) {
    let output = mcprove(folder, &[&["run", "--json"], arguments].concat());
    let all = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let results: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {all}"));
    let text = |result: &Value, key: &str| result[key].as_str().unwrap_or_default().to_owned();
    (results.iter().map(|result| format!("{} {}", text(result, "name"), text(result, "status"))).collect(), all)
}

/// Runs tests of a suite with the mock as `example`, and compares the verdicts.
fn assert_verdicts(suite: &str, expected: &[&str]) {
    let server = "servers:\n  example: {mock: tests/example-server.yml}\n";
    let folder = folder(&[("suite.yaml", &format!("{server}{suite}"))]);
    let (found, all) = verdicts(folder.path(), &["suite.yaml"]);
    assert_eq!(found, expected, "{suite}\n{all}");
}

const GREETING: &str = r#"
tools:
  - name: "say_hello greets the caller"
    server: example
    tool: "say_hello"
    args:
      name: "mcptest"
    expect:
      - target: "result.content"
        matcher:
          schema:
            type: array
            minItems: 1
        message: "say_hello should return at least one content block"
"#;

const PROBE: &str = r#"
tools:
  - name: "server advertises a tools list without error"
    server: example
    tool: "__mcptest_probe__"
    args: {}
    expect:
      - target: "error"
        matcher:
          exact: null
        message: "probe call should not return a transport error"
"#;

#[test]
fn the_file_that_init_writes_runs_without_arguments() {
    let command = r#"["mcptest", "mock", "--tools-from", "tests/example-server.yml"]"#;
    let suite = format!("run_options:\n  parallel: auto\nservers:\n  example:\n    command: {command}\n{GREETING}");
    let folder =
        folder(&[("mcptest.yaml", &suite), ("mcptest.yml", "reporter: pretty\nparallel: 0\ntimeout_secs: 30\n")]);
    let (found, all) = verdicts(folder.path(), &[]);
    assert_eq!(found, ["say_hello greets the caller PASS"], "{all}");
    let (found, all) = verdicts(folder.path(), &["mcptest.yaml", "mcptest.yml"]);
    assert_eq!(found, ["say_hello greets the caller PASS"], "{all}");
    let output = mcprove(folder.path(), &["validate", "mcptest.yml"]);
    let told = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("settings or rules of mcptest"), "{told}");
}

#[test]
fn the_forms_of_init_for_a_url_and_a_found_server_run() {
    let folder = folder(&[]);
    let mock = Served::start(folder.path());
    let url = &mock.url;
    for (form, server) in [
        ("none", format!("url: \"{url}\"")),
        ("bearer", format!("url: \"{url}\"\n    auth:\n      bearer_token_env: EXAMPLE_TOKEN")),
        ("browser", format!("url: \"{url}\"\n    auth:\n      oauth:\n        flow: authorization_code_pkce")),
        ("header", format!("url: \"{url}\"\n    headers:\n      X-API-Key: \"REPLACE_ME\"")),
        ("header from the environment", format!("url: \"{url}\"\n    headers:\n      X-API-Key-Env: EXAMPLE_TOKEN")),
        ("ready", format!("url: \"{url}\"\n    wait_for_ready: 30s")),
        ("found", "command: [\"mcptest\",\"mock\",\"--tools-from\",\"tests/example-server.yml\"]".to_owned()),
    ] {
        fs::write(folder.path().join("suite.yaml"), format!("servers:\n  example:\n    {server}\n{PROBE}"))
            .expect("written");
        let (found, all) = verdicts(folder.path(), &["suite.yaml"]);
        assert_eq!(found, ["server advertises a tools list without error PASS"], "{form}: {all}");
    }
}

#[test]
fn the_target_error_is_null_unless_the_call_was_refused() {
    let test = |tool: &str, matcher: &str| {
        format!(
            "tools:\n  - name: t\n    server: example\n    tool: {tool}\n    args: {{name: a}}\n    expect: [{{target: error, matcher: {matcher}}}]\n"
        )
    };
    assert_verdicts(&test("say_hello", "{exact: null}"), &["t PASS"]);
    assert_verdicts(&test("say_hello", "{not: {exact: null}}"), &["t FAIL"]);
    assert_verdicts(&test("no_such_tool", "{exact: null}"), &["t FAIL"]);
    assert_verdicts(&test("no_such_tool", "{subset: {code: -32602}}"), &["t PASS"]);
    let code = test("no_such_tool", "{exact: -32602}").replace("target: error", "target: error.code");
    assert_verdicts(&code, &["t PASS"]);
}

#[test]
fn one_server_and_a_list_of_servers_need_no_map() {
    let test = "tools:\n  - {name: t, tool: say_hello, args: {name: a}, expect: {contains: Hello}}\n";
    let command = "[mcptest, mock, --tools-from, tests/example-server.yml]";
    for servers in [
        format!("server: {{command: {command}}}\n"),
        format!("servers:\n  - {{name: one, command: {command}}}\n"),
        format!(
            "servers:\n  - {{name: one, command: {command}}}\n  - {{name: two, command: [no-such-program]}}\ndefault_server: one\n"
        ),
    ] {
        let folder = folder(&[("suite.yaml", &format!("{servers}{test}"))]);
        let (found, all) = verdicts(folder.path(), &["suite.yaml"]);
        assert_eq!(found, ["t PASS"], "{servers}: {all}");
    }
    let wrong = format!("servers:\n  - {{name: one, command: {command}}}\ndefault_server: other\n{test}");
    let folder = folder(&[("suite.yaml", &wrong)]);
    assert_eq!(mcprove(folder.path(), &["run", "suite.yaml"]).status.code(), Some(2));
}

#[test]
fn matchers_hold_and_fail() {
    for (tool, matcher, status) in [
        ("say_hello", "{cel: 'value.size() == 9'}", "PASS"),
        ("say_hello", "{cel: 'value.size() == 8'}", "FAIL"),
        ("query", "{is-sql: null}", "PASS"),
        ("page", "{is-sql: null}", "FAIL"),
        ("page", "{is-xml: {root: note}}", "PASS"),
        ("query", "{is-xml: null}", "FAIL"),
        ("query", "{levenshtein: {value: 'SELECT x FROM b', max: 1}}", "PASS"),
        ("query", "{levenshtein: {value: 'SELECT x FROM y', max: 1}}", "FAIL"),
        ("query", "{similar: {value: 'select a from c', threshold: 0.9}}", "PASS"),
        ("page", "{similar: {value: 'select a from c', threshold: 0.9}}", "FAIL"),
        ("query", "{not-contains: DROP}", "PASS"),
        ("query", "{not-contains: SELECT}", "FAIL"),
    ] {
        let suite = format!(
            "tools:\n  - name: t\n    tool: {tool}\n    args: {{name: a}}\n    expect: [{{target: 'result.content[0].text', matcher: {matcher}}}]\n"
        );
        assert_verdicts(&suite, &[&format!("t {status}")]);
    }
}

#[test]
fn sets_metrics_and_transforms_of_assertions() {
    let suite = |threshold: &str, metric: &str| {
        format!(
            "tools:\n  - name: t\n    tool: say_hello\n    args: {{name: a}}\n    expect:\n      \
             - {{target: result.structuredContent.greeting, transform: jq ascii_downcase, matcher: {{exact: hello}}, name: greets}}\n      \
             - assert-set: {{name: rest, threshold: {threshold}, assertions: [{{target: result.structuredContent.id, matcher: {{exact: 7}}}}, {{target: result.structuredContent.id, matcher: {{exact: 8}}}}]}}\n    \
             derivedMetrics: [{{name: blend, threshold: {metric}, value: {{weighted_average: [{{ref: greets, weight: 3}}, {{ref: rest}}]}}}}]\n"
        )
    };
    assert_verdicts(&suite("0.5", "1.0"), &["t PASS"]);
    assert_verdicts(&suite("1.0", "0.5"), &["t FAIL"]);
    // The set fails below a threshold of the test that the rest reaches; the metric alone decides.
    let lenient =
        |metric: &str| suite("1.0", metric).replace("    derivedMetrics", "    threshold: 0.5\n    derivedMetrics");
    assert_verdicts(&lenient("0.7"), &["t PASS"]);
    assert_verdicts(&lenient("0.8"), &["t FAIL"]);
}

#[test]
fn compliance_sends_one_request_per_test() {
    let suite = "compliance:\n  \
        - {name: handshake, server: example, check: initialize, expect: [{target: result.capabilities, matcher: {schema: {type: object}}}]}\n  \
        - {name: other name, server: example, check: initialize, expect: [{target: result.serverInfo.name, matcher: {exact: other}}]}\n  \
        - {name: lists, server: example, check: tools/list, cache: never, expect: [{target: result.tools, matcher: {schema: {type: array, minItems: 1}}}]}\n  \
        - {name: no such method, server: example, check: no/such}\n";
    assert_verdicts(suite, &["handshake PASS", "other name FAIL", "lists PASS", "no such method FAIL"]);
    let pinned = |version: &str, negotiated: &str| {
        format!(
            "compliance:\n  spec_version: {version}\n  tests:\n    - {{name: t, check: initialize, expect: [{{target: result.protocolVersion, matcher: {{exact: '{negotiated}'}}}}]}}\n"
        )
    };
    assert_verdicts(&pinned("v2024-11-05", "2024-11-05"), &["t PASS"]);
    assert_verdicts(&pinned("v2025-06-18", "2024-11-05"), &["t FAIL"]);
}

#[test]
fn stepwise_hands_values_from_call_to_call() {
    let suite = |expected: &str| {
        format!(
            "stepwise:\n  - name: flow\n    default_server: example\n    steps:\n      \
             - {{call: {{tool: say_hello, args: {{name: Ada}}}}, capture: {{who: $.id}}, expect: [{{target: result.isError, matcher: {{exists: false}}}}]}}\n      \
             - {{server: example, call: {{tool: say_hello, args: {{name: 'no ${{capture:who}}'}}}}, expect: {{contains: '{expected}'}}}}\n"
        )
    };
    assert_verdicts(&suite("Hello, no 7!"), &["flow PASS"]);
    assert_verdicts(&suite("Hello, no 8!"), &["flow FAIL"]);
}

#[test]
fn setup_runs_commands_before_and_calls_before_each_test() {
    let test = "tools:\n  - {name: t, tool: say_hello, args: {name: a}, expect: {contains: Hello}}\n";
    for (setup, status) in [
        ("setup: [{run: [sh, -c, 'exit 0']}]\n", "PASS"),
        ("setup: [{run: [sh, -c, 'exit 3'], capture_failure: the database}]\n", "FAIL"),
        ("setup_per_test: [{call: {tool: query}}]\n", "PASS"),
        ("setup_per_test: [{call: {tool: broken}}]\n", "FAIL"),
        ("teardown: [{run: [sh, -c, 'exit 0'], always: true}]\n", "PASS"),
    ] {
        assert_verdicts(&format!("{setup}{test}"), &[&format!("t {status}")]);
    }
}

#[test]
fn target_versions_run_each_revision() {
    let suite = "target_versions: ['2024-11-05', '2025-06-18']\ncompliance:\n  - {name: t, check: initialize, expect: [{target: result.protocolVersion, matcher: {exact: '2025-06-18'}}]}\n";
    assert_verdicts(suite, &["t FAIL", "t PASS"]);
}

#[test]
fn a_recording_may_name_the_server_it_was_made_from() {
    let folder = folder(&[]);
    let cassette = r#"{"version": "1", "exchanges": [
        {"request": {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}, "response": {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}}},
        {"request": {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "echo", "arguments": {"msg": "hi"}}}, "response": {"jsonrpc": "2.0", "id": 2, "result": {"content": [{"type": "text", "text": "recorded"}]}}}]}"#;
    fs::write(folder.path().join("c.json"), cassette).expect("written");
    let suite = "servers:\n  r: {cassette: ./c.json, command: [no-such-program]}\ntools:\n  - {name: t, server: r, tool: echo, args: {msg: hi}, expect: {contains: recorded}}\n";
    fs::write(folder.path().join("suite.yaml"), suite).expect("written");
    let (found, all) = verdicts(folder.path(), &["suite.yaml"]);
    assert_eq!(found, ["t PASS"], "{all}");
}

#[test]
fn transforms_rewrite_requests_and_replies() {
    let test = |transform: &str, expect: &str| {
        format!(
            "tools:\n  - name: t\n    tool: say_hello\n    args: {{name: a}}\n    transform: {transform}\n    expect: {expect}\n"
        )
    };
    let text = |wanted: &str| format!("[{{target: 'result.content[0].text', matcher: {{exact: '{wanted}'}}}}]");
    let request = "{request: {jq: '.arguments.name = \"Ada\"'}}";
    assert_verdicts(&test(request, &text("Hello, Ada!")), &["t PASS"]);
    assert_verdicts(&test(request, &text("Hello, a!")), &["t FAIL"]);
    let id = |wanted: &str| format!("[{{target: result.id, matcher: {{exact: {wanted}}}}}]");
    let response = "{response: \"jq '.result.id = \\\"fixed\\\"'\"}";
    assert_verdicts(&test(response, &id("fixed")), &["t PASS"]);
    assert_verdicts(&test(response, &id("other")), &["t FAIL"]);
    let command = "{response: \"sed s/Hello/Bye/\"}";
    assert_verdicts(&test(command, &text("Bye, a!")), &["t PASS"]);
    assert_verdicts(&test("{response: 'false'}", &text("Hello, a!")), &["t FAIL"]);
    assert_verdicts(&test("{response: {jq: '.result.content[]'}}", &text("Hello, a!")), &["t FAIL"]);
    let inherited = "defaultTest: {transform: {response: {jq: '.result.id = 1'}}}\ntools:\n  \
        - {name: inherits, tool: query, expect: [{target: result.id, matcher: {exact: 1}}]}\n  \
        - {name: overrides, tool: query, transform: {response: {jq: '.result.id = 2'}}, expect: [{target: result.id, matcher: {exact: 2}}]}\n";
    assert_verdicts(inherited, &["inherits PASS", "overrides PASS"]);
}

#[test]
fn compositions_hand_results_from_node_to_node() {
    let suite = |expect: &str| {
        format!(
            "compositions:\n  - name: c\n    nodes:\n      \
             - {{id: greet, tool: say_hello, args: {{name: Ada}}}}\n      \
             - {{id: again, needs: [greet], tool: say_hello, args: {{name: '${{greet.greeting}} ${{greet.id}}'}}}}\n      \
             - {{id: each, needs: [list], for_each: '${{list[*]}}', max_concurrency: 2, tool: say_hello, args: {{name: '${{item}}'}}}}\n      \
             - {{id: list, needs: [greet], tool: say_hello, args: {{name: x}}, transform: {{jq: .structuredContent.tags}}}}\n      \
             - {{id: never, needs: [greet], tool: broken, when: '.parents.greet.structuredContent.id > 7'}}\n    \
             output: {{assemble: '[.nodes.each[].content[0].text] + [.nodes.again.content[0].text]'}}\n    expect: {expect}\n"
        )
    };
    let output = "[{target: output, matcher: {exact: ['Hello, a!', 'Hello, b!', 'Hello, Hello 7!']}}, {target: nodes.never.status, matcher: {exact: skipped}}, {target: composition.ran, matcher: {exact: true}}]";
    assert_verdicts(&suite(output), &["c PASS"]);
    assert_verdicts(&suite("[{target: output, matcher: {length: 2}}]"), &["c FAIL"]);
    let broken = |expect: &str| {
        format!(
            "compositions:\n  - name: c\n    nodes: [{{id: a, tool: broken}}, {{id: b, needs: [a], tool: query}}]\n{expect}"
        )
    };
    assert_verdicts(&broken(""), &["c FAIL"]);
    let judged = "    expect: [{target: nodes.a.status, matcher: {exact: err}}, {target: nodes.b.status, matcher: {exact: skipped}}]\n";
    assert_verdicts(&broken(judged), &["c PASS"]);
}

#[test]
fn compositions_have_cases_mocks_and_golden_outputs() {
    let suite = |golden: &str| {
        format!(
            "compositions:\n  - name: c\n    nodes: [{{id: a, tool: say_hello, args: {{name: '${{var.who}}'}}, transform: {{jq: '.content[0].text'}}}}]\n    \
             cases:\n      - {{name: ada, vars: {{who: Ada}}, golden: 'Hello, Ada!'}}\n      - {{name: bob, vars: {{who: Bob}}, golden: '{golden}'}}\n"
        )
    };
    assert_verdicts(&suite("Hello, Bob!"), &["c (ada) PASS", "c (bob) PASS"]);
    assert_verdicts(&suite("Hello, Eve!"), &["c (ada) PASS", "c (bob) FAIL"]);
    let mocked = |wanted: &str| {
        format!(
            "servers: {{none: {{command: [no-such-program]}}}}\ncompositions:\n  - name: m\n    nodes: [{{id: a, tool: t, mock: {{result: {{hits: [1, 2]}}}}}}]\n    \
             expect: [{{target: output.hits, matcher: {{length: {wanted}}}}}]\n"
        )
    };
    for (wanted, status) in [("2", "m PASS"), ("3", "m FAIL")] {
        let folder = folder(&[("suite.yaml", &mocked(wanted))]);
        let (found, all) = verdicts(folder.path(), &["suite.yaml"]);
        assert_eq!(found, [status], "{all}");
    }
}

/// A mock whose answer to `search` depends on its arguments in the ways that relations find.
const SEARCH: &str = r#"
mock_server:
  tools:
    - name: good
      response: {content: [{type: text, text: "[1,2,3]"}]}
    - name: counts
      responses: [{sequence: ["[1,2,3]", "[4,5]"]}]
"#;

#[test]
fn each_relation_finds_a_changing_server_and_is_silent_on_a_steady_one() {
    for relation in [
        "idempotent",
        "arg_order_insensitive",
        "case_insensitive",
        "whitespace_insensitive",
        "{noop_filter: {arg: tags, value: x}}",
        "{subset_under_filter: {arg: tags, value: x}}",
        "{monotone: {arg: limit}}",
        "{limit_superset: {arg: limit}}",
        "{duplicate_insensitive: {arg: tags}}",
        "{symmetric_args: {arg_a: q, arg_b: r}}",
        "{substitution_insensitive: {arg: q, from: A, to: O}}",
    ] {
        for (tool, status) in [("good", "t PASS"), ("counts", "t FAIL")] {
            let suite = format!(
                "servers: {{s: {{mock: search.yml}}}}\ntools:\n  - name: t\n    tool: {tool}\n    args: {{q: Ab, r: Cd, limit: 2, tags: [a]}}\n    metamorphic: {{relations: [{relation}]}}\n"
            );
            let folder = folder(&[("search.yml", SEARCH), ("suite.yaml", &suite)]);
            let (found, all) = verdicts(folder.path(), &["suite.yaml"]);
            assert_eq!(found, [status], "{relation}: {all}");
        }
    }
    let counted = |tool: &str, violations: u32| {
        format!(
            "servers: {{s: {{mock: search.yml}}}}\ntools:\n  - name: t\n    tool: {tool}\n    args: {{q: Ab, r: Cd}}\n    metamorphic: {{presets: [universal, text], expect: [{{target: metamorphic.violations, matcher: {{exact: {violations}}}}}, {{target: metamorphic.relations_checked, matcher: {{exact: 4}}}}]}}\n"
        )
    };
    for (tool, violations, status) in [("good", 0, "t PASS"), ("good", 1, "t FAIL"), ("counts", 4, "t PASS")] {
        let folder = folder(&[("search.yml", SEARCH), ("suite.yaml", &counted(tool, violations))]);
        let (found, all) = verdicts(folder.path(), &["suite.yaml"]);
        assert_eq!(found, [status], "{tool} {violations}: {all}");
    }
}

#[test]
fn scenarios_replay_a_recorded_agent_on_a_world() {
    let recording = r#"{"schema_version": "v1", "trace": {"tool_calls": [{"name": "add_widget", "server": "inv", "args": {}}],
        "tool_results": [{"call_index": 0, "is_error": false, "result": {}}], "final_response": "done"}}"#;
    let suite = |widgets: u32| {
        format!(
            "scenarios:\n  - name: add one widget\n    cassette: c.json\n    seed: {{widgets: 3}}\n    \
             transitions: [{{tool: add_widget, effect: {{widgets: {{inc: 1}}}}}}]\n    expect_state: {{widgets: {widgets}}}\n    \
             expect: [{{target: invalid_actions, matcher: {{exact: 0}}}}]\n"
        )
    };
    for (widgets, status) in [(4, "add one widget PASS"), (9, "add one widget FAIL")] {
        let folder = folder(&[("c.json", recording), ("suite.yaml", &suite(widgets))]);
        let (found, all) = verdicts(folder.path(), &["suite.yaml"]);
        assert_eq!(found, [status], "{all}");
    }
}

#[test]
fn calibration_compares_confidence_with_labels() {
    let good = "{\"confidence\": 1.0, \"correct\": true}\n{\"confidence\": 0.0, \"correct\": false}\n";
    let bad = "{\"confidence\": 1.0, \"correct\": false}\n";
    let loose = "    expect: [{target: ece, matcher: {schema: {maximum: 1}}}]\n";
    for (labels, expect, status) in [(good, "", "c PASS"), (bad, "", "c FAIL"), (bad, loose, "c PASS")] {
        let suite = format!("calibration:\n  - name: c\n    labels: ./labels.jsonl\n{expect}");
        let folder = folder(&[("labels.jsonl", labels), ("suite.yaml", &suite)]);
        let (found, all) = verdicts(folder.path(), &["suite.yaml"]);
        assert_eq!(found, [status], "{all}");
    }
}

#[test]
fn evals_without_a_judge_are_skipped_and_commands_grade() {
    let eval = "evals:\n  - {name: e, server: example, prompt: hi, response: hello, rubric: short, threshold: 0.7, judge: {jury: {size: 3}}}\n";
    assert_verdicts(eval, &["e SKIP"]);
    let scored = |output: &str| {
        format!(
            "{eval}scorers: [{{name: s, type: exec, command: [sh, -c, 'cat >/dev/null; printf \"%s\" ''{output}'' ']}}]\n"
        )
    };
    assert_verdicts(&scored(r#"{"verdict":"pass","reasoning":"fine"}"#), &["e PASS"]);
    assert_verdicts(&scored(r#"{"score":0.2,"reasoning":"poor"}"#), &["e FAIL"]);
    assert_verdicts(&scored(r#"{"cost_usd":0}"#), &["e FAIL"]);
}
