//! Before adversarial calls, each tool is called once with valid input: the replies feed later calls.

use mcprove_judge::fuzz::ValuePool;
use mcprove_judge::harm::HarmGuard;
use mcprove_model::Outcome;
use serde_json::Value;

use super::connection::{ConnectionLog, FuzzConnection, ToolInput};
use super::context::FuzzContext;
use crate::discover::tool_name;

/// Maximum number of tools called; the others still use the replies of these.
const MOST: usize = 100;

/// Values that the tools answer with, and what was said to each.
pub(crate) async fn survey(
    fuzz_context: &FuzzContext,
    tools: &[(&Value, &HarmGuard)],
    seed: u64,
) -> (ValuePool, Vec<ConnectionLog>) {
    let mut pool = ValuePool::default();
    let mut line = FuzzConnection::new(fuzz_context, ConnectionLog::default());
    let mut said = Vec::new();
    for (tool, guard) in tools.iter().take(MOST) {
        if let Ok(input) = guard.input(tool, seed, None)
            && !fuzz_context.is_over()
            // What is slow here is waited for later; nothing is judged yet.
            && let Ok(call) = line.call(ToolInput { tool: tool_name(tool), arguments: &input, is_left_out: true }, fuzz_context.timeout / 5).await
            && let Outcome::Result(result) = &call.exchange.outcome
        {
            pool.harvest(result);
        }
        line.turn_the_page();
        said.push(std::mem::take(&mut line.said));
        // What is said to the same server later belongs to another tool's record, which must know of the session.
        if let Some(ConnectionLog { connected, .. }) = said.last() {
            line.said.connected.clone_from(connected);
        }
    }
    line.end().await;
    (pool, said)
}
