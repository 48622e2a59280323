//! `mcprove bench --export-k6`: the load as a script for k6.

use std::path::Path;

use mcprove_engine::{LoadOptions, SessionPer, Workload};
use mcprove_judge::load::{Gate, Quantity};
use mcprove_model::{Era, ExitStatus, Protocol, Remote, Revision, ServerSpec, Target, without_password};
use mcprove_report::{K6Call, K6Script};

use crate::atomic_write;
use crate::context::Context;
use crate::failure::Failure;

/// Writes the script.
pub(crate) fn write(
    path: &Path,
    server: &ServerSpec,
    workload: &Workload,
    options: &LoadOptions,
    context: &Context,
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
    let Some(revision) = revision(server.protocol) else {
        return Err(Failure::new(
            "the script opens sessions, and this revision has none",
            "give `--protocol legacy`, or leave out `--export-k6`",
        ));
    };
    let success = options.gates.iter().find(|gate| gate.quantity == Quantity::Errors && gate.is_upper);
    let success =
        success.map(|gate| format!("rate {} {}", if gate.allows_equal { ">=" } else { ">" }, number(1.0 - gate.limit)));
    let is_exported = |gate: &Gate| latency_limit(gate).is_some() || gate.quantity == Quantity::Errors && gate.is_upper;
    for gate in options.gates.iter().filter(|gate| !is_exported(gate)) {
        context.write_stderr(&format!("note: the script has no threshold for the gate `{gate}`\n"));
    }
    let script = K6Script {
        url: without_password(url).into_owned(),
        headers: headers.iter().map(|(name, _)| name.clone()).collect(),
        calls,
        is_open: options.is_open,
        stages: options.shape.stages().iter().map(|stage| (stage.from, stage.to, stage.length.as_millis())).collect(),
        clients: options.clients.max(options.in_flight.min(100)),
        calls_in_all: options.calls.filter(|_| !options.is_open),
        session_calls: match options.session_per {
            SessionPer::Client => None,
            SessionPer::Calls(calls) => Some(calls),
        },
        latency_limits: options.gates.iter().filter_map(latency_limit).collect(),
        success_limit: success,
        protocol: revision.to_string(),
    };
    atomic_write::write_report(path, script.render().as_bytes()).map_err(|error| {
        Failure::new(
            format!("`{}` could not be written: {error}", path.display()),
            "give `--export-k6` a path in an existing folder",
        )
    })?;
    Ok(ExitStatus::Good)
}

/// The revision that the script speaks: one with sessions.
fn revision(protocol: Protocol) -> Option<Revision> {
    match protocol {
        Protocol::Exactly(revision) => Some(revision).filter(|revision| revision.era() == Era::Legacy),
        Protocol::Modern => None,
        Protocol::Legacy | Protocol::Auto => Some(Revision::NEWEST_LEGACY),
    }
}

/// A gate on the latency as a threshold of k6, which counts milliseconds.
fn latency_limit(gate: &Gate) -> Option<String> {
    let name = match gate.quantity {
        Quantity::Percentile(percent) => format!("p({percent})"),
        Quantity::Mean => "avg".to_owned(),
        Quantity::Max => "max".to_owned(),
        Quantity::Errors
        | Quantity::Dropped
        | Quantity::Wrong
        | Quantity::Throughput
        | Quantity::MemoryGrowth
        | Quantity::Memory => return None,
    };
    let operator = match (gate.is_upper, gate.allows_equal) {
        (true, false) => "<",
        (true, true) => "<=",
        (false, false) => ">",
        (false, true) => ">=",
    };
    Some(format!("{name} {operator} {}", number(gate.limit / 1000.0)))
}

/// A number without the digits that a difference of decimals leaves behind.
fn number(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
