//! The loop: the user speaks, the model answers with calls until it answers with a text, or until a budget trips.

use mcprove_model::{ChatCall, ChatMessage, ChatResult, SimulatedUser, StopReason};
use mcprove_wire::Session;
use tokio::time::Instant;

use super::AgentCase;
use super::dispatch::{self, Moment};
use super::injection::Injection;
use super::model_source::{Ask, ModelSource};
use super::toolbox::Toolbox;
use super::transcript::{Called, Stopped, Transcript, UserTurn};

/// The word of a simulated user who is content.
const CONTENT: &str = "DONE";

/// Takes all turns; what happened is in the transcript, whatever it was.
pub(super) async fn take(
    talk: &mut AgentCase<'_>,
    model_source: &mut ModelSource<'_>,
    toolbox: &Toolbox,
    injection: &mut Injection,
    sessions: &mut [Session],
) -> Transcript {
    let began = Instant::now();
    let agent = talk.agent;
    let system = agent.system_prompt.as_ref().map(|prompt| talk.text(prompt));
    let users: Vec<String> = agent.turns.iter().map(|turn| talk.text(turn)).collect();
    let mut run = Run { talk, model_source, toolbox, injection, sessions, messages: Vec::new() };
    let mut transcript = Transcript { system, replayed: run.model_source.is_replay(), ..Transcript::default() };
    for user in users {
        run.messages.push(ChatMessage::User { text: user.clone() });
        transcript.turns.push(UserTurn { user, response: None });
        if let Err(stopped) = run.turn(&mut transcript).await {
            transcript.stopped = Some(stopped);
            break;
        }
    }
    if let Some(user) = agent.simulated_user.as_ref().filter(|_| transcript.stopped.is_none()) {
        transcript.stopped = run.simulate(user, &mut transcript).await.err();
    }
    transcript.messages = run.messages.len();
    transcript.elapsed_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    transcript
}

struct Run<'r, 'c, 's> {
    talk: &'r mut AgentCase<'c>,
    model_source: &'r mut ModelSource<'s>,
    toolbox: &'r Toolbox,
    injection: &'r mut Injection,
    sessions: &'r mut [Session],
    messages: Vec<ChatMessage>,
}

impl Run<'_, '_, '_> {
    /// From what the user said to what the model answers.
    async fn turn(&mut self, transcript: &mut Transcript) -> Result<(), Stopped> {
        let budget = self.talk.agent.budget;
        let turn = transcript.turns.len() - 1;
        for _ in 0..budget.max_turns {
            if Instant::now() >= self.talk.deadline {
                return Err(Stopped::by(StopReason::TimeBudget));
            }
            let ask = Ask {
                system: transcript.system.as_deref(),
                messages: &self.messages,
                toolbox: self.toolbox,
                deadline: self.talk.deadline,
            };
            let reply = self.model_source.answer(ask).await?;
            let hop = transcript.model_turns;
            transcript.model_turns += 1;
            transcript.usage = transcript.usage.plus(reply.usage);
            transcript.truncated |= reply.truncated;
            self.messages.push(ChatMessage::Assistant { text: reply.text.clone(), calls: reply.calls.clone() });
            if budget.token_budget.is_some_and(|most| transcript.usage.total() > most) {
                return Err(Stopped::by(StopReason::TokenBudget));
            }
            if reply.calls.is_empty() {
                transcript.turns[turn].response = Some(reply.text);
                return Ok(());
            }
            let wanted = (transcript.calls.len() + reply.calls.len()) as u64;
            if wanted > budget.tool_calls() {
                return Err(Stopped::by(StopReason::ToolCallBudget));
            }
            let called = self.make(&reply.calls, Moment { turn, hop }).await;
            self.messages.push(tool_results_message(&reply.calls, &called));
            self.model_source.add_results(&called);
            transcript.calls.extend(called);
        }
        Err(Stopped::by(StopReason::TurnBudget))
    }

    /// Lets the model play the user, too, until the user is content or has spoken often enough.
    async fn simulate(&mut self, user: &SimulatedUser, transcript: &mut Transcript) -> Result<(), Stopped> {
        let persona = user.persona.as_ref().map(|persona| format!(" You are: {}.", self.talk.text(persona)));
        let system = format!(
            "You play a user who talks to an assistant.{} Your goal: {}. Write only what the user says next. When the goal is \
             reached, or cannot be, write {CONTENT} and nothing else.",
            persona.unwrap_or_default(),
            self.talk.text(&user.goal)
        );
        let nothing = Toolbox::new(Vec::new());
        for _ in 0..user.max_turns {
            // To the user, the assistant is the other one.
            let mut heard = vec![ChatMessage::User { text: "The conversation begins.".to_owned() }];
            for turn in &transcript.turns {
                heard.push(ChatMessage::Assistant { text: turn.user.clone(), calls: Vec::new() });
                heard.push(ChatMessage::User { text: turn.response.clone().unwrap_or_default() });
            }
            let deadline = self.talk.deadline;
            let ask = Ask { system: Some(&system), messages: &heard, toolbox: &nothing, deadline };
            let said = self.model_source.answer(ask).await?;
            transcript.usage = transcript.usage.plus(said.usage);
            let text = said.text.trim().to_owned();
            if text.is_empty() || text.trim_matches(|c: char| !c.is_alphanumeric()) == CONTENT {
                return Ok(());
            }
            self.messages.push(ChatMessage::User { text: text.clone() });
            transcript.turns.push(UserTurn { user: text, response: None });
            self.turn(transcript).await?;
        }
        Ok(())
    }

    async fn make(&mut self, calls: &[ChatCall], moment: Moment) -> Vec<Called> {
        dispatch::make(self.talk, calls, moment, (self.toolbox, self.injection), self.sessions).await
    }
}

/// The message with the results of the model's calls.
fn tool_results_message(calls: &[ChatCall], called: &[Called]) -> ChatMessage {
    let results = calls.iter().zip(called).map(|(call, called)| ChatResult {
        id: call.id.clone(),
        text: called.text.clone(),
        is_error: called.is_error,
    });
    ChatMessage::Results { results: results.collect() }
}
