//! The command that a client starts as its server: it hands its input and output to the process that observes.

/// The first argument of this program in that role.
pub const HOST_PIPE: &str = "__host-pipe";
