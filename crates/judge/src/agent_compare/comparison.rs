//! Differences between two sets of runs of the same cases.

use std::collections::BTreeMap;

use super::runs::AgentRun;
use super::statistics::{Interval, Stratum, number, pass_at_k, pass_hat_k, stratified_p, wilson};

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The models, joined.
    pub model: String,
    /// Runs, and those that passed.
    pub runs: u64,
    /// Runs that passed.
    pub passed: u64,
    /// The share of runs that passed.
    pub pass_rate: Interval,
    /// Mean over the cases of the probability that one of k runs passes.
    pub pass_at_k: Option<f64>,
    /// Mean over the cases of the probability that all of k runs pass.
    pub pass_hat_k: Option<f64>,
    /// The share of runs whose first call is the expected tool; `None` where none is known.
    pub selection: Option<Interval>,
    /// Wrong first tools: expected, chosen, and how often.
    pub confusion: Vec<(String, String, u64)>,
    /// The share of calls whose arguments fit the listed schema; `None` if no schema is in the log.
    pub valid_arguments: Option<Interval>,
    /// Mean number of calls of a run.
    pub calls: f64,
    /// Mean number of tokens of a run.
    pub tokens: f64,
    /// Mean cost of a run, in millionths of a US dollar; `None` if one is unknown.
    pub cost_usd_micros: Option<f64>,
}

/// One case on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseComparison {
    /// The case.
    pub name: String,
    /// Passes and runs of each side.
    pub stratum: Stratum,
    /// The first tool of all passing runs of both sides, if they agree.
    pub expected: Option<String>,
}

/// Two sides compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Both sides, over the cases that both have.
    pub sides: [Measured; 2],
    /// The cases that both have.
    pub cases: Vec<CaseComparison>,
    /// Cases that only one side has.
    pub unmatched: Vec<String>,
    /// The runs over which pass@k and pass^k are estimated.
    pub k: u64,
    /// The exact p-value that both pass equally often.
    pub p: f64,
}

impl Comparison {
    /// The difference of the pass rates, second minus first: the mean of those of the cases, weighted by their runs as
    /// Mantel and Haenszel do. Its sign is that of what the exact test tests, also where the sides ran cases unequally often.
    pub fn difference(&self) -> f64 {
        let weighted = self.cases.iter().map(|case| {
            let Stratum { first: (a, n), second: (b, m) } = case.stratum;
            let (n, m) = (number(n), number(m));
            ((number(b) * n - number(a) * m) / (n + m), n * m / (n + m))
        });
        let (sum, weights) = weighted.fold((0.0, 0.0), |(sum, weights), (one, weight)| (sum + one, weights + weight));
        sum / weights
    }
}

/// Compares two sets of runs over the cases that both have; `None` if there are none. Without `k`, it is the smallest number
/// of runs that a case has.
pub fn compare(first: &[AgentRun], second: &[AgentRun], k: Option<u64>) -> Option<Comparison> {
    let (one, two) = (by_case(first), by_case(second));
    let names: Vec<&str> = one.keys().filter(|name| two.contains_key(*name)).copied().collect();
    if names.is_empty() {
        return None;
    }
    let mut unmatched: Vec<String> =
        one.keys().chain(two.keys()).filter(|name| !names.contains(name)).map(|name| (*name).to_owned()).collect();
    unmatched.sort();
    let cases: Vec<CaseComparison> = names.iter().map(|name| case(name, &one[name], &two[name])).collect();
    let least = cases.iter().map(|case| case.stratum.first.1.min(case.stratum.second.1)).min().unwrap_or(1);
    let k = k.unwrap_or(least);
    let strata: Vec<Stratum> = cases.iter().map(|case| case.stratum).collect();
    let sides = [measured(&one, &cases, k), measured(&two, &cases, k)];
    Some(Comparison { sides, p: stratified_p(&strata), cases, unmatched, k })
}

type ByCase<'r> = BTreeMap<&'r str, Vec<&'r AgentRun>>;

fn by_case(runs: &[AgentRun]) -> ByCase<'_> {
    let mut cases: ByCase<'_> = BTreeMap::new();
    for run in runs {
        cases.entry(&run.case).or_default().push(run);
    }
    cases
}

