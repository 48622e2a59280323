//! What happens, in what order: a plan becomes one ordered stream of events.

mod acts;
mod audit;
mod calling;
mod calls;
mod case_run;
mod columns;
mod conversation;
mod coverage_gate;
mod discover;
mod expectations;
mod fixture;
mod fuzz;
mod hint;
mod hooks;
mod interception;
mod lanes;
mod latency;
mod meet;
mod nearby;
mod negative_path;
mod observe;
mod plan;
mod played;
mod probing;
mod record;
mod remarks;
mod restart;
mod run;
mod server;
mod shard;
mod steps;
mod stop;
mod stored;
mod tour;
mod trust;
mod turns;
mod virtual_time;
mod workplace;

pub use calling::{Calling, Says, forbidden, says};
pub use discover::{Catalog, discover, tool_name};
pub use fixture::FixtureCopy;
pub use fuzz::{Failure, FuzzOptions, FuzzRun, FuzzedTool, KeptTest, Reproduction, Tally, fuzz, kept_test};
pub use interception::{
    AboutInterception, Answer, CallNews, Interception, InterceptionEnd, OverheardCall, OverheardClient,
};
pub use meet::{Acquaintance, meet};
pub use plan::{Filter, PlanOptions, plan};
pub use played::problems_of_played;
pub use run::{CallProgress, Progress, RunOptions, Sink, run};
pub use shard::{Durations, Shard};
pub use stop::{Stop, Stopper};
pub use stored::{Storing, snapshot_path};
pub use tour::{Called, TourOptions, Toured, Visit, catalog_of, catalog_with_fixture, tour};
pub use turns::wanted_side_by_side;
