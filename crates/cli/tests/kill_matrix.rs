//! Servers that misbehave, and what `mcprove run` says of each: the verdict, the cause, in time, within bounds, and with
//! nothing left behind. `cargo test -p mcprove --test cli kill_matrix` prints the matrix; `tests/hostile/commands` runs the same
//! servers against every other command.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::processes::processes_in;
use crate::subject;

/// A behaviour of the `misbehave` server with its argument, the status it must get, and words its detail must hold.
type Row = (&'static str, &'static str, &'static [&'static str]);

/// How long a server has; those with much to say have longer, or a busy machine would be to blame.
const DEADLINE: Duration = Duration::from_secs(2);
const LONG_DEADLINE: Duration = Duration::from_secs(25);
const MUCH_TO_SAY: &[&str] = &[
    "big-ids",
    "big-notifications",
    "big-requests",
    "endless-document",
    "endless-line",
    "flood",
    "flood 100000",
    "growing-notifications",
    "growing-objects",
    "growing-reply",
    "http endless-body",
    "http endless-comment",
    "http endless-event",
    "http endless-header",
    "http sse-big-flood",
    "http sse-flood",
    "huge-line",
    "huge-line 268435456",
    "long-methods",
    "many-tools 100000",
    "request-flood",
    "stderr-flood",
];
/// How long ending it may take: two graces of half a second, and what a busy machine adds.
const CLEANUP: Duration = Duration::from_secs(3);
/// What mcprove may take in memory with two such servers at a time; the longest message is 64 MiB.
const MEMORY: u64 = 512 << 20;

