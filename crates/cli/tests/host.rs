//! `mcprove host` with real clients (mcprove itself among them), `intercept --fault`, and `agents compare`.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

#[cfg(unix)]
use crate::processes::processes_in;

const MCPROVE: &str = env!("CARGO_BIN_EXE_mcprove");

fn mcprove(folder: &Path, args: &[&str]) -> (String, Option<i32>) {
    let mut command = Command::new(MCPROVE);
    command.args(args).current_dir(folder).env_remove("CI").env_remove("GITHUB_ACTIONS");
    let Output { status, stdout, stderr } = command.output().expect("it runs");
    (String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned(), status.code())
}

fn scenario(folder: &Path, transport: &str, fault: &str) {
    let text = format!(
        "scenario: {fault}\ntimeout: 30s\nservers:\n  files:\n    transport: {transport}\n    offers: {{ tools: [{{ name: search }}, \
         {{ name: read }}] }}\n    faults: [\"search={fault}\"]\nexpect: {{ detected: 10s, recovered: 20s }}\n"
    );
    fs::write(folder.join("scenario.yaml"), text).expect("written");
}

#[test]
fn mcproves_own_client_gives_a_hung_call_up_and_ends_in_order() {
    let folder = tempfile::tempdir().expect("a folder");
    for (transport, place) in [("stdio", ["--server", "{command}"]), ("http", ["--url", "{url}"])] {
        for protocol in ["legacy", "modern"] {
            scenario(folder.path(), transport, "hang");
            let client = [MCPROVE, "call", "search", "--timeout", "1s", "--protocol", protocol, place[0], place[1]];
            let line = [&["host", "scenario.yaml", "--"][..], &client].concat();
            let (told, code) = mcprove(folder.path(), &line);
            assert_eq!(code, Some(0), "{transport} {protocol}: {told}");
            assert!(told.contains("`hang` on files.search: detected after "), "{transport} {protocol}: {told}");
        }
    }
}

#[test]
fn mcproves_own_client_keeps_the_rules_whatever_it_meets() {
    let folder = tempfile::tempdir().expect("a folder");
    for (transport, place) in [("stdio", ["--server", "{command}"]), ("http", ["--url", "{url}"])] {
        for fault in [
            "malformed",
            "wrong-id",
            "duplicate",
            "disconnect",
            "error",
            "rate-limit",
            "notification-flood:50",
            "unexpected-sampling",
        ] {
            scenario(folder.path(), transport, fault);
            let client = [MCPROVE, "call", "search", "--timeout", "1s", place[0], place[1]];
            let line = [&["host", "scenario.yaml", "--"][..], &client].concat();
            let (told, code) = mcprove(folder.path(), &line);
            assert_eq!(code, Some(0), "{transport} {fault}: {told}");
        }
    }
}

#[test]
fn a_client_that_says_nothing_proves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    scenario(folder.path(), "stdio", "hang");
    let (told, code) = mcprove(folder.path(), &["host", "scenario.yaml", "--", "true"]);
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("host-no-connection"), "{told}");
    assert!(told.contains("next: mcprove host scenario.yaml --filter \"hang\" -v -- true\n"), "{told}");
    let (told, code) = mcprove(folder.path(), &["host", "scenario.yaml", "--", "no-such-client-here"]);
    assert_eq!(code, Some(2), "{told}");
    let (told, code) = mcprove(folder.path(), &["host", "scenario.yaml"]);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("--scripted good"), "{told}");
}

#[test]
fn a_client_that_lists_and_calls_nothing_met_no_fault() {
    let folder = tempfile::tempdir().expect("a folder");
    scenario(folder.path(), "stdio", "hang");
    let (told, code) =
        mcprove(folder.path(), &["host", "scenario.yaml", "--", MCPROVE, "list", "--server", "{command}"]);
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("host-never-hit"), "{told}");
}

#[test]
fn mistakes_of_a_scenario_are_reported_with_their_place() {
    let folder = tempfile::tempdir().expect("a folder");
    scenario(folder.path(), "stdio", "hnag");
    let (told, code) = mcprove(folder.path(), &["host", "scenario.yaml", "--scripted", "good"]);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("scenario.yaml:7") && told.contains("did you mean `hang`?"), "{told}");
}

