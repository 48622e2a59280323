//! Fields that every result of 2026-07-28 carries, and results that ask for input.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{BASE, E};
use crate::conformance::evidence::Step;
use crate::conformance::rule::{Level, Rule, Ruling};

/// All steps with a result.
fn results<'e>(ruling: &Ruling<'e>) -> Vec<(Step<'e>, &'e Value)> {
    ruling.evidence.all_steps().filter_map(|step| Some((step, step.answer().result()?))).collect()
}

pub(super) const RESULT_TYPE: Rule = Rule {
    id: "mcp-result-type",
    title: "names the type of every result",
    clauses: &["RT-01", "RT-02"],
    revisions: (E, E),
    section: "basic/index#result-responses, #resulttype",
    why: "Clients choose how to read a result by its type; an unknown type is an invalid result.",
    bad: r#"{"result":{"tools":[]}}"#,
    good: r#"{"result":{"resultType":"complete","tools":[]}}"#,
    judge: result_type,
    ..BASE
};

fn result_type(ruling: &mut Ruling<'_>) {
    let has_extensions = ruling.evidence.capabilities()["extensions"].as_object().is_some_and(|map| !map.is_empty());
    for (step, result) in results(ruling) {
        // A dual-era server answers `initialize` as the older revisions do. That a removed method is served has a rule of its own.
        if step.method() == "initialize" || step.is("removed") {
            continue;
        }
        ruling.ok();
        match result.get("resultType").and_then(Value::as_str) {
            None => ruling.fail("RT-01", &step, format!("the result of `{}` has no `resultType`", step.method())),
            Some("complete" | "input_required") => {}
            Some(_) if has_extensions => {}
            Some(other) => ruling.fail("RT-02", &step, format!("`{other}` is not a result type")),
        }
        if ruling.violations.len() >= 5 {
            return;
        }
    }
}

const CACHEABLE: [&str; 6] =
    ["server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read"];

pub(super) const CACHE_HINTS: Rule = Rule {
    id: "mcp-cache-hints",
    title: "says how long lists and contents may be cached",
    clauses: &["CACHE-01", "CACHE-02", "CACHE-03"],
    revisions: (E, E),
    section: "server/utilities/caching#cacheable-results",
    why: "Typed clients reject a list without the two fields.",
    bad: r#"tools/list → {"resultType":"complete","tools":[]}"#,
    good: r#"tools/list → {"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"public"}"#,
    judge: cache_hints,
    ..BASE
};

fn cache_hints(ruling: &mut Ruling<'_>) {
    let mut reported = BTreeSet::new();
    for (step, result) in results(ruling) {
        let method = step.method();
        let is_complete = result.get("resultType").is_none_or(|kind| kind == "complete");
        if !CACHEABLE.contains(&method) || !is_complete {
            continue;
        }
        ruling.ok();
        let fault = match (result.get("ttlMs"), result.get("cacheScope")) {
            (None, _) => Some(("CACHE-01", format!("the result of `{method}` has no `ttlMs`"))),
            (_, None) => Some(("CACHE-01", format!("the result of `{method}` has no `cacheScope`"))),
            (Some(ttl), _) if !ttl.is_u64() => Some(("CACHE-02", format!("`ttlMs` of `{method}` is {ttl}"))),
            (_, Some(scope)) if scope != "public" && scope != "private" => {
                Some(("CACHE-03", format!("`cacheScope` of `{method}` is {scope}")))
            }
            _ => None,
        };
        if let Some((clause, message)) = fault
            && reported.insert(message.clone())
        {
            ruling.fail(clause, &step, message);
        }
    }
}

pub(super) const CACHE_SCOPE: Rule = Rule {
    id: "mcp-cache-scope",
    title: "uses one cache scope for all pages, and treats clients alike",
    clauses: &["CACHE-04", "META-07"],
    revisions: (E, E),
    section: "server/utilities/caching#interaction-with-pagination; basic/index#meta",
    why: "A cache that keeps page 1 for all users and page 2 for one user serves half a list.",
    bad: "page 1 public, page 2 private",
    good: "page 1 public, page 2 public",
    judge: cache_scope,
    ..BASE
};

