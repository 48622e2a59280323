//! Fuzzing, as far as it is pure: which inputs to send, what a reply means, and how to make a failing input small.

mod cases;
#[cfg(test)]
mod kill_list;
mod leak;
mod mutation;
mod mutations;
mod plan;
mod pool;
mod random;
mod result_shape;
mod shrink;
mod signature;
mod simpler;
mod site;
mod verdict;

pub use cases::FuzzCase;
pub use leak::{EnvironmentValues, secret_values};
pub use mutation::{Label, Mutation, Phase};
pub use mutations::MUTATIONS;
pub use plan::FuzzPlan;
pub use pool::ValuePool;
pub use shrink::Shrinker;
pub use signature::signature;
pub use verdict::{Evidence, FuzzExchange, FuzzVerdict, leak_in, verdict};