const STDIO: &[Row] = &[
    ("abort-after-call", "PASS", &[]),
    ("abort-after-initialize", "FAIL", &["SIGABRT"]),
    ("abort-at-end", "PASS", &[]),
    ("abort-at-start", "FAIL", &["SIGABRT"]),
    ("abort-mid-call", "FAIL", &["SIGABRT", "before it answered"]),
    ("abort-mid-line", "FAIL", &["in the middle of a message"]),
    ("ansi", "FAIL", &["terminal escape codes"]),
    ("bad-number", "FAIL", &["number out of range"]),
    ("bad-output", "PASS", &[]),
    ("batch", "FAIL", &["came in a batch"]),
    ("big-ids", "PASS", &[]),
    ("big-notifications", "FAIL", &["floods its client"]),
    ("big-requests", "FAIL", &["floods its client"]),
    ("bogus-version", "FAIL", &["1999-01-01"]),
    ("bom", "FAIL", &["byte order mark"]),
    ("both", "FAIL", &["both a result and an error"]),
    ("cancel-aware", "FAIL", &["not answered within"]),
    ("caps-wrong-type", "FAIL", &["is not an object"]),
    ("control-text", "FAIL", &["does not contain"]),
    ("crlf", "PASS", &[]),
    ("cyclic-ref", "PASS", &[]),
    ("deep-json", "FAIL", &["nested too deeply"]),
    ("duplicate-is-error", "PASS", &[]),
    ("duplicate-keys", "FAIL", &["does not contain"]),
    ("early-reply", "FAIL", &["not answered within"]),
    ("endless-document", "PASS", &[]),
    ("endless-line", "FAIL", &["longer than 64 MiB"]),
    ("endless-pages", "PASS", &[]),
    ("error-null", "FAIL", &["\"error\": null"]),
    ("exit-after-initialize", "FAIL", &["exited with code 0"]),
    ("exit-at-start", "FAIL", &["exited with code 3", "API_KEY not set"]),
    ("exit-mid-call", "FAIL", &["exited with code 7"]),
    ("exit-mid-line", "FAIL", &["in the middle of a message"]),
    ("float-id", "FAIL", &["has the id 2.0"]),
    ("flood", "PASS", &[]),
    ("flood 100000", "PASS", &[]),
    ("flood-then-log", "PASS", &[]),
    ("garbage-first", "PASS", &[]),
    ("grandchild", "PASS", &[]),
    ("growing-notifications", "FAIL", &["floods its client"]),
    ("growing-objects", "FAIL", &["takes more than 160 MiB"]),
    ("growing-reply", "FAIL", &["takes more than 160 MiB"]),
    ("half-a-reply", "FAIL", &["not answered within"]),
    ("hostile-error", "FAIL", &["refused `initialize`"]),
    ("hostile-names", "FAIL", &["does not contain"]),
    ("huge-line", "FAIL", &["does not contain"]),
    ("huge-line 268435456", "FAIL", &["longer than 64 MiB"]),
    ("ignore-eof", "PASS", &[]),
    ("ignore-sigterm", "PASS", &[]),
    ("invalid-utf8", "FAIL", &["not valid UTF-8"]),
    ("json-log-lines", "PASS", &[]),
    ("late", "PASS", &[]),
    ("late 2500", "FAIL", &["not answered within"]),
    ("long-methods", "FAIL", &["floods its client"]),
    ("many-tools", "PASS", &[]),
    ("many-tools 100000", "PASS", &[]),
    ("missing-id", "FAIL", &["has no id"]),
    ("never-reads", "FAIL", &["did not answer `initialize`"]),
    ("no-jsonrpc", "FAIL", &["lacks `\"jsonrpc\""]),
    ("no-name-tool", "PASS", &[]),
    ("no-schema-tool", "PASS", &[]),
    ("non-object-result", "FAIL", &["not an object"]),
    ("none", "PASS", &[]),
    ("nul", "FAIL", &["NUL bytes"]),
    ("null-id", "FAIL", &["has the id null"]),
    ("old-version", "PASS", &[]),
    ("out-of-order", "PASS", &[]),
    ("pages", "PASS", &[]),
    ("ping-client", "FAIL", &["does not contain"]),
    ("pretty", "FAIL", &["several lines"]),
    ("progress", "PASS", &[]),
    ("reads-no-more", "FAIL", &["not answered within"]),
    ("repeat-cursor", "PASS", &[]),
    ("reply-to-notification", "PASS", &[]),
    ("request-flood", "PASS", &[]),
    ("requests-same-id", "PASS", &[]),
    ("requests-unknown", "PASS", &[]),
    ("rpc-error", "FAIL", &["JSON-RPC error", "-32603"]),
    ("silent", "FAIL", &["did not answer `initialize`"]),
    ("slow-bytes", "PASS", &[]),
    ("speaks-after-eof", "PASS", &[]),
    ("stderr-flood", "PASS", &[]),
    ("string-error-code", "FAIL", &["not a whole number"]),
    ("string-id", "FAIL", &["has the id \"2\""]),
    ("structured", "FAIL", &["does not contain"]),
    ("twice", "PASS", &[]),
    ("wrong-id", "FAIL", &["but the request had 2"]),
];

/// Behaviours over HTTP.
const HTTP: &[Row] = &[
    ("chunked-nonsense", "FAIL", &["breaks off"]),
    ("empty", "FAIL", &["empty"]),
    ("endless-body", "FAIL", &["longer than 64 MiB"]),
    ("endless-comment", "FAIL", &["longer than 64 MiB"]),
    ("endless-event", "FAIL", &["longer than 64 MiB"]),
    ("endless-header", "FAIL", &["not HTTP"]),
    ("error-403", "FAIL", &["403"]),
    ("error-404", "FAIL", &["404"]),
    ("error-405", "FAIL", &["405"]),
    ("error-429", "FAIL", &["429"]),
    ("error-500", "FAIL", &["500"]),
    ("gzip", "FAIL", &["gzip"]),
    ("hard-reset", "FAIL", &["reset"]),
    ("header-injection", "FAIL", &["not HTTP"]),
    ("html", "FAIL", &["text/html"]),
    ("none", "PASS", &[]),
    ("redirect", "FAIL", &["301"]),
    ("reset", "FAIL", &["closed the connection"]),
    ("result-302", "FAIL", &["302", "with a JSON-RPC result in its body"]),
    ("result-401", "FAIL", &["401", "with a JSON-RPC result in its body"]),
    ("result-403", "FAIL", &["403", "with a JSON-RPC result in its body"]),
    ("result-404", "FAIL", &["404", "with a JSON-RPC result in its body"]),
    ("result-500", "FAIL", &["500", "with a JSON-RPC result in its body"]),
    ("result-503", "FAIL", &["503", "with a JSON-RPC result in its body"]),
    ("result-999", "FAIL", &["999", "with a JSON-RPC result in its body"]),
    ("session-lost", "FAIL", &["session"]),
    ("silent", "FAIL", &["not answered within"]),
    ("sse-big-flood", "FAIL", &["floods its client"]),
    ("sse-comments-only", "FAIL", &["not answered within"]),
    ("sse-flood", "PASS", &[]),
    ("sse-retry", "FAIL", &["ended before the reply"]),
    ("sse-twice", "PASS", &[]),
    ("sse-without-end", "FAIL", &["not answered within"]),
    ("tls", "FAIL", &["TLS"]),
    ("truncated", "FAIL", &["breaks off"]),
    ("unauthorized", "FAIL", &["401"]),
    ("unauthorized-metadata", "FAIL", &["401"]),
];

