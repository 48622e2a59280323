//! What happens, in what order: a plan becomes one ordered stream of events.

mod acts;
mod audit;
mod calling;
mod calls;
mod case_run;
mod columns;
mod conversation;
mod discover;
mod expectations;
mod fixture;
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
mod tour;
mod trust;
mod turns;
mod virtual_time;

pub use calling::{Calling, Says, forbidden, says};
pub use discover::{Catalog, discover, tool_name};
pub use fixture::FixtureCopy;
pub use interception::{
    AboutInterception, Answer, CallNews, Interception, InterceptionEnd, OverheardCall, OverheardClient,
};
pub use meet::{Acquaintance, meet};
pub use plan::{Filter, PlanOptions, plan};
pub use played::problems_of_played;
pub use run::{Progress, RunOptions, Sink, run};
pub use shard::{Durations, Shard};
pub use stop::{Stop, Stopper};
pub use tour::{TourOptions, Visit, catalog_of, tour};
pub use turns::wanted_side_by_side;
