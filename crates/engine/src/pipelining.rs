//! The call of the case that follows, sent as soon as the answer to the last one is there: the server works on it while
//! that answer is judged.
//!
//! Only where it makes no difference: both cases share a session, each makes one call in it, and no check reads the time
//! of the next call, which includes the time to judge. The server still sees one call after the other, each
//! after the answer to the one before.

use std::sync::Arc;

use mcprove_model::{Act, CallTool, Case, Observation, Outcome};
use mcprove_suite::template::{Variables, filled};
use mcprove_wire::Closing;
use serde_json::Value;

use crate::conversation::{Conversation, text};

/// Servers that answer in this time are worth a moment awake.
const QUICK_US: u64 = 200;
/// Longer answers may take long to judge.
const SHORT: usize = 64 << 10;

/// The calls that were sent, or may be sent, before their case begins.
#[derive(Debug, Default)]
pub(crate) struct Pipeline {
    /// The call that was sent; of this case at first, of the next one in the end.
    pub(crate) sent: Option<Sent>,
    /// The next case, when its call may be sent before this one is judged.
    pub(crate) next: Option<Arc<Case>>,
    /// The case's share of its session, taken out before the next call was sent.
    pub(crate) chapter: Option<Closing>,
}

/// A call on its way.
#[derive(Debug)]
pub(crate) struct Sent {
    /// Its request.
    pub(crate) id: u64,
    /// The tool, as it was sent.
    pub(crate) name: String,
    /// Its arguments, as they were sent.
    pub(crate) args: Value,
    /// True if the answer may well be there in less time than it takes to fall asleep and wake up.
    pub(crate) is_quick: bool,
}

/// The call of a case that says nothing else to its server, and looks at nothing but the answer.
pub(crate) fn lone_call(case: &Case) -> Option<&CallTool> {
    let Act::CallTool(call) = &case.act else { return None };
    let CallTool {
        tool: _,
        args: _,
        cancel_after: None,
        lose_response: false,
        claims: None,
        negative_path: None,
        repeat: 1,
        beside,
        fuzz: None,
        settle: _,
        transform: None,
        metamorphic: None,
        injected: None,
    } = call
    else {
        return None;
    };
    let speaks_once = beside.is_empty() && case.setup.is_empty() && case.verify.is_empty() && case.teardown.is_empty();
    let has_hooks = case.suite.as_ref().is_some_and(|suite| !suite.hooks.is_empty());
    let changes_roots = case.server.as_ref().is_some_and(|server| server.client.roots_changed.is_some());
    let is_known = case.fixture.is_none() && case.expect.templated.is_none() && case.skip.is_none();
    let is_bounded = case.suite.as_ref().is_some_and(|suite| suite.bounds_latency());
    let looks_elsewhere = case.expect.checks.iter().map(|planned| &planned.check).any(|check| {
        check.wants_tool()
            || check.judges_time()
            || !check.files().is_empty()
            || check.wants_headers()
            || check.awaits_more()
            || check.breaks_with_more()
    });
    (speaks_once && !is_bounded && is_known && !has_hooks && !changes_roots && !looks_elsewhere).then_some(call)
}

/// Sends the call of the next case, where there is one and this case has nothing more to say.
pub(crate) fn send_next(seen: &Observation, talk: &mut Conversation<'_>) {
    // Structured content is compared with the schema that the server lists.
    let is_over = matches!(seen.outcome, Outcome::Result(_)) && seen.structured.is_none() && seen.text.len() <= SHORT;
    let next = talk.pipeline.next.take().filter(|_| is_over);
    let Some(next) = next.as_deref().and_then(lone_call) else { return };
    let nothing = Variables::default();
    let (name, args) = (text(&next.tool, &nothing), filled(&next.args, &nothing));
    if let Some((chapter, id)) = talk.session.call_ahead(&name, &args) {
        talk.pipeline.chapter = Some(chapter);
        talk.pipeline.sent = Some(Sent { id, name, args, is_quick: seen.elapsed_us < QUICK_US });
    }
}

#[cfg(test)]
mod tests {
    use mcprove_suite::load::{LoadOptions, load};

    use super::*;

    /// True if the call of a test may be sent before its case begins.
    fn is_lone(suite: &str, test: &str) -> bool {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("suite.yaml");
        let text = format!("servers: {{s: {{command: server}}}}\n{suite}tools:\n  - {{name: a, tool: t, {test}}}\n");
        std::fs::write(&path, text).expect("written");
        let options =
            LoadOptions { environment: &|_| None, known_variables: &[], fixture: None, server: None, ci: false };
        let loaded = load(&[path], &options);
        assert_eq!(loaded.cases.len(), 1, "{suite}{test}: {:?}", loaded.findings);
        lone_call(&loaded.cases[0]).is_some()
    }

    #[test]
    fn only_calls_that_nothing_else_depends_on_are_sent_ahead() {
        assert!(is_lone("", "args: {a: 1}, expect: {contains: hi}"));
        assert!(is_lone("", "expect: {contains: hi}, capture: {id: $.id}"));
        let step = "[{tool: other, expect: {contains: x}}]";
        for test in [
            &format!("setup: {step}, expect: {{contains: hi}}"),
            &format!("verify: {step}, expect: {{contains: hi}}"),
            &format!("teardown: {step}, expect: {{contains: hi}}"),
            "expect: {contains: hi, max_duration_ms: 50}",
            "expect: {file_contains: {path: /a, text: b}}",
            "expect: {handled: true}",
            "cancel_after: 1s, expect: {cancelled: true}",
            "retry: {lose_response: true}, expect: {contains: hi}",
            "repeat: 2, expect: {contains: hi}",
            "beside: [{tool: other}], expect: {contains: hi}",
            "skip: why, expect: {contains: hi}",
        ] {
            assert!(!is_lone("", test), "{test}");
        }
        let test = "expect: {contains: hi}";
        for suite in ["hooks: {beforeEach: 'true'}\n", "performance: {p95_latency_ms: 5}\n"] {
            assert!(!is_lone(suite, test), "{suite}");
        }
    }
}
