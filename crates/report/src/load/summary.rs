//! A load as one JSON object: what programs ask of it, without the histograms.

use mcprove_model::{ErrorStats, LatencyHistogram, LoadRecord, Report, Verdict};
use serde_json::{Map, Value, json};

use super::{PERCENTILES, load_of};

/// The load of a report, its gates and its findings.
pub fn load_summary(report: &Report) -> Value {
    let record = load_of(report).map(|(_, load)| load);
    let gates: Vec<Value> = report
        .cases
        .iter()
        .filter(|case| record.is_some_and(|load| load.plan.gates.contains(&case.started.name)))
        .filter_map(|gate| {
            let finished = gate.finished.as_ref()?;
            let message = finished.findings.first().map(|finding| finding.message.as_str());
            // Nothing is said about the gates of a load that was stopped.
            let is_judged = !matches!(finished.verdict, Verdict::Skipped { .. });
            let kept = is_judged.then_some(finished.verdict == Verdict::Passed);
            Some(json!({"gate": gate.started.name, "kept": kept, "message": message}))
        })
        .collect();
    let first = report.cases.first();
    let findings = first.and_then(|case| case.finished.as_ref()).into_iter().flat_map(|finished| &finished.findings);
    json!({
        "schema": 1,
        "server": first.and_then(|case| case.started.server.as_deref()),
        "load": record.map(load_value),
        "gates": gates,
        "findings": findings.chain(&report.findings).collect::<Vec<_>>(),
    })
}

fn load_value(load: &LoadRecord) -> Value {
    let calls: Map<String, Value> = load
        .calls
        .iter()
        .map(|(name, stats)| {
            let errors: Map<String, Value> =
                stats.errors.iter().map(|(kind, errors)| (kind.to_string(), json!(errors.count))).collect();
            let stats =
                json!({"latency_us": latency(&stats.latency), "service_us": latency(&stats.service), "errors": errors});
            (name.clone(), stats)
        })
        .collect();
    let phases: Map<String, Value> = load.phases.iter().map(|(name, phase)| (name.clone(), latency(phase))).collect();
    let errors: Map<String, Value> =
        load.errors().iter().map(|(kind, errors)| (kind.to_string(), error_value(errors))).collect();
    let not_opened: Map<String, Value> =
        load.not_opened.iter().map(|(phase, errors)| (phase.clone(), error_value(errors))).collect();
    json!({
        "interrupted": load.interrupted,
        "plan": load.plan,
        "transport": load.transport,
        "protocol": load.protocol,
        "duration_us": load.measured_us,
        "throughput_per_s": load.throughput(),
        "answered": load.answered(),
        "failed": load.failed(),
        "dropped": load.dropped,
        "error_share": load.error_share(),
        "checked": load.checked,
        "sessions": load.sessions,
        "not_opened": not_opened,
        "latency_us": latency(&load.latency()),
        "own_delay_us": latency(&load.lag),
        "errors": errors,
        "calls": calls,
        "phases": phases,
        "memory_growth": load.growth,
        "usage": load.usage,
        "limit": load.limit,
    })
}

fn error_value(errors: &ErrorStats) -> Value {
    json!({"count": errors.count, "example": errors.example, "concurrent": errors.concurrent})
}

fn latency(histogram: &LatencyHistogram) -> Value {
    let mut values = Map::new();
    values.insert("count".to_owned(), json!(histogram.count()));
    values.insert("mean".to_owned(), json!(histogram.mean()));
    for (name, share) in PERCENTILES {
        values.insert(name.to_owned(), json!(histogram.quantile(share)));
    }
    values.insert("max".to_owned(), json!(histogram.max()));
    Value::Object(values)
}
