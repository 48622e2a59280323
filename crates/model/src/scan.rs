//! Work that a planner makes, and what suites say to the planner.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::Protocol;

/// The work of a case that judges what it sees by itself. The model only carries it; the engine performs it.
#[derive(Clone)]
pub struct ScanWork {
    name: &'static str,
    work: Arc<dyn Any + Send + Sync>,
}

impl ScanWork {
    /// Work of a kind, such as `audit`.
    pub fn new(name: &'static str, work: impl Any + Send + Sync) -> Self {
        Self { name, work: Arc::new(work) }
    }

    /// The work, if it is of this type.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.work.downcast_ref()
    }
}

impl fmt::Debug for ScanWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScanWork({})", self.name)
    }
}

/// A conformance run, as a suite asks for it; the planner makes a case for each rule and revision of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConformanceBlock {
    /// The revisions to test; those of the server when absent.
    pub protocol: Option<Protocol>,
    /// Only these rules; all when empty.
    pub rules: Vec<String>,
    /// No case for these.
    pub except: Vec<String>,
    /// True if tools that write are called, too.
    pub include_writes: bool,
    /// True if only tools are called that say that they only read.
    pub read_only: bool,
}
