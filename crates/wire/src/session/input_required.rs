//! Results that ask for input first: the modern era's way for a server to ask its client (2026-07-28, "Multi Round-Trip").

use mcprove_model::{Exchange, Malformed, Outcome};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::{ServerRequest, Session};

/// Maximum number of rounds that a server may request.
pub(super) const ROUNDS: usize = 16;
/// The methods that may ask for input.
const ASKING: &[&str] = &["tools/call", "prompts/get", "resources/read"];

impl Session {
    /// Answers what a result asks for, and asks again, until it is complete.
    pub(super) async fn answer_input_requests(
        &mut self,
        mut exchange: Exchange,
        params: &Value,
        deadline: Instant,
    ) -> Exchange {
        for _ in 0..ROUNDS {
            let Outcome::Result(result) = &exchange.outcome else { return exchange };
            match wants_input(&exchange.method, result) {
                Ok(false) => return exchange,
                Ok(true) => {}
                Err(fault) => return malformed(exchange, &fault),
            }
            let next = match self.next_round(&result.clone(), params) {
                Ok(next) => next,
                Err(fault) => return malformed(exchange, &fault),
            };
            let method = exchange.method.clone();
            let before = exchange.elapsed_us;
            let id = self.start(&method, &next);
            exchange = self.finish(id, deadline).await;
            exchange.elapsed_us += before;
        }
        malformed(exchange, &format!("asks for input again after {ROUNDS} rounds"))
    }

    fn next_round(&mut self, result: &Value, params: &Value) -> Result<Value, String> {
        let InputRequests { asked, state } = input_requests(result)?;
        let mut answers = Map::new();
        for (key, method, asked_params) in asked {
            let own = self.client.input_responses.iter().find(|(of, _)| *of == key);
            let answer = match own {
                Some((_, value)) => Ok(entered(value, &asked_params)),
                None => self.answer_to(&method, &asked_params),
            };
            self.server_requests.push(ServerRequest { method, params: asked_params, answered: answer.is_ok() });
            answers.insert(key, answer.map_err(|_| "asks for what the client did not declare".to_owned())?);
        }
        Ok(next_params(params, answers, state))
    }
}

/// An answer to a request for input: a whole one, the content of a form, or the value of its only field.
fn entered(value: &Value, asked: &Value) -> Value {
    let fields =
        || asked.pointer("/requestedSchema/properties")?.as_object().filter(|fields| fields.len() == 1)?.keys().next();
    let content = match value {
        Value::Object(map) if map.contains_key("action") => return value.clone(),
        Value::Object(_) => value.clone(),
        other => fields().map_or_else(|| json!({"value": other}), |field| json!({field.as_str(): other})),
    };
    json!({"action": "accept", "content": content})
}

/// The input that a result asks for.
pub(super) struct InputRequests {
    /// Key, method and params of each request.
    pub(super) asked: Vec<(String, String, Value)>,
    /// The state that goes back with the answers.
    pub(super) state: Option<Value>,
}

/// Reads `inputRequests` and `requestState` of a result; the error is what is wrong with them.
pub(super) fn input_requests(result: &Value) -> Result<InputRequests, String> {
    let asked = match result.get("inputRequests") {
        None => Vec::new(),
        Some(Value::Object(asked)) => asked
            .iter()
            .map(|(key, request)| {
                let method = request.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
                (key.clone(), method, request.get("params").cloned().unwrap_or(Value::Null))
            })
            .collect(),
        Some(_) => return Err("has `inputRequests` that are not an object".to_owned()),
    };
    let state = result.get("requestState").filter(|state| !state.is_null());
    if state.is_some_and(|state| !state.is_string()) {
        return Err("has a `requestState` that is not text".to_owned());
    }
    if asked.is_empty() && state.is_none() {
        return Err("asks for input without `inputRequests` or `requestState`".to_owned());
    }
    Ok(InputRequests { asked, state: state.cloned() })
}

/// The params of the next round.
pub(super) fn next_params(params: &Value, answers: Map<String, Value>, state: Option<Value>) -> Value {
    let mut next = params.as_object().cloned().unwrap_or_default();
    if !answers.is_empty() {
        next.insert("inputResponses".to_owned(), Value::Object(answers));
    }
    match state {
        Some(state) => next.insert("requestState".to_owned(), state),
        None => next.shift_remove("requestState"),
    };
    Value::Object(next)
}

/// The need of a result for input; the error is what is wrong with it.
pub(super) fn wants_input(method: &str, result: &Value) -> Result<bool, String> {
    match result.get("resultType").map(|kind| kind.as_str().unwrap_or("?")) {
        None | Some("complete") => Ok(false),
        Some("input_required") if ASKING.contains(&method) => Ok(true),
        Some("input_required") => Err("asks for input, which this method may not".to_owned()),
        Some(other) => Err(format!("has the unknown `resultType` \"{other}\"")),
    }
}

pub(super) fn malformed(mut exchange: Exchange, fault: &str) -> Exchange {
    let evidence = exchange.reply.clone().unwrap_or_default();
    exchange.outcome = Outcome::Malformed(Malformed { fault: format!("the result {fault}"), evidence });
    exchange
}
