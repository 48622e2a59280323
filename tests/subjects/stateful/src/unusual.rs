//! Notes of correct servers with a habit that surprises a reader of replies: nothing here is a bug.

use std::{collections::BTreeSet, fs, path::PathBuf};

use serde_json::{Value, json};

use crate::server::{Answer, reading, text, tool, writing};

/// A list that shows the newest shows this many.
const NEWEST: usize = 4;

/// A page that nobody asked a size for.
const PAGE: usize = 3;

/// Calls after which a limited server refuses some.
const BURST: u64 = 25;

#[derive(Clone)]
struct Note {
    id: String,
    title: String,
    text: String,
    views: u64,
    version: u64,
    is_unread: bool,
    is_archived: bool,
    used: u64,
}

/// Notes with a habit.
pub(crate) struct Unusual {
    habit: &'static str,
    notes: Vec<Note>,
    trash: Vec<Note>,
    /// What a server that settles late shows.
    shown: Vec<Note>,
    /// The lists that cursors continue.
    snapshots: Vec<Vec<Value>>,
    /// The note that is open in this session.
    current: Option<String>,
    before: Vec<Note>,
    made: u64,
    calls: u64,
    file: Option<PathBuf>,
}

impl Unusual {
    pub(crate) fn new(habit: &'static str, data: Option<PathBuf>) -> Self {
        let file = data.filter(|_| habit == "session").map(|folder| folder.join("notes.json"));
        let stored = file.as_ref().and_then(|file| fs::read_to_string(file).ok());
        let stored: Vec<(String, String, String)> =
            stored.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let notes: Vec<Note> = stored.into_iter().map(|(id, title, text)| note(id, title, text)).collect();
        let made = notes.iter().filter_map(|note| note.id[2..].parse().ok()).max().unwrap_or(0);
        Self {
            habit,
            shown: notes.clone(),
            notes,
            trash: Vec::new(),
            snapshots: Vec::new(),
            current: None,
            before: Vec::new(),
            made,
            calls: 0,
            file,
        }
    }

    pub(crate) fn listed(&self) -> Value {
        let id = json!({"id": {"type": "string"}});
        let both = json!({"title": {"type": "string"}, "text": {"type": "string"}});
        let all = json!({"id": {"type": "string"}, "title": {"type": "string"}, "text": {"type": "string"}});
        let limit = json!({"type": "integer", "minimum": 1});
        let list = match self.habit {
            "cursor-snapshot" => json!({"limit": limit, "cursor": {"type": "string"}}),
            "one-based" => json!({"limit": limit, "start": {"type": "integer", "minimum": 1, "default": 1}}),
            "recent-first" | "views" => json!({"limit": limit, "offset": {"type": "integer", "minimum": 0}}),
            _ => json!({}),
        };
        let destructive = json!({"readOnlyHint": false, "destructiveHint": true});
        let idempotent = json!({"readOnlyHint": false, "destructiveHint": false, "idempotentHint": true});
        let required: &[&str] = if self.habit == "defaults" { &["title"] } else { &["title", "text"] };
        let mut tools = vec![
            writing("create_note", &both, required),
            reading("get_note", &id, &["id"]),
            tool("update_note", &all, &["id"], &idempotent),
            tool("delete_note", &id, &["id"], &destructive),
            reading("list_notes", &list, &[]),
            reading("search_notes", &json!({"query": {"type": "string"}}), &["query"]),
            reading("count_notes", &json!({}), &[]),
        ];
        match self.habit {
            "soft-delete" => {
                tools.extend([reading("list_deleted_notes", &json!({}), &[]), writing("restore_note", &id, &["id"])]);
            }
            "undo" => {
                tools.extend([writing("undo", &json!({}), &[]), tool("clear_notes", &json!({}), &[], &destructive)]);
            }
            "archive" => tools.push(writing("archive_note", &id, &["id"])),
            "session" => tools.push(writing("open_note", &id, &["id"])),
            "id-pool" => {
                tools[0]["description"] = json!("Creates a note. The ids of deleted notes are given out again.");
            }
            _ => {}
        }
        Value::Array(tools)
    }

