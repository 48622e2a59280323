//! Tool calls: results, structured output, wrong inputs, errors.

use std::collections::HashMap;

use mcprove_model::shorten;
use serde_json::Value;

use super::{BASE, C, D, E};
use crate::budgeted_schema::BudgetedSchema;
use crate::conformance::rule::{Level, Rule, Ruling};
use crate::conformance::{Answer, schemas};
use crate::output_schema::violation;

const NO_TOOL: &str = "no tool can be called safely";

pub(super) const RESULT: Rule = Rule {
    id: "mcp-tool-result",
    title: "answers calls with a list of content blocks",
    clauses: &["TOOL-06", "TOOL-18"],
    level: Level::Derived,
    section: "schema CallToolResult, CallToolRequestParams",
    why: "SDK clients reject the reply, so the model sees a protocol error in place of the result.",
    bad: r#"{"content":"done"}"#,
    good: r#"{"content":[{"type":"text","text":"done"}]}"#,
    blocked_by: &[super::HANDSHAKE, "mcp-tool-definition"],
    judge: result,
    ..BASE
};

fn result(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for step in evidence.all_steps().filter(|step| step.method() == "tools/call") {
        let Some(result) = step.answer().result() else { continue };
        let null = Value::Null;
        let params = step.sent_member("/params").unwrap_or(&null);
        if schemas::result_type("tools/call", params, result) != Some("CallToolResult") {
            continue;
        }
        ruling.ok();
        // What is wrong with structured content is reported by the rule about it.
        let mut plain = match result.as_object() {
            Some(map) => {
                let judged = map.iter().filter(|(key, _)| !matches!(key.as_str(), "structuredContent" | "_meta"));
                Value::Object(judged.map(|(key, value)| (key.clone(), value.clone())).collect())
            }
            None => result.clone(),
        };
        if let Some(map) = plain.as_object_mut()
            && evidence.revision >= E
            && !map.contains_key("resultType")
        {
            map.insert("resultType".to_owned(), Value::String("complete".to_owned()));
        }
        if let Some(fault) = schemas::fault(evidence.revision, "CallToolResult", &plain) {
            ruling.fail("TOOL-06", &step, fault);
        }
    }
    for step in evidence.all_steps().filter(|step| step.is("call")) {
        if matches!(step.answer(), Answer::Gone) {
            ruling.fail("TOOL-06", &step, format!("a call of `{}` ended the server", step.subject()));
        }
    }
    for step in evidence.steps("main", "call-bare") {
        let with = evidence.step("main", &format!("call:{}", step.subject()));
        if step.answer().is_error() && with.is_some_and(|step| step.answer().result().is_some()) {
            let words = step.answer().words();
            ruling.fail(
                "TOOL-18",
                &step,
                format!("a call of `{}` without `arguments` was answered with {words}", step.subject()),
            );
        }
    }
    if ruling.checked == 0 {
        ruling.not_testable(NO_TOOL);
    }
}

pub(super) const STRUCTURED: Rule = Rule {
    id: "mcp-structured-output",
    title: "returns structured content that fits the output schema",
    clauses: &["TOOL-07", "TOOL-09"],
    revisions: (C, E),
    section: "server/tools#output-schema",
    why: "SDK clients validate structured content and turn a mismatch into an error of the call.",
    bad: r#"outputSchema requires "temperature"; "structuredContent":{}"#,
    good: r#""structuredContent":{"temperature":21}"#,
    blocked_by: &[super::HANDSHAKE, "mcp-tool-output-schema", "mcp-tool-definition"],
    judge: structured,
    ..BASE
};

fn structured(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    let mut declared = false;
    // Of a tool that is listed again, the first definition counts.
    let mut schemas: HashMap<&str, &Value> = HashMap::new();
    for (_, tool) in evidence.listed("tools") {
        if let (Some(name), Some(schema)) = (tool["name"].as_str(), tool.get("outputSchema")) {
            schemas.entry(name).or_insert(schema);
        }
    }
    let mut compiled: HashMap<&str, Option<BudgetedSchema>> = HashMap::new();
    for step in evidence.all_steps().filter(|step| step.is("call") || step.is("retry")) {
        let Some(result) = step.answer().result() else { continue };
        if step.answer().is_tool_failure() || result.get("resultType").is_some_and(|kind| kind != "complete") {
            continue;
        }
        let content = result.get("structuredContent");
        if let Some(content) = content
            && evidence.revision <= D
            && !content.is_object()
        {
            ruling.fail("TOOL-09", &step, "`structuredContent` is not an object");
            continue;
        }
        let name = step.sent_member("/params/name").and_then(Value::as_str).unwrap_or_default();
        let Some(schema) = schemas.get(name) else { continue };
        if step.is_shortened() {
            continue;
        }
        declared = true;
        ruling.ok();
        match content {
            None => ruling.fail(
                "TOOL-07",
                &step,
                "the tool has an `outputSchema`, but the result has no `structuredContent`",
            ),
            Some(content) => {
                let schema = compiled.entry(name).or_insert_with(|| BudgetedSchema::new(schema).ok());
                if let Some(Ok(Some(fault))) = schema.as_ref().map(|schema| violation(schema, content)) {
                    ruling.fail(
                        "TOOL-07",
                        &step,
                        format!("`structuredContent` does not fit the `outputSchema`: {fault}"),
                    );
                }
            }
        }
    }
    if !declared {
        if schemas.is_empty() {
            ruling.not_applicable("no tool has an `outputSchema`");
        } else {
            ruling.not_testable("no tool with an `outputSchema` could be called successfully");
        }
    }
}

