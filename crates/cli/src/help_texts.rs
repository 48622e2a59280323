//! Help that depends on the command: shared options that mean something special, or nothing, in one command.

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

/// Commands that take a server and no suite.
const WITHOUT_SUITES: &[&str] = &[
    "audit",
    "call",
    "complete",
    "conformance",
    "doctor",
    "fuzz",
    "generate",
    "init",
    "intercept",
    "list",
    "negative",
    "prompt",
    "read",
    "schema-lint",
];

/// Commands that discover tools and call them.
const SCANS: &[&str] = &["audit", "conformance", "fuzz", "init", "negative"];

/// Options of a group of commands with the help they have there.
const IN_GROUPS: &[(&[&str], &str, &str)] = &[
    (WITHOUT_SUITES, "server", "The command that starts the server, split as a shell would"),
    (WITHOUT_SUITES, "url", "The URL of a running server"),
    (
        WITHOUT_SUITES,
        "protocol",
        "The protocol revision to speak: legacy (before 2026-07-28), modern, auto or a date [default: legacy]",
    ),
    (
        &["conformance"],
        "protocol",
        "Only this protocol revision: legacy, modern or a date [default: every revision that the server accepts]",
    ),
    (SCANS, "jobs", "Number of concurrent cases: a number, or `auto` [default: 1]"),
    (SCANS, "dry_run", "Start the server, list what would be called, and call nothing"),
    (
        SCANS,
        "no_sandbox",
        "Start the server without a sandbox: it may then write wherever you may, not only to the fixture copy, temporary folders and package caches",
    ),
    (&["report"], "fail_on_regression", "With `--threshold`: exit with 1 on a regression, too"),
    (&["ci"], "fail_on_regression", "Exit with 1 when there is a regression, also above the threshold"),
];

/// Options of a group of commands that say there what holds anyway, or that few need: they are accepted and not shown.
const LEFT_OUT: &[(&[&str], &[&str])] = &[
    (SCANS, &["sandbox", "fail_on_regression"]),
    (&["matrix", "run"], &["fail_on_regression"]),
    (
        &["init"],
        &[
            "balance",
            "baseline",
            "fail_fast",
            "filter",
            "last_failed",
            "save_baseline",
            "shard",
            "skip_tags",
            "tags",
            "trials",
        ],
    ),
];

/// Options of shared groups that could have no effect in some commands, and why: they are refused there, and not shown.
const WITHOUT_EFFECT: &[(&[&str], &[&str], &str)] = &[
    (SCANS, &["prestart"], "a scan starts its servers itself"),
    (&["diff", "host"], &["isolation", "prestart"], "each case has servers of its own"),
    (&["host"], &["docker", "probe_timeout", "sandbox"], "what is started is a client"),
    (&["conformance"], &["probe_timeout"], "each revision is tried by itself"),
    (&["watch"], &["dry_run"], "nothing is started, so there is nothing to watch; use `mcprove run`"),
];

/// A mode of a command in which only some of its options have an effect; the others are refused.
struct Mode {
    command: &'static str,
    /// The option that chooses it.
    chosen_by: &'static str,
    /// Its name in messages.
    name: &'static str,
    /// The other options that it takes.
    takes: &'static [&'static str],
}

const MODES: &[Mode] = &[
    Mode { command: "conformance", chosen_by: "logs", name: "event logs", takes: &["rule"] },
    Mode {
        command: "fuzz",
        chosen_by: "propose",
        name: "`--propose`",
        takes: &[
            "client_config",
            "command",
            "cwd",
            "docker",
            "env",
            "headers",
            "name",
            "no_sandbox",
            "protocol",
            "read_only",
            "sandbox",
            "seed",
            "server",
            "timeout",
            "transport",
            "url",
            "yes",
        ],
    },
    Mode {
        command: "snapshot",
        chosen_by: "catalog",
        name: "`--catalog`",
        takes: &[
            "breaking_only",
            "ci",
            "client_config",
            "command",
            "cwd",
            "docker",
            "env",
            "env_file",
            "fixture",
            "headers",
            "json",
            "name",
            "paths",
            "protocol",
            "sandbox",
            "server",
            "suite",
            "timeout",
            "transport",
            "update",
            "url",
        ],
    },
];

