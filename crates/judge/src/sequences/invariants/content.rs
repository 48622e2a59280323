//! Reads return the written values, wherever they are read.

use serde_json::{Map, Value, json};

use super::super::facts::{SEEN, seen};
use super::super::invariant::{Expected, Fault, Invariant, Scene};
use super::super::key::named_key;
use super::super::role::Role;
use super::super::sameness::{is_alike, is_stamp};
use super::super::step::StepTarget;
use super::super::world::{Life, field, record_in};
use super::identity::thing;

/// A read shows what was written last.
pub(in super::super) const NOT_AS_WRITTEN: Invariant = Invariant { id: "read-not-as-written", check: not_as_written };

/// A list and a read of the same thing agree.
pub(in super::super) const LIST_DISAGREES: Invariant = Invariant { id: "list-disagrees", check: list_disagrees };

fn not_as_written(scene: &Scene<'_>) -> Option<Fault> {
    let tool =
        scene.tool.filter(|tool| tool.role == Role::Read && scene.reply.is_fine && scene.is_about_key_alone())?;
    let (subject, known) = scene.thing.filter(|(_, known)| known.life == Life::Live)?;
    let wrong = known.fields.iter().find_map(|(name, written)| {
        let actual = read_field(scene, &subject.1, name)?;
        let is_proven = seen(&scene.facts.round_trips, &(scene.target(), name.clone())) >= SEEN;
        (is_proven && is_plain(written) && !is_alike(written, &actual)).then_some((name, written, actual))
    });
    let (name, written, actual) = wrong?;
    let message = format!(
        "`{}` shows {} {} with `{name}` {}, but {written} was written",
        tool.name,
        thing(&tool.noun),
        known.key,
        short(&actual)
    );
    let expected = match (&scene.reply.doc, written) {
        (Some(_), _) => Expected::Checks(json!({"json_path": {format!("$..{name}"): [written]}})),
        (None, Value::String(text)) => Expected::Checks(json!({"contains": [text]})),
        (None, _) => Expected::Unsaid,
    };
    Some(Fault { message, subject: Some(subject.clone()), blamed: Some(name.clone()), expected })
}

/// The value of a field in the reply to a read.
pub(super) fn read_field(scene: &Scene<'_>, key: &str, name: &str) -> Option<Value> {
    if scene.reply.doc.is_none() {
        let is_it = scene.facts.text_field.get(&scene.target()).is_some_and(|known| known == name);
        return is_it.then(|| Value::from(scene.reply.text.clone()));
    }
    field(record_in(scene.reply, key, scene.key_names())?, name).cloned()
}

/// Values that no server has a reason to change: short words and small numbers.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            !text.is_empty()
                && text.len() <= 40
                && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-'))
        }
        Value::Number(number) => number.as_i64().is_some_and(|number| number.abs() < 1_000_000),
        Value::Bool(_) => true,
        Value::Array(items) => items.iter().all(is_plain),
        Value::Null | Value::Object(_) => false,
    }
}

fn list_disagrees(scene: &Scene<'_>) -> Option<Fault> {
    let tool = scene.tool.filter(|_| scene.reply.is_fine)?;
    pairs(scene).into_iter().find_map(|pair| {
        let names = scene.key_names();
        let record = scene.reply.records_of(&pair.key, names).into_iter().next()?;
        let other = pair.other;
        // Where this call shows what was written, the other one is wrong, and is found when it is made again.
        let known = scene.world.things.get(&(scene.family, pair.key.clone()));
        let is_right = |name: &str, here: &Value| {
            let written = known.and_then(|known| known.fields.get(name));
            written.is_some_and(|written| is_alike(written, here))
        };
        let (name, here, there) =
            record.iter().filter(|(name, here)| !is_right(name, here)).find_map(|(name, here)| {
                let there = other.get(name).filter(|there| {
                    !is_stamp(name, here)
                        && is_scalar(there)
                        && is_scalar(here)
                        && !is_alike(here, there)
                        && !is_alike(there, here)
                })?;
                (seen(&scene.facts.agreed, &(pair.list, pair.reader, name.clone())) >= SEEN)
                    .then_some((name, here, there))
            })?;
        let other_name = pair.other_tool;
        let message = format!(
            "`{}` shows {} `{}` with `{name}` {}, `{other_name}` with {}",
            tool.name,
            thing(&tool.noun),
            pair.key,
            short(here),
            short(there)
        );
        let path = format!("$..[?@.{}=='{}'].{name}", names.first()?, pair.key);
        let expected = if tool.role == Role::List {
            Expected::Checks(json!({"json_path": {path: [there]}}))
        } else {
            Expected::Checks(json!({"json_path": {format!("$..{name}"): [there]}}))
        };
        Some(Fault { message, subject: Some((scene.family, pair.key.clone())), blamed: Some(name.clone()), expected })
    })
}

/// A list and a read that show the same thing, nothing having been changed between them.
pub(super) struct Pair<'s> {
    pub(super) key: String,
    pub(super) list: StepTarget,
    pub(super) reader: StepTarget,
    pub(super) other: &'s Map<String, Value>,
    pub(super) other_tool: &'s str,
}

pub(super) fn pairs<'s>(scene: &'s Scene<'_>) -> Vec<Pair<'s>> {
    let Some(tool) = scene.tool else { return Vec::new() };
    let names = scene.key_names();
    let wanted = match tool.role {
        Role::List => Role::Read,
        Role::Read => Role::List,
        Role::Create
        | Role::Set
        | Role::Search
        | Role::Update
        | Role::Delete
        | Role::Count
        | Role::Write
        | Role::Look => {
            return Vec::new();
        }
    };
    let mut pairs = Vec::new();
    for ((target, args), observed) in &scene.world.observed {
        let StepTarget::Tool(at) = target else { continue };
        let other = &scene.model.tools[*at];
        if other.role != wanted
            || scene.model.family_of(*at) != scene.family
            || observed.restarted
            || !observed.reply.is_fine
        {
            continue;
        }
        let keys: Vec<String> = match (tool.role, scene.thing) {
            (Role::Read, Some((subject, known))) if known.life == Life::Live => vec![subject.1.clone()],
            (Role::Read, _) => Vec::new(),
            (_, _) => {
                let read = serde_json::from_str::<Value>(args).ok();
                let key = read.as_ref().and_then(|args| named_key(other, args));
                key.into_iter().collect()
            }
        };
        for key in keys {
            if scene.world.things.get(&(scene.family, key.clone())).is_some_and(|known| known.life == Life::Live)
                && let Some(record) = observed.reply.records_of(&key, names).into_iter().next()
            {
                let (list, reader) =
                    if wanted == Role::Read { (scene.target(), *target) } else { (*target, scene.target()) };
                pairs.push(Pair { key, list, reader, other: record, other_tool: &other.name });
            }
        }
    }
    pairs
}

pub(super) fn is_scalar(value: &Value) -> bool {
    value.is_string() || value.is_number() || value.is_boolean()
}

pub(super) fn short(value: &Value) -> String {
    mcprove_model::shorten(&value.to_string(), 60).into_owned()
}
