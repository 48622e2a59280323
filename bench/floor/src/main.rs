//! The floor under every measurement: what a session costs when the client does nothing but write and read.
//!
//! - `floor spawn --count N --threads N -- SERVER ARGS` starts a server, shakes hands, makes one call, closes stdin and
//!   reaps, N times.
//! - `floor loop --count N -- SERVER ARGS` makes N calls in one session, and waits for each answer before the next.
//! - `floor pipeline --count N -- SERVER ARGS` makes N calls in one session without waiting.
//! - `floor http --count N --threads N -- URL` makes N calls over as many connections as there are threads.
//! - `floor copy -- FROM TO` copies a folder and removes the copy.
//! - `floor measure -- COMMAND ARGS` runs a command and says what it cost.
//!
//! `--call JSON` is what is called instead of `echo`: the params of `tools/call`.

mod copy;
mod http;
mod measure;
mod session;

use std::{
    env,
    error::Error,
    io::{self, Write},
    process::ExitCode,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use session::{Session, expect};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(io::stderr(), "floor: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Outcome<ExitCode> {
    let asked = Asked::read(env::args().skip(1))?;
    let start = Instant::now();
    match asked.what.as_str() {
        "spawn" => on_threads(&asked, |ids| {
            for _ in ids {
                let mut session = Session::open(&asked.subject)?;
                session.write(&call(2, &asked.params))?;
                session.expect(2)?;
                session.close()?;
            }
            Ok(())
        })?,
        "loop" => one_by_one(&asked)?,
        "pipeline" => pipeline(&asked)?,
        "http" => on_threads(&asked, |ids| http::calls(&asked.subject[0], ids, &asked.params))?,
        "copy" => copy::there_and_away(&asked.subject)?,
        "measure" => return measure::run(&asked.subject),
        other => return Err(format!("`{other}` is none of copy, http, loop, measure, pipeline and spawn").into()),
    }
    report(&asked, start.elapsed())?;
    Ok(ExitCode::SUCCESS)
}

struct Asked {
    what: String,
    count: usize,
    threads: usize,
    params: String,
    /// What stands after `--`.
    subject: Vec<String>,
}

impl Asked {
    fn read(mut words: impl Iterator<Item = String>) -> Outcome<Asked> {
        let what = words.next().ok_or("say what to do, then `-- SERVER`")?;
        let params = r#"{"name":"echo","arguments":{"text":"hello"}}"#.to_owned();
        let mut asked = Asked { what, count: 200, threads: 1, params, subject: vec![] };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--count" => asked.count = words.next().ok_or("`--count` wants a number")?.parse()?,
                "--threads" => asked.threads = words.next().ok_or("`--threads` wants a number")?.parse()?,
                "--call" => asked.params = words.next().ok_or("`--call` wants JSON")?,
                "--" => asked.subject = words.by_ref().collect(),
                other => return Err(format!("`{other}` is not known").into()),
            }
        }
        if asked.subject.is_empty() { Err("nothing was given after `--`".into()) } else { Ok(asked) }
    }
}

/// Hands out the numbers of the calls to as many threads as are wanted; each takes the next one when it is free.
fn on_threads(asked: &Asked, work: impl Fn(&mut dyn Iterator<Item = usize>) -> Outcome<()> + Sync) -> Outcome<()> {
    let taken = AtomicUsize::new(0);
    let next = || Some(taken.fetch_add(1, Ordering::Relaxed)).filter(|number| *number < asked.count);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..asked.threads).map(|_| scope.spawn(|| work(&mut std::iter::from_fn(next)))).collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a worker panicked")?)
    })
}

fn one_by_one(asked: &Asked) -> Outcome<()> {
    let mut session = Session::open(&asked.subject)?;
    for id in 2..asked.count + 2 {
        session.write(&call(id, &asked.params))?;
        session.expect(id)?;
    }
    session.close()
}

fn pipeline(asked: &Asked) -> Outcome<()> {
    let mut session = Session::open(&asked.subject)?;
    let ids = 2..asked.count + 2;
    thread::scope(|scope| {
        let stdin = &mut session.stdin;
        let writer = scope.spawn({
            let ids = ids.clone();
            move || ids.clone().try_for_each(|id| stdin.write_all(call(id, &asked.params).as_bytes()))
        });
        for id in ids {
            expect(&mut session.stdout, id)?;
        }
        writer.join().map_err(|_| "the writer panicked")??;
        Outcome::Ok(())
    })?;
    session.close()
}

fn call(id: usize, params: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{params}}}\n")
}

fn report(asked: &Asked, took: Duration) -> Outcome<()> {
    let millis = took.as_secs_f64() * 1e3;
    let each = took.as_secs_f64() * 1e6 / f64::from(u32::try_from(asked.count.max(1))?);
    let Asked { what, count, threads, .. } = asked;
    writeln!(io::stdout(), "{what}: {count} in {millis:.1} ms on {threads} thread(s), {each:.1} µs each")?;
    Ok(())
}
