//! Resources: what is listed can be read, what is missing is an error.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{A, BASE, C, D, E};
use crate::conformance::rule::{Level, Rule, Ruling};
use crate::conformance::{Answer, schemas};

const NONE: &str = "the server lists no resources";

pub(super) const READABLE: Rule = Rule {
    id: "mcp-resources-readable",
    title: "serves every resource it lists, well formed",
    clauses: &["RES-01", "RES-02", "RES-03"],
    level: Level::Derived,
    section: "server/resources#reading-resources; schema Resource, ReadResourceResult",
    why: "Hosts show the list to people, who pick what then fails to open.",
    bad: "resources/list has file:///a, resources/read file:///a → not found",
    good: r#"→ {"contents":[{"uri":"file:///a","text":"…"}]}"#,
    judge: readable,
    ..BASE
};

fn readable(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    let mut seen = BTreeSet::new();
    for (spot, resource) in evidence.listed("resources") {
        ruling.ok();
        if !resource["name"].is_string() {
            ruling.at("RES-01", true, spot, "a resource has no string `name`");
        }
        let Some(uri) = resource["uri"].as_str() else {
            ruling.at("RES-01", true, spot, "a resource has no string `uri`");
            continue;
        };
        if !has_scheme(uri) {
            ruling.at("RES-01", true, spot, format!("the URI `{uri}` is not absolute"));
        } else if uri.chars().any(|c| c.is_whitespace() || !c.is_ascii()) {
            ruling.at("RES-01", false, spot, format!("the URI `{uri}` has characters that must be escaped"));
        }
        if !seen.insert((spot, uri)) {
            ruling.at("RES-01", true, spot, format!("the URI `{uri}` is listed twice"));
        }
        if resource.get("size").is_some_and(|size| !size.is_u64()) {
            ruling.at("RES-01", true, spot, format!("the `size` of `{uri}` is not an integer"));
        }
    }
    for step in evidence.all_steps().filter(|step| step.is("read") || step.is("read-asked")) {
        ruling.ok();
        match step.answer() {
            Answer::Result(result) => {
                if schemas::result_type("resources/read", &Value::Null, result) != Some("ReadResourceResult") {
                    continue;
                }
                let plain = serde_json::json!({
                    "contents": result.get("contents"), "resultType": "complete", "ttlMs": 0, "cacheScope": "public",
                });
                if let Some(fault) = schemas::fault(evidence.revision, "ReadResourceResult", &plain) {
                    ruling.fail("RES-03", &step, fault);
                }
            }
            answer => {
                let is_missing = matches!(answer.code(), Some(-32002 | -32602 | -32601))
                    || matches!(answer, Answer::Silence | Answer::Gone);
                if is_missing {
                    let words = answer.words();
                    ruling.fail(
                        "RES-02",
                        &step,
                        format!("`{}` is listed, but reading it was answered with {words}", step.subject()),
                    );
                }
            }
        }
    }
    if ruling.checked == 0 {
        ruling.not_applicable(NONE);
    }
}

fn has_scheme(uri: &str) -> bool {
    let Some((scheme, rest)) = uri.split_once(':') else { return false };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-' | '_'))
        && !rest.is_empty()
}

pub(super) const MISSING: Rule = Rule {
    id: "mcp-missing-resource",
    title: "answers a missing resource with the right error",
    clauses: &["RES-04", "RES-05"],
    section: "server/resources#error-handling",
    why: "A client takes empty contents for an empty file, and another code for a broken server.",
    bad: r#"resources/read x-none://r → {"contents":[]}"#,
    good: r#"→ {"error":{"code":-32002,…}}; in 2026-07-28 -32602"#,
    judge: missing,
    ..BASE
};

fn missing(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for step in evidence.steps("main", "read-missing") {
        ruling.ok();
        let answer = step.answer();
        let expected = if evidence.revision >= E { -32602 } else { -32002 };
        match answer {
            Answer::Result(result) => {
                let is_empty = result["contents"].as_array().is_some_and(Vec::is_empty);
                // A template may serve any URI of a listed scheme.
                if is_empty && evidence.revision >= E {
                    ruling.fail("RES-05", &step, "a missing resource was answered with empty contents");
                } else if step.subject() == "no-scheme" || is_empty {
                    ruling.fail_if(
                        evidence.revision >= E,
                        "RES-04",
                        &step,
                        "a missing resource was answered with a result",
                    );
                }
            }
            Answer::Error(_) if answer.code() == Some(expected) => {}
            // 2026-07-28 forbids this code everywhere, which another rule reports.
            Answer::Error(_) if evidence.revision >= E && answer.code() == Some(-32002) => {}
            Answer::Error(_) => {
                let words = answer.words();
                ruling.fail_if(
                    evidence.revision >= E,
                    "RES-04",
                    &step,
                    format!("a missing resource was answered with {words}, not {expected}"),
                );
            }
            _ => {
                let words = answer.words();
                ruling.fail_if(
                    evidence.revision >= E,
                    "RES-04",
                    &step,
                    format!("a missing resource was answered with {words}"),
                );
            }
        }
    }
    if ruling.checked == 0 {
        ruling.not_applicable("the server declares no resources");
    }
}

