//! Server reuse.

/// Scope in which cases share a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// A fresh server for each case.
    #[default]
    Case,
    /// Cases of one file share a server.
    File,
    /// All cases that want the same server share it.
    Run,
}
