//! What a suite declares about trust: between its servers, and between a client and a server.

use crate::Span;

/// What a suite declares about trust.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Security {
    /// Which output may flow from server to server; nothing is judged when it is absent.
    pub trust_boundary: Option<Boundary>,
    /// What clients may claim; nothing is judged when it is absent.
    pub capability_negotiation: Option<Negotiation>,
}

/// What a suite declares about the boundaries between its servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boundary {
    /// Pairs of servers between which output may flow; an empty list is no clause.
    pub allowed_flows: Vec<FlowPair>,
    /// Tools of which one must have sanitized what flows; an empty list is no clause.
    pub required_sanitizers: Vec<String>,
    /// The fewest characters that count as carried.
    pub min_length: usize,
}

/// A direction in which output may flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowPair {
    /// The server that said it.
    pub from: String,
    /// The server that may be told.
    pub to: String,
}

impl Boundary {
    /// The fewest characters that count as carried, where the suite says nothing else.
    pub const MIN_LENGTH: usize = 16;
}

impl Default for Boundary {
    fn default() -> Self {
        Self { allowed_flows: Vec::new(), required_sanitizers: Vec::new(), min_length: Self::MIN_LENGTH }
    }
}

/// What was agreed about the client's capabilities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Negotiation {
    /// The protocol revision it is about.
    pub target: String,
    /// What was agreed; the handshake or the first request when absent.
    pub negotiated: Option<Vec<String>>,
    /// Where it is written.
    pub span: Span,
}
