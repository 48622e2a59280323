//! Agents from the outside: scripts, language models behind a stand-in on loopback, recordings, and many of them.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::mpsc;
use std::thread;

use serde_json::{Value, json};

const KEY: &str = "sk-ant-stand-in-0123456789abcdef";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

struct Folder(tempfile::TempDir);

impl Folder {
    /// A folder with the mock of the examples.
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().expect("a folder"));
        fs::copy(root().join("examples/agents/incidents.yml"), folder.0.path().join("incidents.yml")).expect("copied");
        folder
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).expect("written");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).expect(name)
    }

    fn run(&self, arguments: &[&str], key: Option<&str>) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
        command.arg("run").args(arguments).current_dir(self.0.path()).env("NO_COLOR", "1");
        for name in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"] {
            command.env_remove(name);
        }
        if let Some(key) = key {
            command.env("ANTHROPIC_API_KEY", key);
        }
        command.output().expect("mcprove runs")
    }
}

fn told(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The body of a request, read to its end.
pub(crate) fn read_body(stream: &mut impl Read) -> String {
    let mut read = Vec::new();
    loop {
        let mut buffer = [0; 8192];
        let count = stream.read(&mut buffer).expect("readable");
        read.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&read);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
        if body.len() >= length.parse::<usize>().expect("a number") {
            return body.to_owned();
        }
    }
}

/// A provider on loopback that gives these answers in order; what it was asked comes out of the channel.
fn stand_in(answers: Vec<(u16, Value)>) -> (String, mpsc::Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let (tell, asked) = mpsc::channel();
    thread::spawn(move || {
        for (status, answer) in answers {
            let Ok((mut stream, _)) = listener.accept() else { return };
            let body = read_body(&mut stream);
            let _ = tell.send(serde_json::from_str(&body).expect("JSON"));
            let answer = answer.to_string();
            let head = format!(
                "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nretry-after: 0\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                answer.len()
            );
            stream.write_all(format!("{head}{answer}").as_bytes()).expect("written");
        }
    });
    (address, asked)
}

fn calls(tool: &str, input: &Value) -> Value {
    json!({
        "type": "message", "role": "assistant", "stop_reason": "tool_use",
        "content": [{"type": "tool_use", "id": "toolu_1", "name": tool, "input": input}],
        "usage": {"input_tokens": 400, "output_tokens": 50},
    })
}

fn says(text: &str) -> Value {
    json!({
        "type": "message", "role": "assistant", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": text}],
        "usage": {"input_tokens": 600, "output_tokens": 50},
    })
}

/// The example of the page, with its model behind a stand-in.
fn example(address: &str) -> String {
    let text = fs::read_to_string(root().join("examples/fault-injection-recovery.yml")).expect("the example");
    let text = text.replace("agents/incidents.yml", "incidents.yml");
    format!("{text}\nproviders:\n  anthropic: {{ base_url: \"{address}\" }}\n")
}

#[test]
fn what_costs_more_than_the_budget_fails() {
    for (budget, code, what) in [
        ("per_test_usd_cents: 1", 0, "1 passed"),
        ("per_test_usd_cents: 0", 1, "the agent cost more than `budget` allows"),
        ("per_suite_usd_cents: 0", 1, "all agents and judges together cost more than `budget` allows"),
    ] {
        let folder = Folder::new();
        let (address, _) = stand_in(vec![
            (200, calls("search", &json!({"query": "incident"}))),
            (200, says("The search tool does not respond.")),
        ]);
        folder.write("suite.yml", &format!("{}budget: {{ {budget} }}\n", example(&address)));
        let run = folder.run(&["suite.yml"], Some(KEY));
        assert_eq!(run.status.code(), Some(code), "{}", told(&run));
        assert!(told(&run).contains(what), "{budget}: {}", told(&run));
    }
}

