//! The history of one server, judged call by call.

use super::facts::Facts;
use super::invariant::{Breach, Fault, INVARIANTS, Scene};
use super::invariants;
use super::model::SequenceModel;
use super::reply::Reply;
use super::step::{Step, StepTarget};
use super::world::World;

/// Judges the calls that one server gets.
#[derive(Clone, Debug)]
pub struct Judge<'m> {
    pub(super) model: &'m SequenceModel,
    pub(super) world: World,
    /// Facts about the server.
    pub facts: Facts,
}

impl<'m> Judge<'m> {
    /// Begins with a fresh server.
    pub fn new(model: &'m SequenceModel, facts: Facts) -> Self {
        Self { model, world: World::default(), facts }
    }

    /// Takes in a call and its reply; the first invariant that it breaks.
    pub fn take(&mut self, step: &Step, reply: &Reply) -> Option<Breach> {
        let breach = if reply.is_broken { None } else { self.judge(step, reply) };
        self.world.take(self.model, step, reply);
        if let Some((_, subject)) = &breach {
            self.world.distrust(subject.as_ref());
        }
        breach.map(|(breach, _)| breach)
    }

    fn judge(&mut self, step: &Step, reply: &Reply) -> Option<(Breach, Option<(usize, String)>)> {
        let (tool, family) = match step.target {
            StepTarget::Tool(at) => (Some(&self.model.tools[at]), self.model.family_of(at)),
            StepTarget::Resources | StepTarget::Resource | StepTarget::Restart => (None, usize::MAX),
        };
        let thing = self.world.thing_of(self.model, step);
        let scene =
            Scene { model: self.model, world: &self.world, facts: &self.facts, step, tool, family, thing, reply };
        let found =
            INVARIANTS.iter().find_map(|invariant| (invariant.check)(&scene).map(|fault| (invariant.id, fault)));
        if let Some((rule, fault)) = found {
            return Some(breach(rule, fault, &scene));
        }
        let mut facts = std::mem::take(&mut self.facts);
        let scene =
            Scene { model: self.model, world: &self.world, facts: &Facts::default(), step, tool, family, thing, reply };
        invariants::learning::learn(&scene, &mut facts);
        self.facts = facts;
        None
    }
}

fn breach(rule: &'static str, fault: Fault, scene: &Scene<'_>) -> (Breach, Option<(usize, String)>) {
    let called = match scene.step.target {
        StepTarget::Tool(at) => scene.model.tools[at].name.clone(),
        StepTarget::Resources => "resources/list".to_owned(),
        StepTarget::Resource => "resources/read".to_owned(),
        StepTarget::Restart => "restart".to_owned(),
    };
    // Which of several calls changed what it should not is known once all others are left out.
    let is_change = matches!(rule, "error-changed-state" | "repeat-changed-state" | "read-changed-state");
    let blamed = fault.blamed.unwrap_or_default();
    let signature = if is_change { format!("changed-state {called}") } else { format!("{rule} {called} {blamed}") };
    let cause = if is_change { format!("{rule} {blamed}") } else { signature.clone() };
    (
        Breach { rule: rule.to_owned(), message: fault.message, signature, cause, expected: fault.expected },
        fault.subject,
    )
}
