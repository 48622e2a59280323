//! Answers to a server that asks its client: from a file, or from the person at the terminal.

use std::fmt::Write as _;
use std::path::Path;

use mcprove_model::{ClientCapabilities, ElicitationAction, ElicitationReply, SamplingReply, SourceFile};
use mcprove_report::escape_terminal_line;
use mcprove_suite::answers;
use mcprove_suite::load::bounded_read;
use mcprove_wire::Question;
use serde_json::{Map, Value, json};

use super::arguments::{scalar, types_of};
use super::user_prompt::ask_line;
use crate::context::Context;
use crate::failure::Failure;

/// The code of a request that the user refused.
const REFUSED: i64 = -1;

/// The answers that the client gives, and those that were given.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// The answers that are offered to the server from the start.
    pub(crate) client: ClientCapabilities,
    /// The answers that a person gave, as a test would give them.
    given: ClientCapabilities,
}

impl Answers {
    /// Answers from a file; a person answers what the file does not, where there is a terminal.
    pub(crate) fn new(file: Option<&Path>) -> Result<Self, Failure> {
        let mut client = match file {
            Some(path) => read(path)?,
            None => ClientCapabilities::default(),
        };
        client.by_hand = Context::can_ask();
        Ok(Self { client, given: ClientCapabilities::default() })
    }

    /// The answers that make the same conversation happen again without a person.
    pub(crate) fn replay(&self) -> ClientCapabilities {
        let mut client = self.client.clone();
        client.by_hand = false;
        client.sampling.extend(self.given.sampling.iter().cloned());
        client.elicitation = client.elicitation.or_else(|| self.given.elicitation.clone());
        client
    }

    /// Answers a question by asking the person at the terminal.
    pub(crate) async fn answer(&mut self, question: &Question) -> Result<Value, (i64, String)> {
        match question.method.as_str() {
            "elicitation/create" => Ok(self.elicit(&question.params).await),
            "sampling/createMessage" => self.sample(&question.params).await,
            "roots/list" => Ok(json!({"roots": []})),
            other => Err((REFUSED, format!("`{other}` cannot be answered here"))),
        }
    }

    async fn elicit(&mut self, params: &Value) -> Value {
        let message = params.get("message").and_then(Value::as_str).unwrap_or_default();
        let mut text = format!("\nthe server asks: {}\n", escape_terminal_line(message));
        let is_link = params.get("mode").and_then(Value::as_str) == Some("url");
        if is_link {
            let url = params.get("url").and_then(Value::as_str).unwrap_or_default();
            let _ = writeln!(text, "  to be opened in a browser: {}", escape_terminal_line(url));
        }
        let action = choose(text).await;
        let mut content = Map::new();
        if action == ElicitationAction::Accept && !is_link {
            content = fill_in(params.get("requestedSchema").unwrap_or(&Value::Null)).await;
        }
        let content = Value::Object(content);
        self.given.elicitation = Some(ElicitationReply { action, content: content.clone(), url: is_link });
        match action {
            ElicitationAction::Accept if is_link => json!({"action": "accept"}),
            ElicitationAction::Accept => json!({"action": "accept", "content": content}),
            ElicitationAction::Decline => json!({"action": "decline"}),
            ElicitationAction::Cancel => json!({"action": "cancel"}),
        }
    }

    async fn sample(&mut self, params: &Value) -> Result<Value, (i64, String)> {
        let mut text = String::from("\nthe server asks a model:\n");
        if let Some(system) = params.get("systemPrompt").and_then(Value::as_str) {
            let _ = writeln!(text, "  system: {}", escape_terminal_line(system));
        }
        for message in params.get("messages").and_then(Value::as_array).into_iter().flatten() {
            let role = message.get("role").and_then(Value::as_str).unwrap_or("?");
            let content = message.get("content").unwrap_or(&Value::Null);
            let said = content.get("text").and_then(Value::as_str).map_or_else(|| content.to_string(), str::to_owned);
            let _ = writeln!(text, "  {}: {}", escape_terminal_line(role), escape_terminal_line(&said));
        }
        text.push_str("your answer as the model (empty to refuse): ");
        let said = ask_line(&text).await.unwrap_or_default();
        if said.is_empty() {
            return Err((REFUSED, "the user refused the sampling request".to_owned()));
        }
        let reply = SamplingReply { text: said.clone(), model: "person".to_owned(), stop_reason: "endTurn".to_owned() };
        self.given.sampling.push(reply);
        Ok(json!({"role": "assistant", "content": {"type": "text", "text": said}, "model": "person",
                  "stopReason": "endTurn"}))
    }
}

