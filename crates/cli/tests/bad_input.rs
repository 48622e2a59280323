//! Bad input of every kind: a clear word, the right exit code, no panic, no hang, nothing lost.

#![cfg(unix)]

use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const MCPROVE: &str = env!("CARGO_BIN_EXE_mcprove");

fn run(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(MCPROVE);
    command.args(args).current_dir(folder).stdin(Stdio::null()).output().expect("mcprove runs")
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Nine levels of nine aliases: a few hundred bytes that mean hundreds of millions of values.
fn alias_bomb() -> String {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..9 {
        let items = vec![format!("*a{}", level - 1); 9].join(", ");
        let _ = writeln!(text, "a{level}: &a{level} [{items}]");
    }
    text
}

#[test]
fn files_that_are_no_suites_are_told_and_not_run() {
    let nested_list = format!("assert: {}{}", "[".repeat(50_000), "]".repeat(50_000));
    let nested_map = (0..1_000).fold(String::new(), |mut text, depth| {
        let _ = writeln!(text, "{}k:", " ".repeat(depth));
        text
    });
    let huge = format!("name: {}\n", "x".repeat(1 << 20));
    let files: [(&str, Vec<u8>); 9] = [
        ("alias-bomb", alias_bomb().into_bytes()),
        ("binary", (0..=255_u8).cycle().take(4096).collect()),
        ("empty", Vec::new()),
        ("huge", huge.into_bytes()),
        ("nested-list", nested_list.into_bytes()),
        ("nested-map", nested_map.into_bytes()),
        ("not-utf8", b"name: caf\xe9\n".to_vec()),
        ("nul", b"name: a\0b\nassert: {tool: x}\n".to_vec()),
        ("numbers", b"server: {command: x}\nassert: {tool: x, args: {n: 99999999999999999999999999999, m: 1e999}}\ntimeout: -5s\n".to_vec()),
    ];
    for (name, text) in files {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("case.yaml"), text).expect("a file");
        let output = run(folder.path(), &["run", "case.yaml"]);
        let told = said(&output);
        assert_eq!(output.status.code(), Some(2), "{name}: {}", told.chars().take(500).collect::<String>());
        assert!(told.contains("error") && told.contains("case.yaml"), "{name}: {told}");
        assert!(told.len() < 100_000, "{name} is told in {} bytes", told.len());
    }
}

#[test]
fn paths_that_cannot_be_read_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    symlink(at("loop-b"), at("loop-a")).expect("a link");
    symlink(at("loop-a"), at("loop-b")).expect("a link");
    fs::create_dir(at("circle")).expect("a folder");
    symlink(at("circle"), at("circle/again")).expect("a link");
    fs::write(at("circle/good.yaml"), "trace: [{tool: a}]\ntrajectory: [{type: presence, tools: [a]}]\n")
        .expect("a file");
    symlink(at("nowhere.yaml"), at("dangling.yaml")).expect("a link");
    for path in ["missing", "missing.yaml", "loop-a", "dangling.yaml"] {
        let output = run(folder.path(), &["run", path]);
        assert_eq!(output.status.code(), Some(2), "{path}: {}", said(&output));
        assert!(said(&output).contains(path), "{path}: {}", said(&output));
    }
    let circle = run(folder.path(), &["run", "circle"]);
    assert_eq!(circle.status.code(), Some(0), "a folder that holds itself is read once: {}", said(&circle));
    let odd = folder.path().join(std::ffi::OsStr::from_bytes(b"odd-\xff.yaml"));
    fs::write(&odd, "trace: [{tool: a}]\ntrajectory: [{type: presence, tools: [a]}]\n").expect("a file");
    let output = Command::new(MCPROVE).arg("run").arg(&odd).output().expect("mcprove runs");
    assert!(matches!(output.status.code(), Some(0 | 2)), "{}", said(&output));
}

