//! Sanitizers that a suite requires and none of its servers offers.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mcprove_model::{Case, Finding, Plan, ServerSpec, nearest};
use tokio::time::Instant;

use crate::discover::{discover, tool_name};
use crate::fixture_guard::FixtureGuard;
use crate::server::Opener;

/// The findings about `security.trust_boundary.required_sanitizers` that no server of their suite lists as a tool.
pub(crate) async fn unknown(plan: &Plan, opener: &Opener, timeout: Duration) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut judged: BTreeSet<&str> = BTreeSet::new();
    for suite in plan.cases.iter().filter_map(|planned| planned.case.suite.as_ref()) {
        let required = suite.security.trust_boundary.as_ref().map(|boundary| boundary.required_sanitizers.as_slice());
        let Some(required) = required.filter(|required| !required.is_empty()) else { continue };
        let path = suite.source.path();
        if !judged.insert(path) {
            continue;
        }
        let is_of_suite = |case: &&Arc<Case>| case.suite.as_ref().is_some_and(|other| other.source.path() == path);
        let cases: Vec<&Arc<Case>> = plan.cases.iter().map(|planned| &planned.case).filter(is_of_suite).collect();
        // If one server cannot be asked, its tools are unknown.
        let Some(offered) = offered_tools(&cases, opener, timeout).await else { continue };
        for name in required.iter().filter(|name| !offered.contains(*name)) {
            let text = format!("`{path}`: no server that its cases use offers the required sanitizer `{name}`");
            let help = match nearest(name, offered.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "name a tool of one of the servers, or remove it from `required_sanitizers`".to_owned(),
            };
            findings.push(Finding::error("unknown-sanitizer", text).help(help));
        }
    }
    findings
}

/// The tools of all servers of these cases; `None` if a server cannot be asked.
async fn offered_tools(cases: &[&Arc<Case>], opener: &Opener, timeout: Duration) -> Option<BTreeSet<String>> {
    let mut servers: Vec<(&Arc<ServerSpec>, Option<&PathBuf>)> = Vec::new();
    for case in cases {
        for server in case.servers() {
            if !servers.iter().any(|(known, _)| known.target == server.target) {
                servers.push((server, case.fixture.as_ref()));
            }
        }
    }
    let mut offered = BTreeSet::new();
    for (server, fixture) in servers {
        let fixture_guard = FixtureGuard::new(fixture.map(PathBuf::as_path)).ok()?;
        let deadline = Instant::now() + timeout;
        let mut session = opener.open(server, fixture_guard.variables(), deadline).await.ok()?;
        let catalog = discover(&mut session, deadline).await;
        session.close().await;
        offered.extend(catalog.tools.iter().map(|tool| tool_name(tool).to_owned()));
    }
    Some(offered)
}
