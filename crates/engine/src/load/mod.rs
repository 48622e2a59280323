//! Load: calls on many sessions, at a rate or by clients that wait for their replies.
//!
//! A load is one case. Its work is split: the pacer says when calls start (`pacer.rs`, `alarm.rs`), a client owns a session and keeps
//! calls open on it (`client.rs`), the recorder takes down how they ended (`recorder.rs`), and the driver starts and ends
//! all of them (`driver.rs`). What the numbers prove is decided in `mcprove_judge::load`.

mod alarm;
mod case;
mod client;
mod driver;
mod limit;
mod meter;
mod pacer;
mod plan;
mod recorder;
mod reference;
mod sessions;
#[cfg(test)]
mod tests;
mod workload;

use std::time::{Duration, Instant};

use mcprove_judge::load::{Gate, Shape};
use mcprove_model::LoadPlan;

pub use meter::{LoadMeter, LoadProgress};
pub use plan::plan_load;
pub use workload::{CatalogWorkload, SuiteWorkload, Workload, catalog_workload, suite_workload};

/// A load that is asked for.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// Calls per second, or number of clients, over time; without the warm-up.
    pub shape: Shape,
    /// True if the shape is a rate of arrivals, false if it is a number of clients.
    pub is_open: bool,
    /// Number of sessions.
    pub clients: u32,
    /// Maximum number of concurrent calls of a session.
    pub in_flight: u32,
    /// Lifetime of sessions.
    pub session_per: SessionPer,
    /// The time before the measurement.
    pub warm_up: Duration,
    /// The number of calls after which the load ends, if it is bounded.
    pub calls: Option<u64>,
    /// Time limit of a call.
    pub timeout: Duration,
    /// Time limit for opening a session.
    pub start: Duration,
    /// Every how many replies are judged.
    pub check_every: u64,
    /// The limits that fail the run.
    pub gates: Vec<Gate>,
    /// True if the highest rate is searched for that the server holds.
    pub find_limit: bool,
    /// The shard of a larger load: its number, from 1, and the number of shards.
    pub shard: Option<(u32, u32)>,
    /// The moment at which the load begins; as soon as everything is ready when absent.
    pub begin: Option<Instant>,
    /// The process whose use of the machine is measured, where it was not started by mcprove.
    pub pid: Option<u32>,
}

/// Lifetime of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionPer {
    /// That of its client: the whole load.
    Client,
    /// A number of calls.
    Calls(u64),
}

/// The number of windows that a timeline is cut into.
const WINDOWS: u32 = 40;
/// The window of a load whose length is not known before.
const OPEN_ENDED_WINDOW: Duration = Duration::from_secs(1);
/// The shortest window.
const SHORTEST_WINDOW: Duration = Duration::from_millis(100);

impl LoadOptions {
    /// Length of a window of the timeline; the same for all shards.
    fn window(&self) -> Duration {
        if self.is_open_ended() { OPEN_ENDED_WINDOW } else { (self.shape.length() / WINDOWS).max(SHORTEST_WINDOW) }
    }

    /// True if the load ends with its last call rather than at a time.
    fn is_open_ended(&self) -> bool {
        self.calls.is_some() && !self.is_open
    }

    /// The number of calls of this shard, if it is bounded.
    fn budget(&self) -> Option<u64> {
        let (part, parts) = self.part();
        let (part, parts) = (u64::from(part), u64::from(parts));
        self.calls.map(|calls| calls / parts + u64::from(part < calls % parts))
    }

    /// The load as reports describe it.
    fn described(&self) -> LoadPlan {
        LoadPlan {
            shape: self.shape.to_string(),
            is_open: self.is_open,
            clients: self.clients,
            in_flight: self.in_flight,
            session_per: match self.session_per {
                SessionPer::Client => "client".to_owned(),
                SessionPer::Calls(1) => "call".to_owned(),
                SessionPer::Calls(number) => number.to_string(),
            },
            warm_up_us: micros(self.warm_up),
            window_us: micros(self.window()),
            timeout_us: micros(self.timeout),
            check_every: self.check_every,
            gates: self.gates.iter().map(ToString::to_string).collect(),
        }
    }

    /// The number of this shard, from 0, and the number of shards.
    fn part(&self) -> (u32, u32) {
        self.shard.map_or((0, 1), |(number, of)| (number.saturating_sub(1), of))
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