#[test]
fn the_scripted_clients_are_judged_like_any_other() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (told, code) = mcprove(&root, &["host", "examples/host", "--scripted", "good"]);
    assert_eq!(code, Some(0), "{told}");
    let (told, code) = mcprove(&root, &["host", "examples/host/injection.yaml", "--scripted", "bad"]);
    assert_eq!(code, Some(1), "{told}");
    for id in ["SEC-060", "host-token-leak", "host-obeyed-injection"] {
        assert!(told.contains(id), "{id}: {told}");
    }
}

#[test]
fn the_configuration_is_written_in_the_format_of_the_client() {
    let folder = tempfile::tempdir().expect("a folder");
    scenario(folder.path(), "stdio", "hang");
    for (format, path) in [
        ("claude-desktop", "claude_desktop_config.json"),
        ("vscode", ".vscode/mcp.json"),
        ("cursor", ".cursor/mcp.json"),
    ] {
        let client = [MCPROVE, "call", "search", "--timeout", "1s", "--client-config", "{config}"];
        let line = [&["host", "scenario.yaml", "--config-format", format, "--"][..], &client].concat();
        let (told, code) = mcprove(folder.path(), &line);
        assert_eq!(code, Some(0), "{format}: {told}");
        let (told, _) = mcprove(
            folder.path(),
            &["host", "scenario.yaml", "--config-format", format, "--", "ls", &format!("{{folder}}/{path}")],
        );
        assert!(told.contains("host-no-connection"), "{told}");
    }
}

#[test]
fn a_format_that_cannot_hold_the_servers_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    scenario(folder.path(), "http", "hang");
    let (told, code) =
        mcprove(folder.path(), &["host", "scenario.yaml", "--config-format", "claude-desktop", "--", "true"]);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("reads only commands") && told.contains("transport: stdio"), "{told}");
}

#[test]
fn mistakes_that_only_the_servers_show_have_their_place() {
    let folder = tempfile::tempdir().expect("a folder");
    scenario(folder.path(), "stdio", "hang");
    let text = fs::read_to_string(folder.path().join("scenario.yaml")).expect("a text");
    fs::write(folder.path().join("typo.yaml"), text.replace("search=", "serch=")).expect("written");
    let (told, code) = mcprove(folder.path(), &["host", "typo.yaml", "--scripted", "good"]);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("typo.yaml:7") && told.contains("the tools are search, read"), "{told}");
    let expecting = |named: &str| {
        let text = text.replace("detected: 10s", named).replace("search=hang", "search=renamed-tool");
        fs::write(folder.path().join("named.yaml"), text).expect("written");
        mcprove(folder.path(), &["host", "named.yaml", "--scripted", "good"])
    };
    for named in ["called: [files.serch]", "not_called: [read, fils.read]"] {
        let (told, code) = expecting(named);
        assert_eq!(code, Some(2), "{named}: {told}");
        assert!(told.contains("named.yaml:8") && told.contains("did you mean `files."), "{named}: {told}");
    }
    let (told, _) = expecting("not_called: [files.search_v2, read]");
    assert!(told.contains("host-never-hit"), "{told}");
    fs::write(folder.path().join("none.yaml"), "scenario: none\nservers:\n  files:\n    manifest: no.yml\n")
        .expect("written");
    let (told, code) = mcprove(folder.path(), &["host", "none.yaml", "--scripted", "good"]);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("none.yaml:4") && told.contains("next to the scenario"), "{told}");
}

#[cfg(unix)]
#[test]
fn a_client_that_ignores_its_configuration_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    scenario(folder.path(), "stdio", "hang");
    let temporary = folder.path().join("temporary");
    fs::create_dir(&temporary).expect("made");
    let client = "sleep 300 & touch started; wait";
    let mut command = Command::new(MCPROVE);
    command.args([
        "host",
        "scenario.yaml",
        "--timeout",
        "1s",
        "--env",
        "AT={folder}",
        "--cwd",
        ".",
        "--",
        "sh",
        "-c",
        client,
    ]);
    command.current_dir(folder.path()).env("TMPDIR", &temporary).env_remove("CI").env_remove("GITHUB_ACTIONS");
    let output = command.output().expect("it runs");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("host-no-connection") && told.contains("reads the configuration"), "{told}");
    let left: Vec<_> = fs::read_dir(&temporary).expect("a folder").collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(folder.path().join("started").exists(), "{told}");
    let running = processes_in(&folder.path().canonicalize().expect("a path"));
    assert!(running.is_empty(), "{running:?}");
}

