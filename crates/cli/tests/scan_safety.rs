//! Scans do no harm: what writes is not called, and what is sent names nothing that is someone's.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::shell_server;

/// Tools that do harm when they are called, without annotations that say so, and a few that do not.
const TOOLS: &str = r#"[
    {"name":"kill_process","inputSchema":{"type":"object","properties":{"pid":{"type":"number"}},"required":["pid"]}},
    {"name":"write_file","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}},
    {"name":"generate_diagram","inputSchema":{"type":"object","properties":{"output_path":{"type":"string"}},"required":["output_path"]}},
    {"name":"wipe","annotations":{"destructiveHint":true},"inputSchema":{"type":"object"}},
    {"name":"list_processes","inputSchema":{}},
    {"name":"weather","inputSchema":true},
    {"name":"whoami"},
    {"name":"render","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"uid":{"type":"integer"},"url":{"type":"string"}},"required":["path","uid","url"]}}
]"#;

fn mcprove(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    command.current_dir(folder).args(args).args(["--", "sh", "server.sh"]).output().expect("mcprove runs")
}

/// The calls of an event log: tools and their arguments.
fn calls(log: &Path) -> Vec<(String, Value)> {
    let text = fs::read_to_string(log).expect("an event log");
    let mut found = Vec::new();
    for line in text.lines().filter(|line| line.contains("tools/call")) {
        let event: Value = serde_json::from_str(line).expect("JSON");
        collect(&event, &mut found);
    }
    found
}

/// Finds the calls in whatever an event holds.
fn collect(value: &Value, found: &mut Vec<(String, Value)>) {
    match value {
        Value::String(text) if text.starts_with('{') => {
            if let Ok(inner) = serde_json::from_str::<Value>(text) {
                collect(&inner, found);
            }
        }
        Value::Object(map)
            if map.get("method").is_some_and(|method| method == "tools/call") && map.contains_key("params") =>
        {
            let params = &map["params"];
            let name = params["name"].as_str().unwrap_or_default().to_owned();
            found.push((name, params.get("arguments").cloned().unwrap_or_default()));
        }
        Value::Object(map) => map.values().for_each(|inner| collect(inner, found)),
        Value::Array(items) => items.iter().for_each(|inner| collect(inner, found)),
        _ => {}
    }
}

#[test]
fn every_scan_skips_what_looks_like_writing_and_says_so_first() {
    for command in
        [&["audit"][..], &["negative"], &["fuzz", "--runs", "20", "--seed", "1"], &["init", "suite", "--no-workflow"]]
    {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("notes.txt"), "mine").expect("written");
        shell_server::write(folder.path(), &TOOLS.replace('\n', ""), r#""fine""#);
        let output = mcprove(folder.path(), &[command, &["--events", "log.ndjson"]].concat());
        let shown = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            shown.contains("will call 4 tools (not marked, nothing says that they write): list_processes"),
            "{shown}"
        );
        assert!(shown.contains("  kill_process: it looks like it writes: `kill` in its name"), "{shown}");
        assert!(
            shown.contains("  generate_diagram: it looks like it writes: `output_path` in its arguments"),
            "{shown}"
        );
        assert!(shown.contains("  wipe: it says that it writes: `destructiveHint: true`"), "{shown}");
        let calls = calls(&folder.path().join("log.ndjson"));
        assert!(calls.iter().any(|(name, _)| name == "render"), "{command:?}: {calls:?}");
        for (name, arguments) in &calls {
            let is_planned = ["list_processes", "weather", "whoami", "render"].contains(&name.as_str());
            assert!(is_planned || name.contains("mcprove"), "{command:?} called {name}");
            assert_harmless(arguments);
        }
        assert_eq!(fs::read_to_string(folder.path().join("notes.txt")).expect("still there"), "mine");
    }
}

fn assert_harmless(arguments: &Value) {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or("/mcprove-");
    assert!(text("path").contains("/mcprove-") && !text("path").contains(".."), "{arguments}");
    for name in ["uid", "pid"] {
        if let Some(Value::Number(number)) = arguments.get(name) {
            let number = number.as_f64().unwrap_or_default();
            assert!(number > 4_194_304.0 && number < 2_147_483_648.0, "{arguments}");
        }
        assert!(!matches!(arguments.get(name), Some(Value::Bool(_) | Value::Null)), "{arguments}");
    }
    if let Some(url) = arguments.get("url").and_then(Value::as_str).filter(|url| url.contains("://")) {
        assert!(url.starts_with("https://example.invalid/"), "{arguments}");
    }
}

#[test]
fn a_tool_that_is_named_is_called_with_harmless_values_only() {
    let folder = tempfile::tempdir().expect("a folder");
    shell_server::write(folder.path(), &TOOLS.replace('\n', ""), r#""fine""#);
    for command in [&["audit"][..], &["fuzz", "--runs", "200", "--seed", "3"], &["negative"]] {
        mcprove(folder.path(), &[command, &["--tool", "kill_process", "--events", "log.ndjson"]].concat());
        let calls = calls(&folder.path().join("log.ndjson"));
        assert!(calls.iter().any(|(name, _)| name == "kill_process"), "{command:?} {calls:?}");
        for (_, arguments) in &calls {
            assert_harmless(arguments);
        }
    }
    // What says that it writes takes more than its name.
    let output = mcprove(folder.path(), &["audit", "--tool", "wipe"]);
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn tools_without_a_schema_get_no_arguments_and_their_files_load() {
    let folder = tempfile::tempdir().expect("a folder");
    shell_server::write(folder.path(), &TOOLS.replace('\n', ""), r#""fine""#);
    mcprove(folder.path(), &["audit", "--output", "evals", "--events", "log.ndjson"]);
    let calls = calls(&folder.path().join("log.ndjson"));
    for name in ["list_processes", "weather", "whoami"] {
        let sent = calls.iter().find(|(called, _)| called == name);
        assert_eq!(sent.map(|(_, arguments)| arguments.to_string()).as_deref(), Some("{}"), "{name}");
    }
    let checked = Command::new(env!("CARGO_BIN_EXE_mcprove"))
        .current_dir(folder.path())
        .args(["run", "evals"])
        .output()
        .expect("mcprove runs");
    assert_eq!(checked.status.code(), Some(0), "{}", String::from_utf8_lossy(&checked.stdout));
}

#[test]
fn given_arguments_variables_and_folders_reach_the_server() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("inner")).expect("a folder");
    shell_server::write(folder.path(), &TOOLS.replace('\n', ""), r#""$COLOUR in $PWD""#);
    fs::write(folder.path().join("seeds.yaml"), "render: {path: mine.txt, uid: 7, url: 'http://a'}\n")
        .expect("written");
    let server = folder.path().join("server.sh");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    command.current_dir(folder.path()).args([
        "audit",
        "--tool",
        "render",
        "--seed-args",
        "seeds.yaml",
        "--env",
        "COLOUR=green",
    ]);
    command.args(["--cwd", "inner", "--events", "log.ndjson", "--", "sh"]).arg(&server);
    let output = command.output().expect("mcprove runs");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let log = fs::read_to_string(folder.path().join("log.ndjson")).expect("a log");
    assert!(log.contains("inner"), "{log}");
    let calls = calls(&folder.path().join("log.ndjson"));
    assert_eq!(calls[0].1["path"], "mine.txt");
}
