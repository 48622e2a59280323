//! Model-graded checks and measures of agents: each in a test that passes and in one that fails.

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::thread;

use super::{Served, assert_verdicts, folder, mcprove, verdicts};
use crate::agents::read_body;

const SERVER: &str = "servers:\n  example: {mock: tests/example-server.yml}\n";

/// A test of `tools` that greets Ann, with this matcher at its text.
fn greeting(name: &str, matcher: &str) -> String {
    let expect = format!("expect: [{{target: \"result.content[0].text\", matcher: {matcher}}}]");
    format!("  - {{name: {name}, tool: say_hello, args: {{name: Ann}}, {expect}}}\n")
}

#[test]
fn scripted_judges_decide_every_model_graded_matcher() {
    let judged = |name: &str, keys: &str, score: f64| {
        greeting(
            &format!("{name} {score}"),
            &format!("{{{name}: {{{keys}, model: script, script: [{{score: {score}}}]}}}}"),
        )
    };
    let (mut tests, mut expected) = ("tools:\n".to_owned(), Vec::new());
    for (name, keys) in [
        ("llm-judge", "rubric: It greets."),
        ("llm-judge", "rubric: It greets., samples: 3, threshold: 0.8"),
        ("factuality", "reference: Ann is greeted."),
        ("answer-relevance", "query: Who is greeted?"),
        ("context-faithfulness", "context: Ann is here."),
    ] {
        let name_of = |score: &str| format!("{name} {score}");
        if expected.contains(&format!("{} PASS", name_of("0.9"))) {
            continue;
        }
        tests.push_str(&judged(name, keys, 0.9));
        tests.push_str(&judged(name, keys, 0.2));
        expected.extend([format!("{} PASS", name_of("0.9")), format!("{} FAIL", name_of("0.2"))]);
    }
    let criteria = |met: bool| {
        let list = "[{name: short, require: It is short.}, {name: kind, require: It is kind.}]";
        format!(
            "{{llm-judge: {{rubric: r, criteria: {list}, model: script, script: [{{criteria: {{short: true, kind: {met}}}}}]}}}}"
        )
    };
    tests.push_str(&greeting("met", &criteria(true)));
    tests.push_str(&greeting("not met", &criteria(false)));
    expected.extend(["met PASS".to_owned(), "not met FAIL".to_owned()]);
    assert_verdicts(&tests, &expected.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn juries_have_a_quorum_and_targets() {
    let jury = |name: &str, scores: [f64; 2], quorum: f64| {
        let juror = |score: f64| format!("{{model: script, script: [{{score: {score}}}]}}");
        let jurors = format!("[{}, {}]", juror(scores[0]), juror(scores[1]));
        let matcher = format!("{{llm-jury: {{rubric: r, quorum: {quorum}, jurors: {jurors}}}}}");
        let agreement = "{target: jury.agreement, matcher: {gte: 0.7}}";
        greeting(name, &matcher).replace("}}]}", &format!("}}}}, {agreement}]}}"))
    };
    let tests = format!(
        "tools:\n{}{}{}",
        jury("agreed", [0.9, 0.8], 1.0),
        jury("outvoted", [0.9, 0.6], 1.0),
        jury("split", [1.0, 0.0], 0.5)
    );
    assert_verdicts(&tests, &["agreed PASS", "outvoted FAIL", "split FAIL"]);
}

#[test]
fn the_judge_of_the_suite_grades_evals_agents_and_compositions() {
    let suite = r"
judge: {model: script, script: [{contains: Hello, score: 0.9, reasoning: it greets}, {score: 0.1, reasoning: it does not}]}
rubrics:
  warm: {criteria: [{name: greets, description: It greets., weight: 2}, {name: rude, description: It is rude., guard: true}]}
  tree: {tree: {ask: Does it greet?, yes: {score: 1}, no: {score: 0}}}
evals:
  - {name: text, prompt: Greet., response: Hello!, rubric: It greets.}
  - {name: text fails, prompt: Greet., response: Bye., rubric: It greets.}
  - {name: criteria, prompt: Greet., response: Hi., rubric: {ref: warm}, judge: {model: script, script: [{criteria: {greets: 1, rude: 0}}]}}
  - {name: guarded, prompt: Greet., response: Hi., rubric: {ref: warm}, judge: {model: script, script: [{criteria: {greets: 1, rude: 1}}]}}
  - {name: tree, prompt: Greet., response: Hello!, rubric: {ref: tree}}
  - {name: tree fails, prompt: Greet., response: Bye., rubric: {ref: tree}}
  - {name: panel, prompt: Greet., response: Hello!, rubric: {preset: helpfulness}, judge: {model: script, panel: [script, script]}}
compositions:
  - {name: graph, nodes: [{id: a, tool: t, mock: {result: {say: Hello}}}], eval: {mcp_task_completion: {threshold: 0.8}}}
  - {name: graph fails, nodes: [{id: a, tool: t, mock: {result: {say: Bye}}}], eval: {mcp_use: {}}}
agents:
  - {name: agent, model: script, prompt: Greet Ann., script: [{call: {tool: say_hello, args: {name: Ann}}}, {say: Done}], eval: {mcp_use: {strict: false}, plan_quality: {}}}
  - {name: agent fails, model: script, prompt: Greet Ann., script: [{say: Done}], eval: {argument_correctness: {}}}
  - {name: turns, model: script, turns: [Hello, {user: Bye}], script: [{say: a}, {say: b}], eval: {multi_turn_mcp_use: {threshold: 0.5}}}
  - {name: turns fail, model: script, turns: [Hello, {user: Bye}], script: [{say: a}, {say: b}], eval: {multi_turn_mcp_use: {threshold: 0.6}}}
";
    let expected = [
        "text PASS",
        "text fails FAIL",
        "criteria PASS",
        "guarded FAIL",
        "tree PASS",
        "tree fails FAIL",
        "panel PASS",
        "graph PASS",
        "graph fails FAIL",
        "agent PASS",
        "agent fails FAIL",
        "turns PASS",
        "turns fail FAIL",
    ];
    assert_verdicts(suite, &expected);
}

#[test]
fn a_judge_without_a_key_is_an_error_and_no_model_skips_visibly() {
    let named = greeting("named", "{llm-judge: {rubric: r, model: claude-sonnet-4-5}}");
    let unnamed = greeting("unnamed", "{llm-judge: {rubric: r}}");
    let unknown = greeting("unknown", "{llm-judge: {rubric: r, model: a}}");
    let mixed = greeting("mixed", "{llm-judge: {rubric: r, model: claude-sonnet-4-5}}")
        .replace("expect: [", "expect: [{target: result.isError, matcher: {exists: false}}, ");
    let folder = folder(&[("suite.yaml", &format!("{SERVER}tools:\n{named}{unnamed}{unknown}{mixed}"))]);
    let output = mcprove(folder.path(), &["run", "suite.yaml"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("ANTHROPIC_API_KEY") && text.contains("no judge is named"), "{text}");
    assert!(text.contains("it is not known who runs the judge `a`"), "{text}");
    let (found, all) = verdicts(folder.path(), &["suite.yaml", "--no-model"]);
    assert_eq!(found, ["named SKIP", "unnamed SKIP", "unknown SKIP", "mixed PASS"], "{all}");
    assert!(all.contains("model-graded, and `--no-model` leaves language models out"), "{all}");
    let output = mcprove(folder.path(), &["run", "suite.yaml", "--no-model"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("model-graded: not judged"), "{text}");
}

#[test]
fn a_language_model_grades_over_http_and_every_report_says_so() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        let grades = [
            r#"{\"score\": 0.9, \"reasoning\": \"it greets\"}"#,
            r#"{\"score\": 0.1, \"reasoning\": \"it is cold\"}"#,
            "fine",
        ];
        for grade in grades {
            let Ok((mut stream, _)) = listener.accept() else { return };
            read_body(&mut stream);
            let body = format!(
                r#"{{"choices": [{{"message": {{"role": "assistant", "content": "{grade}"}}, "finish_reason": "stop"}}]}}"#
            );
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}",
                body.len()
            );
            stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).expect("writable");
        }
    });
    let providers = format!("providers: {{local: {{base_url: \"http://{address}/v1\"}}}}\njudge: {{model: small}}\n");
    let matcher = "{llm-judge: {rubric: It greets.}}";
    let tests = ["good", "bad", "no grade"].map(|name| greeting(name, matcher)).concat();
    let folder = folder(&[("suite.yaml", &format!("{SERVER}{providers}tools:\n{tests}"))]);
    let reports = ["--junit", "junit.xml", "--markdown", "report.md", "--tap", "report.tap", "--html", "page.html"];
    let output = mcprove(folder.path(), &[&["run", "suite.yaml"], &reports[..]].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(2), "{text}");
    for line in ["PASS  good (model-graded)", "FAIL  bad (model-graded)", "ERROR no grade (model-graded)", "it is cold"]
    {
        assert!(text.contains(line), "{line}: {text}");
    }
    for name in ["junit.xml", "report.md", "report.tap", "page.html"] {
        let report = fs::read_to_string(folder.path().join(name)).expect(name);
        assert!(report.contains("model-graded") && report.contains("it is cold"), "{name}");
    }
}

