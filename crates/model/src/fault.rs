//! Faults that a suite injects into the calls of an agent.

/// A kind of unresponsiveness, named as in the mock's `--fault`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// No call ever returns.
    Hang,
    /// The same to an agent; another name to record what was meant.
    Wedged,
    /// Calls answer after a delay.
    Slow {
        /// The delay.
        delay_ms: u64,
    },
    /// The first calls hang, then the server is well again.
    RecoverAfter {
        /// Number of failures.
        failures: u64,
    },
}

/// A fault by name: which calls it touches, and what it does to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its name in tests.
    pub name: String,
    /// The tool; every tool when absent.
    pub tool: Option<String>,
    /// The server, as the suite names it; every server when absent.
    pub server: Option<String>,
    /// Its kind.
    pub kind: FaultKind,
}

impl Fault {
    /// True if it touches the calls of a tool of a server.
    pub fn touches(&self, server: &str, tool: &str) -> bool {
        self.server.as_deref().is_none_or(|own| own == server) && self.tool.as_deref().is_none_or(|own| own == tool)
    }
}
