//! Text of a reply that only repeats the arguments that were sent.

use std::cell::OnceCell;

use serde_json::Value;

/// The strings of the arguments, gathered on demand: most replies hold nothing that needs them.
#[derive(Debug)]
pub(crate) struct Echo<'v> {
    arguments: &'v Value,
    sent: OnceCell<String>,
}

impl<'v> Echo<'v> {
    pub(crate) fn of(arguments: &'v Value) -> Self {
        Self { arguments, sent: OnceCell::new() }
    }

    fn sent(&self) -> String {
        let mut sent = String::new();
        let mut open = vec![self.arguments];
        while let Some(value) = open.pop() {
            match value {
                Value::String(text) => {
                    sent.push_str(text);
                    sent.push('\n');
                }
                Value::Array(items) => open.extend(items),
                Value::Object(map) => {
                    for (key, value) in map {
                        sent.push_str(key);
                        sent.push('\n');
                        open.push(value);
                    }
                }
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
        sent
    }

    /// True if a text was sent in the first place.
    pub(crate) fn repeats(&self, text: &str) -> bool {
        let text = text.trim();
        !text.is_empty() && self.sent.get_or_init(|| self.sent()).contains(text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_sent_is_known() {
        let arguments = json!({"a": ["one two"], "key": {"b": 3}});
        let echo = Echo::of(&arguments);
        assert!(echo.repeats("two") && echo.repeats(" key "));
        assert!(!echo.repeats("three") && !echo.repeats(""));
    }
}