fn case(name: &str, one: &[&AgentRun], two: &[&AgentRun]) -> CaseComparison {
    let mut first_tools: Vec<&str> = one
        .iter()
        .chain(two)
        .filter(|run| run.passed)
        .map(|run| run.calls.first().map_or("(none)", |call| call.tool.as_str()))
        .collect();
    first_tools.sort_unstable();
    first_tools.dedup();
    let expected = match first_tools.as_slice() {
        [only] => Some((*only).to_owned()),
        _ => None,
    };
    CaseComparison { name: name.to_owned(), stratum: Stratum { first: passes(one), second: passes(two) }, expected }
}

fn passes(runs: &[&AgentRun]) -> (u64, u64) {
    (runs.iter().filter(|run| run.passed).count() as u64, runs.len() as u64)
}

fn measured(side: &ByCase<'_>, cases: &[CaseComparison], k: u64) -> Measured {
    let runs: Vec<&AgentRun> = cases.iter().flat_map(|case| &side[case.name.as_str()]).copied().collect();
    let (passed, total) = passes(&runs);
    let mut models: Vec<&str> = runs.iter().map(|run| run.model.as_str()).collect();
    models.sort_unstable();
    models.dedup();
    let over_cases = |estimate: fn(u64, u64, u64) -> Option<f64>| {
        let estimates = cases.iter().map(|case| {
            let (passed, runs) = passes(&side[case.name.as_str()]);
            estimate(passed, runs, k)
        });
        let estimates: Option<Vec<f64>> = estimates.collect();
        estimates.map(|all| all.iter().sum::<f64>() / number(all.len() as u64))
    };
    let (selection, confusion) = selection(side, cases);
    let known: Vec<bool> = runs.iter().flat_map(|run| &run.calls).filter_map(|call| call.is_valid).collect();
    let valid = known.iter().filter(|valid| **valid).count() as u64;
    let mean = |value: fn(&AgentRun) -> u64| runs.iter().map(|run| number(value(run))).sum::<f64>() / number(total);
    let costs: Option<Vec<u64>> = runs.iter().map(|run| run.cost_usd_micros).collect();
    Measured {
        model: models.join(", "),
        runs: total,
        passed,
        pass_rate: wilson(passed, total),
        pass_at_k: over_cases(pass_at_k),
        pass_hat_k: over_cases(pass_hat_k),
        selection,
        confusion,
        valid_arguments: (!known.is_empty()).then(|| wilson(valid, known.len() as u64)),
        calls: mean(|run| run.calls.len() as u64),
        tokens: mean(|run| run.tokens),
        cost_usd_micros: costs.map(|costs| costs.iter().map(|cost| number(*cost)).sum::<f64>() / number(total)),
    }
}

