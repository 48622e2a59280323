//! Suites of recorded requests.

use mcprove_model::Remote;

use super::*;

fn call(tool: &str, args: Value, outcome: Option<Result<Value, Value>>) -> RecordedCall {
    RecordedCall { tool: tool.to_owned(), args, outcome, elapsed_us: 1_000 }
}

fn said(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

#[test]
fn only_what_will_come_again_is_asked_for() {
    let failed = Some(Ok(json!({"content": [{"type": "text", "text": "no such file"}], "isError": true})));
    let calls = vec![
        call("echo", json!({"text": "hi ${x} 7"}), Some(Ok(said("hi ${x} 7")))),
        call("clock", json!({}), Some(Ok(said("it is 12:30")))),
        call("clock", json!({}), Some(Ok(said("it is 12:31")))),
        call("sum", json!({"a": 1}), Some(Ok(said("the sum is 42")))),
        call("sum", json!({"a": 1}), Some(Ok(said("the sum is 42")))),
        call("read", json!({"path": "x"}), failed),
        call("gone", json!({}), Some(Err(json!({"code": -32602, "message": "no"})))),
        call("hung", json!({}), None),
        RecordedCall { elapsed_us: 9_500_000, ..call("slow", json!({}), Some(Ok(json!({"content": []})))) },
    ];
    let target = Target::Remote {
        transport: Remote::Http,
        url: "http://127.0.0.1:1/mcp".to_owned(),
        headers: vec![("X-Api-Key".to_owned(), "secret".to_owned())],
    };
    let server = ServerSpec { target, ..ServerSpec::default() };
    let WrittenSuite { text, requests } = suite_of(&Recorded { server, calls, ..Recorded::default() });
    assert_eq!(requests, 8);
    let expected = "# Recorded by `mcprove intercept`: the requests of a client, in order, on one server.\n\
                    # Left out, because no final answer was recorded: hung.\n\
                    # The server takes from the environment: MCP_X_API_KEY.\n";
    assert!(text.starts_with(&(editor_line("suite") + expected)), "{text}");
    let source = mcprove_model::SourceFile::new("s.yaml", text.as_str());
    let (documents, findings) = yaml::parse(&source);
    assert!(findings.is_empty(), "{findings:?}");
    let suite = documents[0].to_json();
    assert_eq!(suite["servers"]["server"]["headers"]["X-Api-Key"], "${MCP_X_API_KEY}");
    let expects: Vec<&Value> = suite["assert"].as_array().expect("tests").iter().map(|test| &test["expect"]).collect();
    assert_eq!(*expects[0], json!({"not_error": true, "contains": ["hi $${x} 7"]}));
    assert_eq!(*expects[1], json!({"not_error": true, "not_empty": true}));
    assert_eq!(*expects[3], json!({"not_error": true, "not_empty": true}));
    assert_eq!(*expects[4], json!({"not_error": true, "contains": ["the sum is 42"]}));
    assert_eq!(*expects[5], json!({"is_error": true, "contains": ["no such file"]}));
    assert_eq!(*expects[6], json!({"protocol_error": -32602}));
    assert_eq!(suite["assert"][4]["name"], "sum {\"a\":1} (2)");
    assert_eq!(suite["assert"][7]["timeout"], "40s");
}

/// Writes the suite of a server with a variable, and reads it again.
fn read_back(value: &str, calls: Vec<RecordedCall>) -> (String, Value) {
    let target = Target::Stdio {
        command: "run".to_owned(),
        args: Vec::new(),
        env: vec![("MODE".to_owned(), value.to_owned())],
        cwd: None,
        docker: None,
    };
    let server = ServerSpec { target, ..ServerSpec::default() };
    let secrets = Redactor::new([value, "unnamed-one"]);
    let WrittenSuite { text, .. } = suite_of(&Recorded { server, calls, secrets, ..Recorded::default() });
    let (documents, findings) = yaml::parse(&mcprove_model::SourceFile::new("s.yaml", text.as_str()));
    assert!(findings.is_empty(), "{findings:?}\n{text}");
    let suite = documents[0].to_json();
    (text, suite)
}

#[test]
fn requests_that_are_not_recorded_are_named() {
    let other_requests = BTreeMap::from([("completion/complete".to_owned(), 1), ("x/y".to_owned(), 2)]);
    let calls = vec![call("echo", json!({}), Some(Ok(said("hi"))))];
    let WrittenSuite { text, .. } = suite_of(&Recorded { calls, other_requests, ..Recorded::default() });
    let line = "# Left out, because no test repeats them: completion/complete, x/y (2 times).\n";
    assert!(text.contains(line), "{text}");
}

#[test]
fn a_secret_that_is_a_key_of_suites_breaks_nothing() {
    for word in ["server", "servers", "assert", "expect", "not_error", "per_file", "contains"] {
        let (text, suite) = read_back(word, vec![call("echo", json!({"text": "hi"}), Some(Ok(said("hi"))))]);
        assert_eq!(suite["servers"]["server"]["env"]["MODE"], "${MODE}", "{text}");
        assert_eq!(suite["assert"][0]["expect"], json!({"not_error": true, "contains": ["hi"]}), "{text}");
    }
}

#[test]
fn what_is_sent_names_variables_and_what_comes_back_with_secrets_is_not_asked_for() {
    let calls = vec![
        call("whoami", json!({"who": "hunter22 is: #me", "$": "${x}$hunter22"}), Some(Ok(said("hunter22 is: you")))),
        call("hunter22s", json!({}), Some(Ok(said("fine")))),
        call("whoami", json!({"who": "unnamed-one"}), Some(Ok(said("fine")))),
        call("whoami", json!({"hunter22": 1}), Some(Ok(said("fine")))),
    ];
    let (text, suite) = read_back("hunter22", calls);
    assert!(!text.contains("hunter22") && !text.contains("unnamed-one"), "{text}");
    let left_out = "# Left out, because secrets that no variable holds were sent: whoami, whoami.\n";
    assert!(text.contains(left_out), "{text}");
    let expected = json!([
        {
            "name": "whoami {\"who\":\"*** is: #me\",\"$\":\"$${x}$***\"}",
            "server": "server",
            "tool": "whoami",
            "args": {"who": "${secret:MODE} is: #me", "$": "$${x}$$${secret:MODE}"},
            "expect": {"not_error": true, "not_empty": true},
        },
        {
            "name": "***s",
            "server": "server",
            "tool": "${secret:MODE}s",
            "expect": {"not_error": true, "contains": ["fine"]},
        },
    ]);
    assert_eq!(suite["assert"], expected, "{text}");
}

#[test]
fn reads_come_before_the_first_call_or_after_the_call_they_followed() {
    let request = |method: &str, params: Value, result: Value, after_calls: usize| RecordedRequest {
        method: method.to_owned(),
        params,
        outcome: Some(Ok(result)),
        after_calls,
    };
    let note = |text: &str| json!({"contents": [{"uri": "note://a", "text": text}]});
    let prompt = json!({"messages": [{"role": "user", "content": {"type": "text", "text": "Review ${x}"}}]});
    let requests = vec![
        request("resources/read", json!({"uri": "note://a"}), note("empty"), 0),
        request("resources/read", json!({"uri": "note://a"}), note("at 12:30"), 1),
        request("prompts/get", json!({"name": "review", "arguments": {"language": "rust"}}), prompt, 1),
        RecordedRequest {
            outcome: Some(Err(json!({"code": -32002, "message": "gone"}))),
            ..request("resources/read", json!({"uri": "note://b"}), Value::Null, 1)
        },
        RecordedRequest { outcome: None, ..request("prompts/get", json!({"name": "hung"}), Value::Null, 1) },
    ];
    let calls = vec![call("write", json!({}), Some(Ok(said("fine"))))];
    let WrittenSuite { text, requests } = suite_of(&Recorded { calls, requests, ..Recorded::default() });
    assert_eq!(requests, 5);
    assert!(text.contains("# Left out, because no final answer was recorded: prompts/get hung.\n"), "{text}");
    let (documents, findings) = yaml::parse(&mcprove_model::SourceFile::new("s.yaml", text.as_str()));
    assert!(findings.is_empty(), "{findings:?}\n{text}");
    let suite = documents[0].to_json();
    let keys: Vec<&String> = suite.as_object().expect("a map").keys().collect();
    assert_eq!(keys, ["servers", "run_options", "resources", "assert", "prompts"]);
    assert_eq!(suite["resources"][0]["uri"], "note://a");
    assert_eq!(suite["resources"][0]["expect"], json!({"not_error": true, "contains": ["empty"]}));
    let verify = json!([
        {"read": "note://a", "expect": {"not_error": true, "not_empty": true}},
        {"read": "note://b", "expect": {"protocol_error": -32002}},
    ]);
    assert_eq!(suite["assert"][0]["verify"], verify);
    assert_eq!(suite["prompts"][0]["args"], json!({"language": "rust"}));
    assert_eq!(suite["prompts"][0]["expect"]["contains"], json!(["Review $${x}"]));
}
