//! Record of a load: what was asked of a server, and how it answered.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{LatencyHistogram, size_text};

/// Record of one load, or of one shard of it. Records of the shards of one load merge exactly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadRecord {
    /// The load that was asked for; the same in every shard.
    pub plan: LoadPlan,
    /// `stdio`, `http` or `sse`.
    pub transport: String,
    /// The protocol revision.
    pub protocol: String,
    /// Time of every phase of a session: `start`, `handshake`, `list`, `call`.
    pub phases: BTreeMap<String, LatencyHistogram>,
    /// Results per kind of call, by name.
    pub calls: BTreeMap<String, CallStats>,
    /// Delay of mcprove itself between the intended start of a call and its sending while the session had room for it.
    pub lag: LatencyHistogram,
    /// Number of arrivals that could not be started within the time limit of a call.
    pub dropped: u64,
    /// Number of replies that were judged.
    pub checked: u64,
    /// Number of sessions that were opened.
    pub sessions: u64,
    /// Number of sessions that could not be opened.
    pub unopened: u64,
    /// The same by the phase that failed: `start`, `connect`, `handshake` or `list`. `concurrent` counts sessions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_opened: BTreeMap<String, ErrorStats>,
    /// True if the load was stopped before its end: what was measured is what there was by then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// The measured time, without the warm-up.
    pub measured_us: u64,
    /// When it began, and the last of its shards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<LoadBegin>,
    /// The timeline.
    pub windows: Vec<LoadWindow>,
    /// Use of the machine by the server, over time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub usage: Vec<UsageSample>,
    /// Growth of the server's memory with the number of calls, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<MemoryGrowth>,
    /// Result of the search for the highest rate, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<RateLimit>,
}

/// The begin of a load, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadBegin {
    /// The first shard.
    pub first_unix_ms: u64,
    /// The last shard.
    pub last_unix_ms: u64,
}

/// The load that was asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadPlan {
    /// The arrival rate or the number of clients, stage by stage, as it is written on the command line.
    pub shape: String,
    /// True if calls arrive at a rate, whether or not earlier ones were answered.
    pub is_open: bool,
    /// Number of sessions.
    pub clients: u32,
    /// Maximum number of concurrent calls of a session.
    pub in_flight: u32,
    /// Lifetime of a session: `client`, `call`, or a number of calls.
    pub session_per: String,
    /// The time before the measurement.
    pub warm_up_us: u64,
    /// Length of a window of the timeline.
    pub window_us: u64,
    /// Time limit of a call.
    pub timeout_us: u64,
    /// Every how many replies are judged.
    pub check_every: u64,
    /// The limits that fail the run, as they are written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<String>,
}

/// Results of one kind of call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallStats {
    /// Time from the intended start to the reply, of calls that were answered well.
    pub latency: LatencyHistogram,
    /// Time from the sending to the reply.
    pub service: LatencyHistogram,
    /// Number of failed calls by kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<LoadError, ErrorStats>,
}

/// Failed calls of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorStats {
    /// Their number.
    pub count: u64,
    /// The message of the first.
    pub example: String,
    /// The smallest number of calls that were open when one was sent that failed, itself included.
    pub concurrent: u64,
}

/// Kinds of failed calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadError {
    /// No reply came within the time limit.
    Timeout,
    /// The server or its connection ended.
    Closed,
    /// No session could be opened for the call.
    NoSession,
    /// The transport refused the call: an HTTP status.
    Refused,
    /// A reply that breaks the protocol.
    Malformed,
    /// A JSON-RPC error.
    RpcError,
    /// A result that is marked as an error.
    ToolError,
    /// A reply that is not as expected.
    WrongReply,
}

impl LoadError {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::Timeout,
        Self::Closed,
        Self::NoSession,
        Self::Refused,
        Self::Malformed,
        Self::RpcError,
        Self::ToolError,
        Self::WrongReply,
    ];

    /// Its name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Closed => "closed",
            Self::NoSession => "no session",
            Self::Refused => "refused",
            Self::Malformed => "malformed",
            Self::RpcError => "JSON-RPC error",
            Self::ToolError => "tool error",
            Self::WrongReply => "wrong reply",
        }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A stretch of the timeline; a call belongs to the window of its intended start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadWindow {
    /// Latency of the calls that were answered well.
    pub latency: LatencyHistogram,
    /// Number of calls that were answered well within the window, whenever they started.
    #[serde(default)]
    pub completed: u64,
    /// Number of failed calls.
    #[serde(default)]
    pub errors: u64,
    /// Number of dropped arrivals.
    #[serde(default)]
    pub dropped: u64,
    /// Largest number of clients that were active at the same time.
    #[serde(default)]
    pub clients: u64,
}

