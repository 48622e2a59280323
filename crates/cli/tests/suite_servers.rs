//! Who shares a server in a suite file, in which order, and what becomes of those who outlive one.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::subject;

/// A mock that counts its calls on each connection.
const COUNTER: &str = "mock_server:\n  tools:\n    - name: count\n      \
                       responses: [{sequence: [call 1, call 2, call 3, call 4, call 5]}]\n";

fn mcprove(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1").env("CI", "").output().expect("mcprove runs")
}

/// The names of the cases with their verdicts.
fn verdicts(folder: &Path, arguments: &[&str]) -> Vec<String> {
    let output = mcprove(folder, &[&["run", "--json"], arguments].concat());
    let results: Vec<Value> = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let text = |result: &Value, key: &str| result[key].as_str().unwrap_or_default().to_owned();
    results.iter().map(|result| format!("{} {}", text(result, "name"), text(result, "status"))).collect()
}

/// How many sessions were opened.
fn sessions(folder: &Path, arguments: &[&str]) -> usize {
    mcprove(folder, &[&["run", "--events", "run.ndjson"], arguments].concat());
    let log = fs::read_to_string(folder.join("run.ndjson")).expect("a log");
    log.lines().filter(|line| line.contains("\\\"method\\\":\\\"initialize\\\"")).count()
}

fn written(files: &[(&str, String)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("counter.yaml"), COUNTER).expect("written");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

/// Tests that each expect to be the call of that number.
fn counting(options: &str, expected: &[u32]) -> String {
    let mut suite = format!("servers: {{counter: {{mock: counter.yaml}}}}\nrun_options: {{{options}}}\ntools:\n");
    for (at, number) in expected.iter().enumerate() {
        let _ = writeln!(suite, "  - {{name: test {at}, tool: count, expect: {{contains: call {number}}}}}");
    }
    suite
}

#[test]
fn tests_of_a_file_share_a_server_in_file_order() {
    let folder = written(&[
        ("shared.yaml", counting("", &[1, 2, 3])),
        ("alone.yaml", counting("restart_policy: per_test", &[1, 1, 1])),
    ]);
    for jobs in [&[][..], &["--jobs", "4"]] {
        for suite in ["shared.yaml", "alone.yaml"] {
            let told = verdicts(folder.path(), &[&[suite], jobs].concat());
            assert_eq!(told, ["test 0 PASS", "test 1 PASS", "test 2 PASS"], "{suite}");
        }
    }
}

#[test]
fn files_share_a_server_where_both_say_so() {
    let each = |first: &str, second: &str, options: &str| {
        let one = counting(options, &[1]).replace("test 0", first);
        let two = counting(options, &[if options.contains("per_run") { 2 } else { 1 }]).replace("test 0", second);
        written(&[("one.yaml", one), ("two.yaml", two)])
    };
    for options in ["restart_policy: per_run", "restart_policy: per_file"] {
        let folder = each("first", "second", options);
        let told = verdicts(folder.path(), &["one.yaml", "two.yaml"]);
        assert_eq!(told, ["first PASS", "second PASS"], "{options}");
    }
}

#[test]
fn a_suite_says_how_many_run_side_by_side() {
    let four = |options: &str| counting(options, &[1, 1, 1, 1]).replace("contains: call 1", "contains: call");
    let folder = written(&[
        ("one.yaml", four("")),
        ("two.yaml", four("parallel: 2")),
        ("each.yaml", four("parallel: 2, restart_policy: per_test")),
    ]);
    for (suite, jobs, expected) in [
        ("one.yaml", &[][..], 1),
        ("one.yaml", &["--jobs", "4"], 1),
        ("two.yaml", &[], 2),
        ("two.yaml", &["--jobs", "4"], 2),
        ("two.yaml", &["--jobs", "1"], 1),
        ("each.yaml", &[], 4),
    ] {
        assert_eq!(sessions(folder.path(), &[&[suite], jobs].concat()), expected, "{suite} {jobs:?}");
    }
}

/// A server whose calls are answered once both tools have been called: only calls that are open together are answered.
const RENDEZVOUS: &str = r#"while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"method":"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}\n' "$id" ;;
    *'"method":"tools/call"'*)
      case "$line" in *'"name":"one"'*) touch one ;; *) touch two ;; esac
      while [ ! -e one ] || [ ! -e two ]; do sleep 0.01; done
      printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"met"}]}}\n' "$id" ;;
  esac
done
"#;

#[test]
fn tests_that_may_run_side_by_side_do() {
    let suite = |options: &str| {
        let test =
            |name: &str| format!("  - {{name: {name}, tool: {name}, timeout: 20s, expect: {{contains: met}}}}\n");
        let server = "servers: {s: {command: [sh, server.sh]}}";
        format!("{server}\nrun_options: {{{options}}}\ntools:\n{}{}", test("one"), test("two"))
    };
    let folder = written(&[("server.sh", RENDEZVOUS.to_owned()), ("two.yaml", suite("parallel: 2"))]);
    assert_eq!(mcprove(folder.path(), &["run", "two.yaml"]).status.code(), Some(0));
}

#[test]
fn commands_around_tests_live_in_real_time_even_where_the_mock_does_not() {
    let mock = "mock_server: {tools: [{name: wait, fault: 'slow:3600000', response: waited}]}\n";
    let suite = "servers: {slow: {mock: slow.yaml, virtual_time: true}}\n\
                 hooks: {beforeAll: sleep 0.05, beforeEach: sleep 0.05, afterEach: touch ended}\n\
                 tools:\n  - {name: an hour, tool: wait, timeout: 2h, expect: {contains: waited}}\n  \
                 - {name: too long, tool: wait, timeout: 59m, expect: {contains: waited}}\n";
    let folder = written(&[("slow.yaml", mock.to_owned()), ("suite.yaml", suite.to_owned())]);
    for jobs in ["1", "4"] {
        let told = verdicts(folder.path(), &["suite.yaml", "--jobs", jobs]);
        assert_eq!(told, ["an hour PASS", "too long FAIL"]);
    }
    assert!(folder.path().join("ended").exists());
}

