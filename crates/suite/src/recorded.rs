//! Recorded calls → a suite file that repeats them and expects the same answers. Pure: calls in, text out.
//!
//! The suite must hold when it is run against the same server, so only what can be expected to come again is asked for:
//! the kind of answer always, its text only where nothing in it looks like a time, an id, a duration or a count. All
//! tests share one server and are in the order of the calls, so that each finds the state it found then.
//!
//! Secrets are taken out of values before they are written, so that the file stays readable. Values that are sent
//! name the variable that holds the secret; replies are not compared there.

mod requests;

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
use requests::Written;

pub use requests::{REPEATABLE, RecordedRequest};

/// The longest text that is asked for again.
const LONGEST: usize = 300;

/// Calls that were made of a server.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// The server.
    pub server: ServerSpec,
    /// The client's capabilities and answers.
    pub client: ClientCapabilities,
    /// True if the stateless revision was spoken.
    pub modern: bool,
    /// The calls, in order.
    pub calls: Vec<RecordedCall>,
    /// Reads of resources and requests for prompts, in order.
    pub requests: Vec<RecordedRequest>,
    /// The number of requests that no test can repeat, by method.
    pub other_requests: BTreeMap<String, usize>,
    /// Knows what must not be written down.
    pub secrets: Redactor,
}

impl Recorded {
    /// The requests that are not in the suite, such as `resources/read (2 times)`; empty when there are none.
    pub fn left_out(&self) -> String {
        let shown = |(method, count): (&String, &usize)| {
            let method = escape_line(&self.secrets.text(method)).into_owned();
            if *count == 1 { method } else { format!("{method} ({count} times)") }
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
    /// Duration of the call.
    pub elapsed_us: u64,
}

/// The text of a suite that makes the requests again.
#[derive(Clone, Debug)]
pub struct WrittenSuite {
    /// The file.
    pub text: String,
    /// The number of requests in it.
    pub requests: usize,
}

/// The suite of what was recorded.
pub fn suite_of(recorded: &Recorded) -> WrittenSuite {
    let written = WrittenServer::of(&recorded.server, FileKind::Suite, &[]);
    let texts = Texts { secrets: &recorded.secrets, variables: &written.variables };
    let mut names = HashMap::new();
    let mut left_out = LeftOut::default();
    let mut tests = Tests::default();
    let mut requests = recorded.requests.iter().peekable();
    for at in 0..=recorded.calls.len() {
        while let Some(request) = requests.next_if(|request| request.after_calls <= at) {
            match request.written(&texts, &mut names) {
                Ok(request) => tests.add(request),
                Err(why) => left_out.add(why, request.label()),
            }
        }
        let Some(call) = recorded.calls.get(at) else { break };
        let Some(expect) = expectation(call, &recorded.calls[..at], &texts) else {
            left_out.add("no final answer was recorded", call.tool.clone());
            continue;
        };
        match test(call, &expect, &texts, &mut names) {
            Some(test) => tests.call(test),
            None => left_out.add("secrets that no variable holds were sent", call.tool.clone()),
        }
    }
    let mut text = editor_line("suite");
    text.push_str("# Recorded by `mcprove intercept`: the requests of a client, in order, on one server.\n");
    for (why, names) in left_out.0 {
        // Names are the client's, so they are kept on one line.
        let names: Vec<_> = names.iter().map(|name| escape_line(&recorded.secrets.text(name)).into_owned()).collect();
        let _ = writeln!(text, "# Left out, because {why}: {}.", names.join(", "));
    }
    if !recorded.other_requests.is_empty() {
        let _ = writeln!(text, "# Left out, because no test repeats them: {}.", recorded.left_out());
    }
    if let Some(remark) = written.remark() {
        let _ = writeln!(text, "# {remark}");
    }
    let requests = tests.count;
    let mut suite = json!({
        "servers": {"server": server(recorded, &written.target, &texts)},
        "run_options": {"restart_policy": "per_file"},
    });
    for (key, list) in [("resources", tests.reads), ("assert", tests.calls), ("prompts", tests.prompts)] {
        if !list.is_empty() {
            suite[key] = Value::Array(list);
        }
    }
    text.push_str(&yaml::write(&Node::from_json(Span::default(), suite), 0));
    WrittenSuite { text, requests }
}

/// The requests that are not in the suite, by reason.
#[derive(Default)]
struct LeftOut(Vec<(&'static str, Vec<String>)>);

impl LeftOut {
    fn add(&mut self, why: &'static str, name: String) {
        match self.0.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) => names.push(name),
            None => self.0.push((why, vec![name])),
        }
    }
}

/// The tests of a suite.
#[derive(Default)]
struct Tests {
    /// Reads before the first call.
    reads: Vec<Value>,
    calls: Vec<Value>,
    prompts: Vec<Value>,
    count: usize,
}

impl Tests {
    fn call(&mut self, test: Value) {
        self.count += 1;
        self.calls.push(test);
    }

    fn add(&mut self, request: Written) {
        self.count += 1;
        match request {
            Written::Prompt(test) => self.prompts.push(test),
            Written::Read { uri, name, expect } => match self.calls.last_mut() {
                None => self.reads.push(json!({"name": name, "server": "server", "uri": uri, "expect": expect})),
                Some(call) => {
                    let step = json!({"read": uri, "expect": expect});
                    match call.get_mut("verify").and_then(Value::as_array_mut) {
                        Some(steps) => steps.push(step),
                        None => call["verify"] = json!([step]),
                    }
                }
            },
        }
    }
}

/// A name that no test has yet.
fn unique_name(base: String, names: &mut HashMap<String, usize>) -> String {
    let count = names.entry(base.clone()).or_insert(0);
    *count += 1;
    if *count == 1 { base } else { format!("{base} ({count})") }
}

/// The test that makes a call again; nothing when what it sends cannot be written.
fn test(call: &RecordedCall, expect: &Value, texts: &Texts<'_>, names: &mut HashMap<String, usize>) -> Option<Value> {
    let (tool, args) = (texts.sent(&call.tool)?, texts.sent_value(&call.args)?);
    let has_arguments = call.args.as_object().is_none_or(|args| !args.is_empty());
    let shown = texts.secrets.text(&call.args.to_string()).into_owned();
    let arguments = if has_arguments { format!(" {}", shorten(&shown, 60)) } else { String::new() };
    let name = unique_name(format!("{}{arguments}", texts.secrets.text(&call.tool)), names);
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

/// The final result of a call; for one without, the expectation that its error allows, if any.
fn final_result(outcome: Option<&Result<Value, Value>>) -> Result<&Value, Option<Value>> {
    match outcome {
        None => Err(None),
        Some(Err(error)) => {
            let code = error.get("code").and_then(Value::as_i64);
            Err(Some(json!({"protocol_error": code.map_or(Value::Bool(true), Value::from)})))
        }
        Some(Ok(result)) if result.get("resultType").is_some_and(|kind| kind != "complete") => Err(None),
        Some(Ok(result)) => Ok(result),
    }
}

/// The expectation that an answer to a call allows; `None` if it was not a final answer.
fn expectation(call: &RecordedCall, before: &[RecordedCall], texts: &Texts<'_>) -> Option<Value> {
    let result = match final_result(call.outcome.as_ref()) {
        Ok(result) => result,
        Err(expected) => return expected,
    };
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

/// True if a text can be expected again: what changes from run to run has digits in it that the caller did not give,
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
        Target::Remote { transport: _, url, headers } => {
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
mod tests;