/// Behaviours that pass with a warning, which fails under `--strict`.
const STRICT: &[Row] = &[
    ("abort-after-call", "FAIL", &["SIGABRT", "after its last reply"]),
    ("abort-at-end", "FAIL", &["SIGABRT", "after its last reply"]),
    ("duplicate-is-error", "FAIL", &["the key `isError` twice"]),
    ("early-reply 1", "FAIL", &["before the request was sent"]),
    ("flood-then-log", "FAIL", &["not a JSON-RPC message"]),
];

#[test]
fn what_passes_with_a_warning_fails_under_strict() {
    let misbehave = subject::build("misbehave");
    let folder = tempfile::tempdir().expect("a folder");
    for (number, row) in STRICT.iter().enumerate() {
        let words: Vec<&str> = row.0.split(' ').collect();
        let server = format!("{{ command: {misbehave:?}, args: {words:?} }}");
        write_case(folder.path(), number, &Served { name: row.0.to_owned(), server, row });
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    let output = command.args(["run", "--strict", "--json"]).arg(folder.path()).output().expect("it runs");
    let results: Vec<Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    for ((name, status, words), result) in STRICT.iter().zip(&results) {
        assert_eq!(result["status"], *status, "{name}: {result}");
        let said = result.to_string();
        assert!(words.iter().all(|word| said.contains(word)), "{name}: {said}");
    }
}

#[test]
fn every_misbehaviour_gets_its_verdict_and_leaves_nothing_behind() {
    let misbehave = subject::build("misbehave");
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().canonicalize().expect("a path");
    let temporary = home.join("tmp");
    fs::create_dir(&temporary).expect("a folder");
    let servers: Vec<HttpServer> =
        HTTP.iter().map(|(behaviour, ..)| HttpServer::start(&misbehave, behaviour)).collect();
    let stdio = STDIO.iter().map(|row| {
        let words: Vec<&str> = row.0.split(' ').collect();
        Served {
            name: row.0.to_owned(),
            server: format!("{{ command: {misbehave:?}, args: {words:?}, cwd: {home:?} }}"),
            row,
        }
    });
    let http = HTTP.iter().zip(&servers).map(|(row, server)| {
        let address = format!("{{ url: {:?}, transport: http }}", server.url);
        Served { name: format!("http {}", row.0), server: address, row }
    });
    // Those with much to say would take the machine from the others, whose time is measured.
    let (large, small): (Vec<Served>, Vec<Served>) =
        stdio.chain(http).partition(|served| MUCH_TO_SAY.contains(&served.name.as_str()));

    let began = Instant::now();
    let mut wrong = Vec::new();
    let mut memory = 0;
    for (name, rows, jobs) in [("small", &small, "8"), ("large", &large, "2")] {
        let suite = home.join(name);
        fs::create_dir(&suite).expect("a folder");
        for (number, served) in rows.iter().enumerate() {
            write_case(&suite, number, served);
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
        command.args(["run", "--json", "--jobs", jobs]).arg(&suite).env("TMPDIR", &temporary);
        let (output, peak) = watched(command);
        memory = memory.max(peak);
        let results: Vec<Value> = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
        assert!(matches!(output.status.code(), Some(1 | 2)), "{:?}", output.status);
        write!(io::stderr(), "{}", matrix(&results)).expect("standard error");
        wrong.extend(judge(rows, &results));
    }
    let (count, took) = (small.len() + large.len(), began.elapsed());
    let summary = format!("{count} servers in {took:.1?}, {} MiB at most, {} wrong", memory >> 20, wrong.len());
    writeln!(io::stderr(), "{summary}").expect("standard error");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(memory < MEMORY, "{summary}");
    assert_eq!(processes_in(&home), Vec::<String>::new(), "processes were left behind");
    assert_eq!(fs::read_dir(&temporary).expect("a folder").count(), 0, "files were left behind");
}

/// Commands that look into input schemas, without the subject.
const SCANS: &[&[&str]] = &[
    &["schema-lint", "--all"],
    &["audit", "--tool", "echo", "--yes", "--timeout", "5s"],
    &["negative", "--tool", "echo", "--yes", "--timeout", "5s"],
    &["fuzz", "--tool", "echo", "--runs", "5", "--yes", "--timeout", "5s"],
];

#[test]
fn output_schemas_that_explode_are_judged_within_a_budget() {
    let misbehave = subject::build("misbehave");
    let folder = tempfile::tempdir().expect("a folder");
    let bombs = bombs(&misbehave);
    for (number, bomb) in bombs.iter().enumerate() {
        let server = format!("{{ command: {misbehave:?}, args: [output-bomb, {bomb}] }}");
        let yaml = format!(
            "name: {bomb}\nserver: {server}\ntimeout: 60s\nassert:\n  tool: echo\n  args: {{ text: hi }}\n  \
             expect: {{ contains: [hi] }}\n"
        );
        fs::write(folder.path().join(format!("{number:03}.yaml")), yaml).expect("a file");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    command.args(["run", "--json", "--strict", "--jobs", "2"]).arg(folder.path());
    let (output, peak) = watched(command);
    let results: Vec<Value> = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(results.len(), bombs.len());
    for (bomb, result) in bombs.iter().zip(&results) {
        let said = result.to_string();
        // A reply that does not fit, or cannot be compared, is a warning, which fails under `--strict`.
        assert!(
            result["status"] == "PASS" || said.contains("outputSchema") || said.contains("output-schema"),
            "{said}"
        );
        let too_much =
            ["all-of-doubling", "recursive-one-of", "recursive-any-of", "recursive-all-of", "dynamic-recursion"];
        assert!(!too_much.contains(&bomb.as_str()) || said.contains("too complex to judge"), "{said}");
    }
    writeln!(io::stderr(), "{} output schemas, {} MiB at most", bombs.len(), peak >> 20).expect("standard error");
    assert!(peak < MEMORY, "{} MiB", peak >> 20);
}

/// Each schema meets one command; with `MATRIX=full`, every command.
#[test]
fn input_schemas_that_explode_are_judged_within_a_budget() {
    let misbehave = subject::build("misbehave");
    let folder = tempfile::tempdir().expect("a folder");
    let full = std::env::var("MATRIX").is_ok_and(|value| value == "full");
    let (mut most, mut count) = (0, 0);
    for (number, bomb) in bombs(&misbehave).iter().enumerate() {
        for (at, scan) in SCANS.iter().enumerate().filter(|(at, _)| full || number % SCANS.len() == *at) {
            let home = folder.path().join(format!("{number}-{at}"));
            fs::create_dir(&home).expect("a folder");
            let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
            command.args(*scan).args(["--server", &format!("{} input-bomb {bomb}", misbehave.display())]);
            command.current_dir(&home);
            let (output, peak) = watched(command);
            let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
            assert!(matches!(output.status.code(), Some(0..=2 | 4)), "{bomb} {scan:?}: {:?} {said}", output.status);
            assert!(peak < MEMORY, "{bomb} {scan:?}: {} MiB", peak >> 20);
            (most, count) = (most.max(peak), count + 1);
        }
    }
    writeln!(io::stderr(), "{count} scans of input schemas, {} MiB at most", most >> 20).expect("standard error");
}

fn bombs(misbehave: &Path) -> Vec<String> {
    let output = Command::new(misbehave).arg("--bombs").output().expect("it runs");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

/// The output of a command, and the most memory that it took.
fn watched(mut command: Command) -> (std::process::Output, u64) {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("it runs");
    let peak = peak_memory(child.id());
    let output = child.wait_with_output().expect("it ends");
    (output, peak.join().expect("no panic"))
}

/// A misbehaving server, and how a suite names it.
struct Served {
    name: String,
    server: String,
    row: &'static Row,
}

fn write_case(suite: &Path, number: usize, served: &Served) {
    let Served { name, server, .. } = served;
    // A pipe that nobody reads takes 64 KiB.
    let text = if name == "reads-no-more" { "hi ".repeat(100_000) } else { "hi".to_owned() };
    let yaml = format!(
        "name: {name:?}\nserver: {server}\ntimeout: {}s\n\
         assert:\n  tool: echo\n  args: {{ text: {text:?} }}\n  expect: {{ not_error: true, contains: [hi] }}\n",
        deadline(name).as_secs()
    );
    fs::write(suite.join(format!("{number:03}.yaml")), yaml).expect("a file");
}

fn deadline(behaviour: &str) -> Duration {
    if MUCH_TO_SAY.contains(&behaviour) { LONG_DEADLINE } else { DEADLINE }
}

fn judge(rows: &[Served], results: &[Value]) -> Vec<String> {
    assert_eq!(rows.len(), results.len(), "every case has a result");
    let mut wrong = Vec::new();
    for (Served { name, row: (_, status, words), .. }, result) in rows.iter().zip(results) {
        assert_eq!(result["name"], **name, "results come in file order");
        let detail = result["detail"].as_str().unwrap_or_default();
        if result["status"] != *status || words.iter().any(|word| !detail.contains(word)) {
            wrong.push(format!("{name}: wanted {status} {words:?}, got {} {detail}", result["status"]));
        }
        let limit = deadline(name) + CLEANUP;
        if result["duration_ms"].as_u64().is_none_or(|ms| Duration::from_millis(ms) > limit) {
            wrong.push(format!("{name}: took {}", result["duration_ms"]));
        }
    }
    wrong
}

/// What was said of each server, in a line.
fn matrix(results: &[Value]) -> String {
    let mut text = String::from("\n");
    for result in results {
        let (name, status) = (result["name"].as_str().unwrap_or("?"), result["status"].as_str().unwrap_or("?"));
        let detail = result["detail"].as_str().unwrap_or_default().lines().next().unwrap_or_default();
        let shown: String = detail.chars().take(100).collect();
        let _ = writeln!(text, "{name:28} {status}  {:>6} ms  {shown}", result["duration_ms"]);
    }
    text
}

/// A misbehaving server over HTTP; it ends with its input.
struct HttpServer {
    child: Child,
    url: String,
}

impl HttpServer {
    fn start(misbehave: &Path, behaviour: &str) -> Self {
        // An honest server without TLS is all it takes for that to fail.
        let (name, scheme) = if behaviour == "tls" { ("none", "https") } else { (behaviour, "http") };
        let mut command = Command::new(misbehave);
        command.args(["http", name]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("misbehave starts");
        let mut url = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut url).expect("an address");
        Self { child, url: url.trim().replacen("http", scheme, 1) }
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The most memory that a process takes, looked up until it has ended; nothing tells us of it.
fn peak_memory(id: u32) -> thread::JoinHandle<u64> {
    thread::spawn(move || {
        let mut most = 0;
        while let Ok(status) = fs::read_to_string(format!("/proc/{id}/status")) {
            let Some(line) = status.lines().find_map(|line| line.strip_prefix("VmHWM:")) else { break };
            let kib: u64 = line.trim().trim_end_matches(" kB").trim().parse().unwrap_or(0);
            most = most.max(kib << 10);
            thread::sleep(Duration::from_millis(20));
        }
        most
    })
}
