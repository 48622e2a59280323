//! `mcprove drive`: suites and servers for another program, over lines of JSON.

mod cases;
mod reply;
mod sessions;

pub(super) use reply::{add_verdict, of_server, rendered};
pub(super) use sessions::decode as decode_assertion;

use std::io::{self, BufRead as _};

use mcprove_model::ExitStatus;
use mcprove_report::to_safe_json_line;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::failure::Failure;
use crate::stdout::print;

/// The version of the protocol; a change that breaks clients counts it up.
const PROTOCOL: u32 = 1;

/// Run suites and call servers from another program (JSON lines).
#[derive(Debug, clap::Args)]
#[command(
    after_help = "One request per line on standard input, one reply per line on standard output. Methods: call, close, collect, expect, \
                  list, open, prompt, read, run, test, version.\n\nExample:\n  echo '{\"id\": 1, \"method\": \"collect\", \"params\": {\"args\": [\"evals/\"]}}' \
                  | mcprove drive"
)]
pub(crate) struct Args {}

/// A request of the other program.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    /// Any value; the reply has the same.
    #[serde(default)]
    id: Value,
    method: String,
    #[serde(default)]
    params: Map<String, Value>,
}

pub(crate) fn run(_args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let mut sessions = sessions::Sessions::new(context)?;
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|error| {
            let message = format!("standard input could not be read: {error}");
            Failure::new(message, "write one JSON object per line, in UTF-8")
        })?;
        if line.trim().is_empty() {
            continue;
        }
        print(&(to_safe_json_line(&answer(&line, &mut sessions, context)) + "\n"))?;
    }
    sessions.close_all();
    Ok(ExitStatus::Good)
}

/// The reply to a line. Whatever is wrong is an `error` in it.
fn answer(line: &str, sessions: &mut sessions::Sessions<'_>, context: &Context) -> Value {
    let request: Request = match serde_json::from_str(line) {
        Ok(request) => request,
        Err(error) => {
            // The id is looked for on its own, so that a request with a mistake still has its reply.
            let id = serde_json::from_str::<Value>(line).ok().and_then(|value| value.get("id").cloned());
            let failure =
                Failure::new(format!("invalid request: {error}"), "`{\"id\": 1, \"method\": …, \"params\": {…}}`");
            return json!({"id": id, "error": reply::error(&failure)});
        }
    };
    match dispatch(&request, sessions, context) {
        Ok(result) => json!({"id": request.id, "result": result}),
        Err(failure) => json!({"id": request.id, "error": reply::error(&failure)}),
    }
}

fn dispatch(request: &Request, sessions: &mut sessions::Sessions<'_>, context: &Context) -> Result<Value, Failure> {
    let given = &request.params;
    match request.method.as_str() {
        "call" => sessions.call(params(given)?),
        "close" => sessions.close(&params(given)?),
        "collect" => cases::collect(&params(given)?),
        "expect" => sessions.expect(params(given)?),
        "list" => sessions.list(&params(given)?),
        "open" => sessions.open(params(given)?),
        "prompt" => sessions.prompt(params(given)?),
        "read" => sessions.read(params(given)?),
        "run" => cases::run(&params(given)?, context),
        "test" => sessions.test(params(given)?),
        "version" => Ok(json!({"program": concat!("mcprove ", env!("CARGO_PKG_VERSION")), "protocol": PROTOCOL})),
        other => {
            const METHODS: [&str; 11] =
                ["call", "close", "collect", "expect", "list", "open", "prompt", "read", "run", "test", "version"];
            let help = match mcprove_model::nearest(other, METHODS) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the methods are {}", METHODS.join(", ")),
            };
            Err(Failure::new(format!("unknown method `{other}`"), help))
        }
    }
}

/// The parameters of a method; unknown keys are errors.
fn params<T: DeserializeOwned>(given: &Map<String, Value>) -> Result<T, Failure> {
    serde_json::from_value(Value::Object(given.clone())).map_err(|error| {
        Failure::new(format!("invalid params: {error}"), "docs/drive.md lists the parameters of each method")
    })
}
