//! Requests whose progress is watched step by step, and requests of the server that the caller answers.

use std::collections::VecDeque;

use mcprove_model::{Exchange, Notification, Outcome};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::input_required::{InputRequests, ROUNDS, input_requests, malformed, next_params, wants_input};
use super::{ServerRequest, Session};

/// The requests that a caller may answer itself.
const BY_HAND: [&str; 3] = ["sampling/createMessage", "elicitation/create", "roots/list"];

/// A request that was sent and is watched.
#[derive(Debug)]
pub struct LiveRequest {
    id: u64,
    method: String,
    params: Value,
    /// The number of notifications reported so far.
    reported: usize,
    rounds: usize,
    elapsed_us: u64,
    /// The input that a result of the modern era asks for.
    input: Option<Input>,
}

/// The input that a result asks for, while it is collected.
#[derive(Debug)]
struct Input {
    open: VecDeque<(String, String, Value)>,
    answers: Map<String, Value>,
    /// The question that was handed out and is not answered yet.
    asked: bool,
    state: Option<Value>,
}

/// A request of the server that waits for the caller's answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The method: `sampling/createMessage`, `elicitation/create` or `roots/list`.
    pub method: String,
    /// Its params.
    pub params: Value,
    origin: QuestionOrigin,
}

/// The way a question arrived, which is the way its answer goes back.
#[derive(Clone, Debug, PartialEq)]
enum QuestionOrigin {
    /// A JSON-RPC request with this id.
    Request(Value),
    /// An entry of `inputRequests` in a result.
    Input(String),
}

/// The next thing that happened to a watched request.
#[derive(Debug)]
pub enum Step {
    /// A notification arrived.
    Notification(Notification),
    /// The server asks something; [`Session::reply`] answers it.
    Question(Question),
    /// The request has ended.
    Done(Exchange),
}

impl LiveRequest {
    /// The id of the request that is open now.
    pub fn id(&self) -> u64 {
        self.id
    }
}

impl Session {
    /// Sends a request that is watched with [`Session::step`] or [`Session::poll`].
    pub fn begin(&mut self, method: &str, params: Value) -> LiveRequest {
        let reported = self.notifications.len();
        let id = self.start(method, &params);
        LiveRequest { id, method: method.to_owned(), params, reported, rounds: 0, elapsed_us: 0, input: None }
    }

    /// Waits for the next thing that happens to a request. A request that has no answer at the deadline is cancelled.
    pub async fn step(&mut self, live: &mut LiveRequest, deadline: Instant) -> Step {
        loop {
            if let Some(step) = self.poll(live) {
                return step;
            }
            if self.closed.is_some() || Instant::now() >= deadline || self.is_suspect(live.id) {
                let exchange = self.finish(live.id, deadline).await;
                return Step::Done(with_time(exchange, live.elapsed_us));
            }
            self.take_next(deadline).await;
        }
    }

    /// The next thing that is known already of a request; nothing is waited for.
    pub fn poll(&mut self, live: &mut LiveRequest) -> Option<Step> {
        if let Some(notification) = self.notifications.get(live.reported) {
            live.reported += 1;
            return Some(Step::Notification(notification.clone()));
        }
        if let Some(question) = self.questions.pop_front() {
            return Some(Step::Question(question));
        }
        if let Some(input) = &mut live.input {
            if input.asked {
                return None;
            }
            if let Some((key, method, params)) = input.open.pop_front() {
                input.asked = true;
                return Some(Step::Question(Question { method, params, origin: QuestionOrigin::Input(key) }));
            }
            let Input { answers, state, .. } = live.input.take()?;
            let params = next_params(&live.params, answers, state);
            live.id = self.start(&live.method.clone(), &params);
            return None;
        }
        if !self.is_answered(live.id) {
            return None;
        }
        let at = self.pending.iter().position(|pending| pending.id == live.id)?;
        let exchange = with_time(self.take_exchange(at, None), live.elapsed_us);
        if self.is_modern() { self.ask_for_input(exchange, live) } else { Some(Step::Done(exchange)) }
    }

    /// Takes in the next message; true if one came before `until`.
    pub async fn receive_one(&mut self, until: Instant) -> bool {
        self.closed.is_none() && self.take_next(until).await
    }

