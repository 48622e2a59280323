//! Loads against servers in this process, in virtual time: no test waits, and every latency is exact.
//!
//! Long because each property of a load is one test.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mcprove_judge::load::{Gate, Shape, findings, why_not_held};
use mcprove_model::{LoadError, LoadRecord, RateStep};
use mcprove_wire::transport::Peer;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, WriteHalf};
use tokio::time::{Instant, sleep_until};

use super::driver::{ReferencedCalls, Surroundings, drive};
use super::limit::find_limit;
use super::reference::Reference;
use super::sessions::Sessions;
use super::workload::{LoadCall, LoadRequest};
use super::{LoadMeter, LoadOptions, SessionPer};
use crate::stop::{Stop, Stopper};

type Writer = Arc<tokio::sync::Mutex<WriteHalf<tokio::io::DuplexStream>>>;

/// A server whose calls are answered by `answer`, all at the same time.
fn serve<F, W>(peer: Peer, answer: F)
where
    F: Fn(u64, Value) -> W + Send + Sync + 'static,
    W: Future<Output = Option<Value>> + Send + 'static,
{
    serve_until(peer, None, || {}, answer);
}

/// The same, but it answers one method with an error, and does something when its client is gone.
fn serve_until<F, W>(peer: Peer, refused: Option<&'static str>, gone: fn(), answer: F)
where
    F: Fn(u64, Value) -> W + Send + Sync + 'static,
    W: Future<Output = Option<Value>> + Send + 'static,
{
    let (reader, writer) = tokio::io::split(peer.stream);
    let (writer, answer): (Writer, _) = (Arc::new(tokio::sync::Mutex::new(writer)), Arc::new(answer));
    tokio::spawn(async move {
        let mut lines = BufReader::new(reader).lines();
        let mut number = 0;
        while let Ok(Some(line)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&line).expect("a message");
            let Some(id) = message.get("id").cloned() else { continue };
            let quick = match message["method"].as_str() {
                Some("initialize") => Some(json!({
                    "protocolVersion": message["params"]["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "peer", "version": "1"},
                })),
                Some("tools/list") => Some(json!({"tools": []})),
                _ => None,
            };
            let (writer, answer) = (Arc::clone(&writer), Arc::clone(&answer));
            if refused.is_some_and(|method| message["method"] == method) {
                let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": "busy"}});
                let _ = writer.lock().await.write_all(format!("{error}\n").as_bytes()).await;
                continue;
            }
            number += 1;
            tokio::spawn(async move {
                let result = match quick {
                    Some(result) => Some(result),
                    None => answer(number, message).await,
                };
                let Some(result) = result else { return };
                let reply = format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "result": result}));
                let _ = writer.lock().await.write_all(reply.as_bytes()).await;
            });
        }
        gone();
    });
}

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

fn options(shape: Shape, is_open: bool) -> LoadOptions {
    LoadOptions {
        clients: if is_open { 1 } else { 64 },
        shape,
        is_open,
        in_flight: if is_open { 10_000 } else { 1 },
        session_per: SessionPer::Client,
        warm_up: Duration::ZERO,
        calls: None,
        timeout: Duration::from_secs(30),
        start: Duration::from_secs(10),
        check_every: 1,
        gates: Vec::new(),
        find_limit: false,
        shard: None,
        begin: None,
        pid: None,
    }
}

async fn load(options: LoadOptions, sessions: Sessions) -> LoadRecord {
    load_tools(&["echo"], options, sessions).await
}

async fn load_tools(tools: &[&str], options: LoadOptions, sessions: Sessions) -> LoadRecord {
    let (_, stop) = Stopper::pair();
    load_until(stop, tools, options, sessions).await
}

async fn load_until(stop: Stop, tools: &[&str], options: LoadOptions, sessions: Sessions) -> LoadRecord {
    let around = Surroundings { sessions, meter: Arc::new(LoadMeter::default()), stop, is_virtual: true };
    let (record, _) =
        drive(&options, &calls_of(tools), &around).await.unwrap_or_else(|failure| panic!("{}", failure.message));
    record
}

