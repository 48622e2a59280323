//! Deleted things are gone.

use serde_json::{Value, json};

use super::super::facts::seen;
use super::super::invariant::{Expected, Fault, Invariant, Scene};
use super::super::key::text_of;
use super::super::role::Role;
use super::super::step::StepTarget;
use super::super::world::{Life, record_in};
use super::identity::thing;
use crate::generate::words;

/// A deleted thing cannot be read.
pub(in super::super) const STILL_READABLE: Invariant =
    Invariant { id: "deleted-still-readable", check: still_readable };

/// A deleted thing is in no list.
pub(in super::super) const STILL_LISTED: Invariant = Invariant { id: "deleted-still-listed", check: still_listed };

/// A deleted thing cannot be changed.
pub(in super::super) const STILL_USABLE: Invariant = Invariant { id: "deleted-still-usable", check: still_usable };

/// Fields of things that are only marked as deleted.
const MARKS: &[&str] = &["archived", "closed", "deleted", "removed", "state", "status", "trash", "trashed"];

fn still_readable(scene: &Scene<'_>) -> Option<Fault> {
    let tool = scene.tool.filter(|tool| tool.role == Role::Read && scene.is_about_key_alone())?;
    let (subject, known) = scene.thing.filter(|(_, known)| known.life == Life::Deleted)?;
    let is_missing = scene.facts.says_missing(scene.target(), &subject.1, scene.reply);
    if scene.model.families[scene.family].deletes_softly {
        return None;
    }
    if is_missing || !scene.facts.refuses_missing(scene.target()) || seen(&scene.facts.reads, &scene.target()) == 0 {
        return None;
    }
    let record = record_in(scene.reply, &subject.1, scene.key_names());
    if record.is_some_and(|record| record.keys().any(|name| is_mark(name))) {
        return None;
    }
    let expected = if scene.facts.shows_nothing_for_missing(scene.target()) {
        Expected::HasNot(known.key.clone())
    } else {
        Expected::Checks(json!({"is_error": true}))
    };
    let message = format!("`{}` still shows {} {} after it was deleted", tool.name, thing(&tool.noun), known.key);
    Some(Fault { message, subject: Some(subject.clone()), blamed: None, expected })
}

fn still_listed(scene: &Scene<'_>) -> Option<Fault> {
    let is_list = scene.tool.is_some_and(|tool| tool.role == Role::List) || scene.target() == StepTarget::Resources;
    if !is_list || !scene.reply.is_fine || seen(&scene.facts.listed, &scene.target()) == 0 || continues(scene) {
        return None;
    }
    let families = if scene.tool.is_some() { scene.family..scene.family + 1 } else { 0..scene.model.families.len() };
    let (family, key, known) = families.into_iter().find_map(|family| {
        let gone = scene.world.in_state(family, Life::Deleted).take(64);
        gone.into_iter().find(|(key, _)| shows_it_alone(scene, family, key)).map(|(key, known)| (family, key, known))
    })?;
    let names = &scene.model.families[family].keys;
    let marked = |record: &&serde_json::Map<String, serde_json::Value>| record.keys().any(|name| is_mark(name));
    if scene.reply.records_of(key, names).iter().any(marked) {
        return None;
    }
    let name = scene.tool.map_or("resources/list", |tool| &tool.name);
    let noun = &scene.model.families[family].noun;
    Some(Fault {
        message: format!("`{name}` still shows {} {} after it was deleted", thing(noun), known.key),
        subject: Some((family, key.clone())),
        blamed: None,
        expected: Expected::HasNot(known.key.clone()),
    })
}

/// True if a page may be one of a list as it was when the first page was asked for.
fn continues(scene: &Scene<'_>) -> bool {
    let cursor = scene.tool.and_then(|tool| tool.cursor.as_ref());
    cursor.is_some_and(|cursor| scene.step.args.get(cursor).is_some())
}

/// True if a list shows a thing for certain: its key is not a word or a number that means something else.
pub(super) fn shows_it_alone(scene: &Scene<'_>, family: usize, key: &str) -> bool {
    if scene.tool.is_none() || !shows(scene, family, key) {
        return scene.tool.is_none() && shows(scene, family, key);
    }
    // Another thing may name it, or have the same text.
    let mut others = scene.world.live(family).filter(|(other, _)| *other != key);
    let is_elsewhere = |text: &str| text.contains(key);
    if others.any(|(other, known)| is_elsewhere(other) || known.texts().any(|text| is_elsewhere(&text))) {
        return !scene.reply.records_of(key, &scene.model.families[family].keys).is_empty();
    }
    if let Some(items) = scene.reply.items() {
        let is_item = |item: &Value| text_of(item).as_deref() == Some(key);
        let is_name = scene.reply.objects().iter().any(|map| map.contains_key(key));
        return is_name
            || items.iter().any(is_item)
            || !scene.reply.records_of(key, &scene.model.families[family].keys).is_empty();
    }
    let mut lines = scene.reply.text.lines().filter(|line| has_key(line, key));
    lines.any(|line| !words(line).iter().any(|word| is_mark(word)))
}

/// True if a line has a key, and a number where a line names numbers.
fn has_key(line: &str, key: &str) -> bool {
    let is_number = key.chars().all(|c| c.is_ascii_digit());
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    line.match_indices(key).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + key.len()..]);
        let is_whole = !before.ends_with(is_part) && !after.starts_with(is_part);
        let before = before.trim_end_matches([' ', ':', '=', '`', '*', '"', '(', '[']).to_lowercase();
        is_whole && (!is_number || before.ends_with('#') || before.ends_with("id"))
    })
}

/// True if a list shows a thing; resources show it in their URIs.
pub(super) fn shows(scene: &Scene<'_>, family: usize, key: &str) -> bool {
    if scene.tool.is_some() {
        let names = &scene.model.families[family].keys;
        return match scene.reply.items() {
            // A number may be anything; only the key of a record is meant.
            Some(_) if key.chars().all(|c| c.is_ascii_digit()) => !scene.reply.records_of(key, names).is_empty(),
            _ => {
                let folds = scene.model.families[family].folds_case || scene.facts.folds.contains(&family);
                scene.reply.mentions(key) || folds && scene.reply.text.to_lowercase().contains(&key.to_lowercase())
            }
        };
    }
    let items = scene.reply.items().map(Vec::as_slice).unwrap_or_default();
    items
        .iter()
        .filter_map(|item| item.get("uri")?.as_str())
        .any(|uri| uri == key || uri.rsplit(['/', ':', '=']).next() == Some(key))
}

fn still_usable(scene: &Scene<'_>) -> Option<Fault> {
    let tool = scene.tool.filter(|tool| tool.role == Role::Update && scene.reply.is_fine)?;
    let (subject, known) = scene.thing.filter(|(_, known)| known.life == Life::Deleted)?;
    if !scene.facts.refuses_missing(scene.target())
        || scene.model.families[scene.family].deletes_softly
        || scene.facts.is_text_of_missing(scene.target(), &subject.1, scene.reply)
    {
        return None;
    }
    let message = format!("`{}` accepts {} {} after it was deleted", tool.name, thing(&tool.noun), known.key);
    Some(Fault {
        message,
        subject: Some(subject.clone()),
        blamed: None,
        expected: Expected::Checks(json!({"is_error": true})),
    })
}

fn is_mark(name: &str) -> bool {
    let plain = name.to_lowercase();
    MARKS.iter().any(|mark| plain == *mark || plain.starts_with(&format!("{mark}_")) || plain == format!("is_{mark}"))
}
