//! Budgets of an agent, and its number of runs.

use std::num::NonZeroU32;

use mcprove_model::{AgentBudget, Diagnostics, Node};

use crate::assertion_file::time;
use crate::suite_file::performance::milliseconds;

/// Decodes the budgets of an agent.
pub(super) fn decode(test: &Node, found: &mut Diagnostics<'_>) -> AgentBudget {
    let usual = AgentBudget::default();
    AgentBudget {
        max_turns: count(test, "max_turns", 1, found).unwrap_or(usual.max_turns),
        max_tokens: count(test, "max_tokens", 1, found).unwrap_or(usual.max_tokens),
        max_tool_calls: count(test, "max_tool_calls", 0, found),
        token_budget: count(test, "token_budget", 1, found),
        time_budget: time::optional(test, "time_budget", found),
        call_timeout: milliseconds(test, "call_timeout_ms", found),
    }
}

/// Maximum number of runs of an agent; each takes memory before the first has begun.
const MOST_RUNS: u64 = 10_000;

/// Decodes how often an agent is run.
pub(super) fn decode_runs(test: &Node, found: &mut Diagnostics<'_>) -> NonZeroU32 {
    let runs = count(test, "runs", 1, found);
    if let (Some(node), true) = (test.get("runs"), runs > Some(MOST_RUNS)) {
        found.error("wrong-type", node.span, format!("`runs` must be at most {MOST_RUNS}"));
        return NonZeroU32::MIN;
    }
    runs.and_then(|runs| NonZeroU32::new(u32::try_from(runs).ok()?)).unwrap_or(NonZeroU32::MIN)
}

/// A whole number that may be left out.
pub(super) fn count(node: &Node, key: &str, least: u64, found: &mut Diagnostics<'_>) -> Option<u64> {
    let value = node.get(key).filter(|value| !value.is_null())?;
    let count = value.as_count().filter(|count| (least..=u64::from(u32::MAX)).contains(count));
    if count.is_none() {
        found.wrong_kind(value, &format!("`{key}`"), &format!("a whole number from {least}"));
    }
    count
}
