//! Projects and their tasks, without a bug: a project takes its tasks with it, and what is done is in no list.

use serde_json::{Value, json};

use crate::server::{Answer, reading, text, tool, writing};

struct Task {
    id: u64,
    project: u64,
    title: String,
    is_done: bool,
}

/// The projects of a server.
#[derive(Default)]
pub(crate) struct Projects {
    all: Vec<(u64, String)>,
    tasks: Vec<Task>,
    made: u64,
}

impl Projects {
    pub(crate) fn listed() -> Value {
        let destructive = json!({"readOnlyHint": false, "destructiveHint": true});
        let of_project = json!({"project_id": {"type": "integer"}});
        let of_task = json!({"task_id": {"type": "integer"}});
        json!([
            writing("create_project", &json!({"name": {"type": "string"}}), &["name"]),
            reading("get_project", &of_project, &["project_id"]),
            reading("list_projects", &json!({}), &[]),
            tool("delete_project", &of_project, &["project_id"], &destructive),
            writing(
                "add_task",
                &json!({"project_id": {"type": "integer"}, "title": {"type": "string"}}),
                &["project_id", "title"]
            ),
            reading("get_task", &of_task, &["task_id"]),
            reading("list_tasks", &json!({}), &[]),
            writing("complete_task", &of_task, &["task_id"]),
            tool("delete_task", &of_task, &["task_id"], &destructive),
        ])
    }

    pub(crate) fn call(&mut self, name: &str, args: &Value) -> Answer {
        let number = |name: &str| args[name].as_u64().ok_or_else(|| format!("`{name}` is not a number"));
        match name {
            "create_project" => {
                self.made += 1;
                self.all.push((self.made, text(args, "name")?.to_owned()));
                Ok(json!({"project_id": self.made, "name": args["name"]}))
            }
            "get_project" => {
                let id = number("project_id")?;
                let (_, name) = self.all.iter().find(|(known, _)| *known == id).ok_or("no such project")?;
                let tasks = self.tasks.iter().filter(|task| task.project == id && !task.is_done).count();
                Ok(json!({"project_id": id, "name": name, "open_tasks": tasks}))
            }
            "list_projects" => {
                let shown = self.all.iter().map(|(id, name)| json!({"project_id": id, "name": name}));
                Ok(json!({"projects": shown.collect::<Vec<_>>()}))
            }
            "delete_project" => {
                let id = number("project_id")?;
                let at = self.all.iter().position(|(known, _)| *known == id).ok_or("no such project")?;
                self.all.remove(at);
                self.tasks.retain(|task| task.project != id);
                Ok(json!({"message": format!("Project {id} and its tasks were deleted")}))
            }
            "add_task" => {
                let project = number("project_id")?;
                if !self.all.iter().any(|(known, _)| *known == project) {
                    return Err("no such project".to_owned());
                }
                self.made += 1;
                let task = Task { id: self.made, project, title: text(args, "title")?.to_owned(), is_done: false };
                let shown = shown(&task);
                self.tasks.push(task);
                Ok(shown)
            }
            "get_task" => {
                let id = number("task_id")?;
                self.tasks.iter().find(|task| task.id == id).map(shown).ok_or_else(|| "no such task".to_owned())
            }
            "list_tasks" => {
                let open: Vec<Value> = self.tasks.iter().filter(|task| !task.is_done).map(shown).collect();
                Ok(json!({"tasks": open}))
            }
            "complete_task" => {
                let id = number("task_id")?;
                let task = self.tasks.iter_mut().find(|task| task.id == id).ok_or("no such task")?;
                task.is_done = true;
                Ok(shown(task))
            }
            "delete_task" => {
                let id = number("task_id")?;
                let at = self.tasks.iter().position(|task| task.id == id).ok_or("no such task")?;
                self.tasks.remove(at);
                Ok(json!({"deleted": true}))
            }
            _ => Err(format!("unknown tool {name}")),
        }
    }
}

fn shown(task: &Task) -> Value {
    json!({"task_id": task.id, "project_id": task.project, "title": task.title, "done": task.is_done})
}
