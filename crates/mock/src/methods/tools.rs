//! `tools/call`: faults, checks, questions, progress, and then the answer.

use std::fmt::Write as _;
use std::time::Duration;

use mcprove_judge::argument_errors;
use mcprove_model::{Era, nearest};
use serde_json::{Value, json};

use super::Call;
use super::input::ClientAnswers;
use crate::fault::{Delay, HANG};
use crate::manifest::{Answer, ErrorAnswer, Tool};
use crate::placeholders::{fill, fill_text};
use crate::rpc::{Ended, INTERNAL_ERROR, Layer, Refusal};
use crate::session::Session;

/// The time a call may still take when its client has closed its side: what was piped in is answered, and nothing long is kept alive.
const GRACE: Duration = Duration::from_secs(1);

impl Call<'_> {
    pub(super) async fn call_tool(&self) -> Result<Value, Ended> {
        let name = self.text("name")?;
        meet_fault(self.session, name).await?;
        let tools = self.session.tools(self.manifest);
        let Some(tool) = tools.iter().find(|tool| tool.name == name) else {
            let mut message = format!("unknown tool `{name}` (at /name)");
            if let Some(near) = nearest(name, tools.iter().map(|tool| tool.name.as_str())) {
                let _ = write!(message, "; did you mean `{near}`?");
            }
            return Err(Refusal::params(message).into());
        };
        let arguments = self.object("arguments")?;
        check(tool, &arguments)?;
        if let Some(handler) = &self.session.mock.handler {
            let gone = async {
                self.session.closed().await;
                self.session.mock.clock.sleep(GRACE).await;
            };
            return tokio::select! {
                biased;
                answer = handler.call(name, arguments) => Ok(self.suited(answer)),
                () = gone => Err(Ended::Cut),
            };
        }
        let mut scope = json!({"args": arguments});
        let task = self.task_of(tool)?;
        let rounds = if task.is_some() { tool.rounds.clone() } else { tool.all_rounds() };
        match self.ask_client(&rounds, &mut scope).await? {
            ClientAnswers::All => {}
            ClientAnswers::Asks(result) => return Ok(result),
            ClientAnswers::Failed(why) => return Ok(failed(&why)),
        }
        if let Some(task) = task {
            return Ok(self.start_task(task, tool, scope)?);
        }
        self.work_on(tool, &scope).await?;
        self.answer(tool, &scope).map_err(Ended::from)
    }

    /// Side effects of a tool before it answers: log messages, progress, changes.
    async fn work_on(&self, tool: &Tool, scope: &Value) -> Result<(), Ended> {
        for line in &tool.logs {
            if self.caller.log_level.is_some_and(|wanted| line.level >= wanted) {
                let mut params = json!({"level": line.level.name(), "data": fill(&line.data, scope)});
                if let Some(logger) = &line.logger {
                    params["logger"] = json!(logger);
                }
                self.sink.notify("notifications/message", &params);
            }
        }
        let token =
            self.params().pointer("/_meta/progressToken").filter(|token| token.is_string() || token.is_number());
        let total = tool.progress.len();
        for (at, message) in tool.progress.iter().enumerate() {
            if !tool.step_time.is_zero() {
                self.session.pause(tool.step_time).await?;
            }
            let Some(token) = token else { continue };
            let mut params = json!({"progressToken": token, "progress": at + 1, "total": total});
            if let Some(message) = message {
                params["message"] = json!(fill_text(message, scope));
            }
            self.sink.notify("notifications/progress", &params);
        }
        for change in &tool.notifies {
            self.session.announce(change);
        }
        Ok(())
    }

    /// The answer of a tool.
    pub(super) fn answer(&self, tool: &Tool, scope: &Value) -> Result<Value, Refusal> {
        let (arm, answer) = tool.answers.choose(&scope["args"]);
        let answer = match answer {
            Answer::Sequence(_) => answer.at(self.session.give(&tool.name, arm)),
            Answer::Result(_) | Answer::Error(_) => answer,
        };
        match answer {
            Answer::Result(result) => Ok(self.suited(fill(result, scope))),
            Answer::Error(error) => error_of(error, scope),
            Answer::Sequence(_) => Err(Refusal::new(INTERNAL_ERROR, "a sequence has no answers")),
        }
    }

    /// A result as the revision allows it: up to 2025-11-25 structured content is an object.
    fn suited(&self, mut result: Value) -> Value {
        let is_object = result.get("structuredContent").is_none_or(Value::is_object);
        if self.caller.era() == Era::Legacy
            && !is_object
            && let Some(map) = result.as_object_mut()
        {
            map.shift_remove("structuredContent");
        }
        result
    }
}

/// Applies the fault of a call before anything else happens to it.
pub(super) async fn meet_fault(session: &Session, tool: &str) -> Result<(), Ended> {
    let delay = session.mock.faults.next_delay(tool);
    if let (Delay::Late(_) | Delay::Never, Some(fault)) = (delay, session.mock.faults.of(tool)) {
        session.mock.injector.note(tool, fault);
    }
    match delay {
        Delay::No => Ok(()),
        Delay::Late(delay) => session.pause(delay).await,
        Delay::Never => {
            session.pause(HANG).await?;
            let minutes = HANG.as_secs() / 60;
            let message = format!("hang sentinel: the mock gave this call up after {minutes} minutes");
            Err(Refusal::new(INTERNAL_ERROR, message).with(json!({"sentinel": "hang"})).into())
        }
    }
}

fn error_of(error: &ErrorAnswer, scope: &Value) -> Result<Value, Refusal> {
    let message = fill_text(&error.message, scope);
    let data = error.data.as_ref().map(|data| fill(data, scope));
    match (error.code, &error.content) {
        (Some(code), _) => Err(Refusal { code, message, data, layer: Layer::Content }),
        (None, Some(content)) => Ok(json!({"content": fill(content, scope), "isError": true})),
        (None, None) => Ok(failed(&message)),
    }
}

fn check(tool: &Tool, arguments: &Value) -> Result<(), Refusal> {
    match argument_errors(&tool.input_schema, arguments) {
        Ok(errors) if errors.is_empty() => Ok(()),
        Ok(errors) => {
            let message = format!("invalid arguments for `{}`: {}", tool.name, errors.join("; "));
            Err(Refusal::params(message))
        }
        Err(reason) => {
            let message = format!("the `inputSchema` of `{}` cannot be used: {reason}", tool.name);
            Err(Refusal::new(INTERNAL_ERROR, message))
        }
    }
}

/// A result that says that the tool failed.
pub(super) fn failed(why: &str) -> Value {
    json!({"content": [{"type": "text", "text": why}], "isError": true})
}
