//! Asking a server what it offers, as several commands do; nothing is called.

use std::path::Path;
use std::time::Duration;

use mcprove_engine::{Catalog, InfoOptions, server_info};
use mcprove_model::{ServerSpec, Severity};
use mcprove_report::render_findings;

use crate::context::Context;
use crate::execution::{PROBE_TIMEOUT, runtime};
use crate::failure::Failure;
use crate::stop_signals::StopSignals;

/// Asks a server what it offers; where it needs a folder, it gets a copy.
pub(crate) fn offer_of(
    server: &ServerSpec,
    fixture: Option<&Path>,
    timeout: Duration,
    context: &Context,
) -> Result<Catalog, Failure> {
    let waiting = context.waiting(&format!("asking {} what it offers", server.name));
    let options = InfoOptions { fixture, ..info_options(timeout, context) };
    let info =
        until_stopped(server_info(server, &options))?.map_err(|failure| Failure::unreachable(&failure, server))?;
    drop(waiting);
    // A list that is cut is not the whole truth about the server.
    let warnings = info.catalog.findings.iter().filter(|finding| finding.severity == Severity::Warning);
    let text = render_findings(&warnings.cloned().collect::<Vec<_>>(), &context.style());
    context.write_stderr(&crate::logins::redactor(server.secrets.iter().map(String::as_str)).text(&text));
    Ok(info.catalog)
}

/// Default options for asking a server, without a folder.
pub(crate) fn info_options(timeout: Duration, context: &Context) -> InfoOptions<'_> {
    InfoOptions {
        fixture: None,
        own_program: &context.own_program,
        timeout,
        probe_timeout: PROBE_TIMEOUT,
        limits: context.limits,
        tokens: crate::logins::tokens(),
    }
}

/// Waits for something; the first signal ends it, and with it the servers it had started.
pub(crate) fn until_stopped<T>(waiting: impl Future<Output = T>) -> Result<T, Failure> {
    runtime(1)?.block_on(async {
        let mut signals = StopSignals::listen();
        tokio::select! {
            // Signals are listened to before anything is started.
            biased;
            () = signals.next() => Err(Failure::Interrupted),
            it = waiting => Ok(it),
        }
    })
}
