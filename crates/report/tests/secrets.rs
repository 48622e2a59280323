//! No report shows a secret, in whatever encoding and field it arrived: random secrets, every encoding, every sink.

mod committed;
#[path = "../../model/src/redact/encodings.rs"]
mod encodings;

use committed::{logs, render};
use encodings::ENCODINGS;
use mcprove_model::{Event, Redactor, Report};
use mcprove_report::{FORMATS, Terminal, TerminalOptions, Verbosity, compat_json};
use proptest::prelude::*;
use serde_json::Value;

/// Keys whose values are words of the log itself.
const WORDS: &[&str] = &["event", "direction", "kind", "role", "severity", "verdict", "stop_reason"];

/// The value with `text` at the end of every text.
fn with_text(value: &mut Value, text: &str) {
    match value {
        Value::String(own) => own.push_str(text),
        Value::Array(items) => items.iter_mut().for_each(|item| with_text(item, text)),
        Value::Object(map) => {
            for (key, value) in map {
                if !WORDS.contains(&key.as_str()) {
                    with_text(value, text);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn sinks(events: &[Event]) -> Vec<(&'static str, String)> {
    let report = Report::fold(events.to_vec());
    let mut sinks: Vec<_> = FORMATS.iter().map(|format| (format.name, render(format.name, &report))).collect();
    sinks.push(("known list", compat_json(&report)));
    let mut out = Vec::new();
    let options = TerminalOptions { verbosity: Verbosity::Verbose, width: None, color: false };
    Terminal::new(&mut out, options).report(&report).expect("memory takes it");
    sinks.push(("terminal", String::from_utf8(out).expect("text")));
    sinks
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_sink_shows_a_secret(secret in "[a-zA-Z0-9+/&<>'=_-]{12,24}") {
        let redactor = Redactor::new([secret.as_str()]);
        let (_, log) = logs().into_iter().find(|(name, _)| name == "fail").expect("the log");
        for (name, encode) in ENCODINGS.iter().filter(|(name, _)| !name.contains("in base64")) {
            let encoded = encode(&secret);
            let mut events = Vec::new();
            for event in &log {
                let mut value = serde_json::to_value(event).expect("JSON");
                with_text(&mut value, &format!(" {encoded} "));
                let mut event: Event = serde_json::from_value(value).expect("an event");
                redactor.event(&mut event);
                events.push(event);
            }
            for (sink, shown) in sinks(&events) {
                // As it is, and as the sink would have escaped it.
                let in_json = serde_json::to_string(&encoded).expect("JSON");
                for form in [encoded.as_str(), in_json.trim_matches('"'), secret.as_str()] {
                    prop_assert!(!shown.contains(form), "{name} in {sink}: {form:?}");
                }
            }
        }
    }
}
