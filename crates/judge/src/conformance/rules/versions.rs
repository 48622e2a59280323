//! Version negotiation in both eras.

use mcprove_model::{Era, Revision};
use serde_json::Value;

use super::{A, BASE, D, E};
use crate::conformance::evidence::Channel;
use crate::conformance::rule::{Level, Rule, Ruling};

pub(super) const NEGOTIATION: Rule = Rule {
    id: "mcp-version-negotiation",
    title: "negotiates versions and never echoes an unknown one",
    clauses: &["LIFE-02", "LIFE-03", "LIFE-04"],
    revisions: (A, D),
    section: "basic/lifecycle#version-negotiation",
    why: "A client newer than the server cannot connect when its offer is refused or echoed.",
    bad: r#"offer "2099-12-31" → {"protocolVersion":"2099-12-31",…}"#,
    good: r#"offer "2099-12-31" → {"protocolVersion":"2025-11-25",…}"#,
    judge: negotiation,
    ..BASE
};

fn negotiation(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    let offers = evidence.steps("negotiate", "offer");
    if offers.is_empty() {
        return ruling.not_exercised("versions were not offered");
    }
    let answered = |step: &crate::conformance::Step<'_>| {
        step.answer().result().and_then(|result| result["protocolVersion"].as_str()).map(str::to_owned)
    };
    let served: Vec<String> = offers.iter().filter_map(&answered).filter(|v| Revision::parse(v).is_some()).collect();
    for step in &offers {
        ruling.ok();
        let offer = step.subject();
        let is_junk = Revision::parse(offer).is_none();
        match answered(step) {
            Some(answer) if is_junk && answer == offer => {
                ruling.fail("LIFE-03", step, format!("the unknown version `{offer}` was echoed"));
            }
            Some(answer) if is_junk && Revision::parse(&answer).is_none() => {
                ruling.fail(
                    "LIFE-03",
                    step,
                    format!("`{offer}` was answered with `{answer}`, which is not a revision"),
                );
            }
            Some(answer) if is_junk => {
                let newest = served.iter().filter(|v| is_legacy(v)).max();
                if newest.is_some_and(|newest| *newest > answer) && is_legacy(&answer) {
                    let newest = newest.map_or("", String::as_str);
                    ruling.warn(
                        "LIFE-04",
                        step,
                        format!("`{offer}` was answered with `{answer}`, not with the newest it serves (`{newest}`)"),
                    );
                }
            }
            Some(answer) if answer != offer && served.contains(&offer.to_owned()) => {
                ruling.fail(
                    "LIFE-02",
                    step,
                    format!("`{offer}` is served, but offering it was answered with `{answer}`"),
                );
            }
            None if is_junk => {
                let text = step.reply_text();
                let names_versions = Revision::ALL.iter().any(|revision| text.contains(revision.as_str()));
                let words = step.answer().words();
                if names_versions {
                    ruling.warn(
                        "LIFE-03",
                        step,
                        format!("`{offer}` was refused with {words}: clients cannot negotiate"),
                    );
                } else {
                    ruling.fail(
                        "LIFE-03",
                        step,
                        format!("`{offer}` was answered with {words}, not with a version it serves"),
                    );
                }
            }
            Some(_) | None => {}
        }
    }
}

fn is_legacy(version: &str) -> bool {
    Revision::parse(version).is_some_and(|revision| revision.era() == Era::Legacy)
}

pub(super) const UNSUPPORTED: Rule = Rule {
    id: "mcp-unsupported-version",
    title: "refuses an unsupported version with -32022, at any time",
    clauses: &["VER-02", "VER-03"],
    revisions: (E, E),
    section: "basic/versioning#protocol-version-negotiation",
    why: "A client finds a common version only from `data.supported` of this error.",
    bad: r#"_meta protocolVersion "1900-01-01" → a result"#,
    good: r#"→ {"error":{"code":-32022,"message":"…","data":{"supported":["2026-07-28"],"requested":"1900-01-01"}}}"#,
    judge: unsupported,
    ..BASE
};

