//! Hosts under bad servers: a scenario is played to a client, and the wire decides.
//!
//! `servers.rs` serves the scenario and observes every frame, `observed.rs` keeps them within bounds, `config.rs` writes its configuration, `play.rs` starts the
//! client and collects the evidence, `scan.rs` is the case on the one run path, and `scripted/` is a client of
//! mcprove's own that plays scenarios in virtual time, well, badly, or against one rule.

mod config;
mod observed;
mod pipe;
mod play;
mod scan;
mod scripted;
mod servers;

pub use config::{ClientConfig, ClientServer, Place, client_config};
pub use pipe::HOST_PIPE;
pub use play::{HostOptions, Player, ScenarioFault, play};
pub use scan::{HostPlayed, HostScanOptions, plan_host};
pub use scripted::{CLIENT_MUTATIONS, ClientMutation};
