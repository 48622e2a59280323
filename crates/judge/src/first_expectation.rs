//! Expectations on a tool from a reply or two: everything that is stable, and nothing that changes.

use std::sync::LazyLock;

use mcprove_model::{Observation, Outcome};
use regex::Regex;
use serde_json::{Map, Value, json};

use crate::snapshot::{is_volatile, tells_the_time};
use crate::tool_effect::{ToolEffect, tool_effect};

/// Replies up to this length are expected word for word.
const WORD_FOR_WORD: usize = 1_500;
/// Maximum number of lines of a longer reply that are expected.
const LINES: usize = 5;
/// The longest line that is expected.
const LONGEST: usize = 200;
/// So many values of this machine in one reply, and none of it is expected anywhere else.
const OF_THE_MACHINE: usize = 3;

/// An `expect` block that holds for all of these replies to the same arguments, as far as can be determined. `machine`
/// are values that belong to this machine, such as those of its environment: they are expected nowhere.
pub fn first_expectation(arguments: &Value, replies: &[&Observation], machine: &[String]) -> Value {
    expectation(arguments, replies, machine, &[])
}

/// The same for a tool that was called once. Where it writes, the ids that it has made up are expected nowhere: the next
/// call makes up others.
pub fn first_expectation_of_call(tool: &Value, arguments: &Value, reply: &Observation, machine: &[String]) -> Value {
    let made = match tool_effect(tool, None) {
        ToolEffect::Writes { .. } | ToolEffect::LooksLikeWriting { .. } => made_ids(reply, arguments),
        ToolEffect::Reads | ToolEffect::Unclear => Vec::new(),
    };
    expectation(arguments, &[reply], machine, &made)
}

fn expectation(arguments: &Value, replies: &[&Observation], machine: &[String], made: &[String]) -> Value {
    let mut expect = Map::new();
    let mut put = |key: &str, value: Value| {
        expect.insert(key.to_owned(), value);
    };
    let Some((last, earlier)) = replies.split_last() else { return json!({"not_error": true}) };
    match &last.outcome {
        Outcome::Error(error) => put("protocol_error", json!(error.code)),
        Outcome::Result(_) if earlier.iter().any(|other| other.is_error != last.is_error) => {}
        Outcome::Result(_) if last.is_error => put("is_error", json!(true)),
        Outcome::Result(_)
        | Outcome::Malformed(_)
        | Outcome::Refused(_)
        | Outcome::TimedOut { .. }
        | Outcome::Closed { .. }
        | Outcome::Cancelled => put("not_error", json!(true)),
    }
    if !matches!(last.outcome, Outcome::Result(_)) || last.text.trim().is_empty() {
        return Value::Object(expect);
    }
    let is_same = replies.iter().all(|reply| reply.text == last.text);
    let of_machine = |line: &str| machine.iter().any(|value| line.contains(value.as_str()));
    let is_kept = |line: &str| {
        let shared = replies.iter().all(|reply| reply.text.lines().any(|other| other.trim() == line));
        let is_stable = !is_volatile(line) && !of_machine(line) && !made.iter().any(|id| has_word(line, id));
        shared && is_stable && is_writable(line)
    };
    let text = last.text.trim();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if is_same && text.len() <= WORD_FOR_WORD && lines.iter().all(|line| is_kept(line)) {
        put("equals", json!(text));
        return Value::Object(expect);
    }
    let is_elsewhere = machine.iter().filter(|value| text.contains(value.as_str())).count() >= OF_THE_MACHINE;
    let tells_time = replies.iter().any(|reply| tells_the_time(&reply.text));
    let echoed = texts_in(arguments);
    // Text next to a time may depend on it: the day of the week, an offset in summer. What was asked does not.
    let is_fit = |line: &str| !tells_time || echoed.iter().any(|text| line.contains(text.as_str()));
    let mut kept: Vec<&str> = Vec::new();
    for line in lines.iter().filter(|line| !is_elsewhere && line.len() <= LONGEST && is_kept(line) && is_fit(line)) {
        // A lone bracket says nothing.
        if kept.len() < LINES && !kept.contains(line) && line.chars().any(char::is_alphanumeric) {
            kept.push(line);
        }
    }
    if kept.is_empty() {
        put("not_empty", json!(true));
    } else {
        put("contains", json!(kept));
    }
    Value::Object(expect)
}

/// The ids in a reply that are not in the arguments: fields of JSON that are named like ids, and what follows `id` in a text.
fn made_ids(reply: &Observation, arguments: &Value) -> Vec<String> {
    let mut found = Vec::new();
    if let Ok(value) = serde_json::from_str::<Value>(reply.text.trim()) {
        ids_in(&value, false, &mut found);
    } else {
        let named = ID_IN_TEXT.iter().flat_map(|pattern| pattern.captures_iter(&reply.text));
        found.extend(named.filter_map(|captures| captures.get(1)).map(|id| id.as_str().to_owned()));
    }
    let mut given = Vec::new();
    ids_in(arguments, true, &mut given);
    found.retain(|id| !given.contains(id));
    found
}

