//! What a command costs: a small process of its own starts it, so that the memory of whoever asks is not counted.

use std::{
    io::{self, Write},
    process::{Command, ExitCode},
    time::Instant,
};

use nix::sys::{
    resource::{UsageWho, getrusage},
    time::TimeVal,
};

use crate::Outcome;

/// Runs a command to its end and prints, last: its exit code, then microseconds of wall, user and system time, then its
/// greatest memory in KiB, which of the processes it started counts the largest.
pub(crate) fn run(command: &[String]) -> Outcome<ExitCode> {
    let start = Instant::now();
    let status = Command::new(&command[0]).args(&command[1..]).status().map_err(|e| format!("{}: {e}", command[0]))?;
    let wall = start.elapsed().as_micros();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = |time: TimeVal| time.tv_sec() * 1_000_000 + time.tv_usec();
    let (user, system) = (micros(usage.user_time()), micros(usage.system_time()));
    let code = status.code().unwrap_or(-1);
    writeln!(io::stdout(), "\nmeasured {code} {wall} {user} {system} {}", usage.max_rss())?;
    Ok(ExitCode::SUCCESS)
}