#[test]
fn measures_of_agents_pass_and_fail() {
    let agent = |name: &str, calls: &[&str], keys: &str| {
        let call = |tool: &&str| format!("{{call: {{tool: {tool}, args: {{name: Ann}}}}}}, ");
        let calls = calls.iter().map(call).collect::<Vec<_>>().concat();
        format!("  - {{name: {name}, model: script, prompt: Go., script: [{calls}{{say: Done}}], {keys}}}\n")
    };
    let mut tests = "agents:\n".to_owned();
    let mut expected = Vec::new();
    for (name, keys, good, bad) in [
        ("path", "golden_path: {calls: [say_hello, query]}", vec!["say_hello", "query"], vec!["query"]),
        ("edges", "tool_edges: {restricted: [broken]}", vec!["query"], vec!["broken"]),
        (
            "noise",
            "distractors: {count: 2, source: {from: near_duplicate, of: [query]}, correct: [query]}",
            vec!["query"],
            vec!["query_v2"],
        ),
        (
            "classes",
            "equal_function_sets: {classes: [{name: find, members: [query, example.page]}]}",
            vec!["page"],
            vec!["say_hello"],
        ),
        (
            "scores",
            "orchestration: {expect: [{target: orchestration.error_recovery, matcher: {gte: 100}}]}",
            vec!["query"],
            vec!["broken"],
        ),
        (
            "axes",
            "trajectory_axes: {order: [{first: query, second: page}]}",
            vec!["query", "page"],
            vec!["page", "query"],
        ),
    ] {
        tests.push_str(&agent(name, &good, keys));
        tests.push_str(&agent(&format!("{name} fails"), &bad, keys));
        expected.extend([format!("{name} PASS"), format!("{name} fails FAIL")]);
    }
    assert_verdicts(&tests, &expected.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn several_runs_and_models_are_judged_together() {
    let agent = |name: &str, repeat: u32, keys: &str| {
        let script = format!("[{{call: {{tool: query}}, repeat: {repeat}}}, {{say: Done}}]");
        format!("  - {{name: {name}, model: script, prompt: Go., script: {script}, {keys}}}\n")
    };
    let half = "threshold: 0.1, expect: [{target: final_response, matcher: {exact: Done}}, {target: final_response, matcher: {exact: No}}]";
    let of =
        |keys: &str, repeat: u32| folder(&[("suite.yaml", &format!("{SERVER}agents:\n{}", agent("a", repeat, keys)))]);
    for (keys, repeat, code, said) in [
        ("runs: 2, stability: {}".to_owned(), 1, 0, ""),
        ("runs: 2, stability: {}".to_owned(), 4, 1, "stability.weakest_score"),
        (
            format!("matrix_assert: {{max_score: 0.5, select_best: true}}, {half}"),
            1,
            0,
            "the best model of `a` is `script`",
        ),
        (format!("matrix_assert: {{max_score: 0.8}}, {half}"), 1, 1, "reaches `max_score`"),
    ] {
        let output = mcprove(of(&keys, repeat).path(), &["run", "suite.yaml"]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{keys}: {text}");
        assert!(text.contains(said), "{keys}: {text}");
    }
    let one = of("stability: {}", 1);
    assert_eq!(mcprove(one.path(), &["run", "suite.yaml"]).status.code(), Some(2));
}

#[test]
fn errors_stand_in_for_answers_and_users_are_scripted() {
    let suite = r"
fixtures: {errors: [{name: limited, code: -32001, message: slow down, applies_to: any}]}
model_compatibility: [small]
tools:
  - {name: e, tool: query, inject_error: limited, expect: [{target: error.code, matcher: {exact: -32001}}]}
  - {name: f, tool: query, inject_error: limited, expect: [{target: error.code, matcher: {exact: -32002}}]}
  - {name: unexpected, tool: query, inject_error: limited}
agents:
  - {name: u, model: script, turns: {simulate: {goal: Be greeted., script: [Hello, Bye]}}, script: [{say: a}, {say: b}], expect: [{target: conversation.turns.length, matcher: {exact: 2}}]}
  - {name: v, model: script, turns: {simulate: {goal: Be greeted., max_turns: 1, script: [Hello, Bye]}}, script: [{say: a}], expect: [{target: conversation.turns.length, matcher: {exact: 2}}]}
";
    assert_verdicts(suite, &["e PASS", "f FAIL", "unexpected FAIL", "u PASS", "v FAIL"]);
    let folder = folder(&[("suite.yaml", &format!("{SERVER}{suite}"))]);
    let (found, _) = verdicts(folder.path(), &["suite.yaml", "--tag", "model:small", "--filter", "e"]);
    assert!(!found.is_empty());
    let wrong = suite.replace("inject_error: limited, expect", "inject_error: limitd, expect");
    fs::write(folder.path().join("suite.yaml"), format!("{SERVER}{wrong}")).expect("written");
    assert_eq!(mcprove(folder.path(), &["validate", "suite.yaml"]).status.code(), Some(2));
}

#[test]
fn headers_of_responses_are_judged_over_http_only() {
    let served = Served::start(folder(&[]).path());
    let server = format!("servers:\n  web: {{url: \"{}\"}}\n  pipe: {{mock: tests/example-server.yml}}\n", served.url);
    let test = |name: &str, server: &str, expect: &str| {
        format!("  - {{name: {name}, server: {server}, tool: query, expect: {{{expect}}}}}\n")
    };
    let tests = [
        test("type", "web", "response_headers: {content-type: {regex: json|event-stream}}"),
        test("wrong type", "web", "response_headers: {content-type: text/html}"),
        test("no cookie", "web", "response_headers_absent: [set-cookie]"),
        test("no type", "web", "response_headers_absent: [content-type]"),
        test("no web", "pipe", "response_headers_absent: [set-cookie]"),
    ];
    let folder = folder(&[("suite.yaml", &format!("{server}tools:\n{}", tests.concat()))]);
    let (found, all) = verdicts(folder.path(), &["suite.yaml"]);
    assert_eq!(found, ["type PASS", "wrong type FAIL", "no cookie PASS", "no type FAIL", "no web FAIL"], "{all}");
}

#[test]
fn a_suite_may_store_its_snapshots_anew() {
    let test = |update: bool| {
        let expect = format!(
            "assertions: [{{target: \"result.content[0].text\", matcher: {{snapshot: s}}}}], snapshot: {{update: {update}}}"
        );
        format!("{SERVER}tools:\n  - {{name: t, tool: query, expect: {{{expect}}}}}\n")
    };
    let folder = folder(&[("suite.yaml", &test(false))]);
    assert_eq!(verdicts(folder.path(), &["suite.yaml"]).0, ["t FAIL"]);
    fs::write(folder.path().join("suite.yaml"), test(true)).expect("written");
    assert_eq!(verdicts(folder.path(), &["suite.yaml"]).0, ["t PASS"]);
    fs::write(folder.path().join("suite.yaml"), test(false)).expect("written");
    assert_eq!(verdicts(folder.path(), &["suite.yaml"]).0, ["t PASS"]);
}
