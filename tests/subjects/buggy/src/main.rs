//! Small stdio servers with one bug each: `buggy BUG [--fixed]`. `--fixed` is the same server once the bug is mended, and
//! `buggy careful` never had one. Apart from its bug, each checks its input against the schema it lists.

mod bugs;
mod server;

use std::{
    env,
    io::{self, Write},
    process::ExitCode,
};

use bugs::BUGS;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let is_fixed = words.iter().any(|word| word == "--fixed");
    let name = words.iter().find(|word| *word != "--fixed").map_or("", String::as_str);
    let Some(bug) = BUGS.iter().find(|bug| bug.name == name) else {
        let names: Vec<&str> = BUGS.iter().map(|bug| bug.name).collect();
        let _ = writeln!(io::stderr(), "buggy: no bug is called `{name}`; there are {}", names.join(", "));
        return ExitCode::from(64);
    };
    server::serve(bug, is_fixed)
}
