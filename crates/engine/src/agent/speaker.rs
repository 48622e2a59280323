//! Whoever plays the model of an agent.

use mcprove_model::{AgentModel, ChatMessage, ChatReply, Finding};

use super::AgentCase;
use super::script::Player;
use super::toolbox::Toolbox;
use super::transcript::{Called, Stopped, Transcript};

/// Whoever plays the model.
#[derive(Debug)]
pub(super) enum Speaker<'s> {
    /// A script of the suite.
    Script(Player<'s>),
}

/// What a model is asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask<'a> {
    pub(super) system: Option<&'a str>,
    pub(super) messages: &'a [ChatMessage],
    pub(super) toolbox: &'a Toolbox,
    pub(super) deadline: tokio::time::Instant,
}

impl<'s> Speaker<'s> {
    /// Whoever plays the model of this agent; a finding says why nobody can.
    pub(super) fn of(talk: &AgentCase<'s>, _toolbox: &Toolbox) -> Result<Self, Box<Finding>> {
        match &talk.agent.model {
            AgentModel::Script(steps) => {
                Ok(Self::Script(Player::new(steps, &talk.case.source, talk.variables.clone())))
            }
            AgentModel::Named(named) => {
                Err(Box::new(Finding::error("no-model", format!("the model `{}` cannot be asked", named.id))))
            }
        }
    }

    /// The next answer of the model, or why there is none.
    pub(super) async fn answer(&mut self, ask: Ask<'_>) -> Result<ChatReply, Stopped> {
        match self {
            Self::Script(player) => player.next(ask.toolbox),
        }
    }

    /// Takes in what came of the calls of an answer.
    pub(super) fn hear(&mut self, called: &[Called]) {
        match self {
            Self::Script(player) => player.hear(called),
        }
    }

    /// What is left to do when the run is over.
    pub(super) fn finish(self, _transcript: &Transcript) -> Vec<Finding> {
        Vec::new()
    }
}
