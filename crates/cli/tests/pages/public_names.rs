//! `schema/public-names.txt`: every name that users write into files and scripts. A line that changes or goes is a breaking
//! change; one that is added is not.

use std::collections::BTreeSet;

use clap::Command;
use mcprove::{Topic, command_line};
use mcprove_model::ExitStatus;

use super::keys;

pub(crate) fn page() -> String {
    let mut names: BTreeSet<String> = BTreeSet::new();
    names.extend(ExitStatus::ALL.map(|status| format!("exit {:03}", status.code())));
    names.extend(Topic::names().into_iter().map(|name| format!("id {name}")));
    let mut title = String::new();
    for line in keys::page().lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            title = heading.split(' ').next().unwrap_or_default().to_lowercase();
        } else if let Some((key, _)) = line.strip_prefix("| `").and_then(|row| row.split_once('`')) {
            names.insert(format!("key of {title} {key}"));
        }
    }
    let mut command = command_line();
    command.build();
    names.extend(command.get_subcommands().flat_map(of_command));
    names.into_iter().map(|name| name + "\n").collect()
}

fn of_command(command: &Command) -> Vec<String> {
    let name = command.get_name();
    let mut names = vec![format!("command {name}")];
    names.extend(command.get_all_aliases().map(|alias| format!("command {alias}")));
    for arg in command.get_arguments() {
        let words = arg.get_long().into_iter().chain(arg.get_all_aliases().unwrap_or_default());
        names.extend(words.map(|word| format!("option {name} --{word}")));
    }
    names
}
