//! `_meta` of requests in 2026-07-28.

use super::{A, BASE, E};
use crate::conformance::evidence::Channel;
use crate::conformance::rule::{Level, Rule, Ruling};

/// True if a `_meta` key is `[label(.label)*/]name` of the allowed characters.
pub(super) fn is_legal_key(key: &str) -> bool {
    let (prefix, name) = match key.rsplit_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    let is_label = |label: &str| {
        label.starts_with(|c: char| c.is_ascii_alphabetic())
            && label.ends_with(|c: char| c.is_ascii_alphanumeric())
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    let is_end = |c: char| c.is_ascii_alphanumeric();
    let is_name = name.is_empty()
        || name.starts_with(is_end)
            && name.ends_with(is_end)
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    prefix.is_none_or(|prefix| prefix.split('.').all(is_label)) && is_name && !key.is_empty()
}

pub(super) const REQUIRED: Rule = Rule {
    id: "mcp-request-meta",
    title: "requires version and capabilities in the `_meta` of every request",
    clauses: &["META-01", "META-02", "STATE-01"],
    revisions: (E, E),
    section: "basic/index#meta, #statelessness",
    why: "A server that remembers them from an earlier request mixes up clients behind one connection.",
    bad: "a request without `_meta` → a result",
    good: r#"→ {"error":{"code":-32602,…}}, over HTTP with status 400"#,
    judge: required,
    ..BASE
};

fn required(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for step in evidence.steps("main", "meta-missing") {
        ruling.ok();
        let what = step.subject();
        let answer = step.answer();
        // With a header that names the version, a body that does not is a mismatch too.
        let is_fine = match answer.code() {
            Some(-32602) => true,
            Some(-32020) => evidence.channel == Channel::Http && what != "clientCapabilities",
            _ => false,
        };
        if !is_fine {
            let clause = if answer.result().is_some() { "STATE-01" } else { "META-01" };
            ruling.fail(clause, &step, format!("a request without `{what}` was answered with {}", answer.words()));
        } else if evidence.channel == Channel::Http && step.status() != Some(400) {
            let status = step.status().unwrap_or_default();
            ruling.fail(
                "META-02",
                &step,
                format!("a request without `{what}` was refused with HTTP {status}, not 400"),
            );
        }
    }
}

pub(super) const OPTIONAL: Rule = Rule {
    id: "mcp-optional-meta",
    title: "does not require client info and ignores unknown `_meta` keys",
    clauses: &["META-03", "META-08"],
    level: Level::Derived,
    revisions: (A, E),
    section: "basic/index#meta",
    why: "Proxies and tracing add keys of their own; requests that carry them fail.",
    bad: r#""_meta":{"com.example/x":1} → {"error":…}"#,
    good: r#""_meta":{"com.example/x":1} → a result"#,
    judge: optional,
    ..BASE
};

fn optional(ruling: &mut Ruling<'_>) {
    for step in ruling.evidence.steps("main", "meta-extra") {
        ruling.ok();
        if step.answer().result().is_none() {
            let words = step.answer().words();
            ruling.fail("META-08", &step, format!("a request with an unknown `_meta` key was answered with {words}"));
        }
    }
    for step in ruling.evidence.steps("main", "meta-no-client-info") {
        ruling.ok();
        if step.answer().result().is_none() {
            let words = step.answer().words();
            ruling.fail("META-03", &step, format!("a request without `clientInfo` was answered with {words}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_an_optional_prefix_of_labels_and_a_name() {
        for key in ["progressToken", "io.modelcontextprotocol/serverInfo", "com.example/x.y-z_1", "a/b"] {
            assert!(is_legal_key(key), "{key}");
        }
        for key in ["bad key", "-x/y", "x-/y", "a..b/c", "1a/b", "-x", "a b/x", "", "ä"] {
            assert!(!is_legal_key(key), "{key}");
        }
    }
}
