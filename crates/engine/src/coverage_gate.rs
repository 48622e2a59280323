//! Required coverage of a suite's servers: `coverage:` of a suite file, judged after its cases.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mcprove_judge::coverage::{Offer, coverage};
use mcprove_model::{
    Case, CoverageCount, Finding, Plan, ServerCoverage, ServerSpec, SuiteOptions, Target, ToolCoverage,
};
use tokio::time::Instant;

use crate::discover::discover;
use crate::fixture_guard::FixtureGuard;
use crate::server::Opener;

/// The findings about suites that reach less of their servers than they ask for.
pub(crate) async fn too_little(plan: &Plan, opener: &Opener, timeout: Duration) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut judged: Vec<&str> = Vec::new();
    for suite in plan.cases.iter().filter_map(|planned| planned.case.suite.as_ref()) {
        let path = suite.source.path();
        if suite.coverage == mcprove_model::Coverage::default() || judged.contains(&path) {
            continue;
        }
        judged.push(path);
        let cases: Vec<&Arc<Case>> = plan
            .cases
            .iter()
            .filter(|planned| planned.trial == 1)
            .map(|planned| &planned.case)
            .filter(|case| case.suite.as_ref().is_some_and(|other| other.source.path() == path))
            .collect();
        match reached(&cases, opener, timeout).await {
            Ok(reaches) => {
                findings.push(measured(path, &reaches));
                findings.extend(compare(suite, &reaches, transports(&cases)));
            }
            Err(finding) => findings.push(finding),
        }
    }
    findings
}

/// Coverage of each server by its cases; the error names the server that could not be asked.
async fn reached(cases: &[&Arc<Case>], opener: &Opener, timeout: Duration) -> Result<Vec<ServerCoverage>, Finding> {
    let mut servers: Vec<(&Arc<ServerSpec>, Option<&PathBuf>)> = Vec::new();
    for case in cases {
        if let Some(server) = &case.server
            && !servers.iter().any(|(known, _)| known.target == server.target)
        {
            servers.push((server, case.fixture.as_ref()));
        }
    }
    let mut reaches = Vec::new();
    for (server, fixture) in servers {
        let unknown = |reason: String| {
            Finding::error("coverage", format!("how much of `{}` is covered is not known: {reason}", server.name))
        };
        let fixture_guard =
            FixtureGuard::new(fixture.map(PathBuf::as_path)).map_err(|error| unknown(error.to_string()))?;
        let deadline = Instant::now() + timeout;
        let opened = opener.open(server, fixture_guard.variables(), deadline).await;
        let mut session = opened.map_err(|failure| unknown(failure.message))?;
        let catalog = discover(&mut session, deadline).await;
        session.close().await;
        let own = cases.iter().filter(|case| case.server.as_ref().is_some_and(|s| s.target == server.target));
        reaches.push(coverage(
            Offer {
                tools: &catalog.tools,
                resources: &catalog.resources,
                templates: &catalog.templates,
                prompts: &catalog.prompts,
            },
            own.map(AsRef::as_ref),
        ));
    }
    Ok(reaches)
}

/// The coverage for reports: the totals, and a line per tool.
fn measured(path: &str, reaches: &[ServerCoverage]) -> Finding {
    let sum = |part: fn(&ServerCoverage) -> CoverageCount| {
        reaches.iter().map(part).fold(CoverageCount::default(), |all, one| all + one)
    };
    let parts = [
        ("tools", sum(ServerCoverage::tools)),
        ("arguments", sum(ServerCoverage::arguments)),
        ("error paths", sum(ServerCoverage::error_paths)),
        ("resources", sum(ServerCoverage::resources)),
        ("prompts", sum(ServerCoverage::prompts)),
    ];
    let shown = |(name, part): &(&str, CoverageCount)| {
        format!("{} of {} {name} ({:.0} %)", part.covered, part.total, part.percent())
    };
    let parts: Vec<String> = parts.iter().filter(|(_, part)| part.total > 0).map(shown).collect();
    let mut finding = Finding::note("coverage", format!("`{path}` covers {}", parts.join(", ")));
    let tools = reaches.iter().flat_map(|reach| &reach.tools).map(|tool| {
        let passed = tool.arguments.iter().filter(|argument| argument.exercised).count();
        let error_path = if tool.error_path { "error path covered" } else { "error path not covered" };
        let ToolCoverage { name, assertions, arguments, .. } = tool;
        format!("{name}: {assertions} assertions, {passed} of {} arguments, {error_path}", arguments.len())
    });
    finding.actual = Some(tools.collect::<Vec<_>>().join("\n")).filter(|tools| !tools.is_empty());
    finding
}

fn compare(suite: &SuiteOptions, reaches: &[ServerCoverage], transports: CoverageCount) -> Vec<Finding> {
    let sum = |part: fn(&ServerCoverage) -> CoverageCount| {
        reaches.iter().map(part).fold(CoverageCount::default(), |all, one| all + one)
    };
    let wanted = suite.coverage;
    let parts = [
        ("tools", wanted.tools, sum(ServerCoverage::tools), "tools have an assertion"),
        ("args", wanted.args, sum(ServerCoverage::arguments), "arguments are passed"),
        ("error_paths", wanted.error_paths, sum(ServerCoverage::error_paths), "tools are expected to fail once"),
        ("transports", wanted.transports, transports, "transports are spoken"),
    ];
    let mut findings = Vec::new();
    for (key, least, part, what) in parts {
        if let Some(least) = least
            && part.percent() < least
        {
            let text = format!(
                "`{}`: {} of {} {what} ({:.0} %), and `coverage.{key}` asks for {least} %",
                suite.source.path(),
                part.covered,
                part.total,
                part.percent()
            );
            findings.push(Finding::error("coverage", text).help("`mcprove coverage` lists what is not covered"));
        }
    }
    findings
}

/// Which of the two transports servers have today, pipes and HTTP, the cases speak.
fn transports(cases: &[&Arc<Case>]) -> CoverageCount {
    let is_spoken = |wanted: fn(&Target) -> bool| {
        cases.iter().filter_map(|case| case.server.as_ref()).any(|server| wanted(&server.target))
    };
    let pipes =
        is_spoken(|target| matches!(target, Target::Stdio { .. } | Target::Mock { .. } | Target::Cassette { .. }));
    let http = is_spoken(|target| matches!(target, Target::Remote { .. }));
    CoverageCount { covered: usize::from(pipes) + usize::from(http), total: 2 }
}
