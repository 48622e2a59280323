//! Tasks: a call that is answered later, and how a client gets at its answer.

use mcprove_model::Era;
use serde_json::{Value, json};

use super::Call;
use super::input::{is_fit, keep, requests};
use crate::era::TASKS_EXTENSION;
use crate::manifest::{Task, Tool};
use crate::rpc::{MISSING_CAPABILITY, Refusal};
use crate::tasks::{RunningTask, Status};

impl Call<'_> {
    /// The task settings of a call that becomes a task: the tool wants it and the client supports it.
    pub(super) fn task_of<'t>(&self, tool: &'t Tool) -> Result<Option<&'t Task>, Refusal> {
        match &tool.task {
            Some(task) if self.caller.era() == Era::Modern => match (self.caller.declares_tasks(), task.required) {
                (true, _) => Ok(Some(task)),
                (false, true) => Err(missing_extension()),
                (false, false) => Ok(None),
            },
            Some(_) | None => Ok(None),
        }
    }

    /// Makes a task of a call.
    pub(super) fn start_task(&self, spec: &Task, tool: &Tool, scope: Value) -> Result<Value, Refusal> {
        self.require(&tool.asks)?;
        let now = self.session.mock.clock.unix_ms();
        let task = RunningTask {
            id: self.session.mock.fresh_id(),
            tool: tool.name.clone(),
            scope,
            created_ms: now,
            updated_ms: now,
            ttl_ms: spec.ttl_ms,
            poll_interval_ms: spec.poll_interval_ms,
            polls_left: spec.poll_count,
            has_asked: tool.asks.is_empty(),
            status: Status::Working,
        };
        let mut handle = task.handle();
        handle["resultType"] = json!("task");
        self.session.state().tasks.add(task);
        Ok(handle)
    }

    pub(super) fn get_task(&self) -> Result<Value, Refusal> {
        let task = self.task()?;
        let task = if task.status == Status::Working { self.go_on(task) } else { task };
        Ok(task.detail())
    }

    pub(super) fn update_task(&self) -> Result<Value, Refusal> {
        let mut task = self.task()?;
        let answers = self.object("inputResponses")?;
        let asks = self.tool_of(&task).map(|tool| tool.asks.as_slice()).unwrap_or_default();
        let Status::InputRequired(open) = &task.status else { return Ok(json!({})) };
        let mut open = open.clone();
        for ask in asks {
            if let Some(answer) = answers.get(&ask.key).filter(|answer| is_fit(ask, answer)) {
                keep(&mut task.scope, ask, answer.clone());
                if let Some(open) = open.as_object_mut() {
                    open.shift_remove(&ask.key);
                }
            }
        }
        task.status = if open.as_object().is_none_or(serde_json::Map::is_empty) {
            Status::Working
        } else {
            Status::InputRequired(open)
        };
        self.put(task);
        Ok(json!({}))
    }

    pub(super) fn cancel_task(&self) -> Result<Value, Refusal> {
        let mut task = self.task()?;
        if !task.status.is_over() {
            task.status = Status::Cancelled;
            self.put(task);
        }
        Ok(json!({}))
    }

    /// A task that works goes on a step with every look at it.
    fn go_on(&self, mut task: RunningTask) -> RunningTask {
        let tool = self.tool_of(&task);
        if let Some(tool) = tool.filter(|_| !task.has_asked) {
            task.has_asked = true;
            task.status = Status::InputRequired(requests(&tool.asks, &task.scope));
        } else if task.polls_left > 0 {
            task.polls_left -= 1;
            return self.put(task);
        } else {
            task.status = match tool {
                Some(tool) => match self.answer(tool, &task.scope) {
                    Ok(mut result) => {
                        result["resultType"] = json!("complete");
                        Status::Completed(result)
                    }
                    Err(refusal) => Status::Failed(refusal.error()),
                },
                None => Status::Failed(Refusal::params(format!("the tool `{}` is gone", task.tool)).error()),
            };
        }
        self.put(task)
    }

    fn tool_of(&self, task: &RunningTask) -> Option<&Tool> {
        self.session.tools(self.manifest).iter().find(|tool| tool.name == task.tool)
    }

    /// The task a request names.
    fn task(&self) -> Result<RunningTask, Refusal> {
        if !self.caller.declares_tasks() {
            return Err(missing_extension());
        }
        let id = self.text("taskId")?;
        let task = self.session.state().tasks.get(id).cloned();
        task.ok_or_else(|| Refusal::params(format!("unknown task `{id}` (at /taskId)")))
    }

    /// Stores a task that has changed, and notifies its listeners.
    fn put(&self, mut task: RunningTask) -> RunningTask {
        task.updated_ms = self.session.mock.clock.unix_ms();
        let mut state = self.session.state();
        let before = state.tasks.get(&task.id).map(|before| before.status.clone());
        state.tasks.add(task.clone());
        if before.as_ref() != Some(&task.status) {
            for listener in state.listeners.iter().filter(|listener| listener.wants.tasks.contains(&task.id)) {
                listener.tell("notifications/tasks", &task.detail());
            }
        }
        task
    }
}

fn missing_extension() -> Refusal {
    Refusal::new(MISSING_CAPABILITY, format!("this needs a client that declares the extension `{TASKS_EXTENSION}`"))
        .with(json!({"requiredCapabilities": {"extensions": {TASKS_EXTENSION: {}}}}))
}
