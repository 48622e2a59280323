//! Same flags everywhere or not at all: a command that accepts a flag of a run, a report or a baseline honours it. The
//! commands are those of clap's own description; one without a row here fails the test.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const MCPROVE: &str = env!("CARGO_BIN_EXE_mcprove");

/// A server whose tools fail inside, so that every command has something to report.
const SERVER: &str = r#"while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/p')
  case "$line" in
    *'"method":"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"s","version":"1"}}}\n' "$id" ;;
    *'"method":"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"look","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}},{"name":"peek","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}]}}\n' "$id" ;;
    *'"method":"resources/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"resources":[{"uri":"x://a","name":"a"}]}}\n' "$id" ;;
    *'"method":"resources/templates/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"resourceTemplates":[]}}\n' "$id" ;;
    *'"method":"resources/read"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"contents":[{"uri":"x://a","text":"a"}]}}\n' "$id" ;;
    *nonexistent*) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}\n' "$id" ;;
    *'"method":"tools/call"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"boom"}}\n' "$id" ;;
    *'"id":'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}\n' "$id" ;;
  esac
done
"#;

const SUITE: &str = "servers: {s: {command: [sh, server.sh]}}\ntools:\n  - {name: look, tool: look, args: {a: x}, expect: \
                     {contains: fine}}\n  - {name: peek, tool: peek, expect: {contains: fine}}\n";

const SCENARIO: &str = "scenario: look\nservers: {s: {offers: {tools: [{name: look}]}, faults: [hang]}}\nscripted: {calls: [{tool: \
                        look}], bad: [waits-forever]}\n---\nscenario: peek\nservers: {s: {offers: {tools: [{name: peek}]}, faults: [hang]}}\n\
                        scripted: {calls: [{tool: peek}], bad: [waits-forever]}\n";

