//! `mcprove bench --export-k6`: the load as a script for k6.

use std::path::Path;

use mcprove_engine::{LoadOptions, Workload};
use mcprove_judge::load::Quantity;
use mcprove_model::{ExitStatus, Protocol, Remote, Revision, ServerSpec, Target, without_password};
use mcprove_report::{K6Call, K6Script};

use crate::atomic_write;
use crate::failure::Failure;

/// Writes the script.
pub(crate) fn write(
    path: &Path,
    server: &ServerSpec,
    workload: &Workload,
    options: &LoadOptions,
) -> Result<ExitStatus, Failure> {
    let Target::Remote { transport: Remote::Http, url, headers } = &server.target else {
        return Err(Failure::new(
            "k6 speaks HTTP, and the server is not reached over Streamable HTTP",
            "give `--url`, or leave out `--export-k6`",
        ));
    };
    let calls: Vec<K6Call> = workload
        .tool_calls()
        .map(|(tool, arguments, weight)| K6Call { tool: tool.to_owned(), arguments: arguments.clone(), weight })
        .collect();
    if calls.len() < workload.names().count() {
        return Err(Failure::new(
            "the script calls tools only, and the load has other requests",
            "leave out the tests of resources and prompts",
        ));
    }
    let percentiles = options.gates.iter().filter(|gate| gate.is_upper).filter_map(|gate| {
        let Quantity::Percentile(percent) = gate.quantity else { return None };
        Some((percent, gate.limit / 1000.0))
    });
    let errors = options.gates.iter().find(|gate| gate.quantity == Quantity::Errors && gate.is_upper);
    let script = K6Script {
        url: without_password(url).into_owned(),
        headers: headers.iter().map(|(name, _)| name.clone()).collect(),
        calls,
        is_open: options.is_open,
        stages: options.shape.stages().iter().map(|stage| (stage.from, stage.to, stage.length.as_millis())).collect(),
        clients: options.clients.max(options.in_flight.min(100)),
        percentiles: percentiles.collect(),
        errors: errors.map(|gate| gate.limit),
        protocol: match server.protocol {
            Protocol::Exactly(revision) => revision.to_string(),
            Protocol::Legacy | Protocol::Modern | Protocol::Auto => Revision::NEWEST_LEGACY.to_string(),
        },
    };
    atomic_write::write_report(path, script.render().as_bytes()).map_err(|error| {
        Failure::new(
            format!("`{}` could not be written: {error}", path.display()),
            "give `--export-k6` a path in an existing folder",
        )
    })?;
    Ok(ExitStatus::Good)
}