#[test]
fn options_that_make_no_sense_are_refused_before_anything_starts() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("s.yaml"), "server: {command: touch, args: [started]}\nassert: {tool: x}\n")
        .expect("a file");
    for args in [
        ["--jobs", "0"],
        ["--jobs", "-1"],
        ["--jobs", "99999999999999999999"],
        ["--timeout", "-1s"],
        ["--timeout", "99999999999999999999h"],
        ["--trials", "0"],
        ["--trials", "4294967295"],
        ["--trials", "99999999999999999999"],
        ["--timeout", "0s"],
        ["--timeout", "NaNs"],
        ["--probe-timeout", "-1ms"],
        ["--threshold", "101"],
        ["--threshold", "NaN"],
        ["--limit", "message=0"],
        ["--limit", "message=99999999999999999999"],
        ["--limit", "stderr"],
        ["--shard", "0/3"],
        ["--shard", "4/3"],
        ["--filter", "/(/"],
    ] {
        let output = run(folder.path(), &["run", "s.yaml", args[0], args[1]]);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", said(&output));
    }
    for args in [
        &["fuzz", "--runs", "0"][..],
        &["fuzz", "--runs", "99999999999"],
        &["fuzz", "--jobs", "0"],
        &["fuzz", "--jobs", "65536"],
        &["fuzz", "--time", "-1s"],
        &["fuzz", "--seed", "-1"],
        &["negative", "--oversized", "0"],
        &["negative", "--oversized", "18446744073709551615"],
        &["audit", "--timeout", "99999999999999999999999s"],
        &["audit", "--seed", "1e400"],
        &["coverage", "s.yaml", "--min", "-1"],
        &["coverage", "s.yaml", "--min", "inf"],
        &["doctor", "--timeout", "-5"],
    ] {
        let output = run(folder.path(), &[args, &["--server", "touch started"]].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", said(&output));
        assert!(said(&output).contains("error"), "{args:?}: {}", said(&output));
    }
    for args in [&["ui", "nowhere", "--no-open"][..], &["mcp", "--client-config", "nowhere"]] {
        let output = run(folder.path(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", said(&output));
        assert!(said(&output).contains("`nowhere`"), "{args:?}: {}", said(&output));
    }
    assert!(!folder.path().join("started").exists());
}

#[test]
fn numbers_in_suites_that_no_machine_can_do_are_findings() {
    let suite = |test: &str| format!("servers: {{s: {{command: touch, args: [started]}}}}\n{test}");
    let agent = "agents:\n  - {name: a, model: script, prompt: p, script: [{say: hi}], ";
    for text in [
        suite(&format!("{agent}runs: 4294967295}}\n")),
        suite(&format!("{agent}runs: 99999999999999999999}}\n")),
        suite(&format!("{agent}max_turns: -1}}\n")),
        suite("tools:\n  - {name: a, tool: t, timeout: -1s}\n"),
        suite("tools:\n  - {name: a, tool: t, timeout: 1e400s}\n"),
        suite("tools:\n  - {name: a, tool: t, expect: {max_duration_ms: -5}}\n"),
        suite("tools:\n  - {name: a, tool: t, expect: {min_results: 99999999999999999999999}}\n"),
        suite("parallel: -3\ntools:\n  - {name: a, tool: t}\n"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("s.yaml"), &text).expect("a file");
        let output = run(folder.path(), &["run", "s.yaml"]);
        assert_eq!(output.status.code(), Some(2), "{text}{}", said(&output));
        assert!(said(&output).contains("s.yaml:"), "the place is named: {text}{}", said(&output));
        assert!(!folder.path().join("started").exists(), "{text}");
    }
}

#[test]
fn files_that_cannot_be_read_or_copied_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("folder.yaml")).expect("a folder");
    // Nobody may read it; to open it fails even for the administrator, as the address of a socket does.
    let _socket = std::os::unix::net::UnixListener::bind(at("socket.yaml")).expect("a socket");
    let case = "server: {command: x, args: ['{{fixture}}']}\nassert: {tool: t, expect: {not_error: true}}\n";
    fs::write(at("case.yaml"), case).expect("a file");
    fs::create_dir(at("fixtures")).expect("a folder");
    symlink("gone", at("fixtures/dangling")).expect("a link");
    symlink("self", at("fixtures/self")).expect("a link");
    symlink(".", at("fixtures/circle")).expect("a link");
    let socket = run(folder.path(), &["run", "socket.yaml"]);
    assert_eq!(socket.status.code(), Some(2), "{}", said(&socket));
    assert!(said(&socket).contains("socket.yaml"), "{}", said(&socket));
    // Links are copied as links, so neither one that leads nowhere nor one that leads around keeps a case from running.
    let linked = run(folder.path(), &["run", "case.yaml"]);
    assert!(said(&linked).contains("`x`"), "the server is what cannot be started: {}", said(&linked));
    let absent = run(folder.path(), &["run", "case.yaml", "--fixture", "absent"]);
    assert_eq!(absent.status.code(), Some(2), "{}", said(&absent));
    assert!(said(&absent).contains("absent"), "{}", said(&absent));
    for args in [&["schema-lint", "folder.yaml"][..], &["report", "folder.yaml"], &["trust", "folder.yaml"]] {
        let output = run(folder.path(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", said(&output));
        assert!(said(&output).contains("folder.yaml"), "{args:?}: {}", said(&output));
    }
}

#[test]
fn files_that_are_no_logs_and_no_catalogs_are_told() {
    let deep = format!("{}1{}", "[".repeat(200_000), "]".repeat(200_000));
    let contents: [(&str, Vec<u8>); 6] = [
        ("binary", (0..=255_u8).cycle().take(4096).collect()),
        ("deep", deep.into_bytes()),
        ("empty", Vec::new()),
        ("long", vec![b'x'; 1 << 20]),
        ("not-utf8", b"{\"event\":\"run_started\",\"x\":\"\xff\"}\n".to_vec()),
        ("number", b"{\"tools\":1e999}".to_vec()),
    ];
    for (name, content) in contents {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("file"), content).expect("a file");
        for args in
            [&["report", "file"][..], &["schema-lint", "file"], &["trust", "file"], &["mock", "--tools-from", "file"]]
        {
            let output = run(folder.path(), args);
            assert!(
                matches!(output.status.code(), Some(2 | 4)),
                "{name} {args:?}: {:?} {}",
                output.status,
                short(&output)
            );
            assert!(said(&output).contains("file"), "{name} {args:?}: {}", short(&output));
            assert!(said(&output).len() < 20_000, "{name} {args:?} is told in {} bytes", said(&output).len());
        }
    }
}

fn short(output: &Output) -> String {
    said(output).chars().take(500).collect()
}

#[test]
fn a_narrow_terminal_and_no_room_for_reports_lose_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let case = "name: a case whose name is a good deal longer than twenty columns\ntrace: [{tool: a}]\n\
                trajectory: [{type: absence, tools: [a]}]\n";
    fs::write(folder.path().join("s.yaml"), case).expect("a file");
    let script = format!("stty cols 20 rows 10; exec {MCPROVE} run s.yaml");
    let output = Command::new("script").args(["-qec", &script, "/dev/null"]).current_dir(folder.path()).output();
    if let Ok(output) = output {
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        assert!(said(&output).contains("absence"), "{}", said(&output));
    }
    // Everything that is written there fails as on a full disk.
    let full = run(folder.path(), &["run", "s.yaml", "--junit", "/dev/full", "--events", "/dev/full"]);
    assert_eq!(full.status.code(), Some(2), "{}", said(&full));
    assert!(said(&full).contains("1 failed"), "the verdict is shown: {}", said(&full));
    assert!(said(&full).contains("No space left"), "{}", said(&full));
}

