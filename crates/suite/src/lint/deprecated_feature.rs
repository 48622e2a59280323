//! `deprecated-feature`: something that a revision of the protocol advises against.

use mcprove_model::{Diagnostics, Entry, Revision};

use super::{Rule, Subject, each_entry, items};

pub(super) const RULE: Rule = Rule {
    id: "deprecated-feature",
    summary: "A feature that the target revision advises against.",
    why: "Servers and clients may drop it in a revision to come.",
    bad: "server: {url: 'http://x', transport: sse, client_capabilities: {roots: [/tmp]}}\n\
          assert_logging: {set_level: debug, expect: {min_messages: 1}}\n",
    good: "server: {url: 'http://x', transport: http}\nassert: {tool: a, expect: {not_error: true}}\n",
    run,
};

/// Something deprecated, since when, and what to do instead (2026-07-28, "Deprecated features").
struct Feature {
    what: &'static str,
    since: Revision,
    instead: &'static str,
    is_used: fn(&[&str], &Entry) -> bool,
}

const FEATURES: &[Feature] = &[
    Feature {
        what: "the HTTP+SSE transport",
        since: Revision::V2025_03_26,
        instead: "offer Streamable HTTP and write `transport: http`",
        is_used: |_, entry| {
            let is_sse = |text: &str| text.eq_ignore_ascii_case("sse");
            entry.key.text == "transport" && entry.value.as_text().is_some_and(is_sse)
        },
    },
    Feature {
        what: "roots",
        since: Revision::V2026_07_28,
        instead: "hand folders over as arguments of tools, as resources or in the server's configuration",
        is_used: |above, entry| entry.key.text == "roots" && above.last() == Some(&"client_capabilities"),
    },
    Feature {
        what: "sampling",
        since: Revision::V2026_07_28,
        instead: "let the server call a model by itself",
        is_used: |above, entry| {
            entry.key.text == "assert_sampling"
                || entry.key.text == "sampling" && above.last() == Some(&"client_capabilities")
        },
    },
    Feature {
        what: "logging",
        since: Revision::V2026_07_28,
        instead: "log to standard error, or with OpenTelemetry",
        is_used: |_, entry| {
            entry.key.text == "assert_logging"
                || entry.key.text == "methods"
                    && items(&entry.value).iter().any(|item| item.as_text() == Some("notifications/message"))
        },
    },
];

fn run(subject: &Subject<'_>, found: &mut Diagnostics<'_>) {
    each_entry(subject.document, &mut |above, entry, _| {
        for feature in FEATURES.iter().filter(|feature| feature.since <= subject.target) {
            if (feature.is_used)(above, entry) {
                let span = if entry.key.text == "transport" { entry.value.span } else { entry.key.span };
                let message = format!("{} is deprecated since {}", feature.what, feature.since);
                found.warning(RULE.id, span, message, Some(feature.instead.to_owned()));
            }
        }
    });
}
