//! Calls that were made → a suite file that makes them again and expects what came then. Pure: calls in, text out.
//!
//! The suite must hold when it is run against the same server, so only what can be expected to come again is asked for:
//! the kind of answer always, its text only where nothing in it looks like a time, an id, a duration or a count. All
//! tests share one server and stand in the order of the calls, so that each finds the state it found then.
//!
//! What is secret is taken out of values before they are written, so that the file stays one that can be read. What is sent
//! names the variable that holds it; what comes back is not asked for.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

use mcprove_model::{
    ClientCapabilities, ElicitationAction, Node, Redactor, SamplingReply, ServerSpec, Span, Target, escape_line,
    shorten,
};
use serde_json::{Map, Value, json};

use crate::convert;
use crate::environment::{SECRET, with_doubled_dollars};
use crate::schema::editor_line;
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
    /// How often something else than a tool was asked for, by method.
    pub other_requests: BTreeMap<String, usize>,
    /// Knows what must not be written down.
    pub secrets: Redactor,
}

impl Recorded {
    /// The requests that are not in the suite, such as `resources/read (2 times)`; empty when there are none.
    pub fn left_out(&self) -> String {
        let shown = |(method, count): (&String, &usize)| match count {
            1 => escape_line(method).into_owned(),
            count => format!("{} ({count} times)", escape_line(method)),
        };
        self.other_requests.iter().map(shown).collect::<Vec<_>>().join(", ")
    }
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
    let written = WrittenServer::of(&recorded.server, FileKind::Suite, &[]);
    let texts = Texts { secrets: &recorded.secrets, variables: &written.variables };
    let mut names = HashMap::new();
    let mut tests = Vec::new();
    let (mut unanswered, mut unnamed) = (Vec::new(), Vec::new());
    for (at, call) in recorded.calls.iter().enumerate() {
        let Some(expect) = expectation(call, &recorded.calls[..at], &texts) else {
            unanswered.push(call.tool.as_str());
            continue;
        };
        match test(call, &expect, &texts, &mut names) {
            Some(test) => tests.push(test),
            None => unnamed.push(call.tool.as_str()),
        }
    }
    let mut text = editor_line("suite");
    text.push_str("# Recorded by `mcprove intercept`: the calls of a client, in order, on one server.\n");
    for (left_out, why) in
        [(unanswered, "no final answer was recorded"), (unnamed, "secrets that no variable holds were sent")]
    {
        // Names are the client's, so they are kept on one line.
        let names: Vec<_> =
            left_out.iter().map(|name| escape_line(&recorded.secrets.text(name)).into_owned()).collect();
        if !names.is_empty() {
            let _ = writeln!(text, "# Left out, because {why}: {}.", names.join(", "));
        }
    }
    if !recorded.other_requests.is_empty() {
        let _ = writeln!(text, "# Left out, because only calls of tools become tests: {}.", recorded.left_out());
    }
    if let Some(remark) = written.remark() {
        let _ = writeln!(text, "# {remark}");
    }
    let count = tests.len();
    let suite = json!({
        "servers": {"server": server(recorded, &written.target, &texts)},
        "run_options": {"restart_policy": "per_file"},
        "assert": tests,
    });
    text.push_str(&yaml::write(&Node::from_json(Span::default(), suite), 0));
    (text, count)
}

/// The test that makes a call again; nothing when what it sends cannot be written.
fn test(call: &RecordedCall, expect: &Value, texts: &Texts<'_>, names: &mut HashMap<String, usize>) -> Option<Value> {
    let (tool, args) = (texts.sent(&call.tool)?, texts.sent_value(&call.args)?);
    let has_arguments = call.args.as_object().is_none_or(|args| !args.is_empty());
    let shown = texts.secrets.text(&call.args.to_string()).into_owned();
    let arguments = if has_arguments { format!(" {}", shorten(&shown, 60)) } else { String::new() };
    let base = format!("{}{arguments}", texts.secrets.text(&call.tool));
    let count = names.entry(base.clone()).or_insert(0);
    *count += 1;
    let name = if *count == 1 { base } else { format!("{base} ({count})") };
    let mut test = Map::new();
    test.insert("name".to_owned(), Value::String(convert::escaped(&name)));
    test.insert("server".to_owned(), json!("server"));
    test.insert("tool".to_owned(), Value::String(tool));
    if has_arguments {
        test.insert("args".to_owned(), args);
    }
    let seconds = call.elapsed_us.div_ceil(1_000_000);
    if seconds > 8 {
        test.insert("timeout".to_owned(), Value::String(format!("{}s", seconds * 4)));
    }
    test.insert("expect".to_owned(), expect.clone());
    Some(Value::Object(test))
}

