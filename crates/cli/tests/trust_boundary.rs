//! The examples about trust, byte for byte: as they run, and as they are judged from a log. `SNAPSHOTS=overwrite` writes
//! the files anew.

use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;
use snapbox::{Assert, Data};

/// The files of the example, and the exit code of each.
const FILES: &[(&str, i32)] = &[("agents", 1), ("boundary", 1), ("earlier", 0), ("undeclared", 1), ("widening", 1)];

#[test]
fn the_examples_find_what_they_promise_and_so_does_their_log() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, code) in FILES {
        let suite = format!("examples/trust-boundary/{name}.yaml");
        let log = folder.path().join(format!("{name}.ndjson")).display().to_string();
        let (told, ran) = mcprove(&["run", &suite, "--events", &log]);
        assert_eq!(ran, Some(*code), "{told}");
        compare(name, &told);
        let (judged, again) = mcprove(&["trust", &log, "--suite", &suite]);
        assert_eq!(again, Some(*code), "{judged}");
        let verdicts = |told: &str| -> Vec<String> {
            let is_told = |line: &&str| line.starts_with("PASS") || line.starts_with("FAIL") || line.contains("[SEC-");
            told.lines().filter(is_told).map(str::to_owned).collect()
        };
        assert_eq!(verdicts(&judged), verdicts(&told), "the log of {name} is judged as the run was");
    }
}

#[test]
fn what_nothing_declares_safe_is_a_finding_in_any_log() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("run.ndjson").display().to_string();
    mcprove(&["run", "examples/trust-boundary/boundary.yaml", "--events", &log]);
    let sarif = folder.path().join("run.sarif");
    let (told, code) = mcprove(&["trust", &log, "--sarif", &sarif.display().to_string()]);
    assert_eq!(code, Some(1), "{told}");
    assert_eq!(told.matches("high[SEC-060]").count(), 4, "{told}");
    let sarif = std::fs::read_to_string(sarif).expect("a file");
    assert_eq!(sarif.matches("\"ruleId\": \"SEC-060\"").count(), 4, "{sarif}");
    let (told, code) = mcprove(&["trust", "crates/cli/tests/cmd/report.in/shard-2.ndjson"]);
    assert_eq!(code, Some(4), "{told}");
}

#[test]
fn what_the_user_said_first_is_no_flow_in_a_run_or_in_its_log() {
    let folder = tempfile::tempdir().expect("a folder");
    let servers = root().join("examples/trust-boundary/servers");
    let (fetcher, database) = (servers.join("fetcher.yml"), servers.join("database.yml"));
    let page = "Opening hours: daily from nine. '); DROP TABLE visits; -- <b>Welcome</b>";
    let yaml = format!(
        "servers:\n  fetcher: {{mock: {fetcher:?}}}\n  database: {{mock: {database:?}}}\n\
         security: {{trust_boundary: {{}}}}\nagents:\n  - name: a\n    model: script\n    servers: [fetcher, database]\n    \
         prompt: {page:?}\n    script:\n      \
         - call: {{server: fetcher, tool: fetch_page, args: {{url: \"https://example.com/\"}}}}\n      \
         - call: {{server: database, tool: run_query, args: {{sql: \"{{{{last.text}}}}\"}}}}\n      - say: Noted.\n"
    );
    let suite = folder.path().join("suite.yaml").display().to_string();
    std::fs::write(&suite, yaml).expect("written");
    let log = folder.path().join("run.ndjson").display().to_string();
    let (told, code) = mcprove(&["run", &suite, "--events", &log]);
    assert_eq!(code, Some(0), "{told}");
    let (told, code) = mcprove(&["trust", &log]);
    assert_eq!(code, Some(0), "{told}");
}

/// What the calls of a script claim is judged as what tests claim.
#[test]
fn a_call_of_a_script_that_claims_more_than_was_negotiated_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = root().join("examples/trust-boundary/servers/database.yml");
    let query =
        |claims: &str| format!("{{tool: run_query, args: {{sql: \"SELECT 1\"}}, client_capabilities: {claims}}}");
    let (narrow, wide) = (query("[tools]"), query("[tools, elicitation]"));
    for (call, code) in [(narrow.clone(), 0), (wide.clone(), 1), (format!("[{narrow}, {wide}]"), 1)] {
        let yaml = format!(
            "servers:\n  database: {{mock: {database:?}}}\n\
             security: {{capability_negotiation: {{target: \"2026-07-28\", negotiated: [tools]}}}}\nagents:\n  \
             - name: a\n    model: script\n    servers: [database]\n    prompt: Go on.\n    \
             script:\n      - call: {call}\n      - say: Done.\n    expect: {{contains: Done}}\n"
        );
        let suite = folder.path().join("suite.yaml").display().to_string();
        std::fs::write(&suite, yaml).expect("written");
        let (told, ended) = mcprove(&["run", &suite]);
        assert_eq!(ended, Some(code), "{call}: {told}");
        assert_eq!(told.matches("high[SEC-061]").count(), usize::try_from(code).expect("a count"), "{told}");
    }
}

/// Requests of earlier revisions restate nothing, so that nothing could be checked.
#[test]
fn a_session_of_an_earlier_revision_is_told_to_be_unchecked() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = root().join("examples/trust-boundary/servers/database.yml");
    let yaml = format!(
        "servers:\n  database: {{mock: {database:?}, protocol: legacy}}\n\
         security: {{capability_negotiation: {{target: \"2026-07-28\", negotiated: [tools]}}}}\ntools:\n  \
         - {{name: t, tool: run_query, args: {{sql: \"SELECT 1\"}}, expect: {{not_error: true}}}}\n"
    );
    let suite = folder.path().join("suite.yaml").display().to_string();
    std::fs::write(&suite, yaml).expect("written");
    let (told, code) = mcprove(&["run", &suite, "-v"]);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("claimed capabilities could not be checked"), "{told}");
}

/// A step may speak to a server that cannot be started: then the case could not be run.
#[test]
fn another_server_that_cannot_be_reached_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = root().join("examples/trust-boundary/servers/database.yml");
    let yaml = format!(
        "servers:\n  database: {{mock: {manifest:?}}}\n  gone: {{command: [no-such-program-anywhere]}}\n\
         tools:\n  - name: a\n    server: database\n    setup: [{{server: gone, tool: x}}]\n    tool: run_query\n    \
         args: {{sql: x}}\n    expect: {{not_error: true}}\n"
    );
    let suite = folder.path().join("suite.yaml");
    std::fs::write(&suite, yaml).expect("written");
    let (told, code) = mcprove(&["run", &suite.display().to_string()]);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("ERROR a") && told.contains("server `gone`: "), "{told}");
}

fn mcprove(arguments: &[&str]) -> (String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    let output = command.args(arguments).current_dir(root()).env("NO_COLOR", "1").output().expect("mcprove runs");
    let told = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let time = Regex::new(r" *(<1|\d+)ms|\d+\.\d+s").expect("an expression");
    (time.replace_all(&told, " [time]").into_owned(), output.status.code())
}

fn compare(name: &str, told: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/trust/{name}.txt"));
    Assert::new().action_env(snapbox::assert::DEFAULT_ACTION_ENV).eq(told.to_owned(), Data::read_from(&file, None));
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
