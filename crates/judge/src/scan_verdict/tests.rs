//! Replies of real servers and the verdicts they get.

use mcprove_model::RpcError;
use serde_json::json;

use super::*;

fn judged(outcome: &Outcome) -> ScanJudgement {
    let arguments = json!({});
    judge_call(&ScanCall::of_tool(outcome, &arguments))
}

fn failed(text: &str) -> Outcome {
    Outcome::Result(json!({"isError": true, "content": [{"type": "text", "text": text}]}))
}

fn error(code: i64, message: &str) -> Outcome {
    Outcome::Error(RpcError { code, message: message.to_owned(), data: None })
}

#[test]
fn replies_have_verdicts() {
    let success = |text: &str| Outcome::Result(json!({"content": [{"type": "text", "text": text}]}));
    let fails = ToolVerdict::Fails;
    for (outcome, expected) in [
        (success("Berlin: 12 °C"), ToolVerdict::Works),
        (success(""), ToolVerdict::Works),
        (success("Error: Sheet 'x' not found"), ToolVerdict::ErrorAsSuccess),
        (failed("Sheet 'x' not found"), fails(FailureCause::InputNotFound)),
        (failed("Unauthorized"), fails(FailureCause::CredentialsMissing)),
        (failed("Error executing tool divide: division by zero"), ToolVerdict::Crashed),
        (
            failed(
                "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nConnectionError: connection refused",
            ),
            ToolVerdict::Crashed,
        ),
        (failed("value is too long"), fails(FailureCause::Other)),
        (error(-32603, "not authenticated"), fails(FailureCause::CredentialsMissing)),
        (error(-32603, "fetch failed"), fails(FailureCause::NetworkUnreachable)),
        (error(-32603, "Cannot read properties of undefined (reading 'x')"), ToolVerdict::Crashed),
        (error(-32603, "Internal error"), ToolVerdict::Crashed),
        (error(-32603, ""), ToolVerdict::Crashed),
        (error(-32603, "boom"), ToolVerdict::Crashed),
        (error(-32602, "expected a number"), fails(FailureCause::Other)),
        (
            error(-32602, "MCP error -32602: Invalid tools/call result: [{\"message\": \"Invalid input\"}]"),
            ToolVerdict::Crashed,
        ),
        (error(-32601, "Method not found"), ToolVerdict::Crashed),
        (Outcome::TimedOut { after_ms: 15_000 }, ToolVerdict::TimedOut),
    ] {
        let found = judged(&outcome);
        assert_eq!(found.verdict, expected, "{outcome:?}: {found:?}");
        assert_eq!(found.sentence.is_empty(), expected == ToolVerdict::Works, "{found:?}");
    }
}

#[test]
fn a_refusal_of_ours_is_never_the_servers_defect() {
    let arguments = json!({});
    let outcome = error(-32601, "Method not found: elicitation/create");
    let call = ScanCall { refused: Some("elicitation/create"), ..ScanCall::of_tool(&outcome, &arguments) };
    let found = judge_call(&call);
    assert_eq!(found.verdict, ToolVerdict::Fails(FailureCause::Refused));
    assert_eq!(found.sentence, "the tool needs `elicitation/create`, which mcprove refused");
    let success = Outcome::Result(json!({"content": [{"type": "text", "text": "fine"}]}));
    assert_eq!(judge_call(&ScanCall { outcome: &success, ..call }).verdict, ToolVerdict::Works);
}

#[test]
fn a_status_that_refuses_a_call_with_a_result_in_its_body_is_a_defect() {
    let refused = |status: u16, may_have_result: bool| {
        let refused = mcprove_model::Refused {
            what: format!("HTTP {status}"),
            help: None,
            evidence: Vec::new().into(),
            status: Some(status),
            may_have_result,
        };
        judged(&Outcome::Refused(refused)).verdict
    };
    assert_eq!(
        [401, 403].map(|status| refused(status, false)),
        [ToolVerdict::Fails(FailureCause::CredentialsMissing); 2]
    );
    assert_eq!([401, 403, 500].map(|status| refused(status, true)), [ToolVerdict::Crashed; 3]);
}

#[test]
fn structured_content_must_fit_the_output_schema() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let arguments = json!({});
    let verdict = |structured: Value| {
        let outcome = Outcome::Result(json!({"content": [], "structuredContent": structured}));
        judge_call(&ScanCall { output_schema: Some(&schema), ..ScanCall::of_tool(&outcome, &arguments) }).verdict
    };
    assert_eq!(verdict(json!({"n": 1})), ToolVerdict::Works);
    assert_eq!(verdict(json!({"n": "1"})), ToolVerdict::Fails(FailureCause::Other));
    let nothing = Outcome::Result(json!({"content": [{"type": "text", "text": "1"}]}));
    let judged =
        |schema| judge_call(&ScanCall { output_schema: schema, ..ScanCall::of_tool(&nothing, &arguments) }).verdict;
    assert_eq!(judged(Some(&schema)), ToolVerdict::Fails(FailureCause::Other));
    assert_eq!(judged(None), ToolVerdict::Works);
}

#[test]
fn a_success_that_clients_refuse_is_no_success() {
    let (arguments, outcome) = (json!({}), Outcome::Result(json!({"content": "nope"})));
    let call = ScanCall { shape_fault: Some("`/content` must be a list"), ..ScanCall::of_tool(&outcome, &arguments) };
    assert_eq!(judge_call(&call).verdict, ToolVerdict::Crashed);
}

#[test]
fn an_error_that_repeats_the_input_says_that_it_is_not_there() {
    let outcome = failed("Error executing tool git_log: /srv/mcprove-example");
    let verdict = |arguments: Value| judge_call(&ScanCall::of_tool(&outcome, &arguments)).verdict;
    assert_eq!(verdict(json!({"repo": "mcprove-example"})), ToolVerdict::Fails(FailureCause::InputNotFound));
    assert_eq!(verdict(json!({"repo": "example"})), ToolVerdict::Fails(FailureCause::Other));
    let outcome = failed("Path '/tmp/a-example.txt' must point to an Excel file");
    let verdict = |arguments: Value| judge_call(&ScanCall::of_tool(&outcome, &arguments)).verdict;
    assert_eq!(verdict(json!({"path": "/tmp/a-example.txt"})), ToolVerdict::Fails(FailureCause::InputNotFound));
}

#[test]
fn an_error_that_was_asked_for_is_an_answer() {
    let outcome = Outcome::Result(json!({"content": [{"type": "text", "text": "Error: Operation failed"}]}));
    let verdict = |arguments: Value| judge_call(&ScanCall::of_tool(&outcome, &arguments)).verdict;
    assert_eq!(verdict(json!({"messageType": "error"})), ToolVerdict::Works);
    assert_eq!(verdict(json!({"messageType": "debug"})), ToolVerdict::ErrorAsSuccess);
}

#[test]
fn an_error_about_arguments_that_no_schema_describes_proves_nothing() {
    let (arguments, outcome) = (json!({}), error(-32603, "Invalid resourceType: example. Must be Text or Blob."));
    let call = ScanCall { is_guess: true, ..ScanCall::of_tool(&outcome, &arguments) };
    assert_eq!(judge_call(&call).verdict, ToolVerdict::Fails(FailureCause::InputNotFound));
    assert_eq!(judge_call(&ScanCall { is_guess: false, ..call }).verdict, ToolVerdict::Crashed);
}