#[test]
fn the_example_runs_as_written_with_a_key_and_without_one_says_which() {
    let folder = Folder::new();
    let (address, asked) = stand_in(vec![
        (429, json!({})),
        (200, calls("search", &json!({"query": "incident"}))),
        (200, says("The search tool does not respond.")),
    ]);
    folder.write("suite.yml", &example(&address));
    let without = folder.run(&["suite.yml"], None);
    assert_eq!(without.status.code(), Some(2));
    assert!(told(&without).contains("the environment variable `ANTHROPIC_API_KEY` is not set"), "{}", told(&without));
    let run = folder.run(&["suite.yml", "--report", "report.json", "--events", "log.ndjson", "-v"], Some(KEY));
    assert_eq!(run.status.code(), Some(0), "{}", told(&run));
    assert!(told(&run).contains("1100 tokens, $0.0045"), "{}", told(&run));
    assert!(told(&run).contains("recovered in 3000 ms (virtual) after 1 timeout"), "{}", told(&run));
    assert!(!told(&run).contains(KEY) && !folder.read("log.ndjson").contains(KEY));
    let report: Value = serde_json::from_str(&folder.read("report.json")).expect("JSON");
    let agent = &report["cases"][0]["agent"];
    assert_eq!(agent["usage"], json!({"prompt_tokens": 1000, "completion_tokens": 100}));
    assert_eq!((&agent["cost_usd_micros"], &agent["stop_reason"]), (&json!(4500), &json!("completed")));
    let call = &report["cases"][0]["calls"][0];
    assert_eq!(
        (&call["server"], &call["fault"], &call["role"]),
        (&json!("faulty"), &json!("hung-search"), &json!("agent"))
    );
    let bodies: Vec<Value> = asked.iter().collect();
    assert_eq!(bodies.len(), 3, "429 is asked again");
    assert_eq!(bodies[0], bodies[1]);
    assert_eq!(bodies[0]["tools"][0]["name"], "search");
    let result = &bodies[2]["messages"][2]["content"][0];
    assert_eq!((&result["is_error"], &result["tool_use_id"]), (&json!(true), &json!("toolu_1")));
    assert_eq!(result["content"], "tool `search` did not respond within 3000 ms");
}

#[test]
fn a_recorded_conversation_is_played_without_a_key_and_judged_like_a_live_one() {
    let folder = Folder::new();
    let (address, _asked) = stand_in(vec![
        (200, calls("search", &json!({"query": KEY}))),
        (200, says("The search tool does not respond.")),
    ]);
    let suite = example(&address);
    folder.write("suite.yml", &suite);
    let recorded = folder.run(&["suite.yml", "--record"], Some(KEY));
    assert_eq!(recorded.status.code(), Some(0), "{}", told(&recorded));
    let cassette = "cassettes/recovers-from-a-hung-search-tool__claude-sonnet-4-5.json";
    assert!(!folder.read(cassette).contains(KEY), "secrets are masked");
    // The stand-in is gone by now: whatever asks it fails.
    let replayed = folder.run(&["suite.yml", "-v"], None);
    assert_eq!(replayed.status.code(), Some(0), "{}", told(&replayed));
    assert!(told(&replayed).contains("agent (claude-sonnet-4-5, replayed)"), "{}", told(&replayed));
    let gated = suite.replace("max_recovery_ms: 5000", "max_recovery_ms: 1000");
    for (changed, status, text) in [
        (gated, 1, "recovered too late: 1 timeout took 3000 ms (virtual), the budget is 1000 ms"),
        (suite.replace("latest incident", "last incident"), 2, "what the user says differs from turn 1 on"),
        (suite.replace("kind: hang", "kind: wedged"), 2, "the faults were hung-search=hang on *.search"),
        (
            suite.replace("servers: [faulty]", "servers: [faulty]\n    max_turns: 3"),
            2,
            "the budgets of the agent are others",
        ),
        (
            suite.replace("servers: [faulty]", "servers: [faulty]\n    system_prompt: Hi."),
            2,
            "the system prompt is another",
        ),
    ] {
        folder.write("suite.yml", &changed);
        let run = folder.run(&["suite.yml"], None);
        assert_eq!(run.status.code(), Some(status), "{text}: {}", told(&run));
        assert!(told(&run).contains(text), "{text}: {}", told(&run));
    }
    folder.write("suite.yml", &suite);
    let manifest = folder.read("incidents.yml").replace("Searches incident reports.", "Searches reports.");
    folder.write("incidents.yml", &manifest);
    let drifted = folder.run(&["suite.yml"], None);
    assert_eq!(drifted.status.code(), Some(2));
    assert!(told(&drifted).contains("the tool `search` has changed"), "{}", told(&drifted));
}

