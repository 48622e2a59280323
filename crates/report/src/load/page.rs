//! A load as one HTML page with plots: no script, no network.

use std::fmt::Write as _;

use mcprove_model::{CaseReport, LoadRecord, Report, Verdict, duration_text, number_text, per_second, size_text};

use super::load_of;
use super::svg::{Curve, curves, escaped, heat_map};
use super::table::{counts_cpu, headlines, table};
use crate::escape;
use crate::style::Style;

/// The page of a report with a load; `None` where there is none.
pub(crate) fn page(report: &Report) -> Option<String> {
    let (case, load) = load_of(report)?;
    let server = escape::line(case.started.server.as_deref().unwrap_or("server")).into_owned();
    let mut out = String::from(HEAD);
    let _ = write!(out, "<title>mcprove bench: {0}</title></head><body><h1>{0}</h1>", escaped(&server));
    out.push_str("<dl>");
    for (name, value) in headlines(load) {
        let _ = write!(out, "<dt>{name}</dt><dd>{}</dd>", escaped(&escape::line(&value)));
    }
    out.push_str("</dl>");
    verdicts(&mut out, report);
    plots(&mut out, load);
    let _ = write!(out, "<h2>Numbers</h2><pre>{}</pre>", escaped(&table(load, &Style::default())));
    out.push_str("</body></html>\n");
    Some(out)
}

/// Gates and findings.
fn verdicts(out: &mut String, report: &Report) {
    out.push_str("<h2>Results</h2><ul>");
    let findings = report.findings.iter().map(|finding| (finding.severity.fails(), finding));
    for case in &report.cases {
        let word = verdict_of(case);
        let _ = write!(out, "<li class='{word}'><b>{word}</b> {}", escaped(&escape::name(&case.started.name)));
        out.push_str("<ul>");
        for finding in case.finished.iter().flat_map(|finished| &finished.findings) {
            item(out, finding);
        }
        out.push_str("</ul></li>");
    }
    for (_, finding) in findings {
        item(out, finding);
    }
    out.push_str("</ul>");
}

fn item(out: &mut String, finding: &mcprove_model::Finding) {
    let word = finding.severity.word();
    let _ = write!(out, "<li>{word}: {}", escaped(&escape::line(&finding.message)));
    if let Some(actual) = &finding.actual {
        let _ = write!(out, "<br><code>{}</code>", escaped(&escape::line(actual)));
    }
    out.push_str("</li>");
}

