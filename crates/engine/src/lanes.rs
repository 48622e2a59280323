//! Which cases share a server: they run one after the other, in a lane of their own.

use std::sync::Arc;

use mcprove_model::{Case, Isolation, Plan, PlannedCase};

/// Cases that run one after the other, on one server if they share it.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    pub(crate) cases: Vec<PlannedCase>,
    pub(crate) shared: bool,
}

/// Divides a plan into lanes, as each case wants it or as the user does; each begins where its first case stands in the plan.
pub(crate) fn lanes(plan: &Plan, isolation: Option<Isolation>) -> Vec<Lane> {
    let mut lanes: Vec<Lane> = Vec::new();
    for planned in &plan.cases {
        let isolation = isolation.unwrap_or(planned.case.isolation);
        let joined = match isolation {
            Isolation::Case => None,
            Isolation::File => lanes.iter_mut().rev().find(|lane| {
                let first = &lane.cases[0].case;
                lane.shared && first.source.path() == planned.case.source.path() && same_server(first, &planned.case)
            }),
            Isolation::Run => {
                lanes.iter_mut().find(|lane| lane.shared && same_server(&lane.cases[0].case, &planned.case))
            }
        };
        match joined {
            Some(lane) => lane.cases.push(planned.clone()),
            None => lanes.push(Lane { cases: vec![planned.clone()], shared: isolation != Isolation::Case }),
        }
    }
    lanes
}

fn same_server(one: &Case, other: &Case) -> bool {
    let server = match (&one.server, &other.server) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other) || one == other,
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    server && one.fixture == other.fixture
}
