//! Lists: declared ones answer, pages end, connections see the same.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{BASE, E};
use crate::conformance::evidence::{Step, key_member, member_of};
use crate::conformance::rule::{Level, Rule, Ruling};

pub(super) const KINDS: [&str; 4] = ["tools", "prompts", "resources", "templates"];

pub(super) const DECLARED_WORKS: Rule = Rule {
    id: "mcp-declared-works",
    title: "answers the list of everything it declares, also without params",
    clauses: &["CAP-02", "RPC-18"],
    section: "server/tools#capabilities, server/prompts#capabilities, server/resources#capabilities",
    why: "Hosts call the list method of every declared capability and show an error when it fails.",
    bad: r#"capabilities: {"prompts":{}} and prompts/list → -32601"#,
    good: r#"prompts/list → {"prompts":[]}"#,
    judge: declared_works,
    ..BASE
};

fn declared_works(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for kind in ["tools", "prompts", "resources"] {
        if !evidence.declares(kind) {
            continue;
        }
        let Some(step) = evidence.step("main", &format!("list:{kind}")) else { continue };
        ruling.ok();
        if step.answer().result().is_some() {
            continue;
        }
        let words = step.answer().words();
        let with_params = evidence.step("main", &format!("list-with-params:{kind}"));
        if with_params.is_some_and(|step| step.answer().result().is_some()) {
            ruling.fail("RPC-18", &step, format!("`{kind}/list` without `params` was answered with {words}"));
        } else {
            ruling.fail("CAP-02", &step, format!("`{kind}` is declared, but `{kind}/list` was answered with {words}"));
        }
    }
    if ruling.checked == 0 {
        ruling.not_applicable("the server declares no lists");
    }
}

pub(super) const PAGING: Rule = Rule {
    id: "mcp-paging",
    title: "pages end, and cursors are strings that stay valid",
    clauses: &["PAG-01", "PAG-02", "PAG-04"],
    level: Level::Derived,
    section: "server/utilities/pagination",
    why: "A client that follows cursors loops forever, or sees half of the tools.",
    bad: r#"{"tools":[…],"nextCursor":null}"#,
    good: r#"{"tools":[…]}"#,
    judge: paging,
    ..BASE
};

fn paging(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for kind in KINDS {
        let steps = evidence.steps("main", &format!("list:{kind}"));
        let mut cursors = BTreeSet::new();
        let mut names: BTreeSet<String> = BTreeSet::new();
        for step in &steps {
            let Some(result) = step.answer().result() else { continue };
            ruling.ok();
            let mut own: BTreeSet<String> = BTreeSet::new();
            for item in result[member_of(kind)].as_array().into_iter().flatten() {
                let Some(key) = key_of(kind, item) else { continue };
                if names.contains(&key) {
                    ruling.fail("PAG-02", step, format!("`{key}` is on two pages of the {kind}"));
                }
                own.insert(key);
            }
            names.append(&mut own);
            match result.get("nextCursor") {
                None => {}
                Some(Value::String(cursor)) if cursors.insert(cursor.clone()) => {}
                Some(Value::String(cursor)) => {
                    ruling.fail("PAG-02", step, format!("the cursor `{cursor}` of the {kind} came twice"));
                    break;
                }
                Some(other) => {
                    ruling.fail("PAG-01", step, format!("`nextCursor` of the {kind} is {other}, not a string"));
                }
            }
        }
        let first = steps.iter().find(|step| step.sent_member("/params/cursor").is_some());
        if let (Some(first), Some(again)) = (first, evidence.step("main", &format!("cursor-again:{kind}"))) {
            let items = |step: &Step<'_>| step.answer().result().map(|result| result[member_of(kind)].clone());
            if items(first).is_some() && items(first) != items(&again) {
                ruling.warn(
                    "PAG-04",
                    &again,
                    format!("the same cursor gave another page of the {kind} the second time"),
                );
            }
        }
    }
    if ruling.checked == 0 {
        ruling.not_applicable("the server has no lists");
    }
}

pub(super) fn key_of(kind: &str, item: &Value) -> Option<String> {
    item.get(key_member(kind))?.as_str().map(str::to_owned)
}

pub(super) const BAD_CURSOR: Rule = Rule {
    id: "mcp-bad-cursor",
    title: "refuses an invalid cursor with -32602",
    clauses: &["PAG-03"],
    level: Level::Should,
    section: "server/utilities/pagination#error-handling",
    why: "A client with a stale cursor gets the first page again and loops, or shows items twice.",
    bad: r#"tools/list {"cursor":"no-such-cursor"} → the first page"#,
    good: r#"→ {"error":{"code":-32602,…}}"#,
    judge: bad_cursor,
    ..BASE
};

fn bad_cursor(ruling: &mut Ruling<'_>) {
    for step in ruling.evidence.steps("main", "bad-cursor") {
        let list = ruling.evidence.step("main", &format!("list:{}", step.subject()));
        if list.is_none_or(|list| list.answer().result().is_none()) {
            continue;
        }
        ruling.ok();
        let answer = step.answer();
        if answer.code() != Some(-32602) {
            let kind = step.subject();
            ruling.warn(
                "PAG-03",
                &step,
                format!("an invalid cursor of the {kind} was answered with {}", answer.words()),
            );
        }
    }
    if ruling.checked == 0 {
        ruling.not_applicable("the server has no lists");
    }
}

