//! The honest server around a bug.

use std::{
    io::{self, BufRead, Write},
    process::{self, ExitCode},
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::bugs::{Bug, Company, Effect, State};

/// How long a server that mixes calls up waits for another.
const COMPANY: Duration = Duration::from_millis(5);
/// How long a server that breaks under several calls takes for one; what comes meanwhile is too much.
const WORK: Duration = Duration::from_millis(2);

/// Serves until standard input ends.
pub(crate) fn serve(bug: &Bug, is_fixed: bool) -> ExitCode {
    let inbox = read_in_background();
    let tools = (bug.tools)();
    let mut server = Server { bug, is_fixed, tools, state: State::default() };
    while let Ok(message) = inbox.recv() {
        let company = if is_fixed || !is_call(&message) { Company::Fine } else { bug.company };
        match company {
            Company::Fine => server.handle(&message),
            Company::MixesUp => server.answer_mixed(&message, &inbox),
            Company::Breaks => server.answer_alone(&message, &inbox),
        }
    }
    ExitCode::SUCCESS
}

struct Server<'b> {
    bug: &'b Bug,
    is_fixed: bool,
    tools: Value,
    state: State,
}

impl Server<'_> {
    fn handle(&mut self, message: &Value) {
        let Some(id) = message.get("id") else { return };
        let Some(method) = message["method"].as_str() else { return };
        let params = &message["params"];
        match method {
            "initialize" => reply(
                id,
                "result",
                &json!({
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "buggy", "version": "1.0.0"}
                }),
            ),
            "ping" => reply(id, "result", &json!({})),
            "tools/list" => reply(id, "result", &json!({"tools": self.tools})),
            "tools/call" => self.call(id, params),
            _ => reply(id, "error", &json!({"code": -32601, "message": format!("unknown method: {method}")})),
        }
    }

    fn call(&mut self, id: &Value, params: &Value) {
        self.state.calls += 1;
        let arguments = params.get("arguments").unwrap_or(&Value::Null);
        let tool = self.tools.as_array().into_iter().flatten().find(|tool| tool["name"] == params["name"]);
        let Some(tool) = tool.cloned() else {
            return reply(id, "error", &json!({"code": -32602, "message": "unknown tool"}));
        };
        if !self.is_fixed
            && let Some(effect) = (self.bug.shows)(&mut self.state, arguments)
        {
            return show(id, &tool, arguments, effect);
        }
        reply(id, "result", &honest(&tool, arguments));
    }

    /// A call that comes before the last one is answered is too much.
    fn answer_alone(&mut self, call: &Value, inbox: &Receiver<Value>) {
        if inbox.recv_timeout(WORK).is_ok_and(|second| is_call(&second)) {
            process::exit(6);
        }
        self.handle(call);
    }

    /// Two calls that come together get each other's answer.
    fn answer_mixed(&mut self, first: &Value, inbox: &Receiver<Value>) {
        match inbox.recv_timeout(COMPANY) {
            Ok(second) if is_call(&second) => {
                let (mut one, mut other) = (first.clone(), second.clone());
                one["id"] = second["id"].clone();
                other["id"] = first["id"].clone();
                self.handle(&one);
                self.handle(&other);
            }
            Ok(other) => {
                self.handle(first);
                self.handle(&other);
            }
            Err(_) => self.handle(first),
        }
    }
}

/// What the bug does.
#[expect(clippy::exit, reason = "going away is what the bug does")]
fn show(id: &Value, tool: &Value, arguments: &Value, effect: Effect) {
    match effect {
        Effect::Exit(code) => process::exit(code),
        Effect::Abort => process::abort(),
        Effect::Hang => loop {
            thread::park();
        },
        Effect::AnswerAndExit => {
            reply(id, "result", &honest(tool, arguments));
            process::exit(5);
        }
        Effect::Fail(text) => reply(id, "result", &failed(&text)),
        Effect::Internal(message) => reply(id, "error", &json!({"code": -32603, "message": message})),
        Effect::Result(result) => reply(id, "result", &result),
    }
}

/// What a server without the bug answers.
fn honest(tool: &Value, arguments: &Value) -> Value {
    let schema = jsonschema::options().offline().build(&tool["inputSchema"]);
    let error = schema.ok().and_then(|schema| schema.iter_errors(arguments).next().map(|error| error.to_string()));
    if let Some(error) = error {
        return failed(&format!("invalid arguments: {error}"));
    }
    let mut result = json!({"content": [{"type": "text", "text": format!("{}: {arguments}", tool["name"])}]});
    if let Some(output) = tool.get("outputSchema") {
        let is_saved = output["properties"].get("saved").is_some();
        result["structuredContent"] = if is_saved { json!({"saved": true}) } else { json!({"n": 0}) };
    }
    result
}

fn is_call(message: &Value) -> bool {
    message["method"] == "tools/call" && message.get("id").is_some()
}

fn failed(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": true})
}

fn reply(id: &Value, key: &str, value: &Value) {
    let mut line = json!({"jsonrpc": "2.0", "id": id, key: value}).to_string();
    line.push('\n');
    let mut out = io::stdout().lock();
    // Nobody is there to be told when the client is gone.
    let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
}

fn read_in_background() -> Receiver<Value> {
    let (sender, inbox) = mpsc::channel();
    thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            let Ok(message) = serde_json::from_str(&line) else { continue };
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    inbox
}
