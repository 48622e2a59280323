//! The part that a tool plays in sequences, by its name, its schema and its annotations.

use std::borrow::Cow;

use mcprove_model::{FuzzLink, LinkPart, LinkedTool};
use serde_json::Value;

use super::batch::Batch;
use super::key;
use crate::generate::{singular, words};
use crate::harm::argument_schema;
use crate::tool_effect::{ToolEffect, VerbKind, tool_effect, verb};

/// The part that a tool plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// It makes a thing.
    Create,
    /// It makes a thing or replaces it, under a key of the caller's.
    Set,
    /// It shows a thing by its key.
    Read,
    /// It lists all things.
    List,
    /// It lists the things that match a text.
    Search,
    /// It changes a thing by its key.
    Update,
    /// It deletes a thing by its key.
    Delete,
    /// It counts the things.
    Count,
    /// It writes in another way.
    Write,
    /// It reads in another way.
    Look,
}

const CREATING: &[&str] = &["add", "append", "create", "insert", "make", "new", "open", "post", "register", "start"];
const SETTING: &[&str] = &["put", "remember", "save", "set", "store", "upsert", "write"];
const READING: &[&str] = &["describe", "fetch", "get", "load", "lookup", "read", "retrieve", "show", "view"];
const LISTING: &[&str] = &["all", "browse", "dump", "index", "list", "ls"];
const SEARCHING: &[&str] = &["filter", "find", "grep", "query", "search"];
const UPDATING: &[&str] = &["change", "edit", "modify", "patch", "rename", "update"];
const DELETING: &[&str] = &["delete", "destroy", "drop", "erase", "forget", "remove", "unset"];
const COUNTING: &[&str] = &["count", "total"];

/// Words of tools whose replies change by themselves or with every call.
const RECORDS: &[&str] = &[
    "activity",
    "audit",
    "clock",
    "event",
    "health",
    "history",
    "log",
    "metric",
    "now",
    "random",
    "ping",
    "recent",
    "stat",
    "statistic",
    "status",
    "time",
    "uptime",
    "usage",
];

/// Words of lists of what is gone or hidden.
const HIDDEN: &[&str] = &["archive", "archived", "deleted", "removed", "trash", "trashed"];

/// Texts of tools that give keys out again.
const REUSING: &[&str] = &["first free", "given out again", "lowest free", "next free", "recycl", "reuse", "slot"];

const QUERIES: &[&str] = &["filter", "keyword", "match", "pattern", "q", "query", "search", "term", "text"];
/// Last words of arguments with something to do or to store, and not a key.
const TEXTS: &[&str] =
    &["command", "content", "expression", "message", "prompt", "question", "script", "sql", "statement"];

const LIMITS: &[&str] = &["limit", "maxresults", "pagesize", "perpage", "max", "first", "top", "size"];
const OFFSETS: &[&str] = &["offset", "skip", "start", "from"];
const CURSORS: &[&str] = &["cursor", "pagetoken", "after", "nextcursor", "next"];
const SORTS: &[&str] = &["sort", "sortby", "orderby", "order"];

/// A tool with what is known of it.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is known for itself")]
pub struct SequenceTool {
    /// Its name.
    pub name: String,
    /// The tool as it is listed.
    pub listed: Value,
    /// The list of things that it takes, if it takes several.
    pub(super) batch: Option<Batch>,
    /// The schema of its arguments; of those about one thing if it takes several.
    pub schema: Value,
    /// Its part.
    pub role: Role,
    /// The kind of thing that it is about, in the singular; empty where its name does not say.
    pub noun: String,
    /// The argument that holds the key of a thing.
    pub key: Option<String>,
    /// The argument that holds the text to search for.
    pub query: Option<String>,
    /// The argument that limits the number of items.
    pub limit: Option<String>,
    /// The argument that skips items.
    pub offset: Option<String>,
    /// The argument that continues a list.
    pub cursor: Option<String>,
    /// The argument that orders a list.
    pub sort: Option<String>,
    /// The names of the arguments that must be there, of those in `schema`.
    pub required: Vec<String>,
    /// True if it says that it only reads.
    pub is_read_only: bool,
    /// True if it says that a second call with the same arguments changes nothing.
    pub is_idempotent: bool,
    /// True if two calls without a change between them should give the same reply.
    pub is_steady: bool,
    /// True if it says that keys are given out again.
    pub reuses_keys: bool,
}

