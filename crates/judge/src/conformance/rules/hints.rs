//! Hints of tools, put to the test where tools that write may be called.

use mcprove_model::some_of;

use super::{B, BASE, E};
use crate::conformance::evidence::Step;
use crate::conformance::hints::{Change, HintTrial};
use crate::conformance::rule::{Level, Rule, Ruling};

pub(super) const READ_ONLY: Rule = Rule {
    id: "mcp-read-only-hint",
    title: "changes nothing in tools with `readOnlyHint`",
    clauses: &["HINT-01"],
    level: Level::Derived,
    revisions: (B, E),
    section: "schema: ToolAnnotations.readOnlyHint",
    why: "Hosts call read-only tools without asking their user.",
    bad: r#""annotations":{"readOnlyHint":true}, and a call creates a file"#,
    good: r#""annotations":{"readOnlyHint":true}, and files and lists are as before"#,
    judge: read_only,
    ..BASE
};

fn read_only(ruling: &mut Ruling<'_>) {
    for_each(ruling, |ruling, trial, calls| {
        if trial.hint("readOnlyHint") == Some(true) && calls.first().is_some_and(worked) {
            ruling.ok();
            report(ruling, ("HINT-01", "readOnlyHint"), trial, &calls[0], &trial.first_changes());
        }
    });
}

pub(super) const IDEMPOTENT: Rule = Rule {
    id: "mcp-idempotent-hint",
    title: "changes nothing more when a tool with `idempotentHint` is called again",
    clauses: &["HINT-02"],
    level: Level::Derived,
    revisions: (B, E),
    section: "schema: ToolAnnotations.idempotentHint",
    why: "Hosts repeat a call that may have been lost.",
    bad: r#""annotations":{"idempotentHint":true}, and the second call adds a second entry"#,
    good: r#""annotations":{"idempotentHint":true}, and the second call changes nothing"#,
    judge: idempotent,
    ..BASE
};

fn idempotent(ruling: &mut Ruling<'_>) {
    for_each(ruling, |ruling, trial, calls| {
        // The hint means something for tools that write alone.
        let is_claimed = trial.hint("idempotentHint") == Some(true) && trial.hint("readOnlyHint") != Some(true);
        if is_claimed && calls.len() == 2 && calls.iter().all(worked) {
            ruling.ok();
            report(ruling, ("HINT-02", "idempotentHint"), trial, &calls[1], &trial.second_changes());
        }
    });
}

pub(super) const DESTRUCTIVE: Rule = Rule {
    id: "mcp-destructive-hint",
    title: "removes and overwrites nothing in tools with `destructiveHint: false`",
    clauses: &["HINT-03"],
    level: Level::Derived,
    revisions: (B, E),
    section: "schema: ToolAnnotations.destructiveHint",
    why: "Hosts ask their user before destructive calls, and not before others.",
    bad: r#""annotations":{"destructiveHint":false}, and a call overwrites a file"#,
    good: r#""annotations":{"destructiveHint":false}, and a call adds a file"#,
    judge: destructive,
    ..BASE
};

fn destructive(ruling: &mut Ruling<'_>) {
    for_each(ruling, |ruling, trial, calls| {
        let is_claimed = trial.hint("destructiveHint") == Some(false) && trial.hint("readOnlyHint") != Some(true);
        if is_claimed && calls.first().is_some_and(worked) {
            ruling.ok();
            let mut changes = trial.first_changes();
            changes.retain(|change| change.is_destructive());
            report(ruling, ("HINT-03", "destructiveHint: false"), trial, &calls[0], &changes);
        }
    });
}

/// Judges each trial with its calls; says why nothing was tried where nothing was.
fn for_each<'e>(ruling: &mut Ruling<'e>, judge: impl Fn(&mut Ruling<'e>, &'e HintTrial, &[Step<'e>])) {
    let evidence = ruling.evidence;
    let Some(trials) = &evidence.hints else {
        return ruling.not_testable("hints are put to the test with `--include-writes`");
    };
    for trial in trials {
        let of_tool = |step: &Step<'e>| step.subject() == trial.tool;
        let calls: Vec<Step<'e>> = evidence.steps("hints", "hint-call").into_iter().filter(of_tool).collect();
        judge(ruling, trial, &calls);
    }
    if ruling.checked == 0 {
        ruling.not_testable("no tool with this hint could be called");
    }
}

fn worked(step: &Step<'_>) -> bool {
    step.answer().result().is_some_and(|result| result.get("resultType").is_none_or(|kind| kind == "complete"))
        && !step.answer().is_tool_failure()
}

/// A hint that is not true is a warning: the specification calls hints what they are.
fn report(
    ruling: &mut Ruling<'_>,
    (clause, hint): (&'static str, &str),
    trial: &HintTrial,
    call: &Step<'_>,
    changes: &[Change<'_>],
) {
    if changes.is_empty() {
        return;
    }
    let changes: Vec<String> = changes.iter().map(|change| change.described()).collect();
    let message = format!("`{}` has `{hint}`, and {}", trial.tool, some_of(changes.iter(), 3));
    ruling.warn(clause, call, message);
}
