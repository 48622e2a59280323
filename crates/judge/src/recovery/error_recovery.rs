//! `orchestration.error_recovery`: how many of the calls that went wrong were made good later.

use std::collections::BTreeSet;

/// A call of a run, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolOutcome<'t> {
    /// The tool.
    pub tool: &'t str,
    /// True if it ended with an error of any kind.
    pub errored: bool,
}

/// The percentage of errored calls after which the same tool, or one that shares an equal-function set with it,
/// succeeded; 100 when nothing went wrong.
pub fn error_recovery(calls: &[ToolOutcome<'_>], equal_function_sets: &[Vec<String>]) -> f64 {
    let mut succeeded: BTreeSet<&str> = BTreeSet::new();
    let mut errors = 0_u32;
    let mut recovered = 0_u32;
    for call in calls.iter().rev() {
        if !call.errored {
            succeeded.insert(call.tool);
            continue;
        }
        errors += 1;
        let is_there = |tool: &str| succeeded.contains(tool);
        let own_sets = equal_function_sets.iter().filter(|set| set.iter().any(|tool| tool == call.tool));
        if is_there(call.tool) || own_sets.flatten().any(|tool| is_there(tool)) {
            recovered += 1;
        }
    }
    if errors == 0 { 100.0 } else { 100.0 * f64::from(recovered) / f64::from(errors) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percent(calls: &[(&str, bool)], sets: &[&[&str]]) -> f64 {
        let calls: Vec<ToolOutcome<'_>> =
            calls.iter().map(|(tool, errored)| ToolOutcome { tool, errored: *errored }).collect();
        let sets: Vec<Vec<String>> = sets.iter().map(|set| set.iter().map(|&tool| tool.to_owned()).collect()).collect();
        error_recovery(&calls, &sets)
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "these quotients are exact")]
    fn only_a_later_success_of_the_same_function_counts() {
        assert_eq!(percent(&[], &[]), 100.0);
        assert_eq!(percent(&[("a", false)], &[]), 100.0);
        assert_eq!(percent(&[("a", true)], &[]), 0.0);
        assert_eq!(percent(&[("a", true), ("a", false)], &[]), 100.0);
        assert_eq!(percent(&[("a", false), ("a", true)], &[]), 0.0);
        assert_eq!(percent(&[("a", true), ("b", false)], &[]), 0.0);
        assert_eq!(percent(&[("a", true), ("b", false)], &[&["a", "b"]]), 100.0);
        assert_eq!(percent(&[("a", true), ("c", false)], &[&["a", "b"], &["b", "c"]]), 0.0);
        assert_eq!(percent(&[("a", true), ("a", true), ("b", true), ("a", false), ("c", true)], &[]), 50.0);
    }
}
