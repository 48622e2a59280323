//! The things that exist according to the calls so far, and the replies that should still hold.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::facts::Facts;
use super::key::{self, made_keys, named_key, part_key};
use super::model::SequenceModel;
use super::reply::Reply;
use super::role::{Role, SequenceTool};
use super::step::{Step, StepTarget};

/// The most replies that are kept to be compared.
const KEPT: usize = 96;

/// State after some calls.
#[derive(Clone, Debug, Default)]
pub(super) struct World {
    /// Things by family and key.
    pub(super) things: BTreeMap<(usize, String), Thing>,
    /// The last reply of each reading call, as long as nothing was changed.
    pub(super) observed: BTreeMap<(StepTarget, String), Observation>,
    /// Where a list goes on after a cursor.
    pub(super) cursors: BTreeMap<String, usize>,
    /// The last call that changed something, and the thing that it was about.
    pub(super) last_write: Option<(StepTarget, Value)>,
    pub(super) touched: Option<(usize, String)>,
    /// True once something was changed.
    pub(super) is_changed: bool,
    /// True once the server was started again.
    pub(super) is_restarted: bool,
}

/// A thing that was made.
#[derive(Clone, Debug)]
pub(super) struct Thing {
    /// Its key as it is sent.
    pub(super) key: Value,
    /// The step and the place in its reply that gave the key; `None` for a key of ours.
    pub(super) origin: Option<(u32, String)>,
    pub(super) is_made_by_server: bool,
    pub(super) life: Life,
    /// Values that were written.
    pub(super) fields: BTreeMap<String, Value>,
    /// Texts that were written and then replaced.
    pub(super) past: Vec<String>,
    /// Fields that a read has shown since they were written.
    pub(super) confirmed: BTreeSet<String>,
    /// The arguments that made it.
    pub(super) made_with: Value,
    /// The steps that made it, and wrote it last.
    pub(super) made_at: u32,
    pub(super) written_at: u32,
}

impl Thing {
    /// Takes in fields that were written.
    fn rewrite(&mut self, fields: BTreeMap<String, Value>, id: u32) {
        for (name, value) in fields {
            self.confirmed.remove(&name);
            if let Some(Value::String(old)) = self.fields.insert(name, value.clone()).filter(|old| *old != value) {
                self.past.push(old);
            }
        }
        self.written_at = id;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    Live,
    Deleted,
    /// Something may have changed it.
    Doubtful,
}

/// A reply, and what happened since.
#[derive(Clone, Debug)]
pub(super) struct Observation {
    pub(super) step: u32,
    pub(super) reply: Reply,
    /// The last call since then that failed, that was repeated, that only reads.
    pub(super) failed: Option<usize>,
    pub(super) repeated: Option<usize>,
    pub(super) read: Option<usize>,
    pub(super) restarted: bool,
}

impl Observation {
    pub(super) fn is_undisturbed(&self) -> bool {
        self.failed.is_none() && self.repeated.is_none() && self.read.is_none() && !self.restarted
    }
}

/// The text by which a call is known.
pub(super) fn call_key(step: &Step) -> (StepTarget, String) {
    (step.target, step.args.to_string())
}

impl World {
    /// The thing that a call is about.
    pub(super) fn thing_of(&self, model: &SequenceModel, step: &Step) -> Option<(&(usize, String), &Thing)> {
        let StepTarget::Tool(at) = step.target else { return None };
        let key = named_key(&model.tools[at], &step.args)?;
        self.things.get_key_value(&(model.family_of(at), key))
    }

    pub(super) fn live(&self, family: usize) -> impl Iterator<Item = (&String, &Thing)> {
        self.in_state(family, Life::Live)
    }

    pub(super) fn in_state(&self, family: usize, life: Life) -> impl Iterator<Item = (&String, &Thing)> {
        let of = (family, String::new())..(family + 1, String::new());
        self.things.range(of).filter(move |(_, thing)| thing.life == life).map(|((_, key), thing)| (key, thing))
    }

