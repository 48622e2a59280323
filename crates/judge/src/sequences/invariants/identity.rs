//! Keys: each thing has its own.

use serde_json::Value;

use super::super::invariant::{Expected, Fault, Invariant, Scene};
use super::super::key::{made_keys, text_of};
use super::super::role::{Role, SequenceTool};
use super::super::world::Life;

/// A key is given to one thing only, also after that was deleted.
pub(in super::super) const ID_REUSED: Invariant = Invariant { id: "id-reused", check: id_reused };

/// A list shows each thing once.
pub(in super::super) const LISTED_TWICE: Invariant = Invariant { id: "listed-twice", check: listed_twice };

fn id_reused(scene: &Scene<'_>) -> Option<Fault> {
    let tool = scene.tool.filter(|tool| tool.role == Role::Create && tool.key.is_none() && scene.reply.is_fine)?;
    let parts = tool.parts(&scene.step.args);
    let made = made_keys(scene.reply, tool, scene.key_names(), parts.len());
    made.into_iter().zip(&parts).find_map(|(made, part)| reused(scene, tool, made, part))
}

/// The key that a reply gives to a thing that was made with these arguments.
fn reused(
    scene: &Scene<'_>,
    tool: &SequenceTool,
    (value, pointer): (Value, Option<String>),
    part: &Value,
) -> Option<Fault> {
    let subject = (scene.family, text_of(&value)?);
    let known = scene.world.things.get(&subject)?;
    // What is made from the same title may well be the same thing, changed or made again.
    let shares = |value: &Value| known.fields.values().any(|field| field.is_string() && field == value);
    let is_same = part.as_object().is_some_and(|args| args.values().any(shares));
    if known.life == Life::Doubtful || is_same || known.made_with == *part || !known.is_made_by_server {
        return None;
    }
    if known.life == Life::Deleted && (tool.reuses_keys || scene.model.families[scene.family].deletes_softly) {
        return None;
    }
    let state = if known.life == Life::Deleted { "was deleted before" } else { "still exists" };
    let message =
        format!("`{}` gives a new {} the key {value}, which belongs to one that {state}", tool.name, thing(&tool.noun));
    let expected = match (&known.origin, pointer) {
        (Some((step, _)), Some(pointer)) => Expected::OtherThan(*step, pointer),
        (_, _) => Expected::Unsaid,
    };
    Some(Fault { message, subject: Some(subject), blamed: None, expected })
}

fn listed_twice(scene: &Scene<'_>) -> Option<Fault> {
    let tool = scene.tool.filter(|tool| tool.role == Role::List && scene.reply.is_fine)?;
    let items = scene.reply.items()?;
    let name = scene.key_names().first()?;
    scene.world.live(scene.family).take(64).find_map(|(key, _)| {
        let times = items.iter().filter(|item| item.get(name).and_then(text_of).as_ref() == Some(key)).count();
        (times > 1).then(|| Fault {
            message: format!("`{}` shows {} `{key}` {times} times", tool.name, thing(&tool.noun)),
            subject: Some((scene.family, key.clone())),
            blamed: None,
            expected: Expected::Checks(
                serde_json::json!({"json_path": {format!("$..[?@.{name}=='{key}'].{name}"): [key]}}),
            ),
        })
    })
}

/// The word for a thing of a noun.
pub(super) fn thing(noun: &str) -> &str {
    if noun.is_empty() { "thing" } else { noun }
}