/// What the answer to a call lets us expect of the next; nothing when it was no final answer.
fn expectation(call: &RecordedCall, before: &[RecordedCall], texts: &Texts<'_>) -> Option<Value> {
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
        if text.len() <= LONGEST && !texts.is_secret(&text) && (lasts(&text, &call.args) || seen_before()) {
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

/// Writes what was sent: secrets become the variables that hold them.
struct Texts<'t> {
    secrets: &'t Redactor,
    /// The variables that the server takes from the environment, with their values.
    variables: &'t [(String, String)],
}

impl Texts<'_> {
    fn is_secret(&self, text: &str) -> bool {
        self.secrets.text(text) != text
    }

    /// A text that means in a suite file what was sent; nothing when no variable holds what is secret in it.
    fn sent(&self, text: &str) -> Option<String> {
        let mut result = String::with_capacity(text.len());
        let mut rest = text;
        loop {
            let held = self.variables.iter().filter(|(_, value)| self.is_secret(value));
            let places = held.filter_map(|(name, value)| Some((rest.find(value)?, name, value)));
            let first = places.min_by_key(|(at, _, value)| (*at, Reverse(value.len())));
            let before = &rest[..first.map_or(rest.len(), |(at, ..)| at)];
            if self.is_secret(before) {
                return None;
            }
            let Some((at, name, value)) = first else {
                result.push_str(&escaped(before));
                return Some(result);
            };
            // A dollar sign before a reference would change it.
            result.push_str(&with_doubled_dollars(&literal_text(before, &[]), |count, after| {
                after.is_empty() || convert::has_meaning(count, after)
            }));
            result.extend([SECRET, name, "}"]);
            rest = &rest[at + value.len()..];
        }
    }

    /// A value that means in a suite file what was sent.
    fn sent_value(&self, value: &Value) -> Option<Value> {
        match value {
            Value::String(text) => self.sent(text).map(Value::String),
            Value::Array(items) => items.iter().map(|item| self.sent_value(item)).collect(),
            Value::Object(map) => {
                let entries = map.iter().map(|(key, value)| {
                    // Nothing is replaced in keys.
                    (!self.is_secret(key)).then(|| Some((key.clone(), self.sent_value(value)?)))?
                });
                entries.collect::<Option<Map<_, _>>>().map(Value::Object)
            }
            Value::Number(number) => (!self.is_secret(&number.to_string())).then(|| value.clone()),
            Value::Null | Value::Bool(_) => Some(value.clone()),
        }
    }

    /// The text of an answer that a client gave, masked where nothing else can be done.
    fn answer(&self, text: &str) -> String {
        self.sent(text).unwrap_or_else(|| escaped(&self.secrets.text(text)))
    }
}

fn server(recorded: &Recorded, written: &Target, texts: &Texts<'_>) -> Value {
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
        Target::Mock { manifest, virtual_time: _, keep_state: _ } => {
            server.insert("mock".to_owned(), json!(manifest));
        }
        Target::Cassette { path } => {
            server.insert("cassette".to_owned(), json!(path));
        }
    }
    if recorded.modern {
        server.insert("protocol".to_owned(), json!("modern"));
    }
    let client = client(&recorded.client, texts);
    if !client.is_empty() {
        server.insert("client_capabilities".to_owned(), Value::Object(client));
    }
    Value::Object(server)
}

