//! Ping, concurrency, completion.

use serde_json::Value;

use super::{A, B, BASE, C, D};
use crate::conformance::rule::{Level, Rule, Ruling};
use crate::conformance::{Answer, schemas};

pub(super) const PING: Rule = Rule {
    id: "mcp-ping",
    title: "answers ping promptly with an empty result",
    clauses: &["PING-01", "PING-02"],
    revisions: (A, D),
    section: "basic/utilities/ping#behavior-requirements",
    why: "Clients ping to see if a server lives, and restart it when the answer is an error.",
    bad: r#"ping → {"error":{"code":-32601,…}}"#,
    good: r#"ping → {"result":{}}"#,
    judge: ping,
    ..BASE
};

fn ping(ruling: &mut Ruling<'_>) {
    for step in ruling.evidence.steps("main", "ping") {
        ruling.ok();
        match step.answer() {
            Answer::Result(result) => {
                let extra = result
                    .as_object()
                    .into_iter()
                    .flatten()
                    .find(|(key, _)| !matches!(key.as_str(), "_meta" | "resultType"));
                if let Some((key, _)) = extra {
                    ruling.warn("PING-01", &step, format!("the result of ping has the member `{key}`"));
                }
            }
            answer => {
                let words = answer.words();
                ruling.fail("PING-01", &step, format!("ping was answered with {words}"));
            }
        }
    }
}

pub(super) const CONCURRENT: Rule = Rule {
    id: "mcp-concurrent-requests",
    title: "answers concurrent requests, each of them",
    clauses: &["RPC-21", "STATE-05", "HTTP-18", "PROC-05"],
    level: Level::Derived,
    section: "JSON-RPC 2.0; basic/transports#multiple-connections",
    why: "Hosts call several tools at once; a lost reply blocks the turn until its timeout.",
    bad: "10 requests at once → 9 replies",
    good: "10 requests at once → 10 replies, in any order",
    judge: concurrent,
    ..BASE
};

fn concurrent(ruling: &mut Ruling<'_>) {
    let mut lost = Vec::new();
    for step in ruling.evidence.steps("main", "many") {
        ruling.ok();
        if !matches!(step.answer(), Answer::Result(_) | Answer::Error(_)) {
            lost.push(step);
        }
    }
    if let Some(step) = lost.first() {
        let count = lost.len();
        ruling.fail("RPC-21", step, format!("{count} of 10 concurrent requests got no reply"));
    }
}

pub(super) const COMPLETION: Rule = Rule {
    id: "mcp-completion",
    title: "completes arguments with at most 100 values, and refuses what it does not know",
    clauses: &["COMPL-02", "COMPL-03", "COMPL-04", "COMPL-06"],
    level: Level::Derived,
    section: "server/utilities/completion",
    why: "Hosts show the values in a menu while the user types.",
    bad: r#"{"completion":{"values":null}}"#,
    good: r#"{"completion":{"values":["python"],"total":1,"hasMore":false}}"#,
    judge: completion,
    ..BASE
};

fn completion(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    if evidence.revision > A && !evidence.declares("completions") {
        return ruling.not_applicable("`completions` is not declared");
    }
    let first = evidence.step("main", "complete:first");
    if first.is_some_and(|step| step.answer().code() == Some(-32601)) && evidence.revision == A {
        return ruling.not_applicable("completion is not served");
    }
    for step in evidence.steps("main", "complete") {
        let answer = step.answer();
        match step.subject() {
            "first" | "context" => {
                if step.subject() == "context" && evidence.revision < C {
                    continue;
                }
                ruling.ok();
                match answer {
                    Answer::Result(result) => completion_result(ruling, &step, result),
                    _ if step.subject() == "context" => {
                        let words = answer.words();
                        ruling.fail(
                            "COMPL-06",
                            &step,
                            format!("a completion with `context` was answered with {words}"),
                        );
                    }
                    _ => {
                        let words = answer.words();
                        ruling.fail("COMPL-02", &step, format!("a completion was answered with {words}"));
                    }
                }
            }
            "unknown" if evidence.revision >= B => {
                ruling.ok();
                if answer.code() != Some(-32602) {
                    let words = answer.words();
                    ruling.warn(
                        "COMPL-04",
                        &step,
                        format!("a completion for an unknown prompt was answered with {words}, not -32602"),
                    );
                }
            }
            _ => {}
        }
    }
    if ruling.checked == 0 {
        ruling.not_testable("the server has no prompt argument and no template variable to complete");
    }
}

fn completion_result(ruling: &mut Ruling<'_>, step: &crate::conformance::Step<'_>, result: &Value) {
    let plain = serde_json::json!({"completion": result.get("completion"), "resultType": "complete"});
    let count = result["completion"]["values"].as_array().map_or(0, Vec::len);
    if count > 100 {
        ruling.fail("COMPL-03", step, format!("{count} values came; at most 100 are allowed"));
    } else if let Some(fault) = schemas::fault(ruling.evidence.revision, "CompleteResult", &plain) {
        ruling.fail("COMPL-02", step, fault);
    }
}
