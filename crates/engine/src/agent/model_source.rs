//! Source of the model's answers: a script, a live model or a recording.

use mcprove_model::{AgentModel, ChatMessage, ChatReply, Finding, NamedModel};
use tokio::time::Instant;

use super::AgentCase;
use super::cassette::{self, Beginning, Recorder, Replay};
use super::live_model::LiveModel;
use super::script::Player;
use super::toolbox::Toolbox;
use super::transcript::{Called, Stopped, Transcript};

/// Source of the model's answers.
#[derive(Debug)]
pub(super) enum ModelSource<'s> {
    /// A script of the suite.
    Script(Box<Player<'s>>),
    /// A language model, perhaps recorded.
    Live(LiveModel<'s>, Option<Box<Recorder>>),
    /// A recording of one.
    Replay(Box<Replay>),
}

/// A request to the model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask<'a> {
    pub(super) system: Option<&'a str>,
    pub(super) messages: &'a [ChatMessage],
    pub(super) toolbox: &'a Toolbox,
    pub(super) deadline: Instant,
}

impl<'s> ModelSource<'s> {
    /// Chooses the source for this agent; the finding explains why none is available.
    pub(super) fn of(talk: &AgentCase<'s>, toolbox: &Toolbox) -> Result<Self, Box<Finding>> {
        match &talk.agent.model {
            AgentModel::Script(steps) => {
                Ok(Self::Script(Box::new(Player::new(steps, &talk.case.source, talk.variables.clone()))))
            }
            AgentModel::Named(named) => Self::named(talk, named, toolbox),
        }
    }

    fn named(talk: &AgentCase<'s>, named: &'s NamedModel, toolbox: &Toolbox) -> Result<Self, Box<Finding>> {
        let agent = talk.agent;
        let beginning = Beginning {
            case: talk.case,
            agent,
            system: agent.system_prompt.as_ref().map(|prompt| talk.text(prompt)),
            turns: agent
                .turns
                .iter()
                .chain(agent.simulated_user.as_ref().map(|user| &user.goal))
                .map(|turn| talk.text(turn))
                .collect(),
            tools: toolbox.shown(),
            tokens: talk.context.opener.tokens.given(),
        };
        let path = cassette::path_of(talk.case, talk.trial).unwrap_or_default();
        if !talk.context.record && path.is_file() {
            return Replay::open(&beginning, path).map(|replay| Self::Replay(Box::new(replay)));
        }
        let Some(provider) = &named.provider else {
            let message = format!("it is not known who runs the model `{}`, and no conversation is recorded", named.id);
            let help = "add `providers: {name: {base_url: …}}` with an OpenAI-compatible URL, or write `model: script`";
            return Err(Box::new(Finding::error("unknown-provider", message).help(help)));
        };
        if let Some(key) = provider.key.as_ref().filter(|key| key.value.is_none()) {
            let message = format!("the environment variable `{}` is not set", key.variable);
            let finding = Finding::error("missing-key", message);
            return Err(Box::new(finding.help(format!("set it to the key of `{}`", provider.name))));
        }
        let recorder = talk.context.record.then(|| Box::new(Recorder::new(&beginning, path)));
        let http = talk.context.opener.http.clone();
        Ok(Self::Live(LiveModel { http, model: named, provider, max_tokens: agent.budget.max_tokens }, recorder))
    }

    /// The next answer of the model, or why there is none.
    pub(super) async fn answer(&mut self, ask: Ask<'_>) -> Result<ChatReply, Stopped> {
        match self {
            Self::Script(player) => player.next(ask.toolbox),
            Self::Live(live, recorder) => {
                let reply = live.answer(ask).await?;
                if let Some(recorder) = recorder {
                    recorder.take(&reply);
                }
                Ok(reply)
            }
            Self::Replay(replay) => replay.next(),
        }
    }

    /// Takes the results of the calls of an answer.
    pub(super) fn add_results(&mut self, called: &[Called]) {
        match self {
            Self::Script(player) => player.add_results(called),
            Self::Live(_, Some(recorder)) => recorder.add_results(called),
            Self::Live(_, None) => {}
            Self::Replay(replay) => replay.add_results(called),
        }
    }

    /// True if what it says was recorded earlier.
    pub(super) fn is_replay(&self) -> bool {
        matches!(self, Self::Replay(_))
    }

    /// Writes the recording if there is one, and returns the findings at the end of the run.
    pub(super) fn finish(self, transcript: &Transcript) -> Vec<Finding> {
        match self {
            Self::Script(_) | Self::Live(_, None) => Vec::new(),
            Self::Live(_, Some(recorder)) => recorder.write(transcript).into_iter().collect(),
            Self::Replay(replay) => replay.finish(),
        }
    }
}