#[cfg(unix)]
#[test]
fn the_environment_and_the_folder_of_a_client_may_name_its_configuration() {
    let folder = tempfile::tempdir().expect("a folder");
    scenario(folder.path(), "stdio", "hang");
    let client = "cat \"$CODEX_HOME/config.toml\"; pwd; ls -a";
    let line = [
        "host",
        "scenario.yaml",
        "--config-format",
        "codex",
        "--env",
        "CODEX_HOME={folder}/.codex",
        "--cwd",
        "{folder}",
    ];
    let (told, _) = mcprove(folder.path(), &[&line[..], &["--", "sh", "-c", client]].concat());
    assert!(told.contains("[mcp_servers.\"files\"]") && told.contains(".codex\n"), "{told}");
}

#[test]
fn intercept_puts_the_same_faults_in_front_of_any_server() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("m.yml"), "tools: [{ name: search }, { name: read }]").expect("written");
    let mut command = Command::new(MCPROVE);
    command.args([
        "intercept",
        "--quiet",
        "--fault",
        "search=error:-32099",
        "--fault",
        "read=injected-result",
        "--seed",
        "7",
        "--",
    ]);
    command.args([MCPROVE, "mock", "--tools-from", "m.yml"]).current_dir(folder.path());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let said = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":{}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"read","arguments":{}}}"#,
        "\n",
    );
    child.stdin.take().expect("a pipe").write_all(said.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains(r#""id":2,"error":{"code":-32099"#), "{told}");
    assert!(told.lines().any(|line| line.contains(r#""id":3"#) && line.contains("CANARY-")), "{told}");
}

#[test]
fn agents_are_compared_by_their_logs() {
    let folder = tempfile::tempdir().expect("a folder");
    let suite = |tool: &str| {
        format!(
            "servers:\n  files: {{mock: m.yml}}\nagents:\n  - name: finds it\n    model: script\n    servers: [files]\n    prompt: \
             Find it.\n    trajectory: {{calls: [{{name: search}}]}}\n    script:\n      - call: {{server: files, tool: {tool}, args: {{}}}}\n      - say: Done.\n"
        )
    };
    fs::write(folder.path().join("m.yml"), "tools: [{ name: search }, { name: read }]").expect("written");
    fs::write(folder.path().join("good.yaml"), suite("search")).expect("written");
    fs::write(folder.path().join("bad.yaml"), suite("read")).expect("written");
    let (told, code) = mcprove(folder.path(), &["run", "good.yaml", "--trials", "6", "--events", "good.ndjson"]);
    assert_eq!(code, Some(0), "{told}");
    let (told, code) = mcprove(folder.path(), &["run", "bad.yaml", "--trials", "6", "--events", "bad.ndjson"]);
    assert_eq!(code, Some(1), "{told}");
    let (told, code) = mcprove(folder.path(), &["agents", "compare", "good.ndjson", "bad.ndjson"]);
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("after is worse by 100.0 points"), "{told}");
    assert!(told.contains("`files.read` in the place of `files.search`, 6 times"), "{told}");
    let (told, code) = mcprove(folder.path(), &["agents", "compare", "good.ndjson", "good.ndjson", "--json"]);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("\"significant\":false"), "{told}");
    let (told, code) = mcprove(folder.path(), &["agents", "compare", "good.ndjson", "good.ndjson", "--k", "9"]);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("a case has only 6 runs; use `--k 6`"), "{told}");
}

#[test]
fn logs_that_cannot_be_compared_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("junk.txt"), "hello\n").expect("written");
    fs::write(folder.path().join("empty.ndjson"), "").expect("written");
    for (log, code, part) in [
        ("none.ndjson", 2, "cannot be read"),
        ("junk.txt", 2, "line 1: not an event"),
        ("empty.ndjson", 4, "has no runs of agents"),
    ] {
        let (told, ended) = mcprove(folder.path(), &["agents", "compare", log, log]);
        assert_eq!(ended, Some(code), "{log}: {told}");
        assert!(told.contains(part) && told.contains("mcprove run --events FILE"), "{log}: {told}");
    }
}
