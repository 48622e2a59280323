//! Which cases share a server: they run one after the other, in a lane of their own.

use std::collections::HashMap;
use std::sync::Arc;

use mcprove_model::{Act, Case, Isolation, Parallel, Plan, PlannedCase};

use crate::virtual_time::is_virtual;

/// Cases that run one after the other, on one server if they share it.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    pub(crate) cases: Vec<PlannedCase>,
    pub(crate) shared: bool,
}

/// Divides a plan into lanes, by each case's isolation or the user's; lanes are in the plan order of their first cases.
pub(crate) fn lanes(plan: &Plan, isolation: Option<Isolation>, jobs: usize) -> Vec<Lane> {
    let mut lanes: Vec<Lane> = Vec::new();
    // The shared lanes by the file that shares them, or by no file where the whole run does: only these are looked at.
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut by_file: HashMap<Option<&str>, usize> = HashMap::new();
    let mut last: Option<(Option<&str>, usize)> = None;
    for planned in &plan.cases {
        let within = match isolation.unwrap_or(planned.case.isolation) {
            Isolation::Case => {
                lanes.push(Lane { cases: vec![planned.clone()], shared: false });
                continue;
            }
            Isolation::File => Some(planned.case.source.path()),
            Isolation::Run => None,
        };
        // Most cases are in the file of the case before.
        let group = match last {
            Some((file, group)) if file == within => group,
            Some(_) | None => *by_file.entry(within).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            }),
        };
        last = Some((within, group));
        let mut of_a_kind = 0;
        let mut shortest: Option<usize> = None;
        for at in groups[group].iter().copied() {
            if same_server(&lanes[at].cases[0].case, &planned.case) {
                of_a_kind += 1;
                shortest = shortest.into_iter().chain([at]).min_by_key(|at| lanes[*at].cases.len());
            }
        }
        // A suite that allows it has several servers of a kind, one a lane; its cases go to the shortest.
        let is_full = of_a_kind >= side_by_side(&planned.case, jobs);
        if let Some(at) = shortest.filter(|_| is_full) {
            lanes[at].cases.push(planned.clone());
        } else {
            groups[group].push(lanes.len());
            lanes.push(Lane { cases: vec![planned.clone()], shared: true });
        }
    }
    lanes
}

/// Maximum number of lanes of the cases of a suite.
fn side_by_side(case: &Case, jobs: usize) -> usize {
    // The tools of a scan know nothing of each other.
    if matches!(case.act, Act::Scan(_)) {
        return jobs;
    }
    match case.suite.as_ref().map(|suite| suite.parallel) {
        None | Some(Parallel::One) => 1,
        Some(Parallel::Auto) => jobs,
        Some(Parallel::AtMost(number)) => number.clamp(1, jobs),
    }
}

fn same_server(one: &Case, other: &Case) -> bool {
    let server = match (&one.server, &other.server) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other) || one == other,
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    server && one.fixture == other.fixture && is_virtual(one) == is_virtual(other)
}
