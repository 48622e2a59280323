//! `mcprove mcp`, tested by mcprove itself, and used as a coding agent uses it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_mcprove");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

/// A project whose configuration names one server.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = root().join("examples/first-suite/fixtures/tools.yml");
    let config = json!({"mcpServers": {"shop": {"command": PROGRAM, "args": ["mock", "--tools-from", manifest]}}});
    fs::write(folder.path().join(".mcp.json"), config.to_string()).expect("written");
    folder
}

/// Runs mcprove on `mcprove mcp` of a project.
fn on(project: &Path, words: &[&str]) -> Output {
    let server = format!("{PROGRAM} mcp --dir {}", project.display());
    let mut command = Command::new(PROGRAM);
    command.args(words).args(["--server", &server]).env("NO_COLOR", "1").output().expect("it runs")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn its_own_suite_passes_in_both_eras() {
    let project = project();
    let suite = root().join("crates/cli/tests/mcp/own.yaml");
    for protocol in ["legacy", "modern"] {
        let output = on(project.path(), &["run", &suite.display().to_string(), "--protocol", protocol]);
        assert_eq!(output.status.code(), Some(0), "{protocol}: {}", said(&output));
        assert!(said(&output).contains("16 cases: 16 passed"), "{}", said(&output));
    }
    assert!(!project.path().join("evals/wrong.yaml").exists());
}

#[test]
fn its_tools_describe_themselves_well() {
    let project = project();
    let output = on(project.path(), &["schema-lint", "--all"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}

/// Sends requests to `mcprove drive`, whose first opens `mcprove mcp`.
fn drive(project: &Path, calls: &[(&str, Value)]) -> Vec<Value> {
    let server = json!({"command": PROGRAM, "args": ["mcp", "--dir", project]});
    let mut lines = vec![json!({"method": "open", "params": {"server": server}}).to_string()];
    for (tool, args) in calls {
        lines.push(json!({"method": "call", "params": {"session": 1, "tool": tool, "args": args}}).to_string());
    }
    let mut program =
        Command::new(PROGRAM).arg("drive").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    program.stdin.take().expect("piped").write_all((lines.join("\n") + "\n").as_bytes()).expect("written");
    let output = program.wait_with_output().expect("it ends");
    let replies = String::from_utf8(output.stdout).expect("UTF-8");
    let replies = replies.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    replies.skip(1).map(|reply| reply["result"].clone()).collect()
}

#[test]
fn an_agent_writes_and_runs_a_test() {
    let project = project();
    let proposed = drive(project.path(), &[("propose_tests", json!({"server": "shop", "max_tokens": 10_000}))]);
    let file = &proposed[0]["structured"]["files"][0];
    let (path, content) = (file["path"].as_str().expect("a path"), file["content"].as_str().expect("content"));
    assert_eq!(path, "evals/greet.yaml");
    let completed = replace_block(content, "contains: Bob");
    let right = replace_block(content, "contains: Hello");
    let replies = drive(
        project.path(),
        &[
            ("write_test", json!({"path": path, "content": completed})),
            ("validate_suite", json!({"path": "evals"})),
            ("run_suite", json!({"path": "evals"})),
            ("write_test", json!({"path": path, "content": right})),
            ("write_test", json!({"path": path, "content": right, "overwrite": true})),
            ("run_suite", json!({"path": "evals"})),
        ],
    );
    let structured = |at: usize| &replies[at]["structured"];
    assert_eq!(structured(0)["tests"], 1, "{}", replies[0]);
    assert_eq!(structured(1)["usable"], true, "{}", replies[1]);
    assert_eq!(structured(2)["passed"], false, "{}", replies[2]);
    let failure = &structured(2)["failures"][0];
    assert_eq!(failure["file"], "evals/greet.yaml");
    assert_eq!(failure["findings"][0]["expected"], "Bob");
    assert!(replies[3]["is_error"] == true, "nothing is overwritten unasked: {}", replies[3]);
    assert_eq!(structured(5)["passed"], true, "{}", replies[5]);
}

/// The test with another expectation, on its call.
fn replace_block(content: &str, expect: &str) -> String {
    let head = content.split("\nassert:").next().expect("a head");
    let head: Vec<&str> = head.lines().filter(|line| !line.starts_with("skip:")).collect();
    format!("{}\nassert:\n  tool: greet\n  args: {{name: Ada}}\n  expect: {{{expect}}}\n", head.join("\n"))
}

#[test]
fn a_server_that_only_reads_writes_nothing() {
    let project = project();
    let server = format!("{PROGRAM} mcp --read-only --dir {}", project.path().display());
    let line = json!({"method": "open", "params": {"server": server}}).to_string()
        + "\n"
        + &json!({"method": "call", "params": {"session": 1, "tool": "write_test", "args": {"path": "a.yaml", "content": "x: 1"}}})
            .to_string()
        + "\n";
    let mut program =
        Command::new(PROGRAM).arg("drive").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    program.stdin.take().expect("piped").write_all(line.as_bytes()).expect("written");
    let output = program.wait_with_output().expect("it ends");
    assert!(said(&output).contains("it writes no files"), "{}", said(&output));
}

#[test]
fn every_tool_can_be_tried_in_an_empty_folder_and_in_a_project() {
    let empty = tempfile::tempdir().expect("a folder");
    for (folder, server) in [(empty.path(), "example"), (project().path(), "shop")] {
        let output = on(folder, &["audit", "--yes"]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let tools = "list_servers inspect_server propose_tests validate_suite explain_finding lint_schemas".split(' ');
        for tool in tools {
            let line = said(&output).lines().find(|line| line.contains(&format!(" {tool} "))).map(str::to_owned);
            assert!(line.as_ref().is_some_and(|line| line.starts_with("works")), "{server} {tool}: {line:?}");
        }
        let listed = drive(folder, &[("list_servers", json!({}))]);
        assert_eq!(listed[0]["structured"]["servers"][0]["name"], server, "{}", listed[0]);
    }
}

#[test]
fn conformance_lists_the_rules_that_are_broken() {
    let folder = tempfile::tempdir().expect("a folder");
    let good = json!({"server": "example", "rule": "mcp-handshake"});
    let replies = drive(folder.path(), &[("conformance", good)]);
    assert_eq!(replies[0]["structured"]["clean"], true, "{}", replies[0]);
    let broken = json!({"command": PROGRAM, "args": ["mock", "--mutation", "handshake-incomplete"]});
    fs::write(folder.path().join(".mcp.json"), json!({"mcpServers": {"broken": broken}}).to_string()).expect("written");
    let replies = drive(folder.path(), &[("conformance", json!({"server": "broken", "rule": "mcp-handshake"}))]);
    let answer = &replies[0]["structured"];
    assert_eq!(answer["clean"], false, "{}", replies[0]);
    assert!(answer["failures"][0]["detail"].as_str().is_some_and(|text| text.contains("mcp-handshake")), "{answer}");
}

#[test]
fn an_audit_lists_broken_tools_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = root().join("examples/first-suite/fixtures/tools.yml");
    let args = json!(["mock", "--tools-from", manifest, "--fault", "look_up=disconnect"]);
    let config = json!({"mcpServers": {"shop": {"command": PROGRAM, "args": args}}});
    fs::write(folder.path().join(".mcp.json"), config.to_string()).expect("written");
    let replies = drive(folder.path(), &[("audit", json!({"server": "shop", "max_tokens": 100_000}))]);
    let report = &replies[0]["structured"]["report"];
    assert_eq!(report["results"][0]["tool"], "look_up", "{}", replies[0]);
    assert_eq!(replies[0]["structured"]["clean"], false, "{}", replies[0]);
}

/// Each of these starts a command that only the agent named.
#[test]
fn a_test_that_starts_a_command_is_not_written() {
    let project = project();
    let config: Value =
        serde_json::from_str(&fs::read_to_string(project.path().join(".mcp.json")).expect("read")).expect("JSON");
    let shop = &config["mcpServers"]["shop"];
    let witness = project.path().join("witness");
    let touch = format!("touch '{}'", witness.display());
    let call = json!({"name": "greets", "tool": "greet", "args": {"name": "Ada"}, "expect": {"contains": "Ada"}});
    let command: Vec<&Value> = [&shop["command"]].into_iter().chain(shop["args"].as_array().expect("a list")).collect();
    let suite = |more: Value| {
        let mut suite = json!({"servers": {"shop": {"command": command}}, "tools": [call]});
        suite.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
        suite.to_string()
    };
    let with = |key: &str, value: Value| {
        let mut test = call.clone();
        test[key] = value;
        suite(json!({"tools": [test]}))
    };
    let scorer = json!([{"name": "s", "type": "exec", "command": ["touch", witness]}]);
    let eval = json!([{"name": "e", "prompt": "x", "response": "y", "rubric": "good"}]);
    let env = json!({"shop": {"command": command, "env": {"GIT_SSH_COMMAND": touch}}});
    let refused = [
        (with("transform", json!({"request": touch})), "`transform` runs commands"),
        (with("transform", json!({"response": touch})), "`transform` runs commands"),
        (suite(json!({"defaultTest": {"transform": {"response": touch}}})), "written as `{jq: PROGRAM}`"),
        (suite(json!({"scorers": scorer, "evals": eval})), "`scorers` runs commands"),
        // A suite that imports it would use them.
        (suite(json!({"scorers": scorer})), "`scorers` runs commands"),
        (suite(json!({"hooks": {"beforeAll": touch}})), "`hooks` runs commands"),
        (suite(json!({"servers": env})), "`env` of"),
    ];
    for (content, reason) in refused {
        let calls = [
            ("write_test", json!({"path": "evals/a.yaml", "content": content})),
            ("run_suite", json!({"path": "evals/a.yaml"})),
        ];
        let replies = drive(project.path(), &calls);
        let text = replies[0]["text"].as_str().unwrap_or_default();
        assert!(replies[0]["is_error"] == true && text.contains(reason), "{content}: {}", replies[0]);
        assert!(!witness.exists(), "{content}");
    }
    let harmless = with("transform", json!({"request": {"jq": "."}, "response": "jq '.'"}));
    let replies = drive(
        project.path(),
        &[
            ("write_test", json!({"path": "evals/a.yaml", "content": harmless})),
            ("run_suite", json!({"path": "evals/a.yaml"})),
        ],
    );
    assert_eq!(replies[1]["structured"]["passed"], true, "{} {}", replies[0], replies[1]);
}

/// What a suite imports decides what its tests start, also those that were written before.
#[test]
fn a_file_that_others_import_is_not_replaced() {
    let project = project();
    let config: Value =
        serde_json::from_str(&fs::read_to_string(project.path().join(".mcp.json")).expect("read")).expect("JSON");
    let shop = &config["mcpServers"]["shop"];
    let command: Vec<&Value> = [&shop["command"]].into_iter().chain(shop["args"].as_array().expect("a list")).collect();
    let witness = project.path().join("witness");
    let call = |name: &str, server: &str| json!({"name": name, "tool": "greet", "args": {"name": "Ada"}, "server": server, "expect": {"contains": "Ada"}});
    let common = |other: Value| {
        json!({"servers": {"shop": {"command": command}, "other": {"command": other}}, "tools": [call("one", "shop")]})
            .to_string()
    };
    let importing = json!({"imports": ["deep/common.yaml"], "tools": [call("two", "other")]}).to_string();
    let replaced = common(json!(["touch", witness]));
    let replies = drive(
        project.path(),
        &[
            ("write_test", json!({"path": "evals/deep/common.yaml", "content": common(json!(command))})),
            ("write_test", json!({"path": "evals/importing.yaml", "content": importing})),
            ("write_test", json!({"path": "evals/./deep/common.yaml", "content": replaced, "overwrite": true})),
            ("run_suite", json!({"path": "evals/importing.yaml"})),
        ],
    );
    assert_eq!(replies[1]["structured"]["tests"], 2, "{}", replies[1]);
    let refusal = replies[2]["text"].as_str().unwrap_or_default();
    assert!(refusal.contains("is imported by `evals/importing.yaml`"), "{}", replies[2]);
    assert_eq!(replies[3]["structured"]["passed"], true, "{}", replies[3]);
    assert!(!witness.exists());
}

/// What a test says about a file or a variable is shown to the agent, so it names none that its folder does not.
#[test]
fn a_test_reads_no_files_outside_of_the_folder_and_no_other_variables() {
    let project = project();
    let outside = tempfile::tempdir().expect("a folder");
    let secret = outside.path().join("secret.txt");
    fs::write(&secret, "TOPSECRET").expect("written");
    let config: Value =
        serde_json::from_str(&fs::read_to_string(project.path().join(".mcp.json")).expect("read")).expect("JSON");
    let shop = &config["mcpServers"]["shop"];
    let server = json!({"command": shop["command"], "args": shop["args"]});
    let file = json!({"name": "a", "server": server, "assert": {"tool": "greet", "args": {"name": "Ada"}, "expect": {"file_contains": {secret.display().to_string(): "x"}}}});
    let log = json!({"name": "a", "audit_log": secret, "trajectory": [{"type": "absence", "tools": ["x"]}]});
    let variable = json!({"servers": {"shop": {"command": shop["command"], "args": shop["args"]}}, "tools": [{"name": "a", "server": "shop", "tool": "greet", "args": {"name": "${PATH}"}, "expect": {"equals": "x"}}]});
    let timeout = json!({"servers": {"shop": {"command": shop["command"], "args": shop["args"]}}, "tools": [{"name": "a", "server": "shop", "tool": "greet", "timeout": "${PATH}"}]});
    for (content, reason) in
        [(file, "outside of the folder"), (log, "outside of the folder"), (variable, "`PATH`"), (timeout, "`PATH`")]
    {
        let write = ("write_test", json!({"path": "evals/a.yaml", "content": content.to_string()}));
        let replies = drive(project.path(), &[write]);
        let text = replies[0]["text"].as_str().unwrap_or_default();
        assert!(replies[0]["is_error"] == true && text.contains(reason), "{content}: {}", replies[0]);
        assert!(!text.contains("TOPSECRET") && !text.contains("/bin"), "{}", replies[0]);
        assert!(!project.path().join("evals/a.yaml").exists());
    }
    let expect = json!({"file_contains": {secret.display().to_string(): "x"}});
    let call = json!({"server": "shop", "tool": "greet", "arguments": {"name": "Ada"}, "expect": expect});
    let replies = drive(project.path(), &[("call_tool", call)]);
    assert!(replies[0]["is_error"] == true && !replies[0].to_string().contains("TOPSECRET"), "{}", replies[0]);
}

/// A test that is refused leaves nothing, not even its folder.
#[test]
fn a_refused_test_leaves_no_folders() {
    let project = project();
    fs::create_dir(project.path().join("evals")).expect("made");
    let write = |path: &str| ("write_test", json!({"path": path, "content": "name: x\n"}));
    let replies =
        drive(project.path(), &[write("evals/new/deep/a.yaml"), write("other/a.yaml"), write("evals/a.yaml")]);
    assert!(replies.iter().all(|reply| reply["is_error"] == true), "{replies:?}");
    let left: Vec<PathBuf> = fs::read_dir(project.path()).expect("read").flatten().map(|entry| entry.path()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    assert_eq!(fs::read_dir(project.path().join("evals")).expect("read").count(), 0);
}

/// Servers with more tools than fit into an answer, and than drafts are written for unasked.
#[test]
fn one_of_many_tools_is_inspected_and_drafted() {
    let folder = tempfile::tempdir().expect("a folder");
    let schema = json!({"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]});
    let tools: Vec<Value> = (0..1_001)
        .map(|n| json!({"name": format!("tool_{n}"), "description": format!("Finds {n}."), "input_schema": schema, "response": "ok"}))
        .collect();
    let manifest = folder.path().join("many.json");
    fs::write(&manifest, json!({"mock_server": {"name": "many", "tools": tools}}).to_string()).expect("written");
    let config = json!({"mcpServers": {"many": {"command": PROGRAM, "args": ["mock", "--tools-from", manifest]}}});
    fs::write(folder.path().join(".mcp.json"), config.to_string()).expect("written");
    let replies = drive(
        folder.path(),
        &[
            ("inspect_server", json!({"server": "many", "tool": "tool_700"})),
            ("inspect_server", json!({"server": "many", "tool": "tol_700"})),
            ("propose_tests", json!({"server": "many"})),
            ("propose_tests", json!({"server": "many", "tool": "tool_700"})),
            ("propose_tests", json!({"server": "many", "tool": "tol_700"})),
        ],
    );
    assert_eq!(replies[0]["structured"]["tools"].as_array().map(Vec::len), Some(1), "{}", replies[0]);
    assert_eq!(replies[0]["structured"]["tools"][0]["name"], "tool_700");
    for reply in [&replies[1], &replies[4]] {
        assert!(reply["text"].as_str().is_some_and(|text| text.contains("did you mean `tool_700`?")), "{reply}");
    }
    let refusal = replies[2]["text"].as_str().unwrap_or_default();
    assert!(refusal.contains("1001 files would be written to `evals`"), "{}", replies[2]);
    assert!(refusal.contains("draft one tool at a time with `tool`"), "{}", replies[2]);
    let files = replies[3]["structured"]["files"].as_array().expect("files");
    assert_eq!(files.len(), 1, "{}", replies[3]);
    assert_eq!(files[0]["path"], "evals/tool_700.yaml");
}

/// A name that begins with a dash is no option of the commands that do the work.
#[test]
fn paths_and_filters_are_never_options() {
    let project = project();
    let proposed = drive(project.path(), &[("propose_tests", json!({"server": "shop", "max_tokens": 10_000}))]);
    let content = proposed[0]["structured"]["files"][0]["content"].as_str().expect("content");
    let right = replace_block(content, "contains: Hello");
    let path = "--server=touch witness.yaml";
    let replies = drive(
        project.path(),
        &[
            ("write_test", json!({"path": path, "content": right})),
            ("validate_suite", json!({"path": path})),
            ("run_suite", json!({"path": path})),
            ("run_suite", json!({"path": path, "filter": "--server=touch witness.yaml"})),
            ("conformance", json!({"server": "shop", "rule": "--client-config"})),
        ],
    );
    assert!(!project.path().join("witness.yaml").exists(), "a path was taken as an option: {replies:?}");
    assert_eq!(replies[1]["structured"]["usable"], true, "{}", replies[1]);
    assert_eq!(replies[2]["structured"]["passed"], true, "{}", replies[2]);
    assert!(replies[3]["text"].as_str().is_some_and(|text| text.contains("`filter`")), "{}", replies[3]);
    assert!(replies[4].to_string().contains("--client-config"), "{}", replies[4]);
}

/// Keys of the environment are sent to where a person said only.
#[test]
fn a_test_that_sends_keys_elsewhere_is_not_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let servers = json!({"mcpServers": {"api": {"url": "http://127.0.0.1:9/mcp"}}});
    fs::write(folder.path().join(".mcp.json"), servers.to_string()).expect("written");
    let login = json!({"grant": "client_credentials", "client_id": "x", "client_secret_env": "HOME", "token_endpoint": "http://127.0.0.1:1/t"});
    let with = |server: Value, more: Value| {
        let mut server = server;
        server["url"] = "http://127.0.0.1:9/mcp".into();
        let call = json!({"name": "greets", "tool": "greet", "args": {}, "expect": {"not_error": true}});
        let mut suite = json!({"servers": {"api": server}, "tools": [call]});
        suite.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
        suite.to_string()
    };
    let elsewhere = json!({"providers": {"p": {"base_url": "http://127.0.0.1:1", "api_key_env": "HOME"}}});
    for (content, reason) in [
        (with(json!({"auth": {"oauth": login}}), json!({})), "`auth` of"),
        (with(json!({"wait_for_ready": "http://127.0.0.1:1/"}), json!({})), "`wait_for_ready` of"),
        (with(json!({}), elsewhere), "`base_url` of `providers`"),
        (with(json!({}), json!({})), ""),
    ] {
        let call = ("write_test", json!({"path": "evals/a.yaml", "content": content, "overwrite": true}));
        let reply = &drive(folder.path(), &[call])[0];
        let text = reply["text"].as_str().unwrap_or_default();
        assert_eq!(reply["is_error"] == true, !reason.is_empty(), "{content}: {reply}");
        assert!(text.contains(reason), "{content}: {reply}");
    }
}

/// Cancelling ends what a call started: a session, and a run with its servers.
#[cfg(unix)]
#[test]
fn a_cancelled_call_ends_its_server() {
    use std::io::{BufRead as _, BufReader, Read as _};
    use std::time::Duration;

    let project = tempfile::tempdir().expect("a folder");
    let held = project.path().join("held");
    assert!(Command::new("mkfifo").arg(&held).status().expect("mkfifo runs").success());
    let manifest = root().join("examples/first-suite/fixtures/tools.yml");
    // The server holds the pipe open for as long as it lives.
    let line = format!("exec 3>held; exec '{PROGRAM}' mock --tools-from '{}' --fault greet=hang", manifest.display());
    let server = json!({"command": "sh", "args": ["-c", line], "cwd": project.path()});
    fs::write(project.path().join(".mcp.json"), json!({"mcpServers": {"hangs": server}}).to_string()).expect("written");
    fs::create_dir(project.path().join("evals")).expect("made");
    let test = json!({"server": server, "timeout": "600s", "assert": {"tool": "greet", "args": {"name": "Ada"}, "expect": {"not_error": true}}});
    fs::write(project.path().join("evals/hangs.yaml"), test.to_string()).expect("written");

    let mut program = Command::new(PROGRAM)
        .args(["mcp", "--dir"])
        .arg(project.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut input = program.stdin.take().expect("piped");
    let mut send = |message: Value| writeln!(input, "{message}").expect("written");
    let client =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    send(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client}));
    send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let call = json!({"server": "hangs", "tool": "greet", "arguments": {"name": "Ada"}, "timeout_ms": 600_000});
    let hears = |said: std::sync::mpsc::Sender<&'static str>| {
        let held = held.clone();
        std::thread::spawn(move || {
            let mut pipe = fs::File::open(held).expect("opened by the server");
            said.send("started").expect("heard");
            pipe.read_to_end(&mut Vec::new()).expect("read");
            said.send("ended").expect("heard");
        });
    };
    // A limit only so that a failure ends.
    let limit = Duration::from_mins(2);
    for (id, tool, arguments) in [(1, "call_tool", call.clone()), (2, "run_suite", json!({"path": "evals"}))] {
        let (said, heard) = std::sync::mpsc::channel();
        hears(said);
        let params = json!({"name": tool, "arguments": arguments});
        send(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
        assert_eq!(heard.recv_timeout(limit), Ok("started"), "{tool}");
        send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
        assert_eq!(heard.recv_timeout(limit), Ok("ended"), "{tool}");
    }
    let params = json!({"name": "list_servers", "arguments": {}});
    send(json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params}));
    let mut lines = BufReader::new(program.stdout.take().expect("piped")).lines().map_while(Result::ok);
    assert!(lines.find(|line| line.contains("\"id\":3")).is_some_and(|line| line.contains("hangs")), "it serves on");
    // A client that goes away ends its calls, too.
    let (said, heard) = std::sync::mpsc::channel();
    hears(said);
    let params = json!({"name": "call_tool", "arguments": call});
    send(json!({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": params}));
    assert_eq!(heard.recv_timeout(limit), Ok("started"));
    drop(input);
    assert_eq!(heard.recv_timeout(limit), Ok("ended"));
    assert!(program.wait().expect("it ends").success());
}
