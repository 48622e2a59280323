//! The headers that mirror a request in 2026-07-28.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{BASE, E};
use crate::conformance::evidence::{Channel, Step};
use crate::conformance::rule::{Level, Rule, Ruling};

const HTTP: Rule = Rule { revisions: (E, E), channel: Some(Channel::Http), ..BASE };

/// Judges a request that must be refused with HTTP 400 and -32020.
fn must_mismatch(ruling: &mut Ruling<'_>, clause: &'static str, step: &Step<'_>, what: &str) {
    ruling.ok();
    let answer = step.answer();
    if step.status() == Some(400) && answer.code() == Some(-32020) {
        return;
    }
    let status = step.status().unwrap_or_default();
    let words = answer.words();
    ruling.fail(clause, step, format!("{what} was answered with {words} and HTTP {status}, not with -32020 and 400"));
}

/// Judges a request that must be served.
fn must_serve(ruling: &mut Ruling<'_>, clause: &'static str, step: &Step<'_>, what: &str) {
    ruling.ok();
    if step.answer().code() == Some(-32020)
        || step.status().is_some_and(|status| status >= 400 && step.answer().result().is_none())
    {
        let words = step.answer().words();
        ruling.fail(clause, step, format!("{what} was refused with {words}"));
    }
}

pub(super) const VERSION_MATCH: Rule = Rule {
    id: "mcp-version-header-match",
    title: "checks the version header against the body",
    clauses: &["HDR-01", "HDR-02"],
    section: "basic/transports/streamable-http#protocol-version-header",
    why: "Proxies route by the header; a request that says two things is served by the wrong code.",
    bad: "MCP-Protocol-Version: 2025-11-25, body 2026-07-28 → 200",
    good: "→ 400 with -32020",
    judge: version_match,
    ..HTTP
};

fn version_match(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for step in evidence.steps("http", "header:no-version") {
        ruling.ok();
        let answer = step.answer();
        if answer.result().is_some() {
            let what = "a request without the version header was served";
            ruling.fail_if(!evidence.is_dual_era, "HDR-01", &step, what);
        } else if !evidence.is_dual_era {
            must_mismatch(ruling, "HDR-01", &step, "a request without the version header");
        }
    }
    for step in
        evidence.steps("http", "header:other-version").into_iter().chain(evidence.steps("http", "header:junk-body"))
    {
        ruling.ok();
        let answer = step.answer();
        if answer.result().is_some() {
            ruling.fail("HDR-02", &step, "a request whose header and body name different versions was served");
        } else if step.status() != Some(400) || !matches!(answer.code(), Some(-32020 | -32022)) {
            let words = answer.words();
            let status = step.status().unwrap_or_default();
            ruling.warn(
                "HDR-02",
                &step,
                format!("header and body that name different versions were answered with {words} and HTTP {status}"),
            );
        }
    }
}

pub(super) const METHOD: Rule = Rule {
    id: "mcp-method-header",
    title: "checks `Mcp-Method` against the body",
    clauses: &["HDR-03"],
    section: "basic/transports/streamable-http#server-validation",
    why: "A gateway that allows by method lets a call through that is labelled as a list.",
    bad: "Mcp-Method: prompts/list, body tools/list → 200",
    good: "→ 400 with -32020",
    judge: method,
    ..HTTP
};

fn method(ruling: &mut Ruling<'_>) {
    for step in ruling.evidence.steps("http", "header:no-method") {
        must_mismatch(ruling, "HDR-03", &step, "a request without `Mcp-Method`");
    }
    for step in ruling.evidence.steps("http", "header:other-method") {
        must_mismatch(ruling, "HDR-03", &step, "a request with another `Mcp-Method`");
    }
}

pub(super) const NAME: Rule = Rule {
    id: "mcp-name-header",
    title: "checks `Mcp-Name` against the body, decoded",
    clauses: &["HDR-04", "HDR-06"],
    section: "basic/transports/streamable-http#standard-request-headers, #value-encoding",
    why: "A gateway that allows by name lets another tool through; a name outside ASCII cannot be called at all.",
    bad: "Mcp-Name: read, body delete → 200",
    good: "→ 400 with -32020; Mcp-Name: =?base64?cmVhZA==?=, body read → 200",
    blocked_by: &[super::HANDSHAKE, "mcp-method-header"],
    judge: name,
    ..HTTP
};

fn name(ruling: &mut Ruling<'_>) {
    for step in ruling.evidence.steps("http", "header:no-name") {
        must_mismatch(ruling, "HDR-04", &step, "a request without `Mcp-Name`");
    }
    for step in ruling.evidence.steps("http", "header:other-name") {
        must_mismatch(ruling, "HDR-04", &step, "a request with another `Mcp-Name`");
    }
    for step in ruling.evidence.steps("http", "header:base64-name") {
        must_serve(ruling, "HDR-06", &step, "a request with `Mcp-Name` in base64");
    }
    if ruling.checked == 0 {
        ruling.not_applicable("there is nothing to name: no safe tool, prompt or resource");
    }
}

pub(super) const SYNTAX: Rule = Rule {
    id: "mcp-header-syntax",
    title: "reads header names in any case, trims values and compares them exactly",
    clauses: &["HDR-05", "HDR-07", "HDR-08"],
    section: "basic/transports/streamable-http#case-sensitivity, #server-validation",
    why: "Proxies change the case of header names, and clients differ in blanks.",
    bad: "Mcp-Method: TOOLS/LIST → 200",
    good: "Mcp-Method: TOOLS/LIST → 400; mcp-method: tools/list → 200",
    blocked_by: &[super::HANDSHAKE, "mcp-method-header", "mcp-name-header"],
    judge: syntax,
    ..HTTP
};