/// Asks whether a form is filled in; what is no answer is asked for again.
async fn choose(mut question: String) -> ElicitationAction {
    question.push_str("accept, decline or cancel? [A/d/c] ");
    while let Some(choice) = ask_line(&question).await {
        match choice.trim().to_lowercase().as_str() {
            "" | "a" | "accept" | "y" | "yes" => return ElicitationAction::Accept,
            "d" | "decline" | "n" | "no" => return ElicitationAction::Decline,
            "c" | "cancel" => return ElicitationAction::Cancel,
            _ => "  type a to fill in the form, d to decline it, or c to cancel: ".clone_into(&mut question),
        }
    }
    ElicitationAction::Cancel
}

/// Asks for every field of a form; an empty line takes the default, or leaves the field out.
async fn fill_in(schema: &Value) -> Map<String, Value> {
    let mut filled = Map::new();
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, field) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let question = question(name, field, schema, required.contains(&name.as_str()));
        for _ in 0..3 {
            let Some(line) = ask_line(&question).await else { return filled };
            if line.is_empty() {
                if let Some(default) = field.get("default") {
                    filled.insert(name.clone(), default.clone());
                }
                break;
            }
            match scalar(name, &line, field, schema) {
                Ok(value) => {
                    filled.insert(name.clone(), value);
                    break;
                }
                Err(failure) => {
                    let line = format!("  {}\n", mcprove_model::escape_line(&failure.to_string()));
                    let _ = std::io::Write::write_all(&mut anstream::stderr(), line.as_bytes());
                }
            }
        }
    }
    filled
}

/// The values that a schema lists: `enum`, or alternatives that are constants.
fn choices(schema: &Value) -> Vec<&Value> {
    let list = |key: &str| schema.get(key).and_then(Value::as_array).into_iter().flatten();
    let constants = list("oneOf").chain(list("anyOf")).filter_map(|option| option.get("const"));
    list("enum").chain(constants).collect()
}

/// The line that asks for a value.
pub(super) fn question(name: &str, field: &Value, root: &Value, required: bool) -> String {
    let mut facts: Vec<String> = Vec::new();
    let types = types_of(field, root);
    if !types.is_empty() {
        facts.push(types.join(" or "));
    }
    for (words, schema) in [("one of", Some(field)), ("some of", field.get("items"))] {
        let values = schema.map(choices).unwrap_or_default();
        if !values.is_empty() {
            let names = values.iter().map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
            facts.push(format!("{words} {}", names.collect::<Vec<_>>().join(", ")));
        }
    }
    if let Some(default) = field.get("default") {
        facts.push(format!("default {default}"));
    } else if !required {
        facts.push("optional".to_owned());
    }
    let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join("; ")) };
    let told = field.get("description").and_then(Value::as_str).map(|text| format!("  {text}"));
    let line = format!("{name}{facts}");
    format!(
        "{}{}: ",
        escape_terminal_line(&line),
        told.as_deref().map(|text| escape_terminal_line(text).into_owned()).unwrap_or_default()
    )
}

fn read(path: &Path) -> Result<ClientCapabilities, Failure> {
    let text = bounded_read::read_written(path).map_err(|error| {
        Failure::new(format!("`{}` could not be read: {error}", path.display()), "give a YAML file with answers")
    })?;
    let (client, findings) = answers::parse(&SourceFile::new(path.to_string_lossy(), text));
    if findings.is_empty() { Ok(client) } else { Err(Failure::Suite(findings)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_list_the_choices() {
        let of = |field: Value| question("a", &field, &Value::Null, false);
        assert_eq!(of(json!({"type": "string", "enum": ["x", "y"]})), "a (string; one of x, y; optional): ");
        let titled = json!({"type": "string", "oneOf": [{"const": "x", "title": "X"}, {"const": "y"}], "default": "x"});
        assert_eq!(of(titled), "a (string; one of x, y; default \"x\"): ");
        let several = json!({"type": "array", "items": {"anyOf": [{"const": "x"}, {"const": 2}]}});
        assert_eq!(of(several), "a (array; some of x, 2; optional): ");
        assert_eq!(of(json!({"type": "array", "items": {"type": "string"}})), "a (array; optional): ");
    }
}
