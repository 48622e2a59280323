//! What happens, in what order: a plan becomes one ordered stream of events.

mod acts;
mod agent;
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
mod lanes;
mod latency;
mod nearby;
mod observe;
mod plan;
mod probing;
mod record;
mod remarks;
mod run;
mod server;
mod shard;
mod steps;
mod stop;
mod tour;

pub use calling::{Calling, Says, forbidden, says};
pub use columns::{Column, ColumnServer};
pub use discover::{Catalog, discover, tool_name};
pub use fixture::FixtureCopy;
pub use plan::{Filter, PlanOptions, plan};
pub use run::{Progress, RunOptions, Sink, run};
pub use shard::{Durations, Shard};
pub use stop::{Stop, Stopper};
pub use tour::{TourOptions, Visit, catalog_of, tour};
