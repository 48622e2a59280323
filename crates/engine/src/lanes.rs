//! Which cases share a server: they run one after the other, in a lane of their own.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
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
    // Who may share a server, by what they have in common; plans have thousands of cases, and none asks all others.
    let mut families: HashMap<u64, Vec<Family>> = HashMap::new();
    for planned in &plan.cases {
        let Some(kinship) = kinship(&planned.case, isolation.unwrap_or(planned.case.isolation)) else {
            lanes.push(Lane { cases: vec![planned.clone()], shared: false });
            continue;
        };
        let alike = families.entry(kinship).or_default();
        let known = alike.iter().position(|family| same_server(&lanes[family.lanes[0]].cases[0].case, &planned.case));
        // A suite that allows it has several servers of a kind, one a lane; its cases go to the shortest.
        let wanted = side_by_side(&planned.case, jobs);
        let joined = known
            .filter(|known| alike[*known].lanes.len() >= wanted)
            .and_then(|known| alike[known].lanes.iter().copied().min_by_key(|lane| lanes[*lane].cases.len()));
        if let Some(lane) = joined {
            lanes[lane].cases.push(planned.clone());
            continue;
        }
        match known {
            Some(known) => alike[known].lanes.push(lanes.len()),
            None => alike.push(Family { lanes: vec![lanes.len()] }),
        }
        lanes.push(Lane { cases: vec![planned.clone()], shared: true });
    }
    lanes
}

/// Lanes whose cases want the same server; there is at least one.
struct Family {
    lanes: Vec<usize>,
}

/// What cases that share a server have in common; `None` when nobody shares it.
fn kinship(case: &Case, isolation: Isolation) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    match isolation {
        Isolation::Case => return None,
        Isolation::File => case.source.path().hash(&mut hasher),
        Isolation::Run => {}
    }
    case.server.as_ref().map(|server| &server.name).hash(&mut hasher);
    case.fixture.hash(&mut hasher);
    Some(hasher.finish())
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

#[cfg(test)]
mod tests {
    use mcprove_model::{ServerSpec, SourceFile};

    use super::*;
    use crate::plan::tests::cases;
    use crate::{PlanOptions, plan};

    /// A plan of cases that are each in this file, and want this server.
    fn planned(wanted: &[(&str, &str)]) -> Plan {
        let names: Vec<String> = (0..wanted.len()).map(|number| number.to_string()).collect();
        let mut cases = cases(&names);
        for (case, (file, server)) in cases.iter_mut().zip(wanted) {
            let case = Arc::make_mut(case);
            case.source = Arc::new(SourceFile::new((*file).to_owned(), String::new()));
            case.server = Some(Arc::new(ServerSpec { name: (*server).to_owned(), ..ServerSpec::default() }));
        }
        plan(&cases, &PlanOptions::default())
    }

    fn divided(plan: &Plan, isolation: Isolation) -> Vec<Vec<usize>> {
        let lanes = lanes(plan, Some(isolation), 4);
        lanes.iter().map(|lane| lane.cases.iter().map(|planned| planned.index).collect()).collect()
    }

    #[test]
    fn who_shares_a_server_is_in_one_lane() {
        let plan = planned(&[("a", "x"), ("a", "y"), ("b", "x"), ("a", "x"), ("b", "x")]);
        assert_eq!(divided(&plan, Isolation::Case), [[0], [1], [2], [3], [4]]);
        assert_eq!(divided(&plan, Isolation::File), [vec![0, 3], vec![1], vec![2, 4]]);
        assert_eq!(divided(&plan, Isolation::Run), [vec![0, 2, 3, 4], vec![1]]);
    }

    #[test]
    fn servers_of_one_name_that_differ_are_not_shared() {
        let mut plan = planned(&[("a", "x"), ("a", "x")]);
        let case = Arc::make_mut(&mut plan.cases[1].case);
        let secrets = vec!["other".to_owned()];
        case.server = Some(Arc::new(ServerSpec { name: "x".to_owned(), secrets, ..ServerSpec::default() }));
        assert_eq!(divided(&plan, Isolation::Run), [[0], [1]]);
    }
}
