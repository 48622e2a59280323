//! Loads on servers with one defect each, which is named, and on a healthy one, which is clean.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::LazyLock;

use serde_json::Value;

use crate::subject;

static LOADED: LazyLock<std::path::PathBuf> = LazyLock::new(|| subject::build("loaded"));

/// A server over HTTP; it ends with its standard input.
struct Running {
    child: Child,
    output: BufReader<ChildStdout>,
    url: String,
}

impl Running {
    fn start(defect: &str) -> Self {
        let mut child = Command::new(&*LOADED)
            .arg(defect)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        let mut url = String::new();
        output.read_line(&mut url).expect("a URL");
        Self { child, output, url: url.trim().to_owned() }
    }

    /// Waits until it was called a few hundred times.
    fn until_called(&mut self) {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        assert_eq!(line, "300 calls\n");
    }

    /// Ends it; the line with the number of sessions that were not deleted.
    fn left(mut self) -> String {
        drop(self.child.stdin.take());
        let mut lines = String::new();
        self.output.read_to_string(&mut lines).expect("its output");
        lines.lines().last().unwrap_or_default().to_owned()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs `mcprove bench` on the tool `echo`; the exit code, and what it prints as JSON.
fn bench(args: &[&str]) -> (i32, Value) {
    let output = Command::new(env!("CARGO_BIN_EXE_mcprove"))
        .args(["bench", "--json", "--tool", "echo", "--args", r#"{"text":"hello"}"#, "--warm-up", "0s"])
        .args(args)
        .output()
        .expect("mcprove runs");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
    (output.status.code().unwrap_or(-1), value)
}

/// The rules of the findings that are more than notes.
fn rules(load: &Value) -> Vec<&str> {
    let findings = load["findings"].as_array().expect("a list").iter();
    findings.filter(|finding| finding["severity"] != "note").filter_map(|finding| finding["rule"].as_str()).collect()
}

#[test]
fn a_healthy_server_is_clean() {
    let server = Running::start("healthy");
    let pid = server.child.id().to_string();
    for args in [
        &["--clients", "16", "--calls", "2000", "--gate", "errors <= 0%", "--gate", "wrong < 1"][..],
        &["--rate", "200/s", "--duration", "1s", "--clients", "2", "--pid", pid.as_str()],
        &["--clients", "2", "--ramp", "2@1s,32@1s"],
        &["--clients", "4", "--calls", "40", "--session-per", "call"],
    ] {
        let (code, load) = bench(&[&["--url", server.url.as_str()], args].concat());
        assert_eq!((code, rules(&load)), (0, Vec::new()), "{args:?}: {load:#}");
        assert!(load["load"]["answered"].as_u64() > Some(0), "{load:#}");
    }
}

#[test]
fn a_server_that_leaks_is_named() {
    let server = LOADED.display().to_string();
    let args = ["--clients", "1", "--in-flight", "16", "--duration", "6s"];
    let (code, load) = bench(
        &[&args[..], &["--gate", "memory growth < 100kB/1000 calls", "--", &server, "leaks", "--stdio"]].concat(),
    );
    if cfg!(target_os = "linux") {
        let growth = load["load"]["memory_growth"]["per_call"].as_f64().expect("measured");
        assert!((500.0..2000.0).contains(&growth), "{growth}: {load:#}");
        assert_eq!((code, rules(&load)), (1, vec!["memory-growth"]), "{load:#}");
        assert_eq!(load["gates"][0]["kept"], false);
        let (code, load) = bench(&[&args[..], &["--", &server, "healthy", "--stdio"]].concat());
        assert_eq!((code, rules(&load)), (0, Vec::new()), "{load:#}");
    }
}

#[test]
fn a_server_that_slows_down_with_its_sessions_is_named() {
    let server = Running::start("slows");
    let (code, load) = bench(&["--url", &server.url, "--clients", "2", "--ramp", "2@2s,24@3s"]);
    // It is a warning: nothing that was asked for failed.
    assert_eq!((code, rules(&load)), (0, vec!["slower-with-clients"]), "{load:#}");
}

#[test]
fn a_server_that_loses_replies_is_named() {
    let server = Running::start("loses");
    let few = bench(&["--url", &server.url, "--clients", "20", "--calls", "200"]);
    assert_eq!((few.0, rules(&few.1)), (0, Vec::new()), "{:#}", few.1);
    let (code, load) = bench(&["--url", &server.url, "--clients", "80", "--calls", "1000", "--timeout", "2s"]);
    assert_eq!((code, rules(&load)), (1, vec!["lost-reply"]), "{load:#}");
    let concurrent = load["load"]["errors"]["timeout"]["concurrent"].as_u64();
    assert!(concurrent.is_some_and(|calls| (50..=80).contains(&calls)), "{load:#}");
    let text = load["findings"].to_string();
    assert!(text.contains("`--ramp 1@2s,..80@30s` shows with how many clients it begins"), "{load:#}");
}

#[test]
fn a_ramp_shows_with_how_many_clients_replies_are_lost() {
    let server = Running::start("loses");
    let (code, load) = bench(&["--url", &server.url, "--ramp", "20@1s,..80@5s", "--timeout", "1s"]);
    assert_eq!((code, rules(&load)), (1, vec!["lost-reply"]), "{load:#}");
    let text = load["findings"].to_string();
    let fine = text.split("none failed with ").nth(1).and_then(|rest| rest.split(' ').next());
    let fine: u64 = fine.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{load:#}"));
    let concurrent = load["load"]["errors"]["timeout"]["concurrent"].as_u64().expect("a number");
    assert!(fine >= 20 && fine < concurrent && (50..=80).contains(&concurrent), "{load:#}");
}

#[test]
fn sessions_that_fail_half_way_are_counted_by_phase_and_closed() {
    for (defect, phase) in [("refuses", "handshake"), ("unlisted", "list")] {
        // Those of the beginning, and those that a client opens for its next calls.
        for args in
            [&["--clients", "6", "--calls", "30"][..], &["--clients", "2", "--calls", "30", "--session-per", "3"]]
        {
            let server = Running::start(defect);
            let (code, load) = bench(&[&["--url", server.url.as_str()], args].concat());
            assert_eq!((code, rules(&load)[0]), (1, "no-session"), "{load:#}");
            let failed = load["load"]["not_opened"].as_object().expect("phases");
            let phases: Vec<_> = failed.keys().collect();
            assert_eq!(phases, [phase], "{load:#}");
            let is_some = failed[phase]["count"].as_u64() > Some(0) && load["load"]["sessions"].as_u64() > Some(0);
            assert!(is_some && failed[phase]["example"].as_str().is_some_and(|text| text.contains("busy")), "{load:#}");
            assert_eq!(server.left(), "0 sessions left", "{defect}");
        }
    }
}

#[test]
#[cfg(unix)]
fn an_interrupted_load_is_reported_as_far_as_it_came() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    for (name, args) in [
        ("open", &["--rate", "400/s", "--duration", "10m", "--clients", "3", "--gate", "p99 < 10s"][..]),
        ("closed", &["--clients", "3", "--duration", "10m", "--session-per", "5"]),
        ("limit", &["--find-limit", "--rate", "400/s", "--duration", "10m"]),
    ] {
        let mut server = Running::start("healthy");
        let child = Command::new(env!("CARGO_BIN_EXE_mcprove"))
            .args(["bench", "--json", "--tool", "echo", "--args", r#"{"text":"hello"}"#, "--warm-up", "0s"])
            .args(["--url", &server.url, "--html", &path("page.html"), "--junit", &path("junit.xml")])
            .args(["--events", &path("log.ndjson"), "--openmetrics", &path("metrics.txt"), "--markdown", &path("r.md")])
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("mcprove runs");
        server.until_called();
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs").success());
        let output = child.wait_with_output().expect("it ends");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{name}: {stderr}");
        let load: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(load["load"]["interrupted"], true, "{name}: {load:#}");
        assert!(load["load"]["answered"].as_u64() > Some(100), "{name}: {load:#}");
        assert!(load["load"]["duration_us"].as_u64() < Some(600_000_000), "{name}: {load:#}");
        assert_eq!(rules(&load), Vec::<&str>::new(), "{name}: {load:#}");
        let gates = load["gates"].as_array().expect("a list");
        assert!(gates.iter().all(|gate| gate["kept"].is_null()), "{name}: {load:#}");
        let read = |name: &str| fs::read_to_string(path(name)).expect("written");
        assert!(
            read("page.html").contains("<dt>interrupted</dt>") && read("r.md").contains("- interrupted: "),
            "{name}"
        );
        assert!(
            read("metrics.txt").contains("mcprove_interrupted 1\n") && read("junit.xml").contains("<skipped"),
            "{name}"
        );
        assert!(!stderr.contains("next:"), "{stderr}");
        let report = Command::new(env!("CARGO_BIN_EXE_mcprove")).args(["report", &path("log.ndjson")]).output();
        let report = report.expect("runs");
        let shown = String::from_utf8_lossy(&report.stdout);
        assert!(shown.contains("interrupted  after ") && !shown.contains("next:"), "{name}: {shown}");
        assert_eq!(server.left(), "0 sessions left", "{name}");
    }
}

#[test]
fn a_server_that_answers_wrongly_under_load_is_named() {
    let server = Running::start("confuses");
    let few = bench(&["--url", &server.url, "--clients", "4", "--calls", "100", "--check-every", "1"]);
    assert_eq!((few.0, rules(&few.1)), (0, Vec::new()), "{:#}", few.1);
    let (code, load) = bench(&["--url", &server.url, "--clients", "32", "--calls", "1000"]);
    assert_eq!((code, rules(&load)), (1, vec!["wrong-under-load"]), "{load:#}");
}

#[test]
fn shards_merge_into_the_load_they_are_part_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Running::start("healthy");
    let path = |name: &str| folder.path().join(name).display().to_string();
    for shard in ["1/2", "2/2"] {
        let log = path(&format!("{}.ndjson", &shard[..1]));
        let (code, _) = bench(&[
            "--url",
            &server.url,
            "--rate",
            "100/s",
            "--duration",
            "1s",
            "--shard",
            shard,
            "--events",
            &log,
            "--gate",
            "errors <= 0%",
        ]);
        assert_eq!(code, 0);
    }
    let report =
        |args: &[&str]| Command::new(env!("CARGO_BIN_EXE_mcprove")).arg("report").args(args).output().expect("runs");
    let json = path("whole.json");
    let merged = report(&[&path("1.ndjson"), &path("2.ndjson"), "--report", &json]);
    assert_eq!(merged.status.code(), Some(0), "{}", String::from_utf8_lossy(&merged.stdout));
    let whole: Value = serde_json::from_str(&fs::read_to_string(&json).expect("written")).expect("JSON");
    let names: Vec<_> = whole["cases"].as_array().expect("cases").iter().map(|case| case["name"].clone()).collect();
    assert_eq!(names, ["load", "errors <= 0%"]);
    let counts = whole["cases"][0]["load"]["calls"]["echo"]["latency"]["counts"].as_array().expect("counts").clone();
    assert_eq!(counts.iter().filter_map(|pair| pair[1].as_u64()).sum::<u64>(), 100);
    let half = report(&[&path("1.ndjson")]);
    assert_eq!(half.status.code(), Some(2), "a missing shard is not a result");
}

#[test]
fn a_suite_is_a_workload_with_weights_gates_and_checks() {
    let folder = tempfile::tempdir().expect("a folder");
    let suite = folder.path().join("suite.yaml");
    let write = |expected: &str| {
        let server = serde_json::to_string(&*LOADED).expect("a path");
        let text = format!(
            "servers: {{s: {{command: {server}, args: [healthy, --stdio]}}}}\n\
             performance:\n  gates: ['errors <= 0%']\n  weights: {{often: 3}}\n\
             tools:\n\
             \x20 - {{name: often, tool: echo, args: {{text: a}}, expect: {{contains: a}}}}\n\
             \x20 - {{name: seldom, tool: echo, args: {{text: b}}, expect: {{contains: {expected}}}}}\n"
        );
        fs::write(&suite, text).expect("written");
    };
    let run = |path: &Path| {
        let output = Command::new(env!("CARGO_BIN_EXE_mcprove"))
            .args(["bench", "--json", "--calls", "200", "--clients", "2", "--check-every", "1"])
            .arg(path)
            .output()
            .expect("runs");
        let value = serde_json::from_slice::<Value>(&output.stdout);
        (output.status.code(), value.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr))))
    };
    write("b");
    let (code, load) = run(&suite);
    assert_eq!((code, rules(&load)), (Some(0), Vec::new()), "{load:#}");
    assert_eq!(load["load"]["calls"]["often"]["latency_us"]["count"], 150);
    assert_eq!(
        (load["load"]["calls"]["seldom"]["latency_us"]["count"].as_u64(), load["load"]["checked"].as_u64()),
        (Some(50), Some(200))
    );
    assert_eq!(load["gates"][0]["gate"], "errors <= 0%");
    write("c");
    let output = Command::new(env!("CARGO_BIN_EXE_mcprove")).args(["bench", "--calls", "10"]).arg(&suite).output();
    let output = output.expect("runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("fails before the load begins"), "{text}");
}

#[test]
fn the_templates_of_a_suite_are_filled_in_calls_and_expectations() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("fixtures")).expect("made");
    let suite = folder.path().join("suite.yaml");
    let server = serde_json::to_string(&*LOADED).expect("a path");
    let text = format!(
        "servers: {{s: {{command: {server}, args: [healthy, --stdio]}}}}\n\
         tools:\n\
         \x20 - {{name: path, tool: echo, args: {{text: 'at {{{{ fixture }}}}/a'}}, \
         expect: {{contains: 'at {{{{fixture}}}}/a', not_contains: 'fixture}}'}}}}\n"
    );
    fs::write(&suite, text).expect("written");
    let output = Command::new(env!("CARGO_BIN_EXE_mcprove"))
        .args(["bench", "--json", "--calls", "20", "--check-every", "1"])
        .arg(&suite)
        .output()
        .expect("runs");
    let value = serde_json::from_slice::<Value>(&output.stdout);
    let load = value.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!((output.status.code(), rules(&load)), (Some(0), Vec::new()), "{load:#}");
    assert_eq!(load["load"]["checked"], 20);
}

#[test]
fn a_run_is_compared_with_an_earlier_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("earlier.ndjson").display().to_string();
    let server = Running::start("healthy");
    let args = ["--url", &server.url, "--rate", "100/s", "--duration", "2s"];
    assert_eq!(bench(&[&args[..], &["--events", &log]].concat()).0, 0);
    // Whether it is the same within noise is up to the machine; that it can be compared is not.
    let (code, load) = bench(&[&args[..], &["--compare", &log]].concat());
    assert!(code != 2, "{load:#}");
    // Another load is not comparable.
    let (code, _) = bench(&["--url", &server.url, "--rate", "50/s", "--duration", "2s", "--compare", &log]);
    assert_eq!(code, 2);
}

