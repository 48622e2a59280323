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

#[test]
fn a_conversation_without_end_is_not_kept_without_end() {
    let mut events = Events::default();
    let mut listening = Interception::begin(about(), &mut events);
    let long = "x".repeat(1 << 20);
    for id in 0..300 {
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "a", "arguments": {"x": long}}});
        listening.observe(heard(id, Direction::Sent, &call), &mut events);
        // Requests of the server that stay open, with ids that are long, or many.
        let asked = json!({"jsonrpc": "2.0", "id": format!("{id}{}", &long[..2048]), "method": "ping"});
        listening.observe(heard(id, Direction::Received, &asked), &mut events);
    }
    for id in 0..20_000 {
        let asked = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        listening.observe(heard(id, Direction::Received, &asked), &mut events);
    }
    assert_eq!((listening.calls.len(), listening.left_out), (63, 237));
    assert_eq!(listening.open.len(), OPEN);
    assert!(listening.open.keys().all(|(_, _, id)| id.len() <= LONG_ID));
    listening.end(InterceptionEnd::default(), &mut events);
    let logged: usize =
        events.0.iter().map(|event| if let Event::Frame { frame, .. } = event { frame.body.len() } else { 0 }).sum();
    assert!(logged <= LOGGED, "{logged}");
    let ends = events.0.iter().filter_map(|event| if let Event::CaseFinished(end) = event { Some(end) } else { None });
    let said: Vec<_> = ends
        .flat_map(|end| &end.findings)
        .filter(|finding| finding.rule == "flood")
        .map(|finding| finding.message.as_str())
        .collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].starts_with("237 requests or replies were not kept"), "{said:?}");
}

#[test]
fn a_call_that_a_server_may_read_differently_is_unreadable() {
    let judged = |line: &str| {
        let mut events = Events::default();
        let mut listening = Interception::begin(about(), &mut events);
        let said = TappedMessage {
            at_us: 1,
            session: 0,
            direction: Direction::Sent,
            part: WirePart::Message,
            body: line.as_bytes().to_vec().into(),
        };
        listening.observe(said, &mut events);
        listening.unreadable
    };
    let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"good","arguments":{}}}"#;
    assert_eq!(judged(call), 0);
    for odd in [
        call.replace(r#""name":"good""#, r#""name":"evil","name":"good""#),
        call.replace(r#""name":"good""#, r#""name":"good","Name":"evil""#),
        call.replace("}}}", r#"}},"params":{"name":"evil"}}"#),
        call.replace("}}}", r#"}},"Params":{"name":"evil"}}"#),
        call.replace(r#""tools/call""#, r#"["tools/call"]"#),
        call.replace("method", "Method"),
    ] {
        assert_eq!(judged(&odd), 1, "{odd}");
    }
}
