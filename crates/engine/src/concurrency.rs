//! Concurrency of lanes: the number of concurrent cases is set by the user, and otherwise by the
//! suites'.

use std::collections::HashMap;
use std::sync::Arc;

use mcprove_model::{Case, Parallel, Plan};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::lanes::Lane;
use crate::prestart::ActTurn;

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
    /// True if all lanes do.
    has_one_job: bool,
    /// Ends when the last of them is over.
    last_over: Option<watch::Receiver<()>>,
    /// Ends when the last of them has acted.
    last_acted: Option<watch::Receiver<()>>,
    /// Ends when the one before it has.
    acted_before: Option<watch::Receiver<()>>,
    /// Limits of suites, by their identity.
    suites: HashMap<usize, Arc<Semaphore>>,
}

impl LaneScheduler {
    pub(crate) fn new(one_by_one: bool, jobs: usize) -> Self {
        Self { one_by_one, has_one_job: jobs == 1, ..Self::default() }
    }

    /// The turn of a lane, in the order they are asked for. A lane that is prestarted begins while the one before it runs,
    /// and waits before it acts.
    pub(crate) fn of(&mut self, lane: &Lane, is_prestarted: bool) -> LaneTicket {
        let mut turn = LaneTicket::default();
        let Some(first) = lane.cases.first() else { return turn };
        match (parallel(&first.case), &first.case.suite) {
            (Parallel::AtMost(number), Some(suite)) => {
                let places = self.suites.entry(Arc::as_ptr(suite) as usize);
                turn.place = Some(Arc::clone(places.or_insert_with(|| Arc::new(Semaphore::new(number)))));
            }
            (Parallel::One, _) if self.one_by_one || self.has_one_job => {
                let ((over, is_over), (acted, has_acted)) = (watch::channel(()), watch::channel(()));
                let (last_over, last_acted) = (self.last_over.replace(is_over), self.last_acted.replace(has_acted));
                let acted_before = std::mem::replace(&mut self.acted_before, last_acted.clone());
                turn.before = if is_prestarted { acted_before } else { last_over };
                turn.act = ActTurn::new(last_acted, acted);
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
    before: Option<watch::Receiver<()>>,
    /// Dropped at the end, which lets the next one begin.
    over: Option<watch::Sender<()>>,
    place: Option<Arc<Semaphore>>,
    /// The turn to act, where it comes after the begin.
    pub(crate) act: ActTurn,
}

/// While it is kept, it is the lane's turn.
#[derive(Debug)]
#[must_use = "the turn ends when it is dropped"]
pub(crate) struct LanePermit {
    _over: Option<watch::Sender<()>>,
    _place: Option<OwnedSemaphorePermit>,
}

impl LaneTicket {
    pub(crate) async fn come(self) -> LanePermit {
        if let Some(mut before) = self.before {
            // Nothing is ever sent: it ends when the other side is dropped.
            let _ = before.changed().await;
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
