//! Authorization, as far as it can be seen without a login.

use mcprove_model::oauth::{Challenge, ResourceMatch, bearer_challenge, is_loopback_url, match_resource, split_scopes};
use mcprove_model::without_password;
use serde_json::Value;

use super::{B, BASE, C, D, E};
use crate::conformance::Step;
use crate::conformance::evidence::Channel;
use crate::conformance::rule::{Level, Rule, Ruling};

const HTTP: Rule = Rule { revisions: (B, E), channel: Some(Channel::Http), blocked_by: &[], ..BASE };
const OPEN: &str = "the server asks for no authorization";

/// The status of the first request without a token, if it was a challenge.
fn is_protected(ruling: &Ruling<'_>) -> bool {
    let mut steps = ruling.evidence.all_steps().filter(|step| step.is("auth-none"));
    steps.any(|step| matches!(step.status(), Some(401 | 403)))
}

/// The challenge of a response, without parameters if there is none.
fn challenge_of(step: &Step<'_>) -> Challenge {
    bearer_challenge(step.headers("www-authenticate")).unwrap_or_default()
}

pub(super) const CHALLENGE: Rule = Rule {
    id: "mcp-auth-challenge",
    title: "answers requests without a valid token with 401",
    clauses: &["AUTH-01", "AUTH-08", "AUTH-10"],
    section: "basic/authorization#error-handling, #token-handling",
    why: "Clients start the login on 401 alone; a request that is served without a token is an open door.",
    bad: "no token → 403; Authorization: Bearer garbage → 200",
    good: "→ 401 with WWW-Authenticate",
    judge: challenge,
    ..HTTP
};

fn challenge(ruling: &mut Ruling<'_>) {
    if !is_protected(ruling) {
        return ruling.not_applicable(OPEN);
    }
    for step in ruling.evidence.all_steps() {
        let (clause, what) = match step.entry.step.split(':').next().unwrap_or_default() {
            "auth-none" => ("AUTH-01", "without a token"),
            "auth-garbage" => ("AUTH-08", "with an invalid token"),
            "auth-unsigned" => ("AUTH-08", "with an unsigned token"),
            "auth-session" => ("AUTH-10", "with a session id and no token"),
            "auth-get" => ("AUTH-10", "by GET without a token"),
            "auth-delete" => ("AUTH-10", "by DELETE without a token"),
            "auth-notification" => ("AUTH-10", "with a notification and no token"),
            _ => continue,
        };
        let Some(status) = step.status() else { continue };
        ruling.ok();
        // A server may say first that it has no such stream or session.
        let is_refused = if clause == "AUTH-10" { status >= 400 } else { status == 401 };
        if !is_refused {
            ruling.fail(clause, &step, format!("a request {what} was answered with HTTP {status}, not 401"));
        }
    }
}

pub(super) const RESOURCE: Rule = Rule {
    id: "mcp-auth-resource",
    title: "publishes its protected resource metadata",
    clauses: &["AUTH-02", "AUTH-03", "AUTH-04", "AUTH-05", "AUTH-18"],
    revisions: (C, E),
    section: "basic/authorization#authorization-server-location",
    why: "Clients find the authorization server only through this document.",
    bad: "401 without resource_metadata, and no document at the well-known path",
    good: r#"WWW-Authenticate: Bearer resource_metadata="https://…/.well-known/oauth-protected-resource""#,
    judge: resource,
    ..HTTP
};

fn resource(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    if !is_protected(ruling) {
        return ruling.not_applicable(OPEN);
    }
    let Some(first) = evidence.all_steps().find(|step| step.is("auth-none")) else { return };
    ruling.ok();
    let challenge = challenge_of(&first);
    let named = challenge.parameter("resource_metadata");
    if challenge.unquoted.iter().any(|name| name == "resource_metadata") {
        ruling.warn("AUTH-18", &first, "`resource_metadata` in `WWW-Authenticate` is not quoted");
    }
    if let Some(path) = named.filter(|url| !url.contains("://")) {
        ruling.warn("AUTH-18", &first, format!("`resource_metadata` in `WWW-Authenticate` is `{path}`, not a URL"));
    }
    if evidence.revision == C && named.is_none() {
        ruling.fail("AUTH-02", &first, "`WWW-Authenticate` names no `resource_metadata`");
    }
    let documents: Vec<_> = evidence.all_steps().filter(|step| step.is("auth-resource")).collect();
    let found = documents.iter().find(|step| step.status() == Some(200) && document(step).is_some());
    let Some(found) = found else {
        ruling.fail("AUTH-03", &first, "no protected resource metadata was found");
        return;
    };
    let Some(body) = document(found) else { return };
    if body["authorization_servers"].as_array().is_none_or(Vec::is_empty) {
        ruling.fail("AUTH-03", found, "the metadata lists no `authorization_servers`");
    }
    let Some(resource) = body["resource"].as_str() else {
        ruling.fail("AUTH-04", found, "the metadata has no `resource`");
        return;
    };
    if resource.contains('#') || !resource.contains("://") {
        ruling.warn("AUTH-05", found, format!("`resource` is `{resource}`"));
    }
    let Some(used) = first.url() else { return };
    let what = format!("`resource` is `{resource}`, and the server is at `{}`", without_password(used));
    match match_resource(resource, used) {
        ResourceMatch::Same => {}
        ResourceMatch::Parent => ruling.warn("AUTH-04", found, what),
        ResourceMatch::Other => ruling.fail("AUTH-04", found, what),
    }
}

fn document<'r>(step: &Step<'r>) -> Option<&'r Value> {
    step.after().find_map(|(_, entry)| match &entry.what {
        crate::conformance::What::Received(payload) => payload.json.as_ref().filter(|json| json.is_object()),
        _ => None,
    })
}