    pub(crate) fn call(&mut self, name: &str, args: &Value) -> Answer {
        self.calls += 1;
        if self.habit == "rate-limit" && self.calls % (BURST + 5) >= BURST {
            return Err("Rate limit exceeded, try again in 2 seconds".to_owned());
        }
        let is_write = matches!(name.split('_').next(), Some("create" | "update" | "delete" | "clear" | "archive"));
        if is_write {
            self.before = self.notes.clone();
        }
        let mut answer = self.answer(name, args);
        if self.habit == "settles" && !is_write {
            self.shown = self.notes.clone();
        }
        if let Some(file) = &self.file {
            let all: Vec<_> = self.notes.iter().map(|note| (&note.id, &note.title, &note.text)).collect();
            fs::write(file, json!(all).to_string()).map_err(|error| error.to_string())?;
        }
        if let (Ok(document), "stamps") = (&mut answer, self.habit) {
            document["requestId"] = json!(self.calls);
            document["remaining"] = json!(100_000 - self.calls);
            document["servedAt"] = json!(1_790_000_000_000_u64 + self.calls * 17);
        }
        answer
    }

    fn answer(&mut self, name: &str, args: &Value) -> Answer {
        match name {
            "create_note" => self.create(text(args, "title")?, args["text"].as_str()),
            "get_note" => self.get(text(args, "id")?),
            "update_note" => self.update(args),
            "delete_note" => self.delete(text(args, "id")?),
            "list_notes" => self.list(args),
            "list_deleted_notes" => {
                Ok(json!({"notes": self.trash.iter().map(|note| self.record(note)).collect::<Vec<_>>()}))
            }
            "search_notes" => self.search(text(args, "query")?),
            "count_notes" => Ok(json!({"count": self.visible().len()})),
            "restore_note" => {
                let id = text(args, "id")?;
                let at = self.trash.iter().position(|note| note.id == id).ok_or("it is not in the trash")?;
                self.notes.push(self.trash.remove(at));
                Ok(json!({"restored": id}))
            }
            "archive_note" => {
                self.find(text(args, "id")?)?.is_archived = true;
                Ok(json!({"archived": args["id"]}))
            }
            "open_note" => {
                self.current = Some(self.find(text(args, "id")?)?.id.clone());
                Ok(json!({"opened": args["id"]}))
            }
            "undo" => {
                self.notes.clone_from(&self.before);
                Ok(json!({"undone": true}))
            }
            "clear_notes" => {
                self.notes.clear();
                Ok(json!({"cleared": true}))
            }
            _ => Err(format!("unknown tool {name}")),
        }
    }

    fn find(&mut self, id: &str) -> Result<&mut Note, String> {
        self.notes.iter_mut().find(|note| note.id == id).ok_or_else(|| format!("there is no note {id}"))
    }

    fn create(&mut self, title: &str, text: Option<&str>) -> Answer {
        let (title, text) = (self.kept(title), self.kept(text.unwrap_or("(empty)")));
        if title.is_empty() {
            return Err("a note needs a title".to_owned());
        }
        if self.habit == "upsert"
            && let Some(known) = self.notes.iter_mut().find(|note| note.title == title)
        {
            known.text = text;
            let known = known.clone();
            return Ok(self.record(&known));
        }
        self.made += 1;
        let number = match self.habit {
            "id-pool" => {
                let used: BTreeSet<&str> = self.notes.iter().map(|note| note.id.as_str()).collect();
                (1..=self.made).find(|number| !used.contains(format!("n-{number}").as_str())).unwrap_or(self.made)
            }
            _ => self.made,
        };
        let id = if self.habit == "markdown" { number.to_string() } else { format!("n-{number}") };
        let made = Note { used: self.calls, ..note(id, title, text) };
        let shown = self.record(&made);
        self.notes.push(made);
        Ok(shown)
    }

    /// A value as it is stored.
    fn kept(&self, value: &str) -> String {
        match self.habit {
            "trims" => value.trim().chars().take(5).collect(),
            "lowercases" => value.to_lowercase(),
            "escapes" => value.replace('&', "&amp;").replace('<', "&lt;").replace('\'', "&#39;").replace('"', "&quot;"),
            _ => value.to_owned(),
        }
    }

    fn get(&mut self, id: &str) -> Answer {
        if self.habit == "settles" {
            let found = self.shown.iter().find(|note| note.id == id).cloned();
            return found.map(|note| self.record(&note)).ok_or_else(|| format!("there is no note {id}"));
        }
        if self.habit == "soft-delete"
            && let Some(note) = self.trash.iter().find(|note| note.id == id)
        {
            return Ok(self.record(note));
        }
        let (habit, calls) = (self.habit, self.calls);
        let note = self.find(id)?;
        note.is_unread = false;
        note.used = calls;
        if habit == "views" {
            note.views += 1;
        }
        let note = note.clone();
        Ok(self.record(&note))
    }

