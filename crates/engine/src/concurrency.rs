//! Concurrency of lanes: the number of concurrent cases is set by the user, and otherwise by the
//! suites'.

use std::collections::HashMap;
use std::sync::Arc;

use mcprove_model::{Case, Parallel, Plan};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::lanes::Lane;

/// Default number of concurrent cases of a plan: as many as its suites allow.
pub fn wanted_side_by_side(plan: &Plan, cores: usize) -> usize {
    let wanted = plan.cases.iter().map(|planned| match parallel(&planned.case) {
        Parallel::One => 1,
        Parallel::Auto => cores,
        Parallel::AtMost(number) => number,
    });
    wanted.max().unwrap_or(1).max(1)
}

/// Gives lanes their turns.
#[derive(Debug, Default)]
pub(crate) struct LaneScheduler {
    /// True if lanes of those who do not ask for more run one after the other.
    one_by_one: bool,
    /// Ends when the last of them is over.
    last: Option<oneshot::Receiver<()>>,
    /// Limits of suites, by their identity.
    suites: HashMap<usize, Arc<Semaphore>>,
}

impl LaneScheduler {
    pub(crate) fn new(one_by_one: bool) -> Self {
        Self { one_by_one, ..Self::default() }
    }

    /// The turn of a lane, in the order they are asked for.
    pub(crate) fn of(&mut self, lane: &Lane) -> LaneTicket {
        let mut turn = LaneTicket::default();
        let Some(first) = lane.cases.first() else { return turn };
        match (parallel(&first.case), &first.case.suite) {
            (Parallel::AtMost(number), Some(suite)) => {
                let places = self.suites.entry(Arc::as_ptr(suite) as usize);
                turn.place = Some(Arc::clone(places.or_insert_with(|| Arc::new(Semaphore::new(number)))));
            }
            (Parallel::One, _) if self.one_by_one => {
                let (over, after) = oneshot::channel();
                turn.before = self.last.replace(after);
                turn.over = Some(over);
            }
            (Parallel::One | Parallel::Auto | Parallel::AtMost(_), _) => {}
        }
        turn
    }
}

/// Everything that a lane waits for, and holds while it runs.
#[derive(Debug, Default)]
pub(crate) struct LaneTicket {
    before: Option<oneshot::Receiver<()>>,
    /// Dropped at the end, which lets the next one begin.
    over: Option<oneshot::Sender<()>>,
    place: Option<Arc<Semaphore>>,
}

/// While it is kept, it is the lane's turn.
#[derive(Debug)]
#[must_use = "the turn ends when it is dropped"]
pub(crate) struct LanePermit {
    _over: Option<oneshot::Sender<()>>,
    _place: Option<OwnedSemaphorePermit>,
}

impl LaneTicket {
    pub(crate) async fn come(self) -> LanePermit {
        if let Some(before) = self.before {
            // Nothing is ever sent: it ends when the other side is dropped.
            let _ = before.await;
        }
        let place = match self.place {
            Some(places) => places.acquire_owned().await.ok(),
            None => None,
        };
        LanePermit { _over: self.over, _place: place }
    }
}

fn parallel(case: &Case) -> Parallel {
    case.suite.as_ref().map(|suite| suite.parallel).unwrap_or_default()
}
