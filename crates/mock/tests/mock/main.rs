//! The mock as a client sees it, one file a feature.

mod answers;
mod asking;
mod bridge;
mod client;
mod content;
mod faults;
mod http;
mod injected;
mod mistakes;
mod page;
mod protocol;
mod replay;
mod tasks;
