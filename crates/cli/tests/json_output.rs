//! Every `--json`: the command is run, and what it prints is held against the schema that `mcprove schema --output-of` gives.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use mcprove::JSON_OUTPUTS;
use serde_json::Value;

const WEATHER: &str = "mcprove mock --tools-from examples/mock/weather.yml";
const SHOP: &str = "mcprove mock --tools-from examples/audit/shop.yml";

/// Command lines for each command, in one folder, in order; `--json` is added.
const LINES: &[&[&str]] = &[
    &["audit", "--server", SHOP],
    &["audit", "--server", SHOP, "--include-writes", "--tool", "weigh"],
    &["call", "look_up", "--server", SHOP],
    &["call", "forecast", "city=Atlantis", "--server", WEATHER],
    &["call", "scan", "--server", WEATHER],
    &["call", "stuck", "--timeout", "100ms", "--server", WEATHER],
    &["complete", "brief", "city=O", "--server", WEATHER],
    &["list", "--server", WEATHER],
    &["lock", "--server", WEATHER],
    &["lock", "--check", "--server", SHOP],
    &["login", "--list"],
    &["prompt", "brief", "city=Oslo", "--server", WEATHER],
    &["read", "weather://warnings", "--server", WEATHER],
    &["ci", "examples/first-suite"],
    &["convert", "examples/first-suite"],
    &["convert", "examples/first-suite", "-o", "converted.yaml"],
    &["coverage", "examples/first-suite"],
    &["diff", SHOP, SHOP],
    &["diff", SHOP, WEATHER],
    &["doctor"],
    &["doctor", "--server", SHOP],
    &["doctor", "--server", "no-such-program-here"],
    &["doctor", "--server", "false"],
    &["explain"],
    &["explain", "SCH-002"],
    &["explain", "SEC-060"],
    &["explain", "POR"],
    &["explain", "contains"],
    &["explain", "oversized"],
    &["explain", "nothing-expected"],
    &["explain", "timeout"],
    &["bench", "examples/bench/load.yaml", "--calls", "8"],
    &["bench", "--server", SHOP, "--tool", "weigh", "--calls", "8"],
    &["fuzz", "--server", SHOP, "--tool", "weigh", "--seed", "7", "--runs", "5"],
    &["generate", "--server", SHOP, "-o", "generated"],
    &["init", "template"],
    &["init", "begun", "--no-workflow", "--server", SHOP],
    &["lint", "examples/first-suite"],
    &["lint", "examples/agents"],
    &["matrix", "examples/first-suite", "--protocol", "2025-06-18,2025-11-25"],
    &["conformance", "--server", SHOP, "--rule", "mcp-declared-works"],
    &["negative", "--server", SHOP, "--tool", "look_up"],
    &["run", "examples/first-suite", "--events", "run.ndjson"],
    &["run", "examples/first-suite", "--dry-run"],
    &["run", "examples/first-suite", "--filter", "nothing is called so"],
    &["run", "examples/audit/no-suite.yml"],
    &["run", "examples/agent-trace", "--server", "no-such-program-here"],
    &["host", "examples/host/noise.yaml", "--scripted", "good"],
    &["run", "examples/agents/recovers.yml", "--events", "agents.ndjson"],
    &["agents", "compare", "agents.ndjson", "agents.ndjson"],
    &["report", "run.ndjson"],
    &["schema-lint", "examples/tool-schema-lint/loose.json"],
    &["schema-lint", "--all", "--server", SHOP],
    &["snapshot", "examples/first-suite"],
    &["snapshot", "examples/first-suite", "--catalog", "--server", SHOP, "--update"],
    &[
        "snapshot",
        "examples/first-suite",
        "--catalog",
        "--server",
        "mcprove mock --tools-from examples/mock/weather.yml",
    ],
    &["trust", "run.ndjson"],
    &["validate", "examples/first-suite"],
    &["validate", "examples/agents"],
];

#[test]
fn what_is_printed_is_what_the_schema_says() {
    let desk = Desk::new();
    for line in LINES {
        let output = desk.mcprove(line).arg("--json").output().expect("it runs");
        let text = String::from_utf8(output.stdout).expect("text");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        let document: Value =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{line:?}: {error}: {text}{told}"));
        check(line[0], &document, &format!("{line:?}"));
    }
    for output in JSON_OUTPUTS {
        let is_tried = output.command == "watch" || LINES.iter().any(|line| line[0] == output.command);
        assert!(is_tried, "`{} --json` is not tried", output.command);
    }
}

#[test]
fn watch_prints_a_line_for_each_run() {
    let desk = Desk::new();
    let mut watching = desk.mcprove(&["watch", "examples/first-suite", "--json"]);
    let mut child = watching.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    child.kill().expect("it ends");
    child.wait().expect("it ends");
    check("watch", &serde_json::from_str(&line).expect("JSON"), "watch");
}

#[test]
fn a_schema_can_be_had() {
    let desk = Desk::new();
    for output in JSON_OUTPUTS {
        let printed = desk.mcprove(&["schema", "--output-of", output.command]).output().expect("it runs");
        assert_eq!(String::from_utf8_lossy(&printed.stdout), output.schema);
        let schema: Value = serde_json::from_str(output.schema).expect("JSON");
        jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{}: {error}", output.command));
    }
}

#[test]
fn every_command_is_on_the_page() {
    let page = std::fs::read_to_string(root().join("docs/json.md")).expect("the page");
    for output in JSON_OUTPUTS {
        let heading = format!("`{}`", output.command);
        assert!(
            page.lines().any(|line| line.starts_with("## ") && line.contains(&heading)),
            "docs/json.md has no heading with {heading}"
        );
    }
}

fn check(command: &str, document: &Value, what: &str) {
    let output = JSON_OUTPUTS.iter().find(|output| output.command == command).expect("it has a schema");
    let schema: Value = serde_json::from_str(output.schema).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let errors: Vec<String> =
        validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{what}: {errors:#?}\n{document:#}");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder with the examples in it, where files may be written.
struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        copy(&root().join("examples"), &folder.path().join("examples"));
        Self { folder }
    }

    fn mcprove(&self, line: &[&str]) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_mcprove"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let paths = program.parent().map(Path::to_owned).into_iter().chain(std::env::split_paths(&path));
        let mut command = Command::new(program);
        command.args(line).current_dir(self.folder.path()).stdin(Stdio::null()).env("NO_COLOR", "1");
        command.env("PATH", std::env::join_paths(paths).expect("paths")).env_remove("CI");
        for name in ["GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"] {
            command.env_remove(name);
        }
        command
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).expect("copied");
        }
    }
}

/// Editors and stores of schemas know a schema by its URL.
#[test]
fn every_schema_names_its_url() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema");
    for (folder, below) in [(folder.clone(), ""), (folder.join("json"), "json/")] {
        for file in std::fs::read_dir(folder).expect("schemas").flatten() {
            let name = file.file_name().into_string().expect("a name");
            if Path::new(&name).extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let text = std::fs::read_to_string(file.path()).expect("read");
            let schema: Value = serde_json::from_str(&text).expect("JSON");
            let url = format!("https://raw.githubusercontent.com/mcprove/mcprove/main/schema/{below}{name}");
            assert_eq!(schema["$id"], Value::String(url), "{name}");
        }
    }
}
