//! `mcprove intercept` as a client and a server meet it: every byte, every ending, and what is left of it.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::processes::processes_in;

const MCPROVE: &str = env!("CARGO_BIN_EXE_mcprove");

fn intercept(args: &[&str], server: &[&str]) -> Command {
    let mut command = Command::new(MCPROVE);
    command.arg("intercept").args(args).arg("--").args(server);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Says something, closes the input, and waits for the end.
fn say(mut command: Command, input: &[u8]) -> Output {
    let mut child = command.spawn().expect("mcprove starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    let writer = thread::spawn(move || {
        // A server that left does not read.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().expect("mcprove ends");
    writer.join().expect("the writer ends");
    output
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Bytes without any pattern, the same every time.
fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33).to_le_bytes()[0]
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn every_byte_passes_as_it_came() {
    let half_a_line = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_vec();
    let mut conversations = vec![Vec::new(), b"\n\n\r\n\x00\xff".to_vec(), b"{broken\n[]\n".to_vec(), half_a_line];
    conversations.extend((0..4).map(|seed| noise(200_000 >> seed, seed)));
    for said in conversations {
        let output = say(intercept(&["--quiet"], &["cat"]), &said);
        assert!(output.stdout == said, "{} bytes became {}", said.len(), output.stdout.len());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
}

#[test]
fn the_exit_code_and_the_standard_error_are_the_servers() {
    for (script, code) in [("exit 7", 7), ("cat >/dev/null; exit 3", 3), ("kill -9 $$", 137)] {
        let output = say(intercept(&[], &["sh", "-c", &format!("echo beware >&2; {script}")]), b"hello\n");
        assert_eq!(output.status.code(), Some(code), "{script}: {}", stderr(&output));
        assert!(stderr(&output).contains("beware\n"), "{}", stderr(&output));
    }
    let missing = say(intercept(&[], &["no-such-server-here"]), b"");
    assert_eq!(missing.status.code(), Some(2));
    assert!(stderr(&missing).contains("was not found"), "{}", stderr(&missing));
}

#[test]
fn what_the_server_says_last_arrives() {
    let script = "cat >/dev/null; head -c 300000 /dev/zero; echo done";
    let output = say(intercept(&["--quiet"], &["sh", "-c", script]), b"x\n");
    assert_eq!(output.stdout.len(), 300_005);
}

#[test]
fn a_signal_goes_on_to_the_server() {
    let script = "trap 'echo told; exit 5' TERM; echo ready; while :; do sleep 0.05; done";
    let mut child = intercept(&["--quiet"], &["sh", "-c", script]).spawn().expect("mcprove starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert_eq!(lines.next().expect("a line").expect("text"), "ready");
    signal(&child, "TERM");
    assert_eq!(lines.next().expect("a line").expect("text"), "told");
    assert_eq!(child.wait().expect("an end").code(), Some(5));
}

#[test]
fn nothing_is_left_of_a_server_that_does_not_want_to_go() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().canonicalize().expect("a path");
    let script = "trap '' TERM INT HUP; sleep 600 & echo ready; while :; do sleep 0.05; done";
    for ending in ["time", "TERM", "INT", "HUP"] {
        let timeout: &[&str] = if ending == "time" { &["--quiet", "--timeout", "300ms"] } else { &["--quiet"] };
        let mut command = intercept(timeout, &["sh", "-c", script]);
        let mut child = command.current_dir(&home).spawn().expect("mcprove starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        assert_eq!(lines.next().expect("a line").expect("text"), "ready");
        if ending != "time" {
            signal(&child, ending);
            // The second is the last warning.
            thread::sleep(Duration::from_millis(50));
            signal(&child, ending);
        }
        assert_eq!(child.wait().expect("an end").code(), Some(0), "{ending}");
        assert_eq!(processes_in(&home), Vec::<String>::new(), "{ending} left processes behind");
    }
}

const CALLS: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":{"query":"oslo"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"delete","arguments":{"id":4}}}"#,
    "\n",
);

const MANIFEST: &str = "mock_server:\n  tools:\n    - name: search\n      response: {text: found something}\n    - \
                        name: delete\n      response: {text: refused, isError: true}\n";

#[test]
fn a_recording_is_judged_rendered_played_and_run_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("mock.yml"), MANIFEST).expect("a file");
    let wish = "name: no deleting\ntrajectory:\n  - {type: order, tools: [search, delete]}\n  - {type: absence, \
                tools: [delete]}\n";
    fs::write(path("wish.yaml"), wish).expect("a file");
    let (log, suite, wishes) = (path("log.ndjson"), path("suite.yaml"), path("wish.yaml"));
    let args = ["--events", &log, "--as-suite", &suite, "--trajectory", &wishes];
    let output = say(intercept(&args, &[MCPROVE, "mock", "--tools-from", &path("mock.yml")]), CALLS.as_bytes());
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("mcprove: #1 search {\"query\":\"oslo\"}\n"), "{told}");
    assert!(told.contains("mcprove: #2 delete answered with `isError` in "), "{told}");
    assert!(told.contains("`delete` was called, once"), "{told}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 3, "only the server is on standard output");

    let report = Command::new(MCPROVE).args(["report", &log]).output().expect("mcprove runs");
    assert!(String::from_utf8_lossy(&report.stdout).contains("2 cases: 1 passed, 1 failed"), "{report:?}");

    let again = Command::new(MCPROVE).args(["run", &suite]).output().expect("mcprove runs");
    assert_eq!(again.status.code(), Some(0), "{again:?}");
    assert!(String::from_utf8_lossy(&again.stdout).contains("2 cases: 2 passed"), "{again:?}");

    let by_log = format!("audit_log: {log}\ntrajectory:\n  - {{type: exact, tools: [search, delete]}}\n");
    fs::write(path("judged.yaml"), by_log).expect("a file");
    let judged = Command::new(MCPROVE).args(["run", &path("judged.yaml")]).output().expect("mcprove runs");
    assert_eq!(judged.status.code(), Some(0), "{judged:?}");

    let mut mock = Command::new(MCPROVE);
    mock.args(["mock", "--tools-from", &log]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let played = say(mock, CALLS.as_bytes());
    assert_eq!(json_lines(&played.stdout), json_lines(&output.stdout), "the recording plays the same answers");
}

#[test]
fn reads_and_prompts_are_recorded_and_what_is_not_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let more = "  resources:\n    - {uri: 'note://a', name: a, text: a note}\n  prompts:\n    - {name: review, \
                messages: [{role: user, content: {type: text, text: Review this.}}]}\n";
    fs::write(path("mock.yml"), format!("{MANIFEST}{more}")).expect("a file");
    let first = r#"{"jsonrpc":"2.0","id":9,"method":"resources/read","params":{"uri":"note://a"}}"#;
    let last = [
        r#"{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"note://none"}}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"prompts/get","params":{"name":"review"}}"#,
        r#"{"jsonrpc":"2.0","id":6,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"logging/setLevel","params":{"level":"debug"}}"#,
    ];
    let mut lines: Vec<&str> = CALLS.lines().collect();
    lines.insert(2, first);
    lines.extend(last);
    let suite = path("suite.yaml");
    let server = [MCPROVE, "mock", "--tools-from", &path("mock.yml")];
    let output = say(intercept(&["--as-suite", &suite], &server), format!("{}\n", lines.join("\n")).as_bytes());
    let told = stderr(&output);
    assert!(told.contains("no test repeats some requests; left out: logging/setLevel\n"), "{told}");
    assert!(told.contains("wrote 5 of 5 requests to "), "{told}");
    let text = fs::read_to_string(&suite).expect("a suite");
    assert!(text.contains("# Left out, because no test repeats them: logging/setLevel.\n"), "{text}");
    for part in ["a note", "read: \"note://none\"", "Review this."] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let run = || Command::new(MCPROVE).args(["run", &suite]).output().expect("mcprove runs");
    let again = run();
    assert_eq!(again.status.code(), Some(0), "{again:?}\n{text}");
    assert!(String::from_utf8_lossy(&again.stdout).contains("4 cases: 4 passed"), "{again:?}");
    let changed = format!("{MANIFEST}{more}").replace("a note", "another text").replace("Review this", "Look at it");
    fs::write(path("mock.yml"), changed).expect("a file");
    let changed = run();
    assert!(String::from_utf8_lossy(&changed.stdout).contains("4 cases: 2 passed, 2 failed"), "{changed:?}");
}

/// A server that asks its client for a message before it answers a call.
const ASKING: &str = r#"
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize":
        r = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
    elif m.get("method") == "tools/call":
        call = m["id"]
        print(json.dumps({"jsonrpc": "2.0", "id": "ask", "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}), flush=True)
    elif m.get("id") == "ask":
        r = {"content": [{"type": "text", "text": "done"}]}
        print(json.dumps({"jsonrpc": "2.0", "id": call, "result": r}), flush=True)
        break
"#;

#[test]
fn frames_are_logged_in_the_order_in_which_they_were_sent() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("asking.py"), ASKING).expect("a file");
    let (log, suite) = (path("log.ndjson"), path("suite.yaml"));
    let mut child = intercept(&["--quiet", "--events", &log, "--as-suite", &suite], &["python3", &path("asking.py")])
        .spawn()
        .expect("mcprove starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let hello =
        CALLS.lines().next().expect("a line").replace("\"capabilities\":{}", "\"capabilities\":{\"sampling\":{}}");
    let call = CALLS.lines().nth(2).expect("a line");
    writeln!(stdin, "{hello}\n{call}").expect("written");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    for line in lines {
        // Answered at once, as a client does that waits for nothing else.
        if line.expect("text").contains("sampling/createMessage") {
            let content = r#"{"role":"assistant","model":"m","content":[{"type":"text","text":"a poem"}]}"#;
            writeln!(stdin, r#"{{"jsonrpc":"2.0","id":"ask","result":{content}}}"#).expect("written");
        }
    }
    assert_eq!(child.wait().expect("an end").code(), Some(0));
    let text = fs::read_to_string(&log).expect("a log");
    let asked = text.find("sampling/createMessage").expect("the request is logged");
    assert!(asked < text.find("a poem").expect("the reply is logged"), "{text}");
    let suite = fs::read_to_string(&suite).expect("a suite");
    assert!(suite.contains("text: a poem"), "{suite}");
}

#[test]
fn http_passes_too_and_is_recorded() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("mock.yml"), MANIFEST).expect("a file");
    let mut server = listening(&["mock", "--http", "127.0.0.1:0", "--tools-from", &path("mock.yml")]);
    let log = path("log.ndjson");
    let mut relay =
        listening(&["intercept", "--url", &server.url, "--header", "X-Api-Key: sesame-open", "--events", &log]);
    let suite = "server: {command: x}\nassert: {tool: search, args: {query: a}, expect: {contains: [found]}}\n";
    fs::write(path("s.yaml"), suite).expect("a file");
    let run = Command::new(MCPROVE).args(["run", &path("s.yaml"), "--url", &relay.url]).output().expect("mcprove runs");
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    signal(&relay.child, "INT");
    assert_eq!(relay.child.wait().expect("an end").code(), Some(0));
    let text = fs::read_to_string(&log).expect("a log");
    assert!(text.contains("\"http_request\"") && text.contains("\"connected\"") && text.contains("found something"));
    assert!(!text.contains("sesame"), "{text}");

    signal(&server.child, "TERM");
    server.child.wait().expect("an end");
    let relay = listening(&["intercept", "--url", &server.url]);
    let run = Command::new(MCPROVE).args(["run", &path("s.yaml"), "--url", &relay.url]).output().expect("mcprove runs");
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stdout).contains("could not be reached"), "{run:?}");
    signal(&relay.child, "INT");
}