fn cache_scope(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for kind in super::lists::KINDS {
        let steps = evidence.steps("main", &format!("list:{kind}"));
        let scopes: BTreeSet<&str> =
            steps.iter().filter_map(|step| step.answer().result()?.get("cacheScope")?.as_str()).collect();
        if steps.len() > 1 {
            ruling.ok();
        }
        if let (true, Some(step)) = (scopes.len() > 1, steps.last()) {
            ruling.fail("CACHE-04", step, format!("the pages of the {kind} have different cache scopes"));
        }
    }
    if let Some(step) = evidence.step("main", "other-client:tools") {
        ruling.ok();
        let names = |result: Option<&Value>| -> Option<BTreeSet<String>> {
            let tools = result?["tools"].as_array()?;
            Some(tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect())
        };
        let first = names(evidence.step("main", "list:tools").and_then(|step| step.answer().result()));
        let other = names(step.answer().result());
        if first.is_some() && other.is_some() && first != other {
            ruling.warn("META-07", &step, "a client of another name sees other tools");
        }
    }
    if ruling.checked == 0 {
        ruling.not_applicable("no list has a second page");
    }
}

pub(super) const SERVER_INFO: Rule = Rule {
    id: "mcp-server-info",
    title: "identifies itself in the `_meta` of results",
    clauses: &["VER-06"],
    level: Level::Should,
    revisions: (E, E),
    section: "basic/index#meta; server/discover",
    why: "Without a handshake this is how hosts and logs know which server answered.",
    bad: r#"{"result":{"resultType":"complete"}}"#,
    good: r#"{"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}}"#,
    judge: server_info,
    ..BASE
};

fn server_info(ruling: &mut Ruling<'_>) {
    let mut reported = BTreeSet::new();
    for (step, result) in results(ruling) {
        // What is wrong with a removed method is that it is served.
        if step.method() == "initialize" || step.is("removed") {
            continue;
        }
        ruling.ok();
        let info = result.get("_meta").and_then(|meta| meta.get("io.modelcontextprotocol/serverInfo"));
        let message = match info {
            None => format!("the result of `{}` has no server info", step.method()),
            Some(info) if !info["name"].is_string() || !info["version"].is_string() => {
                format!("the server info in the result of `{}` lacks name or version", step.method())
            }
            Some(_) => continue,
        };
        if reported.insert(message.clone()) {
            ruling.fail_if(info.is_some(), "VER-06", &step, message);
        }
    }
}

pub(super) const INPUT_REQUIRED: Rule = Rule {
    id: "mcp-input-required",
    title: "asks for input in the legal shape, and only where it may",
    clauses: &["MRTR-01", "MRTR-02", "MRTR-03", "CACHE-05"],
    revisions: (E, E),
    section: "basic/patterns/mrtr#server-requirements-basic-workflow, #supported-requests",
    why: "A client that does not understand the request gives up the call.",
    bad: r#"{"resultType":"input_required"}"#,
    good: r#"{"resultType":"input_required","inputRequests":{"name":{"method":"elicitation/create","params":{…}}}}"#,
    judge: input_required,
    ..BASE
};

fn input_required(ruling: &mut Ruling<'_>) {
    for (step, result) in results(ruling) {
        if result["resultType"] != "input_required" {
            continue;
        }
        ruling.ok();
        let method = step.method();
        if !matches!(method, "tools/call" | "prompts/get" | "resources/read") {
            ruling.fail("MRTR-03", &step, format!("`{method}` was answered with `input_required`"));
            continue;
        }
        let requests = result.get("inputRequests").and_then(Value::as_object);
        if requests.is_none_or(serde_json::Map::is_empty) && result.get("requestState").is_none() {
            ruling.fail("MRTR-01", &step, "`input_required` has neither `inputRequests` nor `requestState`");
        }
        for (key, request) in requests.into_iter().flatten() {
            if !matches!(
                request["method"].as_str(),
                Some("elicitation/create" | "sampling/createMessage" | "roots/list")
            ) {
                ruling.fail(
                    "MRTR-02",
                    &step,
                    format!("the input request `{key}` has the method {}", request["method"]),
                );
            }
        }
        if result.get("ttlMs").is_some() || result.get("cacheScope").is_some() {
            ruling.warn("CACHE-05", &step, "`input_required` carries cache hints");
        }
    }
    if ruling.checked == 0 {
        ruling.not_testable("nothing asks for input");
    }
}