#[test]
fn a_server_that_dies_is_restarted_and_only_its_killer_is_blamed() {
    let misbehave = subject::build("misbehave");
    let suite = |options: &str| {
        format!(
            "servers: {{fragile: {{command: [{misbehave:?}, exit-mid-call]}}}}\nrun_options: {{{options}}}\n\
             assert_raw: [{{name: before, method: ping, expect: {{result: {{}}}}}}]\n\
             tools: [{{name: killer, tool: echo, args: {{text: hi}}, expect: {{contains: hi}}}}]\n\
             assert_prompts: [{{name: after, list: {{}}, expect: {{protocol_error: -32601}}}}]\n"
        )
    };
    let after = |name: &str| {
        format!(
            "servers: {{fragile: {{command: [{misbehave:?}, exit-mid-call]}}}}\n\
             run_options: {{restart_policy: per_run}}\n\
             assert_raw:\n  - {{name: {name}, method: ping, expect: {{result: {{}}}}}}\n"
        )
    };
    for options in ["", "restart_policy: per_run", "parallel: 2", "restart_policy: per_test"] {
        let folder = written(&[("a.yaml", suite(options)), ("b.yaml", after("in the next file"))]);
        let told = verdicts(folder.path(), &["a.yaml", "b.yaml"]);
        let expected = ["before PASS", "killer FAIL", "after PASS", "in the next file PASS"];
        assert_eq!(told, expected, "{options}");
    }
}

/// What became of calls over one server.
struct Calls {
    /// The names of the cases with their verdicts.
    told: Vec<String>,
    /// What was said in the time of each case.
    said: Vec<Vec<String>>,
    /// The rules of the findings about each case, and what was seen.
    found: Vec<Vec<(String, String)>>,
}

/// Three calls over one server that does wrong what is named.
fn three_calls(behaviour: &str, options: &[&str]) -> Calls {
    let misbehave = subject::build("misbehave");
    let call = |number: u32| {
        format!(
            "  - {{name: call {number}, tool: echo, args: {{text: hi {number}}}, expect: {{contains: hi {number}}}}}\n"
        )
    };
    let calls: String = (1..=3).map(call).collect();
    let suite = format!("servers: {{s: {{command: ['{}', {behaviour}]}}}}\ntools:\n{calls}", misbehave.display());
    let folder = written(&[("suite.yaml", suite)]);
    let told = verdicts(folder.path(), &[&["suite.yaml", "--events", "log.ndjson"], options].concat());
    let log = fs::read_to_string(folder.path().join("log.ndjson")).expect("a log");
    let (mut said, mut found) = (vec![Vec::new(); 3], vec![Vec::new(); 3]);
    for event in log.lines().map(|line| serde_json::from_str::<Value>(line).expect("an event")) {
        let Some(case) = event["index"].as_u64().and_then(|index| usize::try_from(index).ok()) else { continue };
        for finding in event["findings"].as_array().into_iter().flatten() {
            let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
            found[case].push((text("rule"), text("actual")));
        }
        let frame = event["frame"]["text"].as_str().and_then(|body| serde_json::from_str::<Value>(body).ok());
        let Some(frame) = frame else { continue };
        match (&frame["params"]["name"], &frame["result"]["content"][0]["text"]) {
            (Value::String(_), _) => said[case].push(format!("asked {}", frame["params"]["arguments"]["text"])),
            (_, Value::String(text)) => said[case].push(format!("answered {text:?}")),
            (_, _) => {}
        }
    }
    Calls { told, said, found }
}

/// What three calls are told as that all pass.
const ALL_PASS: [&str; 3] = ["call 1 PASS", "call 2 PASS", "call 3 PASS"];

#[test]
fn what_is_said_for_a_case_stands_in_its_record_also_when_it_is_sent_before_the_case_begins() {
    let each = |number: u32| vec![format!("asked \"hi {number}\""), format!("answered \"hi {number}\"")];
    for options in [&[][..], &["--fail-fast"]] {
        let Calls { told, said, .. } = three_calls("none", options);
        assert_eq!(told, ALL_PASS);
        assert_eq!(said, [each(1), each(2), each(3)]);
    }
}

#[test]
fn what_follows_an_answer_belongs_to_its_case_and_not_to_the_next() {
    for options in [&[][..], &["--fail-fast"]] {
        let Calls { told, found, .. } = three_calls("twice", options);
        assert_eq!(told, ALL_PASS);
        assert!(found.iter().all(|found| found.len() == 1), "{found:?}");
    }
}

#[test]
fn a_server_that_ends_after_each_answer_is_started_again_for_the_next() {
    let Calls { told, found, .. } = three_calls("exit-after-initialize, '9', --at, tools/call", &[]);
    assert_eq!(told, ALL_PASS);
    let how = found[1].iter().find(|(rule, _)| rule == "restarted").map(|(_, how)| how.as_str()).unwrap_or_default();
    assert!(how.contains("code 9"), "{found:?}");
}

#[test]
fn no_call_is_made_after_the_first_failure_where_that_is_enough() {
    let Calls { told, said, .. } = three_calls("rpc-error", &["--fail-fast"]);
    assert_eq!(told, ["call 1 FAIL", "call 2 SKIP", "call 3 SKIP"]);
    assert_eq!(said[1..], [Vec::<String>::new(), Vec::new()]);
}
