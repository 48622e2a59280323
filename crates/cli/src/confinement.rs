//! The sandbox of servers that are scanned.

use std::sync::Arc;

use mcprove_model::{Case, Sandbox, ServerSpec, Target};
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
        if !self.concerns(server) {
            return;
        }
        match sandbox_support() {
            SandboxSupport::Full => {}
            SandboxSupport::Partial(missing) => {
                if context.verbosity == mcprove_report::Verbosity::Verbose {
                    context.write_stderr(&format!("note: the sandbox does not cover {}\n", missing.join(" and ")));
                }
            }
            SandboxSupport::Unsupported(why) => {
                context.write_stderr(&format!(
                    "note: the server runs without a sandbox: {why}; tools that seem to write are still skipped\n"
                ));
            }
        }
        // With `--sandbox`, it is required already.
        server.sandbox.get_or_insert_default();
    }

    /// True if a server runs in a sandbox.
    pub(crate) fn is_effective(server: &ServerSpec) -> bool {
        server.sandbox.is_some() && !matches!(sandbox_support(), SandboxSupport::Unsupported(_))
    }

    /// Confines the servers of cases that a scan runs, without reporting it once more.
    pub(crate) fn apply_to_cases(self, cases: &mut [Arc<Case>]) {
        for case in cases.iter_mut().filter(|case| case.server.is_some()) {
            Arc::make_mut(case).replace_servers(&mut |server| {
                let sandbox = self.concerns(server).then(Sandbox::default);
                Arc::new(ServerSpec { sandbox, ..ServerSpec::clone(server) })
            });
        }
    }

    /// True for a server that is to be confined: those in containers are confined by those, and others run where they run.
    fn concerns(self, server: &ServerSpec) -> bool {
        !self.no_sandbox && matches!(&server.target, Target::Stdio { docker: None, .. })
    }
}
