//! The mock as a client sees it, one file a feature.

mod answers;
mod client;
mod content;
mod protocol;
