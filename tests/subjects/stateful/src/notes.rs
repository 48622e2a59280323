//! Notes with keys that the server makes up.

use std::{collections::BTreeMap, env, fs, fs::File, process};

use serde_json::{Value, json};

use crate::server::{Answer, reading, text, tool, writing};

/// A list that loses something has this many items.
const CUT: usize = 5;

struct Note {
    id: String,
    title: String,
    /// The title that the list shows.
    listed_title: String,
    text: String,
    tags: Vec<String>,
    color: &'static str,
    updates: u64,
    /// Words by which a stale search finds it.
    indexed: Vec<String>,
}

/// The notes of a server.
#[expect(clippy::struct_field_names, reason = "the list is what it is called")]
pub(crate) struct Notes {
    bug: &'static str,
    notes: Vec<Note>,
    made: u64,
    /// Notes that are gone, for those who remember too much.
    gone: Vec<Note>,
    list_cache: Option<Value>,
    read_cache: BTreeMap<String, Value>,
    drift: u64,
    open: Vec<File>,
    searches: u64,
}

impl Notes {
    pub(crate) fn new(bug: &'static str) -> Self {
        Self {
            bug,
            notes: Vec::new(),
            made: 0,
            gone: Vec::new(),
            list_cache: None,
            read_cache: BTreeMap::new(),
            drift: 0,
            open: Vec::new(),
            searches: 0,
        }
    }

    pub(crate) fn listed() -> Value {
        let id = json!({"id": {"type": "string"}});
        let both = json!({"title": {"type": "string"}, "text": {"type": "string"}});
        let all = json!({"id": {"type": "string"}, "title": {"type": "string"}, "text": {"type": "string"}});
        let list = json!({
            "limit": {"type": "integer", "minimum": 1},
            "offset": {"type": "integer", "minimum": 0},
            "sort": {"type": "string", "enum": ["title", "id"]},
        });
        let pages = json!({"limit": {"type": "integer", "minimum": 1}, "cursor": {"type": "string"}});
        let notes = json!({"notes": {"type": "array", "minItems": 1, "items": {
            "type": "object", "properties": both, "required": ["title", "text"]}}});
        json!([
            writing("create_note", &both, &["title", "text"]),
            reading("get_note", &id, &["id"]),
            writing("update_note", &all, &["id"]),
            tool("delete_note", &id, &["id"], &json!({"readOnlyHint": false, "destructiveHint": true})),
            reading("list_notes", &list, &[]),
            reading("browse_notes", &pages, &[]),
            reading("search_notes", &json!({"query": {"type": "string"}}), &["query"]),
            reading("count_notes", &json!({}), &[]),
            writing("import_notes", &notes, &["notes"]),
            tool(
                "tag_note",
                &json!({"id": {"type": "string"}, "tag": {"type": "string"}}),
                &["id", "tag"],
                &json!({"readOnlyHint": false, "destructiveHint": false, "idempotentHint": true}),
            ),
        ])
    }

    pub(crate) fn resources(&self) -> Vec<Value> {
        let gone = if self.bug == "resource-stale" { self.gone.as_slice() } else { &[] };
        let all = self.notes.iter().chain(gone);
        all.map(|note| json!({"uri": format!("note:///{}", note.id), "name": note.title})).collect()
    }

    pub(crate) fn call(&mut self, name: &str, args: &Value) -> Answer {
        match name {
            "create_note" => self.create(text(args, "title")?, text(args, "text")?),
            "get_note" => self.get(text(args, "id")?),
            "update_note" => self.update(args),
            "delete_note" => self.delete(text(args, "id")?),
            "list_notes" => self.list(args),
            "browse_notes" => self.browse(args),
            "search_notes" => self.search(text(args, "query")?),
            "count_notes" => Ok(json!({"count": self.notes.len() as u64 + self.drift})),
            "import_notes" => self.import(args),
            "tag_note" => self.tag(text(args, "id")?, text(args, "tag")?),
            _ => Err(format!("unknown tool {name}")),
        }
    }

