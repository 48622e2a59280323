//! `conformance:` in suites: the rules of `mcprove conformance` on the run path of every suite.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn folder(suite: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("suite.yaml"), suite).expect("a file");
    folder
}

fn mcprove(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    command.args(arguments).current_dir(folder).output().expect("mcprove runs")
}

/// A suite with a mock, and what it asks of it.
fn suite(mock: &str, block: &str) -> String {
    let program = env!("CARGO_BIN_EXE_mcprove");
    format!("servers: {{s: {{command: ['{program}', mock, {mock}]}}}}\n{block}\n")
}

const RULES: &str = "rules: [mcp-handshake, mcp-id-echo, mcp-read-only-hint], protocol: '2025-11-25'";

#[test]
fn each_rule_is_a_case_in_all_reports() {
    let folder = folder(&suite("--conforming, --mutation, string-ids", &format!("conformance: {{{RULES}}}")));
    let reports = ["--junit", "r.xml", "--report", "r.json", "--sarif", "r.sarif", "--save-baseline", "b.json"];
    let run = mcprove(folder.path(), &[&["run", "suite.yaml", "--json"][..], &reports].concat());
    let results: Vec<Value> = serde_json::from_slice(&run.stdout).expect("JSON");
    let told: Vec<String> = results
        .iter()
        .map(|case| {
            format!("{} {}", case["name"].as_str().unwrap_or_default(), case["status"].as_str().unwrap_or_default())
        })
        .collect();
    assert_eq!(
        told,
        [
            "conformance: 2025-11-25 mcp-handshake PASS",
            "conformance: 2025-11-25 mcp-id-echo FAIL",
            "conformance: 2025-11-25 mcp-read-only-hint SKIP"
        ]
    );
    assert_eq!(run.status.code(), Some(1));
    for name in ["r.xml", "r.json", "r.sarif"] {
        let text = fs::read_to_string(folder.path().join(name)).expect("a report");
        assert!(text.contains("mcp-id-echo") && text.contains("suite.yaml"), "{name}: {text}");
    }
    // A known failure passes the gate, as in every run.
    let again = mcprove(folder.path(), &["run", "suite.yaml", "--baseline", "b.json"]);
    assert_eq!(again.status.code(), Some(0), "{again:?}");
    let only = mcprove(folder.path(), &["run", "suite.yaml", "--filter", "handshake", "--tag", "must", "--dry-run"]);
    let text = String::from_utf8_lossy(&only.stdout);
    assert!(text.contains("1 cases would run") && text.contains("suite.yaml:2"), "{text}");
}

#[test]
fn hints_are_put_to_the_test_where_writes_are_allowed() {
    let block = "conformance:\n  - {name: hints, include_writes: true, protocol: '2025-11-25', rules: \
                 [mcp-read-only-hint, mcp-idempotent-hint, mcp-destructive-hint]}";
    for (mutation, broken) in [
        ("", ""),
        ("writes-anyway", "mcp-read-only-hint"),
        ("adds-again", "mcp-idempotent-hint"),
        ("overwrites", "mcp-destructive-hint"),
    ] {
        let mock = if mutation.is_empty() {
            "--conforming".to_owned()
        } else {
            format!("--conforming, --mutation, {mutation}")
        };
        let folder = folder(&suite(&mock, block));
        let run = mcprove(folder.path(), &["run", "suite.yaml", "--json", "--strict"]);
        let results: Vec<Value> = serde_json::from_slice(&run.stdout).expect("JSON");
        let failed: Vec<&str> =
            results.iter().filter(|case| case["status"] != "PASS").filter_map(|case| case["name"].as_str()).collect();
        let expected: Vec<String> =
            if broken.is_empty() { Vec::new() } else { vec![format!("hints: 2025-11-25 {broken}")] };
        assert_eq!(failed, expected, "{mutation}: {}", String::from_utf8_lossy(&run.stdout));
    }
}

#[test]
fn mistakes_in_the_block_are_reported_with_their_place() {
    for (block, told) in [
        ("conformance: {rules: [mcp-handshak]}", "there is no rule `mcp-handshak`"),
        ("conformance: {except: [mcp-handshak]}", "did you mean `mcp-handshake`?"),
        ("conformance: {include_writes: true, read_only: true}", "mutually exclusive"),
        ("conformance: {setup: []}", "`setup` means nothing in a test of `conformance`"),
        ("conformance: {protocoll: '2025-11-25'}", "unknown key `protocoll`"),
        ("conformance: [{protocol: '2025-11-25'}]", "has no `name`"),
    ] {
        let folder = folder(&suite("--conforming", block));
        let output = mcprove(folder.path(), &["validate", "suite.yaml"]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(told) && text.contains("suite.yaml:2"), "{block}: {text}");
    }
}

