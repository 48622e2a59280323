//! Calls that were made → a suite file that makes them again and expects what came then. Pure: calls in, text out.
//!
//! The suite must hold when it is run against the same server, so only what can be expected to come again is asked for:
//! the kind of answer always, its text only where nothing in it looks like a time, an id, a duration or a count. All
//! tests share one server and stand in the order of the calls, so that each finds the state it found then.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use mcprove_model::{
    ClientCapabilities, ElicitationAction, Node, SamplingReply, ServerSpec, Span, Target, escape_line, shorten,
};
use serde_json::{Map, Value, json};

use crate::convert;
use crate::template::literal_text;
use crate::written_server::{FileKind, WrittenServer};
use crate::yaml;

/// The longest text that is asked for again.
const LONGEST: usize = 300;

/// Calls that were made of a server.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// The server.
    pub server: ServerSpec,
    /// What the client offered, and how it answered.
    pub client: ClientCapabilities,
    /// Whether the stateless revision was spoken.
    pub modern: bool,
    /// The calls, in order.
    pub calls: Vec<RecordedCall>,
}

/// A call that was made.
#[derive(Clone, Debug)]
pub struct RecordedCall {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub args: Value,
    /// Its result or its error; nothing when it was never answered.
    pub outcome: Option<Result<Value, Value>>,
    /// How long it took.
    pub elapsed_us: u64,
}

/// The text of the suite, and how many tests it has.
pub fn suite_of(recorded: &Recorded) -> (String, usize) {
    let mut names = HashMap::new();
    let mut tests = Vec::new();
    let mut left_out = Vec::new();
    for (at, call) in recorded.calls.iter().enumerate() {
        match expectation(call, &recorded.calls[..at]) {
            Some(expect) => tests.push(test(call, &expect, &mut names)),
            None => left_out.push(call.tool.as_str()),
        }
    }
    let mut text = String::from("# Recorded by `mcprove intercept`: the calls of a client, in order, on one server.\n");
    if !left_out.is_empty() {
        // Names are the client's, so they are kept on one line.
        let names: Vec<_> = left_out.iter().map(|name| escape_line(name)).collect();
        let _ = writeln!(text, "# Left out, because no final answer was recorded: {}.", names.join(", "));
    }
    let written = WrittenServer::of(&recorded.server, FileKind::Suite, &[]);
    if let Some(remark) = written.remark() {
        let _ = writeln!(text, "# {remark}");
    }
    let count = tests.len();
    let suite = json!({
        "servers": {"server": server(recorded, &written.target)},
        "run_options": {"restart_policy": "per_file"},
        "assert": tests,
    });
    text.push_str(&yaml::write(&Node::from_json(Span::default(), suite), 0));
    (text, count)
}

fn test(call: &RecordedCall, expect: &Value, names: &mut HashMap<String, usize>) -> Value {
    let arguments = match &call.args {
        Value::Object(map) if map.is_empty() => String::new(),
        args => format!(" {}", shorten(&args.to_string(), 60)),
    };
    let base = format!("{}{arguments}", call.tool);
    let count = names.entry(base.clone()).or_insert(0);
    *count += 1;
    let name = if *count == 1 { base } else { format!("{base} ({count})") };
    let mut test = Map::new();
    test.insert("name".to_owned(), Value::String(convert::escaped(&name)));
    test.insert("server".to_owned(), json!("server"));
    test.insert("tool".to_owned(), Value::String(escaped(&call.tool)));
    if call.args.as_object().is_none_or(|args| !args.is_empty()) {
        test.insert("args".to_owned(), literal(&call.args));
    }
    let seconds = call.elapsed_us.div_ceil(1_000_000);
    if seconds > 8 {
        test.insert("timeout".to_owned(), Value::String(format!("{}s", seconds * 4)));
    }
    test.insert("expect".to_owned(), expect.clone());
    Value::Object(test)
}