/// The least that each command with report flags needs.
const COMMANDS: &[(&str, &[&str])] = &[
    ("audit", &["--server", "sh server.sh", "--no-sandbox"]),
    ("bench", &["suite.yaml", "--calls", "4"]),
    ("ci", &["suite.yaml"]),
    ("conformance", &["--server", "sh server.sh", "--no-sandbox", "--rule", "mcp-ping", "--protocol", "2025-06-18"]),
    ("diff", &["sh server.sh", "sh other.sh"]),
    ("fuzz", &["--server", "sh server.sh", "--no-sandbox", "--runs", "2", "--seed", "1", "--timeout", "2s"]),
    ("host", &["scenario.yaml", "--scripted", "bad"]),
    ("init", &["new", "--overwrite", "--no-workflow", "--server", "sh server.sh", "--no-sandbox"]),
    ("matrix", &["suite.yaml", "--protocol", "2025-06-18"]),
    ("negative", &["--server", "sh server.sh", "--no-sandbox", "--checks", "unknown_tool"]),
    ("report", &["run.ndjson"]),
    ("run", &["suite.yaml"]),
    ("trust", &["run.ndjson"]),
];

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("server.sh"), SERVER).expect("written");
        fs::write(folder.path().join("other.sh"), SERVER.replace("boom", "bang")).expect("written");
        fs::write(folder.path().join("suite.yaml"), SUITE).expect("written");
        fs::write(folder.path().join("scenario.yaml"), SCENARIO).expect("written");
        let place = Self(folder);
        place.run("run", &["suite.yaml", "--events", "run.ndjson"]);
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn run(&self, command: &str, flags: &[&str]) -> Output {
        let mut line = Command::new(MCPROVE);
        line.arg(command).args(flags).current_dir(self.path()).env_remove("CI").env_remove("GITHUB_ACTIONS");
        line.output().expect("it runs")
    }

    fn with(&self, command: &str, flags: &[&str]) -> Output {
        let own = COMMANDS.iter().find(|(name, _)| *name == command).expect("a row").1;
        self.run(command, &[own, flags].concat())
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The commands that accept a flag.
fn commands_with(flag: &str) -> Vec<String> {
    let line = mcprove::command_line();
    let has = |command: &&clap::Command| command.get_arguments().any(|argument| argument.get_long() == Some(flag));
    line.get_subcommands().filter(has).map(|command| command.get_name().to_owned()).collect()
}

/// The flags of every command that runs cases.
const RUN_FLAGS: &[&str] = &[
    "badge",
    "baseline",
    "docker",
    "dry-run",
    "events",
    "fail-fast",
    "filter",
    "github",
    "html",
    "isolation",
    "jobs",
    "json",
    "junit",
    "markdown",
    "probe-timeout",
    "report",
    "sarif",
    "save-baseline",
    "shard",
    "strict",
    "tap",
    "timeout",
    "trials",
];

#[test]
fn every_command_with_reports_has_a_row() {
    let rows: Vec<&str> = COMMANDS.iter().map(|(name, _)| *name).collect();
    let mut commands = commands_with("junit");
    commands.sort_unstable();
    assert_eq!(commands, rows, "sorted rows for all commands with reports");
}

#[test]
fn a_command_that_runs_cases_takes_all_flags_of_a_run() {
    // Those that only judge what was recorded run nothing, and a load is one case that is not selected or repeated.
    let runs: Vec<String> = commands_with("junit")
        .into_iter()
        .filter(|name| !matches!(name.as_str(), "bench" | "report" | "trust"))
        .collect();
    for flag in RUN_FLAGS {
        let with = commands_with(flag);
        for command in &runs {
            assert!(with.contains(command), "`mcprove {command}` has no --{flag}");
        }
    }
}

#[test]
fn reports_are_written_by_every_command_that_offers_them() {
    let place = Place::new();
    let flags = ["html", "junit", "markdown", "report", "sarif", "tap"];
    for (command, _) in COMMANDS {
        let files: Vec<String> = flags.iter().map(|flag| format!("{command}.{flag}")).collect();
        let names: Vec<String> = flags.iter().map(|flag| format!("--{flag}")).collect();
        let pairs: Vec<&str> =
            names.iter().zip(&files).flat_map(|(name, file)| [name.as_str(), file.as_str()]).collect();
        let output = place.with(command, &pairs);
        for file in &files {
            assert!(place.path().join(file).exists(), "{file}: {}{}", text(&output.stdout), text(&output.stderr));
        }
        let page = fs::read_to_string(place.path().join(format!("{command}.html"))).expect("a page");
        let has_frames = page.contains("\"tools/call\"") || page.contains("tools/call");
        assert!(has_frames || matches!(*command, "trust"), "the page of `{command}` has no frames");
        let markdown = fs::read_to_string(place.path().join(format!("{command}.markdown"))).expect("a report");
        assert!(!markdown.contains(":0"), "`{command}` names line 0 of a file:\n{markdown}");
    }
}

#[test]
fn two_reports_at_one_path_are_refused_by_every_command() {
    let place = Place::new();
    for command in commands_with("junit") {
        let output = place.with(&command, &["--junit", "same", "--tap", "./same"]);
        assert_eq!(output.status.code(), Some(2), "{command}: {}", text(&output.stdout));
        assert!(text(&output.stderr).contains("both write"), "{command}: {}", text(&output.stderr));
    }
}

#[test]
fn annotations_are_printed_by_every_command_that_accepts_github() {
    let place = Place::new();
    for command in commands_with("junit").iter().filter(|command| *command != "trust") {
        let output = place.with(command, &["--github"]);
        let printed = text(&output.stdout);
        assert!(printed.contains("::error"), "{command}: {printed}{}", text(&output.stderr));
        assert!(!printed.contains("line=0"), "{command}: {printed}");
    }
}

#[test]
fn every_command_whose_report_cannot_be_written_ends_with_2() {
    let place = Place::new();
    for command in commands_with("junit") {
        let output = place.with(&command, &["--junit", "missing/junit.xml"]);
        assert_eq!(output.status.code(), Some(2), "{command}: {}", text(&output.stderr));
    }
}

#[test]
fn runs_are_sharded_compared_and_listed_by_every_command_that_runs_cases() {
    let place = Place::new();
    // The shards of a load are parts of its calls (`tests/bench.rs`).
    for command in commands_with("shard").into_iter().filter(|command| command != "watch" && command != "bench") {
        let saved = format!("{command}.baseline.json");
        place.with(&command, &["--save-baseline", &saved]);
        assert!(place.path().join(&saved).exists(), "{command} saves no baseline");
        let log = format!("{command}.ndjson");
        for shard in ["1/2", "2/2"] {
            let output =
                place.with(&command, &["--shard", shard, "--events", &log, "--jobs", "2", "--baseline", &saved]);
            assert_ne!(output.status.code(), Some(2), "{command} {shard}: {}", text(&output.stderr));
            // The cases of other shards have not gone.
            let shown = text(&output.stdout);
            assert!(!shown.contains("Stale"), "{command} {shard}: {shown}");
            let first = fs::read_to_string(place.path().join(&log)).expect("a log");
            let first = first.lines().next().unwrap_or_default();
            assert!(first.contains("\"shard\":{") && first.contains("\"jobs\":2"), "{command}: {first}");
        }
        let output = place.with(&command, &["--dry-run"]);
        // A conformance run lists rules, the others what they run or call.
        let listed = if command == "conformance" { "mcp-ping" } else { "look" };
        assert!(text(&output.stdout).contains(listed), "{command}: {}{}", text(&output.stdout), text(&output.stderr));
    }
}

/// The least that the commands need which run servers and have no reports.
const WITHOUT_REPORTS: &[(&str, &[&str])] =
    &[("snapshot", &["suite.yaml"]), ("snapshot", &["suite.yaml", "--catalog"]), ("fuzz", PROPOSE)];
const PROPOSE: &[&str] = &["--propose", "--server", "sh server.sh"];

#[test]
fn servers_run_in_the_container_that_any_command_is_given() {
    let place = Place::new();
    let docker = place.path().join("docker");
    fs::write(&docker, "#!/bin/sh\necho \"$@\" >> docker.log\nexit 1\n").expect("written");
    let made = Command::new("chmod").args(["+x", "docker"]).current_dir(place.path()).status().expect("chmod runs");
    assert!(made.success());
    let path = format!("{}:{}", place.path().display(), std::env::var("PATH").unwrap_or_default());
    let rows = COMMANDS.iter().filter(|(name, _)| commands_with("docker").iter().any(|with| with == name));
    // What `host` starts is a client, and the option is refused.
    for (command, own) in rows.filter(|(name, _)| *name != "host").chain(WITHOUT_REPORTS) {
        let mut line = Command::new(MCPROVE);
        line.arg(command).args(*own).args(["--docker", "an-image"]).current_dir(place.path()).env("PATH", &path);
        let output = line.output().expect("it runs");
        let log = fs::read_to_string(place.path().join("docker.log")).unwrap_or_default();
        assert!(log.contains("an-image"), "`{command} {own:?}` starts no container: {}", text(&output.stderr));
        fs::remove_file(place.path().join("docker.log")).expect("removed");
    }
}

#[test]
fn cases_are_selected_and_repeated_by_every_command_that_runs_some() {
    let place = Place::new();
    for command in commands_with("trials").into_iter().filter(|command| command != "watch") {
        let name = if command == "conformance" { "mcp-ping" } else { "peek" };
        let (log, badge) = (format!("{command}.ndjson"), format!("{command}.badge.json"));
        let flags = ["--filter", name, "--trials", "2", "--strict", "--events", &log, "--badge", &badge];
        let output = place.with(&command, &flags);
        let log = fs::read_to_string(place.path().join(&log)).unwrap_or_default();
        let first = log.lines().next().unwrap_or_default();
        assert!(first.contains("\"total\":2,") && first.contains("\"strict\":true"), "{command}: {first}");
        let cases = log.lines().filter(|line| line.contains("\"case_started\""));
        assert!(cases.clone().all(|line| line.contains(name)), "{command}: {log}");
        assert_eq!(cases.count(), 2, "{command}: {}", text(&output.stderr));
        assert!(place.path().join(&badge).exists(), "{command}: {}", text(&output.stderr));
    }
}

#[test]
fn the_first_failure_ends_a_run_that_is_to_fail_fast() {
    let place = Place::new();
    for command in ["ci", "diff", "host", "matrix", "negative", "run"] {
        let failures = |flags: &[&str]| {
            let output = place.with(command, &[&["--events", "fast.ndjson"], flags].concat());
            let log = fs::read_to_string(place.path().join("fast.ndjson")).expect("a log");
            let failures = log.matches("\"verdict\":\"failed\"").count();
            (failures, text(&output.stderr))
        };
        assert_eq!(failures(&[]).0, 2, "{command} has two cases that fail: {}", failures(&[]).1);
        assert_eq!(failures(&["--fail-fast"]).0, 1, "{command}: {}", failures(&["--fail-fast"]).1);
    }
}

#[test]
fn options_without_effect_are_refused_and_not_shown() {
    let place = Place::new();
    for (line, flag) in [
        ("audit --prestart", "--prestart"),
        ("conformance --probe-timeout 1s", "--probe-timeout"),
        ("diff --isolation case", "--isolation"),
        ("host --docker an-image", "--docker"),
        ("watch --dry-run", "--dry-run"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let output = match words[0] {
            "watch" => place.run("watch", &["suite.yaml", "--dry-run"]),
            command => place.with(command, &words[1..]),
        };
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        assert!(said.contains(&format!("`{flag}` has no effect in `mcprove {}`", words[0])), "{line}: {said}");
        let help = text(&place.run(words[0], &["--help"]).stdout);
        assert!(!help.contains(&format!("  {flag} ")) && !help.contains(&format!("  {flag}\n")), "{line}: {help}");
    }
    for (command, flags) in [
        ("conformance", &["run.ndjson", "--junit", "junit.xml"][..]),
        ("snapshot", &["suite.yaml", "--catalog", "--filter", "x"]),
        ("fuzz", &["--propose", "--server", "sh server.sh", "--jobs", "2"]),
    ] {
        let output = place.run(command, flags);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command}: {said}");
        assert!(said.contains("has no effect with"), "{command}: {said}");
    }
    assert_eq!(place.run("conformance", &["run.ndjson", "--rule", "mcp-ping"]).status.code(), Some(0));
}
