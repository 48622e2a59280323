//! Limit on the latency of a suite's slowest requests.

use std::collections::BTreeMap;
use std::time::Duration;

use mcprove_model::{Finding, Plan};

/// The findings about suites whose slowest twentieth took longer than they allow. `latencies` are those of the acts, by
/// the case's place in the plan.
pub(crate) fn too_slow(plan: &Plan, latencies: &BTreeMap<usize, Duration>) -> Vec<Finding> {
    let mut by_suite: BTreeMap<&str, (Duration, Vec<Duration>)> = BTreeMap::new();
    for planned in &plan.cases {
        let Some(suite) = &planned.case.suite else { continue };
        let (Some(limit), Some(latency)) = (suite.p95_latency, latencies.get(&planned.index)) else { continue };
        by_suite.entry(suite.source.path()).or_insert_with(|| (limit, Vec::new())).1.push(*latency);
    }
    let mut findings = Vec::new();
    for (path, (limit, mut seen)) in by_suite {
        let p95 = percentile_95(&mut seen);
        if p95 > limit {
            let text = format!(
                "`{path}`: 95 % of the requests took up to {:.1} ms, more than the {:.1} ms that `p95_latency_ms` allows",
                p95.as_secs_f64() * 1e3,
                limit.as_secs_f64() * 1e3
            );
            findings.push(Finding::error("p95-latency", text));
        }
    }
    findings
}

fn percentile_95(seen: &mut [Duration]) -> Duration {
    seen.sort_unstable();
    let at = (seen.len() * 95).div_ceil(100).saturating_sub(1);
    seen.get(at).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_twentieth_is_left_out() {
        let mut seen: Vec<Duration> = (1..=100).map(Duration::from_millis).collect();
        assert_eq!(percentile_95(&mut seen), Duration::from_millis(95));
        assert_eq!(percentile_95(&mut [Duration::from_millis(7)]), Duration::from_millis(7));
        assert_eq!(percentile_95(&mut []), Duration::ZERO);
    }
}
