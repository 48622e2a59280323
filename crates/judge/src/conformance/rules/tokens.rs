//! Authorization with a login: which tokens are taken.

use mcprove_model::oauth::bearer_challenge;

use super::{B, BASE, C, D, E};
use crate::conformance::evidence::Channel;
use crate::conformance::rule::{Level, Rule, Ruling};

const HTTP: Rule = Rule { revisions: (C, E), channel: Some(Channel::Http), blocked_by: &[], ..BASE };

/// True if the server takes a good token; otherwise nothing can be said about others.
fn takes_tokens(ruling: &mut Ruling<'_>) -> bool {
    let status_of =
        |label: &str| ruling.evidence.all_steps().find(|step| step.is(label)).and_then(|step| step.status());
    let why = match (status_of("token-none"), status_of("token-good")) {
        (None, _) => "tokens are tested with `--auth`",
        (Some(200..300), _) => "the server asks for no authorization",
        (_, None) => "there is no token: log in with `mcprove login`, or name a test issuer with `--test-issuer`",
        (_, Some(200..300)) => return true,
        (_, Some(_)) => "the server refuses a token that should be good: does it trust the issuer?",
    };
    ruling.not_testable(why);
    false
}

pub(super) const CHECKED: Rule = Rule {
    id: "mcp-token-checked",
    title: "refuses tokens that are expired, changed, for another server, or in the URL",
    clauses: &["AUTH-08", "AUTH-09"],
    section: "basic/authorization#token-handling, #token-requirements",
    why: "A server that takes any token can be used with one that was stolen from another server, or made up.",
    bad: "a token whose audience is another server → 200",
    good: "→ 401 with WWW-Authenticate",
    judge: checked,
    ..HTTP
};

fn checked(ruling: &mut Ruling<'_>) {
    if !takes_tokens(ruling) {
        return;
    }
    for step in ruling.evidence.all_steps() {
        let (clause, what) = match step.entry.step.as_str() {
            "token-audience" => ("AUTH-08", "a token for another server"),
            "token-expired" => ("AUTH-08", "a token that has expired"),
            "token-tampered" => ("AUTH-08", "a token that was changed after it was signed"),
            "token-query" => ("AUTH-09", "a good token in the query of the URL"),
            _ => continue,
        };
        let Some(status) = step.status() else { continue };
        ruling.ok();
        let is_refused = match clause {
            "AUTH-09" => status >= 400,
            // A server without a GET stream may say so first.
            _ => status == 401,
        };
        if !is_refused {
            ruling.fail(clause, &step, format!("{what} was answered with HTTP {status}, not 401"));
        }
    }
}

pub(super) const REVOKED: Rule = Rule {
    id: "mcp-token-revoked",
    title: "refuses tokens that were revoked",
    clauses: &["AUTH-08"],
    level: Level::Should,
    section: "basic/authorization#token-handling",
    why: "Users who log out, or lose a device, expect that their tokens end there.",
    bad: "a token that the authorization server revoked → 200",
    good: "→ 401; the server introspects tokens, or they live for minutes",
    judge: revoked,
    ..HTTP
};

fn revoked(ruling: &mut Ruling<'_>) {
    if !takes_tokens(ruling) {
        return;
    }
    for step in ruling.evidence.all_steps().filter(|step| step.is("token-revoked")) {
        let Some(status) = step.status() else { continue };
        ruling.ok();
        if status < 400 {
            ruling.warn("AUTH-08", &step, format!("a token that was revoked was answered with HTTP {status}, not 401"));
        }
    }
}

pub(super) const SCOPE: Rule = Rule {
    id: "mcp-token-scope",
    title: "refuses tokens without its scopes with 403, and names the scopes",
    clauses: &["AUTH-06"],
    level: Level::Should,
    revisions: (D, E),
    section: "basic/authorization#scope-challenge-handling",
    why: "Clients ask for the scopes that the refusal names; without them, the user is stuck.",
    bad: "a token without the scope of the challenge → 200, or 403 without scope=",
    good: r#"→ 403 with WWW-Authenticate: Bearer error="insufficient_scope", scope="files:write""#,
    judge: scope,
    ..HTTP
};

fn scope(ruling: &mut Ruling<'_>) {
    if !takes_tokens(ruling) {
        return;
    }
    for step in ruling.evidence.all_steps().filter(|step| step.is("token-scope")) {
        let Some(status) = step.status() else { continue };
        ruling.ok();
        if status != 403 {
            let what = format!("a token without the scope of the challenge was answered with HTTP {status}, not 403");
            ruling.warn("AUTH-06", &step, what);
            continue;
        }
        let challenge = bearer_challenge(step.headers("www-authenticate")).unwrap_or_default();
        if !challenge.wants_scope() || challenge.parameter("scope").is_none() {
            let what =
                "the answer 403 does not name the scopes that are missing (`error=\"insufficient_scope\", scope=…`)";
            ruling.warn("AUTH-06", &step, what);
        }
    }
}

pub(super) const SESSION: Rule = Rule {
    id: "mcp-token-session",
    title: "does not let one user use the session of another",
    clauses: &["AUTH-10"],
    level: Level::Should,
    revisions: (B, D),
    section: "basic/security_best_practices#session-hijacking",
    why: "A client that learns a session id would read the answers of another user.",
    bad: "the session of one user, with the token of another → 200",
    good: "→ 404, as for a session that does not exist",
    judge: session,
    ..HTTP
};

fn session(ruling: &mut Ruling<'_>) {
    if !takes_tokens(ruling) {
        return;
    }
    for step in ruling.evidence.all_steps().filter(|step| step.is("token-session")) {
        let Some(status) = step.status() else { continue };
        ruling.ok();
        if status < 400 {
            let what = format!("the session of one user with the token of another was answered with HTTP {status}");
            ruling.warn("AUTH-10", &step, what);
        }
    }
}