/// What the answer to a call lets us expect of the next; nothing when it was no final answer.
fn expectation(call: &RecordedCall, before: &[RecordedCall]) -> Option<Value> {
    let result = match call.outcome.as_ref()? {
        Ok(result) => result,
        Err(error) => {
            let code = error.get("code").and_then(Value::as_i64);
            return Some(json!({"protocol_error": code.map_or(Value::Bool(true), Value::from)}));
        }
    };
    if result.get("resultType").is_some_and(|kind| kind != "complete") {
        return None;
    }
    let is_error = result.get("isError").and_then(Value::as_bool) == Some(true);
    let mut expect = Map::new();
    expect.insert(if is_error { "is_error" } else { "not_error" }.to_owned(), Value::Bool(true));
    let text = text_of(result);
    if !text.trim().is_empty() {
        let seen_before = || {
            before.iter().any(|other| {
                other.tool == call.tool && other.args == call.args && other.outcome.as_ref() == call.outcome.as_ref()
            })
        };
        if text.len() <= LONGEST && (lasts(&text, &call.args) || seen_before()) {
            expect.insert("contains".to_owned(), json!([escaped(&text)]));
        } else {
            expect.insert("not_empty".to_owned(), Value::Bool(true));
        }
    }
    Some(Value::Object(expect))
}

/// The text of a result, as checks see it: its text items, one below the other.
fn text_of(result: &Value) -> String {
    let items = result.get("content").and_then(Value::as_array).into_iter().flatten();
    let texts: Vec<&str> = items
        .filter(|item| item.get("type").is_some_and(|kind| kind == "text"))
        .filter_map(|item| item.get("text").and_then(Value::as_str))
        .collect();
    // Where a text ends and the next begins differs between views, so only a single one is asked for.
    if let [text] = texts.as_slice() { (*text).to_owned() } else { texts.join("\n\n") }
}

/// Whether a text can be expected again: what changes from run to run has digits in it that the caller did not give,
/// or names a temporary folder.
fn lasts(text: &str, args: &Value) -> bool {
    fn numbers(text: &str) -> impl Iterator<Item = &str> {
        text.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty())
    }
    let given = args.to_string();
    let given: HashSet<&str> = numbers(&given).collect();
    let is_given = numbers(text).all(|number| given.contains(number));
    is_given && ["/tmp/", "\n\n"].iter().all(|sign| !text.contains(sign))
}

/// A text that means in a suite file what it says.
fn escaped(text: &str) -> String {
    convert::escaped(&literal_text(text, &[]))
}

