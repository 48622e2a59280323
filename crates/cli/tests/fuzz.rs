//! Small servers with one bug each: every bug is found with default settings, made as small as a person would make it,
//! and kept as a test that fails until it is mended. A careful server has no bugs to find.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::subject;

/// What a leaked variable holds.
const TOKEN: &str = "tok-5f1e9c77aa01";

/// A bug of the `buggy` server, the kind of its failure, and the least that brings it about.
struct Row {
    bug: &'static str,
    kind: &'static str,
    least: Value,
}

fn row(bug: &'static str, kind: &'static str, least: Value) -> Row {
    Row { bug, kind, least }
}

fn nested(depth: usize) -> Value {
    (1..depth).fold(json!({}), |inner, _| json!({"a": inner}))
}

fn rows() -> Vec<Row> {
    vec![
        row("depth", "crash", json!({"minimal": {"data": nested(40)}})),
        row("env", "leak", json!({"minimal": {"text": ""}})),
        row("exit-after-answer", "crash", json!({"minimal": {"text": "\0"}})),
        row("exit-on-37th", "crash", json!({"minimal": {}, "repeat": 37})),
        row("mixup", "protocol", json!({"minimal": {"text": "hello"}, "beside": [{}]})),
        row("null", "crash", json!({"minimal": {"text": null}})),
        row("output", "output-mismatch", json!({"minimal": {"n": -1}})),
        row("overflow", "crash", json!({"minimal": {"size": 2_147_483_648_i64}})),
        row("sequence", "crash", json!({"minimal": {"text": "a".repeat(1001)}, "before": [{"text": ""}]})),
        row("stack", "leak", json!({"minimal": {"text": ""}})),
        row("traversal", "leak", json!({"minimal": {"path": "../proc/version"}})),
    ]
}

/// Those that are only found by waiting for them.
fn silent_rows() -> Vec<Row> {
    vec![
        row("regex", "hang", json!({"minimal": {"text": format!("{}!", "a".repeat(24))}})),
        row("unicode", "hang", json!({"minimal": {"text": "é"}})),
    ]
}

