//! Verdicts on the replies that servers give, the good ones above all.

use bytes::Bytes;
use mcprove_model::{Malformed, ProcessEnd};
use serde_json::json;

use super::*;

struct Call {
    outcome: Outcome,
    arguments: Value,
    alive_after: Option<bool>,
    accepted: bool,
}

fn judged(call: &Call) -> FuzzVerdict {
    verdict(&FuzzExchange {
        outcome: &call.outcome,
        arguments: &call.arguments,
        alive_after: call.alive_after,
        accepted: call.accepted,
        output_schema: None,
        environment_values: &EnvironmentValues::new(&["sk-live-12345abc".to_owned(), "production".to_owned()]),
    })
}

fn call(outcome: Outcome) -> Call {
    Call { outcome, arguments: json!({"path": "notes.txt"}), alive_after: None, accepted: true }
}

fn text(text: &str) -> Outcome {
    Outcome::Result(json!({"content": [{"type": "text", "text": text}]}))
}

fn failed(text: &str) -> Outcome {
    Outcome::Result(json!({"content": [{"type": "text", "text": text}], "isError": true}))
}

fn error(code: i64, message: &str) -> Outcome {
    Outcome::Error(RpcError { code, message: message.to_owned(), data: None })
}

#[test]
fn ordinary_replies_are_handled() {
    let benign = [
        "",
        "ok",
        "Error: path is required",
        "Invalid arguments for tool read: [{\"code\":\"invalid_type\",\"expected\":\"string\",\"received\":\"null\",\"path\":[\"path\"],\"message\":\"Expected string, received null\"}]",
        "MCP error -32602: Input validation error: Invalid arguments for tool echo: Invalid input: expected string, received undefined",
        "1 validation error for addArguments\na\n  Input should be a valid integer, unable to parse string as an integer [type=int_parsing, input_value='x', input_type=str]\n    For further information visit https://errors.pydantic.dev/2.12/v/int_parsing",
        "1 validation error for call[get_time]\ntimezone\n  Input should be a valid string [type=string_type, input_value=None, input_type=NoneType]",
        "Input validation error: None is not of type 'string'",
        "None is not of type 'string'\n\nFailed validating 'type' in schema['properties']['path']:\n    {'type': 'string'}\n\nOn instance['path']:\n    None",
        "Error processing mcp-server-time query: Invalid timezone: 'No time zone found with key x'",
        "ENOENT: no such file or directory, open '/tmp/fixture/notes.txt'",
        "Error: ENOENT: no such file or directory, stat '/private/tmp/x/../../etc/passwd'",
        "Access denied - path outside allowed directories: /etc/passwd not in /home/me/work",
        "must NOT have additional properties",
        "data/path must be string",
        "missing field `path` at line 1 column 2",
        "failed to deserialize parameters: invalid type: null, expected a string at line 1 column 12",
        "json: cannot unmarshal number into Go struct field args.path of type string",
        "division by zero",
        "Error: Division by zero is not allowed",
        "The value is out of range",
        "index must be between 0 and 10",
        "Unknown tool: x",
        "Resource not found at https://example.com/app.js",
        "Error at 12:30:15: nothing found",
        "Meeting at Stack Overflow office at 10:00",
        "undefined variable: foo",
        "foo is not a function in this language",
        "Undefined function foo",
        "SyntaxError: Unexpected token } in JSON at position 3",
        "Unexpected end of JSON input",
        "invalid regular expression: missing )",
        "the connection was refused by the upstream service",
        "HTTP 500 from upstream: Internal Server Error",
        "Rate limit exceeded, retry after 10 seconds",
        "Permission denied (os error 13)",
        "stream did not contain valid UTF-8",
        "file name contained an unexpected NUL byte",
        "ValueError: embedded null byte",
        "The argument 'path' must be a string without null bytes. Received '/tmp/a\\x00b'",
        "String must contain at most 100 character(s)",
        "in production",
        "TimeoutError: the request took longer than 5 s",
        "no such column: x",
        "near \"'\": syntax error",
        "git: fatal: not a git repository",
    ];
    for reply in benign {
        for outcome in [text(reply), failed(reply), error(-32602, reply), error(-32600, reply), error(-32000, reply)] {
            let told = format!("{outcome:?}");
            assert_eq!(judged(&call(outcome)), FuzzVerdict::Handled, "{told}");
        }
    }
}