    /// Takes in a call.
    pub(super) fn take(&mut self, model: &SequenceModel, step: &Step, reply: &Reply, facts: &Facts) {
        if reply.is_broken {
            return;
        }
        match step.target {
            StepTarget::Restart => {
                self.is_restarted = true;
                self.things.values_mut().for_each(|thing| thing.life = Life::Doubtful);
                self.observed.values_mut().for_each(|seen| seen.restarted = true);
                self.cursors.clear();
            }
            StepTarget::Resources | StepTarget::Resource => self.observe(model, step, reply),
            StepTarget::Tool(at) => {
                let tool = &model.tools[at];
                if !tool.writes() {
                    // A tool of which nothing is known may have written.
                    if tool.role == Role::Look && !tool.is_read_only {
                        self.forget();
                        self.things.values_mut().for_each(|thing| thing.life = Life::Doubtful);
                    }
                    for (known, seen) in &mut self.observed {
                        if known.0 != step.target {
                            seen.read = Some(at);
                        }
                    }
                    self.observe(model, step, reply);
                    self.confirm(model, at, step, reply);
                } else if reply.says_error {
                    // It may have done a part of it.
                    self.forget();
                    let named = scalars(&step.args);
                    let named = self.things.iter_mut().filter(|((_, key), _)| named.contains(key));
                    named.for_each(|(_, thing)| thing.life = Life::Doubtful);
                } else if reply.is_fine {
                    self.write(model, at, step, reply, facts);
                } else {
                    self.observed.values_mut().for_each(|seen| seen.failed = Some(at));
                }
            }
        }
    }

    fn forget(&mut self) {
        self.observed.clear();
        self.cursors.clear();
        self.is_changed = true;
    }

    fn observe(&mut self, model: &SequenceModel, step: &Step, reply: &Reply) {
        if let StepTarget::Tool(at) = step.target {
            let tool = &model.tools[at];
            if !tool.is_steady {
                return;
            }
            self.note_cursor(tool, step, reply);
        }
        if self.observed.len() >= KEPT {
            self.observed.pop_first();
        }
        let seen = Observation {
            step: step.id,
            reply: reply.clone(),
            failed: None,
            repeated: None,
            read: None,
            restarted: false,
        };
        self.observed.insert(call_key(step), seen);
    }

    /// Remembers where the next page begins.
    fn note_cursor(&mut self, tool: &SequenceTool, step: &Step, reply: &Reply) {
        let (Some(cursor), Some(items)) = (&tool.cursor, reply.items()) else { return };
        let begin = match step.args.get(cursor).and_then(key::text_of) {
            Some(given) => self.cursors.get(&given).copied(),
            None => Some(0),
        };
        if let (Some(next), Some(begin)) = (next_cursor(reply), begin) {
            self.cursors.insert(next.0, begin + items.len());
        }
    }

    /// Notes the fields that a read shows as they were written.
    fn confirm(&mut self, model: &SequenceModel, at: usize, step: &Step, reply: &Reply) {
        let tool = &model.tools[at];
        let family = model.family_of(at);
        let Some(key) = named_key(tool, &step.args).filter(|_| tool.role == Role::Read && reply.is_fine) else {
            return;
        };
        let Some(thing) = self.things.get_mut(&(family, key.clone())) else { return };
        let record = record_in(reply, &key, &model.families[family].keys);
        for (name, written) in &thing.fields {
            let is_shown = match record {
                Some(record) => field(record, name) == Some(written),
                None => written.as_str().is_some_and(|text| reply.text.contains(text)),
            };
            if is_shown {
                thing.confirmed.insert(name.clone());
            }
        }
    }

    fn write(&mut self, model: &SequenceModel, at: usize, step: &Step, reply: &Reply, facts: &Facts) {
        let tool = &model.tools[at];
        let family = model.family_of(at);
        let folds = model.families[family].folds_case || facts.folds.contains(&family);
        let is_repeat =
            self.last_write.as_ref().is_some_and(|(target, args)| *target == step.target && *args == step.args)
                && (tool.is_idempotent || tool.role == Role::Delete);
        if is_repeat {
            self.is_changed = true;
            self.observed.values_mut().for_each(|seen| seen.repeated = Some(at));
            return;
        }
        self.last_write = Some((step.target, step.args.clone()));
        self.forget();
        let parts = tool.parts(&step.args);
        let made = if tool.role == Role::Create && tool.key.is_none() {
            made_keys(reply, tool, &model.families[family].keys, parts.len())
        } else {
            Vec::new()
        };
        let mut made = made.into_iter();
        for part in &parts {
            self.write_one((tool, family, folds), step.id, part, made.next());
        }
    }