    fn update(&mut self, args: &Value) -> Answer {
        let id = text(args, "id")?;
        let calls = self.calls;
        let kept = |name: &str| args[name].as_str().map(|value| self.kept(value));
        let (title, text) = (kept("title"), kept("text"));
        if ["title", "text"].iter().any(|name| args.get(name).is_some_and(|value| !value.is_string())) {
            return Err("a field is not a text".to_owned());
        }
        let note = self.find(id)?;
        note.title = title.unwrap_or_else(|| note.title.clone());
        note.text = text.unwrap_or_else(|| note.text.clone());
        note.version += 1;
        note.used = calls;
        let note = note.clone();
        Ok(self.record(&note))
    }

    fn delete(&mut self, id: &str) -> Answer {
        let at = self.notes.iter().position(|note| note.id == id);
        match at {
            Some(at) => self.trash.push(self.notes.remove(at)),
            None if self.habit == "delete-any" => {}
            None => return Err(format!("there is no note {id}")),
        }
        Ok(json!({"deleted": id}))
    }

    /// The notes that a list may show.
    fn visible(&self) -> Vec<&Note> {
        let notes = if self.habit == "settles" { &self.shown } else { &self.notes };
        let mut visible: Vec<&Note> = notes.iter().filter(|note| !note.is_archived).collect();
        if self.habit == "recent-first" {
            visible.sort_by_key(|note| std::cmp::Reverse(note.used));
        }
        visible
    }

    fn list(&mut self, args: &Value) -> Answer {
        let number = |name: &str| args[name].as_u64().and_then(|number| usize::try_from(number).ok());
        let mut notes: Vec<Value> = self.visible().into_iter().map(|note| self.record(note)).collect();
        let limit = number("limit");
        Ok(match self.habit {
            "newest" => json!({"notes": notes.into_iter().rev().take(NEWEST).collect::<Vec<_>>()}),
            "markdown" => {
                let lines = self.visible().into_iter().map(|note| format!("- **{}** (id: {})", note.title, note.id));
                json!(format!("# Notes\n\n{} notes:\n{}\n", notes.len(), lines.collect::<Vec<_>>().join("\n")))
            }
            "cursor-snapshot" => {
                let (number, begin) = if let Some(cursor) = args["cursor"].as_str() {
                    let parts = cursor.strip_prefix("c-").and_then(|rest| rest.split_once('-'));
                    let parts = parts.and_then(|(one, other)| Some((one.parse().ok()?, other.parse().ok()?)));
                    parts.ok_or("there is no such cursor")?
                } else {
                    self.snapshots.push(notes);
                    (self.snapshots.len() - 1, 0_usize)
                };
                let all = self.snapshots.get(number).ok_or("this cursor is too old")?;
                let size = limit.unwrap_or(PAGE);
                let mut page = json!({"notes": all.iter().skip(begin).take(size).collect::<Vec<_>>()});
                if begin + size < all.len() {
                    page["nextCursor"] = json!(format!("c-{number}-{}", begin + size));
                }
                page
            }
            "one-based" => {
                let begin = number("start").unwrap_or(1).saturating_sub(1);
                json!({"notes": notes.into_iter().skip(begin).take(limit.unwrap_or(usize::MAX)).collect::<Vec<_>>()})
            }
            "session" => json!({"notes": notes, "current": self.current}),
            _ => {
                notes =
                    notes.into_iter().skip(number("offset").unwrap_or(0)).take(limit.unwrap_or(usize::MAX)).collect();
                json!({"notes": notes})
            }
        })
    }

    fn search(&self, query: &str) -> Answer {
        if query.is_empty() {
            return Err("a search needs a text".to_owned());
        }
        let query = query.to_lowercase();
        let has = |note: &&Note| [&note.title, &note.text].iter().any(|text| text.to_lowercase().contains(&query));
        let found: Vec<Value> = self.visible().into_iter().filter(has).map(|note| self.record(note)).collect();
        Ok(json!({"notes": found}))
    }

    fn record(&self, note: &Note) -> Value {
        let mut shown = json!({"id": note.id, "title": note.title, "text": note.text});
        match self.habit {
            "views" => shown["views"] = json!(note.views),
            "version" => shown["version"] = json!(note.version),
            "unread" => shown["unread"] = json!(note.is_unread),
            "defaults" => shown["priority"] = json!("normal"),
            "recent-first" => shown["lastUsed"] = json!(1_790_000_000 + note.used),
            "markdown" => return json!(format!("## {}\n\nid: {}\n\n{}\n", note.title, note.id, note.text)),
            _ => {}
        }
        shown
    }
}

fn note(id: String, title: String, text: String) -> Note {
    Note { id, title, text, views: 0, version: 1, is_unread: true, is_archived: false, used: 0 }
}
