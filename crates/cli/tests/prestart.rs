//! `--prestart`: the next server is started while a case runs, and nothing else changes.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// A server that writes to `log` what happens to it. The tool `meet` is answered once `SERVERS` servers have been started.
const SERVER: &str = r#"touch "started.$$"
echo start >> log
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"method":"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}\n' "$id" ;;
    *'"method":"tools/call"'*)
      text=$(printf '%s' "$line" | sed -n 's/.*"text":"\([^"]*\)".*/\1/p')
      echo "call $text" >> log
      case "$line" in *'"name":"meet"'*)
        while [ "$(ls started.* | wc -l)" -lt "$SERVERS" ]; do sleep 0.01; done ;;
      esac
      echo "answer $text $(ls started.* | wc -l)" >> log
      printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}\n' "$id" "$text" ;;
  esac
done
"#;

/// A suite with these tests, each with a server of its own.
fn suite(options: &str, more: &str, tests: &[(&str, &str)]) -> String {
    let test = |(name, tool): &(&str, &str)| {
        format!(
            "  - {{name: {name}, tool: {tool}, args: {{text: {name}}}, timeout: 20s, expect: {{contains: {name}}}}}\n"
        )
    };
    let tests: String = tests.iter().map(test).collect();
    let server = "{command: [sh, server.sh], env: {SERVERS: '2'}}";
    format!("servers: {{s: {server}}}\nrun_options: {{restart_policy: per_test{options}}}\n{more}tools:\n{tests}")
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files.iter().chain(&[("server.sh", SERVER)]) {
        fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    command.arg("run").args(arguments).current_dir(folder).env("NO_COLOR", "1").output().expect("mcprove runs")
}

/// The lines of the log that begin with a word.
fn logged(folder: &Path, word: &str) -> Vec<String> {
    let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
    log.lines().filter(|line| line.starts_with(word)).map(str::to_owned).collect()
}

const FOUR: &[(&str, &str)] = &[("one", "meet"), ("two", "say"), ("three", "say"), ("four", "say")];

#[test]
fn the_next_server_is_started_while_a_case_runs_and_calls_keep_their_order() {
    let files = [("flag.yaml", suite("", "", FOUR)), ("key.yaml", suite(", prestart: true", "", FOUR))];
    for arguments in [&["flag.yaml", "--prestart"][..], &["flag.yaml", "--prestart", "--jobs", "1"], &["key.yaml"]] {
        let folder = folder(&files.each_ref().map(|(name, text)| (*name, text.as_str())));
        let output = run(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
        // The first call is answered only when a second server is there; a third one is not started before that.
        let answers = logged(folder.path(), "answer");
        assert_eq!(answers.first().map(String::as_str), Some("answer one 2"), "{arguments:?}");
        assert_eq!(logged(folder.path(), "call"), ["call one", "call two", "call three", "call four"], "{arguments:?}");
        assert_eq!(logged(folder.path(), "start").len(), 4, "{arguments:?}");
    }
}

#[test]
fn a_server_is_not_started_ahead_where_something_may_depend_on_it() {
    let say = &[("one", "say"), ("two", "say"), ("three", "say")];
    let wrong = suite("", "", say).replace("contains: one", "contains: other");
    let hooked = suite("", "hooks: {beforeEach: echo ready}\n", say);
    for (name, text, arguments, code, starts) in [
        ("plain.yaml", suite("", "", say), &[][..], 0, 1),
        // After a failure that is enough, no other server was started.
        ("wrong.yaml", wrong, &["--prestart", "--fail-fast"], 1, 1),
        ("hooked.yaml", hooked, &["--prestart"], 0, 1),
    ] {
        let folder = folder(&[(name, &text)]);
        let output = run(folder.path(), &[&[name], arguments].concat());
        assert_eq!(output.status.code(), Some(code), "{name}: {}", String::from_utf8_lossy(&output.stdout));
        let log = fs::read_to_string(folder.path().join("log")).expect("a log");
        let before_answer = log.lines().take_while(|line| !line.starts_with("answer")).filter(|line| *line == "start");
        assert_eq!(before_answer.count(), starts, "{name}: {log}");
        if code == 1 {
            assert_eq!(logged(folder.path(), "start").len(), 1, "{name}: {log}");
        }
    }
}
