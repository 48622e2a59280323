//! Responses of a tool: `response`, or the first of `responses` that matches.

use mcprove_model::{Diagnostics, Node, ScalarStyle, Span};
use serde_json::{Map, Value, json};

use super::block::Block;
use crate::condition::{Condition, parse};

pub(super) const KEYS: &[&str] = &["when", "default", "result", "error", "sequence"];
pub(super) const ERROR_KEYS: &[&str] = &["code", "message", "data", "content"];

/// All answers of a tool.
#[derive(Clone, Debug)]
pub(crate) struct Answers {
    arms: Vec<Arm>,
    otherwise: Answer,
}

#[derive(Clone, Debug)]
struct Arm {
    when: Option<Condition>,
    is_default: bool,
    answer: Answer,
}

/// One answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    Result(Value),
    Error(ErrorAnswer),
    /// One after the other, call by call; the last one stays.
    Sequence(Vec<Answer>),
}

/// An answer that is an error: with a code it is one of the protocol, without it is one of the tool.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ErrorAnswer {
    pub(crate) code: Option<i64>,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
    pub(crate) content: Option<Value>,
}

impl Answers {
    /// A tool that always answers the same.
    pub(crate) fn only(answer: Answer) -> Self {
        Self { arms: Vec::new(), otherwise: answer }
    }

    /// The first answer whose condition holds, else the first default, else `response`; with the number of its arm.
    pub(crate) fn choose(&self, arguments: &Value) -> (usize, &Answer) {
        let fits = |arm: &Arm| !arm.is_default && arm.when.as_ref().is_none_or(|when| when.holds(arguments));
        let at = self.arms.iter().position(fits).or_else(|| self.arms.iter().position(|arm| arm.is_default));
        match at {
            Some(at) => (at, &self.arms[at].answer),
            None => (self.arms.len(), &self.otherwise),
        }
    }
}

impl Answer {
    /// The answer of the n-th call, from 0.
    pub(crate) fn at(&self, call: usize) -> &Self {
        match self {
            Self::Sequence(answers) => answers.get(call).or(answers.last()).unwrap_or(self),
            Self::Result(_) | Self::Error(_) => self,
        }
    }
}

pub(super) fn decode(block: &Block<'_>, tool: &str, found: &mut Diagnostics<'_>) -> Answers {
    let otherwise = match block.get("response") {
        Some(node) => result_of(node.to_json()),
        None => text_result(&format!("mock {tool}")),
    };
    let mut arms: Vec<Arm> = Vec::new();
    let mut always = None;
    for node in block.list("responses", found) {
        if let Some(line) = always {
            let message = format!("this answer is never given: the one on line {line} always fits");
            found.warning("unreachable-answer", node.span, message, Some("give that one a `when`".to_owned()));
        } else if node.as_map().is_some_and(|entries| !entries.is_empty())
            && node.get("when").is_none()
            && node.get("default").is_none()
        {
            always = Some(found.source().position(node.span.start).line);
        }
        arms.extend(arm(node, found));
    }
    Answers { arms, otherwise: Answer::Result(otherwise) }
}

fn arm(node: &Node, found: &mut Diagnostics<'_>) -> Option<Arm> {
    let block = Block::open(node, "an answer", KEYS, found)?;
    let is_default = block.flag("default", found);
    let when = block.get("when").and_then(|node| condition(node, found));
    if is_default && block.get("when").is_some() {
        let help = "remove `when`, or `default`";
        found.error_with_help("bad-answer", node.span, "an answer with a `when` is no default", help);
    }
    let bodies: Vec<&str> =
        ["result", "error", "sequence"].into_iter().filter(|key| block.get(key).is_some()).collect();
    let [body] = bodies[..] else {
        let message = match bodies.as_slice() {
            [] => "this answer says nothing".to_owned(),
            several => format!("this answer says {} at once", several.join(" and ")),
        };
        found.error_with_help("bad-answer", node.span, message, "give exactly one of `result`, `error`, `sequence`");
        return None;
    };
    let answer = match (body, block.get(body)?) {
        ("result", node) => Answer::Result(result_of(node.to_json())),
        ("error", node) => Answer::Error(error(node, found)?),
        (_, node) => sequence(node, found)?,
    };
    Some(Arm { when, is_default, answer })
}