fn echo() -> ReferencedCalls {
    calls_of(&["echo"])
}

fn calls_of(tools: &[&str]) -> ReferencedCalls {
    let calls = tools.iter().map(|name| LoadCall {
        name: (*name).to_owned(),
        weight: 1,
        request: LoadRequest::Tool { name: (*name).to_owned(), arguments: json!({}) },
        expect: None,
        is_generated: false,
    });
    let references = vec![Reference { result: Some(text("ok")), ..Reference::default() }; tools.len()];
    ReferencedCalls { calls: calls.collect(), references, order: (0..tools.len()).collect() }
}

fn constant(level: f64, seconds: u64) -> Shape {
    Shape::constant(level, Duration::from_secs(seconds))
}

/// Answers at once, but stalls for one second in every ten of its time.
fn stalling(peer: Peer) {
    let began = Instant::now();
    serve(peer, move |_, _| async move {
        let into = Duration::from_micros(u64::try_from(began.elapsed().as_micros()).unwrap_or(0) % 10_000_000);
        let ready = if into < Duration::from_secs(9) {
            Instant::now()
        } else {
            Instant::now() + Duration::from_secs(10).saturating_sub(into)
        };
        sleep_until(ready).await;
        Some(text("ok"))
    });
}

/// Takes ten milliseconds for a call, and stalls like the other.
fn stalling_with_work(peer: Peer) {
    let began = Instant::now();
    serve(peer, move |_, _| async move {
        tokio::time::sleep(Duration::from_millis(10)).await;
        let into = Duration::from_micros(u64::try_from(began.elapsed().as_micros()).unwrap_or(0) % 10_000_000);
        if into >= Duration::from_secs(9) {
            sleep_until(Instant::now() + Duration::from_secs(10).saturating_sub(into)).await;
        }
        Some(text("ok"))
    });
}

#[tokio::test(start_paused = true)]
async fn a_stall_is_in_the_percentiles_of_an_open_loop() {
    let record = load(options(constant(100.0, 30), true), Sessions::Peer(stalling)).await;
    let latency = record.latency();
    assert_eq!(record.total(), 3_000);
    // A tenth of the calls arrives in a stall and waits for the rest of it: 1 % waits for more than 0.9 s, 5 % for more
    // than 0.5 s.
    for (share, expected) in [(0.99, 900_000), (0.95, 500_000), (0.5, 0)] {
        let value = latency.quantile(share);
        assert!(value.abs_diff(expected) <= 20_000, "p{}: {value}", share * 100.0);
    }
    assert!(latency.max() >= 980_000 && findings(&record).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_closed_loop_does_not_see_the_stall() {
    let closed = LoadOptions { clients: 1, ..options(constant(1.0, 30), false) };
    let record = load(closed, Sessions::Peer(stalling_with_work)).await;
    let latency = record.latency();
    // One call in 900 waits: the 99th percentile is that of a call that does not.
    assert!(latency.quantile(0.99) < 20_000, "{}", latency.quantile(0.99));
    assert!(latency.max() > 900_000);
}

#[tokio::test(start_paused = true)]
async fn calls_are_counted_from_when_they_should_have_started() {
    // One call at a time, 20 ms each, at 100 calls per second: each waits 10 ms longer than the one before.
    let slow = LoadOptions { in_flight: 1, ..options(constant(100.0, 1), true) };
    let serve_slowly = |peer| {
        serve(peer, |_, _| async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            Some(text("ok"))
        });
    };
    let record = load(slow, Sessions::Peer(serve_slowly)).await;
    let stats = &record.calls["echo"];
    assert_eq!((stats.latency.count(), record.dropped), (100, 0));
    assert!(stats.service.max() < 30_000, "{}", stats.service.max());
    assert!(stats.latency.max().abs_diff(1_010_000) < 30_000, "{}", stats.latency.max());
    // The throughput is that of the time it really took.
    assert!((record.throughput() - 50.0).abs() < 2.0, "{}", record.throughput());
}

#[tokio::test(start_paused = true)]
async fn arrivals_that_wait_longer_than_the_time_limit_are_dropped() {
    let hopeless =
        LoadOptions { in_flight: 1, timeout: Duration::from_millis(500), ..options(constant(100.0, 2), true) };
    let serve_slowly = |peer| {
        serve(peer, |_, _| async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            Some(text("ok"))
        });
    };
    let record = load(hopeless, Sessions::Peer(serve_slowly)).await;
    assert!(record.dropped > 100 && record.total() == 200, "{} of {}", record.dropped, record.total());
    assert_eq!(findings(&record)[0].rule, "dropped-arrival");
}

