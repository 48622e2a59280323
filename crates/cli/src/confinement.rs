//! The sandbox of servers that are scanned.

use mcprove_model::{Sandbox, ServerSpec, Target};
use mcprove_wire::{SandboxSupport, sandbox_support};

use crate::context::Context;

/// The choice of a user about the sandbox of a scan.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct Confinement {
    /// Start the server without a sandbox: it may write wherever you may.
    #[arg(long, help_heading = "Server")]
    no_sandbox: bool,
}

impl Confinement {
    /// Confines a server, and reports where the system cannot.
    pub(crate) fn apply(self, server: &mut ServerSpec, context: &Context) {
        // Servers in containers are confined by those, and others run where they run.
        let Target::Stdio { docker: None, .. } = &server.target else { return };
        if self.no_sandbox {
            return;
        }
        match sandbox_support() {
            SandboxSupport::Full => {}
            SandboxSupport::Partial(missing) => {
                if context.verbosity == mcprove_report::Verbosity::Verbose {
                    context.complain(&format!("note: the sandbox does not cover {}\n", missing.join(" and ")));
                }
            }
            SandboxSupport::Unsupported(why) => {
                context.complain(&format!(
                    "note: the server runs without a sandbox: {why}; tools that seem to write are skipped all the same\n"
                ));
                return;
            }
        }
        server.sandbox = Some(Sandbox::default());
    }
}
