//! The command that a client starts as its server: it hands its input and output to the process that observes.

use mcprove_wire::connect_pipe;

/// The first argument of this program in that role.
pub const HOST_PIPE: &str = "__host-pipe";

/// Connects standard input and output with the observer at an address until either ends; false if it is not there.
pub async fn run_host_pipe(address: &str, key: &str) -> bool {
    connect_pipe(address, key, tokio::io::stdin(), tokio::io::stdout()).await.is_ok()
}
