//! The fastest MCP server we can write: no allocation per message, no dependency. It knows `initialize`, `ping`,
//! `tools/list` and `tools/call` of `echo {text}`, and trusts its client to send well-formed messages.
//!
//! `tiny-server` speaks over its standard input and output on one thread. `tiny-server --http` prints the address it
//! listens at, answers each connection on a thread of its own, and ends with its standard input.

mod http;
mod reply;

use std::{
    env,
    io::{self, BufRead, BufReader, Write},
    process::ExitCode,
};

use reply::reply;

fn main() -> ExitCode {
    let served = match env::args().nth(1).as_deref() {
        Some("--http") => http::serve(),
        _ => serve(),
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn serve() -> io::Result<()> {
    let mut input = BufReader::with_capacity(64 << 10, io::stdin().lock());
    let mut output = io::stdout().lock();
    let (mut line, mut replies) = (Vec::with_capacity(4 << 10), Vec::with_capacity(64 << 10));
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        reply(&line, &mut replies);
        // Requests that are already here are answered with one write.
        if !input.buffer().contains(&b'\n') && !replies.is_empty() {
            output.write_all(&replies)?;
            output.flush()?;
            replies.clear();
        }
    }
}