pub(super) const REQUEST_STATE: Rule = Rule {
    id: "mcp-request-state",
    title: "refuses a request state that was tampered with",
    clauses: &["MRTR-05", "MRTR-06"],
    revisions: (E, E),
    section: "basic/patterns/mrtr#server-requirements-basic-workflow",
    why: "The state passes through the client: a client that changes it decides what the server does next.",
    bad: "a changed requestState → a complete result",
    good: r#"a changed requestState → {"error":{"code":-32602,…}}"#,
    judge: request_state,
    ..BASE
};

fn request_state(ruling: &mut Ruling<'_>) {
    for step in ruling.evidence.steps("full", "retry-tampered") {
        ruling.ok();
        let Some(result) = step.answer().result() else { continue };
        if result["resultType"] == "input_required" {
            ruling.warn(
                "MRTR-05",
                &step,
                "a changed `requestState` was answered with a new question, not with an error",
            );
        } else if !step.answer().is_tool_failure() {
            ruling.fail("MRTR-05", &step, "a changed `requestState` was accepted");
        }
    }
    if ruling.checked == 0 {
        ruling.not_testable("no request state was given out");
    }
}

pub(super) const INPUT_RESPONSES: Rule = Rule {
    id: "mcp-input-responses",
    title: "handles missing, extra and malformed input responses",
    clauses: &["MRTR-07", "MRTR-08", "MRTR-09", "MRTR-11"],
    level: Level::Should,
    revisions: (E, E),
    section: "basic/patterns/mrtr#error-handling",
    why: "Clients answer what they can; a server that fails on the rest ends the call.",
    bad: r#""inputResponses":{} → {"error":…}"#,
    good: r#""inputResponses":{} → {"resultType":"input_required",…}"#,
    judge: input_responses,
    ..BASE
};

fn input_responses(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for step in evidence.steps("full", "retry-empty") {
        ruling.ok();
        if step.answer().result().is_none_or(|result| result["resultType"] != "input_required") {
            let words = step.answer().words();
            ruling.warn(
                "MRTR-07",
                &step,
                format!("a retry without answers was answered with {words}, not with the questions"),
            );
        }
    }
    for step in evidence.steps("full", "retry-extra") {
        ruling.ok();
        if step.answer().result().is_none() {
            let words = step.answer().words();
            ruling.warn("MRTR-08", &step, format!("an unknown input response was answered with {words}"));
        }
    }
    for step in evidence.steps("full", "retry-malformed") {
        ruling.ok();
        if step.answer().result().is_some_and(|result| result["resultType"] == "complete") {
            ruling.warn("MRTR-09", &step, "malformed `inputResponses` were answered with a complete result");
        }
    }
    if ruling.checked == 0 {
        ruling.not_testable("nothing asks for input");
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use mcprove_model::Revision;
    use serde_json::{Value, json};

    use crate::conformance::{Channel, Entry, Evidence, Payload, Recording, Verdict, What, judge};

    #[test]
    fn results_of_removed_methods_are_judged_by_their_own_rule() {
        let verdict = |label: &str, method: &str| {
            let entry = |step: &str, what: fn(Payload) -> What, message: Value| Entry {
                at_us: 0,
                exchange: 0,
                step: step.to_owned(),
                what: what(Payload::new(Bytes::from(message.to_string()))),
            };
            let entries = vec![
                entry(label, What::Sent, json!({"jsonrpc": "2.0", "id": 1, "method": method})),
                entry("", What::Received, json!({"jsonrpc": "2.0", "id": 1, "result": {}})),
            ];
            let mut recording = Recording::new("main", Value::Null);
            recording.entries = entries;
            let evidence =
                Evidence { is_local: true, ..Evidence::new(Revision::NEWEST, Channel::Stdio, vec![recording]) };
            let graded = judge(&evidence, |rule| rule.id == "mcp-result-type");
            graded.into_iter().next().map(|graded| graded.verdict)
        };
        assert_eq!(verdict("list:tools", "tools/list"), Some(Verdict::Fail));
        assert_ne!(verdict("removed:logging/setLevel", "logging/setLevel"), Some(Verdict::Fail));
    }
}