pub(super) const VALIDATES_INPUT: Rule = Rule {
    id: "mcp-validates-input",
    title: "refuses inputs that its own schemas reject",
    clauses: &["TOOL-10", "COMPL-05"],
    section: "server/tools#security-considerations; server/utilities/completion#security",
    why: "A model that makes a mistake gets a wrong result instead of a hint, and goes on with it.",
    bad: r#"tools/call {"name":"add","arguments":{"a":{}}} → {"content":[{"text":"NaN"}]}"#,
    good: r#"→ {"content":[{"text":"`a` must be a number"}],"isError":true}"#,
    blocked_by: &[super::HANDSHAKE, "mcp-tool-definition", "mcp-input-schema"],
    judge: validates_input,
    ..BASE
};

fn validates_input(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for step in evidence.steps("main", "wrong-input") {
        ruling.ok();
        let answer = step.answer();
        let is_success =
            answer.result().is_some_and(|result| result.get("resultType").is_none_or(|kind| kind == "complete"));
        if is_success && !answer.is_tool_failure() {
            let what = step.subject();
            ruling.fail("TOOL-10", &step, format!("an input that the schema rejects was executed: {what}"));
        }
    }
    for step in evidence.steps("main", "complete").into_iter().filter(|step| step.subject().starts_with("bad-")) {
        ruling.ok();
        if step.answer().result().is_some() {
            ruling.fail(
                "COMPL-05",
                &step,
                format!("an invalid completion request ({}) was answered with a result", step.subject()),
            );
        }
    }
    if ruling.checked == 0 {
        ruling.not_testable("no tool that can be called safely has constraints");
    }
}

pub(super) const UNKNOWN_TOOL: Rule = Rule {
    id: "mcp-unknown-tool",
    title: "answers unknown tools and malformed calls with an error",
    clauses: &["TOOL-11", "TOOL-13"],
    level: Level::Derived,
    section: "server/tools#error-handling",
    why: "A model that misspells a tool takes an ordinary result for success.",
    bad: r#"tools/call {"name":"no_such_tool"} → {"content":[{"type":"text","text":"ok"}]}"#,
    good: r#"→ {"error":{"code":-32602,"message":"unknown tool: no_such_tool"}}"#,
    judge: unknown_tool,
    ..BASE
};

fn unknown_tool(ruling: &mut Ruling<'_>) {
    for step in
        ruling.evidence.steps("main", "unknown-tool").into_iter().chain(ruling.evidence.steps("main", "malformed-call"))
    {
        ruling.ok();
        let answer = step.answer();
        let is_success = answer.result().is_some() && !answer.is_tool_failure();
        if is_success || matches!(answer, Answer::Silence | Answer::Gone | Answer::Other(_)) {
            let (clause, what) = if step.is("unknown-tool") {
                ("TOOL-11", "a call of an unknown tool".to_owned())
            } else {
                ("TOOL-13", format!("a malformed call ({})", step.subject()))
            };
            let words = answer.words();
            ruling.fail(clause, &step, format!("{what} was answered with {words}"));
        }
    }
    if ruling.checked == 0 {
        ruling.not_applicable("the server declares no tools");
    }
}

pub(super) const ERROR_STYLE: Rule = Rule {
    id: "mcp-error-style",
    title: "reports failures of tools as results, in short messages",
    clauses: &["TOOL-12", "TOOL-14", "RPC-22"],
    level: Level::Should,
    section: "server/tools#error-handling; schema CallToolResult.isError, Error",
    why: "A model sees results, not protocol errors; a stack trace shows internals and costs tokens.",
    bad: r#"tools/call → {"error":{"code":-32603,"message":"Traceback (most recent call last):\n…"}}"#,
    good: r#"tools/call → {"content":[{"type":"text","text":"the file does not exist"}],"isError":true}"#,
    judge: error_style,
    ..BASE
};

fn error_style(ruling: &mut Ruling<'_>) {
    for step in ruling.evidence.all_steps().filter(|step| step.id().is_some()) {
        let Answer::Error(error) = step.answer() else { continue };
        ruling.ok();
        let message = error["message"].as_str().unwrap_or_default();
        let is_trace = message.contains("Traceback (most recent call last)") || message.contains("\n    at ");
        if is_trace {
            ruling.warn("RPC-22", &step, format!("the error message is a stack trace: {}", shorten(message, 80)));
        } else if step.is("call") && step.answer().code() == Some(-32603) {
            ruling.warn(
                "TOOL-14",
                &step,
                format!("a failure of `{}` was reported as -32603, which the model does not see", step.subject()),
            );
        }
    }
}