impl SequenceTool {
    /// Learns the part of a tool from its description.
    pub(super) fn of(listed: &Value, instructions: Option<&str>) -> Self {
        let name = listed.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let whole = argument_schema(listed);
        let hint = |key: &str| listed.get("annotations").and_then(|hints| hints.get(key)).and_then(Value::as_bool);
        let writes = match tool_effect(listed, instructions) {
            ToolEffect::Reads | ToolEffect::Unclear => false,
            ToolEffect::Writes { .. } | ToolEffect::LooksLikeWriting { .. } => true,
        };
        let all = words(&name);
        let verb_at = all.iter().position(|word| is_role_word(word));
        let noun = noun(&all, verb_at);
        let needs_nothing = texts(whole.get("required")).is_empty();
        let (batch, schema) = match Batch::of(&whole, &noun) {
            Some((batch, flat)) => (Some(batch), flat),
            None => (None, whole),
        };
        let required: Vec<String> = texts(schema.get("required"));
        let properties: Vec<String> = schema
            .get("properties")
            .and_then(Value::as_object)
            .map(|map| map.keys().cloned().collect())
            .unwrap_or_default();
        let of_kind =
            |known: &[&str]| properties.iter().find(|property| known.contains(&squeezed(property).as_str())).cloned();
        let query = of_kind(QUERIES);
        let key = key_argument(&schema, &properties, &required, &noun);
        let role = role(
            &all,
            verb_at,
            writes,
            &RoleFacts { has_key: key.is_some(), has_query: query.is_some(), needs_nothing },
        );
        let is_record = all.iter().any(|word| RECORDS.contains(&singular(word)));
        Self {
            role,
            noun,
            query: query.filter(|_| role == Role::Search),
            key: key.filter(|_| !matches!(role, Role::List | Role::Search | Role::Count)),
            limit: of_kind(LIMITS),
            offset: of_kind(OFFSETS),
            cursor: of_kind(CURSORS),
            sort: of_kind(SORTS),
            required,
            is_read_only: hint("readOnlyHint") == Some(true),
            is_idempotent: hint("idempotentHint") == Some(true),
            is_steady: !is_record,
            reuses_keys: {
                let says = |text: &str| REUSING.iter().any(|known| text.to_lowercase().contains(known));
                says(&listed.to_string()) || instructions.is_some_and(says)
            },
            name,
            listed: listed.clone(),
            batch,
            schema,
        }
    }

    /// Takes over what the user says about it.
    pub(super) fn link(&mut self, link: &FuzzLink, linked: &LinkedTool) {
        self.noun.clone_from(&link.thing);
        self.role = match linked.part {
            LinkPart::Count => Role::Count,
            LinkPart::Create => Role::Create,
            LinkPart::Delete => Role::Delete,
            LinkPart::List => Role::List,
            LinkPart::Read => Role::Read,
            LinkPart::Search => Role::Search,
            LinkPart::Set => Role::Set,
            LinkPart::Update => Role::Update,
        };
        let argument = linked.argument.clone().or_else(|| {
            let only = || self.required.first().filter(|_| self.required.len() == 1);
            let own = self.schema.get("properties")?.get(&link.key).map(|_| &link.key);
            own.or_else(only).cloned()
        });
        let argument = argument.map(|name| match &self.batch {
            Some(batch) => batch.argument(name),
            None => name,
        });
        self.query = argument.clone().filter(|_| self.role == Role::Search);
        let is_keyed = matches!(self.role, Role::Read | Role::Set | Role::Update | Role::Delete);
        self.key = argument.filter(|_| is_keyed);
    }

    /// True if it may change something.
    pub fn writes(&self) -> bool {
        match self.role {
            Role::Create | Role::Set | Role::Update | Role::Delete | Role::Write => true,
            Role::Read | Role::List | Role::Search | Role::Count | Role::Look => false,
        }
    }

    /// True if it can be called without arguments.
    pub(super) fn needs_nothing(&self) -> bool {
        self.required.is_empty() && self.batch.is_none()
    }

