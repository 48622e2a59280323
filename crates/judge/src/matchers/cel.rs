//! `cel`: an expression of the Common Expression Language is true of the value.

use std::collections::HashMap;
use std::sync::Arc;

use cel::{Context, Program};
use mcprove_model::{Diagnostics, Mismatch, Node};
use serde_json::{Value, json};

use super::{Decoded, Matcher, MatcherKind, fails, holds, mismatch};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "cel",
    summary: "The expression is true; the value is `value`.",
    decode,
    schema: || json!({"type": "string", "minLength": 1}),
    examples: &[
        holds(r#""value.size() > 2""#, r#""abc""#),
        fails(r#""value.size() > 2""#, r#""a""#),
        holds(r#""value.total == 3 && value.ok""#, r#"{"total": 3, "ok": true}"#),
        fails(r#""value.total""#, r#"{"total": 3}"#),
        fails(r#""value.gone == 3""#, r#"{"total": 3}"#),
    ],
};

#[derive(Debug)]
struct Cel {
    text: String,
    program: Program,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Decoded {
    let text = found.text(node, "`cel`")?;
    match Program::compile(text) {
        Ok(program) => Some(Arc::new(Cel { text: text.to_owned(), program })),
        Err(errors) => {
            let message = format!("`cel` is not an expression: {errors}");
            found.error_with_help("bad-matcher", node.span, message, "write for example `value.size() > 0`");
            None
        }
    }
}

impl Matcher for Cel {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        let expected = format!("`{}` is true", self.text);
        let mut context = Context::default();
        context.add_variable_from_value("value", converted(value));
        match self.program.execute(&context) {
            Ok(cel::Value::Bool(true)) => Ok(()),
            Ok(cel::Value::Bool(false)) => Err(mismatch("does not fulfil the expression", expected, value)),
            Ok(_) => Err(mismatch("gives something other than true or false", expected, value)),
            Err(error) => Err(mismatch(format!("cannot be judged: {error}"), expected, value)),
        }
    }
}

/// A value as expressions see it: whole numbers are `int`, as the literals of the language are.
fn converted(value: &Value) -> cel::Value {
    match value {
        Value::Null => cel::Value::Null,
        Value::Bool(flag) => cel::Value::Bool(*flag),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => cel::Value::Int(whole),
            (None, Some(broken)) => cel::Value::Float(broken),
            (None, None) => cel::Value::Null,
        },
        Value::String(text) => cel::Value::from(text.clone()),
        Value::Array(items) => cel::Value::from(items.iter().map(converted).collect::<Vec<_>>()),
        Value::Object(map) => {
            let entries = map.iter().map(|(key, value)| (key.clone(), converted(value)));
            cel::Value::from(entries.collect::<HashMap<String, cel::Value>>())
        }
    }
}