/// Calls of `delete` that a server may read and the record may not.
fn unreadable_calls() -> Vec<(&'static str, Vec<u8>)> {
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{{"name":"delete","arguments":{arguments}}}}}"#
        )
    };
    let plain = call("{}");
    vec![
        ("without `jsonrpc`", plain.replace(r#""jsonrpc":"2.0","#, "").into_bytes()),
        ("over several lines", plain.replace(',', ",\n").into_bytes()),
        ("300 levels deep", call(&format!(r#"{{"a":{}{}}}"#, "[".repeat(300), "]".repeat(300))).into_bytes()),
        ("a huge number", call(r#"{"a":1e999}"#).into_bytes()),
        ("a lone surrogate", call(r#"{"a":"\ud800"}"#).into_bytes()),
        (
            "invalid UTF-8",
            call(r#"{"a":"?"}"#).into_bytes().iter().map(|b| if *b == b'?' { 0xff } else { *b }).collect(),
        ),
    ]
}

#[test]
fn an_absence_is_not_proven_over_messages_that_cannot_be_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("mock.yml"), MANIFEST).expect("a file");
    fs::write(path("wish.yaml"), "trajectory:\n  - {type: absence, tools: [delete]}\n").expect("a file");
    let first_calls: Vec<&str> = CALLS.split_inclusive('\n').take(3).collect();
    for (what, call) in unreadable_calls() {
        let said = [first_calls.concat().into_bytes(), call, b"\n".to_vec()].concat();
        let wish = path("wish.yaml");
        let server = [MCPROVE, "mock", "--tools-from", &path("mock.yml")];
        let output = say(intercept(&["--trajectory", &wish], &server), &said);
        assert_eq!(output.status.code(), Some(1), "{what}: {}", stderr(&output));
        assert!(
            stderr(&output).contains("could not be read, and may have called a tool"),
            "{what}: {}",
            stderr(&output)
        );
        let output = say(intercept(&["--strict", "--trajectory", &wish], &server), &said);
        assert_eq!(output.status.code(), Some(0), "{what}: {}", stderr(&output));
        assert!(stderr(&output).contains("was not passed on"), "{what}: {}", stderr(&output));
    }
}

#[test]
fn only_clients_of_the_server_get_through_with_the_users_token() {
    use std::net::{TcpListener, TcpStream};
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/mcp", server.local_addr().expect("an address"));
    let relay = listening(&["intercept", "--url", &url, "--header", "Authorization: Bearer sesame-open"]);
    let address = relay.url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let json = format!("Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let form = format!("Content-Type: text/plain\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    for (request, status) in [
        (format!("POST /mcp HTTP/1.1\r\nHost: evil.example\r\n{json}"), "403"),
        (format!("POST /mcp HTTP/1.1\r\nHost: {address}\r\nOrigin: https://evil.example\r\n{json}"), "403"),
        (format!("POST /mcp HTTP/1.1\r\nHost: {address}\r\n{form}"), "415"),
        (format!("GET /admin HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\n\r\n"), "404"),
    ] {
        let mut client = TcpStream::connect(&address).expect("the relay listens");
        client.write_all(request.as_bytes()).expect("written");
        let mut answer = String::new();
        client.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request}\n{answer}");
        let mut seen = String::new();
        server.accept().expect("a connection").0.read_to_string(&mut seen).expect("its end");
        assert_eq!(seen, "", "nothing was passed on");
    }
    let mut client = TcpStream::connect(&address).expect("the relay listens");
    client.write_all(format!("POST /mcp HTTP/1.1\r\nHost: {address}\r\n{json}").as_bytes()).expect("written");
    client.shutdown(std::net::Shutdown::Write).expect("closed");
    let mut seen = String::new();
    server.accept().expect("a connection").0.read_to_string(&mut seen).expect("its end");
    assert!(seen.contains("Authorization: Bearer sesame-open") && seen.ends_with(body), "{seen}");
}

/// How much a message takes longer with us in between. Run it by hand, on a quiet machine, in a release build:
/// `cargo test --release -p mcprove --test cli intercept::latency -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement, not a test: it says something only on a quiet machine"]
fn latency() {
    let direct = median_round_trip(Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()));
    let through = median_round_trip(&mut intercept(&["--quiet"], &["cat"]));
    let added = through.saturating_sub(direct);
    writeln!(std::io::stderr(), "median round trip: {direct:?} direct, {through:?} through mcprove, {added:?} more")
        .expect("standard error");
    assert!(added < Duration::from_millis(2), "a round trip is two messages");
}

fn median_round_trip(command: &mut Command) -> Duration {
    let mut child = command.spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut stdout = child.stdout.take().expect("a pipe");
    let message = format!("{}\n", CALLS.lines().nth(2).expect("a call"));
    let mut answer = vec![0; message.len()];
    let mut times: Vec<Duration> = (0..3_000)
        .map(|_| {
            let began = Instant::now();
            stdin.write_all(message.as_bytes()).expect("written");
            stdout.read_exact(&mut answer).expect("read");
            began.elapsed()
        })
        .collect();
    drop(stdin);
    child.wait().expect("an end");
    times.sort_unstable();
    times[times.len() / 2]
}

struct Listening {
    child: Child,
    url: String,
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts something of ours that says where it listens.
fn listening(args: &[&str]) -> Listening {
    let mut command = Command::new(MCPROVE);
    let mut child = command.args(args).stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("mcprove starts");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let line = lines.next().expect("a line").expect("text");
    let url = line.strip_prefix("listening on ").expect("an address").to_owned();
    thread::spawn(move || lines.for_each(drop));
    Listening { child, url }
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([format!("-{name}"), child.id().to_string()]).status().expect("kill runs");
    assert!(status.success());
}

fn json_lines(bytes: &[u8]) -> Vec<Value> {
    String::from_utf8_lossy(bytes).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}
