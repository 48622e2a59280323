//! Report files of real runs: which are there, what is in them, and what must never be.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// With characters that JSON, XML and HTML write otherwise.
const SECRET: &str = "s3cr3t-\"<tok&en>\\";

#[test]
fn no_file_and_no_line_has_a_secret() {
    let folder = tempfile::tempdir().expect("a folder");
    let suite = folder.path().join("evals");
    let tools = suite.join("fixtures/tools.yml");
    fs::create_dir_all(tools.parent().expect("a folder")).expect("made");
    fs::copy(workspace().join("examples/first-suite/fixtures/tools.yml"), &tools).expect("copied");
    // The server says it back, so that it is in a reply, in a finding and in every frame.
    let case = r#"
name: echoes
server:
  command: mcprove
  args: [mock, --tools-from, "{{fixture}}/tools.yml"]
  env: { TOKEN: "Bearer ${MY_TOKEN}" }
assert:
  tool: greet
  args: { name: 's3cr3t-"<tok&en>\' }
  expect: { contains: [nothing of the kind] }
"#;
    fs::write(suite.join("echoes.yaml"), case).expect("written");
    let output = mcprove(folder.path(), &[&["run", "evals", "-v"], ALL].concat());
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let mut outputs = vec![output.stdout, output.stderr];
    for name in NAMES {
        outputs.push(fs::read(folder.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}")));
    }
    for output in outputs {
        let text = String::from_utf8_lossy(&output);
        for part in ["s3cr3t", "tok&en", "tok&amp;en"] {
            assert!(!text.contains(part), "{part} in {text}");
        }
    }
    let log = fs::read_to_string(folder.path().join("run.ndjson")).expect("the log");
    assert!(log.contains("Hello, ***!"), "{log}");
}

#[test]
fn every_report_is_written_even_beside_one_that_cannot_be() {
    let folder = tempfile::tempdir().expect("a folder");
    let suite = workspace().join("examples/first-suite").display().to_string();
    let output = mcprove(folder.path(), &[&["run", &suite, "--tap", "missing/run.tap"], &ALL[..12]].concat());
    assert_eq!(output.status.code(), Some(2), "a report that could not be written is exit code 2");
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(complaint.contains("`missing/run.tap` could not be written"), "{complaint}");
    for name in &NAMES[..6] {
        assert!(folder.path().join(name).exists(), "{name}");
    }
    let left: Vec<_> = fs::read_dir(folder.path())
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with('.'))
        .collect();
    assert!(left.is_empty(), "temporary files are left: {left:?}");
}

#[test]
fn json_is_alone_on_standard_output_whatever_else_is_wanted() {
    let folder = tempfile::tempdir().expect("a folder");
    let suite = workspace().join("examples/first-suite").display().to_string();
    let args = ["ci", &suite, "--json", "--github", "--threshold", "50", "--save-baseline", "then.json"];
    let output = mcprove(folder.path(), &args);
    let list: Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing else");
    assert_eq!(list.as_array().map(Vec::len), Some(4));
    assert!(folder.path().join("mcprove-junit.xml").exists(), "the default path of `ci`");

    let then = fs::read_to_string(folder.path().join("then.json")).expect("the baseline");
    let then: Value = serde_json::from_str(&then).expect("JSON");
    let names: Vec<_> = then["entries"].as_array().expect("entries").iter().map(|entry| &entry["name"]).collect();
    assert!(names.is_sorted_by_key(|name| name.as_str()) && names.len() == 4, "{names:?}");
}

#[test]
fn a_step_summary_is_added_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let summary = folder.path().join("summary.md");
    fs::write(&summary, "# the step before\n").expect("written");
    let suite = workspace().join("examples/first-suite").display().to_string();
    let output = command(folder.path(), &["ci", &suite])
        .env("GITHUB_STEP_SUMMARY", &summary)
        .env("GITHUB_ACTIONS", "true")
        .output()
        .expect("mcprove runs");
    assert_eq!(output.status.code(), Some(0));
    let text = fs::read_to_string(&summary).expect("the summary");
    assert!(text.starts_with("# the step before\n### mcprove: 4 passed"), "{text}");
}

/// Every flag that writes a file, and the files.
const ALL: &[&str] = &[
    "--junit",
    "junit.xml",
    "--markdown",
    "run.md",
    "--html",
    "run.html",
    "--report",
    "run.json",
    "--sarif",
    "run.sarif",
    "--badge",
    "badge.json",
    "--tap",
    "run.tap",
    "--events",
    "run.ndjson",
    "--github",
];
const NAMES: [&str; 8] =
    ["junit.xml", "run.md", "run.html", "run.json", "run.sarif", "badge.json", "run.tap", "run.ndjson"];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace").to_owned()
}

fn mcprove(folder: &Path, args: &[&str]) -> Output {
    command(folder, args).output().expect("mcprove runs")
}

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    command
        .args(args)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("MY_TOKEN", SECRET)
        .env_remove("GITHUB_ACTIONS")
        .env_remove("GITHUB_STEP_SUMMARY");
    command
}