    /// True if a request was sent and has not been taken out with its end.
    pub fn is_pending(&self, id: u64) -> bool {
        self.pending.iter().any(|pending| pending.id == id)
    }

    /// The next question that arrived outside of the reply to a request.
    pub fn next_question(&mut self) -> Option<Question> {
        self.questions.pop_front()
    }

    /// Answers a question; an error becomes a JSON-RPC error with that code and message. The request is needed where the
    /// question was part of its reply.
    pub fn reply(&mut self, live: Option<&mut LiveRequest>, question: Question, answer: Result<Value, (i64, String)>) {
        let Question { method, params, origin } = question;
        self.server_requests.push(ServerRequest { method, params, answered: answer.is_ok() });
        match (origin, answer) {
            (QuestionOrigin::Request(id), Ok(result)) => {
                self.send_reply(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
            }
            (QuestionOrigin::Request(id), Err((code, message))) => {
                self.send_reply(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}));
            }
            (QuestionOrigin::Input(key), answer) => {
                if let Some(input) = live.and_then(|live| live.input.as_mut()) {
                    input.asked = false;
                    // A round has no way to say that a request failed; an absent answer says it.
                    if let Ok(result) = answer {
                        input.answers.insert(key, result);
                    }
                }
            }
        }
    }

    /// Keeps a request of the server for the caller, where the caller answers by hand and no script does.
    pub(super) fn keep_question(&mut self, id: &Value, method: &str, params: &Value) -> bool {
        let is_kept = self.is_by_hand(method) && self.questions.len() < self.limits.notifications;
        if is_kept {
            let origin = QuestionOrigin::Request(id.clone());
            self.questions.push_back(Question { method: method.to_owned(), params: params.clone(), origin });
        }
        is_kept
    }

    fn is_by_hand(&self, method: &str) -> bool {
        let is_scripted = match method {
            "sampling/createMessage" => !self.client.sampling.is_empty(),
            "elicitation/create" => self.client.elicitation.is_some(),
            // An empty list declares roots that are yet to be named.
            "roots/list" => self.client.roots.as_ref().is_none_or(|roots| !roots.is_empty()),
            _ => true,
        };
        self.client.by_hand && BY_HAND.contains(&method) && !is_scripted
    }

    /// True if something came that is probably a broken reply to this request.
    pub fn is_suspect(&self, id: u64) -> bool {
        self.pending.iter().any(|pending| pending.id == id && pending.suspect.is_some())
    }

    /// Ends a request of the modern era, or goes on with the input that its result asks for.
    fn ask_for_input(&mut self, exchange: Exchange, live: &mut LiveRequest) -> Option<Step> {
        let Outcome::Result(result) = &exchange.outcome else { return Some(Step::Done(exchange)) };
        let requests = match wants_input(&exchange.method, result) {
            Ok(false) => return Some(Step::Done(exchange)),
            Ok(true) => input_requests(result),
            Err(fault) => Err(fault),
        };
        if live.rounds >= ROUNDS {
            return Some(Step::Done(malformed(exchange, &format!("asks for input again after {ROUNDS} rounds"))));
        }
        let InputRequests { asked, state } = match requests {
            Ok(requests) => requests,
            Err(fault) => return Some(Step::Done(malformed(exchange, &fault))),
        };
        live.rounds += 1;
        live.elapsed_us = exchange.elapsed_us;
        let mut input = Input { open: VecDeque::new(), answers: Map::new(), asked: false, state };
        for (key, method, params) in asked {
            if self.is_by_hand(&method) {
                input.open.push_back((key, method, params));
                continue;
            }
            let answer = self.answer_to(&method, &params);
            self.server_requests.push(ServerRequest { method, params, answered: answer.is_ok() });
            let Ok(answer) = answer else {
                return Some(Step::Done(malformed(exchange, "asks for what the client did not declare")));
            };
            input.answers.insert(key, answer);
        }
        live.input = Some(input);
        self.poll(live)
    }
}

fn with_time(mut exchange: Exchange, before_us: u64) -> Exchange {
    exchange.elapsed_us += before_us;
    exchange
}