#[test]
fn every_revision_is_tested_unless_some_are_named() {
    let folder = folder(&suite("--conforming", "conformance: {rules: [mcp-handshake]}"));
    let planned = |flags: &[&str]| {
        let output = mcprove(folder.path(), &[&["run", "suite.yaml", "--dry-run"][..], flags].concat());
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let all = planned(&[]);
    assert!(all.contains("2024-11-05 mcp-handshake") && all.contains("2026-07-28 mcp-handshake"), "{all}");
    let legacy = planned(&["--protocol", "legacy"]);
    assert!(legacy.contains("2025-11-25 mcp-handshake") && !legacy.contains("2026-07-28"), "{legacy}");
    let one = planned(&["--protocol", "2025-06-18"]);
    assert!(one.contains("1 cases would run") && one.contains("2025-06-18 mcp-handshake"), "{one}");
}

#[test]
fn the_log_has_every_message_and_is_judged_as_the_server_was() {
    let folder = folder("");
    for (mutation, code) in [(None, 0), (Some("string-ids"), 1)] {
        let mutation = mutation.map(|name| format!(" --mutation {name}")).unwrap_or_default();
        let server = format!("{} mock --conforming{mutation}", env!("CARGO_BIN_EXE_mcprove"));
        let run = mcprove(folder.path(), &["conformance", "--server", &server, "--events", "log.ndjson"]);
        assert_eq!(run.status.code(), Some(code), "{run:?}");
        let judged = mcprove(folder.path(), &["conformance", "log.ndjson"]);
        let text = String::from_utf8_lossy(&judged.stdout);
        assert_eq!(judged.status.code(), Some(code), "{text}");
        for revision in mcprove_model::Revision::ALL {
            assert!(text.contains(&format!("{revision} over stdio: ")), "{text}");
        }
        let log = fs::read_to_string(folder.path().join("log.ndjson")).expect("a log");
        assert_eq!(log.matches(r#"\"protocolVersion\":\"2099-12-31\""#).count(), 1, "an offer is logged once");
    }
}

#[test]
fn a_tool_that_does_not_answer_in_time_proves_nothing_about_parameters() {
    let folder = folder("");
    let manifest = "mock_server:\n  name: slow\n  version: 1.0.0\n  tools:\n    - {name: wait, annotations: {readOnlyHint: \
                    true}, fault: hang}\n";
    fs::write(folder.path().join("tools.yml"), manifest).expect("written");
    let server = format!("{} mock --tools-from tools.yml", env!("CARGO_BIN_EXE_mcprove"));
    let given = ["conformance", "--server", &server, "--protocol", "2025-11-25", "--timeout", "3s", "--json"];
    let run = mcprove(folder.path(), &[&given[..], &["--no-sandbox"]].concat());
    let results: Vec<Value> = serde_json::from_slice(&run.stdout).expect("JSON");
    let failed: Vec<&Value> = results.iter().filter(|case| case["status"] == "FAIL").collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn a_variant_of_one_revision_has_the_cases_of_that_revision_alone() {
    let block = "matrix: {protocol: ['2025-06-18', '2025-11-25']}\nconformance: {rules: [mcp-ping]}";
    let folder = folder(&suite("--conforming", block));
    let run = mcprove(folder.path(), &["matrix", "suite.yaml", "--json", "--events", "log.ndjson"]);
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    let log = fs::read_to_string(folder.path().join("log.ndjson")).expect("a log");
    let events: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let passed = events.iter().filter(|event| event["event"] == "case_finished" && event["verdict"] == "passed");
    assert_eq!(passed.count(), 2, "each variant has its revision");
    // Each server was asked in its revision alone; the offers of a server name all.
    let connected = events.iter().filter(|event| event["event"] == "connected");
    let mut spoken: Vec<&str> = connected.filter_map(|event| event["protocol"].as_str()).collect();
    spoken.sort_unstable();
    spoken.dedup();
    assert_eq!(spoken, ["2025-06-18", "2025-11-25"]);
}
