//! A graph of tool calls.

use mcprove_judge::composition::Progress;
use mcprove_model::{CallRecord, CallRole, Composition, CompositionNode, Exchange, Finding, Observation, Outcome};
use serde_json::Value;
use tokio::time::Instant;

use super::Performed;
use crate::conversation::Conversation;
use crate::{calls, trust};

pub(super) async fn perform(composition: &Composition, talk: &mut Conversation<'_>) -> Performed {
    let args = composition.nodes.iter().map(|node| talk.json(&node.args)).collect();
    let began = Instant::now();
    let mut progress = Progress::new(composition, args);
    while let Some(calls) = progress.next_calls() {
        let node = &composition.nodes[calls.node];
        let answers = make(node, &calls.args, talk).await;
        progress.answer(calls.args, answers);
    }
    let finished = progress.finish(began.elapsed());
    for (at, text) in finished.problems(composition) {
        let span = at.map_or(composition.span, |at| composition.nodes[at].span);
        let finding = Finding::error("composition-node", text).at(talk.place(span));
        talk.record.findings.push(finding.help("assert `nodes.ID.status` if that is expected"));
    }
    let output = finished.envelope["output"].clone();
    let mut seen = Observation::new(Outcome::Result(output), finished.envelope["output"].to_string());
    seen.extra = finished.envelope;
    seen.elapsed_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
    Performed { seen, what: "the composition".to_owned(), at: composition.span }
}

/// Makes the calls of a node, so many at the same time as it says.
async fn make(node: &CompositionNode, args: &[Value], talk: &mut Conversation<'_>) -> Vec<Result<Value, String>> {
    let mut answers = Vec::with_capacity(args.len());
    for group in args.chunks(node.max_concurrency.max(1)) {
        let deadline = talk.deadline;
        let Some(session) = talk.session_with(node.server.as_ref()).await else {
            return vec![Err("its server could not be reached".to_owned())];
        };
        let mut exchanges = Vec::with_capacity(group.len());
        if let [args] = group {
            exchanges.push(session.call_tool(&node.tool, args, deadline).await);
        } else {
            session.learn_schemas(deadline).await;
            let mut open = Vec::with_capacity(group.len());
            for args in group {
                let params = session.tool_params(&node.tool, args);
                open.push(session.start("tools/call", &params));
            }
            for id in open {
                exchanges.push(session.finish(id, deadline).await);
            }
        }
        for (args, exchange) in group.iter().zip(exchanges) {
            let other = node.server.as_ref().map(|server| server.name.clone());
            let record = calls::record(CallRole::Act, Some(&node.tool), &exchange);
            talk.record.calls.push(CallRecord { server: other, ..record });
            trust::trace(&talk.name_of(node.server.as_ref()), &node.tool, args, &exchange.outcome, talk);
            answers.push(answer(node, exchange));
        }
        if answers.iter().any(Result::is_err) {
            break;
        }
    }
    answers
}

/// The result of a call; an error of the tool is a failure of the node.
fn answer(node: &CompositionNode, exchange: Exchange) -> Result<Value, String> {
    match exchange.outcome {
        Outcome::Result(result) if result.get("isError") == Some(&Value::Bool(true)) => {
            let text = mcprove_model::text_of_tool_result(&result);
            Err(format!("`{}` answered with an error: {}", node.tool, mcprove_model::shorten(&text, 300)))
        }
        Outcome::Result(result) => Ok(result),
        outcome => {
            let finding = calls::no_result(&format!("`tools/call` of `{}`", node.tool), &outcome, None);
            Err(finding.map(|finding| finding.message).unwrap_or_default())
        }
    }
}
