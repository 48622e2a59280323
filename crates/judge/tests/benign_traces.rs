//! Conversations with several servers in which nothing is wrong: `SEC-060` must have nothing to say about them.
//!
//! Each file in `benign-traces` says what it is about and lists its events: `{prompt}`, `{server, tool, arguments, result}`,
//! or `{together: [calls]}` for calls that are all sent before the first answer.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use mcprove_judge::trust::{Boundary, TraceEvent, carried, flows};
use serde_json::Value;

fn traces() -> Vec<(String, Vec<TraceEvent>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/benign-traces");
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let read = |path: &Path| {
        let text = fs::read_to_string(path).expect("readable");
        let file: Value = serde_json::from_str(&text).expect("JSON");
        (path.file_name().unwrap_or_default().to_string_lossy().into_owned(), events(&file["events"]))
    };
    files.iter().map(|path| read(path)).collect()
}

fn events(written: &Value) -> Vec<TraceEvent> {
    let mut events = Vec::new();
    let mut count = 0;
    for event in written.as_array().expect("a list of events") {
        if let Some(prompt) = event["prompt"].as_str() {
            events.push(TraceEvent::Prompt(prompt.to_owned()));
            continue;
        }
        let calls = event["together"].as_array().map_or(std::slice::from_ref(event), Vec::as_slice);
        for call in calls {
            let (server, tool) = (call["server"].as_str().expect("a server"), call["tool"].as_str().expect("a tool"));
            events.push(TraceEvent::call(server, tool, call["arguments"].clone()));
        }
        for call in calls {
            events.push(TraceEvent::result(count, call["result"].clone()));
            count += 1;
        }
    }
    events
}

#[test]
fn nothing_is_found_in_any_of_them() {
    let traces = traces();
    assert_eq!(traces.len(), 50);
    for (name, trace) in traces {
        let findings = flows(&trace, None);
        assert!(findings.is_empty(), "{name}: {findings:#?}");
    }
}

#[test]
fn they_are_worth_looking_at() {
    let traces = traces();
    for (name, trace) in &traces {
        let servers: BTreeSet<&str> = trace
            .iter()
            .filter_map(|event| match event {
                TraceEvent::Call(call) => Some(call.server.as_str()),
                TraceEvent::Prompt(_) | TraceEvent::Result { .. } => None,
            })
            .collect();
        assert!(servers.len() >= 2, "{name}");
    }
    // With a tiny least length most of them carry something: they are near misses and not conversations about nothing.
    let tiny = Boundary { min_length: 2, ..Boundary::default() };
    let near = traces.iter().filter(|(_, trace)| !carried(trace, Some(&tiny)).is_empty()).count();
    assert!(near >= 20, "{near}");
    // Without what the user and the agent said themselves, some would be findings.
    let echoes = traces.iter().filter(|(_, trace)| {
        let without: Vec<TraceEvent> = trace.iter().filter(|e| !matches!(e, TraceEvent::Prompt(_))).cloned().collect();
        !carried(&without, None).is_empty()
    });
    assert!(echoes.count() >= 1);
}
