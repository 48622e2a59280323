//! Execution of a plan: sessions, steps and scans become one ordered stream of events.

mod acts;
mod agent;
mod agent_runs;
mod ahead;
mod calls;
mod case_run;
mod conformance;
mod container;
mod conversation;
mod coverage_gate;
mod crew;
mod discover;
mod driver;
mod expectations;
mod fixture;
mod fuzz;
mod grading;
mod hint;
mod hooks;
mod interception;
mod known;
mod lanes;
mod latency;
mod metamorphic;
mod nearby;
mod negative_path;
mod not_recorded;
mod observe;
mod offline;
mod open;
mod plan;
mod played;
mod probing;
mod record;
mod refused;
mod remarks;
mod reply_shape;
mod restart;
mod run;
mod sanitizers;
mod scan;
mod score;
mod selection;
mod server;
mod server_info;
mod server_override;
mod shard;
mod shared;
mod spending;
mod steps;
mod stop;
mod stored;
mod transform;
mod trust;
mod turns;
mod virtual_time;
mod workplace;

pub use agent::{MissingKey, missing_keys};
pub use conformance::{Endpoint, Pace, ProbeOptions, Survey, examine, survey};
pub use discover::{Catalog, discover, tool_name};
pub use driver::{Driven, Driver, DriverOptions, JudgedReply};
pub use fixture::FixtureCopy;
pub use fuzz::{Failure, Keeping, KeptTest, Reproduction, Tally, kept_test};
pub use interception::{
    AboutInterception, Answer, CallNews, Interception, InterceptionEnd, OverheardCall, OverheardClient,
    OverheardRequest,
};
pub use mcprove_judge::tool_effect::Consent;
pub use open::open_session;
pub use plan::{Filter, PlanOptions, plan};
pub use played::problems_of_played;
pub use run::{Progress, RunOptions, Sink, run};
pub use scan::{
    Called, ConformanceOptions, FuzzScan, FuzzedTool, PlannedScan, ScanKind, ScanOptions, ScanResult,
    expand_conformance, expanded_template, plan_conformance, plan_scan, prompt_arguments,
};
pub use server_info::{InfoOptions, ServerInfo, server_info};
pub use server_override::override_servers;
pub use shard::{Durations, Shard};
pub use stop::{Stop, Stopper};
pub use stored::{Storing, snapshot_path};
pub use turns::wanted_side_by_side;
pub use workplace::NOWHERE;
