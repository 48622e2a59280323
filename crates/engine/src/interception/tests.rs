//! Conversations as events.

use super::*;
use crate::run::Progress;
use serde_json::json;

#[derive(Default)]
struct Events(Vec<Event>);

impl Sink for Events {
    fn event(&mut self, event: Event) {
        self.0.push(event);
    }

    fn progress(&mut self, _: &Progress<'_>) {}
}

fn about() -> InterceptionOptions {
    InterceptionOptions {
        program: "mcprove".to_owned(),
        started_unix_ms: 0,
        server: "s".to_owned(),
        transport: "stdio",
        wanted: Vec::new(),
        keep_answers: true,
    }
}

fn heard(at_us: u64, direction: Direction, message: &Value) -> TappedMessage {
    TappedMessage { at_us, session: 0, direction, part: WirePart::Message, body: message.to_string().into() }
}

#[test]
fn calls_are_put_together_with_their_answers_and_not_with_those_of_the_other_side() {
    let mut events = Events::default();
    let mut listening = Interception::begin(about(), &mut events);
    let call =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a", "arguments": {"x": 1}}});
    let asked = json!({"jsonrpc": "2.0", "id": 1, "method": "roots/list"});
    let roots = json!({"jsonrpc": "2.0", "id": 1, "result": {"roots": []}});
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [], "isError": true}});
    let mut news = Vec::new();
    for (at, direction, message) in [
        (10, Direction::Sent, &call),
        (20, Direction::Received, &asked),
        (30, Direction::Sent, &roots),
        (60, Direction::Received, &answer),
    ] {
        news.extend(listening.observe(heard(at, direction, message), &mut events));
    }
    let tool = "a".to_owned();
    assert_eq!(
        news,
        [
            CallNews::Called { number: 1, tool: tool.clone(), args: json!({"x": 1}) },
            CallNews::Answered { number: 1, tool, how: Answer::IsError, after_us: 50 },
        ]
    );
    assert_eq!(listening.client.answers, [("roots/list".to_owned(), json!({"roots": []}))]);
    listening.end(InterceptionEnd::default(), &mut events);
    let frames = events.0.iter().filter(|event| matches!(event, Event::Frame { .. })).count();
    assert_eq!(frames, 4);
    let calls = trace::logged(&log(&events.0)).expect("a log");
    assert_eq!(calls.len(), 1, "the log can be judged like any other");
}

#[test]
fn a_call_without_an_answer_is_told_in_the_end() {
    let mut events = Events::default();
    let mut listening = Interception::begin(about(), &mut events);
    let call = json!({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": {"name": "hang"}});
    listening.observe(heard(1, Direction::Sent, &call), &mut events);
    listening.end(InterceptionEnd::default(), &mut events);
    let told = events.0.iter().any(|event| {
        matches!(event, Event::CaseFinished(finished) if finished.findings.iter().any(|f| f.rule == "unanswered-call"))
    });
    assert!(told, "{:?}", events.0);
}

fn log(events: &[Event]) -> String {
    let lines: Vec<String> = events.iter().map(|event| serde_json::to_string(event).expect("an event")).collect();
    lines.join("\n")
}