/// A server that divides, and says on standard error why it ended.
const DIVIDING: &str = r#"
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    if m["method"] == "initialize":
        r = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "d", "version": "1"}}
    elif m["method"] == "tools/list":
        schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        r = {"tools": [{"name": "half", "description": "Divides.", "inputSchema": schema, "annotations": {"readOnlyHint": True}}]}
    elif m["method"] == "ping":
        r = {}
    else:
        n = (m["params"].get("arguments") or {}).get("n", 1)
        r = {"content": [{"type": "text", "text": str(100 // n if type(n) is int else "no")}]}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
"#;

#[test]
fn a_crash_shows_its_traceback_a_command_to_paste_and_with_v_every_call() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("dividing.py"), DIVIDING).expect("a file");
    let mcprove = env!("CARGO_BIN_EXE_mcprove");
    let fuzz = |more: &[&str]| {
        let mut command = Command::new(mcprove);
        command.current_dir(folder.path()).args([
            "fuzz",
            "--runs",
            "20",
            "--seed",
            "1",
            "--server",
            "python3 dividing.py",
        ]);
        String::from_utf8(command.args(more).output().expect("mcprove runs").stdout).expect("text")
    };
    let told = fuzz(&[]);
    assert!(told.contains("stderr: ZeroDivisionError"), "{told}");
    let again = "again: mcprove call --server 'python3 dividing.py' half 'n:=0'";
    assert!(told.contains(again), "{told}");
    assert!(!told.contains("  request "), "{told}");
    let verbose = fuzz(&["-v"]);
    assert!(verbose.matches("  request ").count() >= 20, "{verbose}");
    assert!(verbose.contains(r#"reply    {"jsonrpc": "2.0""#), "{verbose}");
    // The command does what it says.
    let called = Command::new(mcprove)
        .current_dir(folder.path())
        .args(["call", "--server", "python3 dividing.py", "half", "n:=0"])
        .output()
        .expect("mcprove runs");
    assert_eq!(called.status.code(), Some(1), "{called:?}");
}

#[test]
fn every_bug_is_found_made_small_and_kept() {
    for row in rows() {
        check(&row, "50");
    }
}

#[test]
fn what_shows_once_several_calls_are_in_flight_is_found_made_small_and_kept() {
    check(&row("exit-on-150th", "crash", json!({"minimal": {}, "repeat": 150})), "200");
    let folder = tempfile::tempdir().expect("a folder");
    let failure = found("busy", "200", folder.path());
    let plain = json!({"text": "hello"});
    assert_eq!((&failure["status"], &failure["minimal"]), (&json!("crash"), &plain), "{failure:#}");
    // How many it takes depends on how quick the server is. A slow one gets few calls at once, and shows it with the first
    // two that were answered differently.
    let is_least = |beside: &Vec<Value>| beside.len() == 1 || beside.iter().all(|call| *call == plain);
    assert!(failure["beside"].as_array().is_some_and(is_least), "{failure:#}");
    fails_until_mended("busy", folder.path());
    let shown = mcprove(&["fuzz", "--server", &server("busy"), "--runs", "200"], None);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    let line = shown.lines().find(|line| line.starts_with("failed")).unwrap_or_default();
    assert!(line.ends_with("200 calls: 200 handled; 1 failure of concurrent calls"), "{shown}");
}

#[test]
fn silence_is_found_made_small_and_kept() {
    // They mostly wait, so they can do it together.
    std::thread::scope(|scope| {
        for row in silent_rows() {
            scope.spawn(move || check(&row, "50"));
        }
    });
}

#[test]
fn a_tool_that_answers_nothing_at_all_fails() {
    let mock = format!("'{}' mock --tools-from examples/mock/weather.yml", env!("CARGO_BIN_EXE_mcprove"));
    let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (fault, code, words) in [("hang", 1, "no call was answered in time"), ("none", 0, "handled")] {
        let server = format!("{mock} --fault {fault}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
        command.args([
            "fuzz",
            "--tool",
            "forecast",
            "--runs",
            "3",
            "--seed",
            "1",
            "--timeout",
            "5s",
            "--server",
            &server,
        ]);
        let output = command.current_dir(&base).output().expect("mcprove runs");
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{fault}: {said}");
        assert!(said.contains(words), "{fault}: {said}");
    }
}

fn check(row: &Row, runs: &str) {
    let bug = row.bug;
    let folder = tempfile::tempdir().expect("a folder");
    let failure = found(bug, runs, folder.path());
    assert_eq!(failure["status"], row.kind, "{bug}: {failure:#}");
    for (key, value) in row.least.as_object().expect("an object") {
        assert_eq!(&failure[key], value, "{bug}: {key} of {failure:#}");
    }
    for key in ["repeat", "before", "beside"] {
        assert_eq!(failure.get(key).is_some(), row.least.get(key).is_some(), "{bug}: {key}");
    }
    fails_until_mended(bug, folder.path());
}

/// The one failure that a bug leads to, and its file in a folder.
fn found(bug: &str, runs: &str, folder: &Path) -> Value {
    let output = mcprove(&["fuzz", "--server", &server(bug), "--runs", runs, "--json", "--save"], Some(folder));
    assert_eq!(output.status.code(), Some(1), "{bug}: {}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let failures = report["tools"][0]["failures"].as_array().expect("a list");
    let [failure] = failures.as_slice() else { panic!("{bug}: {failures:#?}") };
    let files: Vec<PathBuf> = fs::read_dir(folder).expect("a folder").map(|e| e.expect("a file").path()).collect();
    assert_eq!(files, [PathBuf::from(failure["file"].as_str().expect("a file"))], "{bug}");
    failure.clone()
}

fn fails_until_mended(bug: &str, folder: &Path) {
    let again = mcprove(&["run", "--json"], Some(folder));
    let told = String::from_utf8_lossy(&again.stdout).into_owned();
    assert_eq!(again.status.code(), Some(1), "{bug}: the kept test fails: {told}");
    let fixed = mcprove(&["run", "--server", &format!("{} --fixed", server(bug))], Some(folder));
    assert_eq!(
        fixed.status.code(),
        Some(0),
        "{bug}: the kept test passes once the bug is mended: {}",
        String::from_utf8_lossy(&fixed.stdout)
    );
    assert_eq!(mcprove(&["fuzz", "--server", &format!("{} --fixed", server(bug))], None).status.code(), Some(0));
}

#[test]
fn a_careful_server_has_nothing_to_be_found() {
    // `MATRIX=full` makes four times as many calls.
    let (runs, least) = if std::env::var_os("MATRIX").is_some() { ("1500", 5000) } else { ("400", 1200) };
    let output = mcprove(
        &["fuzz", "--server", &server("careful"), "--runs", runs, "--strict-input", "--include-writes", "--json"],
        None,
    );
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(output.status.code(), Some(0), "{report:#}");
    let summary = &report["summary"];
    assert!(summary["total_runs"].as_u64().is_some_and(|runs| runs > least), "{summary}");
    assert_eq!(summary["total_passed"], summary["total_runs"], "{report:#}");
}

/// What was sent to each tool, byte for byte.
fn sent(events: &Path) -> BTreeMap<u64, Vec<(u64, String)>> {
    let mut sent: BTreeMap<u64, Vec<(u64, String)>> = BTreeMap::new();
    for line in fs::read_to_string(events).expect("a log").lines() {
        let event: Value = serde_json::from_str(line).expect("an event");
        if event["event"] == "frame" && event["frame"]["direction"] == "sent" {
            let frame = (event["session"].as_u64().expect("a session"), event["frame"]["text"].to_string());
            sent.entry(event["index"].as_u64().expect("an index")).or_default().push(frame);
        }
    }
    sent
}

#[test]
fn a_seed_fixes_every_byte_whatever_the_number_of_jobs() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |name: &str, seed: &str, jobs: &str| {
        let events = folder.path().join(name);
        let server = server("careful");
        // Enough for several to be in flight.
        let arguments = [
            "fuzz",
            "--server",
            &server,
            "--include-writes",
            "--runs",
            "220",
            "--seed",
            seed,
            "--jobs",
            jobs,
            "--events",
        ];
        assert_eq!(mcprove(&arguments, Some(&events)).status.code(), Some(0));
        sent(&events)
    };
    let one = run("one", "7", "1");
    assert_eq!(one.len(), 5, "each tool has frames");
    assert!(one.values().map(Vec::len).sum::<usize>() > 800);
    assert_eq!(one, run("again", "7", "1"));
    assert_eq!(one, run("two jobs", "7", "2"));
    assert_ne!(one, run("another", "8", "2"));
}

#[test]
fn a_plan_without_end_is_cut_off_and_what_was_not_called_says_so() {
    let server = server("careful");
    let output =
        mcprove(&["fuzz", "--server", &server, "--include-writes", "--runs", "4000000000", "--time", "5s"], None);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{told}");
    let lines = |part: &str| told.lines().filter(|line| line.contains(part)).count();
    assert_eq!(lines("calls until the time was over: "), 1, "{told}");
    assert_eq!(lines("the time was over before its first call"), 4, "{told}");
    assert_eq!(lines("ok   "), 1, "{told}");
}

#[test]
fn the_start_of_a_server_is_not_waited_for_longer_than_asked() {
    let output = mcprove(&["fuzz", "--server", "sleep 60", "--timeout", "300ms"], None);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("did not answer `initialize` within 0."), "{told}");
}

#[test]
fn given_arguments_come_first_and_a_wrong_file_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let (given, events) = (folder.path().join("given.yaml"), folder.path().join("events"));
    fs::write(&given, "lookup:\n  - {text: given by hand}\n").expect("written");
    let server = server("null");
    let arguments =
        ["fuzz", "--server", &server, "--seed-args", given.to_str().expect("a path"), "--runs", "10", "--events"];
    mcprove(&arguments, Some(&events));
    let first = sent(&events)[&0].iter().find(|(_, text)| text.contains("tools/call")).cloned().expect("a call");
    assert!(first.1.contains("given by hand"), "{first:?}");

    fs::write(&given, "lookup: 3\n").expect("written");
    let output = mcprove(&arguments, Some(&events));
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("the arguments of `lookup`") && told.contains("help: "), "{told}");
}

#[test]
fn what_cannot_be_called_is_told() {
    let server = server("null");
    for (arguments, status, told) in [
        (vec!["--tool", "lokup"], 2, "the server has no tool `lokup`"),
        (vec!["--tool", "lookup", "--time", "1ms"], 4, "no tool was called"),
    ] {
        let output = mcprove(&[vec!["fuzz", "--server", &server], arguments].concat(), None);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{text}");
        assert!(text.contains(told), "{text}");
    }
}

#[test]
fn fewer_distinct_inputs_than_calls_are_named_and_null_is_sent() {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = folder.path().join("one.yml");
    let tool = "{name: ping, annotations: {readOnlyHint: true}, input_schema: {type: object, additionalProperties: false}, \
                response: pong}";
    fs::write(&manifest, format!("mock_server:\n  tools: [{tool}]\n")).expect("written");
    let server = format!("'{}' mock --tools-from '{}'", env!("CARGO_BIN_EXE_mcprove"), manifest.display());
    let events = folder.path().join("events.ndjson");
    let fuzz = ["fuzz", "--yes", "--server", &server, "--runs", "200", "--seed", "1"];
    let output = mcprove(&[&fuzz[..], &["--events"]].concat(), Some(&events));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("calls instead of 200, because there are no more distinct inputs: "), "{text}");
    let output = mcprove(&[&fuzz[..], &["--json"]].concat(), None);
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json["tools"][0]["distinct_inputs"], json["tools"][0]["runs"]);
    let log = fs::read_to_string(&events).expect("a log");
    for sent in [r#"\"arguments\":null"#, r#"\"arguments\":{}"#, r#"{\"name\":\"ping\",\"_meta\""#] {
        assert!(log.contains(sent), "{sent} is not in {log}");
    }
}