impl Default for LoadWindow {
    fn default() -> Self {
        let latency = LatencyHistogram::with_digits(LatencyHistogram::COARSE);
        Self { latency, completed: 0, errors: 0, dropped: 0, clients: 0 }
    }
}

/// Use of the machine by all processes of the server at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageSample {
    /// Microseconds since the measurement began.
    pub at_us: u64,
    /// Number of calls that were answered by then, also those of the warm-up.
    pub calls: u64,
    /// Processor time so far.
    pub cpu_us: u64,
    /// Resident memory in bytes.
    pub memory: u64,
    /// Open files.
    pub files: u64,
    /// Threads.
    pub threads: u64,
    /// Processes.
    pub processes: u64,
}

/// Growth of memory, in bytes per call.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryGrowth {
    /// The estimate.
    pub per_call: f64,
    /// The lower end of the 95 % confidence interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// True if every third of the run shows growth.
    pub is_steady: bool,
    /// True if it cannot be a heap that is still filling up.
    #[serde(default)]
    pub is_certain: bool,
    /// The growth over the whole run, in bytes.
    pub total: f64,
}

impl fmt::Display for MemoryGrowth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let per_1000 = |per_call: f64| size_text(per_call * 1000.0);
        write!(f, "{} per 1,000 calls ({} to {})", per_1000(self.per_call), per_1000(self.low), per_1000(self.high))
    }
}

/// Result of the search for the highest rate that a server holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RateLimit {
    /// The highest rate that was held at least every second time, in calls per second; `None` if none was.
    pub held: Option<f64>,
    /// The lowest and the highest rate at which tries contradict the result, where more of them do than chance explains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<(f64, f64)>,
    /// True if mcprove itself was late at the rates that were not held: they say nothing about the server.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_own: bool,
    /// The rates that were tried, in order.
    pub steps: Vec<RateStep>,
    /// The reason why no session could be opened after the last of them, which ended the search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
}

/// A rate that was tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RateStep {
    /// Calls per second.
    pub rate: f64,
    /// Calls per second that were answered well.
    pub achieved: f64,
    /// The 99th percentile of the latency.
    pub p99_us: u64,
    /// The 99th percentile of mcprove's own delay, of all calls that a session had room for.
    #[serde(default)]
    pub own_delay_us: u64,
    /// Share of failed calls, from 0 to 1.
    pub errors: f64,
    /// Reason why it was not held; `None` if it was.
    pub broken: Option<String>,
}

impl LoadRecord {
    /// Adds the record of another shard of the same load.
    pub fn merge(&mut self, other: Self) {
        let measures = if self.usage.is_empty() { other.answered() } else { self.answered() };
        for (name, histogram) in other.phases {
            self.phases.entry(name).or_default().merge(&histogram);
        }
        for (name, stats) in other.calls {
            self.calls.entry(name).or_default().merge(stats);
        }
        self.lag.merge(&other.lag);
        self.dropped += other.dropped;
        self.checked += other.checked;
        self.sessions += other.sessions;
        self.unopened += other.unopened;
        for (phase, stats) in other.not_opened {
            self.not_opened.entry(phase).or_default().merge(stats);
        }
        self.interrupted |= other.interrupted;
        self.measured_us = self.measured_us.max(other.measured_us);
        self.began = match (self.began, other.began) {
            (Some(one), Some(other)) => Some(LoadBegin {
                first_unix_ms: one.first_unix_ms.min(other.first_unix_ms),
                last_unix_ms: one.last_unix_ms.max(other.last_unix_ms),
            }),
            (one, other) => one.or(other),
        };
        if self.windows.len() < other.windows.len() {
            self.windows.resize_with(other.windows.len(), LoadWindow::default);
        }
        for (window, more) in self.windows.iter_mut().zip(other.windows) {
            window.latency.merge(&more.latency);
            window.completed += more.completed;
            window.errors += more.errors;
            window.dropped += more.dropped;
            window.clients += more.clients;
        }
        // Servers of other machines are not added up: their samples are of other moments.
        if self.usage.is_empty() {
            self.usage = other.usage;
            self.growth = other.growth;
        }
        // Processes over stdio have answered the calls of their shard, and a server over HTTP those of all.
        if self.transport != "stdio" && self.answered() > measures {
            let share = share(measures, self.answered());
            self.growth = self.growth.map(|growth| MemoryGrowth {
                per_call: growth.per_call * share,
                low: growth.low * share,
                high: growth.high * share,
                ..growth
            });
        }
        self.limit = self.limit.take().or(other.limit);
    }