pub(super) const URI_CHECKED: Rule = Rule {
    id: "mcp-resource-uri",
    title: "validates resource URIs and blocks path traversal",
    clauses: &["RES-06"],
    section: "server/resources#security-considerations",
    why: "A URI from a model or a web page reads any file of the machine.",
    bad: "resources/read file:///srv/../../etc/passwd → root:x:0:0:…",
    good: r#"→ {"error":{"code":-32602,…}}"#,
    judge: uri_checked,
    ..BASE
};

fn uri_checked(ruling: &mut Ruling<'_>) {
    for step in ruling.evidence.steps("main", "read-bad") {
        ruling.ok();
        let what = step.subject();
        match step.answer() {
            Answer::Result(result) => {
                let is_empty = result["contents"].as_array().is_some_and(Vec::is_empty);
                let is_traversal = what.starts_with("traversal");
                if is_traversal && result.to_string().contains("root:x:0:0") {
                    ruling.fail("RES-06", &step, "a path traversal was served");
                } else if !is_traversal && !is_empty {
                    ruling.fail("RES-06", &step, format!("an invalid URI ({what}) was answered with contents"));
                }
            }
            Answer::Gone => ruling.fail("RES-06", &step, format!("an invalid URI ({what}) ended the server")),
            _ => {}
        }
    }
    if ruling.checked == 0 {
        ruling.not_applicable("the server declares no resources");
    }
}

pub(super) const SUBSCRIBE: Rule = Rule {
    id: "mcp-subscribe",
    title: "serves `resources/subscribe` and `unsubscribe` when it declares them",
    clauses: &["RES-10", "RES-11"],
    level: Level::Derived,
    revisions: (A, D),
    section: "server/resources#subscriptions",
    why: "Hosts subscribe to every open resource and show an error when it fails.",
    bad: r#"capabilities: {"resources":{"subscribe":true}} and resources/subscribe → -32601"#,
    good: "resources/subscribe → {}",
    judge: subscribe,
    ..BASE
};

fn subscribe(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    if evidence.capabilities()["resources"]["subscribe"] != true {
        return ruling.not_applicable("`resources.subscribe` is not declared");
    }
    for label in ["subscribe", "unsubscribe"] {
        for step in evidence.steps("main", label) {
            ruling.ok();
            if step.answer().result().is_none() {
                let words = step.answer().words();
                ruling.fail("RES-10", &step, format!("`resources/{label}` was answered with {words}"));
            }
        }
    }
    if ruling.checked == 0 {
        ruling.not_testable("the server lists no resource to subscribe to");
    }
}

pub(super) const TEMPLATES: Rule = Rule {
    id: "mcp-templates",
    title: "lists well-formed templates and legal URI schemes",
    clauses: &["RES-07", "RES-08"],
    section: "server/resources#resource-templates, #custom-uri-schemes",
    why: "Clients expand the template; one they cannot parse is useless.",
    bad: r#"{"uriTemplate":"file:///{unclosed"}"#,
    good: r#"{"uriTemplate":"file:///{path}"}"#,
    judge: templates,
    ..BASE
};

fn templates(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for (spot, template) in evidence.listed("templates") {
        ruling.ok();
        if !template["name"].is_string() {
            ruling.at("RES-08", true, spot, "a template has no string `name`");
        }
        let text = template["uriTemplate"].as_str();
        if !text.is_some_and(is_template) {
            ruling.at("RES-08", true, spot, format!("`{}` is not a URI template", text.unwrap_or("(none)")));
        }
    }
    if evidence.revision >= C {
        for (spot, resource) in evidence.listed("resources") {
            let Some((scheme, _)) = resource["uri"].as_str().and_then(|uri| uri.split_once(':')) else { continue };
            ruling.ok();
            if !scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-')) {
                ruling.at("RES-07", true, spot, format!("the URI scheme `{scheme}` is not legal"));
            }
        }
    }
    if ruling.checked == 0 {
        ruling.not_applicable("the server lists no resources and no templates");
    }
}

/// True if braces pair up, are not nested and hold something.
fn is_template(text: &str) -> bool {
    let mut open = None;
    for (at, c) in text.char_indices() {
        match (c, open) {
            ('{', None) => open = Some(at),
            ('{', Some(_)) | ('}', None) => return false,
            ('}', Some(start)) if at == start + 1 => return false,
            ('}', Some(_)) => open = None,
            _ => {}
        }
    }
    open.is_none() && !text.is_empty()
}