fn mcprove(arguments: &[&str], last: Option<&Path>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mcprove"))
        .args(arguments)
        .args(last)
        .env("BUGGY_TOKEN", TOKEN)
        .output()
        .expect("mcprove runs")
}

fn server(bug: &str) -> String {
    static BUGGY: OnceLock<String> = OnceLock::new();
    let program = BUGGY.get_or_init(|| subject::build("buggy").display().to_string());
    format!("'{program}' {bug}")
}

#[test]
fn a_suite_fuzzes_its_tools() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = server("").replace('\'', "\"");
    let suite = folder.path().join("suite.yml");
    let counted = "{target: fuzz.crashes, matcher: {exact: 1}}, {target: fuzz.cases_run, matcher: {exact: 40}}, \
                   {target: fuzz.gate_passed, matcher: {exact: false}}, {target: fuzz.leaks, matcher: {exact: 0}}, \
                   {target: fuzz.hangs, matcher: {exact: 0}}, {target: fuzz.protocol_violations, matcher: {exact: 0}}";
    let yaml = format!(
        "servers:\n  careful: {{command: {program}, args: [careful]}}\n  bad: {{command: {program}, args: [\"null\"]}}\n\
         tools:\n  - {{name: gate holds, server: careful, tool: add, args: {{a: 1, b: 1}}, fuzz: {{seed: 3, cases: 40}}}}\n  \
         - {{name: gate fails, server: bad, tool: lookup, args: {{text: x}}, fuzz: {{cases: 40}}}}\n  \
         - {{name: counts hold, server: bad, tool: lookup, args: {{text: x}}, fuzz: {{cases: 40, expect: [{counted}]}}}}\n  \
         - {{name: count fails, server: bad, tool: lookup, args: {{text: x}}, fuzz: {{cases: 40, expect: [{{target: fuzz.crashes, matcher: {{exact: 0}}}}]}}}}\n"
    );
    fs::write(&suite, yaml).expect("written");
    let output = mcprove(&["run", "--json"], Some(&suite));
    let results: Vec<Value> = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let told: Vec<_> = results.iter().map(|result| (result["name"].as_str(), result["status"].as_str())).collect();
    let expected = [("gate holds", "PASS"), ("gate fails", "FAIL"), ("counts hold", "PASS"), ("count fails", "FAIL")];
    assert_eq!(told, expected.map(|(name, status)| (Some(name), Some(status))), "{results:#?}");

    let written = fs::read_to_string(&suite).expect("read");
    for (misspelt, help) in [("fuzz.leeks", "did you mean `fuzz.leaks`?"), ("fuz.leaks", "did you mean `fuzz.leaks`?")]
    {
        fs::write(&suite, written.replace("fuzz.leaks", misspelt)).expect("written");
        let output = mcprove(&["run"], Some(&suite));
        assert_eq!(output.status.code(), Some(2));
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((told.matches(help).count(), told.matches("error[").count()), (1, 1), "{told}");
    }
    assert!(results[1]["detail"].as_str().is_some_and(|detail| detail.contains("Cannot read properties of null")));
}
