//! Facts that a call which breaks nothing shows about the server.

use super::super::facts::{Facts, count};
use super::super::invariant::Scene;
use super::super::key::{named_key, text_of};
use super::super::role::Role;
use super::super::sameness::{is_alike, is_same_state};
use super::super::step::StepTarget;
use super::super::world::{Life, call_key, is_folded_alike};
use super::content::{is_scalar, pairs, read_field};
use super::counting::counted;
use super::deletion::shows;
use super::search::{has, lacks, query};

/// Takes in what a call shows. The facts of the scene are not looked at.
pub(in super::super) fn learn(scene: &Scene<'_>, facts: &mut Facts) {
    let target = scene.target();
    let known_call = call_key(scene.step);
    let steady = scene.tool.is_none_or(|tool| !tool.writes());
    if let Some(before) = scene.world.observed.get(&known_call).filter(|_| steady) {
        let is_same = is_same_state(&before.reply, scene.reply);
        if !is_same && before.is_undisturbed() {
            facts.unstable.insert(target);
        }
        if before.restarted && scene.world.is_changed {
            let initial = facts.initial.get(&known_call);
            let was_initial = initial.is_some_and(|initial| *initial == before.reply.text);
            match (is_same, was_initial) {
                (true, false) => count(&mut facts.kept, target),
                (false, _) => count(&mut facts.reset, target),
                (true, true) => {}
            }
        }
    } else if !scene.world.is_changed && !scene.world.is_restarted && steady && facts.initial.len() < 500 {
        let earlier = facts.initial.insert(known_call, scene.reply.text.clone());
        if earlier.is_some_and(|earlier| earlier != scene.reply.text) && scene.tool.is_none_or(|tool| tool.is_steady) {
            // Fresh servers differ, so that nothing is known of what a restart resets.
            facts.reset.entry(target).or_insert(1);
        }
    }
    let Some(tool) = scene.tool else {
        if target == StepTarget::Resources && scene.reply.is_fine {
            for family in 0..scene.model.families.len() {
                let live: Vec<&String> = scene.world.live(family).map(|(key, _)| key).take(16).collect();
                live.iter().filter(|key| shows(scene, family, key)).for_each(|_| count(&mut facts.listed, target));
            }
        }
        return;
    };
    if is_folded(scene) {
        facts.folds.insert(scene.family);
    }
    match tool.role {
        Role::Read | Role::Update | Role::Delete => keyed(scene, facts),
        Role::List if scene.reply.is_fine => {
            let longest = facts.longest.entry(target).or_default();
            *longest = (*longest).max(scene.reply.items().map_or(0, Vec::len));
            let live = scene.world.live(scene.family).take(16);
            live.filter(|(key, _)| shows(scene, scene.family, key)).for_each(|_| count(&mut facts.listed, target));
        }
        Role::Search if scene.reply.is_fine => {
            if let Some(text) = query(scene) {
                for (key, known) in scene.world.live(scene.family).take(32) {
                    match shows(scene, scene.family, key) {
                        true if has(known, text) => count(&mut facts.found, target),
                        false if lacks(known, key, text) => count(&mut facts.left_out, target),
                        true if lacks(known, key, text) && !known.past.iter().any(|past| past.contains(text)) => {
                            facts.loose.insert(target);
                        }
                        true | false => {}
                    }
                }
            }
        }
        Role::List | Role::Search | Role::Create | Role::Set | Role::Count | Role::Write | Role::Look => {}
    }
    if let Some((one, other)) = counted(scene)
        && one == other
        && other > 0
    {
        count(&mut facts.counted, target);
    }
    for pair in pairs(scene) {
        let Some(record) = scene.reply.records_of(&pair.key, scene.key_names()).into_iter().next() else { continue };
        for (name, here) in record {
            if is_scalar(here) && pair.other.get(name) == Some(here) {
                count(&mut facts.agreed, (pair.list, pair.reader, name.clone()));
            }
        }
    }
}

/// True if a reply names the key of a call in another way: the server folds keys.
fn is_folded(scene: &Scene<'_>) -> bool {
    let key = scene.tool.and_then(|tool| named_key(tool, &scene.step.args));
    let record = scene.reply.doc.as_ref().and_then(serde_json::Value::as_object);
    let (Some(key), Some(record), true) = (key, record, scene.reply.is_fine) else { return false };
    let shown = scene.key_names().iter().find_map(|name| text_of(record.get(name)?));
    shown.is_some_and(|shown| shown != key && is_folded_alike(&shown, &key))
}

/// A call that names a thing by its key.
fn keyed(scene: &Scene<'_>, facts: &mut Facts) {
    let (Some(tool), target) = (scene.tool, scene.target()) else { return };
    let Some((subject, known)) = scene.thing else {
        // A key that was never there; it is one of ours, which no server has by itself.
        if let Some(key) =
            named_key(tool, &scene.step.args).filter(|key| key.contains("missing") || key.starts_with("99"))
        {
            facts.note_missing(target, &key, scene.reply);
        }
        return;
    };
    if tool.role != Role::Read || known.life != Life::Live || !scene.reply.is_fine || scene.reply.is_nothing() {
        return;
    }
    count(&mut facts.reads, target);
    if scene.reply.doc.is_none() {
        let whole = known
            .fields
            .iter()
            .find(|(_, value)| value.as_str().is_some_and(|text| text.len() >= 3 && text == scene.reply.text));
        if let Some((name, _)) = whole {
            facts.text_field.entry(target).or_insert_with(|| name.clone());
        }
    }
    let seen_with = Scene { facts, ..copy(scene) };
    let agreed: Vec<String> = known
        .fields
        .iter()
        .filter(|(name, written)| {
            read_field(&seen_with, &subject.1, name).is_some_and(|actual| is_alike(written, &actual))
        })
        .map(|(name, _)| name.clone())
        .collect();
    for name in agreed {
        count(&mut facts.round_trips, (target, name));
    }
}

fn copy<'s>(scene: &Scene<'s>) -> Scene<'s> {
    Scene { thing: scene.thing, ..*scene }
}
