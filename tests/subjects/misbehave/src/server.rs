//! The honest server around the one behaviour.

use std::{
    collections::VecDeque,
    io::{self, BufRead, Write},
    process::ExitCode,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver},
    },
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::behaviours::{ALL, Behaviour, Effect};

/// A server, its behaviour and the argument it was given.
pub(crate) struct Server {
    /// The behaviour's argument where it is a number.
    pub(crate) number: u64,
    /// The behaviour's argument where it is a text.
    pub(crate) text: String,
    behaviour: &'static Behaviour,
    at: String,
    inbox: Receiver<Value>,
    waiting: VecDeque<Value>,
}

impl Server {
    pub(crate) fn new(behaviour: &'static Behaviour, at: String, number: u64, text: String) -> Server {
        let (_, inbox) = mpsc::channel();
        Server { number, text, behaviour, at, inbox, waiting: VecDeque::new() }
    }

    /// Serves until standard input ends.
    pub(crate) fn run(mut self) -> ExitCode {
        if let Effect::Start(start) = self.behaviour.effect {
            start(&mut self);
        }
        self.inbox = read_in_background();
        while let Some(message) = self.next(None) {
            self.handle(&message);
        }
        if let Effect::End(end) = self.behaviour.effect {
            end(&mut self);
        }
        ExitCode::SUCCESS
    }

    /// The next message, or none when the time is up or standard input is at its end.
    pub(crate) fn next(&mut self, within: Option<Duration>) -> Option<Value> {
        if let Some(message) = self.waiting.pop_front() {
            return Some(message);
        }
        match within {
            Some(within) => self.inbox.recv_timeout(within).ok(),
            None => self.inbox.recv().ok(),
        }
    }

    /// Puts a message back, to be handled in its turn.
    pub(crate) fn postpone(&mut self, message: Value) {
        self.waiting.push_back(message);
    }

    fn handle(&mut self, message: &Value) {
        let Some(method) = message["method"].as_str() else {
            return; // a reply nobody waits for
        };
        if message.get("id").is_none() {
            if let Effect::Notified(notified) = self.behaviour.effect {
                notified(self);
            }
            return;
        }
        if self.at != ALL && self.at != method {
            return write(&line(&honest_reply(message)));
        }
        match self.behaviour.effect {
            Effect::Instead(instead) => instead(self, message),
            Effect::Before(before) => {
                before(self, message);
                write(&line(&honest_reply(message)));
            }
            Effect::After(after) => {
                write(&line(&honest_reply(message)));
                after(self);
            }
            Effect::Reply(change) => {
                let mut reply = honest_reply(message);
                change(self, message, &mut reply);
                write(&line(&reply));
            }
            Effect::Bytes(encode) => write(&encode(self, &honest_reply(message))),
            Effect::Nothing | Effect::Start(_) | Effect::Notified(_) | Effect::End(_) => {
                write(&line(&honest_reply(message)));
            }
        }
    }
}

/// What a server without a flaw would reply.
pub(crate) fn honest_reply(request: &Value) -> Value {
    let id = &request["id"];
    let params = &request["params"];
    let refuse = |code: i32, message: String| json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } });
    let result = match request["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": params["protocolVersion"].as_str().unwrap_or("2025-11-25"),
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "misbehave", "version": "1.0.0" },
        }),
        "ping" => json!({}),
        "tools/list" => json!({ "tools": [tool("echo")] }),
        "tools/call" => match (params["name"].as_str(), params["arguments"]["text"].as_str()) {
            (Some("echo"), Some(text)) => json!({ "content": [{ "type": "text", "text": text }] }),
            (Some("echo"), None) => return refuse(-32602, "`text` is not a string".into()),
            (name, _) => return refuse(-32602, format!("no tool is called `{}`", name.unwrap_or_default())),
        },
        unknown => return refuse(-32601, format!("no method is called `{unknown}`")),
    };
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// A tool that takes a text.
pub(crate) fn tool(name: &str) -> Value {
    json!({
        "name": name,
        "description": "Returns the text it is given",
        "inputSchema": { "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] },
    })
}

/// A message on a line of its own.
pub(crate) fn line(message: &Value) -> Vec<u8> {
    let mut bytes = message.to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}

/// Writes to the client at once, and ends when the client has gone.
pub(crate) fn write(bytes: &[u8]) {
    let mut out = io::stdout().lock();
    if out.write_all(bytes).and_then(|()| out.flush()).is_err() {
        quit(0);
    }
}

/// Ends the process with this code.
#[expect(clippy::exit, reason = "ending without any farewell is what some behaviours are about")]
pub(crate) fn quit(code: u64) -> ! {
    std::process::exit(i32::try_from(code).unwrap_or(1))
}

static READS_NO_MORE: AtomicBool = AtomicBool::new(false);

/// Leaves what comes from now on in the pipe; one more message may be read.
pub(crate) fn stop_reading() {
    READS_NO_MORE.store(true, Ordering::SeqCst);
}

/// Reads messages on a thread of its own, so that a behaviour can wait for one with a deadline.
fn read_in_background() -> Receiver<Value> {
    let (send, inbox) = mpsc::channel();
    thread::spawn(move || {
        for line in io::stdin().lock().split(b'\n') {
            let Ok(line) = line else { return };
            if READS_NO_MORE.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_mins(20));
                quit(0);
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            let message = serde_json::from_slice(&line);
            if let Ok(message) = message {
                if send.send(message).is_err() {
                    return;
                }
            } else {
                let refusal =
                    json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32700, "message": "not JSON" } });
                write(&self::line(&refusal));
            }
        }
    });
    inbox
}