#[test]
fn content_that_speaks_of_errors_is_content() {
    for reply in [
        "2024-01-01 ERROR app: TypeError: Cannot read properties of undefined\n    at run (/app/index.js:1:2)\n    at main (/app/index.js:3:4)\nretrying",
        "# Debugging\n\nA traceback looks like this:\n\nTraceback (most recent call last):\n  File \"/app/x.py\", line 1, in run\nKeyError: 'a'",
        "Found 3 issues:\n/srv/src/main.rs:3: unused variable\n/srv/src/lib.rs:10: panic: avoid",
        "{\"message\": \"Internal server error\", \"count\": 3}",
        "NullPointerException is thrown when a reference is null",
        "src/index.js\nlib/tool.py\n/usr/lib/node_modules/x/index.js",
    ] {
        assert_eq!(judged(&call(text(reply))), FuzzVerdict::Handled, "{reply}");
    }
}

#[test]
fn what_the_arguments_held_is_an_echo() {
    let nasty = "Traceback (most recent call last):\n  File \"/app/x.py\", line 1, in run\nTypeError: 'NoneType' object sk-live-12345abc /app/dist/index.js";
    for outcome in [text(nasty), failed(nasty), failed(&format!("not found: {nasty}")), error(-32602, nasty)] {
        let told = format!("{outcome:?}");
        let echoed = Call { arguments: json!({"deep": [nasty]}), ..call(outcome) };
        assert_eq!(judged(&echoed), FuzzVerdict::Handled, "{told}");
    }
}

#[test]
fn crashes_are_recognised() {
    let gone = Outcome::Closed {
        what: "the server exited with code 3".to_owned(),
        end: Some(ProcessEnd { code: Some(3), signal: None }),
    };
    let down = Outcome::Refused(Refused {
        what: "HTTP 500".to_owned(),
        help: None,
        evidence: Bytes::new(),
        status: Some(500),
        may_have_result: false,
    });
    for outcome in [
        gone,
        down,
        error(-32603, "Internal error"),
        error(-32603, "anything at all"),
        error(-32602, "Cannot read properties of null (reading 'x')"),
        failed("Cannot read properties of undefined (reading 'length')"),
        failed("Error executing tool add: 'NoneType' object is not iterable"),
        failed("Internal error"),
        text("Error: Cannot read properties of undefined (reading 'length')"),
    ] {
        let told = format!("{outcome:?}");
        assert_eq!(judged(&call(outcome)).kind(), "crash", "{told}");
    }
    let last_words = Call { alive_after: Some(false), ..call(text("ok")) };
    assert_eq!(judged(&last_words).kind(), "crash");
}

#[test]
fn a_refusal_under_the_wrong_code_is_no_crash() {
    let zod = "[\n  {\n    \"expected\": \"record\",\n    \"code\": \"invalid_type\",\n    \"path\": [\n      \"params\",\n      \"arguments\"\n    ],\n    \"message\": \"Invalid input: expected record, received null\"\n  }\n]";
    for message in [zod, "Validation error: a is required", "Invalid params"] {
        let refused = |accepted| judged(&Call { accepted, ..call(error(-32603, message)) }).kind();
        assert_eq!((refused(false), refused(true)), ("handled", "crash"), "{message}");
    }
}

#[test]
fn silence_is_a_hang_unless_a_ping_is_answered() {
    let silent = |alive_after| judged(&Call { alive_after, ..call(Outcome::TimedOut { after_ms: 5000 }) });
    assert_eq!(silent(Some(true)), FuzzVerdict::Slow);
    assert_eq!(silent(Some(false)), FuzzVerdict::Hang);
    assert_eq!(silent(None), FuzzVerdict::Hang);
}

