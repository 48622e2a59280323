//! Load: when calls arrive, and what their latencies, errors and memory prove. Pure.

mod compare;
mod findings;
mod gate;
mod growth;
mod limit;
mod merge;
mod schedule;
mod shape;

pub use compare::{Change, Measure, compare};
pub use findings::findings;
pub use gate::{Gate, GateResult, Quantity};
pub use growth::memory_growth;
pub use limit::{LimitSearch, why_not_held};
pub use merge::{LOAD_CASE, merge_loads};
pub use schedule::Schedule;
pub use shape::{Shape, Stage};
