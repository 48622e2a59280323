//! Parts of one suite, run apart and put together, tell what one run tells.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use mcprove_report::FORMATS;
use regex::Regex;
use serde_json::Value;

const SUITES: [&str; 2] = ["examples/first-suite", "crates/cli/tests/cmd/ci.in/evals"];

#[test]
fn three_shards_are_one_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let run = |log: &Path, more: &[&str]| {
        let log = log.display().to_string();
        mcprove(&[&["run"], &SUITES[..], &["--trials", "2", "--events", &log], more].concat())
    };
    let whole = at("whole.ndjson");
    run(&whole, &[]);
    let balance = whole.display().to_string();
    for (kind, more) in [("hashed", vec![]), ("balanced", vec!["--balance", &balance])] {
        let shards: Vec<PathBuf> = (1..=3)
            .map(|number| {
                let log = at(&format!("{kind}-{number}.ndjson"));
                let shard = format!("{number}/3");
                run(&log, &[&["--shard", &shard][..], &more].concat());
                log
            })
            .collect();
        // The order in which logs are named does not matter.
        let backwards: Vec<_> = shards.iter().rev().cloned().collect();
        for format in FORMATS {
            let (one, one_status) = rendered(std::slice::from_ref(&whole), format.name);
            for logs in [&shards, &backwards] {
                let (merged, status) = rendered(logs, format.name);
                assert_eq!(normalised(&merged), normalised(&one), "{kind} {}", format.name);
                assert_eq!(status, one_status, "{kind} {}", format.name);
            }
            assert_eq!(one_status, Some(1), "a case of the second suite fails");
        }
    }
}

#[test]
fn a_part_without_cases_is_no_failure() {
    let folder = tempfile::tempdir().expect("a folder");
    let logs: Vec<PathBuf> = (1..=9).map(|number| folder.path().join(format!("{number}.ndjson"))).collect();
    for (log, number) in logs.iter().zip(1..) {
        let (log, shard) = (log.display().to_string(), format!("{number}/9"));
        let output = mcprove(&["ci", SUITES[0], "--shard", &shard, "--events", &log, "--junit", "/dev/null"]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let (json, status) = rendered(&logs, "json");
    let report: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((report["summary"]["passed"].as_u64(), status), (Some(4), Some(0)));
}

fn rendered(logs: &[PathBuf], format: &str) -> (String, Option<i32>) {
    let logs: Vec<String> = logs.iter().map(|log| log.display().to_string()).collect();
    let logs: Vec<&str> = logs.iter().map(String::as_str).collect();
    let output = mcprove(&[&["report", "--format", format], &logs[..]].concat());
    (String::from_utf8(output.stdout).expect("text"), output.status.code())
}

fn mcprove(args: &[&str]) -> Output {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace");
    Command::new(env!("CARGO_BIN_EXE_mcprove"))
        .args(args)
        .current_dir(workspace)
        .env("NO_COLOR", "1")
        .env_remove("GITHUB_ACTIONS")
        .env_remove("GITHUB_STEP_SUMMARY")
        .output()
        .expect("mcprove runs")
}

/// Without what differs between any two runs: times, what is said about them, and the names of temporary folders.
fn normalised(text: &str) -> String {
    let names = "duration_us|duration_ms|elapsed_us|at_us|started_unix_ms";
    let phases = "fixture|start|handshake|waiting|setup|call|checks|teardown";
    let temporary = regex::escape(&std::env::temp_dir().display().to_string());
    let replacements = [
        (format!(r#""({names}|{phases})": ?\d+"#), r#""$1":0"#),
        (r"duration_ms: \d+".to_owned(), "duration_ms: 0"),
        (r#"(time|timestamp)="[^"]*""#.to_owned(), r#"$1="""#),
        (r"\d{4}-\d\d-\d\dT[0-9:.]+Z".to_owned(), "DATE"),
        (r"(<|&lt;)?\d+(\.\d+)?m?s\b".to_owned(), "TIME"),
        // Each shard starts servers of its own, and what would be faster for one says nothing of the others.
        (r#"("servers_started": ?)\d+"#.to_owned(), "${1}0"),
        // Each shard has its own command line.
        (r#""command": ?"(\\.|[^"\\])*""#.to_owned(), r#""command":"""#),
        (r#",\s*"hint": ?"[^"]*""#.to_owned(), ""),
        (r"(?m)^(Time|Hint): .*\n\n".to_owned(), ""),
        (format!("{temporary}/[A-Za-z0-9._-]+"), "TMP"),
    ];
    let mut text = text.to_owned();
    for (pattern, with) in replacements {
        text = Regex::new(&pattern).expect("a sound pattern").replace_all(&text, with).into_owned();
    }
    text
}
