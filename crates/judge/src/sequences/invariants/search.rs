//! A search finds the things that have the text, and no others.

use serde_json::Value;

use super::super::facts::{SEEN, seen};
use super::super::invariant::{Expected, Fault, Invariant, Scene};
use super::super::role::Role;
use super::super::world::{Life, Thing};
use super::deletion::{shows, shows_it_alone};
use super::identity::thing;

/// A search agrees with what was written.
pub(in super::super) const DISAGREES: Invariant = Invariant { id: "search-disagrees", check: disagrees };

/// A search that finds this many may leave out others.
const MANY: usize = 5;

fn disagrees(scene: &Scene<'_>) -> Option<Fault> {
    let tool = scene.tool.filter(|tool| tool.role == Role::Search && scene.reply.is_fine)?;
    let text = query(scene)?;
    let fault = |key: &String, known: &Thing, what: &str, expected: Expected| {
        let noun = thing(&tool.noun);
        Fault {
            message: format!("`{}` for `{text}` {what} ({noun} {})", tool.name, known.key),
            subject: Some((scene.family, key.clone())),
            blamed: None,
            expected,
        }
    };
    let finds = seen(&scene.facts.found, &scene.target()) >= SEEN;
    if finds
        && let Some((key, known)) =
            scene.world.in_state(scene.family, Life::Deleted).find(|(key, _)| shows_it_alone(scene, scene.family, key))
    {
        return Some(fault(key, known, "finds what was deleted", Expected::HasNot(known.key.clone())));
    }
    if finds
        && scene.reply.items().is_none_or(|items| items.len() < MANY)
        && let Some((key, known)) = scene.world.live(scene.family).find(|(key, known)| {
            has(known, text)
                && is_proven(scene, known, |value| value.as_str() == Some(text))
                && !shows(scene, scene.family, key)
        })
    {
        return Some(fault(key, known, "does not find what has this text", Expected::Has(known.key.clone())));
    }
    let narrows = seen(&scene.facts.left_out, &scene.target()) >= SEEN;
    if finds
        && narrows
        && !scene.facts.loose.contains(&scene.target())
        && let Some((key, known)) = scene.world.live(scene.family).find(|(key, known)| {
            lacks(known, key, text) && is_proven(scene, known, Value::is_string) && shows(scene, scene.family, key)
        })
    {
        return Some(fault(
            key,
            known,
            "finds what does not have this text any more",
            Expected::HasNot(known.key.clone()),
        ));
    }
    None
}

/// True if a read has shown these fields as they were written, where such things can be read.
fn is_proven(scene: &Scene<'_>, known: &Thing, which: impl Fn(&Value) -> bool) -> bool {
    let has_reader = scene.model.with_role(scene.family, &[Role::Read]).next().is_some();
    !has_reader || known.fields.iter().all(|(name, value)| !which(value) || known.confirmed.contains(name))
}

pub(super) fn query<'s>(scene: &'s Scene<'_>) -> Option<&'s str> {
    let args = scene.step.args.as_object()?;
    let name = scene.tool?.query.as_deref()?;
    // Other arguments may narrow the search further.
    args.get(name)?.as_str().filter(|text| args.len() == 1 && text.len() >= 3)
}

/// True if a thing was written with a text as the whole of a field.
pub(super) fn has(known: &Thing, text: &str) -> bool {
    known.fields.values().any(|value| value.as_str() == Some(text))
}

/// True if nothing that was written to a thing has the text in it.
pub(super) fn lacks(known: &Thing, key: &str, text: &str) -> bool {
    let text = text.to_lowercase();
    let in_value = |value: &Value| value.to_string().to_lowercase().contains(&text);
    !known.fields.is_empty() && !key.to_lowercase().contains(&text) && !known.fields.values().any(in_value)
}