    /// Latency of all calls that were answered well.
    pub fn latency(&self) -> LatencyHistogram {
        let mut all = LatencyHistogram::default();
        self.calls.values().for_each(|stats| all.merge(&stats.latency));
        all
    }

    /// Number of calls that were answered well.
    pub fn answered(&self) -> u64 {
        self.calls.values().map(|stats| stats.latency.count()).sum()
    }

    /// Number of failed calls, without dropped arrivals.
    pub fn failed(&self) -> u64 {
        self.calls.values().map(CallStats::failed).sum()
    }

    /// Number of calls and dropped arrivals.
    pub fn total(&self) -> u64 {
        self.answered() + self.failed() + self.dropped
    }

    /// Share of calls that failed or were dropped, from 0 to 1.
    pub fn error_share(&self) -> f64 {
        share(self.failed() + self.dropped, self.total())
    }

    /// Calls per second that were answered well.
    pub fn throughput(&self) -> f64 {
        per_second(self.answered(), self.measured_us)
    }

    /// Failed calls by kind, of all calls together.
    pub fn errors(&self) -> BTreeMap<LoadError, ErrorStats> {
        let mut all: BTreeMap<LoadError, ErrorStats> = BTreeMap::new();
        for (kind, stats) in self.calls.values().flat_map(|call| &call.errors) {
            all.entry(*kind).or_default().merge(stats.clone());
        }
        all
    }
}

impl CallStats {
    /// Number of failed calls.
    pub fn failed(&self) -> u64 {
        self.errors.values().map(|errors| errors.count).sum()
    }

    /// Adds the results of another shard.
    pub fn merge(&mut self, other: Self) {
        self.latency.merge(&other.latency);
        self.service.merge(&other.service);
        for (kind, stats) in other.errors {
            self.errors.entry(kind).or_default().merge(stats);
        }
    }
}

impl ErrorStats {
    fn merge(&mut self, other: Self) {
        if self.count == 0 {
            *self = other;
        } else if other.count > 0 {
            self.count += other.count;
            self.concurrent = self.concurrent.min(other.concurrent);
        }
    }
}

/// A number per second.
#[expect(clippy::cast_precision_loss, reason = "a rate is an approximation")]
pub fn per_second(number: u64, us: u64) -> f64 {
    if us == 0 { 0.0 } else { number as f64 * 1e6 / us as f64 }
}

/// A part of a whole, from 0 to 1; nothing of nothing is 0.
#[expect(clippy::cast_precision_loss, reason = "a share is an approximation")]
pub fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(latencies: &[u64], timeouts: u64) -> LoadRecord {
        let mut stats = CallStats::default();
        let mut window = LoadWindow { errors: timeouts, ..LoadWindow::default() };
        for us in latencies {
            stats.latency.record(*us);
            window.latency.record(*us);
        }
        if timeouts > 0 {
            let error = ErrorStats { count: timeouts, example: "no reply".to_owned(), concurrent: 50 };
            stats.errors.insert(LoadError::Timeout, error);
        }
        let calls = BTreeMap::from([("echo".to_owned(), stats)]);
        LoadRecord { calls, windows: vec![window], measured_us: 1_000_000, ..LoadRecord::default() }
    }

    #[test]
    fn growth_of_a_server_counts_the_calls_of_all_shards() {
        let growth = |per_call: f64| MemoryGrowth {
            per_call,
            low: per_call,
            high: per_call,
            is_steady: true,
            is_certain: true,
            total: 1e6,
        };
        for (transport, expected) in [("http", 100.0), ("stdio", 300.0)] {
            // The second shard is the one that knows the process.
            let shard = |latencies: &[u64]| LoadRecord { transport: transport.to_owned(), ..record(latencies, 0) };
            let mut merged = shard(&[1, 2]);
            let measured =
                LoadRecord { usage: vec![UsageSample::default()], growth: Some(growth(300.0)), ..shard(&[1, 2]) };
            merged.merge(measured);
            merged.merge(shard(&[1, 2]));
            let per_call = merged.growth.expect("known").per_call;
            assert!((per_call - expected).abs() < 1e-9, "{transport}: {per_call}");
        }
    }

    #[test]
    fn shards_add_up_to_the_whole() {
        let mut merged = record(&[10, 20], 1);
        merged.merge(record(&[30], 2));
        let whole = record(&[10, 20, 30], 3);
        assert_eq!(merged, whole);
        assert_eq!((whole.answered(), whole.failed(), whole.total()), (3, 3, 6));
        assert!((whole.error_share() - 0.5).abs() < 1e-9 && (whole.throughput() - 3.0).abs() < 1e-9);
        let text = serde_json::to_string(&whole).expect("written");
        assert_eq!(serde_json::from_str::<LoadRecord>(&text).expect("read"), whole);
    }
}
