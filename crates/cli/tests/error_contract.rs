//! What servers of every temper make of wrong requests, byte for byte. `SNAPSHOTS=overwrite` writes the files anew.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;
use serde_json::Value;
use snapbox::{Assert, Data};

use crate::subject;

/// The name of a file of golden output, and the behaviour of the `misbehave` server it is about.
const ROWS: &[(&str, &str)] = &[
    ("crashes", "crash-on-wrong-type"),
    ("hangs", "hang-on-oversized"),
    ("lenient", "lenient"),
    ("open", "none"),
    ("unhandled", "rpc-error"),
];

#[test]
fn every_temper_has_its_matrix() {
    let misbehave = subject::build("misbehave");
    for (name, behaviour) in ROWS {
        let told = negative(&format!("{} {behaviour}", misbehave.display()));
        compare(name, &told);
    }
}

#[test]
fn the_mock_rejects_everything_it_must() {
    let manifest = folder().join("strict.yml");
    let told = negative(&format!("mcprove mock --tools-from {}", manifest.display()));
    compare("strict", &told);
    assert!(told.ends_with("exit code 0\n"), "{told}");
}

/// The same probes, as a suite asks for them; and what each test came to in a report for machines.
#[test]
fn a_suite_asks_the_same() {
    let misbehave = subject::build("misbehave");
    let home = tempfile::tempdir().expect("a folder");
    let mut yaml = "servers:\n".to_owned();
    for (name, behaviour) in ROWS {
        writeln!(yaml, "  {name}: {{command: [{misbehave:?}, {behaviour}]}}").expect("text grows");
    }
    yaml += "tools:\n";
    for (name, _) in ROWS {
        let test = "tool: echo, args: {text: hi}, negative_path: {timeout: 1s}";
        writeln!(yaml, "  - {{name: {name}, server: {name}, {test}}}").expect("text grows");
    }
    std::fs::write(home.path().join("suite.yaml"), yaml).expect("written");
    let output = Command::new(env!("CARGO_BIN_EXE_mcprove"))
        .args(["run", "suite.yaml", "--json"])
        .current_dir(home.path())
        .output()
        .expect("mcprove runs");
    let results: Vec<Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    let mut told = String::new();
    for result in &results {
        let text = |key: &str| result[key].as_str().unwrap_or_default();
        let (status, name, detail) = (text("status"), text("name"), indented(text("detail")));
        writeln!(told, "{status} {name}\n{detail}\n").expect("text grows");
    }
    compare("suite", &told);
}

