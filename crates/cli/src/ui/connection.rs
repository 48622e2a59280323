//! One connection of the page: a task owns the session, and everything that happens becomes an event.

use std::rc::Rc;
use std::time::Duration;

use mcprove_engine::{Catalog, discover};
use mcprove_model::{Direction, Exchange, Frame, FrameKind, Outcome, Redactor, WirePart};
use mcprove_wire::{LiveRequest, Question, Session, Step, roots_result};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::hub::Hub;

/// The longest text of a frame in an event.
const FRAME: usize = 64 << 10;
/// The longest result in an event; a longer one is shown by its beginning.
const RESULT: usize = 4 << 20;
/// Requests of a server that wait for the user at a time.
const QUESTIONS: usize = 32;
/// Time limit for lists.
const LISTS: Duration = Duration::from_mins(1);
/// Time to wait for messages at a time; a request with a probably broken reply ends after it.
const TICK: Duration = Duration::from_millis(500);

/// An order to a connection.
pub(super) enum Order {
    /// Makes a request.
    Begin { number: u64, method: String, params: Value },
    /// Cancels one.
    Cancel { number: u64 },
    /// Answers a question of the server.
    Answer { question: u64, answer: Result<Value, (i64, String)> },
    /// Takes other folders as roots: the answer to a question, or a change that the server is notified of.
    Roots { question: Option<u64>, roots: Vec<String> },
    /// Lists everything again.
    List(oneshot::Sender<Catalog>),
    /// Ends the session.
    Close,
}

/// The task of a connection.
pub(super) struct Connection {
    pub(super) id: u64,
    pub(super) session: Session,
    pub(super) hub: Rc<Hub>,
    pub(super) secrets: Redactor,
    open: Vec<(u64, LiveRequest)>,
    questions: Vec<(u64, u64, Question)>,
    asked: u64,
    stderr: usize,
}

impl Connection {
    pub(super) fn new(id: u64, session: Session, hub: Rc<Hub>, secrets: Redactor) -> Self {
        Self { id, session, hub, secrets, open: Vec::new(), questions: Vec::new(), asked: 0, stderr: 0 }
    }

    /// Works until the session is closed, or the sender of orders is dropped.
    pub(super) async fn run(mut self, mut orders: mpsc::UnboundedReceiver<Order>) {
        loop {
            self.publish();
            if !self.session.is_open() {
                self.end_all().await;
                break;
            }
            let has_suspect = self.open.iter().any(|(_, live)| self.session.is_suspect(live.id()));
            let order = tokio::select! {
                order = orders.recv() => Some(order),
                came = self.session.receive_one(Instant::now() + TICK) => {
                    if !came && has_suspect {
                        self.end_suspects().await;
                    }
                    None
                }
            };
            match order {
                None => {}
                Some(None | Some(Order::Close)) => break,
                Some(Some(order)) => self.obey(order).await,
            }
        }
        let Self { id, session, hub, secrets, .. } = self;
        let closing = session.close().await;
        hub.publish(id, "closed", json!({"stderr": secrets.text(&closing.stderr)}));
    }

    async fn obey(&mut self, order: Order) {
        match order {
            Order::Begin { number, method, params } => {
                self.emit("began", json!({"request": number, "method": method, "params": params}));
                let mut params = params;
                if method == "tools/call" {
                    self.session.learn_schemas(Instant::now() + LISTS).await;
                    params = self.session.with_progress_token(params);
                }
                let live = self.session.begin(&method, params);
                self.open.push((number, live));
            }
            Order::Cancel { number } => {
                let Some(at) = self.open.iter().position(|(open, _)| *open == number) else { return };
                let (_, live) = self.open.remove(at);
                self.questions.retain(|(_, request, _)| *request != number);
                if self.session.is_pending(live.id()) {
                    self.session.cancel(live.id(), "cancelled by the user").await;
                    let exchange = self.session.give_up(live.id());
                    self.publish_end(number, &exchange);
                }
            }
            Order::Answer { question, answer } => {
                self.answer(question, answer);
            }
            Order::Roots { question, roots } => {
                let answer = roots_result(&roots);
                self.session.set_roots(roots);
                match question {
                    Some(question) => self.answer(question, Ok(answer)),
                    None => drop(self.session.notify_roots()),
                }
            }
            Order::List(reply) => {
                let catalog = discover(&mut self.session, Instant::now() + LISTS).await;
                let _ = reply.send(catalog);
            }
            Order::Close => {}
        }
    }

    fn answer(&mut self, question: u64, answer: Result<Value, (i64, String)>) {
        let Some(at) = self.questions.iter().position(|(open, ..)| *open == question) else { return };
        let (asked, number, question) = self.questions.remove(at);
        self.emit("answered", json!({"question": asked}));
        let live = self.open.iter_mut().find(|(open, _)| *open == number);
        self.session.reply(live.map(|(_, live)| live), question, answer);
    }

