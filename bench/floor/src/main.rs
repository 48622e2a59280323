//! The floor under every measurement: what a session costs when the client does nothing but write and read.
//!
//! `floor spawn --count N --threads N -- SERVER ARGS` starts a server, shakes hands, makes one call, closes stdin
//! and reaps, N times. `floor pipeline --count N -- SERVER ARGS` makes N calls in one session without waiting;
//! `floor loop --count N -- SERVER ARGS` waits for each answer before the next call.

use std::{
    env,
    error::Error,
    io::{self, BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "floor: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Outcome<()> {
    let asked = Asked::read(env::args().skip(1))?;
    let start = Instant::now();
    match asked.what.as_str() {
        "spawn" => spawn(&asked)?,
        "loop" => one_by_one(&asked)?,
        "pipeline" => pipeline(&asked)?,
        other => return Err(format!("`{other}` is none of `loop`, `pipeline` and `spawn`").into()),
    }
    report(&asked, start.elapsed())
}

struct Asked {
    what: String,
    count: usize,
    threads: usize,
    server: Vec<String>,
}

impl Asked {
    fn read(mut words: impl Iterator<Item = String>) -> Outcome<Asked> {
        let what = words.next().ok_or("give `loop`, `pipeline` or `spawn`, then `-- SERVER`")?;
        let mut asked = Asked { what, count: 200, threads: 1, server: vec![] };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--count" => asked.count = words.next().ok_or("`--count` wants a number")?.parse()?,
                "--threads" => asked.threads = words.next().ok_or("`--threads` wants a number")?.parse()?,
                "--" => asked.server = words.by_ref().collect(),
                other => return Err(format!("`{other}` is not known").into()),
            }
        }
        if asked.server.is_empty() { Err("no server was given after `--`".into()) } else { Ok(asked) }
    }
}

fn spawn(asked: &Asked) -> Outcome<()> {
    let taken = AtomicUsize::new(0);
    thread::scope(|scope| {
        let work = || -> Outcome<()> {
            while taken.fetch_add(1, Ordering::Relaxed) < asked.count {
                let mut session = Session::open(&asked.server)?;
                session.write(&call(2))?;
                session.expect(2)?;
                session.close()?;
            }
            Ok(())
        };
        let workers: Vec<_> = (0..asked.threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a worker panicked")?)
    })
}

fn one_by_one(asked: &Asked) -> Outcome<()> {
    let mut session = Session::open(&asked.server)?;
    for id in 2..asked.count + 2 {
        session.write(&call(id))?;
        session.expect(id)?;
    }
    session.close()
}

fn pipeline(asked: &Asked) -> Outcome<()> {
    let mut session = Session::open(&asked.server)?;
    let ids = 2..asked.count + 2;
    thread::scope(|scope| {
        let stdin = &mut session.stdin;
        let writer = scope.spawn({
            let ids = ids.clone();
            move || ids.clone().try_for_each(|id| stdin.write_all(call(id).as_bytes()))
        });
        for id in ids {
            expect(&mut session.stdout, id)?;
        }
        writer.join().map_err(|_| "the writer panicked")??;
        Outcome::Ok(())
    })?;
    session.close()
}

struct Session {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Session {
    /// Starts a server and shakes hands.
    fn open(server: &[String]) -> Outcome<Session> {
        let mut command = Command::new(&server[0]);
        command.args(&server[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| format!("{}: {error}", server[0]))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the server has no pipes".into());
        };
        let mut session = Session { child, stdin, stdout: BufReader::new(stdout) };
        session.write(concat!(
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
            r#""capabilities":{},"clientInfo":{"name":"floor","version":"1.0.0"}}}"#,
            "\n"
        ))?;
        session.expect(1)?;
        session.write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?;
        Ok(session)
    }

    fn write(&mut self, text: &str) -> Outcome<()> {
        Ok(self.stdin.write_all(text.as_bytes())?)
    }

    fn expect(&mut self, id: usize) -> Outcome<()> {
        expect(&mut self.stdout, id)
    }

    fn close(mut self) -> Outcome<()> {
        drop(self.stdin);
        let status = self.child.wait()?;
        if status.success() { Ok(()) } else { Err(format!("the server ended with {status}").into()) }
    }
}

fn call(id: usize) -> String {
    let params = r#"{"name":"echo","arguments":{"text":"hello"}}"#;
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{params}}}\n")
}

/// Reads the next line and holds it to be the result of this request.
fn expect(stdout: &mut BufReader<ChildStdout>, id: usize) -> Outcome<()> {
    let mut line = String::with_capacity(256);
    stdout.read_line(&mut line)?;
    if line.contains(&format!("\"id\":{id},\"result\"")) {
        return Ok(());
    }
    Err(format!("the reply to {id} was: {line:?}").into())
}

fn report(asked: &Asked, took: Duration) -> Outcome<()> {
    let millis = took.as_secs_f64() * 1e3;
    let each = took.as_secs_f64() * 1e6 / f64::from(u32::try_from(asked.count.max(1))?);
    let Asked { what, count, threads, .. } = asked;
    writeln!(io::stdout(), "{what}: {count} in {millis:.1} ms on {threads} thread(s), {each:.1} µs each")?;
    Ok(())
}
