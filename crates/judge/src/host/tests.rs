//! Clients as lists of frames, judged: what a scripted client does not do, and what looks wrong and is right.

use mcprove_model::{Direction, WirePart};
use serde_json::{Value, json};

use super::*;
use crate::conformance::Channel;

/// A client that is observed, frame by frame.
struct Seen(HostEvidence);

impl Seen {
    fn new(channel: Channel, names: &[&str]) -> Self {
        let server = |name: &&str| HostServer { name: (*name).to_owned(), channel, canaries: Vec::new(), token: None };
        let end = ClientEnd::Exited { at_us: 60_000_000, code: Some(0), signal: None };
        Self(HostEvidence { servers: names.iter().map(server).collect(), end, ..HostEvidence::default() })
    }

    fn frame(&mut self, at_ms: u64, server: usize, direction: Direction, part: WirePart, body: &str) -> &mut Self {
        let json = serde_json::from_str(body).ok();
        let body = body.to_owned().into();
        let frame =
            HostFrame { at_us: at_ms * 1_000, server, session: 0, direction, part, body, json, in_batch: false };
        self.0.frames.push(frame);
        self
    }

    fn sent(&mut self, at_ms: u64, message: &Value) -> &mut Self {
        self.frame(at_ms, 0, Direction::Sent, WirePart::Message, &message.to_string())
    }

    fn received(&mut self, at_ms: u64, message: &Value) -> &mut Self {
        self.frame(at_ms, 0, Direction::Received, WirePart::Message, &message.to_string())
    }

    fn post(&mut self, at_ms: u64, server: usize, headers: &[(&str, &str)]) -> &mut Self {
        let headers: Vec<(String, String)> =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let (method, url) = ("POST".to_owned(), "/mcp".to_owned());
        let part = WirePart::HttpRequest { exchange: at_ms, method, url, headers: headers.into() };
        self.frame(at_ms, server, Direction::Sent, part, "")
    }

    fn strike(&mut self, at_ms: u64, id: i64, fault: &str) -> &mut Self {
        let fault = fault.parse().expect("a fault");
        let strike = HostStrike { at_us: at_ms * 1_000, server: 0, id: json!(id), tool: "search".to_owned(), fault };
        self.0.strikes.push(strike);
        self
    }

    /// The handshake with a server that declares these capabilities, at the beginning.
    fn shaken(&mut self, capabilities: &Value) -> &mut Self {
        let info = json!({"name": "t", "version": "1"});
        let asked = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
        let agreed = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info});
        self.sent(0, &request(0, "initialize", &asked));
        self.received(1, &json!({"jsonrpc": "2.0", "id": 0, "result": agreed}));
        self.sent(2, &note("notifications/initialized", &json!({})))
    }

    /// The ids of the findings, with `expect` as its defaults and no need to meet a fault.
    fn found(&self) -> Vec<String> {
        self.found_with(&HostExpectation { allow_unhit: true, ..HostExpectation::default() })
    }

    fn found_with(&self, expected: &HostExpectation) -> Vec<String> {
        judge_host(&self.0, expected).findings.into_iter().map(|finding| finding.rule.into_owned()).collect()
    }

    /// The verdict of a client rule.
    fn verdict(&self, id: &str) -> ClientRuleVerdict {
        let rules = judge_client(&self.0);
        rules.iter().find(|graded| graded.rule.id == id).expect("a rule of that id").verdict
    }
}

fn request(id: i64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn note(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

fn call(id: i64, tool: &str, arguments: &Value) -> Value {
    request(id, "tools/call", &json!({"name": tool, "arguments": arguments}))
}

fn result(id: i64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}})
}

const TOKEN: &str = "tok-files-aaaa1111";

#[test]
fn a_token_is_found_however_it_is_written() {
    let two = || {
        let mut seen = Seen::new(Channel::Http, &["files", "notes"]);
        seen.0.servers[0].token = Some(TOKEN.to_owned());
        seen.0.servers[1].token = Some("tok-notes-bbbb2222".to_owned());
        seen
    };
    for (written, form) in [
        ("base64", r#"{"note": "dG9rLWZpbGVzLWFhYWExMTEx"}"#),
        ("base64 of more", r#"{"note": "dXNlcjp0b2stZmlsZXMtYWFhYTExMTE="}"#),
        ("hexadecimal", r#"{"note": "746f6b2d66696c65732d6161616131313131"}"#),
        ("JSON escapes", r#"{"note": "tok\u002dfiles\u002daaaa1111"}"#),
        ("in a URL", r#"{"note": "https://x/?t=tok%2Dfiles%2Daaaa1111"}"#),
    ] {
        for (server, leaks) in [(0, false), (1, true)] {
            let mut seen = two();
            let body = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"save","arguments":{form}}}}}"#
            );
            seen.frame(5, server, Direction::Sent, WirePart::Message, &body);
            assert_eq!(seen.found().contains(&"host-token-leak".to_owned()), leaks, "{written} to {server}");
        }
    }
    let mut seen = two();
    seen.post(1, 1, &[("authorization", "Basic dXNlcjp0b2stZmlsZXMtYWFhYTExMTE=")]).sent(2, &call(1, "a", &json!({})));
    assert_eq!(seen.found(), ["host-token-leak"]);
}

