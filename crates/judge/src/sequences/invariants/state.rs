//! Calls that change nothing leave all replies as they were: errors, repetitions of idempotent calls, reads, restarts.

use serde_json::Value;

use super::super::facts::{SEEN, seen};
use super::super::invariant::{Expected, Fault, Invariant, Scene};
use super::super::role::Role;
use super::super::sameness::{is_mixture, is_same_state};
use super::super::step::StepTarget;
use super::super::world::{Observation, call_key};
use super::content::short;

/// A call that fails changes nothing.
pub(in super::super) const ERROR_CHANGED: Invariant = Invariant { id: "error-changed-state", check: error_changed };

/// An idempotent call that is repeated changes nothing.
pub(in super::super) const REPEAT_CHANGED: Invariant = Invariant { id: "repeat-changed-state", check: repeat_changed };

/// A call that only reads changes nothing.
pub(in super::super) const READ_CHANGED: Invariant = Invariant { id: "read-changed-state", check: read_changed };

/// A restart keeps everything, or nothing.
pub(in super::super) const RESTART_CHANGED: Invariant =
    Invariant { id: "restart-changed-state", check: restart_changed };

/// The earlier reply to the same call, if this one differs from it.
fn differing<'s>(scene: &'s Scene<'_>) -> Option<&'s Observation> {
    let is_reading = match scene.target() {
        StepTarget::Tool(_) => {
            scene.tool.is_some_and(|tool| !tool.writes() && tool.is_steady && tool.role != Role::Look)
        }
        StepTarget::Resources | StepTarget::Resource => true,
        StepTarget::Restart => false,
    };
    let before = scene.world.observed.get(&call_key(scene.step)).filter(|_| is_reading)?;
    // A read may change the order of a list, and so what its parts show.
    let is_part = scene.tool.is_some_and(|tool| {
        let parts = [&tool.limit, &tool.offset, &tool.cursor];
        parts.into_iter().flatten().any(|name| scene.step.args.get(name).is_some())
    });
    if is_part && before.read.is_some() {
        return None;
    }
    let is_other = !is_same_state(&before.reply, scene.reply);
    (is_other && scene.facts.is_stable(scene.target())).then_some(before)
}

fn name<'s>(scene: &'s Scene<'_>) -> &'s str {
    scene.tool.map_or("the resources", |tool| tool.name.as_str())
}

fn fault(scene: &Scene<'_>, before: &Observation, blamed: usize, what: &str) -> Fault {
    let blamed = scene.model.tools[blamed].name.clone();
    let is_sayable = !before.reply.is_volatile && before.reply.is_fine && !before.reply.text.is_empty();
    let expected = if is_sayable { Expected::SameAs(before.step) } else { Expected::Unsaid };
    Fault {
        message: format!(
            "`{}` {what} `{blamed}`: {} became {}",
            name(scene),
            short(&before.reply.text.clone().into()),
            short(&scene.reply.text.clone().into())
        ),
        subject: None,
        blamed: Some(blamed),
        expected,
    }
}

fn error_changed(scene: &Scene<'_>) -> Option<Fault> {
    let before = differing(scene).filter(|before| !before.restarted && before.repeated.is_none())?;
    Some(fault(scene, before, before.failed?, "shows something else after a failed call of"))
}

fn repeat_changed(scene: &Scene<'_>) -> Option<Fault> {
    let before = differing(scene).filter(|before| !before.restarted && before.failed.is_none())?;
    Some(fault(scene, before, before.repeated?, "shows something else after a repeated call of"))
}

fn read_changed(scene: &Scene<'_>) -> Option<Fault> {
    let before =
        differing(scene).filter(|before| !before.restarted && before.failed.is_none() && before.repeated.is_none())?;
    Some(fault(scene, before, before.read?, "shows something else after a call that only reads, of"))
}

fn restart_changed(scene: &Scene<'_>) -> Option<Fault> {
    let before = differing(scene).filter(|before| before.restarted)?;
    let initial = scene.facts.initial.get(&call_key(scene.step));
    let is_initial = initial.is_some_and(|initial| *initial == scene.reply.text);
    let is_gone = scene.thing.is_some_and(|(known, _)| scene.facts.says_missing(scene.target(), &known.1, scene.reply));
    let fresh = initial.and_then(|initial| serde_json::from_str::<Value>(initial).ok());
    // Some of what is shown may be kept, and some belong to the session.
    if let (Some(before), Some(fresh), Some(now)) = (&before.reply.doc, fresh, &scene.reply.doc)
        && !is_initial
        && is_mixture(before, &fresh, now)
    {
        return None;
    }
    let keeps = seen(&scene.facts.kept, &scene.target()) >= SEEN;
    let forgets = seen(&scene.facts.reset, &scene.target()) > 0;
    let what = match () {
        () if !is_initial && !is_gone && initial.is_some() => {
            "shows neither what was there before a restart nor what a fresh server shows"
        }
        () if keeps && !forgets => "loses what it keeps otherwise when the server is started again",
        () => return None,
    };
    let is_sayable = !before.reply.is_volatile;
    Some(Fault {
        message: format!(
            "`{}` {what}: {} became {}",
            name(scene),
            short(&before.reply.text.clone().into()),
            short(&scene.reply.text.clone().into())
        ),
        subject: None,
        blamed: None,
        expected: if is_sayable { Expected::SameAs(before.step) } else { Expected::Unsaid },
    })
}
