//! The protocol around the tools.

use std::{
    io::{self, BufRead, Write},
    path::PathBuf,
    process::ExitCode,
};

use serde_json::{Value, json};

use crate::{
    bugs::{Bug, Group},
    counters::Counters,
    notes::Notes,
    settings::Settings,
    values::Values,
};

/// The answer to a call: a document, or the text of an error.
pub(crate) type Answer = Result<Value, String>;

/// The tools of a server.
enum Tools {
    Notes(Box<Notes>),
    Values(Values),
    Counters(Counters),
    Settings(Settings),
}

/// Serves until standard input ends.
pub(crate) fn serve(bug: &Bug, is_fixed: bool, data: Option<PathBuf>) -> ExitCode {
    let name = if is_fixed { "" } else { bug.name };
    let mut tools = match bug.group {
        Group::Notes => Tools::Notes(Box::new(Notes::new(name))),
        Group::Values => Tools::Values(Values::new(name)),
        Group::Counters => Tools::Counters(Counters::new(name)),
        Group::Settings => Tools::Settings(Settings::new(name, data)),
    };
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { return ExitCode::SUCCESS };
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        handle(&mut tools, &message);
    }
    ExitCode::SUCCESS
}

fn handle(tools: &mut Tools, message: &Value) {
    let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) else { return };
    let params = &message["params"];
    match method {
        "initialize" => reply(
            id,
            "result",
            &json!({
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}, "resources": {}},
                "serverInfo": {"name": "stateful", "version": "1.0.0"}
            }),
        ),
        "ping" => reply(id, "result", &json!({})),
        "tools/list" => {
            let listed = match tools {
                Tools::Notes(_) => Notes::listed(),
                Tools::Values(_) => Values::listed(),
                Tools::Counters(_) => Counters::listed(),
                Tools::Settings(_) => Settings::listed(),
            };
            reply(id, "result", &json!({"tools": listed}));
        }
        "resources/templates/list" => {
            let templates = match tools {
                Tools::Notes(_) => json!([{"uriTemplate": "note:///{id}", "name": "note"}]),
                Tools::Values(_) | Tools::Counters(_) | Tools::Settings(_) => json!([]),
            };
            reply(id, "result", &json!({"resourceTemplates": templates}));
        }
        "resources/list" => {
            let resources = match tools {
                Tools::Notes(notes) => notes.resources(),
                Tools::Values(_) | Tools::Counters(_) | Tools::Settings(_) => Vec::new(),
            };
            reply(id, "result", &json!({"resources": resources}));
        }
        "tools/call" => {
            let (name, args) = (params["name"].as_str().unwrap_or_default(), &params["arguments"]);
            let answer = match tools {
                Tools::Notes(notes) => notes.call(name, args),
                Tools::Values(values) => values.call(name, args),
                Tools::Settings(settings) => settings.call(name, args),
                // An answer may come later.
                Tools::Counters(counters) => match counters.call(name, args, id) {
                    Some(answer) => answer,
                    None => return,
                },
            };
            answered(id, answer);
        }
        _ => reply(id, "error", &json!({"code": -32601, "message": format!("unknown method: {method}")})),
    }
}

/// Answers a call.
pub(crate) fn answered(id: &Value, answer: Answer) {
    let result = match answer {
        Ok(document) => json!({"content": [{"type": "text", "text": document.to_string()}]}),
        Err(text) => json!({"content": [{"type": "text", "text": text}], "isError": true}),
    };
    reply(id, "result", &result);
}

fn reply(id: &Value, key: &str, value: &Value) {
    let mut line = json!({"jsonrpc": "2.0", "id": id, key: value}).to_string();
    line.push('\n');
    let mut out = io::stdout().lock();
    // Nobody is there to be told when the client is gone.
    let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
}

/// A tool that only reads.
pub(crate) fn reading(name: &str, properties: &Value, required: &[&str]) -> Value {
    tool(name, properties, required, &json!({"readOnlyHint": true}))
}

/// A tool that writes.
pub(crate) fn writing(name: &str, properties: &Value, required: &[&str]) -> Value {
    tool(name, properties, required, &json!({"readOnlyHint": false, "destructiveHint": false}))
}

/// A tool that writes, with these annotations.
pub(crate) fn tool(name: &str, properties: &Value, required: &[&str], annotations: &Value) -> Value {
    json!({
        "name": name,
        "description": name.replace('_', " "),
        "inputSchema": {"type": "object", "properties": properties, "required": required, "additionalProperties": false},
        "annotations": annotations,
    })
}

/// A text among the arguments.
pub(crate) fn text<'a>(args: &'a Value, name: &str) -> Result<&'a str, String> {
    args[name].as_str().ok_or_else(|| format!("`{name}` is not a text"))
}
