//! Which cases share a server: they run one after the other, in a lane of their own.

use std::sync::Arc;

use mcprove_model::{Case, Isolation, Parallel, Plan, PlannedCase};

use crate::virtual_time::is_virtual;

/// Cases that run one after the other, on one server if they share it.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    pub(crate) cases: Vec<PlannedCase>,
    pub(crate) shared: bool,
}

/// Divides a plan into lanes, as each case wants it or as the user does; each begins where its first case stands in the plan.
pub(crate) fn lanes(plan: &Plan, isolation: Option<Isolation>, jobs: usize) -> Vec<Lane> {
    let mut lanes: Vec<Lane> = Vec::new();
    for planned in &plan.cases {
        let isolation = isolation.unwrap_or(planned.case.isolation);
        if isolation == Isolation::Case {
            lanes.push(Lane { cases: vec![planned.clone()], shared: false });
            continue;
        }
        let shares = |lane: &Lane| {
            let first = &lane.cases[0].case;
            let together = match isolation {
                Isolation::Case => false,
                Isolation::File => first.source.path() == planned.case.source.path(),
                Isolation::Run => true,
            };
            lane.shared && together && same_server(first, &planned.case)
        };
        // A suite that allows it has several servers of a kind, one a lane; its cases go to the shortest.
        let wanted = side_by_side(&planned.case, jobs);
        let is_full = lanes.iter().filter(|lane| shares(lane)).count() >= wanted;
        let joined = lanes.iter_mut().filter(|lane| is_full && shares(lane)).min_by_key(|lane| lane.cases.len());
        match joined {
            Some(lane) => lane.cases.push(planned.clone()),
            None => lanes.push(Lane { cases: vec![planned.clone()], shared: true }),
        }
    }
    lanes
}

/// How many lanes the cases of a suite may have.
fn side_by_side(case: &Case, jobs: usize) -> usize {
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
