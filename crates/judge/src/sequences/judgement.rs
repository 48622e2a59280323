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

    /// True if a call only reads, so that it may be repeated.
    pub fn only_reads(&self, step: &Step) -> bool {
        match step.target {
            StepTarget::Tool(at) => !self.model.tools[at].writes(),
            StepTarget::Resources | StepTarget::Resource => true,
            StepTarget::Restart => false,
        }
    }

    /// Takes in a call and its reply; the first invariant that it breaks.
    pub fn take(&mut self, step: &Step, reply: &Reply) -> Option<Breach> {
        let verdict = self.check(step, reply);
        self.accept(step, reply, verdict)
    }

    /// Takes in a call and its reply with the verdict on it.
    pub fn accept(&mut self, step: &Step, reply: &Reply, verdict: Option<SequenceVerdict>) -> Option<Breach> {
        // A server that refuses calls for now says nothing about its things.
        if reply.is_refusal {
            return None;
        }
        if verdict.is_none() && !reply.is_broken {
            let mut facts = std::mem::take(&mut self.facts);
            invariants::learning::learn(&self.scene(step, reply, &Facts::default()), &mut facts);
            self.facts = facts;
        }
        self.world.take(self.model, step, reply, &self.facts);
        if let Some(verdict) = &verdict {
            self.world.distrust(verdict.subject.as_ref());
        }
        verdict.map(|verdict| verdict.breach)
    }

    /// The first invariant that a reply breaks; nothing is taken in.
    pub fn check(&self, step: &Step, reply: &Reply) -> Option<SequenceVerdict> {
        if reply.is_refusal || reply.is_broken {
            return None;
        }
        let scene = self.scene(step, reply, &self.facts);
        let demanded = INVARIANTS.iter().filter(|invariant| !self.model.off.iter().any(|off| off == invariant.id));
        let found = demanded.into_iter().find_map(|invariant| Some((invariant.id, (invariant.check)(&scene)?)));
        found.map(|(rule, fault)| breach(rule, fault, &scene))
    }

    fn scene<'s>(&'s self, step: &'s Step, reply: &'s Reply, facts: &'s Facts) -> Scene<'s> {
        let (tool, family) = match step.target {
            StepTarget::Tool(at) => (Some(&self.model.tools[at]), self.model.family_of(at)),
            StepTarget::Resources | StepTarget::Resource | StepTarget::Restart => (None, usize::MAX),
        };
        let thing = self.world.thing_of(self.model, step);
        Scene { model: self.model, world: &self.world, facts, step, tool, family, thing, reply }
    }
}

/// A broken invariant, and the thing that it is about.
#[derive(Clone, Debug)]
pub struct SequenceVerdict {
    breach: Breach,
    subject: Option<(usize, String)>,
}

fn breach(rule: &'static str, fault: Fault, scene: &Scene<'_>) -> SequenceVerdict {
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
    SequenceVerdict {
        breach: Breach { rule: rule.to_owned(), message: fault.message, signature, cause, expected: fault.expected },
        subject: fault.subject,
    }
}