#[test]
fn a_server_may_have_its_own_token_whatever_that_contains() {
    for (first, second, sent, leaks) in [
        (TOKEN, TOKEN, TOKEN, false),
        ("tok-shared-1", "tok-shared-12", "tok-shared-12", false),
        ("tok-shared-1", "tok-shared-12", "tok-shared-1", true),
        ("tok-shared-12", "tok-shared-1", "tok-shared-12", true),
        ("t1", "t1", "t1", false),
        ("t1", "t2", "t1", true),
    ] {
        let mut seen = Seen::new(Channel::Http, &["files", "notes"]);
        seen.0.servers[0].token = Some(first.to_owned());
        seen.0.servers[1].token = Some(second.to_owned());
        let header = format!("Bearer {sent}");
        seen.post(1, 1, &[("authorization", &header)]).sent(2, &call(1, "a", &json!({})));
        assert_eq!(seen.found().contains(&"host-token-leak".to_owned()), leaks, "{first} {second} {sent}");
    }
}

#[test]
fn a_canary_that_goes_both_ways_is_two_findings() {
    let canary = "CANARY-0123456789abcdef";
    let mut seen = Seen::new(Channel::Stdio, &["files", "notes"]);
    seen.0.servers[0].canaries.push(canary.to_owned());
    seen.sent(1, &call(1, "read", &json!({"x": canary})));
    assert_eq!(seen.found(), ["host-obeyed-injection"]);
    let body = call(1, "save", &json!({"note": "ZG8gQ0FOQVJZLTAxMjM0NTY3ODlhYmNkZWY="})).to_string();
    seen.frame(2, 1, Direction::Sent, WirePart::Message, &body);
    assert_eq!(seen.found(), ["host-obeyed-injection", "SEC-060"]);
    // Text of its own: nothing came from the other server.
    seen.0.servers[1].canaries.push(canary.to_owned());
    assert_eq!(seen.found(), ["host-obeyed-injection", "host-obeyed-injection"]);
}

#[test]
fn every_announced_change_is_read_before_the_next_call() {
    let changing = json!({"tools": {"listChanged": true}});
    let changed = note("notifications/tools/list_changed", &json!({}));
    let play = |capabilities: &Value, reads_second: bool| {
        let mut seen = Seen::new(Channel::Stdio, &["files"]);
        seen.shaken(capabilities).sent(10, &request(1, "tools/list", &json!({}))).received(20, &changed);
        seen.sent(30, &request(2, "tools/list", &json!({})))
            .sent(400, &call(3, "a", &json!({})))
            .received(500, &changed);
        if reads_second {
            seen.sent(600, &request(4, "tools/list", &json!({})));
        }
        seen.sent(1_000, &call(5, "a", &json!({}))).found()
    };
    assert_eq!(play(&changing, false), ["host-stale-list"]);
    assert_eq!(play(&changing, true), [""; 0]);
    // A client need not listen to what a server does not declare.
    assert_eq!(play(&json!({"tools": {}}), false), [""; 0]);
}

#[test]
fn connections_that_are_used_for_nothing_are_a_storm() {
    let play = |calls: bool, every_ms: u64| {
        let mut seen = Seen::new(Channel::Stdio, &["files"]);
        for number in 0..30 {
            let at_ms = u64::try_from(number).expect("a number") * every_ms;
            seen.sent(at_ms, &request(number, "initialize", &json!({})))
                .sent(at_ms, &request(0, "tools/list", &json!({})));
            if calls {
                seen.sent(at_ms, &call(100, "a", &json!({})));
            }
        }
        seen.found()
    };
    assert_eq!(play(false, 200), ["host-request-storm"]);
    assert_eq!(play(true, 200), [""; 0], "a session for each call");
    assert_eq!(play(false, 1_000), [""; 0], "it waits before each");
}

#[test]
fn the_whole_time_of_retry_after_is_waited_for() {
    let play = |again_ms: u64| {
        let mut seen = Seen::new(Channel::Http, &["files"]);
        let headers = vec![("retry-after".to_owned(), "2".to_owned())].into();
        let refused = WirePart::HttpResponse { exchange: 1, status: 429, headers };
        seen.sent(1_000, &call(1, "search", &json!({}))).strike(1_000, 1, "rate-limit");
        seen.frame(1_001, 0, Direction::Received, refused, "");
        seen.sent(again_ms, &call(2, "search", &json!({}))).received(again_ms + 1, &result(2)).found()
    };
    assert_eq!(play(2_200), ["host-early-retry"]);
    assert_eq!(play(3_001), [""; 0]);
}

