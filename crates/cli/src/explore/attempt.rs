//! From a command line to the end of one request.

use std::time::Duration;

use mcprove_engine::open_session;
use mcprove_model::{Notification, Redactor, ServerSpec};
use mcprove_report::{Verbosity, escape_terminal_line};
use mcprove_wire::Session;
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::answers::Answers;
use super::arguments::{arguments, pairs};
use super::outcome::Facts;
use super::request_options::RequestOptions;
use super::request_session::{Request, RequestContext, talk};
use super::save::refuse_existing;
use crate::context::Context;
use crate::execution::runtime;
use crate::failure::Failure;
use crate::server_offer::info_options;
use crate::stop_signals::StopSignals;

/// The least time that a server has to start and to list what it offers.
const START: Duration = Duration::from_mins(1);

/// A request that has ended.
pub(crate) struct Attempt {
    pub(crate) facts: Facts,
    /// The item of the list that the request was about, such as the tool.
    pub(crate) item: Value,
    pub(crate) server: ServerSpec,
    pub(crate) answers: Answers,
}

/// The item that a request is about.
pub(crate) struct Subject<'s> {
    /// The list to look in first: its method and the key of its items.
    pub(crate) list: Option<(&'static str, &'static str)>,
    /// The name of the item in that list.
    pub(crate) name: &'s str,
}

/// Opens a session, lists what is needed, makes the request that `prepare` returns, and closes the session.
pub(crate) fn attempt<P>(
    request_options: &RequestOptions,
    subject: &Subject<'_>,
    context: &Context,
    prepare: P,
) -> Result<Attempt, Failure>
where
    P: AsyncFnOnce(Option<&Value>, &[Value]) -> Result<Request, Failure>,
{
    request_options.save.as_deref().map_or(Ok(()), refuse_existing)?;
    let mut answers = Answers::new(request_options.answers.as_deref())?;
    let meta = arguments(Map::new(), &pairs(&request_options.meta)?, &Value::Null)?;
    let mut server = request_options.reach.server()?;
    merge(&mut server, &answers);
    let timeout = request_options.reach.timeout;
    let redactor = Redactor::new(server.secrets.iter().map(String::as_str));
    let print = |text: &str| context.write_stderr(&redactor.text(text));
    // A short time limit for the answer must not cut off a slow start.
    let start = timeout.max(START);
    let is_told = context.verbosity != Verbosity::Quiet && !request_options.json;
    runtime(1)?.block_on(async {
        let mut signals = StopSignals::listen();
        let began = Instant::now();
        let opened = {
            let _waiting = context.waiting(&format!("starting {}", server.name));
            let options = info_options(start, context);
            tokio::select! {
                biased;
                () = signals.next() => return Err(Failure::Interrupted),
                opened = open_session(&server, &options) => opened,
            }
        };
        let mut session = opened.map_err(|failure| Failure::unreachable(&failure, &server))?;
        let opened = began.elapsed();
        let prepared = async {
            if let Some(level) = &request_options.log_level {
                let refused = set_level(&mut session, level, timeout).await;
                if let Some(line) = refused {
                    print(&line);
                }
            }
            let began = Instant::now();
            let items = match subject.list {
                Some((method, key)) => session.list(method, key, Instant::now() + start).await.items,
                None => Vec::new(),
            };
            let listed = subject.list.map(|_| began.elapsed());
            let named = |item: &&Value| item.get("name").and_then(Value::as_str) == Some(subject.name);
            let item = items.iter().find(named);
            let request = prepare(item, &items).await.map_err(|failure| failure.masked(&redactor))?;
            Ok((request, item.cloned().unwrap_or(Value::Null), listed))
        };
        // A server may never list anything, and a person may change their mind while they are asked.
        let prepared = tokio::select! {
            biased;
            () = signals.next() => Err(Failure::Interrupted),
            prepared = prepared => prepared,
        };
        let (mut request, item, listed) = match prepared {
            Ok(prepared) => prepared,
            Err(failure) => {
                session.close().await;
                return Err(failure);
            }
        };
        if !meta.is_empty() {
            request.params["_meta"] = Value::Object(meta);
        }
        let undeclared = undeclared(request.method, &session.negotiated().capabilities);
        for warning in request.warnings.iter().chain(&undeclared) {
            print(&format!("warning: {}\n", escape_terminal_line(warning)));
        }
        let mut seen = Vec::new();
        let mut notified = |notification: &Notification| {
            if is_told {
                print(&line(notification));
            }
            seen.push(notification.clone());
        };
        let talking = RequestContext { answers: &mut answers, signals: &mut signals, timeout, notified: &mut notified };
        let exchange = talk(&mut session, &request, talking).await;
        let closing = session.close().await;
        let facts = Facts {
            server: server.name.clone(),
            secrets: server.secrets.clone(),
            params: request.params,
            exchange,
            notifications: seen,
            server_requests: closing.server_requests,
            opened,
            listed,
            problems: Vec::new(),
            stderr: closing.stderr,
        };
        Ok(Attempt { facts, item, server, answers })
    })
}

/// The warning about a request for something that the server does not declare.
fn undeclared(method: &str, capabilities: &Value) -> Option<String> {
    let capability = match method {
        "resources/read" => "resources",
        "completion/complete" => "completions",
        _ => return None,
    };
    let is_declared = !capabilities.is_object() || capabilities.get(capability).is_some();
    (!is_declared).then(|| format!("the server does not declare `{capability}` among its capabilities"))
}

/// Adds the answers to what the suite says of its client.
fn merge(server: &mut ServerSpec, answers: &Answers) {
    let client = &answers.client;
    server.client.by_hand = client.by_hand;
    if client.roots.is_some() {
        server.client.roots.clone_from(&client.roots);
    }
    if !client.sampling.is_empty() {
        server.client.sampling.clone_from(&client.sampling);
    }
    if client.elicitation.is_some() {
        server.client.elicitation.clone_from(&client.elicitation);
    }
}

/// Sets the log level; the warning if the server refuses it.
async fn set_level(session: &mut Session, level: &str, timeout: Duration) -> Option<String> {
    let exchange = session.set_log_level(level, Instant::now() + timeout).await;
    match exchange.map(|exchange| exchange.outcome) {
        Some(mcprove_model::Outcome::Error(error)) => {
            Some(format!("warning: the log level was not set: {}\n", escape_terminal_line(&error.message)))
        }
        _ => None,
    }
}

/// A notification in one line.
fn line(notification: &Notification) -> String {
    let params = &notification.params;
    let text = |key: &str| params.get(key).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    let line = match notification.method.as_str() {
        "notifications/progress" => {
            let total = text("total").map(|total| format!("/{total}")).unwrap_or_default();
            let message = text("message").map(|message| format!(" {message}")).unwrap_or_default();
            format!("progress {}{total}{message}", text("progress").unwrap_or_default())
        }
        "notifications/message" => {
            let logger = text("logger").map(|logger| format!(" {logger}")).unwrap_or_default();
            format!("{}{logger}: {}", text("level").unwrap_or_default(), text("data").unwrap_or_default())
        }
        other if params.is_null() => other.to_owned(),
        other => format!("{other} {params}"),
    };
    format!("{}\n", escape_terminal_line(&line))
}