#[test]
fn a_model_that_cannot_be_asked_is_the_end_of_its_case_only() {
    let folder = Folder::new();
    let error = |message: &str| json!({"type": "error", "error": {"message": message}});
    let mut answers = vec![(401, error("invalid x-api-key"))];
    answers.extend((0..5).map(|_| (500, error("overloaded"))));
    answers.push((200, json!({"choices": []})));
    let (address, _asked) = stand_in(answers);
    let agent = |name: &str| format!("  - {{name: {name}, model: claude-sonnet-4-5, prompt: hi}}\n");
    let scripted = "  - {name: fine, model: script, prompt: hi, script: [{say: hello}]}\n";
    let suite = format!(
        "servers: {{m: {{mock: incidents.yml}}}}\nproviders: {{anthropic: {{base_url: \"{address}\"}}}}\nagents:\n{}{}{}{scripted}",
        agent("refused"),
        agent("broken"),
        agent("other dialect")
    );
    folder.write("suite.yml", &suite);
    let run = folder.run(&["suite.yml"], Some(KEY));
    assert_eq!(run.status.code(), Some(2));
    let told = told(&run);
    assert!(told.contains("the key was refused (HTTP 401): invalid x-api-key"), "{told}");
    assert!(told.contains("check the key in the environment variable `ANTHROPIC_API_KEY`"), "{told}");
    assert!(told.contains("the provider failed (HTTP 500): overloaded (asked 5 times)"), "{told}");
    assert!(told.contains("has no `content`"), "{told}");
    assert!(told.contains("PASS  fine") && told.contains("4 cases: 1 passed, 3 could not run"), "{told}");
}

#[test]
fn every_budget_ends_a_run_with_its_trace() {
    let folder = Folder::new();
    let looping = "script: [{call: {tool: search, args: {query: x}}, repeat: forever}]";
    let suite = format!(
        "servers: {{m: {{mock: incidents.yml}}}}\nagents:\n\
         \x20 - {{name: turns, model: script, prompt: hi, max_turns: 2, {looping}}}\n\
         \x20 - {{name: calls, model: script, prompt: hi, max_tool_calls: 1, {looping}}}\n\
         \x20 - {{name: script, model: script, prompt: hi, script: [{{call: {{tool: search, args: {{query: x}}}}}}]}}\n\
         \x20 - name: wanted\n    model: script\n    prompt: hi\n    max_turns: 2\n    {looping}\n    \
         expect: [{{target: conversation.stop_reason, matcher: {{exact: turn_budget}}}}]\n"
    );
    folder.write("suite.yml", &suite);
    let run = folder.run(&["suite.yml"], None);
    assert_eq!(run.status.code(), Some(1));
    let told = told(&run);
    for text in [
        "the agent did not finish: the model answered 2 times without coming to an end; 2 calls were made",
        "the agent did not finish: it asked for more than the 1 calls it may make; 1 call was made",
        "the agent did not finish: the script ran out without `say`; 1 call was made",
        "PASS  wanted",
        "4 cases: 1 passed, 3 failed",
    ] {
        assert!(told.contains(text), "{text}: {told}");
    }
}

