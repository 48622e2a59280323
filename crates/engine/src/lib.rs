//! What happens, in what order: a plan becomes one ordered stream of events.

mod calls;
mod case_run;
mod expectations;
mod fixture;
mod hint;
mod observe;
mod plan;
mod run;
mod server;
mod stop;

pub use fixture::FixtureCopy;
pub use plan::{Filter, PlanOptions, plan};
pub use run::{Progress, RunOptions, Sink, run};
pub use stop::{Stop, Stopper};
