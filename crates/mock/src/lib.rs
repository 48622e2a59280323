//! Mock servers: a manifest defines the capabilities and the replies.
//!
//! A [`Mock`] is made from an [`Offer`] (a manifest, or a recorded conversation) and serves it over a pair of byte
//! streams ([`Mock::serve`]), over HTTP ([`Mock::serve_http`]) or without leaving the process ([`Mock::connect`]). It
//! speaks every revision of the protocol correctly; each deviation is a [`MockFault`] that was requested. Its time is a
//! [`Clock`]; under a [`VirtualClock`] a call that hangs for ten minutes takes none.

mod clock;
mod condition;
mod era;
mod fault;
mod http;
mod issuer;
mod load;
mod manifest;
mod message_sink;
mod methods;
mod mock;
mod mutation;
mod placeholders;
mod recording;
mod rpc;
mod serve;
mod session;
mod tasks;
mod uri_template;

pub use clock::{Clock, RealClock, Sleep, Standstill, VirtualClock};
pub use fault::HANG;
pub use http::HttpListener;
pub use issuer::{ISSUER_FAULTS, IssuerFault, IssuerOptions};
pub use load::{from_node, load, read};
pub use manifest::{Manifest, schema as manifest_schema};
pub use mock::{Mock, MockOptions, Offer, ToolHandler, connect};
pub use mutation::{MUTATIONS, Mutation, conforming};
pub use recording::Recording;
