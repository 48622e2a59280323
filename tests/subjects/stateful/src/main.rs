//! Small stdio servers with state, and one bug each that a single call does not show: `stateful BUG [--fixed] [--data DIR]`.
//! `--fixed` is the same server without the bug; `stateful --list` prints the bugs.

mod bugs;
mod counters;
mod notes;
mod server;
mod settings;
mod values;

use std::{
    env,
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use bugs::BUGS;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    if words.iter().any(|word| word == "--list") {
        let names: Vec<&str> = BUGS.iter().map(|bug| bug.name).collect();
        let _ = writeln!(io::stdout(), "{}", names.join("\n"));
        return ExitCode::SUCCESS;
    }
    let is_fixed = words.iter().any(|word| word == "--fixed");
    let data = words.iter().position(|word| word == "--data").and_then(|at| words.get(at + 1)).map(PathBuf::from);
    let name = words.first().map_or("", String::as_str);
    let Some(bug) = BUGS.iter().find(|bug| bug.name == name) else {
        let _ = writeln!(io::stderr(), "stateful: no bug is called `{name}`; `stateful --list` prints them");
        return ExitCode::from(64);
    };
    server::serve(bug, is_fixed, data)
}
