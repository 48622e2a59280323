//! Small stdio servers with state, and one bug each that a single call does not show: `stateful BUG [--fixed] [--data DIR]`.
//! `--fixed` is the same server without the bug; `stateful --list` prints the bugs. `stateful HABIT` is a correct server that does
//! something unusual; `stateful --habits` prints these, and `robots --broken` is not correct.

mod bugs;
mod counters;
mod graph;
mod notes;
mod projects;
mod robots;
mod server;
mod settings;
mod unusual;
mod values;

use std::{
    env,
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use bugs::{BUGS, Bug, HABITS};

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    for (flag, table) in [("--list", BUGS), ("--habits", HABITS)] {
        if words.iter().any(|word| word == flag) {
            let names: Vec<&str> = table.iter().map(|row: &Bug| row.name).collect();
            let _ = writeln!(io::stdout(), "{}", names.join("\n"));
            return ExitCode::SUCCESS;
        }
    }
    let has = |flag: &str| words.iter().any(|word| word == flag);
    let (is_fixed, is_broken) = (has("--fixed"), has("--broken"));
    let data = words.iter().position(|word| word == "--data").and_then(|at| words.get(at + 1)).map(PathBuf::from);
    let name = words.first().map_or("", String::as_str);
    let Some(bug) = BUGS.iter().chain(HABITS).find(|bug| bug.name == name) else {
        let _ = writeln!(
            io::stderr(),
            "stateful: no bug or habit is called `{name}`; `stateful --list` and `stateful --habits` print them"
        );
        return ExitCode::from(64);
    };
    server::serve(bug, (is_fixed, is_broken), data)
}
