//! `mcprove mock` as people use it: in suites, over both transports and in every revision, and with faults.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

const PROTOCOLS: [&str; 7] = ["legacy", "modern", "auto", "2024-11-05", "2025-03-26", "2025-06-18", "2026-07-28"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn mcprove(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    command.args(args).current_dir(root()).env("NO_COLOR", "1");
    command
}

fn output(args: &[&str]) -> Output {
    mcprove(args).stdin(Stdio::null()).output().expect("it runs")
}

fn passes(args: &[&str]) {
    let output = output(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&output.stdout));
}

/// A mock over HTTP, ended by SIGTERM.
struct Served {
    child: Child,
    url: String,
}

impl Served {
    fn start(args: &[&str]) -> Self {
        let mut child =
            mcprove(&["mock", "--http", "127.0.0.1:0"]).args(args).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stderr.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let url = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}")).to_owned();
        Self { child, url }
    }

    #[cfg(not(unix))]
    fn end(mut self) {
        self.child.kill().expect("it can be ended");
        self.child.wait().expect("it ends");
    }

    #[cfg(unix)]
    fn end(mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it can be told");
        let status = self.child.wait().expect("it ends");
        assert!(status.success(), "{status}");
    }
}

#[test]
fn suites_pass_over_pipes_in_every_revision() {
    for protocol in PROTOCOLS {
        passes(&["run", "examples/mock/suite", "--protocol", protocol]);
    }
}

#[test]
fn suites_pass_over_http_in_every_revision() {
    for protocol in PROTOCOLS {
        // The revisions without a session share what the calls before have changed, so each has a mock of its own.
        let served = Served::start(&["--tools-from", "examples/mock/weather.yml"]);
        passes(&["run", "examples/mock/suite", "--protocol", protocol, "--url", &served.url]);
        served.end();
    }
}

#[test]
fn a_run_that_was_recorded_can_be_run_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("run.ndjson").display().to_string();
    for protocol in ["legacy", "modern"] {
        passes(&["run", "examples/mock/suite", "--protocol", protocol, "--events", &log]);
        let server = format!("mcprove mock --tools-from {log}");
        passes(&["run", "examples/mock/suite", "--protocol", protocol, "--server", &server]);
    }
}

#[test]
fn a_hung_call_ends_with_its_client() {
    let mut child = mcprove(&["mock", "--tools-from", "examples/mock/weather.yml", "--fault", "hang"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let messages = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"forecast","arguments":{"city":"Rome"}}}"#,
    ];
    for message in messages {
        writeln!(stdin, "{message}").expect("it reads");
    }
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("an answer");
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn faults_are_seen_by_a_run() {
    times_out(["--server", "mcprove mock --tools-from examples/mock/weather.yml --fault hang"]);
    let served = Served::start(&["--tools-from", "examples/mock/weather.yml", "--fault", "forecast=wedged"]);
    times_out(["--url", &served.url]);
    served.end();
}

fn times_out(subject: [&str; 2]) {
    for protocol in ["legacy", "modern"] {
        let mut args = vec!["run", "examples/mock/suite/forecast.yaml", "--protocol", protocol, "--timeout", "300ms"];
        args.extend(subject);
        let output = output(&args);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("not answered within"), "{text}");
    }
}

#[test]
fn mistakes_on_the_command_line_say_what_to_do() {
    let manifest = "examples/mock/weather.yml";
    for (args, part) in [
        (vec!["--tools-from", manifest, "--fault", "forcast=hang"], "did you mean `forecast`?"),
        (vec!["--tools-from", manifest, "--fault", "hnag"], "did you mean `hang`?"),
        (vec!["--tools-from", manifest, "--http", "999.0.0.1:1"], "as in 127.0.0.1:0"),
        (vec!["--tools-from", "nowhere.yml"], "give `--tools-from` a manifest file"),
        (vec!["--tools-from", "Cargo.toml"], "Cargo.toml"),
    ] {
        let mut all = vec!["mock"];
        all.extend(args);
        let output = output(&all);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{all:?}: {text}");
        assert!(text.contains(part), "{all:?}: {text}");
    }
}
