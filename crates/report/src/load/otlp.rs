//! OTLP metrics in their JSON encoding, for an OpenTelemetry collector.

use mcprove_model::{LatencyHistogram, Report};
use serde_json::{Value, json};

use super::load_of;

/// Bounds of the latency histogram, in milliseconds.
const BOUNDS_MS: [u64; 12] = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 10_000];

/// The body of `POST /v1/metrics` for the load of a report; `None` where there is none.
pub fn otlp(report: &Report) -> Option<Value> {
    let (case, load) = load_of(report)?;
    let begin = report.head().map_or(0, |head| head.started_unix_ms);
    let start = nanoseconds(begin);
    let time = nanoseconds(begin + case.finished.as_ref().map_or(0, |finished| finished.duration_us / 1000));
    let point = |attributes: Vec<Value>, value: Value| {
        let mut point = json!({"attributes": attributes, "startTimeUnixNano": start, "timeUnixNano": time});
        if let (Some(point), Value::Object(value)) = (point.as_object_mut(), value) {
            point.extend(value);
        }
        point
    };
    let sum = |name: &str, unit: &str, points: Vec<Value>| json!({"name": name, "unit": unit, "sum": {"dataPoints": points, "aggregationTemporality": 2, "isMonotonic": true}});
    let gauge = |name: &str, unit: &str, value: f64| json!({"name": name, "unit": unit, "gauge": {"dataPoints": [point(Vec::new(), json!({"asDouble": value}))]}});
    let latencies =
        load.calls.iter().map(|(name, stats)| point(vec![text("mcp.call", name)], histogram(&stats.latency)));
    let phases = load.phases.iter().map(|(name, phase)| point(vec![text("mcp.phase", name)], histogram(phase)));
    let errors = load.calls.iter().flat_map(|(name, stats)| {
        stats.errors.iter().map(move |(kind, errors)| {
            let attributes = vec![text("mcp.call", name), text("error.type", kind.as_str())];
            point(attributes, json!({"asInt": errors.count.to_string()}))
        })
    });
    let not_opened = load
        .not_opened
        .iter()
        .map(|(phase, errors)| point(vec![text("mcp.phase", phase)], json!({"asInt": errors.count.to_string()})));
    let mut metrics = vec![
        json!({
            "name": "mcprove.call.latency",
            "unit": "ms",
            "histogram": {"dataPoints": latencies.collect::<Vec<_>>(), "aggregationTemporality": 2},
        }),
        json!({
            "name": "mcprove.phase.duration",
            "unit": "ms",
            "histogram": {"dataPoints": phases.collect::<Vec<_>>(), "aggregationTemporality": 2},
        }),
        sum("mcprove.call.errors", "{call}", errors.collect()),
        sum("mcprove.sessions.not_opened", "{session}", not_opened.collect()),
        gauge("mcprove.interrupted", "1", f64::from(u8::from(load.interrupted))),
        sum("mcprove.arrivals.dropped", "{call}", vec![point(Vec::new(), json!({"asInt": load.dropped.to_string()}))]),
        gauge("mcprove.throughput", "{call}/s", load.throughput()),
    ];
    if let Some(last) = load.usage.last() {
        for (name, unit, value) in [
            ("mcprove.server.memory", "By", last.memory),
            ("mcprove.server.open_files", "{file}", last.files),
            ("mcprove.server.threads", "{thread}", last.threads),
            ("mcprove.server.processes", "{process}", last.processes),
        ] {
            #[expect(clippy::cast_precision_loss, reason = "memory is far below 2^52 bytes")]
            metrics.push(gauge(name, unit, value as f64));
        }
    }
    if let Some(held) = load.limit.as_ref().and_then(|limit| limit.held) {
        metrics.push(gauge("mcprove.rate_held", "{call}/s", held));
    }
    metrics.extend(load.growth.map(|growth| gauge("mcprove.server.memory.growth", "By/{call}", growth.per_call)));
    let server = case.started.server.as_deref().unwrap_or_default();
    Some(json!({"resourceMetrics": [{
        "resource": {"attributes": [text("service.name", "mcprove"), text("mcp.server", server)]},
        "scopeMetrics": [{"scope": {"name": "mcprove"}, "metrics": metrics}],
    }]}))
}

fn histogram(latency: &LatencyHistogram) -> Value {
    let mut below = 0;
    let mut counts: Vec<String> = Vec::new();
    for bound in BOUNDS_MS {
        let up_to = latency.count_up_to(bound * 1000);
        counts.push((up_to - below).to_string());
        below = up_to;
    }
    counts.push((latency.count() - below).to_string());
    json!({
        "count": latency.count().to_string(),
        "sum": mcprove_model::share(latency.sum(), 1000),
        "max": mcprove_model::share(latency.max(), 1000),
        "explicitBounds": BOUNDS_MS,
        "bucketCounts": counts,
    })
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

/// Numbers of 64 bits are strings in the JSON encoding of protocol buffers.
fn nanoseconds(ms: u64) -> String {
    ms.saturating_mul(1_000_000).to_string()
}
