//! Everything an agent did, as one value that targets of `expect` look into.

use mcprove_judge::recovery::{RecoveryVerdict, ToolOutcome, error_recovery};
use serde_json::{Value, json};

use super::transcript::{Called, Transcript};

/// The names that targets may begin with, and what they stand for.
pub(super) fn envelope(
    transcript: &Transcript,
    equal_function_sets: &[Vec<String>],
    recovery: Option<&RecoveryVerdict>,
) -> Value {
    let calls = &transcript.calls;
    let outcomes: Vec<ToolOutcome<'_>> =
        calls.iter().map(|call| ToolOutcome { tool: &call.tool, errored: call.is_error }).collect();
    let usage = transcript.usage;
    let mut envelope = json!({
        "final_response": transcript.answer(),
        "tool_calls": calls.iter().map(tool_call).collect::<Vec<_>>(),
        "tool_results": calls.iter().enumerate().map(|(index, call)| tool_result(index, call)).collect::<Vec<_>>(),
        "tool_names": calls.iter().map(|call| call.tool.as_str()).collect::<Vec<_>>(),
        "tools": {"called": calls.iter().map(|call| call.tool.as_str()).collect::<Vec<_>>()},
        "trace": {"text": transcript.answer()},
        "redundant_tool_calls": redundant(calls),
        "truncated": transcript.truncated,
        "conversation": {
            "stop_reason": transcript.reason().name(),
            "tokens": {
                "prompt": usage.prompt_tokens,
                "completion": usage.completion_tokens,
                "total": usage.total(),
            },
            "turns": transcript.turns.iter().map(|turn| json!({"user": turn.user, "response": turn.response})).collect::<Vec<_>>(),
            "model_turns": transcript.model_turns,
            "message_count": transcript.messages,
            "duration_ms": transcript.elapsed_ms,
        },
        "orchestration": {"error_recovery": error_recovery(&outcomes, equal_function_sets)},
    });
    if let Some(verdict) = recovery {
        let report = &verdict.report;
        envelope["recovery"] = json!({
            "recovered": report.recovered,
            "clean_timeout": report.clean_timeout,
            "time_to_detection_ms": report.time_to_detection_ms,
            "time_to_recovery_ms": report.time_to_recovery_ms,
            "user_visible_hang_ms": report.user_visible_hang_ms,
        });
    }
    envelope
}

fn tool_call(call: &Called) -> Value {
    json!({"name": call.tool, "server": call.server, "args": call.args, "hop_index": call.hop, "turn": call.turn})
}

fn tool_result(index: usize, call: &Called) -> Value {
    json!({"call_index": index, "server": call.server, "is_error": call.is_error, "result": call.result})
}

/// Number of calls that repeat an earlier one exactly.
fn redundant(calls: &[Called]) -> usize {
    let is_repeated = |(at, call): &(usize, &Called)| {
        calls[..*at].iter().any(|c| c.server == call.server && c.tool == call.tool && c.args == call.args)
    };
    calls.iter().enumerate().filter(is_repeated).count()
}