    /// Takes in what a call did to one thing, and the key that its reply gives to it.
    fn write_one(
        &mut self,
        (tool, family, folds): (&SequenceTool, usize, bool),
        id: u32,
        args: &Value,
        made: Option<(Value, Option<String>)>,
    ) {
        let own = part_key(tool, args).map(|key| (family, key));
        match (tool.role, own) {
            (Role::Create, None) => {
                let Some((value, pointer)) = made else {
                    // What is made without a key may be a part of what the call names: a tag, a comment.
                    self.doubt_others(&(family, String::new()), args, tool.role, folds);
                    self.touched = None;
                    return;
                };
                let Some(text) = key::text_of(&value) else { return };
                let thing = Thing {
                    key: value,
                    origin: pointer.map(|pointer| (id, pointer)),
                    is_made_by_server: true,
                    life: Life::Live,
                    fields: written(args, tool),
                    past: Vec::new(),
                    confirmed: BTreeSet::new(),
                    made_with: args.clone(),
                    made_at: id,
                    written_at: id,
                };
                self.things.insert((family, text.clone()), thing);
                self.touched = Some((family, text));
            }
            (Role::Create | Role::Set, Some(own)) => {
                let key_name = tool.key.as_deref();
                let known = self.things.get(&own).filter(|known| known.life != Life::Deleted);
                // What adds a thing that is there already may change it, or leave it as it is.
                let life = if tool.role == Role::Create && known.is_some() { Life::Doubtful } else { Life::Live };
                let mut past = known.map(|known| known.past.clone()).unwrap_or_default();
                past.extend(known.into_iter().flat_map(Thing::texts));
                let thing = Thing {
                    key: key_name.and_then(|name| args.get(name)).cloned().unwrap_or_default(),
                    origin: None,
                    is_made_by_server: false,
                    life,
                    fields: written(args, tool),
                    past,
                    confirmed: BTreeSet::new(),
                    made_with: args.clone(),
                    made_at: id,
                    written_at: id,
                };
                self.doubt_others(&own, args, tool.role, folds);
                self.touched = Some(own.clone());
                self.things.insert(own, thing);
                return;
            }
            (Role::Update, Some(own)) => {
                if let Some(thing) = self.things.get_mut(&own) {
                    if thing.life == Life::Live {
                        thing.rewrite(written(args, tool), id);
                        // A key that is written anew names another thing.
                        let renames = thing.fields.iter().any(|(name, _)| Some(name.as_str()) == tool.key.as_deref());
                        if renames {
                            thing.life = Life::Doubtful;
                        }
                    } else {
                        thing.life = Life::Doubtful;
                    }
                }
                self.doubt_others(&own, args, tool.role, folds);
                self.touched = Some(own);
                return;
            }
            (Role::Delete, Some(own)) => {
                // A delete with more arguments than the key may delete a part.
                let is_whole = tool.required.len() <= 1;
                if let Some(thing) = self.things.get_mut(&own) {
                    thing.life = if thing.life == Life::Live && is_whole { Life::Deleted } else { Life::Doubtful };
                }
                self.doubt_others(&own, args, tool.role, folds);
                self.touched = Some(own);
                return;
            }
            (_, own) => {
                self.doubt(args, tool);
                self.touched = own.filter(|own| self.things.contains_key(own));
                return;
            }
        }
        let Some(own) = self.touched.clone() else { return };
        self.doubt_others(&own, args, tool.role, folds);
    }

    /// Another thing that a call names, or that was made with what it names, may have been changed.
    fn doubt_others(&mut self, own: &(usize, String), args: &Value, role: Role, folds: bool) {
        let named = scalars(args);
        for (known, thing) in &mut self.things {
            if known == own {
                continue;
            }
            let is_named = named.contains(&known.1) && known.0 != own.0;
            let is_made_with = role == Role::Delete
                && known.0 != own.0
                && thing.fields.values().any(|value| key::text_of(value).as_deref() == Some(&own.1));
            let is_within = role == Role::Delete && is_path_in(&known.1, &own.1);
            let is_folded = folds && known.0 == own.0 && is_folded_alike(&known.1, &own.1);
            if is_named || is_made_with || is_within || is_folded {
                thing.life = Life::Doubtful;
            }
        }
    }

