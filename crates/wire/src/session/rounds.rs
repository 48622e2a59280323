//! Results that ask for input first: the modern era's way for a server to ask its client (2026-07-28, "Multi Round-Trip").

use mcprove_model::{Exchange, Malformed, Outcome};
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::{ServerRequest, Session};

/// How many rounds a server may ask for.
const ROUNDS: usize = 16;
/// The methods that may ask for input.
const ASKING: &[&str] = &["tools/call", "prompts/get", "resources/read"];

impl Session {
    /// Answers what a result asks for, and asks again, until it is complete.
    pub(super) async fn rounds(&mut self, mut exchange: Exchange, params: &Value, deadline: Instant) -> Exchange {
        for _ in 0..ROUNDS {
            let Outcome::Result(result) = &exchange.outcome else { return exchange };
            match result.get("resultType").map(|kind| kind.as_str().unwrap_or("?")) {
                None | Some("complete") => return exchange,
                Some("input_required") => {}
                Some(other) => {
                    return malformed(exchange.clone(), &format!("has the unknown `resultType` \"{other}\""));
                }
            }
            if !ASKING.contains(&exchange.method.as_str()) {
                return malformed(exchange.clone(), "asks for input, which this method may not");
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
        let mut next = params.as_object().cloned().unwrap_or_default();
        let asked = match result.get("inputRequests") {
            None => Map::new(),
            Some(Value::Object(asked)) => asked.clone(),
            Some(_) => return Err("has `inputRequests` that are not an object".to_owned()),
        };
        let state = result.get("requestState").filter(|state| !state.is_null());
        if state.is_some_and(|state| !state.is_string()) {
            return Err("has a `requestState` that is not text".to_owned());
        }
        if asked.is_empty() && state.is_none() {
            return Err("asks for input without `inputRequests` or `requestState`".to_owned());
        }
        let mut answers = Map::new();
        for (key, request) in asked {
            let method = request.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
            let asked_params = request.get("params").cloned().unwrap_or(Value::Null);
            let answer = self.answer_to(&method, &asked_params);
            self.server_requests.push(ServerRequest { method, params: asked_params, answered: answer.is_ok() });
            answers.insert(key, answer.map_err(|_| "asks for what the client did not declare".to_owned())?);
        }
        if !answers.is_empty() {
            next.insert("inputResponses".to_owned(), Value::Object(answers));
        }
        match state {
            Some(state) => next.insert("requestState".to_owned(), state.clone()),
            None => next.shift_remove("requestState"),
        };
        Ok(Value::Object(next))
    }
}

fn malformed(mut exchange: Exchange, fault: &str) -> Exchange {
    let evidence = exchange.reply.clone().unwrap_or_default();
    exchange.outcome = Outcome::Malformed(Malformed { fault: format!("the result {fault}"), evidence });
    exchange
}