    fn find(&mut self, id: &str) -> Result<&mut Note, String> {
        self.notes.iter_mut().find(|note| note.id == id).ok_or_else(|| format!("there is no note {id}"))
    }

    fn create(&mut self, title: &str, text: &str) -> Answer {
        if title.is_empty() {
            if self.bug == "count-drifts" {
                self.drift += 1;
            }
            return Err("a note needs a title".to_owned());
        }
        self.made += 1;
        let number = if self.bug == "id-reuse" { self.notes.len() as u64 + 1 } else { self.made };
        let note = Note {
            id: format!("n-{number}"),
            title: title.to_owned(),
            listed_title: title.to_owned(),
            text: text.to_owned(),
            tags: Vec::new(),
            color: "none",
            updates: 0,
            indexed: vec![title.to_owned(), text.to_owned()],
        };
        let shown = record(&note);
        self.notes.push(note);
        self.list_cache = None;
        Ok(shown)
    }

    fn get(&mut self, id: &str) -> Answer {
        let bug = self.bug;
        if bug == "descriptor-leak" {
            self.open.extend(File::open("/dev/null"));
        }
        if bug == "stale-read" {
            if let Some(cached) = self.read_cache.get(id) {
                return Ok(cached.clone());
            }
            let shown = record(self.find(id)?);
            self.read_cache.insert(id.to_owned(), shown.clone());
            return Ok(shown);
        }
        if bug == "delete-forgotten"
            && let Some(note) = self.gone.iter().find(|note| note.id == id)
        {
            return Ok(record(note));
        }
        let note = self.find(id)?;
        if bug == "read-recolors" {
            note.color = "red";
        }
        Ok(record(note))
    }

    fn update(&mut self, args: &Value) -> Answer {
        let id = text(args, "id")?;
        let bug = self.bug;
        if let Some(note) = self.gone.iter().find(|note| note.id == id) {
            match bug {
                "crash-after-delete" => process::abort(),
                "resurrect" => return Ok(record(note)),
                _ => {}
            }
        }
        for name in ["title", "text"] {
            if args.get(name).is_some_and(|value| !value.is_string()) {
                return Err(format!("`{name}` is not a text"));
            }
        }
        let note = self.find(id)?;
        note.updates += 1;
        if bug == "second-update-lost" && note.updates > 1 {
            return Ok(record(note));
        }
        if let Some(title) = args["title"].as_str() {
            title.clone_into(&mut note.title);
            if bug != "list-keeps-title" {
                title.clone_into(&mut note.listed_title);
            }
        }
        match args["text"].as_str() {
            Some(text) => text.clone_into(&mut note.text),
            None if bug == "update-wipes" => note.text.clear(),
            None => {}
        }
        if bug != "search-after-update" {
            note.indexed.clear();
        }
        note.indexed.extend([note.title.clone(), note.text.clone()]);
        let shown = record(note);
        self.list_cache = None;
        if bug != "stale-read" {
            self.read_cache.remove(id);
        }
        Ok(shown)
    }

    fn delete(&mut self, id: &str) -> Answer {
        let at = self.notes.iter().position(|note| note.id == id).ok_or_else(|| format!("there is no note {id}"))?;
        self.gone.push(self.notes.remove(at));
        if self.bug != "stale-list" {
            self.list_cache = None;
        }
        self.read_cache.remove(id);
        Ok(json!({"deleted": id}))
    }