#[test]
fn broken_replies_are_protocol_faults() {
    let malformed = Malformed { fault: "the reply lacks `jsonrpc`".to_owned(), evidence: Bytes::new() };
    for outcome in [
        Outcome::Malformed(malformed),
        Outcome::Result(json!(null)),
        Outcome::Result(json!({"content": "text"})),
        error(-32700, "Parse error"),
    ] {
        let told = format!("{outcome:?}");
        assert_eq!(judged(&call(outcome)).kind(), "protocol", "{told}");
    }
}

#[test]
fn leaks_are_recognised() {
    let trace = "boom\n    at Tool.run (/app/dist/index.js:3:7)\n    at main (/app/dist/index.js:9:1)";
    let data = RpcError { code: -32000, message: "boom".to_owned(), data: Some(json!({"stack": trace})) };
    for outcome in [
        failed(trace),
        Outcome::Error(data),
        failed("cannot load /srv/tool/src/handlers/read.py"),
        failed("bad key sk-live-12345abc"),
        text("env: KEY=sk-live-12345abc"),
        text("root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin"),
        text("Traceback (most recent call last):\n  File \"/app/x.py\", line 1, in run\nKeyError: 'a'"),
        Outcome::Result(json!({"content": [], "structuredContent": {"key": "sk-live-12345abc"}})),
    ] {
        let told = format!("{outcome:?}");
        assert_eq!(judged(&call(outcome)).kind(), "leak", "{told}");
    }
    let FuzzVerdict::Leak(evidence) = judged(&call(failed(trace))) else { panic!("a leak") };
    assert_eq!(evidence.stack, ["Tool.run", "main"]);
}

#[test]
fn success_on_invalid_input_and_wrong_output_are_told() {
    let invalid = |outcome| Call { accepted: false, ..call(outcome) };
    assert_eq!(judged(&invalid(text("done"))), FuzzVerdict::AcceptedInvalid);
    assert_eq!(judged(&invalid(failed("no"))), FuzzVerdict::Handled);
    assert_eq!(judged(&Call { arguments: Value::Null, ..invalid(text("done")) }), FuzzVerdict::Handled);
    let asks = Outcome::Result(json!({"resultType": "input_required", "requestState": "x"}));
    assert_eq!(judged(&invalid(asks)), FuzzVerdict::Handled);

    let schema = Oracle::new(&json!({"type": "object", "required": ["n"]})).expect("a schema");
    let with = |result: Value| {
        let outcome = Outcome::Result(result);
        let arguments = json!({});
        let seen = FuzzExchange {
            outcome: &outcome,
            arguments: &arguments,
            alive_after: None,
            accepted: true,
            output_schema: Some(&schema),
            environment_values: &EnvironmentValues::default(),
        };
        verdict(&seen).kind()
    };
    assert_eq!(with(json!({"content": [], "structuredContent": {"n": 1}})), "handled");
    assert_eq!(with(json!({"content": [], "structuredContent": {}})), "output-mismatch");
    assert_eq!(with(json!({"content": []})), "output-mismatch");
    assert_eq!(with(json!({"content": [], "isError": true})), "handled");
}

#[test]
fn refusals_and_cancellations_are_handled() {
    let judged_refusal = |status: u16, may_have_result: bool| {
        let what = format!("HTTP {status}");
        let refused = Refused { what, help: None, evidence: Bytes::new(), status: Some(status), may_have_result };
        judged(&call(Outcome::Refused(refused))).kind()
    };
    let refused = |status| judged_refusal(status, false);
    assert_eq!([400, 401, 403].map(|status| judged_refusal(status, true)), ["protocol"; 3]);
    assert_eq!([400, 413, 422].map(refused), ["handled"; 3]);
    assert_eq!([200, 202, 301].map(refused), ["protocol"; 3], "a success without an answer");
    assert_eq!([404, 500, 503].map(refused), ["crash"; 3]);
    assert_eq!(judged(&call(Outcome::Cancelled)), FuzzVerdict::Handled);
}

#[test]
fn evidence_is_one_bounded_harmless_line() {
    let FuzzVerdict::Crash(evidence) = judged(&call(error(-32603, &format!("\u{1b}[31m\n{}", "x".repeat(5000)))))
    else {
        panic!("a crash")
    };
    assert!(!evidence.message.contains(['\n', '\u{1b}']) && evidence.message.len() < 400);
}