fn syntax(ruling: &mut Ruling<'_>) {
    for step in ruling.evidence.steps("http", "header:upper-value") {
        must_mismatch(ruling, "HDR-05", &step, "a `Mcp-Method` in upper case");
    }
    for step in ruling.evidence.steps("http", "header:blanks") {
        must_serve(ruling, "HDR-07", &step, "a header with blanks around its value");
    }
    for step in ruling.evidence.steps("http", "header:non-ascii") {
        ruling.ok();
        if step.answer().result().is_some() {
            ruling.fail("HDR-08", &step, "a header with bytes outside ASCII was accepted");
        }
    }
}

pub(super) const ANNOTATION: Rule = Rule {
    id: "mcp-x-mcp-header",
    title: "annotates parameters with legal header names",
    clauses: &["HDR-09", "HDR-14"],
    revisions: (E, E),
    section: "server/tools#x-mcp-header",
    why: "Clients drop a tool with an invalid annotation.",
    bad: r#""price":{"type":"number","x-mcp-header":"Price"}"#,
    good: r#""region":{"type":"string","x-mcp-header":"Region"}"#,
    judge: annotation,
    ..BASE
};

fn annotation(ruling: &mut Ruling<'_>) {
    for (spot, tool) in ruling.evidence.listed("tools") {
        let mut found = Vec::new();
        collect(&tool["inputSchema"], true, "", &mut found);
        let mut seen = BTreeSet::new();
        let name = tool["name"].as_str().unwrap_or_default();
        for (property, header, kind, is_reachable) in found {
            ruling.ok();
            let Some(text) = header.as_str().filter(|text| is_token(text)) else {
                ruling.at(
                    "HDR-09",
                    true,
                    spot,
                    format!("`x-mcp-header` of `{name}` is {header}, which is not a valid header name"),
                );
                continue;
            };
            if !matches!(kind, Some("string" | "integer" | "boolean")) {
                ruling.at(
                    "HDR-09",
                    true,
                    spot,
                    format!("`x-mcp-header` of `{name}` is on `{property}`, which is not a string, integer or boolean"),
                );
            } else if !is_reachable {
                ruling.at(
                    "HDR-09",
                    true,
                    spot,
                    format!("`x-mcp-header` of `{name}` is not reachable by `properties` alone"),
                );
            } else if !seen.insert(text.to_ascii_lowercase()) {
                ruling.at("HDR-09", true, spot, format!("`x-mcp-header` `{text}` of `{name}` is used twice"));
            }
            let plain = property.to_ascii_lowercase().replace(['-', '_'], "");
            if ["password", "apikey", "secret", "token"].iter().any(|word| plain.contains(word)) {
                ruling.at("HDR-14", false, spot, format!("`x-mcp-header` of `{name}` mirrors `{property}`"));
            }
        }
    }
    if ruling.checked == 0 {
        ruling.not_applicable("no tool has an `x-mcp-header`");
    }
}

/// The annotations of a schema: the property, the annotation, the type, and true if `properties` alone lead there.
fn collect<'s>(
    schema: &'s Value,
    is_reachable: bool,
    name: &'s str,
    found: &mut Vec<(&'s str, &'s Value, Option<&'s str>, bool)>,
) {
    match schema {
        Value::Object(map) => {
            if let Some(header) = map.get("x-mcp-header") {
                found.push((name, header, map.get("type").and_then(Value::as_str), is_reachable));
            }
            for (key, inner) in map {
                match (key.as_str(), inner) {
                    ("properties", Value::Object(properties)) => {
                        for (name, property) in properties {
                            collect(property, is_reachable, name, found);
                        }
                    }
                    ("x-mcp-header" | "default" | "const" | "enum" | "examples", _) => {}
                    _ => collect(inner, false, name, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, false, name, found)),
        _ => {}
    }
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

pub(super) const PARAM: Rule = Rule {
    id: "mcp-param-header",
    title: "checks `Mcp-Param-*` against the arguments, and expects none for null",
    clauses: &["HDR-10", "HDR-11", "HDR-12", "HDR-13"],
    level: Level::Must,
    section: "basic/transports/streamable-http#server-behavior-for-custom-headers",
    why: "Gateways route and bill by these headers.",
    bad: r#"Mcp-Param-Region: eu, arguments {"region":"us"} → 200"#,
    good: "→ 400 with -32020",
    blocked_by: &[super::HANDSHAKE, "mcp-x-mcp-header"],
    judge: param,
    ..HTTP
};

fn param(ruling: &mut Ruling<'_>) {
    let steps = ruling.evidence.steps("http", "param");
    for step in steps {
        match step.subject() {
            "other" => must_mismatch(ruling, "HDR-10", &step, "a `Mcp-Param` header that differs from the argument"),
            "missing" => must_mismatch(ruling, "HDR-10", &step, "an argument without its `Mcp-Param` header"),
            "bad-base64" => must_mismatch(ruling, "HDR-13", &step, "a `Mcp-Param` header with invalid base64"),
            "match" => must_serve(ruling, "HDR-10", &step, "a matching `Mcp-Param` header"),
            "base64" => must_serve(ruling, "HDR-10", &step, "a matching `Mcp-Param` header in base64"),
            "absent" => must_serve(ruling, "HDR-11", &step, "a call without the argument and without its header"),
            _ => {}
        }
    }
    if ruling.checked == 0 {
        ruling.not_applicable("no tool that can be called safely has an `x-mcp-header`");
    }
}
