//! The bugs, sorted by name.

use std::{env, fs, path::Path};

use serde_json::{Value, json};

/// A server with one bug.
pub(crate) struct Bug {
    pub(crate) name: &'static str,
    /// Its tools as JSON; the bug is in the first.
    pub(crate) tools: fn() -> Value,
    /// What the bug does to a call; nothing where it does not show.
    pub(crate) shows: fn(&mut State, &Value) -> Option<Effect>,
    /// What it does when two calls come together.
    pub(crate) company: Company,
}

/// What a server does with two calls that come together.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Company {
    /// It answers each.
    Fine,
    /// It gives each the answer of the other.
    MixesUp,
    /// It goes away.
    Breaks,
}

/// What a server remembers.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) calls: usize,
    pub(crate) had_empty: bool,
}

/// What a bug does.
pub(crate) enum Effect {
    /// The process ends.
    Exit(i32),
    /// The process aborts.
    Abort,
    /// Nothing comes any more.
    Hang,
    /// The call is answered, and then the process ends.
    AnswerAndExit,
    /// An error result with this text.
    Fail(String),
    /// A JSON-RPC error.
    Internal(&'static str),
    /// A result that is made of these.
    Result(Value),
}

pub(crate) const BUGS: &[Bug] = &[
    Bug { name: "busy", tools: || text_tool("queue"), shows: |_, _| None, company: Company::Breaks },
    Bug { name: "careful", tools: careful, shows: |_, _| None, company: Company::Fine },
    Bug {
        name: "depth",
        tools: || one("flatten", "data", &json!({"type": "object"})),
        shows: depth,
        company: Company::Fine,
    },
    Bug { name: "env", tools: || text_tool("configure"), shows: environment, company: Company::Fine },
    Bug { name: "exit-after-answer", tools: || text_tool("note"), shows: exit_after_answer, company: Company::Fine },
    Bug { name: "exit-on-150th", tools: || text_tool("count"), shows: exit_on_150th, company: Company::Fine },
    Bug { name: "exit-on-37th", tools: || text_tool("count"), shows: exit_on_37th, company: Company::Fine },
    Bug { name: "mixup", tools: || text_tool("echo"), shows: |_, _| None, company: Company::MixesUp },
    Bug { name: "null", tools: || text_tool("lookup"), shows: null, company: Company::Fine },
    Bug { name: "output", tools: output_tools, shows: output, company: Company::Fine },
    Bug {
        name: "overflow",
        tools: || one("grow", "size", &json!({"type": "integer"})),
        shows: overflow,
        company: Company::Fine,
    },
    Bug { name: "regex", tools: || text_tool("match"), shows: regex, company: Company::Fine },
    Bug { name: "sequence", tools: || text_tool("store"), shows: sequence, company: Company::Fine },
    Bug { name: "stack", tools: || text_tool("parse"), shows: stack, company: Company::Fine },
    Bug {
        name: "traversal",
        tools: || one("read", "path", &json!({"type": "string"})),
        shows: traversal,
        company: Company::Fine,
    },
    Bug { name: "unicode", tools: || text_tool("shout"), shows: unicode, company: Company::Fine },
];

/// A tool as there are many: one property that matters, and others that do not.
fn one(name: &str, property: &str, schema: &Value) -> Value {
    json!([{
        "name": name,
        "description": "A tool with a bug",
        "annotations": {"readOnlyHint": true},
        "inputSchema": {
            "type": "object",
            "properties": {
                property: schema,
                "kind": {"enum": ["one", "two"]},
                "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
                "tags": {"type": "array", "items": {"type": "string"}}
            },
            "required": [property]
        }
    }])
}

fn text_tool(name: &str) -> Value {
    one(name, "text", &json!({"type": "string"}))
}

fn text(arguments: &Value) -> &str {
    arguments["text"].as_str().unwrap_or_default()
}

fn null(_: &mut State, arguments: &Value) -> Option<Effect> {
    let is_null = arguments.get("text").is_some_and(Value::is_null);
    is_null.then(|| Effect::Fail("Cannot read properties of null (reading 'length')".to_owned()))
}

fn depth(_: &mut State, arguments: &Value) -> Option<Effect> {
    fn depth_of(value: &Value) -> usize {
        match value {
            Value::Array(items) => 1 + items.iter().map(depth_of).max().unwrap_or(0),
            Value::Object(map) => 1 + map.values().map(depth_of).max().unwrap_or(0),
            _ => 0,
        }
    }
    (depth_of(&arguments["data"]) >= 40).then_some(Effect::Abort)
}

/// As `^(a+)+$` does on a text that almost matches.
fn regex(_: &mut State, arguments: &Value) -> Option<Effect> {
    let text = text(arguments);
    let run = text.chars().take_while(|letter| *letter == 'a').count();
    (run >= 24 && run < text.chars().count()).then_some(Effect::Hang)
}

fn overflow(_: &mut State, arguments: &Value) -> Option<Effect> {
    let size = arguments["size"].as_i64()?;
    (size > i64::from(i32::MAX)).then_some(Effect::Internal("attempt to add with overflow"))
}

fn traversal(_: &mut State, arguments: &Value) -> Option<Effect> {
    let path = arguments["path"].as_str()?;
    if path.starts_with('/') {
        return None;
    }
    let content = fs::read_to_string(Path::new("/usr").join(path)).ok()?;
    Some(Effect::Result(json!({"content": [{"type": "text", "text": content}]})))
}

fn unicode(_: &mut State, arguments: &Value) -> Option<Effect> {
    (!text(arguments).is_ascii()).then_some(Effect::Hang)
}

fn exit_on_37th(state: &mut State, _: &Value) -> Option<Effect> {
    (state.calls == 37).then_some(Effect::Exit(3))
}

fn exit_on_150th(state: &mut State, _: &Value) -> Option<Effect> {
    (state.calls == 150).then_some(Effect::Exit(3))
}

fn exit_after_answer(_: &mut State, arguments: &Value) -> Option<Effect> {
    text(arguments).contains('\0').then_some(Effect::AnswerAndExit)
}

fn sequence(state: &mut State, arguments: &Value) -> Option<Effect> {
    let had_empty = state.had_empty;
    state.had_empty |= arguments["text"] == "";
    (had_empty && text(arguments).len() > 1000).then_some(Effect::Exit(4))
}

fn stack(_: &mut State, arguments: &Value) -> Option<Effect> {
    let trace = "Traceback (most recent call last):\n  File \"/srv/app/tool.py\", line 12, in parse\n    \
                 text[0]\nIndexError: string index out of range";
    (arguments["text"] == "").then(|| Effect::Fail(trace.to_owned()))
}

fn environment(_: &mut State, arguments: &Value) -> Option<Effect> {
    let value = env::var("BUGGY_TOKEN").unwrap_or_default();
    arguments["text"]
        .as_str()
        .is_some_and(|text| text.trim().is_empty())
        .then(|| Effect::Fail(format!("no such profile for {value}")))
}

fn output_tools() -> Value {
    let mut tools = one("halve", "n", &json!({"type": "integer"}));
    tools[0]["outputSchema"] = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    tools
}

fn output(_: &mut State, arguments: &Value) -> Option<Effect> {
    let n = arguments["n"].as_i64()?;
    let half = if n < 0 { json!("negative") } else { json!(n / 2) };
    Some(Effect::Result(json!({"content": [], "structuredContent": {"n": half}})))
}

/// Tools of every shape, without a bug.
fn careful() -> Value {
    json!([
        {
            "name": "search",
            "description": "Finds notes",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "query": {"type": "string", "minLength": 1, "maxLength": 200},
                    "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
                    "order": {"enum": ["newest", "oldest", "best"]},
                    "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}, "maxItems": 5, "uniqueItems": true}
                },
                "required": ["query"],
                "additionalProperties": false
            }
        },
        {
            "name": "add",
            "description": "Adds numbers",
            "inputSchema": {
                "type": "object",
                "properties": {"a": {"type": "number", "minimum": -1e9, "maximum": 1e9}, "b": {"type": "number", "multipleOf": 0.5}},
                "required": ["a", "b"]
            }
        },
        {
            "name": "save",
            "description": "Keeps a record",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "id": {"type": "string", "format": "uuid"},
                    "record": {
                        "type": "object",
                        "properties": {
                            "name": {"type": "string"},
                            "address": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
                            "flags": {"type": "array", "items": {"type": "boolean"}}
                        },
                        "required": ["name"]
                    },
                    "when": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}
                },
                "required": ["id", "record"]
            },
            "outputSchema": {"type": "object", "properties": {"saved": {"type": "boolean"}}, "required": ["saved"]}
        },
        {"name": "status", "description": "Says how it is", "inputSchema": {"type": "object"}},
        {
            "name": "toggle",
            "description": "Switches something on or off",
            "inputSchema": {
                "type": "object",
                "properties": {"on": {"type": "boolean"}, "path": {"type": "string"}},
                "required": ["on"],
                "dependentRequired": {"path": ["on"]}
            }
        }
    ])
}