pub(super) const SERVER: Rule = Rule {
    id: "mcp-auth-server",
    title: "names an authorization server with usable metadata",
    clauses: &["AUTH-11", "AUTH-12", "AUTH-13", "AUTH-14", "AUTH-17"],
    revisions: (C, E),
    section: "basic/authorization#authorization-server-metadata-discovery, #authorization-code-protection",
    why: "Clients refuse a server without PKCE, without https or under another issuer.",
    bad: r#"{"issuer":"https://other.example","authorization_endpoint":"http://…"}"#,
    good: r#"{"issuer":"https://as.example","code_challenge_methods_supported":["S256"],…}"#,
    blocked_by: &["mcp-auth-resource"],
    judge: server,
    ..HTTP
};

fn server(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    if !is_protected(ruling) {
        return ruling.not_applicable(OPEN);
    }
    let steps: Vec<_> = evidence.all_steps().filter(|step| step.is("auth-server")).collect();
    let Some(first) = steps.first() else {
        return ruling.not_testable("no authorization server is named");
    };
    ruling.ok();
    let found = steps.iter().find(|step| step.status() == Some(200) && document(step).is_some());
    let Some((found, body)) = found.and_then(|step| Some((step, document(step)?))) else {
        ruling.fail("AUTH-11", first, "no metadata of the authorization server was found");
        return;
    };
    let issuer = found.subject();
    if body["issuer"].as_str() != Some(issuer) {
        ruling.fail_if(
            evidence.revision >= E,
            "AUTH-12",
            found,
            format!("the issuer is {}, not `{issuer}`", body["issuer"]),
        );
    }
    let methods = body["code_challenge_methods_supported"].as_array();
    if !methods.is_some_and(|methods| methods.iter().any(|method| method == "S256")) {
        ruling.fail_if(evidence.revision >= D, "AUTH-13", found, "`code_challenge_methods_supported` has no `S256`");
    }
    for endpoint in ["authorization_endpoint", "token_endpoint", "registration_endpoint"] {
        match body[endpoint].as_str() {
            // Clients may also describe themselves, or be registered by hand.
            None if endpoint == "registration_endpoint" => {}
            None => ruling.warn("AUTH-17", found, format!("there is no `{endpoint}`")),
            Some(url) if !url.starts_with("https://") && !is_loopback_url(url) => {
                ruling.fail("AUTH-14", found, format!("`{endpoint}` is not https"));
            }
            Some(_) => {}
        }
    }
    let types = body["response_types_supported"].as_array();
    if !types.is_some_and(|types| types.iter().any(|one| one == "code")) {
        ruling.warn("AUTH-17", found, "`response_types_supported` has no `code`");
    }
}

pub(super) const SCOPES: Rule = Rule {
    id: "mcp-auth-scopes",
    title: "names scopes and ways to register, and takes no token in the query",
    clauses: &["AUTH-06", "AUTH-07", "AUTH-09", "AUTH-15", "AUTH-16"],
    level: Level::Should,
    revisions: (C, E),
    section: "basic/authorization#scope-selection-strategy, #token-requirements",
    why: "A client that does not know the scopes asks for too many; a token in a URL ends up in logs.",
    bad: r#"401 without scope; "bearer_methods_supported":["query"]"#,
    good: r#"WWW-Authenticate: Bearer scope="files:read", …"#,
    blocked_by: &["mcp-auth-resource", "mcp-auth-server"],
    judge: scopes,
    ..HTTP
};

fn scopes(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    if !is_protected(ruling) {
        return ruling.not_applicable(OPEN);
    }
    let Some(first) = evidence.all_steps().find(|step| step.is("auth-none")) else { return };
    ruling.ok();
    let challenge = challenge_of(&first);
    let scope = challenge.parameter("scope");
    if evidence.revision >= D && scope.is_none() {
        ruling.warn("AUTH-06", &first, "the challenge names no `scope`");
    }
    let is_offline = |scope: &str| scope == "offline_access";
    if evidence.revision >= E && scope.is_some_and(|scope| split_scopes(scope).iter().any(|one| is_offline(one))) {
        ruling.warn("AUTH-07", &first, "the challenge asks for `offline_access`");
    }
    for step in evidence.all_steps().filter(|step| step.is("auth-query")) {
        ruling.ok();
        if let Some(status) = step.status().filter(|status| *status < 400) {
            ruling.warn("AUTH-09", &step, format!("a token in the query string was answered with HTTP {status}"));
        }
    }
    for step in evidence.all_steps().filter(|step| step.is("auth-resource")) {
        let Some(body) = document(&step).filter(|_| step.status() == Some(200)) else { continue };
        let by_query =
            body["bearer_methods_supported"].as_array().is_some_and(|all| all.iter().any(|one| one == "query"));
        if by_query {
            ruling.warn("AUTH-09", &step, "`bearer_methods_supported` has `query`");
        }
        let mut scopes = body["scopes_supported"].as_array().into_iter().flatten().filter_map(Value::as_str);
        if evidence.revision >= E && scopes.any(is_offline) {
            ruling.warn("AUTH-07", &step, "`scopes_supported` has `offline_access`, which is not the server's");
        }
        break;
    }
    for step in evidence.all_steps().filter(|step| step.is("auth-server")) {
        let Some(body) = document(&step).filter(|_| step.status() == Some(200)) else { continue };
        if body.get("registration_endpoint").is_none() && body["client_id_metadata_document_supported"] != true {
            ruling.warn(
                "AUTH-15",
                &step,
                "clients cannot register: no `registration_endpoint` and no client id metadata documents",
            );
        }
        break;
    }
}
