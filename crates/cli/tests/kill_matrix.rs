//! Servers that misbehave, and what mcprove says of each: the verdict, the cause, and that nothing is left behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// A behaviour of the `misbehave` server, the status it must get, and words its detail must hold.
type Row = (&'static str, &'static str, &'static [&'static str]);

const ROWS: &[Row] = &[
    ("abort-mid-call", "FAIL", &["SIGABRT", "before it answered"]),
    ("ansi", "FAIL", &["terminal escape codes"]),
    ("bad-number", "FAIL", &["number out of range"]),
    ("bad-output", "PASS", &[]),
    ("batch", "FAIL", &["came in a batch"]),
    ("bogus-version", "FAIL", &["1999-01-01"]),
    ("bom", "FAIL", &["byte order mark"]),
    ("both", "FAIL", &["both a result and an error"]),
    ("cancel-aware", "FAIL", &["not answered within"]),
    ("caps-wrong-type", "PASS", &[]),
    ("control-text", "FAIL", &["does not contain"]),
    ("crlf", "PASS", &[]),
    ("cyclic-ref", "PASS", &[]),
    ("deep-json", "FAIL", &["nested too deeply"]),
    ("endless-line", "FAIL", &["longer than 64 MiB"]),
    ("endless-pages", "PASS", &[]),
    ("error-null", "FAIL", &["\"error\": null"]),
    ("exit-after-initialize", "FAIL", &["exited with code 0"]),
    ("exit-at-start", "FAIL", &["exited with code 3", "API_KEY not set"]),
    ("exit-mid-call", "FAIL", &["exited with code 7"]),
    ("exit-mid-line", "FAIL", &["in the middle of a message"]),
    ("float-id", "FAIL", &["has the id 2.0"]),
    ("flood", "PASS", &[]),
    ("garbage-first", "PASS", &[]),
    ("grandchild", "PASS", &[]),
    ("ignore-eof", "PASS", &[]),
    ("ignore-sigterm", "PASS", &[]),
    ("invalid-utf8", "FAIL", &["not valid UTF-8"]),
    ("json-log-lines", "PASS", &[]),
    ("late", "PASS", &[]),
    ("many-tools", "PASS", &[]),
    ("missing-id", "FAIL", &["has no id"]),
    ("never-reads", "FAIL", &["did not answer `initialize`"]),
    ("no-jsonrpc", "FAIL", &["lacks `\"jsonrpc\""]),
    ("non-object-result", "FAIL", &["not an object"]),
    ("none", "PASS", &[]),
    ("nul", "FAIL", &["NUL bytes"]),
    ("null-id", "FAIL", &["has the id null"]),
    ("old-version", "PASS", &[]),
    ("out-of-order", "PASS", &[]),
    ("pretty", "FAIL", &["several lines"]),
    ("progress", "PASS", &[]),
    ("reply-to-notification", "PASS", &[]),
    ("requests-unknown", "PASS", &[]),
    ("rpc-error", "FAIL", &["JSON-RPC error", "-32603"]),
    ("silent", "FAIL", &["did not answer `initialize`"]),
    ("slow-bytes", "PASS", &[]),
    ("stderr-flood", "PASS", &[]),
    ("string-error-code", "FAIL", &["not a whole number"]),
    ("string-id", "FAIL", &["has the id \"2\""]),
    ("twice", "PASS", &[]),
    ("wrong-id", "FAIL", &["but the request had 2"]),
];

#[test]
fn every_misbehaviour_gets_its_verdict_and_leaves_nothing_behind() {
    let misbehave = build_misbehave();
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().canonicalize().expect("a path");
    let suite = home.join("suite");
    fs::create_dir(&suite).expect("a folder");
    for (behaviour, ..) in ROWS {
        let yaml = format!(
            "name: {behaviour}\nserver: {{ command: {misbehave:?}, args: [{behaviour}], cwd: {home:?} }}\ntimeout: 2s\n\
             assert:\n  tool: echo\n  args: {{ text: hi }}\n  expect: {{ not_error: true, contains: [hi] }}\n"
        );
        fs::write(suite.join(format!("{behaviour}.yaml")), yaml).expect("a file");
    }
    let output = Command::new(env!("CARGO_BIN_EXE_mcprove"))
        .args(["run", "--json", "--jobs", "8"])
        .arg(&suite)
        .output()
        .expect("mcprove runs");
    let results: Vec<Value> = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(output.status.code(), Some(2), "some servers cannot be reached, so the run is not complete");
    let mut wrong = Vec::new();
    for ((behaviour, status, words), result) in ROWS.iter().zip(&results) {
        assert_eq!(result["name"], *behaviour, "results come in file order");
        let detail = result["detail"].as_str().unwrap_or_default();
        if result["status"] != *status || words.iter().any(|word| !detail.contains(word)) {
            wrong.push(format!("{behaviour}: wanted {status} {words:?}, got {} {detail}", result["status"]));
        }
        let limit = if *behaviour == "endless-line" { 10_000 } else { 3_500 };
        if result["duration_ms"].as_u64().is_none_or(|ms| ms > limit) {
            wrong.push(format!("{behaviour}: took {}", result["duration_ms"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(processes_in(&home), Vec::<String>::new(), "processes were left behind");
}

fn build_misbehave() -> PathBuf {
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "-p", "misbehave", "--message-format", "json"])
        .output()
        .expect("cargo runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let executable = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find_map(|message| message["executable"].as_str().map(PathBuf::from));
    executable.unwrap_or_else(|| panic!("misbehave builds: {}", String::from_utf8_lossy(&output.stderr)))
}

/// The processes that live in a folder; servers and their children inherit it.
fn processes_in(folder: &Path) -> Vec<String> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let lives_here = |path: &PathBuf| fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd == folder);
    processes
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(lives_here)
        .map(|path| fs::read_to_string(path.join("cmdline")).unwrap_or_default())
        .collect()
}
