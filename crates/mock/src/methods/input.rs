//! Requests to a client before it is answered, in the form of each era.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcprove_judge::argument_errors;
use mcprove_model::Era;
use serde_json::{Map, Value, json};

use super::Call;
use crate::manifest::{Ask, AskMethod, Round};
use crate::placeholders::fill;
use crate::rpc::{Ended, MISSING_CAPABILITY, Refusal};

/// Result of requests to the client.
pub(super) enum ClientAnswers {
    /// Everything was answered, and the scope holds the answers.
    All,
    /// A result that asks.
    Asks(Value),
    /// It could not be asked, or was answered with an error.
    Failed(String),
}

impl Call<'_> {
    /// Asks what there is to ask. Answers are found under `input.<key>` and under the name of what was asked.
    pub(super) async fn ask_client(&self, rounds: &[Round], scope: &mut Value) -> Result<ClientAnswers, Ended> {
        match self.caller.era() {
            Era::Legacy => self.ask_in_turn(rounds, scope).await,
            Era::Modern => self.ask_by_result(rounds, scope).map_err(Ended::from),
        }
    }

    async fn ask_in_turn(&self, rounds: &[Round], scope: &mut Value) -> Result<ClientAnswers, Ended> {
        for ask in rounds.iter().flat_map(|round| &round.asks) {
            if !self.caller.declares(&ask.required_capability()) {
                let needed = ask.method.capability();
                return Ok(ClientAnswers::Failed(format!("this needs a client that declares `{needed}`")));
            }
            let params = fill(&ask.params, scope);
            match self.session.ask(self.sink, ask.method.name(), &params).await? {
                Ok(answer) => keep(scope, ask, answer),
                Err(error) => {
                    let message = error.get("message").and_then(Value::as_str).unwrap_or("no reason was given");
                    return Ok(ClientAnswers::Failed(format!("the client refused `{}`: {message}", ask.method.name())));
                }
            }
        }
        Ok(ClientAnswers::All)
    }

    fn ask_by_result(&self, rounds: &[Round], scope: &mut Value) -> Result<ClientAnswers, Refusal> {
        let (mut at, gathered) = self.reached(rounds)?;
        for (ask, answer) in rounds[..at]
            .iter()
            .flat_map(|round| &round.asks)
            .filter_map(|ask| gathered.get(&ask.key).map(|answer| (ask, answer.clone())))
        {
            keep(scope, ask, answer);
        }
        let has_state = self.params().get("requestState").is_some();
        let answers = self.object("inputResponses")?;
        if let Some(round) = rounds.get(at)
            && (has_state || state_of(rounds, at) == State::None)
            && (has_state || !round.asks.is_empty())
            && round.asks.iter().all(|ask| answers.get(&ask.key).is_some_and(|answer| is_fit(ask, answer)))
        {
            for ask in &round.asks {
                keep(scope, ask, answers[&ask.key].clone());
            }
            at += 1;
        }
        match rounds.get(at) {
            None => Ok(ClientAnswers::All),
            Some(round) => self.asking(rounds, round, at, scope).map(ClientAnswers::Asks),
        }
    }

    /// The result that asks for a round.
    fn asking(&self, rounds: &[Round], round: &Round, at: usize, scope: &Value) -> Result<Value, Refusal> {
        self.require(&round.asks)?;
        let mut result = json!({"resultType": "input_required"});
        if !round.asks.is_empty() {
            result["inputRequests"] = requests(&round.asks, scope);
        }
        match (&round.state, state_of(rounds, at)) {
            (Some(state), _) => result["requestState"] = json!(state),
            (None, State::MadeUp) => result["requestState"] = json!(self.make_state(at, &scope["input"])),
            (None, State::None | State::Written) => {}
        }
        if let Some(description) = &round.description {
            result["description"] = json!(description);
        }
        Ok(result)
    }

    /// Refuses a client that did not declare what the questions need.
    pub(super) fn require(&self, asks: &[Ask]) -> Result<(), Refusal> {
        let mut missing = Map::new();
        for ask in asks {
            let needed = ask.required_capability();
            if !self.caller.declares(&needed)
                && let Value::Object(needed) = needed
            {
                missing.extend(needed);
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let names = missing.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let refusal = Refusal::new(MISSING_CAPABILITY, format!("this needs a client that declares {names}"));
        Err(refusal.with(json!({"requiredCapabilities": missing})))
    }

    /// The round that a request answers, and the answers before it.
    fn reached(&self, rounds: &[Round]) -> Result<(usize, Value), Refusal> {
        let given = match self.params().get("requestState") {
            None => return Ok((0, json!({}))),
            Some(Value::String(given)) => given,
            Some(_) => return Err(Refusal::params("`requestState` must be text (at /requestState)")),
        };
        if let Some(at) = rounds.iter().position(|round| round.state.as_ref() == Some(given)) {
            return Ok((at, json!({})));
        }
        let read = self.read_state(given).filter(|(at, _)| *at < rounds.len());
        read.ok_or_else(|| Refusal::params("`requestState` is not what was given out (at /requestState)"))
    }

    /// A state that holds what is known, sealed so that only this mock can have made it, for this request.
    fn make_state(&self, at: usize, gathered: &Value) -> String {
        let payload = URL_SAFE_NO_PAD.encode(json!([at, gathered]).to_string());
        let seal = self.seal(&payload);
        format!("{payload}.{seal}")
    }

    fn read_state(&self, state: &str) -> Option<(usize, Value)> {
        let (payload, seal) = state.split_once('.')?;
        if self.seal(payload) != seal {
            return None;
        }
        let known: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()?;
        Some((usize::try_from(known.get(0)?.as_u64()?).ok()?, known.get(1)?.clone()))
    }

    fn seal(&self, payload: &str) -> String {
        let params = self.params();
        let subject = params.get("name").or_else(|| params.get("uri")).unwrap_or(&Value::Null);
        let arguments = params.get("arguments").unwrap_or(&Value::Null);
        self.session.mock.seal(&format!("{} {subject} {arguments} {payload}", self.request.method))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The round needs none.
    None,
    /// The manifest says which.
    Written,
    /// There are several rounds, or nothing is asked: the mock makes one up.
    MadeUp,
}

fn state_of(rounds: &[Round], at: usize) -> State {
    match &rounds[at] {
        round if round.state.is_some() => State::Written,
        round if rounds.len() > 1 || round.asks.is_empty() => State::MadeUp,
        _ => State::None,
    }
}

/// The questions of a round, as they are asked.
pub(super) fn requests(asks: &[Ask], scope: &Value) -> Value {
    Value::Object(asks.iter().map(|ask| (ask.key.clone(), fill(&ask.request(), scope))).collect())
}

/// True if an answer can be used. One that cannot is asked for again.
pub(super) fn is_fit(ask: &Ask, answer: &Value) -> bool {
    match ask.method {
        AskMethod::Roots => answer.get("roots").is_some_and(Value::is_array),
        AskMethod::Sampling => answer.get("content").is_some(),
        AskMethod::Elicitation => match answer.get("action").and_then(Value::as_str) {
            Some("decline" | "cancel") => true,
            Some("accept") => ask.params.get("requestedSchema").is_none_or(|schema| {
                let content = answer.get("content").cloned().unwrap_or_else(|| json!({}));
                argument_errors(schema, &content).is_ok_and(|errors| errors.is_empty())
            }),
            Some(_) | None => false,
        },
    }
}

/// Keeps an answer where placeholders find it.
pub(super) fn keep(scope: &mut Value, ask: &Ask, answer: Value) {
    scope[ask.method.capability()] = answer.clone();
    if !scope["input"].is_object() {
        scope["input"] = json!({});
    }
    scope["input"][&ask.key] = answer;
}