#[test]
fn a_call_in_parallel_does_not_show_that_another_was_given_up() {
    let expected = HostExpectation { detected_ms: Some(10_000), ends: false, ..HostExpectation::default() };
    let play = |other_ms: u64, cancels: bool| {
        let mut seen = Seen::new(Channel::Stdio, &["files"]);
        seen.0.end = ClientEnd::StillRunning;
        seen.sent(1_000, &call(1, "search", &json!({}))).strike(1_000, 1, "hang");
        seen.sent(other_ms, &call(2, "read", &json!({}))).received(other_ms + 1, &result(2));
        if cancels {
            seen.sent(6_000, &note("notifications/cancelled", &json!({"requestId": 1})));
            seen.sent(6_001, &call(3, "read", &json!({}))).received(6_002, &result(3));
        }
        seen.found_with(&expected)
    };
    assert_eq!(play(1_005, false), ["host-not-detected"]);
    assert_eq!(play(1_005, true), [""; 0]);
    // One call after the other: it went on, and should have cancelled.
    assert_eq!(play(5_000, false), ["host-no-cancel"]);
}

#[test]
fn a_crash_before_the_first_message_is_named() {
    let mut seen = Seen::new(Channel::Stdio, &["files"]);
    assert_eq!(seen.found(), ["host-no-connection"]);
    seen.0.end = ClientEnd::Exited { at_us: 1, code: None, signal: Some(11) };
    assert_eq!(seen.found(), ["host-no-connection", "host-crashed"]);
}

#[test]
fn initialized_comes_after_the_reply() {
    let play = |early: bool| {
        let mut seen = Seen::new(Channel::Stdio, &["files"]);
        if early {
            seen.shaken(&json!({}));
            seen.0.frames.swap(1, 2);
        } else {
            seen.shaken(&json!({}));
        }
        seen.sent(10, &request(1, "tools/list", &json!({}))).verdict("client-initialized")
    };
    assert_eq!(play(false), ClientRuleVerdict::Pass);
    assert_eq!(play(true), ClientRuleVerdict::Broken);
}

#[test]
fn an_error_without_an_id_answers_what_cannot_be_read() {
    let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32_700, "message": "parse error"}});
    let mut seen = Seen::new(Channel::Stdio, &["files"]);
    seen.shaken(&json!({})).frame(10, 0, Direction::Received, WirePart::Message, "{\"jsonrpc\": }");
    assert_eq!(seen.sent(11, &error).verdict("client-known-reply"), ClientRuleVerdict::Pass);
    let mut seen = Seen::new(Channel::Stdio, &["files"]);
    assert_eq!(seen.shaken(&json!({})).sent(11, &error).verdict("client-known-reply"), ClientRuleVerdict::Broken);
}

#[test]
fn a_progress_token_is_free_again_once_its_request_is_cancelled() {
    let play = |cancels: bool| {
        let with = |id| request(id, "tools/call", &json!({"name": "search", "_meta": {"progressToken": "job"}}));
        let mut seen = Seen::new(Channel::Stdio, &["files"]);
        seen.shaken(&json!({"tools": {}})).sent(10, &with(1));
        if cancels {
            seen.sent(20, &note("notifications/cancelled", &json!({"requestId": 1})));
        }
        seen.sent(30, &with(2)).verdict("client-progress-token")
    };
    assert_eq!(play(true), ClientRuleVerdict::Pass);
    assert_eq!(play(false), ClientRuleVerdict::Broken);
}

#[test]
fn answers_have_the_shape_that_was_asked_for() {
    for (method, answer, is_right) in [
        ("roots/list", json!({"roots": []}), true),
        ("roots/list", json!({"roots": [{"uri": "file:///a", "name": "a"}], "_meta": {"x": 1}}), true),
        ("roots/list", json!({"roots": "none"}), false),
        ("roots/list", json!({}), false),
        ("elicitation/create", json!({"action": "accept", "content": {"weight": 1.5}}), true),
        ("elicitation/create", json!({"action": "yes"}), false),
        ("sampling/createMessage", json!({"content": "hello"}), false),
    ] {
        let mut seen = Seen::new(Channel::Stdio, &["files"]);
        seen.shaken(&json!({})).received(10, &request(7, method, &json!({})));
        seen.sent(11, &json!({"jsonrpc": "2.0", "id": 7, "result": answer}));
        let wanted = if is_right { ClientRuleVerdict::Pass } else { ClientRuleVerdict::Broken };
        assert_eq!(seen.verdict("client-schema-valid"), wanted, "{method} {answer}");
    }
}