    /// A call that writes in an unknown way may have changed what it names; if it names nothing, everything.
    fn doubt(&mut self, args: &Value, tool: &SequenceTool) {
        let named = scalars(args);
        let names_any = self.things.keys().any(|(_, key)| named.contains(key));
        let is_addition = tool.name.contains("import") || tool.name.contains("create") || tool.name.contains("add");
        for ((_, key), thing) in &mut self.things {
            if names_any && named.contains(key) || !names_any && !is_addition {
                thing.life = Life::Doubtful;
            }
        }
    }

    /// A thing that an invariant was broken for is not looked at again.
    pub(super) fn distrust(&mut self, subject: Option<&(usize, String)>) {
        if let Some(thing) = subject.and_then(|subject| self.things.get_mut(subject)) {
            thing.life = Life::Doubtful;
        }
    }
}

/// The cursor to the next page, and where it is in the reply.
pub(super) fn next_cursor(reply: &Reply) -> Option<(String, String)> {
    let map = reply.doc.as_ref()?.as_object()?;
    let is_cursor = |name: &str| {
        let plain = name.replace(['_', '-'], "").to_lowercase();
        matches!(plain.as_str(), "nextcursor" | "next" | "cursor" | "nextpagetoken" | "nextpage")
    };
    let (name, value) = map.iter().find(|(name, value)| is_cursor(name) && key::text_of(value).is_some())?;
    Some((key::text_of(value)?, format!("/{name}")))
}

/// The plain values of arguments, without the key. What the schema does not allow may be replaced.
fn written(args: &Value, tool: &SequenceTool) -> BTreeMap<String, Value> {
    let Value::Object(map) = args else { return BTreeMap::new() };
    let key = tool.key.as_deref();
    let is_declared = |name: &str, value: &Value| {
        let kind = tool.schema.get("properties").and_then(|all| all.get(name)?.get("type")?.as_str());
        kind.is_none_or(|kind| match value {
            Value::String(_) => kind == "string",
            Value::Number(_) => matches!(kind, "integer" | "number"),
            Value::Bool(_) => kind == "boolean",
            Value::Array(_) => kind == "array",
            Value::Null | Value::Object(_) => false,
        })
    };
    let is_plain = |value: &Value| match value {
        Value::String(_) | Value::Number(_) | Value::Bool(_) => true,
        Value::Array(items) => items.iter().all(|item| item.is_string() || item.is_number()),
        Value::Null | Value::Object(_) => false,
    };
    let own =
        map.iter().filter(|(name, value)| Some(name.as_str()) != key && is_plain(value) && is_declared(name, value));
    own.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// All texts and numbers in arguments.
pub(super) fn scalars(args: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![args];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(map) => open.extend(map.values()),
            Value::Array(items) => open.extend(items),
            Value::String(_) | Value::Number(_) => found.extend(key::text_of(value)),
            Value::Null | Value::Bool(_) => {}
        }
    }
    found
}

impl Thing {
    /// The texts that were written to it.
    pub(super) fn texts(&self) -> impl Iterator<Item = String> + '_ {
        self.fields.values().filter_map(Value::as_str).map(str::to_owned)
    }
}

/// True if two keys are one for a server that folds them.
pub(super) fn is_folded_alike(one: &str, other: &str) -> bool {
    let folded =
        |key: &str| key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    folded(one) == folded(other)
}

fn is_path_in(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with(['/', '\\', '.', ':']))
}

/// The record of a thing in a reply that is about it alone.
pub(super) fn record_in<'r>(reply: &'r Reply, key: &str, names: &[String]) -> Option<&'r Map<String, Value>> {
    if let Some(record) = reply.records_of(key, names).into_iter().next() {
        return Some(record);
    }
    reply.doc.as_ref().and_then(Value::as_object)
}

/// The value of a field, whatever way its name is written in.
pub(super) fn field<'r>(record: &'r Map<String, Value>, name: &str) -> Option<&'r Value> {
    record.get(name).or_else(|| {
        let plain = |name: &str| name.replace(['_', '-'], "").to_lowercase();
        let wanted = plain(name);
        record.iter().find(|(known, _)| plain(known) == wanted).map(|(_, value)| value)
    })
}
