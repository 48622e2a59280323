//! Sessions of Streamable HTTP until 2025-11-25.

use std::collections::BTreeSet;

use super::{B, BASE, D};
use crate::conformance::evidence::{Channel, Step};
use crate::conformance::rule::{Level, Rule, Ruling};

const HTTP: Rule = Rule { revisions: (B, D), channel: Some(Channel::Http), ..BASE };

/// The sessions that were given out, with the steps that began them.
fn sessions<'e>(ruling: &Ruling<'e>) -> Vec<(Step<'e>, &'e str)> {
    let steps = ruling.evidence.all_steps().filter(|step| step.method() == "initialize");
    steps.filter_map(|step| Some((step, step.header("mcp-session-id")?))).collect()
}

const NO_SESSIONS: &str = "the server gives out no session ids";

pub(super) const GONE: Rule = Rule {
    id: "mcp-session-gone",
    title: "answers a terminated session with 404, and gives out printable ids",
    clauses: &["SESS-04", "SESS-01"],
    section: "basic/transports#session-management",
    why: "On 404 clients start a new session; on any other status they fail for good.",
    bad: "DELETE → 200, then POST with the same id → 400",
    good: "DELETE → 200, then POST with the same id → 404",
    judge: gone,
    ..HTTP
};

fn gone(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    let sessions = sessions(ruling);
    if sessions.is_empty() {
        return ruling.not_applicable(NO_SESSIONS);
    }
    for (step, id) in &sessions {
        ruling.ok();
        if id.is_empty() || !id.bytes().all(|byte| (0x21..=0x7e).contains(&byte)) {
            ruling.fail("SESS-01", step, format!("the session id `{id}` is not visible ASCII"));
            break;
        }
    }
    let deleted = evidence.all_steps().find(|step| step.entry.step == "delete").and_then(|step| step.status());
    for step in evidence.all_steps().filter(|step| step.is("dead-post")) {
        let Some(status) = step.status() else { continue };
        if deleted.is_some_and(|status| (200..300).contains(&status)) {
            ruling.ok();
            if status != 404 {
                ruling.fail(
                    "SESS-04",
                    &step,
                    format!("a request of a terminated session was answered with HTTP {status}, not 404"),
                );
            }
        }
    }
    for step in evidence.all_steps().filter(|step| step.is("unissued-post")) {
        let Some(status) = step.status() else { continue };
        ruling.ok();
        if !matches!(status, 404 | 400) {
            ruling.warn(
                "SESS-04",
                &step,
                format!("a session id that was never given out was answered with HTTP {status}"),
            );
        }
    }
}

pub(super) const REQUIRED: Rule = Rule {
    id: "mcp-session-required",
    title: "refuses requests without the session id with 400",
    clauses: &["SESS-03", "SESS-05"],
    level: Level::Should,
    section: "basic/transports#session-management",
    why: "A client that lost its id is served in a session that is not its own.",
    bad: "POST without Mcp-Session-Id → 200",
    good: "POST without Mcp-Session-Id → 400",
    judge: required,
    ..HTTP
};

fn required(ruling: &mut Ruling<'_>) {
    if sessions(ruling).is_empty() {
        return ruling.not_applicable(NO_SESSIONS);
    }
    for step in ruling.evidence.all_steps().filter(|step| step.is("no-session")) {
        let Some(status) = step.status() else { continue };
        ruling.ok();
        if status != 400 {
            ruling.warn(
                "SESS-03",
                &step,
                format!("a request without `Mcp-Session-Id` was answered with HTTP {status}, not 400"),
            );
        }
    }
    for step in ruling.evidence.all_steps().filter(|step| step.entry.step == "delete") {
        let Some(status) = step.status() else { continue };
        ruling.ok();
        if status >= 500 {
            ruling.warn("SESS-05", &step, format!("DELETE was answered with HTTP {status}"));
        }
    }
}

pub(super) const UNGUESSABLE: Rule = Rule {
    id: "mcp-session-ids",
    title: "gives out session ids that are unique and cannot be guessed",
    clauses: &["SESS-02", "SESS-06"],
    level: Level::Should,
    section: "basic/transports#session-management",
    why: "An attacker who guesses an id reads and writes in another user's session.",
    bad: "session-1, session-2",
    good: "a UUID of a secure random generator",
    judge: unguessable,
    ..HTTP
};

fn unguessable(ruling: &mut Ruling<'_>) {
    let sessions = sessions(ruling);
    if sessions.is_empty() {
        return ruling.not_applicable(NO_SESSIONS);
    }
    let mut seen = BTreeSet::new();
    for (step, id) in &sessions {
        ruling.ok();
        if !seen.insert(*id) {
            ruling.warn("SESS-02", step, format!("the session id `{id}` was given out twice"));
            return;
        }
        if bits(id) < 64.0 {
            ruling.warn("SESS-02", step, format!("the session id `{id}` holds fewer than 64 bits"));
            return;
        }
    }
    let stem = |id: &str| id.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
    let stems: BTreeSet<String> = seen.iter().map(|id| stem(id)).collect();
    if seen.len() > 2
        && stems.len() == 1
        && let Some((step, _)) = sessions.last()
    {
        ruling.warn("SESS-02", step, "the session ids differ in a number at their end");
    }
}

/// An upper bound on the randomness of an id: its length times the bits of its alphabet.
fn bits(id: &str) -> f64 {
    let is_hex = id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let is_number = id.bytes().all(|byte| byte.is_ascii_digit());
    let per = if is_number {
        3.3
    } else if is_hex {
        4.0
    } else {
        6.0
    };
    let length = u32::try_from(id.bytes().filter(|byte| *byte != b'-').count()).unwrap_or(u32::MAX);
    f64::from(length) * per
}
