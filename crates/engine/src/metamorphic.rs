//! Calls that are related to the call of a case, each judged against its result.

use mcprove_judge::metamorphic::{related_args, violation};
use mcprove_model::{CallRole, CallTool, Finding, Metamorphic, Observation, Outcome, shorten};
use serde_json::{Value, json};

use crate::conversation::Conversation;
use crate::{calls, expectations, transform};

/// Tries every relation; what breaks one, or cannot be tried, is a finding.
pub(crate) async fn perform(call: &CallTool, block: &Metamorphic, base: &Value, talk: &mut Conversation<'_>) {
    let (name, args) = (talk.text(&call.tool), talk.json(&call.args));
    let (mut checked, mut violations) = (0_u64, Vec::new());
    for relation in &block.relations {
        let related = match related_args(relation, &args) {
            Ok(related) => related,
            Err(reason) => {
                let text = format!("the relation `{}` cannot be tried: {reason}", relation.name());
                let finding = Finding::error("relation-not-tried", text).at(talk.place(block.span));
                talk.record.findings.push(finding.help("remove it, or give arguments that it can change"));
                continue;
            }
        };
        let exchange = talk.session.call_tool(&name, &related, talk.deadline).await;
        talk.record.calls.push(calls::record(CallRole::Verify, Some(&name), &exchange));
        let broken = match &exchange.outcome {
            Outcome::Result(result) => match &call.transform {
                // The base was rewritten, too.
                Some(transform) => match transform::response(transform, result, (&name, talk)).await {
                    Ok(result) => violation(relation, base, &result),
                    Err(reason) => Some(reason),
                },
                None => violation(relation, base, result),
            },
            outcome => {
                let finding = calls::no_result("the related call", outcome, None);
                if let (Outcome::Closed { .. }, Some(finding)) = (outcome, &finding) {
                    talk.record.server_ended(&finding.message);
                }
                finding.map(|finding| finding.message)
            }
        };
        checked += 1;
        if let Some(reason) = broken {
            violations.push((relation.name(), reason, related));
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
        finding.actual = Some(format!("with {}", shorten(&related.to_string(), 300)));
        talk.record.findings.push(finding);
    }
}