#[test]
fn loads_that_cannot_be_meant_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = LOADED.display().to_string();
    let suite = |name: &str, performance: &str, ready: &str| {
        let path = folder.path().join(name);
        let text = format!(
            "servers: {{s: {{url: 'http://127.0.0.1:9/mcp'{ready}}}}}\nperformance: {performance}\n\
             tools: [{{name: echo, tool: echo, args: {{text: a}}, expect: {{contains: a}}}}]\n"
        );
        fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    let misspelt = suite("weights.yaml", "{weights: {ehco: 3}}", "");
    let probing = suite("probe.yaml", "{}", ", wait_for_ready: 'http://example.com/health'");
    for (args, message) in [
        (&[misspelt.as_str()][..], "`performance.weights` names no test: `ehco`"),
        (&[misspelt.as_str()], "did you mean `echo`?"),
        (&[probing.as_str()], "add `--i-may-load example.com`"),
        (&["--tool", "echo", "--ramp", "10/s@1s,20@1s", "--", &server, "healthy", "--stdio"], "some stages are rates"),
        (
            &["--tool", "echo", "--ramp", "1.5@1s", "--", &server, "healthy", "--stdio"],
            "a number of clients is not whole",
        ),
        (
            &["--tool", "echo", "--pid", "4194305", "--", &server, "healthy", "--stdio"],
            "the process 4194305 cannot be measured",
        ),
        (&["--shard", "1/2", "--compare", "a.ndjson", "--", &server], "cannot be used with"),
        (&["--find-limit", "--export-k6", "a.js", "--", &server], "cannot be used with"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_mcprove")).arg("bench").args(args).output().expect("runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains(message), "{args:?}: {stderr}");
    }
}

