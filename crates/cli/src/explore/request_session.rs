//! One request over an open session, with everything that happens until it ends.

use std::time::Duration;

use mcprove_model::{Exchange, Notification};
use mcprove_wire::{Session, Step};
use serde_json::Value;
use tokio::time::Instant;

use super::answers::Answers;
use crate::stop_signals::StopSignals;

/// A request to make.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The method.
    pub(crate) method: &'static str,
    /// Its params; those of a tool call get a progress token.
    pub(crate) params: Value,
    /// Warnings about the params; the request is still made.
    pub(crate) warnings: Vec<String>,
}

/// Resources of an open request.
pub(crate) struct RequestContext<'t> {
    pub(crate) answers: &'t mut Answers,
    pub(crate) signals: &'t mut StopSignals,
    pub(crate) timeout: Duration,
    /// Receives every notification when it arrives.
    pub(crate) notified: &'t mut dyn FnMut(&Notification),
}

/// Makes a request and waits for its end. An interrupt cancels it; an answer and a notification start its time again.
pub(crate) async fn talk(session: &mut Session, request: &Request, talk: RequestContext<'_>) -> Exchange {
    let RequestContext { answers, signals, timeout, notified } = talk;
    let mut params = request.params.clone();
    if request.method == "tools/call" {
        session.learn_schemas(Instant::now() + timeout.max(Duration::from_mins(1))).await;
        params = session.with_progress_token(params);
    }
    let mut live = session.begin(request.method, params);
    let mut deadline = Instant::now() + timeout;
    loop {
        let step = {
            let stopped = signals.next();
            tokio::select! {
                biased;
                () = stopped => None,
                step = session.step(&mut live, deadline) => Some(step),
            }
        };
        match step {
            None => {
                session.cancel(live.id(), "cancelled by the user").await;
                return session.give_up(live.id());
            }
            Some(Step::Done(exchange)) => return exchange,
            Some(Step::Notification(notification)) => {
                notified(&notification);
                deadline = Instant::now() + timeout;
            }
            Some(Step::Question(question)) => {
                let answer = {
                    let stopped = signals.next();
                    tokio::select! {
                        biased;
                        () = stopped => None,
                        answer = answers.answer(&question) => Some(answer),
                    }
                };
                let Some(answer) = answer else {
                    session.cancel(live.id(), "cancelled by the user").await;
                    return session.give_up(live.id());
                };
                session.reply(Some(&mut live), question, answer);
                deadline = Instant::now() + timeout;
            }
        }
    }
}
