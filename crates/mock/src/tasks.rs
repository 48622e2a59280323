//! Calls that became tasks (the tasks extension of 2026-07-28).

use std::collections::BTreeMap;

use mcprove_model::utc_timestamp;
use serde_json::{Value, json};

/// The tasks of a session.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    by_id: BTreeMap<String, RunningTask>,
}

/// A call that became a task.
#[derive(Clone, Debug)]
pub(crate) struct RunningTask {
    pub(crate) id: String,
    /// The tool that was called.
    pub(crate) tool: String,
    /// The call, as placeholders see it.
    pub(crate) scope: Value,
    pub(crate) created_ms: u64,
    pub(crate) updated_ms: u64,
    pub(crate) ttl_ms: Option<u64>,
    pub(crate) poll_interval_ms: Option<u64>,
    /// Number of polls that still report "working".
    pub(crate) polls_left: u64,
    /// True if what it asks was asked.
    pub(crate) has_asked: bool,
    pub(crate) status: Status,
}

/// State of a task.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Status {
    Working,
    /// It waits for answers to these.
    InputRequired(Value),
    Completed(Value),
    Failed(Value),
    Cancelled,
}

impl Status {
    fn name(&self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired(_) => "input_required",
            Self::Completed(_) => "completed",
            Self::Failed(_) => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        match self {
            Self::Working | Self::InputRequired(_) => false,
            Self::Completed(_) | Self::Failed(_) | Self::Cancelled => true,
        }
    }
}

impl Tasks {
    pub(crate) fn knows(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    pub(crate) fn add(&mut self, task: RunningTask) {
        self.by_id.insert(task.id.clone(), task);
    }

    pub(crate) fn get(&mut self, id: &str) -> Option<&mut RunningTask> {
        self.by_id.get_mut(id)
    }
}

impl RunningTask {
    /// The handle as the client sees it.
    pub(crate) fn handle(&self) -> Value {
        let mut handle = json!({
            "taskId": self.id,
            "status": self.status.name(),
            "createdAt": utc_timestamp(self.created_ms),
            "lastUpdatedAt": utc_timestamp(self.updated_ms),
            "ttlMs": self.ttl_ms,
        });
        if let Some(interval) = self.poll_interval_ms {
            handle["pollIntervalMs"] = json!(interval);
        }
        handle
    }

    /// The full state of the task, with the fields of its status.
    pub(crate) fn detail(&self) -> Value {
        let mut detail = self.handle();
        match &self.status {
            Status::Working | Status::Cancelled => {}
            Status::InputRequired(requests) => detail["inputRequests"] = requests.clone(),
            Status::Completed(result) => detail["result"] = result.clone(),
            Status::Failed(error) => detail["error"] = error.clone(),
        }
        detail
    }
}
