//! Logging in both eras.

use super::{A, BASE, D, E};
use crate::conformance::evidence::{Channel, Step};
use crate::conformance::rule::{Level, Rule, Ruling};
use crate::log_level::LEVELS;

const MESSAGE: &str = "notifications/message";

/// The rank of a level; unknown ones rank highest, so that they are not taken for messages that should be dropped.
fn severity(level: &str) -> usize {
    LEVELS.iter().position(|known| *known == level).unwrap_or(LEVELS.len())
}

pub(super) const CONSENT: Rule = Rule {
    id: "mcp-log-consent",
    title: "sends log messages only to requests that ask for them, from their level on",
    clauses: &["LOG-06", "LOG-07", "LOG-08", "LOG-09"],
    revisions: (E, E),
    section: "server/utilities/logging#per-request-log-level",
    why: "A stateless client has nowhere to put messages it did not ask for.",
    bad: "a request without logLevel → notifications/message",
    good: r#"_meta …/logLevel "error" → messages of error and above, on that stream"#,
    judge: consent,
    ..BASE
};

/// The log level that a request asks for.
fn wanted<'r>(step: &Step<'r>) -> Option<&'r str> {
    step.sent_member("/params/_meta")?.get("io.modelcontextprotocol/logLevel")?.as_str()
}

fn consent(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for step in evidence.all_steps().filter(|step| step.id().is_some()) {
        let messages: Vec<_> = step.side_messages().into_iter().filter(|(_, json)| json["method"] == MESSAGE).collect();
        if step.is("bad-log-level") {
            ruling.ok();
            if step.answer().result().is_some() {
                ruling.warn("LOG-09", &step, "a request with an unknown log level was served");
            }
        }
        // On pipes, messages of another open request come between; only steps made one by one are judged.
        if step.is("many") || step.is("listen") && evidence.channel == Channel::Stdio {
            continue;
        }
        if step.is("call") || step.is("call-log") {
            ruling.ok();
        }
        for (spot, json) in messages {
            let level = json["params"]["level"].as_str().unwrap_or_default();
            match wanted(&step) {
                None if step.is("listen") => ruling.at("LOG-07", true, spot, "a log message came on a listen stream"),
                None => ruling.at("LOG-06", true, spot, "a log message came for a request that set no log level"),
                Some(wanted) => {
                    if severity(level) < severity(wanted) {
                        ruling.at(
                            "LOG-08",
                            false,
                            spot,
                            format!("a message of level `{level}` came, and `{wanted}` was asked for"),
                        );
                    }
                }
            }
        }
    }
    if ruling.checked == 0 {
        ruling.not_testable("no tool can be called safely");
    }
}

pub(super) const LEVEL: Rule = Rule {
    id: "mcp-log-level",
    title: "serves `logging/setLevel`, refuses unknown levels and keeps the filter",
    clauses: &["LOG-02", "LOG-03", "LOG-04", "LOG-05"],
    level: Level::Should,
    revisions: (A, D),
    section: "server/utilities/logging",
    why: "A host that sets a level shows an error, or a log full of what it did not ask for.",
    bad: r#"logging/setLevel {"level":"verbose"} → {}"#,
    good: r#"→ {"error":{"code":-32602,…}}"#,
    judge: level,
    ..BASE
};

fn level(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    if !evidence.declares("logging") {
        return ruling.not_applicable("`logging` is not declared");
    }
    for step in evidence.steps("main", "level") {
        ruling.ok();
        if step.answer().result().is_none() {
            let words = step.answer().words();
            ruling.fail("LOG-02", &step, format!("setting the level `{}` was answered with {words}", step.subject()));
        }
    }
    for step in evidence.steps("main", "bad-level") {
        ruling.ok();
        if step.answer().code() != Some(-32602) {
            let words = step.answer().words();
            ruling.warn("LOG-03", &step, format!("an unknown level was answered with {words}, not -32602"));
        }
    }
    for step in evidence.steps("main", "call-quiet") {
        for (spot, json) in step.side_messages() {
            let level = json["params"]["level"].as_str().unwrap_or_default();
            if json["method"] == MESSAGE && severity(level) < severity("emergency") {
                ruling.at(
                    "LOG-04",
                    false,
                    spot,
                    format!("a message of level `{level}` came after the level was set to `emergency`"),
                );
            }
        }
    }
}
