//! Calls that are in flight together, against an in-memory peer.

use std::time::Duration;

use mcprove_model::{Direction, Outcome};
use mcprove_wire::{Session, SessionOptions, Transport};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::time::Instant;

/// What a peer writes once all calls are there, or nothing to hang up.
type Answers = fn(&[Value]) -> Option<Vec<Value>>;

/// Longer than any of this takes.
const LONG: Duration = Duration::from_secs(20);
/// Long enough to be sure that nothing comes.
const QUIET: Duration = Duration::from_millis(60);

fn result(call: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": call["id"], "result": {"content": [], "seen": call["params"]["arguments"]}})
}

/// A session whose peer reads so many calls before it answers any.
async fn open(calls: usize, answers: Answers) -> Session {
    let options = SessionOptions::default();
    let (transport, peer) = Transport::memory(&options.limits);
    tokio::spawn(async move {
        let (reader, mut writer) = tokio::io::split(peer.stream);
        let mut lines = BufReader::new(reader).lines();
        let mut seen = Vec::new();
        while let Ok(Some(text)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&text).expect("JSON");
            let replies = match message["method"].as_str() {
                Some("initialize") => vec![json!({"jsonrpc": "2.0", "id": message["id"], "result": {
                    "protocolVersion": message["params"]["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "peer", "version": "1"},
                }})],
                Some("tools/call") => {
                    seen.push(message);
                    if seen.len() < calls {
                        continue;
                    }
                    let Some(replies) = answers(&seen) else { return };
                    replies
                }
                _ => Vec::new(),
            };
            for reply in replies {
                writer.write_all(format!("{reply}\n").as_bytes()).await.expect("we read");
            }
        }
    });
    Session::open(transport, &options, Instant::now() + LONG).await.expect("the handshake is fine")
}

#[tokio::test]
async fn answers_find_their_calls_in_whatever_order_they_come() {
    let mut session = open(3, |calls| Some(calls.iter().rev().map(result).collect())).await;
    assert!(session.takes_calls_together());
    let answers = session.call_together("t", &[r#"{"n":1}"#, r#"{"n":2}"#, "null"], LONG).await;
    let seen: Vec<Value> = answers
        .into_iter()
        .map(|exchange| match exchange.expect("an answer").outcome {
            Outcome::Result(result) => result["seen"]["n"].clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(seen, [json!(1), json!(2), Value::Null]);
    assert_eq!(session.how_it_closed(), None);
}

#[tokio::test]
async fn what_is_sent_is_what_a_single_call_sends() {
    let name = "a \"tool\"";
    let arguments = [json!({"text": "é\n", "n": -0.0}), Value::Null];
    let texts: Vec<String> = arguments.iter().map(Value::to_string).collect();
    let sent = |session: &mut Session| -> Vec<String> {
        let frames = session.drain().frames.into_iter().filter(|frame| frame.direction == Direction::Sent);
        let calls = frames.map(|frame| String::from_utf8(frame.body.to_vec()).expect("text"));
        calls.filter(|text| text.contains("tools/call")).collect()
    };
    let mut one = open(1, |calls| Some(vec![result(calls.last()?)])).await;
    for arguments in &arguments {
        one.call_tool(name, arguments, Instant::now() + LONG).await;
    }
    let mut other = open(2, |calls| Some(calls.iter().map(result).collect())).await;
    other.call_together(name, &[&texts[0], &texts[1]], LONG).await;
    let (one, other) = (sent(&mut one), sent(&mut other));
    assert_eq!(one.len(), 2);
    assert_eq!(one, other);
}

#[tokio::test]
async fn what_is_not_answered_is_not_guessed() {
    // Silence after the first answer; the late ones are late, not odd.
    let mut session = open(3, |calls| Some(vec![result(&calls[0])])).await;
    let answers = session.call_together("t", &["{}", "{}", "{}"], QUIET).await;
    assert_eq!(answers.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, false]);
    assert_eq!(session.how_it_closed(), None);

    // The server goes away.
    let mut session = open(2, |_| None).await;
    let answers = session.call_together("t", &["{}", "{}"], LONG).await;
    assert!(answers.iter().all(Option::is_none));
    assert!(matches!(session.how_it_closed(), Some(Outcome::Closed { .. })));

    // An answer that could be anybody's.
    let mut session = open(2, |_| Some(vec![json!({"jsonrpc": "2.0", "id": 99, "result": {}})])).await;
    let answers = session.call_together("t", &["{}", "{}"], LONG).await;
    assert!(answers.iter().all(Option::is_none));
    assert_eq!(session.drain().oddities[0].rule, "unknown-id");
}
