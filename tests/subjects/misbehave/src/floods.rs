//! Behaviours that cost memory, and answers that nobody asked for.

use serde_json::{Value, json};

use crate::server::{Server, honest_reply, line, write};

const MEGABYTE: usize = 1 << 20;

/// Notifications of a megabyte.
pub(crate) fn big_notifications(server: &mut Server, _: &Value) {
    let data = "x".repeat(MEGABYTE);
    for _ in 0..server.number {
        notify("notifications/message", &format!(r#"{{"level":"debug","data":"{data}"}}"#));
    }
}

/// Notifications of a megabyte that take forty in memory.
pub(crate) fn growing_notifications(server: &mut Server, _: &Value) {
    let data = zeros(MEGABYTE);
    for _ in 0..server.number {
        notify("notifications/message", &format!(r#"{{"level":"debug","data":{data}}}"#));
    }
}

/// Notifications whose method has twenty megabytes.
pub(crate) fn long_methods(server: &mut Server, _: &Value) {
    let name = "m".repeat(20 * MEGABYTE);
    for number in 0..server.number {
        notify(&format!("{name}{number}"), "{}");
    }
}

/// Requests of a megabyte.
pub(crate) fn big_requests(server: &mut Server, _: &Value) {
    let data = "x".repeat(MEGABYTE);
    for number in 0..server.number {
        let request = format!(r#"{{"jsonrpc":"2.0","id":"r{number}","method":"ping","params":{{"data":"{data}"}}}}"#);
        write(format!("{request}\n").as_bytes());
    }
}

/// Requests whose ids have a megabyte, which answers repeat.
pub(crate) fn big_ids(server: &mut Server, _: &Value) {
    let id = "i".repeat(MEGABYTE);
    for number in 0..server.number {
        write(format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{id}{number}\",\"method\":\"ping\"}}\n").as_bytes());
    }
}

/// A reply of so many bytes of `0,`.
pub(crate) fn growing_reply(server: &Server, reply: &Value) -> Vec<u8> {
    with_data(reply, &zeros(usize::try_from(server.number).unwrap_or(usize::MAX)))
}

/// A reply of so many bytes of `{"a":0},`.
pub(crate) fn growing_objects(server: &Server, reply: &Value) -> Vec<u8> {
    let count = usize::try_from(server.number).unwrap_or(usize::MAX) / 8;
    with_data(reply, &format!("[{}{{}}]", r#"{"a":0},"#.repeat(count)))
}

/// Lines that might become a message, of so many bytes.
pub(crate) fn endless_document(server: &mut Server, _: &Value) {
    write(b"[[0\n");
    for _ in 0..server.number / 5 {
        write(b"],[0\n");
    }
}

/// The handshake, and at once the answer to a call that was not made yet; the call itself is not answered.
pub(crate) fn early_reply(server: &mut Server, request: &Value) {
    if request["method"] == "initialize" {
        let mut early = early(request);
        early.splice(0..0, line(&honest_reply(request)));
        write(&early);
    } else if request["method"] != "tools/call" || server.number > 0 {
        write(&line(&honest_reply(request)));
    }
}

/// The answer to the request after this one.
fn early(request: &Value) -> Vec<u8> {
    let id = request["id"].as_u64().unwrap_or_default() + 1;
    line(&json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": "hi"}]}}))
}

/// Both that it failed and that it did not.
pub(crate) fn duplicate_is_error(_: &Server, reply: &Value) -> Vec<u8> {
    let id = &reply["id"];
    let result = r#"{"content":[{"type":"text","text":"hi"}],"isError":true,"isError":false}"#;
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n").into_bytes()
}

/// So many notifications and then log output, once its input is closed.
pub(crate) fn flood_then_log(server: &mut Server) {
    for _ in 0..server.number {
        notify("notifications/message", r#"{"level":"debug","data":"x"}"#);
    }
    write(b"this belongs to standard error\n");
}

fn zeros(bytes: usize) -> String {
    format!("[{}0]", "0,".repeat(bytes / 2))
}

fn with_data(reply: &Value, data: &str) -> Vec<u8> {
    let id = &reply["id"];
    let result = format!(r#"{{"content":[{{"type":"text","text":"hi"}}],"structuredContent":{{"data":{data}}}}}"#);
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n").into_bytes()
}

fn notify(method: &str, params: &str) {
    write(format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":{params}}}\n").as_bytes());
}
