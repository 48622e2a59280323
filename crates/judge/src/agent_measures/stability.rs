//! `stability`: how steadily an agent works, in each of several runs.

use std::collections::BTreeSet;

use mcprove_model::{Observation, Targets};
use serde_json::Value;

use super::calls;

/// The targets of `stability`.
pub static TARGETS: Targets = Targets {
    name: "stability",
    block: "`stability`",
    known: &["stability.score", "stability.variance", "stability.weakest_score"],
};

/// Tokens per useful call that cost nothing.
const TOKENS: f64 = 2000.0;

/// The weakest of four scores of a run, from 0 to 1: no going back and forth between tools, answers of like length, no call
/// twice, and no more tokens than useful calls need.
pub fn weakest(seen: &Observation) -> f64 {
    let calls = calls(seen);
    let number = |count: usize| u32::try_from(count).map_or(f64::MAX, f64::from);
    let left = |at: &usize| {
        calls[*at].tool != calls[*at - 1].tool && calls[..*at].iter().any(|call| call.tool == calls[*at].tool)
    };
    let returns = (1..calls.len()).filter(left).count();
    let distinct: BTreeSet<String> =
        calls.iter().map(|call| format!("{}\n{}\n{}", call.server, call.tool, call.args)).collect();
    let usage = if calls.len() < 2 { 1.0 } else { 1.0 - number(returns) / number(calls.len() - 1) };
    let redundancy = if calls.is_empty() { 1.0 } else { number(distinct.len()) / number(calls.len()) };
    let turns = seen.extra.pointer("/conversation/turns").and_then(Value::as_array);
    let lengths: Vec<f64> = turns
        .into_iter()
        .flatten()
        .filter_map(|turn| turn["response"].as_str())
        .map(|answer| number(answer.chars().count()))
        .collect();
    let tokens = seen.extra.pointer("/conversation/tokens/total").and_then(Value::as_f64).unwrap_or(0.0);
    let per_call = tokens / number(distinct.len().max(1));
    let thrift = TOKENS / per_call.max(TOKENS);
    usage.min(redundancy).min(evenness(&lengths)).min(thrift)
}

/// 1 for answers of one length, lower the more they differ.
fn evenness(lengths: &[f64]) -> f64 {
    let count = u32::try_from(lengths.len()).map_or(f64::MAX, f64::from);
    let mean = lengths.iter().sum::<f64>() / count.max(1.0);
    if lengths.len() < 2 || mean <= 0.0 {
        return 1.0;
    }
    let variance = lengths.iter().map(|length| (length - mean).powi(2)).sum::<f64>() / count;
    1.0 - (variance.sqrt() / mean).min(1.0)
}
