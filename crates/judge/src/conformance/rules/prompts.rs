//! Prompts.

use std::collections::BTreeSet;

use serde_json::Value;

use super::BASE;
use crate::conformance::rule::{Level, Rule, Ruling};
use crate::conformance::{Answer, schemas};

pub(super) const GETTABLE: Rule = Rule {
    id: "mcp-prompts-gettable",
    title: "serves every prompt it lists, well formed",
    clauses: &["PROMPT-01", "PROMPT-02", "PROMPT-03"],
    level: Level::Derived,
    section: "server/prompts#getting-a-prompt; schema Prompt, PromptMessage",
    why: "Hosts show prompts as commands; one that cannot be got is a command that fails.",
    bad: r#"{"messages":[{"role":"system","content":[…]}]}"#,
    good: r#"{"messages":[{"role":"user","content":{"type":"text","text":"…"}}]}"#,
    judge: gettable,
    ..BASE
};

fn gettable(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    let mut seen = BTreeSet::new();
    for (spot, prompt) in evidence.listed("prompts") {
        ruling.ok();
        let Some(name) = prompt["name"].as_str() else {
            ruling.at("PROMPT-01", true, spot, "a prompt has no string `name`");
            continue;
        };
        if !seen.insert((spot, name)) {
            ruling.at("PROMPT-01", true, spot, format!("the prompt `{name}` is listed twice"));
        }
        for argument in prompt["arguments"].as_array().into_iter().flatten() {
            if !argument["name"].is_string() {
                ruling.at("PROMPT-01", true, spot, format!("an argument of `{name}` has no string `name`"));
            }
            if argument.get("required").is_some_and(|required| !required.is_boolean()) {
                ruling.at("PROMPT-01", true, spot, format!("`required` of an argument of `{name}` is not a boolean"));
            }
        }
    }
    for step in evidence.all_steps().filter(|step| step.is("get")) {
        ruling.ok();
        match step.answer() {
            Answer::Result(result) => {
                if schemas::result_type("prompts/get", &Value::Null, result) != Some("GetPromptResult") {
                    continue;
                }
                let plain = serde_json::json!({"messages": result.get("messages"), "resultType": "complete"});
                if let Some(fault) = schemas::fault(evidence.revision, "GetPromptResult", &plain) {
                    ruling.fail("PROMPT-03", &step, fault);
                }
            }
            // A generated value may be refused for what it says.
            answer if answer.is_error() && answer.code() != Some(-32601) && has_arguments(&step) => {}
            answer if answer.code() == Some(-32021) => {}
            answer => {
                let words = answer.words();
                ruling.fail(
                    "PROMPT-02",
                    &step,
                    format!("the prompt `{}` is listed, but getting it was answered with {words}", step.subject()),
                );
            }
        }
    }
    if ruling.checked == 0 {
        ruling.not_applicable("the server lists no prompts");
    }
}

fn has_arguments(step: &crate::conformance::Step<'_>) -> bool {
    step.sent_member("/params/arguments").and_then(Value::as_object).is_some_and(|map| !map.is_empty())
}

pub(super) const ERRORS: Rule = Rule {
    id: "mcp-prompt-errors",
    title: "refuses unknown prompts and missing arguments with -32602",
    clauses: &["PROMPT-06", "PROMPT-07"],
    level: Level::Should,
    section: "server/prompts#error-handling",
    why: "A host asks the user again only if it can distinguish a missing argument from a broken server.",
    bad: r#"prompts/get {"name":"no_such_prompt"} → {"error":{"code":-32603,…}}"#,
    good: r#"→ {"error":{"code":-32602,…}}"#,
    judge: errors,
    ..BASE
};

fn errors(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for step in evidence.steps("main", "unknown-prompt") {
        ruling.ok();
        if step.answer().code() != Some(-32602) {
            let words = step.answer().words();
            ruling.warn("PROMPT-06", &step, format!("an unknown prompt was answered with {words}, not -32602"));
        }
    }
    for step in evidence.steps("main", "get-without") {
        ruling.ok();
        let is_result = step.answer().result().is_some_and(|result| result.get("messages").is_some());
        if is_result {
            ruling.warn(
                "PROMPT-07",
                &step,
                format!("the prompt `{}` was given without its required arguments", step.subject()),
            );
        }
    }
    if ruling.checked == 0 {
        ruling.not_applicable("the server declares no prompts");
    }
}