static ID_IN_TEXT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?i)\bid\b[\s:=#`'"]*([\w-]*\d[\w-]*)"#).ok());

/// The scalars of fields that are named like ids; all scalars of a value that is one.
fn ids_in(value: &Value, is_id: bool, found: &mut Vec<String>) {
    match value {
        Value::String(text) if is_id && !text.is_empty() => found.push(text.clone()),
        Value::Number(number) if is_id => found.push(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| ids_in(item, is_id, found)),
        Value::Object(map) => map.iter().for_each(|(key, inner)| ids_in(inner, is_id || is_id_name(key), found)),
        Value::String(_) | Value::Number(_) | Value::Null | Value::Bool(_) => {}
    }
}

/// True for `id`, `taskId`, `task_ids` and their like.
fn is_id_name(key: &str) -> bool {
    let one = key.strip_suffix('s').unwrap_or(key);
    let whole = ["id", "Id", "ID", "uuid", "UUID"].contains(&one);
    whole || ["_id", "-id", "Id", "ID"].iter().any(|end| one.ends_with(end))
}

/// True if a line has this word, and not only as a part of a longer one.
fn has_word(line: &str, word: &str) -> bool {
    let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    line.match_indices(word)
        .any(|(at, _)| is_edge(line[..at].chars().next_back()) && is_edge(line[at + word.len()..].chars().next()))
}

/// True if a line means itself in an assertion file.
fn is_writable(line: &str) -> bool {
    !line.chars().any(|c| c.is_control() && c != '\t')
}

/// The texts of a value that are long enough to be known again.
fn texts_in(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) if text.len() >= 3 => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(texts_in).collect(),
        Value::Object(map) => map.values().flat_map(texts_in).collect(),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcprove_model::RpcError;

    fn reply(text: &str) -> Observation {
        Observation::of_tool_call(Outcome::Result(json!({"content": [{"type": "text", "text": text}]})))
    }

    fn of(texts: &[&str]) -> Value {
        let replies: Vec<_> = texts.iter().map(|text| reply(text)).collect();
        first_expectation(
            &json!({"zone": "Asia/Tokyo"}),
            &replies.iter().collect::<Vec<_>>(),
            &["/home/ada".to_owned()],
        )
    }

    #[test]
    fn what_stays_is_expected_and_what_changes_is_not() {
        assert_eq!(of(&["Echo: hi", "Echo: hi"]), json!({"not_error": true, "equals": "Echo: hi"}));
        assert_eq!(of(&["a\nrun 1\nb", "a\nrun 2\nb"]), json!({"not_error": true, "contains": ["a", "b"]}));
        assert_eq!(of(&["id f81d4fae-7dec-41d0-8765-00a0c91e6bf6"]), json!({"not_error": true, "not_empty": true}));
        assert_eq!(of(&["a\nin /home/ada/x"]), json!({"not_error": true, "contains": ["a"]}));
        assert_eq!(of(&["use {{name}}\nhere"]), json!({"not_error": true, "equals": "use {{name}}\nhere"}));
        assert_eq!(
            of(&["{\n  \"at\": \"2026-11-15T10:00:00Z\",\n  \"zone\": \"Asia/Tokyo\",\n  \"summer\": false\n}"]),
            json!({"not_error": true, "contains": ["\"zone\": \"Asia/Tokyo\","]})
        );
        assert_eq!(of(&["", ""]), json!({"not_error": true}));
    }

    #[test]
    fn ids_that_a_writing_tool_makes_up_are_not_expected() {
        let once = |tool: &str, text: &str| {
            first_expectation_of_call(&json!({"name": tool}), &json!({"list": "list-7"}), &reply(text), &[])
        };
        let planned = "{\n  \"status\": \"planned\",\n  \"taskId\": \"task-1\",\n  \"list_id\": \"list-7\",\n  \"note\": \"task-1 is new\",\n  \"count\": 2\n}";
        let kept = json!(["\"status\": \"planned\",", "\"list_id\": \"list-7\",", "\"count\": 2"]);
        assert_eq!(once("create_task", planned), json!({"not_error": true, "contains": kept}));
        assert_eq!(once("get_task", planned), json!({"not_error": true, "equals": planned}), "reading finds the same");
        assert_eq!(once("add_note", "Created the note with id 17."), json!({"not_error": true, "not_empty": true}));
        assert_eq!(once("add_note", "Created."), json!({"not_error": true, "equals": "Created."}));
    }

    #[test]
    fn errors_are_expected_as_what_they_are() {
        let error = Outcome::Error(RpcError { code: -32602, message: "no".to_owned(), data: None });
        let rejected = Observation::of_tool_call(error);
        assert_eq!(first_expectation(&json!({}), &[&rejected], &[]), json!({"protocol_error": -32602}));
        let failed = json!({"isError": true, "content": [{"type": "text", "text": "no such file"}]});
        let failed = Observation::of_tool_call(Outcome::Result(failed));
        let wanted = json!({"is_error": true, "equals": "no such file"});
        assert_eq!(first_expectation(&json!({}), &[&failed, &failed], &[]), wanted);
        let wanted = json!({"not_empty": true});
        assert_eq!(first_expectation(&json!({}), &[&reply("fine"), &failed], &[]), wanted, "it is not known which");
    }
}
