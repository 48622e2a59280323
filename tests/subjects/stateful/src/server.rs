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
    graph::Graph,
    notes::Notes,
    projects::Projects,
    robots::Robots,
    settings::Settings,
    unusual::Unusual,
    values::Values,
};

/// The answer to a call: a document, or the text of an error.
pub(crate) type Answer = Result<Value, String>;

/// The tools of a server.
enum Tools {
    Notes(Box<Notes>),
    Values(Values),
    Counters(Counters),
    Graph(Graph),
    Settings(Settings),
    Unusual(Box<Unusual>),
    Projects(Projects),
    Robots(Robots),
}

/// Serves until standard input ends.
pub(crate) fn serve(bug: &Bug, (is_fixed, is_broken): (bool, bool), data: Option<PathBuf>) -> ExitCode {
    let name = if is_fixed { "" } else { bug.name };
    let mut tools = match bug.group {
        Group::Notes => Tools::Notes(Box::new(Notes::new(name))),
        Group::Values => Tools::Values(Values::new(name)),
        Group::Counters => Tools::Counters(Counters::new(name)),
        Group::Graph => Tools::Graph(Graph::new(name)),
        Group::Settings => Tools::Settings(Settings::new(name, data)),
        Group::Unusual => Tools::Unusual(Box::new(Unusual::new(name, data))),
        Group::Projects => Tools::Projects(Projects::default()),
        Group::Robots => Tools::Robots(Robots::new(is_broken)),
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
                Tools::Values(values) => values.listed(),
                Tools::Counters(_) => Counters::listed(),
                Tools::Graph(_) => Graph::listed(),
                Tools::Settings(_) => Settings::listed(),
                Tools::Unusual(unusual) => unusual.listed(),
                Tools::Projects(_) => Projects::listed(),
                Tools::Robots(_) => Robots::listed(),
            };
            reply(id, "result", &json!({"tools": listed}));
        }
        "resources/templates/list" => {
            let templates = match tools {
                Tools::Notes(_) => json!([{"uriTemplate": "note:///{id}", "name": "note"}]),
                _ => json!([]),
            };
            reply(id, "result", &json!({"resourceTemplates": templates}));
        }
        "resources/list" => {
            let resources = match tools {
                Tools::Notes(notes) => notes.resources(),
                _ => Vec::new(),
            };
            reply(id, "result", &json!({"resources": resources}));
        }
        "tools/call" => {
            let (name, args) = (params["name"].as_str().unwrap_or_default(), &params["arguments"]);
            let answer = match tools {
                Tools::Notes(notes) => notes.call(name, args),
                Tools::Values(values) => values.call(name, args),
                Tools::Graph(graph) => graph.call(name, args),
                Tools::Settings(settings) => settings.call(name, args),
                Tools::Unusual(unusual) => unusual.call(name, args),
                Tools::Projects(projects) => projects.call(name, args),
                Tools::Robots(robots) => robots.call(name, args),
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
        // A string is a text for people.
        Ok(Value::String(text)) => json!({"content": [{"type": "text", "text": text}]}),
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