/// An error for the first option on the command line that has no effect in its command, or in the mode of it that is asked for.
pub(crate) fn refuse_without_effect(line: &mut Command, matches: &ArgMatches) -> Result<(), clap::Error> {
    let Some((name, given)) = matches.subcommand() else { return Ok(()) };
    let Some(command) = line.find_subcommand(name) else { return Ok(()) };
    let is_given = |id: &str| {
        matches!(given.try_contains_id(id), Ok(true)) && given.value_source(id) == Some(ValueSource::CommandLine)
    };
    let mode = MODES.iter().find(|mode| mode.command == name && is_given(mode.chosen_by));
    let refused = command.get_arguments().filter(|argument| !argument.is_global_set()).find_map(|argument| {
        let id = argument.get_id().as_str();
        if !is_given(id) {
            return None;
        }
        let flag = argument.get_long().map_or_else(|| id.to_owned(), |long| format!("--{long}"));
        if let Some(mode) = mode.filter(|mode| id != mode.chosen_by && !mode.takes.contains(&id)) {
            return Some(format!("`{flag}` has no effect with {}; leave it out", mode.name));
        }
        let row = WITHOUT_EFFECT.iter().find(|(commands, ids, _)| commands.contains(&name) && ids.contains(&id));
        row.map(|(_, _, why)| format!("`{flag}` has no effect in `mcprove {name}`: {why}"))
    });
    match refused {
        Some(message) => Err(line.error(ErrorKind::ArgumentConflict, message)),
        None => Ok(()),
    }
}

/// A command with the help that depends on it, and its exit codes.
pub(crate) fn adapted(command: Command, exits: &str) -> Command {
    let name = command.get_name().to_owned();
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    // Examples come last, because they are what most people look for.
    let after = match after.find("Example") {
        Some(at) => format!("{}Exit codes: {exits}\n\n{}", &after[..at], &after[at..]),
        None => format!("{after}\n\nExit codes: {exits}"),
    };
    let sandbox = if SCANS.contains(&&*name) { "A server that is started here runs in a sandbox.\n\n" } else { "" };
    let command = command.after_help(format!("{sandbox}{}", after.trim_start()));
    command.mut_args(|argument| {
        let id = argument.get_id().as_str().to_owned();
        let is_without_effect =
            WITHOUT_EFFECT.iter().any(|(commands, ids, _)| commands.contains(&&*name) && ids.contains(&&*id));
        let is_left_out = is_without_effect
            || LEFT_OUT.iter().any(|(commands, ids)| commands.contains(&&*name) && ids.contains(&&*id));
        let help = IN_GROUPS.iter().rfind(|(commands, of, _)| commands.contains(&&*name) && *of == id);
        let argument = match help {
            Some((_, _, help)) => argument.help(*help),
            None => argument,
        };
        let is_hidden = is_left_out || argument.is_hide_set();
        argument.hide(is_hidden)
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::Arguments;

    #[test]
    fn every_row_is_about_an_option_that_exists() {
        let command = Arguments::command();
        let has = |name: &str, id: &str| {
            let command = command.find_subcommand(name);
            command.is_some_and(|command| command.get_arguments().any(|argument| argument.get_id() == id))
        };
        for (commands, id, _) in IN_GROUPS {
            let without: Vec<&&str> = commands.iter().filter(|name| !has(name, id)).collect();
            assert!(without.is_empty(), "{id}: {without:?}");
        }
        let without_effect = WITHOUT_EFFECT.iter().map(|(commands, ids, _)| (commands, ids));
        for (commands, ids) in LEFT_OUT.iter().map(|(commands, ids)| (commands, ids)).chain(without_effect) {
            for (name, id) in commands.iter().flat_map(|name| ids.iter().map(move |id| (name, id))) {
                assert!(has(name, id), "{name} has no {id}");
            }
        }
        for mode in MODES {
            for id in mode.takes.iter().chain([&mode.chosen_by]) {
                assert!(has(mode.command, id), "{} has no {id}", mode.command);
            }
        }
    }
}
