//! Tasks: the core feature of 2025-11-25, and the extension of 2026-07-28.

use serde_json::Value;

use super::{BASE, D, E};
use crate::conformance::rule::{Rule, Ruling};

pub(super) const CORE: Rule = Rule {
    id: "mcp-tasks-core",
    title: "keeps the rules of tasks in 2025-11-25",
    clauses: &["TASK-01", "TASK-02", "TASK-03", "TASK-08", "TOOL-21"],
    revisions: (D, D),
    section: "basic/utilities/tasks",
    why: "A client that asks for no task cannot follow one.",
    bad: r#"tasks not declared, tools/call with "task" → {"task":{…}}"#,
    good: r#"tasks not declared, tools/call with "task" → an ordinary result"#,
    judge: core,
    ..BASE
};

fn core(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for (spot, tool) in evidence.listed("tools") {
        let Some(support) = tool["execution"].get("taskSupport") else { continue };
        ruling.ok();
        if !matches!(support.as_str(), Some("forbidden" | "optional" | "required")) {
            ruling.at("TOOL-21", true, spot, format!("`taskSupport` is {support}"));
        }
    }
    let declared = evidence.capabilities().pointer("/tasks/requests/tools/call").is_some();
    for step in evidence.steps("main", "task-call") {
        ruling.ok();
        let Some(result) = step.answer().result() else {
            if !declared {
                let words = step.answer().words();
                ruling.fail(
                    "TASK-01",
                    &step,
                    format!("tasks are not declared, but a `task` parameter was answered with {words}"),
                );
            }
            continue;
        };
        match result.get("task") {
            Some(_) if !declared => ruling.fail("TASK-01", &step, "tasks are not declared, but a call became one"),
            Some(task) => {
                let is_fine =
                    task["taskId"].is_string() && task["createdAt"].is_string() && task["status"] == "working";
                if !is_fine {
                    ruling.fail("TASK-03", &step, "a new task lacks `taskId`, `createdAt` or the status `working`");
                }
            }
            None => {}
        }
    }
    if declared {
        for step in evidence.steps("main", "task-unknown") {
            ruling.ok();
            if step.answer().code() != Some(-32602) {
                let words = step.answer().words();
                ruling.fail("TASK-08", &step, format!("an unknown task was answered with {words}, not -32602"));
            }
        }
    }
    if ruling.checked == 0 {
        ruling.not_testable("no tool can be called safely");
    }
}

pub(super) const EXTENSION: Rule = Rule {
    id: "mcp-tasks-extension",
    title: "keeps the rules of the tasks extension",
    clauses: &["XT-01", "XT-02", "XT-03", "XT-07", "XT-10"],
    revisions: (E, E),
    section: "SEP-2663",
    why: "A client that did not declare the extension cannot read a task.",
    bad: r#"clientCapabilities {} → {"resultType":"task",…}"#,
    good: r#"tasks/get without the extension → {"error":{"code":-32021,…}}"#,
    judge: extension,
    ..BASE
};

fn extension(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    let declared = evidence.capabilities()["extensions"].get("io.modelcontextprotocol/tasks").is_some();
    for step in evidence.steps("main", "call") {
        let Some(result) = step.answer().result() else { continue };
        if declared {
            ruling.ok();
        }
        if result["resultType"] == "task" {
            ruling.ok();
            ruling.fail("XT-02", &step, "a client that did not declare the extension got a task");
        }
    }
    if !declared {
        return ruling.not_applicable("the tasks extension is not declared");
    }
    if evidence.capabilities().get("tasks").is_some()
        && let Some(step) = evidence.step("main", "discover")
    {
        ruling.fail("XT-01", &step, "`tasks` of 2025-11-25 is declared next to the extension");
    }
    for step in evidence.steps("main", "task-undeclared") {
        ruling.ok();
        if step.answer().code() != Some(-32021) {
            let words = step.answer().words();
            ruling.fail(
                "XT-03",
                &step,
                format!("`{}` of a client without the extension was answered with {words}, not -32021", step.method()),
            );
        }
    }
    for step in evidence.steps("main", "task-unknown") {
        ruling.ok();
        if step.answer().code() != Some(-32602) {
            let words = step.answer().words();
            ruling.fail("XT-07", &step, format!("an unknown task was answered with {words}, not -32602"));
        }
    }
    for step in evidence.steps("main", "task-removed") {
        ruling.ok();
        if step.answer().code() != Some(-32601) {
            let words = step.answer().words();
            let method = step.sent_member("/method").and_then(Value::as_str).unwrap_or_default();
            ruling.fail("XT-10", &step, format!("`{method}` was answered with {words}, not -32601"));
        }
    }
}