/// No report takes the place of a file that the command reads: variables, tables, recordings, configurations, logs, baselines,
/// programs and fixtures, by whatever path.
#[test]
fn no_report_is_written_over_an_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let write = |name: &str, text: &str| std::fs::write(at(name), text).expect("a file");
    write("mock.txt", "mock_server:\n  name: m\n  tools: [{name: echo, response: zebra}]\n");
    write(".env", "A=1\n");
    write("rows.csv", "n\n1\n");
    write("tools.json", r#"{"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}"#);
    write("seeds.json", r#"{"echo": {}}"#);
    write("server.sh", "exec mcprove mock --tools-from mock.txt\n");
    std::fs::create_dir(at("fixture")).expect("a folder");
    write("fixture/data.txt", "precious");
    let program = env!("CARGO_BIN_EXE_mcprove");
    let command = format!("{{command: {program}, args: [mock, --tools-from, mock.txt]}}");
    let block = "assert:\n  tool: echo\n  args: {}\n  expect: {contains: [zebra]}\n";
    write("t.yaml", &format!("name: t\nserver: {command}\n{block}"));
    write("rows.yaml", &format!("name: \"t {{{{n}}}}\"\ncases: rows.csv\nserver: {command}\n{block}"));
    let configuration =
        serde_json::json!({"mcpServers": {"m": {"command": program, "args": ["mock", "--tools-from", "mock.txt"]}}});
    write("client.json", &configuration.to_string());
    mcprove(folder.path(), &["run", "t.yaml", "--events", "rec.ndjson", "--save-baseline", "base.json"]);
    let test = "tools: [{name: x, server: s, tool: echo, args: {}, expect: {contains: [zebra]}}]\n";
    write("cassette.yaml", &format!("servers: {{s: {{cassette: rec.ndjson}}}}\n{test}"));
    write("import.yaml", &format!("imports: [more.txt]\nservers: {{s: {command}}}\n{test}"));
    write("more.txt", "tools: []\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink(at("rows.csv"), at("link.xml")).expect("a link");
    let server = format!("{program} mock --tools-from mock.txt");
    let scripted = "sh server.sh";
    for (victim, args) in [
        (".env", &["run", "t.yaml", "--env-file", ".env", "--events", ".env"][..]),
        (".env", &["run", "t.yaml", "--env-file", ".env", "--junit", "./.env"]),
        (".env", &["coverage", "t.yaml", "--env-file", ".env", "--coverage-json", ".env"]),
        ("rows.csv", &["run", "rows.yaml", "--events", "rows.csv"]),
        ("rows.csv", &["run", "rows.yaml", "--html", "rows.csv"]),
        #[cfg(unix)]
        ("rows.csv", &["run", "rows.yaml", "--junit", "link.xml"]),
        ("rec.ndjson", &["run", "cassette.yaml", "--events", "rec.ndjson"]),
        ("rec.ndjson", &["run", "cassette.yaml", "--markdown", "rec.ndjson"]),
        ("more.txt", &["run", "import.yaml", "--events", "more.txt"]),
        ("mock.txt", &["run", "t.yaml", "--events", "mock.txt"]),
        ("server.sh", &["run", "t.yaml", "--server", scripted, "--events", "server.sh"]),
        ("fixture/data.txt", &["run", "t.yaml", "--fixture", "fixture", "--events", "fixture/data.txt"]),
        ("base.json", &["run", "t.yaml", "--baseline", "base.json", "--junit", "base.json"]),
        ("base.json", &["run", "t.yaml", "--baseline", "base.json", "--events", "base.json"]),
        (".env", &["run", "t.yaml", "--env-file", ".env", "--save-baseline", ".env"]),
        ("rec.ndjson", &["run", "t.yaml", "--shard", "1/1", "--balance", "rec.ndjson", "--tap", "rec.ndjson"]),
        ("rec.ndjson", &["report", "rec.ndjson", "--html", "rec.ndjson"]),
        ("rec.ndjson", &["report", "rec.ndjson", "--format", "html", "-o", "rec.ndjson"]),
        ("rec.ndjson", &["trust", "rec.ndjson", "--report", "rec.ndjson"]),
        ("client.json", &["audit", "--yes", "--client-config", "client.json", "--events", "client.json"]),
        ("seeds.json", &["audit", "--yes", "--seed-args", "seeds.json", "--server", &server, "--report", "seeds.json"]),
        ("tools.json", &["schema-lint", "tools.json", "--sarif", "tools.json"]),
        ("mock.txt", &["bench", "t.yaml", "--calls", "2", "--openmetrics", "mock.txt"]),
    ] {
        let before = std::fs::read(at(victim)).expect("the input");
        let output = mcprove(folder.path(), args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert_eq!(std::fs::read(at(victim)).expect("the input"), before, "{args:?}: {said}");
        assert!(said.contains("which this run reads") || said.contains("files that were read"), "{args:?}: {said}");
    }
    // A newer log takes the place of the one it was selected by, and a baseline that of an older one.
    let again = ["run", "t.yaml", "--baseline", "base.json", "--save-baseline", "base.json"];
    assert_eq!(mcprove(folder.path(), &again).status.code(), Some(0));
    let balanced = ["run", "t.yaml", "--shard", "1/1", "--balance", "rec.ndjson", "--events", "rec.ndjson"];
    assert_eq!(mcprove(folder.path(), &balanced).status.code(), Some(0));
}