/// What a suite comes to, and the exit code.
fn run(home: &Path, yaml: &str, more: &[&str]) -> (String, Option<i32>) {
    std::fs::write(home.join("suite.yaml"), yaml).expect("written");
    let output = Command::new(env!("CARGO_BIN_EXE_mcprove"))
        .args(["run", "suite.yaml"])
        .args(more)
        .current_dir(home)
        .env("NO_COLOR", "1")
        .output()
        .expect("mcprove runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout) + &text(&output.stderr), output.status.code())
}

/// What a recording does not hold is no answer of the server, whatever is expected of errors.
#[test]
fn a_request_that_is_not_recorded_is_no_error_of_the_server() {
    let home = tempfile::tempdir().expect("a folder");
    let manifest = folder().join("strict.yml");
    let suite = |server: &str, test: &str| format!("servers: {{s: {{{server}}}}}\ntools:\n  - {{name: t, {test}}}\n");
    let held = "tool: search, args: {query: hi, limit: 1}, expect: {not_error: true}";
    let mock = format!("mock: {manifest:?}");
    let (told, code) = run(home.path(), &suite(&mock, held), &["--events", "run.ndjson"]);
    assert_eq!(code, Some(0), "{told}");
    let (told, code) = run(home.path(), &suite("cassette: run.ndjson", held), &[]);
    assert_eq!(code, Some(0), "{told}");
    for test in [
        "tool: search, args: {query: other, limit: 1}, expect: {protocol_error: true}",
        "tool: search, args: {query: other, limit: 1}, expect: [{target: result.error.code, matcher: {exact: -32603}}]",
        "tool: search, args: {query: hi, limit: 1}, expect: {not_error: true}, negative_path: {checks: [unknown_tool]}",
        "tool: search, args: {query: hi, limit: 1}, expect: {not_error: true}, fuzz: {cases: 2}",
    ] {
        let (told, code) = run(home.path(), &suite("cassette: run.ndjson", test), &[]);
        assert_eq!(code, Some(2), "{test}: {told}");
        assert!(told.contains("ERROR") && told.contains("the recording has no such request"), "{told}");
    }
}

/// Counts of nothing prove nothing, unless it is counted how much was asked.
#[test]
fn a_contract_of_which_nothing_was_asked_is_not_kept() {
    let home = tempfile::tempdir().expect("a folder");
    let manifest = "mock_server:\n  name: m\n  tools:\n    - name: now\n      inputSchema: {type: object}\n      \
                    response: {content: [{type: text, text: noon}]}\n";
    std::fs::write(home.path().join("m.yml"), manifest).expect("written");
    let suite = |tool: &str, check: &str, target: &str, wanted: u8| {
        format!(
            "servers: {{s: {{mock: m.yml}}}}\ntools:\n  - name: t\n    tool: {tool}\n    negative_path:\n      \
             checks: [{check}]\n      expect: [{{target: negative_path.{target}, matcher: {{exact: {wanted}}}}}]\n"
        )
    };
    let (told, code) = run(home.path(), &suite("now", "wrong_type", "failures", 0), &[]);
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("no probe of `now` could be made"), "{told}");
    let (told, code) = run(home.path(), &suite("now", "wrong_type", "checks_run", 0), &[]);
    assert_eq!(code, Some(0), "{told}");
    let (told, code) = run(home.path(), &suite("absent", "missing_required", "failures", 0), &[]);
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("the server does not list the tool"), "{told}");
    assert!(!told.contains("the tool has no `required` arguments"), "{told}");
}

/// A key without a value is no way to have a test pass.
#[test]
fn blocks_that_are_left_empty_ask_for_what_is_usual_or_are_reported() {
    let home = tempfile::tempdir().expect("a folder");
    let manifest = folder().join("strict.yml");
    let suite = |more: &str, key: &str| {
        format!(
            "servers: {{s: {{mock: {manifest:?}}}}}\n{more}tools:\n  - name: t\n    tool: absent\n    \
             expect: {{protocol_error: true}}\n{key}"
        )
    };
    let (told, code) = run(home.path(), &suite("", ""), &[]);
    assert_eq!(code, Some(0), "{told}");
    for fuzz in ["    fuzz: {}\n", "    fuzz:\n"] {
        let (told, code) = run(home.path(), &suite("", fuzz), &[]);
        assert_eq!(code, Some(1), "{told}");
        assert!(told.contains("the tool cannot be fuzzed: the server does not list it"), "{told}");
    }
    let (told, code) = run(home.path(), &suite("security:\n", ""), &[]);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("`security` declares nothing"), "{told}");
}

/// What is printed of a server, and the exit code.
fn negative(server: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_mcprove"))
        .args(["negative", "--timeout", "1s", "--server", server])
        .env("NO_COLOR", "1")
        .output()
        .expect("mcprove runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}{}exit code {}\n", text(&output.stdout), text(&output.stderr), output.status.code().unwrap_or(-1))
}

fn compare(name: &str, told: &str) {
    // A megabyte of the letter A tells nobody anything.
    let told = Regex::new("A{100,}").expect("an expression").replace_all(told, "AAA[...]AAA");
    let file = folder().join(format!("{name}.txt"));
    Assert::new().action_env(snapbox::assert::DEFAULT_ACTION_ENV).eq(told.into_owned(), Data::read_from(&file, None));
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/contract")
}