fn verdict_of(case: &CaseReport) -> &'static str {
    match case.finished.as_ref().map(|finished| &finished.verdict) {
        Some(Verdict::Passed) => "passed",
        Some(Verdict::Failed) => "failed",
        Some(Verdict::Skipped { .. }) => "skipped",
        Some(Verdict::Error) | None => "error",
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts and durations are far below 2^52")]
fn plots(out: &mut String, load: &LoadRecord) {
    let window = load.plan.window_us as f64 / 1e6;
    let seconds = window * load.windows.len() as f64;
    let at = |number: usize| (number as f64 + 0.5) * window;
    let series = |of: &dyn Fn(&mcprove_model::LoadWindow) -> Option<f64>| -> Vec<(f64, f64)> {
        load.windows.iter().enumerate().filter_map(|(number, one)| Some((at(number), of(one)?))).collect()
    };
    let quantile = |share: f64| series(&|one| (!one.latency.is_empty()).then(|| one.latency.quantile(share) as f64));
    let rate = |count: u64| Some(per_second(count, load.plan.window_us));
    plot(out, "Latency over time", &heat_map(load, duration_text));
    let percentiles = [
        Curve { name: "p50", color: "#1b7f5c", points: quantile(0.5) },
        Curve { name: "p95", color: "#b36b00", points: quantile(0.95) },
        Curve { name: "p99", color: "#b3261e", points: quantile(0.99) },
    ];
    plot(out, "Percentiles", &curves(&percentiles, seconds, duration_text));
    let throughput = [
        Curve { name: "answered", color: "#1b7f5c", points: series(&|one| rate(one.completed)) },
        Curve { name: "failed", color: "#b3261e", points: series(&|one| rate(one.errors + one.dropped)) },
    ];
    plot(out, "Calls per second", &curves(&throughput, seconds, number_text));
    if load.usage.len() < 2 {
        return;
    }
    let used = |of: fn(&mcprove_model::UsageSample) -> u64| -> Vec<(f64, f64)> {
        load.usage.iter().map(|sample| (sample.at_us as f64 / 1e6, of(sample) as f64)).collect()
    };
    let memory = [Curve { name: "resident", color: "#3557b7", points: used(|sample| sample.memory) }];
    plot(out, "Memory of the server", &curves(&memory, seconds, size_text));
    if counts_cpu(load) {
        plot(out, "Processor time of the server", &curves(&[cpu(load)], seconds, number_text));
    }
    let counts = [
        Curve { name: "files", color: "#3557b7", points: used(|sample| sample.files) },
        Curve { name: "threads", color: "#b36b00", points: used(|sample| sample.threads) },
        Curve { name: "processes", color: "#1b7f5c", points: used(|sample| sample.processes) },
    ];
    plot(out, "Open files, threads and processes of the server", &curves(&counts, seconds, number_text));
}

#[expect(clippy::cast_precision_loss, reason = "durations are far below 2^52 µs")]
fn cpu(load: &LoadRecord) -> Curve<'static> {
    let points = load.usage.windows(2).map(|pair| {
        let time = pair[1].at_us.saturating_sub(pair[0].at_us).max(1);
        (pair[1].at_us as f64 / 1e6, pair[1].cpu_us.saturating_sub(pair[0].cpu_us) as f64 / time as f64 * 100.0)
    });
    Curve { name: "% of a core", color: "#3557b7", points: points.collect() }
}

fn plot(out: &mut String, title: &str, svg: &str) {
    let _ = write!(out, "<h2>{title}</h2>{svg}");
}

const HEAD: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
<style>:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:920px;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.3rem;overflow-wrap:anywhere}h2{font-size:1rem;margin:1.6rem 0 .4rem}\
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:0}dt{opacity:.65}dd{margin:0}\
ul{padding-left:1.1rem}li.passed>b{color:#1b7f5c}li.failed>b,li.error>b{color:#b3261e}\
svg{width:100%;height:auto}.grid{stroke:currentColor;stroke-opacity:.15}.axis{font-size:11px;fill:currentColor;fill-opacity:.65}\
.legend{font-size:12px;paint-order:stroke;stroke:Canvas;stroke-width:4px}.heat{fill:#b3261e}pre{overflow-x:auto}</style>";

#[cfg(test)]
mod tests {
    use mcprove_model::{CallStats, CaseReport};
    use serde_json::json;

    use super::*;

    #[test]
    fn names_and_messages_are_text() {
        let hostile = "</dd><script>alert('x')</script>&\"";
        let load = LoadRecord { calls: [(hostile.to_owned(), CallStats::default())].into(), ..LoadRecord::default() };
        let started = json!({"index": 0, "name": hostile, "file": "", "line": 0, "trial": 1, "server": hostile});
        let finding = mcprove_model::Finding::error("gate", hostile);
        let finished = json!({"index": 0, "verdict": "failed", "duration_us": 1, "findings": [finding], "load": load});
        let case = CaseReport {
            run: 0,
            started: serde_json::from_value(started).expect("a start"),
            sessions: Vec::new(),
            frames: Vec::new(),
            cut_frames: std::collections::BTreeMap::new(),
            finished: Some(serde_json::from_value(finished).expect("an end")),
        };
        let page = page(&Report { cases: vec![case], ..Report::default() }).expect("a page");
        assert!(!page.contains("<script"), "{page}");
        assert!(page.contains("&lt;script&gt;"), "{page}");
    }
}