fn selection(side: &ByCase<'_>, cases: &[CaseComparison]) -> (Option<Interval>, Vec<(String, String, u64)>) {
    let (mut right, mut tried) = (0, 0);
    let mut confusion: BTreeMap<(String, String), u64> = BTreeMap::new();
    for case in cases {
        let Some(expected) = &case.expected else { continue };
        for run in &side[case.name.as_str()] {
            let chosen = run.calls.first().map_or("(none)", |call| call.tool.as_str());
            tried += 1;
            if chosen == expected {
                right += 1;
            } else {
                *confusion.entry((expected.clone(), chosen.to_owned())).or_default() += 1;
            }
        }
    }
    let mut confusion: Vec<_> = confusion.into_iter().map(|((one, other), count)| (one, other, count)).collect();
    confusion.sort_by_key(|(.., count)| std::cmp::Reverse(*count));
    ((tried > 0).then(|| wilson(right, tried)), confusion)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent_compare::AgentCall;

    fn run(case: &str, passed: bool, tool: &str) -> AgentRun {
        let calls = vec![AgentCall { tool: tool.to_owned(), is_valid: Some(passed) }];
        let model = "m".to_owned();
        AgentRun { case: case.to_owned(), model, passed, calls, tokens: 100, cost_usd_micros: Some(50) }
    }

    fn side(passes: usize) -> Vec<AgentRun> {
        let one = |at: usize| if at < passes { run("a", true, "s.search") } else { run("a", false, "s.find") };
        (0..10).map(one).collect()
    }

    #[test]
    fn a_worse_side_is_told_with_its_confusion() {
        let comparison = compare(&side(10), &side(2), None).expect("a case in common");
        assert!(comparison.p < 0.01, "{}", comparison.p);
        assert!((comparison.difference() + 0.8).abs() < 1e-9);
        assert_eq!(comparison.k, 10);
        let worse = &comparison.sides[1];
        assert_eq!(worse.confusion, [("s.search".to_owned(), "s.find".to_owned(), 8)]);
        assert_eq!((worse.selection.expect("known").value, worse.calls), (0.2, 1.0));
        assert_eq!(worse.pass_hat_k, Some(0.0));
    }

    /// Two cases with four runs each side, every number worked out by hand.
    #[test]
    fn the_measures_are_those_of_the_hand_computation() {
        let one = |case: &str, passed, tool: &str, tokens| AgentRun { tokens, ..run(case, passed, tool) };
        let before = [
            one("a", true, "s.search", 100),
            one("a", true, "s.search", 100),
            one("a", true, "s.search", 100),
            one("a", false, "s.find", 300),
            one("b", true, "s.read", 100),
            one("b", true, "s.read", 100),
            one("b", false, "s.find", 200),
            one("b", false, "s.search", 200),
        ];
        let after: Vec<AgentRun> = before
            .iter()
            .map(|run| one(&run.case, true, if run.case == "a" { "s.search" } else { "s.read" }, 50))
            .collect();
        let comparison = compare(&before, &after, Some(2)).expect("cases in common");
        let [first, second] = &comparison.sides;
        assert_eq!((first.runs, first.passed, second.passed), (8, 5, 8));
        assert_eq!((first.pass_rate.value, first.tokens, second.tokens), (0.625, 150.0, 50.0));
        let close =
            |one: Option<f64>, other: f64| assert!((one.expect("known") - other).abs() < 1e-9, "{one:?} {other}");
        // a: 3 of 4, 1 - C(1,2)/C(4,2) = 1; b: 2 of 4, 1 - C(2,2)/C(4,2) = 5/6.
        close(first.pass_at_k, 11.0 / 12.0);
        // a: C(3,2)/C(4,2) = 3/6; b: C(2,2)/C(4,2) = 1/6.
        close(first.pass_hat_k, 1.0 / 3.0);
        // The right tool is the one that all passing runs agree on: `search` for a (3 of 4), `read` for b (2 of 4).
        close(first.selection.map(|selection| selection.value), 5.0 / 8.0);
        assert_eq!(
            first.confusion,
            [
                ("s.read".to_owned(), "s.find".to_owned(), 1),
                ("s.read".to_owned(), "s.search".to_owned(), 1),
                ("s.search".to_owned(), "s.find".to_owned(), 1),
            ]
        );
        close(first.valid_arguments.map(|valid| valid.value), 5.0 / 8.0);
        // a: 3 of 4 against 4 of 4, chances of 3 and 4: C(7,3)·C(1,1)/C(8,4) = 1/2 each. b: 2 of 4 against 4 of 4, 6 passes of 8: 2, 3, 4
        // with 15/70, 40/70, 15/70. The sum of 5 has 1/2 · 15/70; so has 8; 6 and 7 have 1/2 · 55/70 each. p = 2 · 1/2 · 15/70.
        close(Some(comparison.p), 15.0 / 70.0);
    }

    #[test]
    fn the_direction_is_that_of_the_cases_where_they_ran_unequally_often() {
        let runs = |case: &str, passed: usize, all: usize| -> Vec<AgentRun> {
            (0..all).map(|at| run(case, at < passed, "s.search")).collect()
        };
        // Better in both cases, though fewer of all its runs passed: it ran the hard case more often.
        let before = [runs("easy", 80, 100), runs("hard", 0, 10)].concat();
        let after = [runs("easy", 10, 10), runs("hard", 30, 100)].concat();
        let comparison = compare(&before, &after, Some(1)).expect("cases in common");
        assert!(comparison.sides[1].pass_rate.value < comparison.sides[0].pass_rate.value);
        // Both cases weigh 100 · 10 / 110 and differ by 0.2 and 0.3.
        assert!((comparison.difference() - 0.25).abs() < 1e-9, "{}", comparison.difference());
        assert!(comparison.p < 0.05, "{}", comparison.p);
    }

    #[test]
    fn little_evidence_is_little_evidence() {
        let comparison = compare(&side(10)[..2], &side(2)[1..3], Some(1)).expect("a case in common");
        assert!(comparison.p > 0.3);
        assert!(compare(&side(1), &[run("b", true, "x")], None).is_none());
        let mut more = side(10);
        more.push(run("b", true, "x"));
        assert_eq!(compare(&more, &side(10), None).expect("one in common").unmatched, ["b"]);
    }
}
