//! `docs/commands.md`: what `--help` says, by purpose.

use std::fmt::Write as _;

use mcprove::{PURPOSES, command_line};

pub(crate) fn page() -> String {
    let mut command = command_line().term_width(100);
    command.build();
    let mut page = "# Commands\n\n".to_owned();
    page.push_str(&super::made_from("the description of the command line"));
    page.push_str(
        "\nEvery command prints this with `--help`; `-h` leaves out what is needed rarely and fits a screen. `--json` prints \
         results for machines, alone on standard output: see \
         [JSON](json.md). Flags that several commands have mean the same everywhere.\n",
    );
    for (purpose, names) in PURPOSES {
        let known: Vec<&&str> = names.iter().filter(|name| **name != "help" && exists(&command, name)).collect();
        if known.is_empty() {
            continue;
        }
        let _ = write!(page, "\n## {purpose}\n");
        for name in known {
            let help = command.find_subcommand_mut(name).expect("it exists").render_help().to_string();
            let _ = write!(page, "\n### mcprove {name}\n\n```text\n{}\n```\n", help.trim_end());
        }
    }
    page
}

fn exists(command: &clap::Command, name: &str) -> bool {
    command.find_subcommand(name).is_some_and(|command| !command.is_hide_set())
}
