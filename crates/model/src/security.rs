//! Declarations of a suite about trust: between its servers, and between a client and a server.

use crate::Span;

/// Declarations of a suite about trust.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Security {
    /// Output that may flow from server to server; without it, flows are not judged.
    pub trust_boundary: Option<Boundary>,
    /// Capabilities that clients may claim; without it, claims are not judged.
    pub capability_negotiation: Option<Negotiation>,
}

/// Declarations of a suite about the boundaries between its servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boundary {
    /// Pairs of servers between which output may flow; an empty list declares nothing.
    pub allowed_flows: Vec<FlowPair>,
    /// Tools of which one must have sanitized each flow; an empty list declares nothing.
    pub required_sanitizers: Vec<String>,
    /// The fewest characters that count as carried.
    pub min_length: usize,
}

/// A direction in which output may flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowPair {
    /// The server that said it.
    pub from: String,
    /// The receiving server.
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

/// Negotiation of the client's capabilities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Negotiation {
    /// The protocol revision it is about.
    pub target: String,
    /// The negotiated capabilities; those of the handshake or the first request when absent.
    pub negotiated: Option<Vec<String>>,
    /// Its position in the file.
    pub span: Span,
}