fn unsupported(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    let steps: Vec<_> = evidence.all_steps().filter(|step| step.is("bad-version")).collect();
    for step in steps {
        ruling.ok();
        let when = if step.subject() == "first" { "as the first message" } else { "after good requests" };
        let answer = step.answer();
        if answer.code() != Some(-32022) {
            ruling.fail(
                "VER-02",
                &step,
                format!("a request of version `1900-01-01`, {when}, was answered with {}", answer.words()),
            );
            continue;
        }
        let crate::conformance::Answer::Error(error) = answer else { continue };
        let supported = error.pointer("/data/supported").and_then(Value::as_array);
        if supported.is_none_or(|versions| versions.is_empty() || !versions.iter().all(Value::is_string)) {
            ruling.fail("VER-02", &step, "the error -32022 has no list `data.supported`");
        } else if error.pointer("/data/requested").and_then(Value::as_str) != Some("1900-01-01") {
            ruling.fail("VER-02", &step, "the error -32022 does not repeat the version in `data.requested`");
        }
        if evidence.channel == Channel::Http && step.status() != Some(400) {
            ruling.fail(
                "VER-03",
                &step,
                format!("the error -32022 came with HTTP {}", step.status().unwrap_or_default()),
            );
        }
    }
}

pub(super) const REMOVED_METHODS: Rule = Rule {
    id: "mcp-removed-methods",
    title: "does not serve methods that 2026-07-28 removed",
    clauses: &["PING-03"],
    level: Level::Derived,
    revisions: (E, E),
    section: "basic/transports/streamable-http#protocol-version-header; schema ClientRequest",
    why: "A client that detects the era by a removed method takes the server for an older one.",
    bad: r#"ping with modern _meta → {"result":{}}"#,
    good: r#"ping with modern _meta → {"error":{"code":-32601,…}}"#,
    judge: removed_methods,
    ..BASE
};

fn removed_methods(ruling: &mut Ruling<'_>) {
    for step in ruling.evidence.steps("main", "removed") {
        ruling.ok();
        if step.answer().result().is_some() {
            ruling.fail(
                "PING-03",
                &step,
                format!("`{}` is served, though 2026-07-28 has no such method", step.subject()),
            );
        }
    }
}

pub(super) const LISTED: Rule = Rule {
    id: "mcp-listed-versions",
    title: "serves the versions it lists, and names them to old clients",
    clauses: &["VER-04", "VER-05", "VER-07"],
    level: Level::Derived,
    section: "server/discover#discoverresult; basic/versioning#backward-compatibility-with-initialization-based-versions",
    why: "A client picks from this list and is refused, or a legacy client cannot show its user what to update.",
    blocked_by: &[super::HANDSHAKE, "mcp-version-negotiation"],
    bad: r#""supportedVersions":["2026-07-28","2099-01-01"], and 2099-01-01 is refused"#,
    good: r#""supportedVersions":["2026-07-28"]"#,
    judge: listed,
    ..BASE
};

fn listed(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for step in evidence.all_steps().filter(|step| step.is("offer") && step.recording().probe == "negotiate") {
        ruling.ok();
        let answer = step.answer().result().and_then(|result| result["protocolVersion"].as_str());
        let is_modern = answer.and_then(Revision::parse).is_some_and(|revision| revision.era() == Era::Modern);
        if is_modern {
            ruling.fail("VER-07", &step, "`initialize` was answered with a revision that has no `initialize`");
        }
    }
    if evidence.revision < E {
        return;
    }
    for step in evidence.steps("main", "listed-version") {
        ruling.ok();
        if step.answer().result().is_none() {
            let words = step.answer().words();
            ruling.fail(
                "VER-04",
                &step,
                format!("`{}` is listed, but a request of it was answered with {words}", step.subject()),
            );
        }
    }
    let versions = evidence.opening().and_then(|opening| opening["supportedVersions"].as_array());
    if let (Some(versions), Some(step)) = (versions, evidence.step("main", "discover")) {
        ruling.ok();
        if !versions.iter().any(|version| version == evidence.revision.as_str()) {
            ruling.fail("VER-04", &step, format!("`{}` is served, but not listed", evidence.revision));
        }
    }
    if !evidence.is_dual_era
        && let Some(step) = evidence.step("negotiate", "offer:2025-11-25")
    {
        ruling.ok();
        if !step.reply_text().contains(evidence.revision.as_str()) {
            ruling.warn("VER-05", &step, "the error to `initialize` names no version that is served");
        }
    }
}
