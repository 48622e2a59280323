//! How long `SEC-060` takes on large traces:
//! `cargo run --release -p mcprove-judge --example trust_speed [CALLS] [BYTES] [SCENE]`.
//!
//! Both the time that passed and the time the processor spent are told; on a busy machine only the second says anything.

#![expect(
    clippy::type_complexity,
    clippy::format_collect,
    reason = "a program to be run by hand, not part of the product"
)]

use std::io::Write as _;
use std::time::Instant;

use mcprove_judge::trust::{Boundary, FlowPair, TraceEvent, carried};
use serde_json::{Value, json};

const SERVERS: [&str; 4] = ["fetcher", "database", "mail", "files"];
const WORDS: [&str; 16] = [
    "tram", "museum", "ledger", "window", "copper", "harvest", "signal", "orchard", "bridge", "lantern", "meadow",
    "parcel", "quarry", "ribbon", "saddle", "timber",
];

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<usize>().ok());
    let calls = arguments.next().flatten().unwrap_or(10_000);
    let bytes = arguments.next().flatten().unwrap_or(10_000);
    let only = arguments.next().flatten();
    let sanitized = Boundary {
        allowed_flows: vec![FlowPair { from: "fetcher".into(), to: "database".into() }],
        required_sanitizers: vec!["sanitize_text".into()],
        ..Boundary::default()
    };
    let scenes: [(&str, fn(usize, usize) -> Vec<TraceEvent>, Option<&Boundary>); 7] = [
        ("prose, nothing carried", |calls, bytes| apart(calls, &|n| said(&prose(n, bytes))), None),
        ("JSON text, nothing carried", |calls, bytes| apart(calls, &|n| said(&rows(n, bytes).to_string())), None),
        (
            "structured, nothing carried",
            |calls, bytes| apart(calls, &|n| json!({"structuredContent": rows(n, bytes)})),
            None,
        ),
        ("every second call hands on the whole text before", handed_on, None),
        ("every third call hands on a text that was sanitized", routed, Some(&sanitized)),
        ("the same page again and again, handed on in parts", boilerplate, None),
        ("phrases that are a little too short, in all calls", phrases, None),
    ];
    let mut out = std::io::stdout();
    writeln!(out, "{calls} calls, results of {bytes} bytes")?;
    for (index, (name, build, boundary)) in scenes.into_iter().enumerate() {
        if only.is_some_and(|only| only != index) {
            continue;
        }
        let trace = build(calls, bytes);
        let (start, busy) = (Instant::now(), busy());
        let flows = carried(&trace, boundary);
        let (elapsed, busy) = (start.elapsed().as_secs_f64(), self::busy() - busy);
        writeln!(out, "{elapsed:>8.3} s  {busy:>8.3} s  {:>6} flows  {index} {name}", flows.len())?;
    }
    Ok(())
}

/// How many seconds the processor has spent on this thread, where the system tells.
fn busy() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = told.split(' ').next().and_then(|number| number.parse::<f64>().ok());
    nanoseconds.unwrap_or_default() / 1e9
}

/// A number that looks like chance and is not.
fn chance(seed: usize) -> usize {
    let mut mixed = (seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    usize::try_from((mixed ^ (mixed >> 31)) >> 8).unwrap_or_default()
}

fn prose(n: usize, bytes: usize) -> String {
    let mut text = String::new();
    let mut word = n * 1_000_003;
    while text.len() < bytes {
        word += 1;
        text.push_str(WORDS[chance(word) % WORDS.len()]);
        text.push_str(&(chance(word) / 16 % 9973).to_string());
        text.push(' ');
    }
    text
}

fn rows(n: usize, bytes: usize) -> Value {
    let count = bytes / 130;
    let row = |row: usize| {
        let seed = 900_000_000 + n * 1000 + row;
        json!({"id": seed, "title": prose(seed, 24), "created": "2026-11-02T09:30:00Z", "body": prose(seed + 500_000_000, 40)})
    };
    json!({"rows": (0..count).map(row).collect::<Vec<_>>()})
}

fn said(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// Calls whose arguments have nothing to do with the results before.
fn apart(calls: usize, result: &dyn Fn(usize) -> Value) -> Vec<TraceEvent> {
    let mut trace = vec![TraceEvent::Prompt("do what has to be done".into())];
    for n in 0..calls {
        let arguments = json!({"query": prose(n + 5_000_000, 150), "filter": {"team": prose(n + 6_000_000, 30)}});
        trace.push(TraceEvent::call(SERVERS[n % 4], "search", arguments));
        trace.push(TraceEvent::result(n, result(n)));
    }
    trace
}

fn handed_on(calls: usize, bytes: usize) -> Vec<TraceEvent> {
    let mut trace = Vec::new();
    for n in 0..calls {
        let (server, arguments) =
            if n % 2 == 0 { ("fetcher", json!({"n": n})) } else { ("database", json!({"text": prose(n - 1, bytes)})) };
        trace.push(TraceEvent::call(server, "tool", arguments));
        trace.push(TraceEvent::result(n, said(&prose(n, bytes))));
    }
    trace
}

fn routed(calls: usize, bytes: usize) -> Vec<TraceEvent> {
    let mut trace = Vec::new();
    for n in 0..calls {
        let raw = format!("{} <script>", prose(n - n % 3, bytes));
        let clean = prose(n - n % 3, bytes);
        let (server, tool, arguments, result) = match n % 3 {
            0 => ("fetcher", "fetch_page", json!({"n": n}), said(&raw)),
            1 => ("cleaner", "sanitize_text", json!({"text": raw}), said(&clean)),
            _ => ("database", "run_query", json!({"text": clean}), said("ok")),
        };
        trace.push(TraceEvent::call(server, tool, arguments));
        trace.push(TraceEvent::result(n, result));
    }
    trace
}

fn boilerplate(calls: usize, bytes: usize) -> Vec<TraceEvent> {
    let page = prose(1, bytes);
    let mut trace = Vec::new();
    for n in 0..calls {
        let from = (n * 37) % (page.len() / 2);
        let text = format!("{}{n}{}", &page[from..from + 200], prose(n, 40));
        trace.push(TraceEvent::call(SERVERS[n % 4], "tool", json!({"text": text})));
        trace.push(TraceEvent::result(n, said(&format!("{n} {page}"))));
    }
    trace
}

fn phrases(calls: usize, bytes: usize) -> Vec<TraceEvent> {
    let phrase = &prose(1, 60)[..60];
    let mut trace = Vec::new();
    for n in 0..calls {
        let text = |from: usize, bytes: usize| -> String {
            (0..bytes / 100).map(|k| format!("{phrase}{}", &prose(from + n * 997 + k, 40)[..40])).collect()
        };
        trace.push(TraceEvent::call(SERVERS[n % 4], "tool", json!({"text": text(9_000_000, 1_000)})));
        trace.push(TraceEvent::result(n, said(&text(0, bytes))));
    }
    trace
}
