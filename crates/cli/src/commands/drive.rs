//! `mcprove drive`: suites and servers for another program, over lines of JSON.

mod cases;
mod reply;
mod sessions;

pub(super) use reply::{add_verdict, of_server, rendered};
pub(super) use sessions::decode as decode_assertion;

use std::io::{self, BufRead, Read as _};

use mcprove_model::{ExitStatus, bounded_json, shorten};
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
    let mut input = io::stdin().lock();
    let help = "write one JSON object per line, in UTF-8";
    loop {
        let line = next_line(&mut input, LONGEST)
            .map_err(|error| Failure::new(format!("standard input could not be read: {error}"), help))?;
        let reply = match line {
            Line::End => break,
            Line::Whole(line) if line.trim_ascii().is_empty() => continue,
            Line::Whole(line) => match String::from_utf8(line) {
                Ok(line) => answer(&line, &mut sessions, context),
                Err(_) => json!({"id": null, "error": reply::error(&Failure::new("the request is not UTF-8", help))}),
            },
            Line::TooLong => {
                let message = format!("the request is longer than {} MiB", LONGEST >> 20);
                json!({"id": null, "error": reply::error(&Failure::new(message, help))})
            }
        };
        print(&(to_safe_json_line(&reply) + "\n"))?;
    }
    sessions.close_all();
    Ok(ExitStatus::Good)
}

/// Maximum length of a request in bytes, the same as of a message of a server.
const LONGEST: usize = 64 << 20;
/// A request of this length is read within bounds first.
const LARGE: usize = 1 << 20;

#[derive(Debug, PartialEq, Eq)]
enum Line {
    Whole(Vec<u8>),
    /// Too long, and discarded.
    TooLong,
    End,
}

fn next_line(input: &mut impl BufRead, longest: usize) -> io::Result<Line> {
    let mut line = Vec::new();
    if input.by_ref().take(longest as u64 + 1).read_until(b'\n', &mut line)? == 0 {
        return Ok(Line::End);
    }
    if line.len() <= longest || line.ends_with(b"\n") {
        return Ok(Line::Whole(line));
    }
    drop(line);
    input.skip_until(b'\n')?;
    Ok(Line::TooLong)
}

/// The reply to a line. Whatever is wrong is an `error` in it.
fn answer(line: &str, sessions: &mut sessions::Sessions<'_>, context: &Context) -> Value {
    if line.len() > LARGE && bounded_json::parse(line.as_bytes()).is_none() {
        let message =
            format!("the request is invalid JSON, or takes more than {} MiB once it is read", bounded_json::MOST >> 20);
        return json!({"id": null, "error": reply::error(&Failure::new(message, "send less at a time"))});
    }
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
        // A result of megabytes is moved, not copied.
        Ok(result) => {
            Value::Object([("id".to_owned(), request.id), ("result".to_owned(), result)].into_iter().collect())
        }
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
            Err(Failure::new(format!("unknown method `{}`", shorten(other, 200)), help))
        }
    }
}

/// The parameters of a method; unknown keys are errors.
fn params<T: DeserializeOwned>(given: &Map<String, Value>) -> Result<T, Failure> {
    serde_json::from_value(Value::Object(given.clone())).map_err(|error| {
        Failure::new(format!("invalid params: {error}"), "docs/drive.md lists the parameters of each method")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_is_too_long_is_discarded_and_the_next_one_is_read() {
        let mut input = &b"abcd\nabcde\nxyz"[..];
        let lines: Vec<Line> = (0..4).map(|_| next_line(&mut input, 5).expect("read")).collect();
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        assert_eq!(lines, [whole("abcd\n"), whole("abcde\n"), whole("xyz"), Line::End]);
        let mut input = &b"abcdefghijklm\nxyz"[..];
        assert_eq!(next_line(&mut input, 5).expect("read"), Line::TooLong);
        assert_eq!(next_line(&mut input, 5).expect("read"), whole("xyz"));
    }
}
