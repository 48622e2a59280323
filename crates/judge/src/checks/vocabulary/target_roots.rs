//! Beginnings of the targets of each block.

use mcprove_model::Vocabulary;

/// Beginnings of the targets of `tool_quality`.
pub(super) const QUALITY_TARGETS: &[&str] = &[
    "critical_count",
    "mean_score",
    "min_score",
    "rules",
    "schema_criticals",
    "schema_warnings",
    "tool",
    "warning_count",
];

/// Beginnings of the targets of `negative_path`.
pub(super) const NEGATIVE_TARGETS: &[&str] =
    &["negative_path.checks_run", "negative_path.failures", "negative_path.gate_passed"];

/// Beginnings of the targets of `fuzz`.
pub(super) const FUZZ_TARGETS: &[&str] =
    &["fuzz.cases_run", "fuzz.crashes", "fuzz.gate_passed", "fuzz.hangs", "fuzz.leaks", "fuzz.protocol_violations"];

/// Beginnings of the targets of an agent.
const AGENT_ROOTS: &[&str] = &[
    "conversation",
    "final_response",
    "orchestration",
    "recovery",
    "redundant_tool_calls",
    "result",
    "tool_calls",
    "tool_names",
    "tool_results",
    "tools",
    "trace",
    "truncated",
];

/// Beginnings of targets; empty where whole targets are known.
pub(super) fn roots(vocabulary: Vocabulary) -> &'static [&'static str] {
    match vocabulary {
        Vocabulary::Tool => &["error", "fuzz", "negative_path", "result"],
        Vocabulary::ToolStep
        | Vocabulary::ReadStep
        | Vocabulary::Resources
        | Vocabulary::Prompts
        | Vocabulary::Completion
        | Vocabulary::Sampling
        | Vocabulary::Logging
        | Vocabulary::Notifications
        | Vocabulary::Raw => &["error", "result"],
        Vocabulary::Agent => AGENT_ROOTS,
        Vocabulary::Trajectory
        | Vocabulary::AgentTrajectory
        | Vocabulary::ToolQuality
        | Vocabulary::NegativePath
        | Vocabulary::Fuzz
        | Vocabulary::Targets(_) => &[],
    }
}
