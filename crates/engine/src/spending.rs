//! Cost of the agents and judges of a suite, and its limits.

use std::collections::BTreeMap;

use mcprove_model::{Case, CaseFinished, Finding, Plan};

/// Cost so far, by suite, in millionths of a US dollar.
#[derive(Debug, Default)]
pub(crate) struct Spending {
    suites: BTreeMap<String, (u64, u64)>,
}

impl Spending {
    /// Takes in a case that is over.
    pub(crate) fn add(&mut self, case: &Case, finished: &CaseFinished) {
        let Some(suite) = &case.suite else { return };
        let cost = finished.agent.as_ref().and_then(|agent| agent.cost_usd_micros);
        let (Some(limit), Some(cost)) = (suite.budget.per_suite_usd_micros, cost) else { return };
        let (_, spent) = self.suites.entry(suite.source.path().to_owned()).or_insert((limit, 0));
        *spent = spent.saturating_add(cost);
    }

    /// Takes in what the judges of suites cost, by the path of the suite.
    pub(crate) fn add_judges(&mut self, plan: &Plan, costs: &BTreeMap<String, u64>) {
        for suite in plan.cases.iter().filter_map(|planned| planned.case.suite.as_ref()) {
            let Some(limit) = suite.budget.per_suite_usd_micros else { continue };
            self.suites.entry(suite.source.path().to_owned()).or_insert((limit, 0));
        }
        for (path, cost) in costs {
            if let Some((_, spent)) = self.suites.get_mut(path) {
                *spent = spent.saturating_add(*cost);
            }
        }
    }

    /// Findings about suites that cost more than they may.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let over = self.suites.iter().filter(|(_, (limit, spent))| spent > limit);
        over.map(|(path, (limit, spent))| {
            too_dear(&format!("`{path}`: all agents and judges together"), *spent, *limit)
        })
        .collect()
    }
}

/// The finding about one run of an agent: too expensive, or of unknown cost.
pub(crate) fn of_run(case: &Case, model: &str, cost: Option<u64>) -> Option<Finding> {
    let budget = case.suite.as_ref()?.budget;
    match (budget.per_test_usd_micros, cost) {
        (Some(limit), Some(cost)) if cost > limit => Some(too_dear("the agent", cost, limit)),
        (None, None) if budget.per_suite_usd_micros.is_none() => None,
        (_, None) => {
            let text = format!("no price is known for `{model}`, so that `budget` says nothing about it");
            Some(Finding::warning("unknown-price", text).help("give its `prices` under `providers`"))
        }
        (_, Some(_)) => None,
    }
}

/// The findings about the cost of the judges of one case, in addition to that of its agent.
pub(crate) fn of_judges(case: &Case, judges: u64, agent: u64) -> Option<Finding> {
    let limit = case.suite.as_ref()?.budget.per_test_usd_micros?;
    // An agent that cost too much alone was reported already.
    (agent <= limit && agent.saturating_add(judges) > limit)
        .then(|| too_dear("the judges of this test, with its agent,", agent.saturating_add(judges), limit))
}

fn too_dear(who: &str, cost: u64, limit: u64) -> Finding {
    let mut finding = Finding::error("budget", format!("{who} cost more than `budget` allows"));
    finding.expected = Some(format!("at most {}", dollars(limit)));
    finding.actual = Some(dollars(cost));
    finding.help("raise the budget, choose a cheaper model, or make prompts and answers shorter")
}

fn dollars(micros: u64) -> String {
    format!("${}.{:06}", micros / 1_000_000, micros % 1_000_000)
}