/// The items of steps, in order.
fn names(kind: &str, steps: &[Step<'_>]) -> Vec<String> {
    steps
        .iter()
        .filter_map(|step| step.answer().result())
        .flat_map(|result| result[member_of(kind)].as_array().into_iter().flatten())
        .filter_map(|item| key_of(kind, item))
        .collect()
}

pub(super) const TOOL_ORDER: Rule = Rule {
    id: "mcp-tool-order",
    title: "lists tools in a stable order",
    clauses: &["LIST-01"],
    level: Level::Should,
    revisions: (E, E),
    section: "server/tools#capabilities",
    why: "The prompt cache of a host misses whenever the order changes.",
    bad: "tools/list → a, b; tools/list → b, a",
    good: "tools/list → a, b; tools/list → a, b",
    judge: tool_order,
    ..BASE
};

fn tool_order(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    let first = names("tools", &evidence.steps("main", "list:tools"));
    if first.len() < 2 {
        return ruling.not_applicable("the server has fewer than two tools");
    }
    for round in ["list-2:tools", "list-3:tools"] {
        let steps = evidence.steps("main", round);
        let again = names("tools", &steps);
        let Some(step) = steps.first().filter(|_| !again.is_empty()) else { continue };
        ruling.ok();
        let is_same_set = again.iter().collect::<BTreeSet<_>>() == first.iter().collect::<BTreeSet<_>>();
        if is_same_set && again != first {
            ruling.warn("LIST-01", step, "the tools came in another order the second time");
            return;
        }
    }
}

pub(super) const SAME_LISTS: Rule = Rule {
    id: "mcp-same-lists",
    title: "shows every connection the same lists",
    clauses: &["STATE-02", "STATE-03"],
    revisions: (E, E),
    section: "server/tools#capabilities; basic/index#statelessness",
    why: "Clients share cached lists between connections; a tool that only one connection has fails on the others.",
    bad: "connection 1: a, b; connection 2: a",
    good: "connection 1: a, b; connection 2: a, b",
    judge: same_lists,
    ..BASE
};

fn same_lists(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for kind in KINDS {
        let set = |probe: &str, label: &str| {
            let steps = evidence.steps(probe, label);
            let all = names(kind, &steps).into_iter().collect::<BTreeSet<_>>();
            (steps.first().copied(), all)
        };
        let (_, first) = set("main", &format!("list:{kind}"));
        let (_, second) = set("main", &format!("list-2:{kind}"));
        let (other, elsewhere) = set("second", &format!("list:{kind}"));
        let (_, elsewhere_again) = set("second", &format!("list-2:{kind}"));
        let Some(other) = other.filter(|step| step.answer().result().is_some()) else { continue };
        if first != second || elsewhere != elsewhere_again {
            continue;
        }
        ruling.ok();
        if first != elsewhere {
            ruling.fail(
                "STATE-02",
                &other,
                format!("another connection sees other {kind}: {}", difference(&first, &elsewhere)),
            );
            continue;
        }
        let (late, after_calls) = set("main", &format!("list-late:{kind}"));
        let (_, fresh) = set("second", &format!("list-late:{kind}"));
        if let Some(late) = late.filter(|_| after_calls != fresh && !fresh.is_empty()) {
            ruling.fail(
                "STATE-03",
                &late,
                format!("calls changed the {kind} of their connection alone: {}", difference(&after_calls, &fresh)),
            );
        }
    }
    if ruling.checked == 0 {
        ruling.not_applicable("the server has no lists that stay the same");
    }
}

fn difference(left: &BTreeSet<String>, right: &BTreeSet<String>) -> String {
    let only: Vec<&str> = left.symmetric_difference(right).map(String::as_str).take(5).collect();
    format!("only one of them has {}", only.join(", "))
}

pub(super) const NO_AFFINITY: Rule = Rule {
    id: "mcp-no-affinity",
    title: "needs no particular connection for related requests",
    clauses: &["STATE-04", "MRTR-10"],
    level: Level::Should,
    revisions: (E, E),
    section: "basic/index#statelessness",
    why: "A load balancer sends the next page or the retry to another process.",
    bad: "a cursor of connection 1 is refused on connection 2",
    good: "a cursor of connection 1 gives the next page on connection 2",
    judge: no_affinity,
    ..BASE
};

fn no_affinity(ruling: &mut Ruling<'_>) {
    for step in ruling.evidence.steps("second", "cursor-elsewhere") {
        ruling.ok();
        if step.answer().result().is_none() {
            let words = step.answer().words();
            ruling.warn("STATE-04", &step, format!("a cursor of another connection was answered with {words}"));
        }
    }
    for step in ruling.evidence.steps("second", "retry-elsewhere") {
        ruling.ok();
        if step.answer().result().is_none() {
            let words = step.answer().words();
            ruling.warn("MRTR-10", &step, format!("a retry on another connection was answered with {words}"));
        }
    }
    if ruling.checked == 0 {
        ruling.not_testable("no list has a second page, and nothing asks for input");
    }
}
