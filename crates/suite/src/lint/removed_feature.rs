//! `removed-feature`: something that a revision of the protocol no longer has.

use mcprove_model::{Diagnostics, Entry, Finding, Node, Revision};

use super::{Rule, Subject, each_entry, fixes, items};

pub(super) const RULE: Rule = Rule {
    id: "removed-feature",
    summary: "A feature that the target revision no longer has.",
    why: "A server of that revision refuses it, or must not use it.",
    bad: "server: {command: x}\nassert_raw:\n  method: resources/subscribe\n  expect: {result: {}}\n---\n\
          server: {command: x}\nassert_resources:\n  read: a://b\n  expect: {protocol_error: -32002}\n",
    good: "server: {command: x}\nassert_raw:\n  method: ping\n  expect: {error_code: -32601}\n---\n\
           server: {command: x}\nassert_resources:\n  read: a://b\n  expect: {protocol_error: -32602}\n",
    run,
};

/// Methods that 2026-07-28 no longer has, and what to do instead.
const METHODS: &[(&str, &str)] = &[
    ("initialize", "`server/discover` says what a server offers"),
    ("logging/setLevel", "a request asks for its log messages in `_meta`"),
    ("notifications/elicitation/complete", "the answer is sent again with what was asked for"),
    ("notifications/initialized", "there is no handshake"),
    ("notifications/roots/list_changed", "hand folders over as arguments of tools"),
    ("ping", "any request shows that a server answers"),
    ("resources/subscribe", "`subscriptions/listen` announces updates"),
    ("resources/unsubscribe", "`subscriptions/listen` ends when its request is cancelled"),
    ("tasks/cancel", "tasks are an extension"),
    ("tasks/get", "tasks are an extension"),
    ("tasks/list", "tasks are an extension"),
    ("tasks/result", "tasks are an extension"),
];

/// Keys that expect the code of an error.
const CODES: &[&str] = &["code", "error_code", "exact", "protocol_error"];

fn run(subject: &Subject<'_>, found: &mut Diagnostics<'_>) {
    let is_stateless = subject.target >= Revision::V2026_07_28;
    each_entry(subject.document, &mut |above, entry, map| {
        let key = entry.key.text.as_str();
        if key == "text" && is_raw(above) && subject.target >= Revision::V2025_06_18 && is_batch(&entry.value) {
            let message = "batches are removed in 2025-06-18";
            report(entry, message.to_owned(), "send one message at a time", found);
        }
        if !is_stateless {
            return;
        }
        if matches!(key, "method" | "methods") && (is_raw(above) || above.contains(&"expect")) && !expects_error(map) {
            for item in items(&entry.value) {
                if let Some((method, instead)) = METHODS.iter().find(|(method, _)| item.as_text() == Some(method)) {
                    let message = format!("`{method}` is removed in 2026-07-28");
                    found.error_with_help(RULE.id, item.span, message, *instead);
                }
            }
        }
        if CODES.contains(&key) && above.contains(&"expect") {
            report_code(entry, found);
        }
    });
}

fn report_code(entry: &Entry, found: &mut Diagnostics<'_>) {
    let source = found.source();
    let place = source.place(entry.value.span);
    let finding = match entry.value.as_text() {
        Some("-32002") => {
            let mut finding = Finding::error(RULE.id, "the code -32002 is removed in 2026-07-28").at(place);
            finding.help = Some("a missing resource is reported with -32602".to_owned());
            finding.fix = Some(fixes::replace("expect -32602", &entry.value, "-32602"));
            finding
        }
        Some("-32042") => {
            let finding = Finding::error(RULE.id, "the code -32042 is removed in 2026-07-28").at(place);
            finding.help("a link is asked for in the result of the request")
        }
        Some(_) | None => return,
    };
    found.add(finding);
}

fn report(entry: &Entry, message: String, help: &'static str, found: &mut Diagnostics<'_>) {
    found.error_with_help(RULE.id, entry.value.span, message, help);
}

fn is_raw(above: &[&str]) -> bool {
    above.last() == Some(&"assert_raw")
}

fn is_batch(node: &Node) -> bool {
    node.as_text().is_some_and(|text| text.trim_start().starts_with('['))
}

/// A block that sends something to see it refused means it.
fn expects_error(block: &Node) -> bool {
    let expect = block.get("expect");
    let has = |key: &str| expect.and_then(|expect| expect.get(key)).is_some_and(|node| node.as_bool() != Some(false));
    has("error") || has("error_code") || has("protocol_error") || has("no_reply")
}
