//! What the behaviours do, one function each; the table says when.

use std::{
    env, fs,
    io::{self, Write},
    os::unix::process::CommandExt,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::server::{Server, honest_reply, line, quit, stop_reading, tool, write};

// Life and death.

pub(crate) fn exit(server: &mut Server) {
    quit(server.number);
}

pub(crate) fn exit_at_start(server: &mut Server) {
    complain("API_KEY not set");
    quit(server.number);
}

pub(crate) fn exit_mid_call(server: &mut Server, _: &Value) {
    complain("fatal: the database has gone away");
    quit(server.number);
}

pub(crate) fn exit_mid_line(server: &mut Server, request: &Value) {
    let bytes = line(&honest_reply(request));
    write(&bytes[..bytes.len() / 2]);
    quit(server.number);
}

pub(crate) fn abort_mid_line(_: &mut Server, request: &Value) {
    let bytes = line(&honest_reply(request));
    write(&bytes[..bytes.len() / 2]);
    std::process::abort();
}

pub(crate) fn read_no_more(_: &mut Server, _: &Value) {
    stop_reading();
}

pub(crate) fn crash_on_wrong_type(_: &mut Server, request: &Value) {
    let text = &request["params"]["arguments"]["text"];
    if !text.is_string() && !text.is_null() {
        std::process::abort();
    }
}

pub(crate) fn hang_on_oversized(server: &mut Server, request: &Value) {
    let text = request["params"]["arguments"]["text"].as_str().unwrap_or_default();
    if text.len() as u64 > server.number {
        outlive(server);
    }
    write(&line(&honest_reply(request)));
}

/// Lives on for longer than any test, but not for ever: a test that fails should not fill the machine.
pub(crate) fn outlive(_: &mut Server) {
    thread::sleep(Duration::from_mins(20));
    quit(0);
}

/// A shell can ignore a signal without unsafe code, and what is ignored stays so in the program it becomes.
pub(crate) fn ignore_sigterm(_: &mut Server) {
    let Ok(this) = env::current_exe() else { quit(70) };
    let failed = Command::new("sh").args(["-c", r#"trap "" TERM; exec "$0" ignore-eof"#]).arg(this).exec();
    complain(&format!("sh: {failed}"));
    quit(70);
}

pub(crate) fn grandchild(server: &mut Server) {
    let script = format!(r#"trap "" TERM HUP; sleep {}"#, server.number);
    if let Err(failed) = Command::new("sh").args(["-c", &script]).spawn() {
        complain(&format!("sh: {failed}"));
        quit(70);
    }
}

/// Answers what nobody asked, once nobody asks any more.
pub(crate) fn speak_after_eof(_: &mut Server) {
    for id in 1..=100 {
        write(&line(&json!({ "jsonrpc": "2.0", "id": id, "result": {} })));
    }
}

// What comes before the reply.

pub(crate) fn bom(_: &mut Server) {
    write(b"\xEF\xBB\xBF");
}

pub(crate) fn garbage(_: &mut Server, _: &Value) {
    write(b"Starting server...\n\n[info] listening on stdio {not json}\n");
}

pub(crate) fn json_log_line(_: &mut Server, request: &Value) {
    write(&line(&json!({ "level": "info", "msg": "request", "method": request["method"] })));
}

pub(crate) fn flood(server: &mut Server, _: &Value) {
    for number in 0..server.number {
        let params = json!({ "level": "debug", "logger": "flood", "data": format!("message {number}") });
        notify("notifications/message", &params);
    }
}

pub(crate) fn request_flood(server: &mut Server, _: &Value) {
    // The answers are read by the thread that reads everything, so nobody waits for nobody.
    for number in 0..server.number {
        write(&line(&json!({ "jsonrpc": "2.0", "id": format!("flood-{number}"), "method": "ping" })));
    }
}

pub(crate) fn progress(server: &mut Server, request: &Value) {
    let Some(token) = request["params"]["_meta"].get("progressToken") else { return };
    for step in 1..=server.number {
        let params = json!({ "progressToken": token, "progress": step, "total": server.number });
        notify("notifications/progress", &params);
    }
}

pub(crate) fn stderr_flood(server: &mut Server) {
    let row = [b"0123456789abcdef".repeat(4).as_slice(), b"\n"].concat();
    let mut err = io::stderr().lock();
    let mut left = usize::try_from(server.number).unwrap_or(usize::MAX);
    while left > 0 {
        let part = &row[..row.len().min(left)];
        if err.write_all(part).is_err() {
            return;
        }
        left -= part.len();
    }
}

// What is wrong with the reply as bytes.

pub(crate) fn ansi(_: &Server, reply: &Value) -> Vec<u8> {
    format!("\x1b[32m{reply}\x1b[0m\n").into_bytes()
}

pub(crate) fn nul(_: &Server, reply: &Value) -> Vec<u8> {
    format!("\0{reply}\0\n").into_bytes()
}

pub(crate) fn crlf(_: &Server, reply: &Value) -> Vec<u8> {
    format!("{reply}\r\n").into_bytes()
}

pub(crate) fn pretty(_: &Server, reply: &Value) -> Vec<u8> {
    format!("{reply:#}\n").into_bytes()
}

pub(crate) fn batch(_: &Server, reply: &Value) -> Vec<u8> {
    format!("[{reply}]\n").into_bytes()
}

pub(crate) fn bad_number(_: &Server, reply: &Value) -> Vec<u8> {
    raw(reply, r#"{"content":[],"structuredContent":{"number":1e400}}"#)
}

pub(crate) fn deep_json(server: &Server, reply: &Value) -> Vec<u8> {
    let depth = usize::try_from(server.number).unwrap_or(usize::MAX);
    let (open, close) = (r#"{"a":"#.repeat(depth), "}".repeat(depth));
    raw(reply, &format!(r#"{{"content":[],"structuredContent":{open}1{close}}}"#))
}

pub(crate) fn huge_line(server: &Server, reply: &Value) -> Vec<u8> {
    let length = usize::try_from(server.number).unwrap_or(usize::MAX);
    raw(reply, &format!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, "a".repeat(length)))
}

pub(crate) fn duplicate_keys(_: &Server, reply: &Value) -> Vec<u8> {
    let result = |text| json!({ "content": [{ "type": "text", "text": text }] });
    raw(reply, &format!(r#"{},"result":{}"#, result("first"), result("second")))
}

pub(crate) fn invalid_utf8(_: &Server, reply: &Value) -> Vec<u8> {
    let mut bytes = raw(reply, r#"{"content":[{"type":"text","text":"?"}]}"#);
    if let Some(place) = bytes.iter().position(|byte| *byte == b'?') {
        bytes.splice(place..=place, *b"caf\xE9 \xFF\xFE");
    }
    bytes
}

/// The reply with its result replaced by this text, which need not be JSON.
fn raw(reply: &Value, result: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}\n", reply["id"]).into_bytes()
}

// What is wrong with the reply as a message.

pub(crate) fn wrong_id(_: &Server, _: &Value, reply: &mut Value) {
    reply["id"] = match &reply["id"] {
        Value::Number(number) => json!(number.as_i64().unwrap_or(0) + 1000),
        other => json!(format!("{other}-wrong")),
    };
}

pub(crate) fn string_id(_: &Server, _: &Value, reply: &mut Value) {
    reply["id"] = json!(reply["id"].to_string());
}

pub(crate) fn float_id(_: &Server, _: &Value, reply: &mut Value) {
    reply["id"] = json!(reply["id"].as_f64());
}

pub(crate) fn null_id(_: &Server, _: &Value, reply: &mut Value) {
    reply["id"] = Value::Null;
}

pub(crate) fn missing_id(_: &Server, _: &Value, reply: &mut Value) {
    remove(reply, "id");
}

pub(crate) fn no_jsonrpc(_: &Server, _: &Value, reply: &mut Value) {
    remove(reply, "jsonrpc");
}

pub(crate) fn error_null(_: &Server, _: &Value, reply: &mut Value) {
    reply["error"] = Value::Null;
}

pub(crate) fn both(_: &Server, _: &Value, reply: &mut Value) {
    reply["error"] = json!({ "code": -32603, "message": "both yes and no" });
}

pub(crate) fn rpc_error(server: &Server, _: &Value, reply: &mut Value) {
    remove(reply, "result");
    let code = i64::try_from(server.number).unwrap_or(0);
    reply["error"] = json!({ "code": -code, "message": "refused on purpose", "data": { "asked": true } });
}

pub(crate) fn string_error_code(_: &Server, _: &Value, reply: &mut Value) {
    remove(reply, "result");
    reply["error"] = json!({ "code": "E_OOPS", "message": "the code is a string" });
}

pub(crate) fn non_object_result(_: &Server, _: &Value, reply: &mut Value) {
    reply["result"] = json!("done");
}

// What is wrong with the result.

pub(crate) fn version(server: &Server, _: &Value, reply: &mut Value) {
    reply["result"]["protocolVersion"] = json!(server.text);
}

pub(crate) fn caps_wrong_type(_: &Server, _: &Value, reply: &mut Value) {
    reply["result"]["capabilities"] = json!({ "tools": true, "logging": [], "resources": "yes" });
}

pub(crate) fn control_text(_: &Server, _: &Value, reply: &mut Value) {
    let text = "\x1b[2J\x1b[31mred\x1b[0m\rover\nPASS  a forged line\n\u{202e}backwards\u{7}\u{9b}1m";
    reply["result"] = json!({ "content": [{ "type": "text", "text": text }] });
}

pub(crate) fn structured(_: &Server, request: &Value, reply: &mut Value) {
    reply["result"] = json!({ "content": [], "structuredContent": request["params"]["arguments"] });
}

pub(crate) fn bad_output(_: &Server, request: &Value, reply: &mut Value) {
    if request["method"] == "tools/list" {
        reply["result"]["tools"][0]["outputSchema"] =
            json!({ "type": "object", "properties": { "length": { "type": "integer" } }, "required": ["length"] });
    } else if request["method"] == "tools/call" {
        reply["result"]["structuredContent"] = json!({ "length": "five" });
    }
}

// What is wrong with the list of tools.

pub(crate) fn no_name_tool(_: &Server, _: &Value, reply: &mut Value) {
    let mut nameless = tool("");
    remove(&mut nameless, "name");
    append(reply, nameless);
}

pub(crate) fn no_schema_tool(_: &Server, _: &Value, reply: &mut Value) {
    let mut loose = tool("loose");
    remove(&mut loose, "inputSchema");
    append(reply, loose);
}

pub(crate) fn cyclic_ref(_: &Server, _: &Value, reply: &mut Value) {
    let mut tree = tool("tree");
    tree["inputSchema"] = json!({
        "type": "object",
        "properties": { "child": { "$ref": "#" }, "loop": { "$ref": "#/$defs/a" } },
        "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } },
    });
    append(reply, tree);
}

pub(crate) fn many_tools(server: &Server, _: &Value, reply: &mut Value) {
    for number in 1..server.number {
        append(reply, tool(&format!("tool-{number}")));
    }
}

pub(crate) fn pages(server: &Server, request: &Value, reply: &mut Value) {
    let page = page(request);
    if page < server.number {
        reply["result"] = json!({ "tools": two_of(page), "nextCursor": format!("page-{}", page + 1) });
    }
}

pub(crate) fn endless_pages(_: &Server, request: &Value, reply: &mut Value) {
    let page = page(request);
    if page > 1 {
        reply["result"]["tools"] = two_of(page);
    }
    reply["result"]["nextCursor"] = json!(format!("page-{}", page + 1));
}

pub(crate) fn repeat_cursor(_: &Server, _: &Value, reply: &mut Value) {
    reply["result"]["nextCursor"] = json!("again");
}

/// The page asked for, counted from one.
fn page(request: &Value) -> u64 {
    let cursor = request["params"]["cursor"].as_str();
    cursor.and_then(|cursor| cursor.strip_prefix("page-")?.parse().ok()).unwrap_or(1)
}

fn two_of(page: u64) -> Value {
    json!([tool(&format!("page-{page}-a")), tool(&format!("page-{page}-b"))])
}

fn append(reply: &mut Value, tool: Value) {
    if let Some(tools) = reply["result"]["tools"].as_array_mut() {
        tools.push(tool);
    }
}

fn remove(object: &mut Value, key: &str) {
    if let Some(object) = object.as_object_mut() {
        object.shift_remove(key);
    }
}

// What happens in place of a reply.

pub(crate) fn endless_line(_: &mut Server, request: &Value) {
    let start = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[{{"type":"text","text":""#, request["id"]);
    write(start.as_bytes());
    let more = vec![b'a'; 64 << 10];
    loop {
        write(&more);
    }
}

pub(crate) fn half_a_reply(_: &mut Server, request: &Value) {
    let bytes = line(&honest_reply(request));
    write(&bytes[..bytes.len() / 2]);
}

pub(crate) fn late(server: &mut Server, request: &Value) {
    let (pause, reply) = (Duration::from_millis(server.number), line(&honest_reply(request)));
    thread::spawn(move || {
        thread::sleep(pause);
        write(&reply);
    });
}

pub(crate) fn slow_bytes(server: &mut Server, request: &Value) {
    for byte in line(&honest_reply(request)) {
        write(&[byte]);
        thread::sleep(Duration::from_millis(server.number));
    }
}

pub(crate) fn twice(_: &mut Server, request: &Value) {
    let mut second = honest_reply(request);
    second["result"] = json!({ "content": [{ "type": "text", "text": "on second thoughts" }] });
    // At once, so that nothing depends on what the client does in between.
    write(&[line(&honest_reply(request)), line(&second)].concat());
}

pub(crate) fn out_of_order(server: &mut Server, request: &Value) {
    let until = Instant::now() + Duration::from_millis(server.number);
    while let Some(message) = server.next(Some(until.saturating_duration_since(Instant::now()))) {
        if message.get("id").is_some() {
            write(&line(&honest_reply(&message)));
            break;
        }
    }
    write(&line(&honest_reply(request)));
}

pub(crate) fn reply_to_notification(_: &mut Server) {
    write(&line(&json!({ "jsonrpc": "2.0", "id": null, "result": {} })));
}

/// Waits for the cancellation of this request and writes it down; what is cancelled is not answered.
pub(crate) fn cancel_aware(server: &mut Server, request: &Value) {
    let note = loop {
        match server.next(None) {
            Some(message) if message["method"] == "notifications/cancelled" => {
                if message["params"]["requestId"] == request["id"] {
                    break message;
                }
            }
            Some(message) => {
                if message.get("id").is_some() {
                    write(&line(&honest_reply(&message)));
                }
            }
            None => break json!("stdin was closed and nothing was cancelled"),
        }
    };
    if let Err(failed) = fs::write(&server.text, line(&note)) {
        complain(&format!("{}: {failed}", server.text));
    }
}

pub(crate) fn ping_client(server: &mut Server, request: &Value) {
    let replies = ask(server, &[json!({ "jsonrpc": "2.0", "id": "ping-1", "method": "ping" })]);
    let ok = replies.len() == 1 && replies[0]["result"] == json!({});
    tell(request, ok, &replies);
}

/// The first id is one that the client uses for its own requests too, as it may: ids are counted per direction.
pub(crate) fn requests_unknown(server: &mut Server, request: &Value) {
    let questions = [
        json!({ "jsonrpc": "2.0", "id": request["id"], "method": "misbehave/unknown" }),
        json!({ "jsonrpc": "2.0", "id": "unknown-2", "method": "tools/list", "params": {} }),
        json!({ "jsonrpc": "2.0", "id": 0, "method": "", "params": { "deep": [1, 2, 3] } }),
    ];
    let replies = ask(server, &questions);
    let refused = |reply: &Value| reply["error"]["code"] == json!(-32601);
    let ok = replies.len() == questions.len() && replies.iter().all(refused);
    tell(request, ok, &replies);
}

pub(crate) fn requests_same_id(server: &mut Server, request: &Value) {
    let question = json!({ "jsonrpc": "2.0", "id": "same", "method": "ping" });
    write(&line(&question));
    let replies = ask(server, &[question]);
    let ok = !replies.is_empty() && replies.iter().all(|reply| reply["result"] == json!({}));
    let mut reply = honest_reply(request);
    reply["result"]["_meta"] = json!({ "ok": ok });
    write(&line(&reply));
}

/// Sends requests to the client and collects the replies to them, in the order of the requests, for two seconds.
fn ask(server: &mut Server, questions: &[Value]) -> Vec<Value> {
    for question in questions {
        write(&line(question));
    }
    let mut replies = vec![];
    let mut others = vec![];
    let until = Instant::now() + Duration::from_secs(2);
    while replies.len() < questions.len() {
        let Some(message) = server.next(Some(until.saturating_duration_since(Instant::now()))) else { break };
        let place = questions.iter().position(|question| question["id"] == message["id"]);
        match place {
            Some(place) if message.get("method").is_none() => replies.push((place, message)),
            Some(_) | None => others.push(message),
        }
    }
    for message in others {
        server.postpone(message);
    }
    replies.sort_by_key(|(place, _)| *place);
    replies.into_iter().map(|(_, reply)| reply).collect()
}

/// Answers a call with what the client said, as JSON in a text.
fn tell(request: &Value, ok: bool, replies: &[Value]) {
    let text = json!({ "ok": ok, "replies": replies }).to_string();
    let result = json!({ "content": [{ "type": "text", "text": text }] });
    write(&line(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })));
}

fn notify(method: &str, params: &Value) {
    write(&line(&json!({ "jsonrpc": "2.0", "method": method, "params": params })));
}

fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

// What it takes for an argument.

pub(crate) fn lenient(_: &Server, request: &Value, reply: &mut Value) {
    match request["method"].as_str().unwrap_or_default() {
        "tools/list" => reply["result"]["tools"][0]["inputSchema"]["additionalProperties"] = false.into(),
        "tools/call" => {
            let content = json!({ "content": [{ "type": "text", "text": "done" }] });
            *reply = json!({ "jsonrpc": "2.0", "id": request["id"], "result": content });
        }
        _ => {}
    }
}