    /// The arguments about each thing that a call names: those of the call, unless it has a list of them.
    pub(super) fn parts<'a>(&self, args: &'a Value) -> Vec<Cow<'a, Value>> {
        match &self.batch {
            Some(batch) => batch.parts(args),
            None => vec![Cow::Borrowed(args)],
        }
    }

    /// The arguments of a call about one thing.
    pub(super) fn whole(&self, part: Value) -> Value {
        match &self.batch {
            Some(batch) => batch.whole(vec![part]),
            None => part,
        }
    }

    /// JSON Pointer to an argument about the first thing that a call names.
    pub(super) fn place(&self, name: &str) -> String {
        let inner = format!("/{}", key::escaped(name));
        match &self.batch {
            Some(batch) => batch.place(0, &inner),
            None => inner,
        }
    }
}

struct RoleFacts {
    has_key: bool,
    has_query: bool,
    needs_nothing: bool,
}

fn role(all: &[String], verb_at: Option<usize>, writes: bool, facts: &RoleFacts) -> Role {
    let word = verb_at.map(|at| all[at].as_str()).unwrap_or_default();
    let has_key = facts.has_key;
    let is = |known: &[&str]| known.contains(&word);
    if writes {
        return match () {
            () if is(CREATING) => Role::Create,
            () if is(SETTING) && has_key => Role::Set,
            () if is(SETTING) => Role::Create,
            () if is(UPDATING) && has_key => Role::Update,
            () if is(DELETING) && has_key => Role::Delete,
            () => Role::Write,
        };
    }
    match () {
        () if is(COUNTING) && facts.needs_nothing => Role::Count,
        () if is(SEARCHING) && facts.has_query => Role::Search,
        () if all.iter().any(|word| HIDDEN.contains(&word.as_str())) => Role::Look,
        () if (is(LISTING) || is(READING) || is(SEARCHING)) && facts.needs_nothing => Role::List,
        // What is opened without being written is read.
        () if (is(READING) || is(SEARCHING) || word == "open") && has_key => Role::Read,
        () => Role::Look,
    }
}

fn is_role_word(word: &str) -> bool {
    [CREATING, SETTING, READING, LISTING, SEARCHING, UPDATING, DELETING, COUNTING]
        .iter()
        .any(|known| known.contains(&word))
}

/// The noun of a name: what is left of it without verbs and small words.
fn noun(all: &[String], verb_at: Option<usize>) -> String {
    const SMALL: &[&str] = &[
        "a", "all", "an", "by", "for", "from", "id", "in", "key", "many", "multiple", "of", "on", "one", "single",
        "the", "to", "with",
    ];
    let is_noun = |at: usize, word: &str| {
        let is_other_verb = verb(word).is_some_and(|verb| at == 0 || !verb.is_noun && verb.kind == VerbKind::Reads);
        Some(at) != verb_at && !SMALL.contains(&word) && !is_other_verb
    };
    let left = all.iter().enumerate().filter(|(at, word)| is_noun(*at, word)).map(|(_, word)| one_of(word));
    left.collect::<Vec<_>>().join("_")
}

/// A word for one of several things: `entity` of `entities`.
pub(super) fn one_of(word: &str) -> Cow<'_, str> {
    const WITH_IE: &[&str] = &["calories", "cookies", "movies", "series", "species"];
    match word.strip_suffix("ies") {
        Some(stem) if stem.len() > 2 && !WITH_IE.contains(&word) => Cow::Owned(format!("{stem}y")),
        Some(_) | None => Cow::Borrowed(singular(word)),
    }
}

fn key_argument(schema: &Value, properties: &[String], required: &[String], noun: &str) -> Option<String> {
    let is_scalar = |name: &String| {
        let own = schema.get("properties").and_then(|all| all.get(name));
        let kind = own.and_then(|own| own.get("type")).and_then(Value::as_str);
        own.is_some() && matches!(kind, Some("string" | "integer" | "number") | None)
    };
    let scalars: Vec<&String> = properties.iter().filter(|name| is_scalar(name)).collect();
    let is_required = |name: &String| required.contains(name);
    let ranked = scalars.iter().filter_map(|name| Some((!is_required(name), key::rank(name, noun)?, *name))).min();
    if let Some((_, _, name)) = ranked {
        return Some(name.clone());
    }
    match required {
        [only] if scalars.contains(&only) && !is_text(only) => Some(only.clone()),
        _ => None,
    }
}

/// True if an argument has a text instead of a key: a query, a command.
fn is_text(name: &str) -> bool {
    let known = |word: &String| TEXTS.contains(&word.as_str()) || QUERIES.contains(&word.as_str());
    words(name).last().is_some_and(known)
}

fn squeezed(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase()
}

fn texts(list: Option<&Value>) -> Vec<String> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
