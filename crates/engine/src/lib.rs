//! Execution of a plan: sessions, steps and scans become one ordered stream of events.

mod acts;
mod agent;
mod agent_runs;
mod calls;
mod case_run;
mod concurrency;
mod conformance;
mod container;
mod conversation;
mod coverage_gate;
mod discover;
mod driver;
mod expectations;
mod fixture;
mod fixture_guard;
mod fuzz;
mod grading;
mod hint;
mod hooks;
mod host;
mod implicit_checks;
mod interception;
mod judge_cassette;
mod known_failures;
mod lane_state;
mod lanes;
mod latency;
mod load;
mod metamorphic;
mod mock_files;
mod negative_path;
mod not_recorded;
mod observe;
mod offline;
mod open_session;
mod pipelining;
mod plan;
mod position_fix;
mod prestart;
mod probes;
mod record;
mod reply_shape;
mod restart;
mod result_batch;
mod run;
mod runtime_pool;
mod sandbox_refusals;
mod sanitizers;
mod scan;
mod score;
mod selection;
mod sequences;
mod server;
mod server_info;
mod server_override;
mod shard;
mod spending;
mod steps;
mod stop;
mod stored_replies;
mod transform;
mod trust;
mod virtual_time;

pub use agent::{MissingKey, missing_keys};
pub use concurrency::wanted_side_by_side;
pub use conformance::{Endpoint, Pace, ProbeOptions, Survey, TokenProbe, authorized, examine, survey};
pub use discover::{Catalog, discover, tool_name};
pub use driver::{Driven, Driver, DriverOptions, JudgedReply};
pub use fixture::FixtureCopy;
pub use fixture_guard::NOWHERE;
pub use fuzz::{CallCounts, Failure, Keeping, KeptTest, Reproduction, kept_test};
pub use host::{
    CLIENT_MUTATIONS, ClientConfig, ClientMutation, ClientServer, HOST_PIPE, HostOptions, HostPlayed, HostScanOptions,
    Place, Player, ScenarioFault, client_config, plan_host, play,
};
pub use interception::{
    Answer, CallNews, Interception, InterceptionEnd, InterceptionOptions, ObservedCall, ObservedClient, ObservedRequest,
};
pub use load::{
    CatalogWorkload, LoadMeter, LoadOptions, LoadProgress, SessionPer, SuiteWorkload, Workload, catalog_workload,
    plan_load, suite_workload,
};
pub use mcprove_judge::tool_effect::Consent;
pub use mock_files::problems_of_played;
pub use open_session::open_session;
pub use plan::{Filter, PlanOptions, plan};
pub use run::{Progress, RunOptions, Sink, run};
pub use scan::{
    ConformanceOptions, DiffCall, DiffOptions, DiffProgram, FuzzScan, FuzzedTool, PlannedCall, PlannedScan, ScanKind,
    ScanOptions, ScanResult, SequenceRun, SequenceScan, expand_conformance, expanded_template, plan_conformance,
    plan_diff, plan_scan, prompt_arguments, recorded_calls, suite_programs,
};
pub use sequences::{CorpusEntry, Reproduced, SequenceFailure, kept_sequence, read_entry, written_entry};
pub use server_info::{InfoOptions, ServerInfo, server_info};
pub use server_override::override_servers;
pub use shard::{Durations, Shard};
pub use stop::{Stop, Stopper};
pub use stored_replies::{Storing, snapshot_path};
