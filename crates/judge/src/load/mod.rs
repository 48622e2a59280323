//! Load: when calls arrive, and what their latencies, errors and memory prove. Pure.

mod compare;
mod findings;
mod gate;
mod growth;
mod limit;
mod limit_search;
mod merge;
mod schedule;
mod shape;
#[cfg(test)]
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times and numbers of a simulation are small"
)]
mod simulated;

pub use compare::{Change, Measure, compare};
pub use findings::findings;
pub use gate::{Gate, GateResult, Quantity};
pub use growth::memory_growth;
pub use limit::{is_own_limit, own_delay, why_not_held};
pub use limit_search::{LimitSearch, Tried};
pub use merge::{LOAD_CASE, merge_loads};
pub use schedule::Schedule;
pub use shape::{Shape, Stage};
