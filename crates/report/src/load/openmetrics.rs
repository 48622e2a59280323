//! `OpenMetrics` text, for Prometheus and everything that reads its format.

use std::fmt::Write as _;

use mcprove_model::{LatencyHistogram, LoadRecord, Report};

use super::load_of;
use crate::escape;

/// Bounds of the latency histogram, in seconds.
const BOUNDS: [(&str, u64); 14] = [
    ("0.0005", 500),
    ("0.001", 1_000),
    ("0.0025", 2_500),
    ("0.005", 5_000),
    ("0.01", 10_000),
    ("0.025", 25_000),
    ("0.05", 50_000),
    ("0.1", 100_000),
    ("0.25", 250_000),
    ("0.5", 500_000),
    ("1.0", 1_000_000),
    ("2.5", 2_500_000),
    ("5.0", 5_000_000),
    ("10.0", 10_000_000),
];

/// The load of a report in the `OpenMetrics` text format; only the end mark where there is none.
pub fn openmetrics(report: &Report) -> String {
    let mut out = String::new();
    if let Some((_, load)) = load_of(report) {
        calls(&mut out, load);
        server(&mut out, load);
    }
    out.push_str("# EOF\n");
    out
}

fn calls(out: &mut String, load: &LoadRecord) {
    family(out, "mcprove_call_latency_seconds", "histogram", "Time from the intended start of a call to its reply.");
    for (name, stats) in &load.calls {
        histogram(out, "mcprove_call_latency_seconds", ("call", name), &stats.latency);
    }
    family(out, "mcprove_phase_seconds", "histogram", "Time of the phases of a session: start, handshake, list, call.");
    for (name, phase) in &load.phases {
        histogram(out, "mcprove_phase_seconds", ("phase", name), phase);
    }
    family(out, "mcprove_call_errors", "counter", "Failed calls by kind.");
    for (name, stats) in &load.calls {
        for (kind, errors) in &stats.errors {
            let _ = writeln!(
                out,
                "mcprove_call_errors_total{{call=\"{}\",kind=\"{}\"}} {}",
                label(name),
                label(kind.as_str()),
                errors.count
            );
        }
    }
    family(
        out,
        "mcprove_sessions_not_opened",
        "counter",
        "Sessions that could not be opened, by the phase that failed.",
    );
    for (phase, errors) in &load.not_opened {
        let _ = writeln!(out, "mcprove_sessions_not_opened_total{{phase=\"{}\"}} {}", label(phase), errors.count);
    }
    family(out, "mcprove_interrupted", "gauge", "1 if the load was stopped before its end.");
    let _ = writeln!(out, "mcprove_interrupted {}", u8::from(load.interrupted));
    family(out, "mcprove_dropped_arrivals", "counter", "Calls that could not be started in time.");
    let _ = writeln!(out, "mcprove_dropped_arrivals_total {}", load.dropped);
    family(out, "mcprove_throughput", "gauge", "Calls per second that were answered well.");
    let _ = writeln!(out, "mcprove_throughput {}", load.throughput());
    if let Some(held) = load.limit.as_ref().and_then(|limit| limit.held) {
        family(out, "mcprove_rate_held", "gauge", "The highest rate that was held, in calls per second.");
        let _ = writeln!(out, "mcprove_rate_held {held}");
    }
}

fn server(out: &mut String, load: &LoadRecord) {
    let Some(last) = load.usage.last() else { return };
    for (name, help, value) in [
        ("mcprove_server_memory_bytes", "Resident memory of the server.", last.memory),
        ("mcprove_server_open_files", "Open files of the server.", last.files),
        ("mcprove_server_threads", "Threads of the server.", last.threads),
        ("mcprove_server_processes", "Processes of the server.", last.processes),
    ] {
        family(out, name, "gauge", help);
        let _ = writeln!(out, "{name} {value}");
    }
    if let Some(growth) = &load.growth {
        let name = "mcprove_server_memory_growth_bytes";
        family(out, name, "gauge", "Growth of the server's memory per call, with its 95 % confidence interval.");
        for (bound, value) in [("estimate", growth.per_call), ("low", growth.low), ("high", growth.high)] {
            let _ = writeln!(out, "{name}{{bound=\"{bound}\"}} {value}");
        }
    }
}

fn histogram(out: &mut String, family: &str, (key, name): (&str, &str), times: &LatencyHistogram) {
    let name = label(name);
    for (bound, us) in BOUNDS {
        let count = times.count_up_to(us);
        let _ = writeln!(out, "{family}_bucket{{{key}=\"{name}\",le=\"{bound}\"}} {count}");
    }
    let count = times.count();
    let _ = writeln!(out, "{family}_bucket{{{key}=\"{name}\",le=\"+Inf\"}} {count}");
    let _ = writeln!(out, "{family}_count{{{key}=\"{name}\"}} {count}");
    let _ = writeln!(out, "{family}_sum{{{key}=\"{name}\"}} {}", seconds(times.sum()));
}

fn family(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# TYPE {name} {kind}\n# HELP {name} {help}");
}

fn seconds(us: u64) -> String {
    format!("{}.{:06}", us / 1_000_000, us % 1_000_000)
}

/// A value of a label: a backslash and a quote are escaped; control characters are shown as in every other report, since not
/// every reader knows that only a line feed ends a line.
fn label(text: &str) -> String {
    escape::name(text).replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::label;

    #[test]
    fn a_label_is_one_line_for_every_reader() {
        let label = label("ev\"il\\\r\n\u{2028}# EOF");
        assert!(!label.contains(['\r', '\n', '\u{2028}']), "{label}");
        assert!(label.starts_with("ev\\\"il\\\\"), "{label}");
    }
}
