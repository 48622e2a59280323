//! Servers that are started while the case before them runs, where the user or the suite allows it. The acts keep their
//! order.

use std::iter::Peekable;
use std::sync::{Arc, Mutex, PoisonError};
use std::vec::IntoIter;

use mcprove_model::{Act, Case, Target};
use tokio::sync::watch;

use crate::lanes::Lane;
use crate::run::RunOptions;

/// Number of lanes with prestarted servers at a time: one that ends, one that acts, and the next.
const PRESTARTED: usize = 3;

/// The turn of a lane to act; its server may be started before.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActTurn {
    /// Ends when the lane before has acted.
    before: Option<watch::Receiver<()>>,
    /// Dropped when this lane has acted.
    acted: Option<Arc<Mutex<Option<watch::Sender<()>>>>>,
}

impl ActTurn {
    pub(crate) fn new(before: Option<watch::Receiver<()>>, acted: watch::Sender<()>) -> Self {
        Self { before, acted: Some(Arc::new(Mutex::new(Some(acted)))) }
    }

    /// Waits for the turn.
    pub(crate) async fn come(&self) {
        if let Some(mut before) = self.before.clone() {
            // Nothing is ever sent: it ends when the other side is dropped.
            let _ = before.changed().await;
        }
    }

    /// Lets the next lane act; without it, that happens at the end of this one.
    pub(crate) fn pass_on(&self) {
        if let Some(acted) = &self.acted {
            *acted.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
}

/// The lanes that have not begun.
#[derive(Debug)]
pub(crate) struct LaneQueue {
    lanes: Peekable<IntoIter<Lane>>,
    /// Number of lanes that run, or wait for their turn with a server of their own.
    in_flight: usize,
    may_prestart: bool,
    /// True if the user wants servers to be prestarted.
    is_asked: bool,
}

impl LaneQueue {
    pub(crate) fn new(lanes: Vec<Lane>, options: &RunOptions) -> Self {
        Self {
            lanes: lanes.into_iter().peekable(),
            // With several jobs, the next servers are started while the current ones are busy; one job means one at a time.
            in_flight: if options.jobs == 1 { 1 } else { options.jobs * 2 },
            // Where the first failure is enough, nothing is begun before it is known that there is none; positions that are
            // tried after a failure have no turn of their own.
            may_prestart: !options.fail_fast && !options.fix,
            is_asked: options.prestart,
        }
    }

    /// The next lane, where it may begin while so many others run; true if its server is prestarted.
    pub(crate) fn next(&mut self, running: usize) -> Option<(Lane, bool)> {
        let is_prestarted = self.may_prestart && is_prestarted(self.lanes.peek()?, self.is_asked);
        let in_flight = if is_prestarted { self.in_flight.max(PRESTARTED) } else { self.in_flight };
        self.lanes.next_if(|_| running < in_flight).map(|lane| (lane, is_prestarted))
    }
}

/// True if the server of a lane may be started while the lane before runs. `asked` is the user's wish.
fn is_prestarted(lane: &Lane, asked: bool) -> bool {
    lane.cases.iter().all(|planned| {
        let case = &planned.case;
        let suite = case.suite.as_ref();
        let is_wanted = asked || suite.is_some_and(|suite| suite.prestart);
        // Commands around a case may be what its server needs.
        let has_hooks = suite.is_some_and(|suite| !suite.hooks.is_empty());
        is_wanted && !has_hooks && waits_for_turn(case)
    })
}

/// True if a case starts a process, and acts in a session that is open before its turn.
fn waits_for_turn(case: &Case) -> bool {
    let starts = case.server.as_ref().is_some_and(|server| matches!(server.target, Target::Stdio { .. }));
    match &case.act {
        Act::CallTool(_)
        | Act::Resources(_)
        | Act::Prompts(_)
        | Act::Complete(_)
        | Act::Logging(_)
        | Act::Notifications(_)
        | Act::Raw(_)
        | Act::Compose(_)
        | Act::ToolQuality => starts,
        Act::Trajectory(_) | Act::Offline(_) | Act::Score(_) | Act::Scan(_) | Act::Agent(_) => false,
    }
}
