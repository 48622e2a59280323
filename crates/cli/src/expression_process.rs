//! Programs of suites (jq, CEL) in a process of their own: this program in another role, bounded by the system.
//!
//! The interpreters bound neither time nor memory, and one that runs out of stack ends its process. Here that process has
//! nothing to lose. Linux bounds memory and processor time, other Unix systems the time, and every system the waiting.

use std::io::{Read, Write};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use mcprove_judge::expressions;

/// The first argument of this program in that role.
pub(crate) const EVALUATE: &str = "__evaluate";

/// The time that is waited for a value; a program that computes all the time ends before, see [`PROCESSOR_SECONDS`].
const DEADLINE: Duration = Duration::from_secs(20);
/// The processor time of a program.
#[cfg(unix)]
const PROCESSOR_SECONDS: u64 = 5;
/// The memory of a program, its stack and this program's code included.
#[cfg(target_os = "linux")]
const MEMORY: u64 = 400 << 20;
/// The largest value.
const LARGEST: u64 = 8 << 20;

/// Evaluates a request in a process of its own.
pub(crate) fn apart(request: &[u8]) -> Result<Vec<u8>, String> {
    let told = |error: std::io::Error| format!("it cannot be started in a process of its own: {error}");
    let program = std::env::current_exe().map_err(told)?;
    let mut child = Command::new(program)
        .arg(EVALUATE)
        // The allocator takes a gigabyte at once otherwise, which a bound cannot take back.
        .env("MIMALLOC_ARENA_RESERVE", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(told)?;
    let answer = exchanged(&mut child, request);
    // Ended already, unless it took too long or said too much.
    let _ = child.kill();
    let _ = child.wait();
    answer
}

fn exchanged(child: &mut Child, request: &[u8]) -> Result<Vec<u8>, String> {
    if let Some(mut input) = child.stdin.take() {
        // It reads everything before it does anything; one that is gone is seen by its silence.
        let _ = input.write_all(request);
    }
    let output = child.stdout.take();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut answer = Vec::new();
        let read = output.map(|output| output.take(LARGEST + 1).read_to_end(&mut answer));
        let _ = sender.send((read, answer));
    });
    match receiver.recv_timeout(DEADLINE) {
        Ok((Some(Ok(_)), answer)) if answer.len() as u64 > LARGEST => {
            Err(format!("its value has more than {} MiB", LARGEST >> 20))
        }
        Ok((Some(Ok(_)), answer)) if !answer.is_empty() => Ok(answer),
        Ok(_) => Err("it takes more time or memory than it may, or nests too deep".to_owned()),
        Err(_) => Err(format!("it gave no value within {} seconds", DEADLINE.as_secs())),
    }
}

/// The role itself: one request from standard input, its answer to standard output.
pub(crate) fn serve() -> ExitCode {
    bound();
    let mut request = Vec::new();
    if std::io::stdin().lock().read_to_end(&mut request).is_err() {
        return ExitCode::FAILURE;
    }
    let answer = expressions::answer(&request);
    let mut output = std::io::stdout().lock();
    let is_written = output.write_all(&answer).and_then(|()| output.flush()).is_ok();
    if is_written { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Bounds this process for good. What a system does not offer is left to the deadline of the other side.
#[cfg(unix)]
fn bound() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let set = |resource, most| {
        let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    };
    // Its end is expected: no file is to be left.
    set(Resource::Core, 0);
    set(Resource::Cpu, PROCESSOR_SECONDS);
    #[cfg(target_os = "linux")]
    set(Resource::As, MEMORY);
}

#[cfg(not(unix))]
fn bound() {}
