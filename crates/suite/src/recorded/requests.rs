//! Recorded requests other than calls of tools: `resources/read` and `prompts/get`.
//!
//! A test of a suite reads a resource in the state in which it was read then: before the first call, or as a `verify` step
//! of the call that came before it. Prompts do not depend on calls and come last.

use mcprove_model::{escape_line, shorten, text_of_contents, text_of_prompt};
use serde_json::{Map, Value, json};

use super::{LONGEST, Texts, escaped, final_result, lasts, unique_name};
use crate::convert;
use std::collections::HashMap;

/// A request that was made, other than the call of a tool.
#[derive(Clone, Debug)]
pub struct RecordedRequest {
    /// `resources/read` or `prompts/get`.
    pub method: String,
    /// Its parameters.
    pub params: Value,
    /// Its result or its error; nothing when it was never answered.
    pub outcome: Option<Result<Value, Value>>,
    /// The number of calls of tools made before it.
    pub after_calls: usize,
}

/// The methods that become tests.
pub const REPEATABLE: &[&str] = &["prompts/get", "resources/read"];

/// Form of a request in a suite.
pub(super) enum Written {
    /// A `verify` step of a call, or a test of `resources`.
    Read { uri: String, name: String, expect: Value },
    /// A test of `prompts`.
    Prompt(Value),
}

impl RecordedRequest {
    /// The name or URI that was asked for.
    fn subject(&self) -> Option<&str> {
        let key = if self.method == "prompts/get" { "name" } else { "uri" };
        self.params.get(key)?.as_str()
    }

    /// The request for people, such as `prompts/get review`.
    pub(super) fn label(&self) -> String {
        let subject = self.subject().unwrap_or_default();
        escape_line(&format!("{} {}", self.method, shorten(subject, 60))).into_owned()
    }

    /// The request in a suite, or the reason why it is left out.
    pub(super) fn written(
        &self,
        texts: &Texts<'_>,
        names: &mut HashMap<String, usize>,
    ) -> Result<Written, &'static str> {
        let expect = self.expectation(texts).ok_or("no final answer was recorded")?;
        let unnamed = "secrets that no variable holds were sent";
        let subject = self.subject().and_then(|subject| texts.sent(subject)).ok_or(unnamed)?;
        let shown = texts.secrets.text(self.subject().unwrap_or_default()).into_owned();
        if self.method == "resources/read" {
            let name = convert::escaped(&unique_name(format!("read {shown}"), names));
            return Ok(Written::Read { uri: subject, name, expect });
        }
        let arguments = self.params.get("arguments").filter(|arguments| !arguments.is_null());
        let has_arguments = arguments.and_then(Value::as_object).is_some_and(|arguments| !arguments.is_empty());
        let mut test = Map::new();
        let name = convert::escaped(&unique_name(format!("prompt {shown}"), names));
        test.insert("name".to_owned(), Value::String(name));
        test.insert("server".to_owned(), json!("server"));
        test.insert("prompt".to_owned(), Value::String(subject));
        if let Some(arguments) = arguments.filter(|_| has_arguments) {
            test.insert("args".to_owned(), texts.sent_value(arguments).ok_or(unnamed)?);
        }
        test.insert("expect".to_owned(), expect);
        Ok(Written::Prompt(Value::Object(test)))
    }

    /// The checks that an answer allows; `None` if it was not a final answer.
    fn expectation(&self, texts: &Texts<'_>) -> Option<Value> {
        let result = match final_result(self.outcome.as_ref()) {
            Ok(result) => result,
            Err(expected) => return expected,
        };
        let (key, text) = if self.method == "prompts/get" {
            ("messages", text_of_prompt(result))
        } else {
            ("contents", text_of_contents(result))
        };
        let is_one = result.get(key).and_then(Value::as_array).is_some_and(|items| items.len() == 1);
        let mut expect = Map::new();
        expect.insert("not_error".to_owned(), Value::Bool(true));
        if text.trim().is_empty() {
            return Some(Value::Object(expect));
        }
        let is_repeatable = is_one && text.len() <= LONGEST && !texts.is_secret(&text) && lasts(&text, &self.params);
        if is_repeatable {
            expect.insert("contains".to_owned(), json!([escaped(&text)]));
        } else {
            expect.insert("not_empty".to_owned(), Value::Bool(true));
        }
        Some(Value::Object(expect))
    }
}
