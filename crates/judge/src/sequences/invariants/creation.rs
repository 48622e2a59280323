//! Created things exist.

use serde_json::{Value, json};

use super::super::facts::{SEEN, seen};
use super::super::invariant::{Expected, Fault, Invariant, Scene};
use super::super::role::Role;
use super::super::step::StepTarget;
use super::super::world::{Life, Thing, next_cursor};
use super::deletion::shows;
use super::identity::thing;

/// A thing that was made can be read.
pub(in super::super) const NOT_READABLE: Invariant = Invariant { id: "created-not-readable", check: not_readable };

/// A thing that was made is in the list.
pub(in super::super) const NOT_LISTED: Invariant = Invariant { id: "created-not-listed", check: not_listed };

/// A thing that was made can be changed and deleted.
pub(in super::super) const NOT_USABLE: Invariant = Invariant { id: "created-not-usable", check: not_usable };

/// A list of this many items may be cut where it takes a limit.
const LONG: usize = 10;

/// A list of the newest things has this many at least.
const FEW: usize = 3;

fn not_readable(scene: &Scene<'_>) -> Option<Fault> {
    let tool = scene.tool.filter(|tool| tool.role == Role::Read)?;
    let (subject, known) = scene.thing.filter(|(_, known)| known.life == Life::Live)?;
    if !scene.facts.says_missing(scene.target(), &subject.1, scene.reply) {
        return None;
    }
    // A reader that takes more than the key may have refused something else.
    let is_about_key = scene.is_about_key_alone();
    let is_proven = seen(&scene.facts.reads, &scene.target()) >= SEEN;
    // What was written empty is read empty.
    let is_empty =
        |value: &Value| value.as_str().is_some_and(str::is_empty) || value.as_array().is_some_and(Vec::is_empty);
    let may_be_empty = scene.reply.is_fine && known.fields.values().any(is_empty);
    if !is_proven || !is_about_key || may_be_empty {
        return None;
    }
    let message =
        format!("`{}` does not find {} {}, which was made and not deleted", tool.name, thing(&tool.noun), known.key);
    let expected = Expected::Checks(match &scene.reply.doc {
        // An empty list in a document is not an empty reply.
        Some(_) if scene.reply.is_nothing() && !scene.reply.is_volatile => json!({"not_contains": [scene.reply.text]}),
        _ if scene.reply.is_fine => json!({"not_empty": true}),
        _ => json!({"not_error": true}),
    });
    Some(Fault { message, subject: Some(subject.clone()), blamed: None, expected })
}

fn not_listed(scene: &Scene<'_>) -> Option<Fault> {
    let is_list = scene.tool.is_some_and(|tool| tool.role == Role::List) || scene.target() == StepTarget::Resources;
    if !is_list || !scene.reply.is_fine || seen(&scene.facts.listed, &scene.target()) < SEEN {
        return None;
    }
    if next_cursor(scene.reply).is_some() || is_narrowed(scene) {
        return None;
    }
    let families = if scene.tool.is_some() { scene.family..scene.family + 1 } else { 0..0 };
    let (family, key, known) = families.into_iter().find_map(|family| {
        let mut live = scene.world.live(family).take(64);
        live.find(|(key, _)| !shows(scene, family, key)).map(|(key, known)| (family, key, known))
    })?;
    if shows_newest(scene, family, known) {
        return None;
    }
    let name = scene.tool.map_or("resources/list", |tool| &tool.name);
    let noun = &scene.model.families[family].noun;
    Some(Fault {
        message: format!("`{name}` does not show {} {}, which was made and not deleted", thing(noun), known.key),
        subject: Some((family, key.clone())),
        blamed: None,
        expected: Expected::Has(known.key.clone()),
    })
}

/// True if a list may show the newest things only: as many as it ever showed, and what it leaves out is older than all of them.
fn shows_newest(scene: &Scene<'_>, family: usize, missing: &Thing) -> bool {
    let items = scene.reply.items().map_or(0, Vec::len);
    let longest = seen(&scene.facts.longest, &scene.target());
    let shown: Vec<&Thing> =
        scene.world.live(family).filter(|(key, _)| shows(scene, family, key)).map(|(_, known)| known).collect();
    let is_older = |of: fn(&Thing) -> u32| shown.iter().all(|known| of(known) > of(missing));
    let is_oldest = is_older(|known| known.made_at) || is_older(|known| known.written_at);
    items >= FEW && items >= longest && !shown.is_empty() && is_oldest
}

/// True if a list may leave something out: it has arguments, or it is long and takes a limit.
fn is_narrowed(scene: &Scene<'_>) -> bool {
    let has_arguments = scene.step.args.as_object().is_some_and(|args| !args.is_empty());
    let Some(tool) = scene.tool else { return has_arguments };
    let default = |name: &String| {
        let own = tool.schema.get("properties")?.get(name)?;
        own.get("default")?.as_u64().and_then(|limit| usize::try_from(limit).ok())
    };
    let items = scene.reply.items().map_or(0, Vec::len);
    let is_cut = tool.limit.as_ref().is_some_and(|limit| items >= default(limit).unwrap_or(LONG));
    has_arguments || is_cut
}

fn not_usable(scene: &Scene<'_>) -> Option<Fault> {
    let tool = scene.tool.filter(|tool| matches!(tool.role, Role::Update | Role::Delete) && !scene.reply.is_fine)?;
    let (subject, known) = scene.thing.filter(|(_, known)| known.life == Life::Live)?;
    // The very text that it answers to keys that never existed, on a thing that others find.
    if !scene.facts.is_text_of_missing(scene.target(), &subject.1, scene.reply)
        || !scene.reply.text.contains(&subject.1)
    {
        return None;
    }
    let message =
        format!("`{}` does not find {} {}, which was made and not deleted", tool.name, thing(&tool.noun), known.key);
    Some(Fault {
        message,
        subject: Some(subject.clone()),
        blamed: None,
        expected: Expected::Checks(json!({"not_error": true})),
    })
}