#[test]
fn other_hosts_are_loaded_only_with_permission() {
    let output = Command::new(env!("CARGO_BIN_EXE_mcprove"))
        .args(["bench", "--url", "http://192.0.2.1/mcp", "--tool", "echo"])
        .output()
        .expect("runs");
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("add `--i-may-load 192.0.2.1`"), "{stderr}");
}

#[test]
fn the_load_is_exported() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let server = Running::start("healthy");
    let (code, _) = bench(&[
        "--url",
        &server.url,
        "--calls",
        "100",
        "--clients",
        "2",
        "--openmetrics",
        &path("m.txt"),
        "--otlp",
        &path("o.json"),
        "--html",
        &path("p.html"),
        "--markdown",
        &path("r.md"),
        "--junit",
        &path("j.xml"),
        "--gate",
        "p99 < 10s",
    ]);
    assert_eq!(code, 0);
    let read = |name: &str| fs::read_to_string(path(name)).expect("written");
    let metrics = read("m.txt");
    assert!(
        metrics.contains("mcprove_call_latency_seconds_count{call=\"echo\"} 100\n") && metrics.ends_with("# EOF\n")
    );
    let otlp: Value = serde_json::from_str(&read("o.json")).expect("JSON");
    let histogram = &otlp["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0]["histogram"]["dataPoints"][0];
    assert_eq!(histogram["count"], "100");
    let page = read("p.html");
    assert!(page.contains("<svg") && !page.contains("<script") && !page.contains("src="), "{page}");
    assert!(read("r.md").contains("#### Load") && read("j.xml").contains("name=\"p99 &lt; 10s\""));
    let script = path("load.js");
    let output = Command::new(env!("CARGO_BIN_EXE_mcprove"))
        .args(["bench", "--url", &server.url, "--tool", "echo", "--rate", "10/s", "--export-k6", &script])
        .output()
        .expect("runs");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(read("load.js").contains("ramping-arrival-rate"));
}