    /// Hands a question to the page; 0 is the number of no request.
    fn ask(&mut self, number: u64, question: Question) {
        if self.questions.len() >= QUESTIONS {
            let live = self.open.iter_mut().find(|(open, _)| *open == number);
            let busy = Err((-32603, "too many requests wait for the user".to_owned()));
            self.session.reply(live.map(|(_, live)| live), question, busy);
            return;
        }
        self.asked += 1;
        let shown = json!({"request": number, "question": self.asked, "method": question.method,
                           "params": bounded(&question.params, &self.secrets)});
        self.emit("question", shown);
        self.questions.push((self.asked, number, question));
    }

    /// Publishes everything that is known since the last time.
    fn publish(&mut self) {
        let chapter = self.session.drain();
        for frame in &chapter.frames {
            self.emit("frame", frame_json(frame, &self.secrets));
        }
        for seen in &chapter.notifications {
            let params = bounded(&seen.params, &self.secrets);
            self.emit("notification", json!({"at_us": seen.at_us, "method": seen.method, "params": params}));
        }
        let stderr = chapter.stderr;
        if stderr.len() != self.stderr {
            self.stderr = stderr.len();
            self.emit("stderr", json!({"text": stderr}));
        }
        while let Some(question) = self.session.next_question() {
            let number = if question.method == "roots/list" { None } else { self.open.first() };
            self.ask(number.map_or(0, |(number, _)| *number), question);
        }
        let mut at = 0;
        while at < self.open.len() {
            let (number, live) = &mut self.open[at];
            let number = *number;
            match self.session.poll(live) {
                None => at += 1,
                // Notifications were taken with the chapter.
                Some(Step::Notification(_)) => {}
                Some(Step::Question(question)) => self.ask(number, question),
                Some(Step::Done(exchange)) => {
                    self.open.remove(at);
                    self.publish_end(number, &exchange);
                }
            }
        }
    }

    /// Ends the requests whose reply is probably broken.
    async fn end_suspects(&mut self) {
        let now = Instant::now();
        for at in (0..self.open.len()).rev() {
            let id = self.open[at].1.id();
            if self.session.is_suspect(id) {
                let (number, _) = self.open.remove(at);
                let exchange = self.session.finish(id, now).await;
                self.publish_end(number, &exchange);
            }
        }
    }

    /// Ends everything, because the server is gone.
    async fn end_all(&mut self) {
        for (number, live) in std::mem::take(&mut self.open) {
            if self.session.is_pending(live.id()) {
                let exchange = self.session.finish(live.id(), Instant::now()).await;
                self.publish_end(number, &exchange);
            }
        }
    }

    fn publish_end(&self, number: u64, exchange: &Exchange) {
        let (kind, result, message) = match &exchange.outcome {
            Outcome::Result(result) => ("result", bounded(result, &self.secrets), None),
            Outcome::Error(error) => ("error", json!(error), Some(error.message.clone())),
            Outcome::Malformed(malformed) => ("malformed", Value::Null, Some(malformed.fault.clone())),
            Outcome::Refused(refused) => ("refused", Value::Null, Some(refused.what.clone())),
            Outcome::TimedOut { after_ms } => {
                ("timed-out", Value::Null, Some(format!("no answer after {after_ms} ms")))
            }
            Outcome::Closed { what, .. } => ("closed", Value::Null, Some(what.clone())),
            Outcome::Cancelled => ("cancelled", Value::Null, Some("cancelled".to_owned())),
        };
        let end = json!({"request": number, "outcome": kind, "result": result, "message": message,
                         "elapsed_us": exchange.elapsed_us});
        self.emit("done", end);
    }

    fn emit(&self, kind: &str, detail: Value) {
        self.hub.publish(self.id, kind, masked(detail, &self.secrets));
    }
}

/// A result that a page can show: the beginning of one that is too long.
fn bounded(result: &Value, secrets: &Redactor) -> Value {
    let text = result.to_string();
    if text.len() <= RESULT {
        return result.clone();
    }
    let text = secrets.text(&text);
    let shown = &text[..text.floor_char_boundary(FRAME)];
    json!({"content": [{"type": "text", "text": shown}], "mcprove/cut": text.len() - shown.len()})
}

fn frame_json(frame: &Frame, secrets: &Redactor) -> Value {
    let text = String::from_utf8_lossy(&frame.body);
    // Of a secret at the cut no part is left.
    let text = secrets.text(&text);
    let shown = &text[..text.floor_char_boundary(FRAME)];
    let mut value = json!({
        "at_us": frame.at_us,
        "direction": if frame.direction == Direction::Sent { "sent" } else { "received" },
        "kind": kind_word(frame.kind),
        "text": shown,
        "session": 0,
    });
    if text.len() > shown.len() {
        value["cut"] = json!(text.len() - shown.len());
    }
    if frame.part != WirePart::Message {
        value["part"] = json!(frame.part);
    }
    value
}

fn kind_word(kind: FrameKind) -> Value {
    json!(kind)
}

/// A value with its secrets masked.
fn masked(mut value: Value, secrets: &Redactor) -> Value {
    secrets.json(&mut value);
    value
}