fn client(client: &ClientCapabilities, texts: &Texts<'_>) -> Map<String, Value> {
    let mut map = Map::new();
    if let Some(roots) = &client.roots {
        map.insert("roots".to_owned(), roots.iter().map(|root| texts.answer(root)).collect());
    }
    if !client.sampling.is_empty() {
        let reply = |reply: &SamplingReply| {
            let SamplingReply { text, model, stop_reason } = reply;
            let [text, model, stop_reason] = [text, model, stop_reason].map(|text| texts.answer(text));
            json!({"text": text, "model": model, "stop_reason": stop_reason})
        };
        map.insert("sampling".to_owned(), client.sampling.iter().map(reply).collect());
    }
    let answers =
        client.elicitation.iter().chain(&client.further_elicitations).map(|elicitation| match elicitation.action {
            ElicitationAction::Accept => match texts.sent_value(&elicitation.content) {
                Some(content) => json!({"content": content}),
                None => json!({"action": "decline"}),
            },
            ElicitationAction::Decline => json!({"action": "decline"}),
            ElicitationAction::Cancel => json!({"action": "cancel"}),
        });
    match answers.collect::<Vec<_>>().as_slice() {
        [] => {}
        [one] => drop(map.insert("elicitation".to_owned(), one.clone())),
        many => drop(map.insert("elicitation".to_owned(), many.into())),
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
        assert!(text.starts_with(&(editor_line("suite") + expected)), "{text}");
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

    /// Writes the suite of a server with a variable, and reads it again.
    fn read_back(value: &str, calls: Vec<RecordedCall>) -> (String, Value) {
        let target = Target::Stdio {
            command: "run".to_owned(),
            args: Vec::new(),
            env: vec![("MODE".to_owned(), value.to_owned())],
            cwd: None,
            docker: None,
        };
        let server = ServerSpec { target, ..ServerSpec::default() };
        let secrets = Redactor::new([value, "unnamed-one"]);
        let (text, _) = suite_of(&Recorded { server, calls, secrets, ..Recorded::default() });
        let (documents, findings) = yaml::parse(&mcprove_model::SourceFile::new("s.yaml", text.as_str()));
        assert!(findings.is_empty(), "{findings:?}\n{text}");
        let suite = documents[0].to_json();
        (text, suite)
    }

    #[test]
    fn requests_that_are_not_recorded_are_named() {
        let other_requests = BTreeMap::from([("prompts/get".to_owned(), 1), ("resources/read".to_owned(), 2)]);
        let calls = vec![call("echo", json!({}), Some(Ok(said("hi"))))];
        let (text, _) = suite_of(&Recorded { calls, other_requests, ..Recorded::default() });
        let line = "# Left out, because only calls of tools become tests: prompts/get, resources/read (2 times).\n";
        assert!(text.contains(line), "{text}");
    }

    #[test]
    fn a_secret_that_is_a_key_of_suites_breaks_nothing() {
        for word in ["server", "servers", "assert", "expect", "not_error", "per_file", "contains"] {
            let (text, suite) = read_back(word, vec![call("echo", json!({"text": "hi"}), Some(Ok(said("hi"))))]);
            assert_eq!(suite["servers"]["server"]["env"]["MODE"], "${MODE}", "{text}");
            assert_eq!(suite["assert"][0]["expect"], json!({"not_error": true, "contains": ["hi"]}), "{text}");
        }
    }

    #[test]
    fn what_is_sent_names_variables_and_what_comes_back_with_secrets_is_not_asked_for() {
        let calls = vec![
            call(
                "whoami",
                json!({"who": "hunter22 is: #me", "$": "${x}$hunter22"}),
                Some(Ok(said("hunter22 is: you"))),
            ),
            call("hunter22s", json!({}), Some(Ok(said("fine")))),
            call("whoami", json!({"who": "unnamed-one"}), Some(Ok(said("fine")))),
            call("whoami", json!({"hunter22": 1}), Some(Ok(said("fine")))),
        ];
        let (text, suite) = read_back("hunter22", calls);
        assert!(!text.contains("hunter22") && !text.contains("unnamed-one"), "{text}");
        let left_out = "# Left out, because secrets that no variable holds were sent: whoami, whoami.\n";
        assert!(text.contains(left_out), "{text}");
        let expected = json!([
            {
                "name": "whoami {\"who\":\"*** is: #me\",\"$\":\"$${x}$***\"}",
                "server": "server",
                "tool": "whoami",
                "args": {"who": "${secret:MODE} is: #me", "$": "$${x}$$${secret:MODE}"},
                "expect": {"not_error": true, "not_empty": true},
            },
            {
                "name": "***s",
                "server": "server",
                "tool": "${secret:MODE}s",
                "expect": {"not_error": true, "contains": ["fine"]},
            },
        ]);
        assert_eq!(suite["assert"], expected, "{text}");
    }
}
