//! Values that a suite rewrites before they are sent or judged.

use std::time::Duration;

use mcprove_judge::jq::Program;
use mcprove_model::{Act, Transform, TransformPhase};
use mcprove_wire::FilterCommand;
use serde_json::{Value, json};

use crate::conversation::Conversation;

/// Time a command may take.
const DEADLINE: Duration = Duration::from_secs(30);

/// True if a suite rewrites the reply of an act.
pub(crate) fn rewrites_reply(act: &Act) -> bool {
    let Act::CallTool(call) = act else { return false };
    call.transform.as_ref().is_some_and(|transform| transform.response.is_some())
}

/// The tool and arguments that are sent in the place of these.
pub(crate) async fn request(
    transform: &Transform,
    name: String,
    args: Value,
    talk: &Conversation<'_>,
) -> Result<(String, Value), String> {
    let Some(phase) = &transform.request else { return Ok((name, args)) };
    let params = json!({"name": name, "arguments": args});
    let mut rewritten = run(phase, "request", &params, &name, talk).await?;
    let (new_name, new_args) = (rewritten["name"].take(), rewritten["arguments"].take());
    match new_name {
        Value::String(name) => Ok((name, if new_args.is_null() { json!({}) } else { new_args })),
        _ => Err("`transform.request` must give an object with `name` and `arguments`".to_owned()),
    }
}

/// The result that is judged in the place of this one.
pub(crate) async fn response(
    transform: &Transform,
    result: &Value,
    name: &str,
    talk: &Conversation<'_>,
) -> Result<Value, String> {
    let Some(phase) = &transform.response else { return Ok(result.clone()) };
    let rewritten = run(phase, "response", &json!({"result": result}), name, talk).await?;
    match rewritten {
        Value::Object(mut map) => match map.shift_remove("result") {
            Some(result) => Ok(result),
            None => Err("`transform.response` must give an object with `result`".to_owned()),
        },
        _ => Err("`transform.response` must give an object with `result`".to_owned()),
    }
}

async fn run(
    phase: &TransformPhase,
    when: &str,
    value: &Value,
    tool: &str,
    talk: &Conversation<'_>,
) -> Result<Value, String> {
    let told = |reason: String| format!("`transform.{when}` failed: {reason}");
    match phase {
        TransformPhase::Jq(program) => Program::parse(program).and_then(|program| program.run(value)).map_err(told),
        TransformPhase::Command(words) => {
            let variables = [
                ("MCPTEST_TRANSFORM_PHASE", when.to_owned()),
                ("MCPTEST_TEST_NAME", talk.case.name.clone()),
                ("MCPTEST_SERVER", talk.name_of(None)),
                ("MCPTEST_TOOL", tool.to_owned()),
            ];
            let variables = variables.map(|(name, value)| (name.to_owned(), value));
            let filter = FilterCommand { words, variables: &variables, cwd: None, deadline: DEADLINE };
            let printed = filter.run(&value.to_string()).await.map_err(told)?;
            serde_json::from_str(&printed).map_err(|error| told(format!("it printed no JSON: {error}")))
        }
    }
}