/// A value whose texts mean in a suite file what they say.
fn literal(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(escaped(text)),
        Value::Array(items) => Value::Array(items.iter().map(literal).collect()),
        Value::Object(map) => Value::Object(map.iter().map(|(key, value)| (key.clone(), literal(value))).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn server(recorded: &Recorded, written: &Target) -> Value {
    let mut server = Map::new();
    let map = |pairs: &[(String, String)]| -> Value {
        pairs.iter().map(|(name, value)| (name.clone(), json!(value))).collect::<Map<_, _>>().into()
    };
    match written {
        Target::Stdio { command, args, env, cwd, docker } => {
            let words: Vec<&String> = std::iter::once(command).chain(args).collect();
            server.insert("command".to_owned(), json!(words));
            if !env.is_empty() {
                server.insert("env".to_owned(), map(env));
            }
            if let Some(cwd) = cwd {
                server.insert("cwd".to_owned(), json!(cwd));
            }
            if let Some(docker) = docker {
                server.insert("docker".to_owned(), json!(docker));
            }
        }
        Target::Http { url, headers } | Target::Sse { url, headers } => {
            server.insert("url".to_owned(), json!(url));
            if !headers.is_empty() {
                server.insert("headers".to_owned(), map(headers));
            }
        }
        Target::Mock { manifest, virtual_time: _ } => {
            server.insert("mock".to_owned(), json!(manifest));
        }
        Target::Cassette { path } => {
            server.insert("cassette".to_owned(), json!(path));
        }
    }
    if recorded.modern {
        server.insert("protocol".to_owned(), json!("modern"));
    }
    let client = client(&recorded.client);
    if !client.is_empty() {
        server.insert("client_capabilities".to_owned(), Value::Object(client));
    }
    Value::Object(server)
}

fn client(client: &ClientCapabilities) -> Map<String, Value> {
    let mut map = Map::new();
    if let Some(roots) = &client.roots {
        map.insert("roots".to_owned(), json!(roots));
    }
    if !client.sampling.is_empty() {
        let reply = |reply: &SamplingReply| {
            let SamplingReply { text, model, stop_reason } = reply;
            json!({"text": escaped(text), "model": escaped(model), "stop_reason": escaped(stop_reason)})
        };
        map.insert("sampling".to_owned(), client.sampling.iter().map(reply).collect());
    }
    if let Some(elicitation) = &client.elicitation {
        let answer = match elicitation.action {
            ElicitationAction::Accept => json!({"content": literal(&elicitation.content)}),
            ElicitationAction::Decline => json!({"action": "decline"}),
            ElicitationAction::Cancel => json!({"action": "cancel"}),
        };
        map.insert("elicitation".to_owned(), answer);
    }
    map
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(tool: &str, args: Value, outcome: Option<Result<Value, Value>>) -> RecordedCall {
        RecordedCall { tool: tool.to_owned(), args, outcome, elapsed_us: 1_000 }
    }

    fn said(text: &str) -> Value {
        json!({"content": [{"type": "text", "text": text}]})
    }

    #[test]
    fn only_what_will_come_again_is_asked_for() {
        let failed = Some(Ok(json!({"content": [{"type": "text", "text": "no such file"}], "isError": true})));
        let calls = vec![
            call("echo", json!({"text": "hi ${x} 7"}), Some(Ok(said("hi ${x} 7")))),
            call("clock", json!({}), Some(Ok(said("it is 12:30")))),
            call("clock", json!({}), Some(Ok(said("it is 12:31")))),
            call("sum", json!({"a": 1}), Some(Ok(said("the sum is 42")))),
            call("sum", json!({"a": 1}), Some(Ok(said("the sum is 42")))),
            call("read", json!({"path": "x"}), failed),
            call("gone", json!({}), Some(Err(json!({"code": -32602, "message": "no"})))),
            call("hung", json!({}), None),
            RecordedCall { elapsed_us: 9_500_000, ..call("slow", json!({}), Some(Ok(json!({"content": []})))) },
        ];
        let target = Target::Http {
            url: "http://127.0.0.1:1/mcp".to_owned(),
            headers: vec![("X-Api-Key".to_owned(), "secret".to_owned())],
        };
        let server = ServerSpec { target, ..ServerSpec::default() };
        let (text, count) = suite_of(&Recorded { server, calls, ..Recorded::default() });
        assert_eq!(count, 8);
        let expected = "# Recorded by `mcprove intercept`: the calls of a client, in order, on one server.\n\
                        # Left out, because no final answer was recorded: hung.\n\
                        # The server takes from the environment: MCP_X_API_KEY.\n";
        assert!(text.starts_with(expected), "{text}");
        let source = mcprove_model::SourceFile::new("s.yaml", text.as_str());
        let (documents, findings) = yaml::parse(&source);
        assert!(findings.is_empty(), "{findings:?}");
        let suite = documents[0].to_json();
        assert_eq!(suite["servers"]["server"]["headers"]["X-Api-Key"], "${MCP_X_API_KEY}");
        let expects: Vec<&Value> =
            suite["assert"].as_array().expect("tests").iter().map(|test| &test["expect"]).collect();
        assert_eq!(*expects[0], json!({"not_error": true, "contains": ["hi $${x} 7"]}));
        assert_eq!(*expects[1], json!({"not_error": true, "not_empty": true}));
        assert_eq!(*expects[3], json!({"not_error": true, "not_empty": true}));
        assert_eq!(*expects[4], json!({"not_error": true, "contains": ["the sum is 42"]}));
        assert_eq!(*expects[5], json!({"is_error": true, "contains": ["no such file"]}));
        assert_eq!(*expects[6], json!({"protocol_error": -32602}));
        assert_eq!(suite["assert"][4]["name"], "sum {\"a\":1} (2)");
        assert_eq!(suite["assert"][7]["timeout"], "40s");
    }
}