/// A link in a suite may lead to a file of credentials, which no message quotes.
#[cfg(unix)]
#[test]
fn what_a_link_leads_to_outside_of_the_suite_is_not_quoted() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("evals")).expect("a folder");
    fs::create_dir_all(at("outside/more")).expect("a folder");
    fs::write(at("outside/credentials"), "KEY=hunter2hunter2\n: [ {hunter2hunter2\n").expect("a file");
    fs::write(at("outside/more/hosts.yml"), "github.com:\n  oauth_token: hunter2hunter2\n").expect("a file");
    symlink("../outside/credentials", at("evals/a.yaml")).expect("a link");
    symlink("../outside/more", at("evals/more")).expect("a link");
    for args in [
        &["run", "evals"][..],
        &["run", "evals/a.yaml"],
        &["validate", "evals"],
        &["validate", "evals", "--json"],
        &["lint", "evals"],
        &["coverage", "evals"],
    ] {
        let output = run(folder.path(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", said(&output));
        assert!(!said(&output).contains("hunter2"), "{args:?}: {}", said(&output));
        assert!(said(&output).contains("a.yaml"), "{args:?}: {}", said(&output));
    }
    // The mistakes of a suite behind a link are shown where it stays inside.
    symlink("b.txt", at("evals/b.yaml")).expect("a link");
    fs::write(at("evals/b.txt"), "nme: x\n").expect("a file");
    let output = run(folder.path(), &["validate", "evals/b.yaml"]);
    assert!(said(&output).contains("nme"), "{}", said(&output));
}

/// A link in the place of a folder that mcprove writes to does not decide what is written outside.
#[cfg(unix)]
#[test]
fn snapshots_and_workflows_are_written_through_no_link_that_leads_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    for name in ["home/evals", "outside"] {
        fs::create_dir_all(at(name)).expect("a folder");
    }
    fs::write(at("home/mock.txt"), "mock_server:\n  name: m\n  tools: [{name: echo, response: zebra}]\n")
        .expect("a file");
    let program = env!("CARGO_BIN_EXE_mcprove");
    let server = format!("{{command: {program}, args: [mock, --tools-from, mock.txt]}}");
    let test = "assert: {tool: echo, args: {}, expect: {contains: [zebra]}}\n";
    fs::write(at("home/evals/a.yaml"), format!("name: a\nserver: {server}\n{test}")).expect("a file");
    std::os::unix::fs::symlink(at("outside"), at("home/evals/.snapshots")).expect("a link");
    std::os::unix::fs::symlink(at("outside"), at("home/.github")).expect("a link");
    let words = format!("{program} mock --tools-from mock.txt");
    for args in [
        &["snapshot", "evals", "--update"][..],
        &["snapshot", "evals", "--catalog", "--update"],
        &["init", "new", "--server", &words],
    ] {
        let output = run(&at("home"), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", said(&output));
        assert!(said(&output).contains("a link leads out"), "{args:?}: {}", said(&output));
        assert_eq!(fs::read_dir(at("outside")).expect("a folder").count(), 0, "{args:?}");
    }
}

/// What a server prints before it fails to start may be a secret that it was given.
#[cfg(unix)]
#[test]
fn a_server_that_does_not_start_shows_no_secret() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = "echo $TOKEN >&2; echo $TOKEN; exit 3";
    let server = serde_json::json!({"command": "sh", "args": ["-c", script], "env": {"TOKEN": "hunter2hunter2"}});
    let configuration = serde_json::json!({"mcpServers": {"a": server}});
    fs::write(folder.path().join("c.json"), configuration.to_string()).expect("a file");
    for command in ["list", "audit", "generate", "doctor", "schema-lint", "conformance", "bench"] {
        let output = run(folder.path(), &[command, "--client-config", "c.json"]);
        assert!(!said(&output).contains("hunter2"), "{command}: {}", said(&output));
    }
    let output = run(folder.path(), &["call", "x", "--client-config", "c.json"]);
    assert!(said(&output).contains("exited with code 3") && !said(&output).contains("hunter2"), "{}", said(&output));
}
