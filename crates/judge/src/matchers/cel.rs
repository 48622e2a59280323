//! `cel`: an expression of the Common Expression Language is true of the value.

mod reading;
mod strict;

use std::collections::HashMap;
use std::sync::Arc;

use cel::{Context, IdedExpr, Program};
use mcprove_model::{Diagnostics, Mismatch, Node, StoredValues};
use serde_json::{Value, json};

use super::{Decoded, Matcher, MatcherKind, fails, holds, mismatch};
use crate::expressions::{self, Cost, DEEPEST, LONGEST, Language};
use crate::schema_budget::on_deep_stack;

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

/// The name of the value in expressions.
const VALUE: &str = "value";

#[derive(Debug)]
struct Cel {
    text: String,
    program: IdedExpr,
    cost: Cost,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Decoded {
    let text = found.text(node, "`cel`")?;
    let read = compile(text).map(|program| {
        // Not recursive beyond what `compile` allows.
        let reading = on_deep_stack(LONGEST, || reading::read(&program));
        (program, reading)
    });
    match read {
        Ok((program, reading)) => {
            for unknown in &reading.unknown {
                found.error_with_help("bad-matcher", node.span, unknown.message(), unknown.help());
            }
            let cel = Cel { text: text.to_owned(), program, cost: reading.cost };
            reading.unknown.is_empty().then(|| Arc::new(cel) as Arc<dyn Matcher>)
        }
        Err(reason) => {
            let message = format!("`cel` is not an expression: {reason}");
            found.error_with_help("bad-matcher", node.span, message, "write for example `value.size() > 0`");
            None
        }
    }
}

/// An expression that is not too deep to be judged on any stack.
pub(crate) fn compile(text: &str) -> Result<IdedExpr, String> {
    if text.len() > LONGEST {
        return Err(format!("it is longer than {LONGEST} bytes"));
    }
    on_deep_stack(text.len(), || compile_here(text))
}

/// The same on the stack of this thread.
pub(crate) fn compile_here(text: &str) -> Result<IdedExpr, String> {
    let mut program = Program::compile(text).map_err(|errors| errors.to_string())?.expression().clone();
    strict::with_errors(&mut program);
    if reading::read(&program).cost.depth > DEEPEST {
        return Err(format!("it is nested more than {DEEPEST} levels deep"));
    }
    Ok(program)
}

/// True if an expression does not look at the value, and is true.
pub fn is_true_of_everything(text: &str) -> bool {
    compile(text).is_ok_and(|program| {
        on_deep_stack(text.len(), || {
            let cost = reading::read(&program).cost;
            let is_constant = !program.references().has_variable(VALUE) && cost.loops == 0;
            is_constant && run_here(&program, &Value::Null) == Ok(Value::Bool(true))
        })
    })
}

/// The truth that an expression gives for a value; null if it is neither true nor false.
pub(crate) fn run_here(program: &IdedExpr, value: &Value) -> Result<Value, String> {
    let mut context = Context::default();
    context.add_variable_from_value(VALUE, converted(value));
    match context.resolve(program) {
        Ok(cel::Value::Bool(truth)) => Ok(Value::Bool(truth)),
        Ok(_) => Ok(Value::Null),
        Err(error) => Err(error.to_string()),
    }
}

impl Cel {
    /// The truth of a value; what is neither true nor false is an error.
    fn truth(&self, value: &Value) -> Result<bool, Mismatch> {
        let here = || run_here(&self.program, value);
        let message = match expressions::evaluate((Language::Cel, &self.text), self.cost, value, here) {
            Ok(Value::Bool(truth)) => return Ok(truth),
            Ok(_) => "gives something other than true or false".to_owned(),
            Err(error) => format!("cannot be judged: {error}"),
        };
        Err(mismatch(message, self.expected(), value))
    }

    fn expected(&self) -> String {
        format!("`{}` is true", self.text)
    }
}

impl Matcher for Cel {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        if self.truth(value)? {
            return Ok(());
        }
        Err(mismatch("does not fulfil the expression", self.expected(), value))
    }

    fn unjudged(&self, value: &Value, _stored: &StoredValues) -> Option<Mismatch> {
        self.truth(value).err()
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
