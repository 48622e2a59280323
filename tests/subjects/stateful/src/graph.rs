//! Tools that take lists: entities by name, and tasks whose keys the server makes up.

use serde_json::{Value, json};

use crate::server::{Answer, reading, text, tool, writing};

struct Entity {
    name: String,
    kind: String,
    observations: Value,
}

/// The entities and the tasks of a server.
pub(crate) struct Graph {
    bug: &'static str,
    entities: Vec<Entity>,
    /// Entities by name, as a server finds them that looks into an index.
    opened: Vec<(String, Value)>,
    tasks: Vec<(String, String)>,
    made: u64,
}

impl Graph {
    pub(crate) fn new(bug: &'static str) -> Self {
        Self { bug, entities: Vec::new(), opened: Vec::new(), tasks: Vec::new(), made: 0 }
    }

    pub(crate) fn listed() -> Value {
        let destructive = json!({"readOnlyHint": false, "destructiveHint": true});
        let texts = json!({"type": "array", "items": {"type": "string"}});
        let record = |properties: Value, required: Value| json!({"type": "array", "items": {"type": "object", "properties": properties, "required": required}});
        let entities = record(
            json!({"name": {"type": "string"}, "entityType": {"type": "string"}, "observations": texts}),
            json!(["name", "entityType", "observations"]),
        );
        let observations =
            record(json!({"entityName": {"type": "string"}, "contents": texts}), json!(["entityName", "contents"]));
        let tasks = record(json!({"title": {"type": "string"}}), json!(["title"]));
        json!([
            writing("create_entities", &json!({"entities": entities}), &["entities"]),
            writing("add_observations", &json!({"observations": observations}), &["observations"]),
            tool("delete_entities", &json!({"entityNames": texts}), &["entityNames"], &destructive),
            reading("read_graph", &json!({}), &[]),
            reading("search_nodes", &json!({"query": {"type": "string"}}), &["query"]),
            reading("open_nodes", &json!({"names": texts}), &["names"]),
            writing("create_tasks", &json!({"tasks": tasks}), &["tasks"]),
            reading("list_tasks", &json!({}), &[]),
            tool("delete_tasks", &json!({"ids": texts}), &["ids"], &destructive),
        ])
    }

    pub(crate) fn call(&mut self, name: &str, args: &Value) -> Answer {
        match name {
            "create_entities" => {
                let mut new = Vec::new();
                for item in items(args, "entities")? {
                    let (name, kind) = (text(item, "name")?.to_owned(), text(item, "entityType")?.to_owned());
                    // What is there already stays as it is.
                    if !self.entities.iter().any(|known| known.name == name) {
                        new.push(Entity { name, kind, observations: item["observations"].clone() });
                    }
                }
                let shown = new.iter().map(shown).collect::<Vec<_>>();
                self.opened.extend(new.iter().map(|entity| (entity.name.clone(), self::shown(entity))));
                if self.bug == "batch-keeps-first" {
                    new.truncate(1);
                }
                self.entities.extend(new);
                Ok(json!(shown))
            }
            "add_observations" => {
                for item in items(args, "observations")? {
                    let name = text(item, "entityName")?;
                    let found = self.entities.iter_mut().find(|entity| entity.name == name);
                    let entity = found.ok_or_else(|| format!("there is no entity {name}"))?;
                    if let (Some(known), Some(more)) = (entity.observations.as_array_mut(), item["contents"].as_array())
                    {
                        known.extend(more.iter().cloned());
                    }
                }
                Ok(json!("added"))
            }
            "delete_entities" => {
                let names = texts(args, "entityNames")?;
                let gone =
                    if self.bug == "batch-deletes-last" { &names[names.len().saturating_sub(1)..] } else { &names };
                self.entities.retain(|entity| !gone.contains(&entity.name));
                if self.bug != "index-keeps-deleted" {
                    self.opened.retain(|(name, _)| !gone.contains(name));
                }
                Ok(json!("Entities deleted successfully"))
            }
            "read_graph" => {
                Ok(json!({"entities": self.entities.iter().map(shown).collect::<Vec<_>>(), "relations": []}))
            }
            "search_nodes" => {
                let query = text(args, "query")?.to_lowercase();
                let has = |entity: &&Entity| shown(entity).to_string().to_lowercase().contains(&query);
                let found = self.entities.iter().filter(has).map(shown).collect::<Vec<_>>();
                Ok(json!({"entities": found, "relations": []}))
            }
            "open_nodes" => {
                let names = texts(args, "names")?;
                let found: Vec<Value> = if self.bug == "index-keeps-deleted" {
                    let known = self.opened.iter().filter(|(name, _)| names.contains(name));
                    known.map(|(_, shown)| shown.clone()).collect()
                } else {
                    self.entities.iter().filter(|entity| names.contains(&entity.name)).map(shown).collect()
                };
                Ok(json!({"entities": found, "relations": []}))
            }
            "create_tasks" => {
                let mut made = Vec::new();
                for item in items(args, "tasks")? {
                    text(item, "title")?;
                }
                for item in items(args, "tasks")? {
                    self.made += 1;
                    let task = (format!("t-{}", self.made), text(item, "title")?.to_owned());
                    made.push(json!({"id": task.0, "title": task.1}));
                    self.tasks.push(task);
                }
                Ok(json!({"tasks": made}))
            }
            "list_tasks" => {
                let shown: Vec<Value> =
                    self.tasks.iter().map(|(id, title)| json!({"id": id, "title": title})).collect();
                Ok(json!({"tasks": shown}))
            }
            "delete_tasks" => {
                let ids = texts(args, "ids")?;
                let place = |id: &String| self.tasks.iter().position(|(known, _)| known == id);
                let places: Option<Vec<usize>> = ids.iter().map(place).collect();
                let mut places = places.ok_or("there is no such task")?;
                if self.bug != "batch-shifts" {
                    places.sort_unstable_by(|one, other| other.cmp(one));
                    places.dedup();
                }
                for at in places {
                    // After each removal, what follows is one place further to the front.
                    if at < self.tasks.len() {
                        self.tasks.remove(at);
                    }
                }
                Ok(json!({"deleted": ids}))
            }
            _ => Err(format!("unknown tool {name}")),
        }
    }
}

fn shown(entity: &Entity) -> Value {
    json!({"name": entity.name, "entityType": entity.kind, "observations": entity.observations})
}

fn items<'a>(args: &'a Value, name: &str) -> Result<&'a Vec<Value>, String> {
    args[name].as_array().ok_or_else(|| format!("`{name}` is not a list"))
}

fn texts(args: &Value, name: &str) -> Result<Vec<String>, String> {
    let text = |item: &Value| {
        item.as_str().map(str::to_owned).ok_or_else(|| format!("`{name}` has something else than texts"))
    };
    items(args, name)?.iter().map(text).collect()
}