#[test]
fn several_servers_turns_and_runs_work_together() {
    let folder = Folder::new();
    let manifest = "mock_server:\n  tools:\n    - {name: search, response: 'from the web'}\n    - {name: post, response: 'posted ${args.text}'}\n";
    folder.write("web.yml", manifest);
    folder.write(
        "suite.yml",
        "servers:
  reports: {mock: incidents.yml}
  web: {mock: web.yml}
faults:
  - {name: web-down, target: {server: web, tool: post}, kind: recover_after, failures: 1}
agents:
  - name: two at once
    model: script
    servers: [reports, web]
    inject: [web-down]
    runs: 2
    prompt: Look everywhere.
    turns: [{user: Now post it.}, {user: Again.}]
    script:
      - call: [{server: reports, tool: search, args: {query: x}}, {server: web, tool: search}]
      - say: 'Both: {{results[1].text}}'
      - call: {tool: post, args: {text: one}}
      - say: '{{last.text}}'
      - call: {tool: post, args: {text: two}}
      - say: '{{last.text}}'
    recovery: {max_detection_ms: 100}
    tool_selection: {expected_tool: post, min_selection_rate: 0.5}
    trajectory: [{type: order, tools: [search, post]}]
    expect:
      - {target: 'conversation.turns[0].response', matcher: {exact: 'Both: from the web'}}
      - {target: 'conversation.turns[1].response', matcher: {contains: did not respond within 100 ms}}
      - {target: final_response, matcher: {exact: posted two}}
      - {target: 'tool_calls[1].server', matcher: {exact: web}}
      - {target: 'tool_calls[1].hop_index', matcher: {exact: 0}}
      - {target: tool_names, matcher: {exact: [search, search, post, post]}}
  - name: which server
    model: script
    servers: [reports, web]
    prompt: Look.
    script: [{call: {tool: search}}, {say: x}]
  - name: no such tool
    model: script
    servers: [web]
    prompt: Look.
    script: [{call: {tool: serch}}, {when: {contains: there is no tool `serch`}, say: I erred.}]
    expect: {equals: I erred.}
  - name: a protocol error is an error of the tool
    model: script
    servers: [reports]
    prompt: Look.
    script: [{call: {tool: search}}, {when: {contains: 'error -32602'}, say: I forgot the query.}]
    expect:
      - {target: final_response, matcher: {exact: I forgot the query.}}
      - {target: 'tool_results[0].result.error.code', matcher: {exact: -32602}}
",
    );
    let run = folder.run(&["suite.yml", "-v"], None);
    let told = told(&run);
    assert!(told.contains("the tool `search` is of reports and web"), "{told}");
    assert!(told.contains("5 trials of 4 cases: 4 passed, 1 failed"), "{told}");
    assert!(told.contains("pass@k: 3/4 capable, pass^k: 3/4 reliable"), "{told}");
    assert_eq!(run.status.code(), Some(1));
}

#[test]
fn calls_of_one_answer_are_made_side_by_side_and_a_server_that_hangs_is_given_up() {
    let folder = Folder::new();
    let slow = "mock_server:\n  tools:\n    - {name: slow, response: done, fault: 'slow:1000'}\n    - {name: hung, response: never, fault: hang}\n";
    folder.write("slow.yml", slow);
    folder.write(
        "suite.yml",
        "servers: {a: {mock: slow.yml}, b: {mock: slow.yml}}
agents:
  - name: four at once
    model: script
    servers: [a, b]
    prompt: hi
    script:
      - call: [{server: a, tool: slow}, {server: a, tool: slow}, {server: b, tool: slow}, {server: b, tool: slow}]
      - say: '{{last.text}}'
    expect:
      - {target: final_response, matcher: {regex: '^done\\ndone\\ndone\\ndone$'}}
      - {target: conversation.duration_ms, matcher: {between: [1000, 1900]}}
  - name: a real hang
    model: script
    servers: [a]
    prompt: hi
    script: [{call: {tool: hung}}, {when: error, say: It hangs.}]
    recovery: {max_detection_ms: 150, max_recovery_ms: 150, require_clean_timeout: true}
    expect: {equals: It hangs.}
",
    );
    let run = folder.run(&["suite.yml", "-v"], None);
    assert_eq!(run.status.code(), Some(0), "{}", told(&run));
    assert!(told(&run).contains("recovered in 150 ms (virtual) after 1 timeout"), "{}", told(&run));
}

#[test]
fn a_server_of_the_command_line_takes_the_place_of_the_suites() {
    let folder = Folder::new();
    let agent = "agents: [{name: a, model: script, prompt: hi, script: [{call: {tool: read, args: {id: 4}}}, {say: '{{last.text}}'}], expect: {contains: Report 4}}]\n";
    let command = "mcprove mock --tools-from incidents.yml";
    for servers in ["", "servers: {m: {command: does-not-exist}}\n"] {
        folder.write("suite.yml", &format!("{servers}{agent}"));
        let run = folder.run(&["suite.yml", "--server", command], None);
        assert_eq!(run.status.code(), Some(0), "{}", told(&run));
    }
}

#[test]
fn the_share_of_runs_that_choose_a_tool_is_judged_in_the_end() {
    let folder = Folder::new();
    let agent = |name: &str, rest: &str| {
        format!(
            "  - {{name: {name}, model: script, prompt: hi, runs: 2, {rest}, script: [{{call: {{tool: archive, args: {{query: x}}}}}}, {{say: x}}]}}\n"
        )
    };
    let suite = format!(
        "servers: {{m: {{mock: incidents.yml}}}}\nagents:\n{}{}",
        agent("wrong", "tool_selection: {expected_tool: search, min_selection_rate: 0.5}"),
        agent("equal", "equal_function_sets: [[search, archive]], tool_selection: {expected_tool: search}")
    );
    folder.write("suite.yml", &suite);
    let run = folder.run(&["suite.yml"], None);
    assert_eq!(run.status.code(), Some(1), "{}", told(&run));
    assert!(told(&run).contains("`wrong` chose `search` in 0 of 2 runs"), "{}", told(&run));
    assert!(!told(&run).contains("`equal` chose"), "{}", told(&run));
}