    #[expect(clippy::unnecessary_wraps, reason = "every tool answers alike")]
    fn list(&mut self, args: &Value) -> Answer {
        let is_whole = args.as_object().is_none_or(serde_json::Map::is_empty);
        if self.bug == "stale-list"
            && is_whole
            && let Some(cached) = &self.list_cache
        {
            return Ok(cached.clone());
        }
        let mut notes: Vec<&Note> = self.notes.iter().collect();
        if args["sort"] == "title" {
            notes.sort_by(|one, other| one.title.cmp(&other.title));
            if self.bug == "sort-drops" {
                notes.dedup_by(|one, other| one.title == other.title);
            }
        }
        let number = |name: &str| args[name].as_u64().and_then(|number| usize::try_from(number).ok());
        let mut offset = number("offset").unwrap_or(0);
        let mut limit = number("limit").unwrap_or(usize::MAX);
        match self.bug {
            "page-off-by-one" if offset > 0 => offset += 1,
            "limit-plus-one" => limit = limit.saturating_add(1),
            "list-truncated" => limit = limit.min(CUT),
            _ => {}
        }
        let shown: Vec<Value> = notes.into_iter().skip(offset).take(limit).map(in_list).collect();
        let shown = json!({"notes": shown});
        if is_whole {
            self.list_cache = Some(shown.clone());
        }
        Ok(shown)
    }

    fn browse(&self, args: &Value) -> Answer {
        let begin = match args.get("cursor") {
            Some(cursor) => {
                let number =
                    cursor.as_str().and_then(|cursor| cursor.strip_prefix("at-")).and_then(|at| at.parse().ok());
                number.ok_or("there is no such cursor")?
            }
            None => 0_usize,
        };
        let limit = args["limit"].as_u64().and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
        let shown: Vec<Value> = self.notes.iter().skip(begin).take(limit).map(in_list).collect();
        let next = begin.saturating_add(limit);
        let mut page = json!({"notes": shown});
        if next < self.notes.len() {
            let next = if self.bug == "cursor-repeats" { next - 1 } else { next };
            // A cursor that does not move would never end.
            page["nextCursor"] = json!(format!("at-{}", next.max(begin + 1)));
        }
        Ok(page)
    }

    fn search(&mut self, query: &str) -> Answer {
        if query.is_empty() {
            return Err("a search needs a text".to_owned());
        }
        if self.bug == "temporary-leak" {
            self.searches += 1;
            let _ = fs::write(env::temp_dir().join(format!("search-{}-{}", process::id(), self.searches)), query);
        }
        let has = |note: &&Note| note.indexed.iter().any(|text| text.contains(query));
        let mut found: Vec<Value> = self.notes.iter().filter(has).map(in_list).collect();
        if self.bug == "search-after-delete" {
            found.extend(self.gone.iter().filter(has).map(in_list));
        }
        Ok(json!({"notes": found}))
    }

    fn import(&mut self, args: &Value) -> Answer {
        let items = args["notes"].as_array().ok_or("`notes` is not a list")?;
        let valid =
            |item: &Value| item["title"].as_str().is_some_and(|title| !title.is_empty()) && item["text"].is_string();
        if self.bug != "half-import"
            && let Some(at) = items.iter().position(|item| !valid(item))
        {
            return Err(format!("note {at} is not valid"));
        }
        for (at, item) in items.iter().enumerate() {
            if !valid(item) {
                return Err(format!("note {at} is not valid"));
            }
            self.create(text(item, "title")?, text(item, "text")?)?;
        }
        Ok(json!({"imported": items.len()}))
    }

    fn tag(&mut self, id: &str, tag: &str) -> Answer {
        let is_buggy = self.bug == "tag-twice";
        let note = self.find(id)?;
        if is_buggy || !note.tags.iter().any(|known| known == tag) {
            note.tags.push(tag.to_owned());
        }
        let shown = record(note);
        self.list_cache = None;
        Ok(shown)
    }
}

fn record(note: &Note) -> Value {
    json!({"id": note.id, "title": note.title, "text": note.text, "tags": note.tags})
}

fn in_list(note: &Note) -> Value {
    json!({"id": note.id, "title": note.listed_title, "color": note.color})
}
