//! Calls that are related to the call of a case, each judged against its result.

use mcprove_judge::metamorphic::{related_calls, violation_of};
use mcprove_model::{CallRole, CallTool, Finding, Metamorphic, Observation, Outcome, shorten};
use serde_json::{Value, json};

use crate::conversation::Conversation;
use crate::{calls, expectations, transform};

/// Tries every relation; what breaks one, or cannot be tried, is a finding.
pub(crate) async fn perform(call: &CallTool, block: &Metamorphic, base: &Value, talk: &mut Conversation<'_>) {
    let (name, args) = (talk.text(&call.tool), talk.json(&call.args));
    let (mut checked, mut violations) = (0_u64, Vec::new());
    for relation in &block.relations {
        let related = match related_calls(relation, &args, base) {
            Ok(related) => related,
            Err(reason) => {
                let text = format!("the relation `{}` cannot be tried: {reason}", relation.name());
                let finding = Finding::error("relation-not-tried", text).at(talk.place(block.span));
                talk.record.findings.push(finding.help("remove it, or give arguments that it can change"));
                continue;
            }
        };
        let mut results = Vec::new();
        let mut failed = None;
        for args in &related {
            match result_of(call, &name, args, talk).await {
                Ok(result) => results.push(result),
                Err(reason) => {
                    failed = Some(reason);
                    break;
                }
            }
        }
        let broken = failed.or_else(|| violation_of(relation, base, &results));
        checked += 1;
        if let Some(reason) = broken {
            violations.push((relation.name(), reason, Value::from(related)));
        }
    }
    let mut seen = Observation::new(Outcome::Cancelled, String::new());
    let is_passed = violations.is_empty();
    seen.extra = json!({"metamorphic": {
        "relations_checked": checked,
        "violations": violations.len(),
        "gate_passed": u8::from(is_passed),
    }});
    let judged = expectations::judge(&talk.case.source, &block.expect, &seen);
    talk.record.findings.extend(judged);
    for (relation, reason, related) in violations {
        let text = format!("the relation `{relation}` does not hold: {reason}");
        let place = talk.place(block.span);
        let mut finding = if block.expect.checks.is_empty() {
            Finding::error("relation", text)
        } else {
            Finding::note("relation", text)
        };
        finding = finding.at(place);
        finding.actual = Some(format!("with {}", shorten(&shown(&related), 300)));
        talk.record.findings.push(finding);
    }
}

/// The result of a related call; the error says why there is none.
async fn result_of(call: &CallTool, name: &str, args: &Value, talk: &mut Conversation<'_>) -> Result<Value, String> {
    let exchange = talk.session.call_tool(name, args, talk.deadline).await;
    talk.record.calls.push(calls::record(CallRole::Verify, Some(name), &exchange));
    match exchange.outcome {
        Outcome::Result(result) => match &call.transform {
            // The base was rewritten, too.
            Some(transform) => transform::response(transform, &result, name, talk).await,
            None => Ok(result),
        },
        outcome => {
            let finding = calls::no_result("the related call", &outcome, None);
            if let (Outcome::Closed { .. }, Some(finding)) = (&outcome, &finding) {
                talk.record.server_ended(&finding.message);
            }
            Err(finding.map_or_else(|| "the related call had no result".to_owned(), |finding| finding.message))
        }
    }
}

/// One call is shown as its arguments, several as a list.
fn shown(related: &Value) -> String {
    match related.as_array().map(Vec::as_slice) {
        Some([one]) => one.to_string(),
        Some(_) | None => related.to_string(),
    }
}