#[test]
fn a_fault_whose_tool_nobody_lists_stops_the_case_before_its_model_is_asked() {
    let folder = Folder::new();
    folder.write(
        "suite.yml",
        "servers: {m: {mock: incidents.yml}}
faults: [{name: hung, target: {tool: serch}, kind: hang}]
agents:
  - {name: a, model: script, prompt: hi, inject: [hung], script: [{say: '{{last.text}}'}]}
  - {name: b, model: script, prompt: hi, script: [{say: fine}]}
",
    );
    let run = folder.run(&["suite.yml"], None);
    assert_eq!(run.status.code(), Some(2));
    let told = told(&run);
    assert!(told.contains("the fault `hung` is for the tool `serch`, which no server of this agent lists"), "{told}");
    assert!(told.contains("did you mean `search`?") && !told.contains("leads nowhere"), "{told}");
    assert!(told.contains("PASS  b"), "{told}");
}

#[test]
fn a_thousand_scripted_agents_take_no_time() {
    let folder = Folder::new();
    let mut suite =
        "servers: {m: {mock: incidents.yml}}\nfaults: [{name: hung, target: {tool: search}, kind: hang}]\nagents:\n"
            .to_owned();
    for number in 0..1_000 {
        write!(
            suite,
            "  - name: agent {number}\n    model: script\n    prompt: hi\n    inject: [hung]\n    script:\n      - call: {{tool: search, args: {{query: x}}}}\n      - call: {{tool: read, args: {{id: {number}}}}}\n      - say: '{{{{last.text}}}}'\n    recovery: {{max_detection_ms: 3000}}\n    expect: {{contains: 'Report {number}:'}}\n"
        )
        .expect("text grows");
    }
    folder.write("suite.yml", &suite);
    // Were the hang slept through in every case, it would take an hour, and nextest ends such a test.
    let run = folder.run(&["suite.yml", "-q"], None);
    assert_eq!(run.status.code(), Some(0), "{}", told(&run));
}

#[test]
fn a_fault_that_is_over_leaves_the_call_to_the_next_and_none_is_named_twice() {
    let folder = Folder::new();
    let suite = |inject: &str, calls: u8, recovery: &str| {
        format!(
            "servers: {{incidents: {{mock: incidents.yml}}}}\nfaults:\n  \
             - {{name: once, kind: recover_after, failures: 1, target: {{tool: search}}}}\n  \
             - {{name: hung, kind: hang, target: {{tool: search}}}}\nagents:\n  - name: a\n    model: script\n    \
             servers: [incidents]\n    prompt: Go on.\n    inject: {inject}\n    script:\n      \
             - {{call: {{tool: search, args: {{query: x}}}}, repeat: {calls}}}\n      - say: Done.\n    \
             recovery: {{max_detection_ms: 100{recovery}}}\n"
        )
    };
    folder.write("suite.yml", &suite("[once, hung]", 2, ""));
    let run = folder.run(&["suite.yml", "-v"], None);
    assert_eq!(run.status.code(), Some(0), "{}", told(&run));
    assert!(told(&run).contains("after 2 timeouts"), "{}", told(&run));
    folder.write("suite.yml", &suite("[hung, hung]", 1, ""));
    let run = folder.run(&["suite.yml"], None);
    assert_eq!(run.status.code(), Some(2), "{}", told(&run));
    assert!(told(&run).contains("`inject` names the fault `hung` twice"), "{}", told(&run));
    let unhit = suite("[hung]", 1, ", allow_unhit: true")
        .replace("{call: {tool: search, args: {query: x}}, repeat: 1}", "{when: error, say: no}");
    folder.write("suite.yml", &unhit);
    let run = folder.run(&["suite.yml", "-v"], None);
    assert_eq!(run.status.code(), Some(0), "{}", told(&run));
    assert!(told(&run).contains("no fault was hit") && !told(&run).contains("recovered in"), "{}", told(&run));
}