#[tokio::test(start_paused = true)]
async fn the_limit_of_a_server_is_its_capacity() {
    // Four calls at a time, 80 ms each: 50 calls per second.
    let limited = |peer| {
        let workers = Arc::new(tokio::sync::Semaphore::new(4));
        serve(peer, move |_, _| {
            let workers = Arc::clone(&workers);
            async move {
                let _permit = workers.acquire().await;
                tokio::time::sleep(Duration::from_millis(80)).await;
                Some(text("ok"))
            }
        });
    };
    // Every call takes half a second, and any number of them at a time: the latency is the same at ten times the rate.
    let slow = |peer| {
        serve(peer, |_, _| async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            Some(text("ok"))
        });
    };
    let gates = ["p99 < 1s", "errors < 1%"].map(|gate| Gate::parse(gate).expect("valid")).to_vec();
    let (_, stop) = Stopper::pair();
    let search = |first: f64, sessions: Sessions| {
        let options = LoadOptions { gates: gates.clone(), find_limit: true, ..options(constant(first, 5), true) };
        let around =
            Surroundings { sessions, meter: Arc::new(LoadMeter::default()), stop: stop.clone(), is_virtual: true };
        async move {
            let (record, _) = find_limit(&options, &echo(), &around).await.expect("loaded");
            record.limit.expect("searched")
        }
    };
    let found = search(10.0, Sessions::Peer(limited)).await;
    let held = found.held.expect("held");
    assert!((47.0..=51.0).contains(&held), "{found:?}");
    // The steps explain the result.
    let is_at = |step: &&RateStep| (step.rate - held).abs() < 1e-9;
    assert!(found.steps.iter().filter(is_at).any(|step| step.broken.is_none()), "{found:?}");
    assert!(found.range.is_none() && !found.is_own && found.steps.len() <= 20, "{found:?}");
    let at_100 = LoadOptions { gates: gates.clone(), ..options(constant(100.0, 5), true) };
    assert_eq!(why_not_held(&load(at_100, Sessions::Peer(slow)).await, 100.0, &gates), None);
}

