//! Work that a planner makes from what a server lists.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

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
