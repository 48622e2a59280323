//! One server that does wrong what it is told to do wrong: `misbehave BEHAVIOUR [ARG] [--at METHOD]` over stdio,
//! `misbehave http BEHAVIOUR` over HTTP.
//!
//! Apart from its one behaviour it is an honest server with one tool, `echo {text}`. The behaviours are the rows of
//! [`behaviours::BEHAVIOURS`]; `misbehave --list` prints them, `misbehave --bombs` the arguments of
//! `input-bomb` and `output-bomb`.

mod behaviours;
mod bombs;
mod effects;
mod floods;
mod http;
mod server;
mod texts;

use std::{
    env,
    io::{self, Write},
    process::ExitCode,
};

use behaviours::{ALL, Arg, BEHAVIOURS, Behaviour};
use bombs::BOMBS;
use http::{HTTP, HttpBehaviour};
use server::Server;

fn main() -> ExitCode {
    match read(env::args().skip(1).collect()) {
        Ok(Asked::List) => list(),
        Ok(Asked::Bombs) => list_bombs(),
        Ok(Asked::Serve(server)) => server.run(),
        Ok(Asked::ServeHttp(behaviour)) => http::serve(behaviour),
        Err(reason) => {
            let _ = writeln!(io::stderr(), "misbehave: {reason}; `misbehave --list` prints what there is");
            ExitCode::from(64)
        }
    }
}

enum Asked {
    List,
    Bombs,
    Serve(Server),
    ServeHttp(&'static HttpBehaviour),
}

fn read(mut words: Vec<String>) -> Result<Asked, String> {
    let at = match words.iter().position(|word| word == "--at") {
        Some(place) if place + 1 < words.len() => words.drain(place..place + 2).nth(1),
        Some(_) => return Err("`--at` wants a method".into()),
        None => None,
    };
    let mut words = words.into_iter();
    let name = words.next().ok_or("no behaviour was given")?;
    if name == "--bombs" {
        return Ok(Asked::Bombs);
    }
    if name == "--list" {
        return Ok(Asked::List);
    }
    if name == "http" {
        let name = words.next().ok_or("no behaviour was given")?;
        let known = HTTP.iter().find(|row| row.name == name);
        return known.map(Asked::ServeHttp).ok_or_else(|| format!("no behaviour over HTTP is called `{name}`"));
    }
    let behaviour =
        BEHAVIOURS.iter().find(|row| row.name == name).ok_or_else(|| format!("no behaviour is called `{name}`"))?;
    let at = match at {
        Some(_) if behaviour.at.is_empty() => return Err(format!("`{name}` happens at no method, so not `--at` one")),
        Some(at) => at,
        None => behaviour.at.to_owned(),
    };
    let word = words.next();
    let wrong = |word: &str| format!("`{name}` does not take `{word}`");
    let (number, text) = match (behaviour.arg, &word) {
        (Arg::None | Arg::Number(_) | Arg::Text(_), _) if words.next().is_some() => {
            return Err(format!("`{name}` takes one argument at most"));
        }
        (Arg::None, Some(word)) => return Err(wrong(word)),
        (Arg::None, None) => (0, String::new()),
        (Arg::Number(_), Some(word)) => (word.parse().map_err(|_| wrong(word))?, String::new()),
        (Arg::Number(default), None) => (default, String::new()),
        (Arg::Text(default), given) => (0, given.clone().unwrap_or_else(|| default.to_owned())),
    };
    Ok(Asked::Serve(Server::new(behaviour, at, number, text)))
}

fn list_bombs() -> ExitCode {
    let names: Vec<&str> = BOMBS.iter().map(|bomb| bomb.name).collect();
    let printed = writeln!(io::stdout(), "{}", names.join("\n"));
    if printed.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn list() -> ExitCode {
    let mut out = io::stdout().lock();
    let call = BEHAVIOURS.iter().map(Behaviour::call).map(|call| call.len()).max().unwrap_or(0);
    for row in BEHAVIOURS {
        let at = match row.at {
            "" => "",
            ALL => "every method",
            method => method,
        };
        let line = writeln!(out, "{:call$}  {at:12}  {}", row.call(), row.summary);
        if line.is_err() {
            return ExitCode::FAILURE;
        }
    }
    for row in HTTP {
        if writeln!(out, "http {:<width$}  {}", row.name, row.summary, width = call + 9).is_err() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