#[tokio::test(start_paused = true)]
async fn a_load_that_is_stopped_is_what_there_was_until_then() {
    static LEFT: AtomicU64 = AtomicU64::new(0);
    let counted = |peer: Peer| {
        LEFT.fetch_add(1, Ordering::SeqCst);
        serve_until(
            peer,
            None,
            || {
                LEFT.fetch_sub(1, Ordering::SeqCst);
            },
            |_, _| async {
                tokio::time::sleep(Duration::from_millis(10)).await;
                Some(text("ok"))
            },
        );
    };
    for is_open in [true, false] {
        let (stopper, stop) = Stopper::pair();
        let long = LoadOptions { clients: 3, ..options(constant(if is_open { 100.0 } else { 3.0 }, 600), is_open) };
        let began = Instant::now();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(10_005)).await;
            stopper.stop();
        });
        let record = load_until(stop, &["echo"], long, Sessions::Peer(counted)).await;
        assert!(record.interrupted && began.elapsed() < Duration::from_secs(14), "{:?}", began.elapsed());
        assert!(record.measured_us.abs_diff(10_000_000) < 20_000, "{}", record.measured_us);
        let expected = if is_open { 1_000 } else { 3_000 };
        assert!(record.answered().abs_diff(expected) < 50 && record.failed() == 0, "{}", record.answered());
        tokio::task::yield_now().await;
        assert_eq!(LEFT.load(Ordering::SeqCst), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn sessions_that_cannot_be_opened_are_counted_by_phase_and_closed() {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    static LEFT: AtomicU64 = AtomicU64::new(0);
    fn every_second(peer: Peer, method: &'static str) {
        let refused = NUMBER.fetch_add(1, Ordering::SeqCst).is_multiple_of(2).then_some(method);
        LEFT.fetch_add(1, Ordering::SeqCst);
        let quick = |_, _| async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            Some(text("ok"))
        };
        let gone = || {
            LEFT.fetch_sub(1, Ordering::SeqCst);
        };
        serve_until(peer, refused, gone, quick);
    }
    let no_handshake: fn(Peer) = |peer| every_second(peer, "initialize");
    let no_list: fn(Peer) = |peer| every_second(peer, "tools/list");
    for (phase, server) in [("handshake", no_handshake), ("list", no_list)] {
        for session_per in [SessionPer::Client, SessionPer::Calls(2)] {
            let four = LoadOptions { clients: 4, session_per, calls: Some(100), ..options(constant(4.0, 60), false) };
            let record = load(four, Sessions::Peer(server)).await;
            let phases: Vec<_> = record.not_opened.keys().map(String::as_str).collect();
            assert_eq!(phases, [phase], "{record:?}");
            let failed = &record.not_opened[phase];
            assert!(
                failed.count > 1 && failed.count == record.unopened && failed.example.contains("busy"),
                "{failed:?}"
            );
            assert_eq!(record.total(), 100);
            assert_eq!(findings(&record)[0].rule, "no-session");
            tokio::task::yield_now().await;
            assert_eq!(LEFT.load(Ordering::SeqCst), 0, "{phase}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_load_without_a_session_is_none() {
    let refusing = |peer| serve_until(peer, Some("initialize"), || {}, |_, _| async { None });
    let around = Surroundings {
        sessions: Sessions::Peer(refusing),
        meter: Arc::new(LoadMeter::default()),
        stop: Stopper::pair().1,
        is_virtual: true,
    };
    let failure = drive(&options(constant(4.0, 1), false), &echo(), &around).await.expect_err("no session");
    assert!(failure.message.contains("busy"), "{}", failure.message);
}

#[tokio::test(start_paused = true)]
async fn lost_replies_are_counted_with_the_calls_that_were_open_when_they_were_sent() {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let losing = |peer| {
        serve(peer, |_, _| async {
            let open = CALLS.fetch_add(1, Ordering::SeqCst) + 1;
            tokio::time::sleep(Duration::from_millis(997)).await;
            CALLS.fetch_sub(1, Ordering::SeqCst);
            (open < 50).then(|| text("ok"))
        });
    };
    // A rate that grows by one call per second: the calls that are open are as many as the rate.
    let seconds = |text: &str| Ok(Duration::from_secs(text.trim_end_matches('s').parse().expect("seconds")));
    let rising = Shape::parse("..80@80s", 0.0, seconds).expect("valid");
    let record =
        load(LoadOptions { timeout: Duration::from_secs(9), ..options(rising, true) }, Sessions::Peer(losing)).await;
    let lost = &record.errors()[&LoadError::Timeout];
    assert!(lost.count > 100 && (50..=51).contains(&lost.concurrent), "{lost:?}");
}

static OPEN: AtomicU64 = AtomicU64::new(0);

#[tokio::test(start_paused = true)]
async fn a_server_that_loses_replies_under_concurrency_is_named() {
    let losing = |peer| {
        serve(peer, |_, _| async {
            let open = OPEN.fetch_add(1, Ordering::SeqCst) + 1;
            tokio::time::sleep(Duration::from_millis(100)).await;
            OPEN.fetch_sub(1, Ordering::SeqCst);
            (open < 50).then(|| text("ok"))
        });
    };
    let timeout = Duration::from_secs(2);
    let few = LoadOptions { timeout, ..options(constant(40.0, 2), false) };
    assert!(findings(&load(few, Sessions::Peer(losing)).await).is_empty());
    let many = LoadOptions { timeout, ..options(constant(64.0, 2), false) };
    let record = load(many, Sessions::Peer(losing)).await;
    let lost = &record.errors()[&LoadError::Timeout];
    assert!(lost.count > 0 && lost.concurrent >= 50, "{lost:?}");
    assert_eq!(findings(&record)[0].rule, "lost-reply");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_answers_wrongly_under_load_is_named_and_one_that_varies_is_not() {
    // Every tenth reply is that of another call.
    let wrong = |peer| {
        serve(peer, |number, _| async move {
            tokio::time::sleep(Duration::from_millis(10)).await;
            Some(text(if number > 100 && number.is_multiple_of(10) { "other" } else { "ok" }))
        });
    };
    let record = load(options(constant(4.0, 2), false), Sessions::Peer(wrong)).await;
    assert!(record.errors().contains_key(&LoadError::WrongReply), "{:?}", record.errors());
    assert_eq!(findings(&record)[0].rule, "wrong-under-load");
    // It answers with its time, alone as well.
    let varying = |peer| {
        serve(peer, |_, _| async move {
            tokio::time::sleep(Duration::from_millis(10)).await;
            Some(text(&format!("{:?}", Instant::now())))
        });
    };
    let record = load(options(constant(4.0, 2), false), Sessions::Peer(varying)).await;
    assert!(findings(&record).is_empty() && record.answered() > 500, "{:?}", record.errors());
    // Replies that are decided about at the end are in the timeline as well.
    let in_timeline: u64 = record.windows.iter().map(|window| window.latency.count()).sum();
    assert_eq!((in_timeline, record.phases["call"].count()), (record.answered(), record.answered()));
}

#[tokio::test(start_paused = true)]
async fn replies_that_no_client_takes_are_wrong_also_where_they_are_the_same_each_time() {
    let broken = |peer| {
        serve(peer, |_, _| async move {
            tokio::time::sleep(Duration::from_millis(10)).await;
            Some(json!({"content": "good"}))
        });
    };
    let alone = [Some(json!({"content": "good"})), None];
    for result in alone {
        let mut calls = calls_of(&["echo"]);
        calls.references = vec![Reference { result, ..Reference::default() }];
        let (_, stop) = Stopper::pair();
        let around = Surroundings {
            sessions: Sessions::Peer(broken),
            meter: Arc::new(LoadMeter::default()),
            stop,
            is_virtual: true,
        };
        let options = LoadOptions { check_every: 10, ..options(constant(4.0, 2), false) };
        let (record, _) =
            drive(&options, &calls, &around).await.unwrap_or_else(|failure| panic!("{}", failure.message));
        let wrong = record.errors().get(&LoadError::WrongReply).map_or(0, |errors| errors.count);
        assert!(wrong > 50 && wrong == record.checked, "{wrong} of {}", record.checked);
    }
}

#[tokio::test(start_paused = true)]
async fn a_load_without_a_judged_reply_says_so() {
    let quick = |peer| serve(peer, |number, _| async move { Some(text(&number.to_string())) });
    let mut calls = calls_of(&["echo"]);
    calls.references = vec![Reference::default()];
    let (_, stop) = Stopper::pair();
    let around =
        Surroundings { sessions: Sessions::Peer(quick), meter: Arc::new(LoadMeter::default()), stop, is_virtual: true };
    let (record, _) = drive(&options(constant(100.0, 2), true), &calls, &around)
        .await
        .unwrap_or_else(|failure| panic!("{}", failure.message));
    let said: Vec<_> = findings(&record).into_iter().map(|finding| (finding.rule, finding.severity)).collect();
    assert_eq!((record.checked, said), (0, vec![("unsteady-reply".into(), mcprove_model::Severity::Note)]));
}

#[tokio::test(start_paused = true)]
async fn every_tool_is_judged_whatever_the_number_of_tools() {
    // The second of two tools is wrong after its first reply; a tenth of the replies is judged.
    let wrong = |peer| {
        serve(peer, |number, message| async move {
            Some(text(if number > 10 && message["params"]["name"] == "second" { "other" } else { "ok" }))
        });
    };
    let sampled = LoadOptions { check_every: 10, ..options(constant(100.0, 4), true) };
    let record = load_tools(&["first", "second"], sampled, Sessions::Peer(wrong)).await;
    let wrong = record.calls["second"].errors.get(&LoadError::WrongReply).map_or(0, |errors| errors.count);
    assert_eq!((wrong, record.calls["first"].failed(), record.checked), (19, 0, 40));
}

#[tokio::test(start_paused = true)]
async fn calls_of_the_warm_up_are_not_among_those_that_are_asked_for() {
    let quick = |peer| {
        serve(peer, |_, _| async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            Some(text("ok"))
        });
    };
    let warm_up = Duration::from_secs(1);
    for (shape, is_open) in [(constant(50.0, 1), true), (constant(2.0, 60), false)] {
        let bounded = LoadOptions { calls: Some(50), warm_up, ..options(shape, is_open) };
        let record = load(bounded, Sessions::Peer(quick)).await;
        assert_eq!(record.answered(), 50, "open: {is_open}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_reply_makes_the_measurement_no_longer() {
    let losing = |peer| {
        serve(peer, |number, _| async move { (number != 150).then(|| text("ok")) });
    };
    let record = load(options(constant(100.0, 2), true), Sessions::Peer(losing)).await;
    assert_eq!((record.answered(), record.failed(), record.measured_us), (199, 1, 2_000_000));
}

#[tokio::test(start_paused = true)]
async fn calls_that_time_out_do_not_hold_up_those_that_are_to_start() {
    let silent = |peer| {
        serve(peer, |_, _| async { None });
    };
    let begun = Instant::now();
    let timeout = Duration::from_secs(1);
    let record = load(LoadOptions { timeout, ..options(constant(100.0, 2), true) }, Sessions::Peer(silent)).await;
    assert_eq!((record.errors()[&LoadError::Timeout].count, record.dropped), (200, 0));
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn sessions_are_renewed_and_stages_have_their_clients() {
    let quick = |peer| {
        serve(peer, |_, _| async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            Some(text("ok"))
        });
    };
    let per_call =
        LoadOptions { session_per: SessionPer::Calls(5), calls: Some(100), ..options(constant(2.0, 60), false) };
    let record = load(per_call, Sessions::Peer(quick)).await;
    assert_eq!((record.answered(), record.sessions), (100, 20));
    let seconds = |text: &str| Ok(Duration::from_secs(text.trim_end_matches('s').parse().expect("seconds")));
    let steps = Shape::parse("1@4s,8@4s", 0.0, seconds).expect("valid");
    let record = load(options(steps, false), Sessions::Peer(quick)).await;
    let at = |position: usize| (record.windows[position].clients, record.windows[position].completed);
    let (first, last) = (at(5), at(record.windows.len() - 2));
    assert!(first.0 == 1 && last.0 == 8 && last.1 > first.1 * 6, "{first:?} {last:?}");
}

#[tokio::test(start_paused = true)]
async fn shards_are_the_whole_load() {
    let quick = |peer| serve(peer, |_, _| async { Some(text("ok")) });
    let whole = load(options(constant(30.0, 10), true), Sessions::Peer(quick)).await;
    let mut merged = LoadRecord::default();
    for number in 1..=3 {
        let shard = LoadOptions { shard: Some((number, 3)), ..options(constant(30.0, 10), true) };
        merged.merge(load(shard, Sessions::Peer(quick)).await);
    }
    assert_eq!((merged.total(), merged.windows.len()), (whole.total(), whole.windows.len()));
    assert_eq!(merged.latency().count(), 300);
}