/// Items are results; `{result: …}` and `{error: …}` are taken for what they say.
fn sequence(node: &Node, found: &mut Diagnostics<'_>) -> Option<Answer> {
    let mut answers = Vec::new();
    for node in found.list(node, "`sequence`") {
        let only = node.as_map().and_then(|entries| match entries {
            [entry] => Some((entry.key.text.as_str(), &entry.value)),
            _ => None,
        });
        answers.push(match only {
            Some(("error", node)) => Answer::Error(error(node, found)?),
            Some(("result", node)) => Answer::Result(result_of(node.to_json())),
            Some(_) | None => Answer::Result(result_of(node.to_json())),
        });
    }
    if answers.is_empty() {
        found.error_with_help("bad-answer", node.span, "`sequence` is empty", "give at least one result");
        return None;
    }
    Some(Answer::Sequence(answers))
}

fn error(node: &Node, found: &mut Diagnostics<'_>) -> Option<ErrorAnswer> {
    if let Some(text) = node.as_text() {
        return Some(ErrorAnswer { code: None, message: text.to_owned(), data: None, content: None });
    }
    let block = Block::open(node, "`error`", ERROR_KEYS, found)?;
    let code = match block.get("code") {
        None => None,
        Some(node) => {
            let code = node.as_number().and_then(serde_json::Number::as_i64);
            if code.is_none() {
                found.wrong_kind(node, "`code`", "a whole number");
            }
            Some(code?)
        }
    };
    let data = block.get("data").map(Node::to_json);
    let content = block.get("content").map(Node::to_json);
    let stray = match code {
        Some(_) => content.is_some().then_some(("content", "an error with a `code` is one of the protocol")),
        None => data.is_some().then_some(("data", "an error without a `code` is a result of the tool")),
    };
    if let Some((key, why)) = stray {
        let span = block.get(key).map_or(node.span, |node| node.span);
        let help = "give it a `code` and `data`, or `content` alone";
        found.error_with_help("bad-answer", span, format!("{why}: it has no `{key}`"), help);
    }
    let message = block.text("message", found).unwrap_or_else(|| "mock error".to_owned());
    Some(ErrorAnswer { code, message, data, content })
}

/// A condition; errors point inside the text where possible.
fn condition(node: &Node, found: &mut Diagnostics<'_>) -> Option<Condition> {
    let text = found.text(node, "`when`")?.to_owned();
    match parse(&text) {
        Ok(condition) => Some(condition),
        Err(mistake) => {
            let span = inside(node, &text, mistake.start, mistake.end, found);
            found.error_with_help("bad-condition", span, format!("`when`: {}", mistake.message), mistake.help);
            None
        }
    }
}

/// A part of a text in the file, if the file contains the text verbatim.
fn inside(node: &Node, text: &str, start: usize, end: usize, found: &Diagnostics<'_>) -> Span {
    let written = found.source().slice(node.span);
    let quoted = node.as_scalar().is_some_and(|scalar| scalar.style == ScalarStyle::Quoted);
    let begin = usize::from(quoted);
    if written.get(begin..begin + text.len()) != Some(text) {
        return node.span;
    }
    let from = node.span.start as usize + begin;
    Span::new(from + start, from + end.max(start))
}

/// A complete result from a response: a whole result, or its content as text or data.
pub(crate) fn result_of(value: Value) -> Value {
    match value {
        Value::Null => text_result(""),
        Value::String(text) => text_result(&text),
        Value::Object(map) if is_result(&map) => {
            let mut map = map;
            if !map.contains_key("content") {
                let text = map.get("structuredContent").map(Value::to_string);
                map.insert(
                    "content".to_owned(),
                    text.map_or(json!([]), |text| json!([{"type": "text", "text": text}])),
                );
            }
            Value::Object(map)
        }
        data @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            json!({"content": [{"type": "text", "text": data.to_string()}], "structuredContent": data})
        }
    }
}

fn is_result(map: &Map<String, Value>) -> bool {
    ["content", "structuredContent", "isError"].iter().any(|key| map.contains_key(*key))
}

/// A result that is one text.
pub(crate) fn text_result(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}
