//! Help that depends on the command: exit codes, and shared options that mean something special in one command.

use clap::Command;

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

/// Options of a group of commands that have no effect of their own there; they are accepted.
const LEFT_OUT: &[(&[&str], &[&str])] = &[
    (SCANS, &["prestart", "sandbox", "fail_on_regression"]),
    (&["matrix", "run"], &["fail_on_regression"]),
    (&["watch"], &["dry_run"]),
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

/// The exit codes of each command; 130 for an interrupt holds for all that do not say otherwise.
const EXIT_CODES: &[(&str, &str)] = &[
    ("run", "0 all passed, 1 a case failed, 2 something could not be done, 4 no case was selected."),
    ("watch", "0 after `q`, whatever the cases did, 130 after Ctrl-C."),
    (
        "ci",
        "0 at least `--threshold` percent passed, 1 fewer (or a regression, with `--fail-on-regression`), 2 and 4 as `run`.",
    ),
    ("matrix", "as `run`; 2 without a variant: `--server`, `--protocol`, `--languages`, or `matrix:` in the suite."),
    (
        "fuzz",
        "0 nothing found (slow answers are warnings), 1 a crash, a hang, a broken reply or a leak, 2 the server could not be reached, 4 no tool could be called.",
    ),
    (
        "diff",
        "0 both offer and answer the same (additive changes are warnings), 1 a breaking change or a reply that differs, 2 a server could not be reached, 4 nothing to call.",
    ),
    (
        "lock",
        "0 stored, or with `--check` unchanged; 1 something changed, 2 the server or the lockfile could not be read.",
    ),
    ("bench", "0 all gates are kept, 1 the server fails under load, 2 no load could be made."),
    ("ui", "0 after Ctrl-C."),
    ("list", "0 listed, 1 a list was refused, 2 the server could not be reached, or has no such name."),
    (
        "call",
        "0 a result, 1 an error of the tool or the server, 2 the server could not be reached, or has no such tool.",
    ),
    ("read", "0 a result, 1 an error of the server, 2 it could not be reached."),
    ("prompt", "0 a result, 1 an error of the server, 2 it could not be reached, or has no such prompt."),
    ("complete", "0 a result, 1 an error of the server, 2 it could not be reached."),
    ("login", "0 logged in, or listed, 2 the login failed; the message names the step."),
    ("logout", "0 the login is forgotten, 2 there is none."),
    (
        "doctor",
        "0 good, 1 the server cannot list what it has, 2 it could not be reached. A program that is missing is no failure.",
    ),
    (
        "audit",
        "0 nothing crashed (a tool that answers with an error lowers the score only), 1 something crashed or timed out, 2 the server could not be reached, 4 no tool could be called.",
    ),
    ("conformance", "0 no rule is broken (warnings are shown), 1 a rule is broken, 2 the server could not be reached."),
    (
        "negative",
        "0 all requests were rejected as they should be, 1 one was accepted or broke the server, 2 the server could not be reached, 4 no tool could be called.",
    ),
    ("schema-lint", "0 no findings, 1 findings (from warnings on), 2 there is nothing to read."),
    ("trust", "0 no undeclared flow, 1 one was found, 2 a log cannot be read."),
    (
        "init",
        "0 files were written, 2 the server could not be reached, or files are there already, 4 no tool could be called.",
    ),
    ("generate", "0 files were written, or are there already and were kept, 2 the server could not be reached."),
    ("validate", "0 they can be run, 2 they cannot."),
    ("lint", "0 no findings, 1 findings, 2 a file cannot be read."),
    ("convert", "0 converted, 2 a file cannot be read or converted."),
    ("schema", "0."),
    (
        "snapshot",
        "0 the same, or new outside CI; 1 different, or new in CI; 2 something could not be done, 4 no case was selected.",
    ),
    ("coverage", "0 enough is covered, 1 less than a minimum that was given, 2 the server could not be reached."),
    ("mock", "0 at the end of its input or after Ctrl-C, 2 the file cannot be simulated."),
    ("intercept", "that of the server; 1 when the calls are not as `--trajectory` wants them, 0 after Ctrl-C."),
    (
        "host",
        "0 the client is as the scenarios expect, 1 it is not, 2 it could not be started or a scenario has mistakes, 4 no scenario was selected.",
    ),
    ("drive", "0 at the end of its input; a request that fails has an `error` in its reply."),
    ("mcp", "0 at the end of its input or after Ctrl-C."),
    (
        "report",
        "that of the run: 0, or 1 when a case failed (not one that failed in the `--baseline`, too), 2 when a shard is missing or a log breaks off.",
    ),
    ("agents", "0 no measure became worse beyond chance, 1 one did, 2 a log cannot be read or has no agents."),
    ("explain", "0, or 2 for a name that does not exist."),
    ("completions", "0."),
    ("man", "0, or 2 when the folder cannot be written."),
];

/// A command with the help that depends on it.
pub(crate) fn adapted(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let exits = EXIT_CODES.iter().find(|(command, _)| *command == name);
    // Examples come last, because they are what most people look for.
    let after = match (exits, after.find("Example")) {
        (Some((_, exits)), Some(at)) => format!("{}Exit codes: {exits}\n\n{}", &after[..at], &after[at..]),
        (Some((_, exits)), None) => format!("{after}\n\nExit codes: {exits}"),
        (None, _) => after,
    };
    let sandbox = if SCANS.contains(&&*name) { "A server that is started here runs in a sandbox.\n\n" } else { "" };
    let command = command.after_help(format!("{sandbox}{}", after.trim_start()));
    command.mut_args(|argument| {
        let id = argument.get_id().as_str().to_owned();
        let is_left_out = LEFT_OUT.iter().any(|(commands, ids)| commands.contains(&&*name) && ids.contains(&&*id));
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
    fn every_command_states_its_exit_codes() {
        let command = Arguments::command();
        for command in command.get_subcommands() {
            assert!(EXIT_CODES.iter().any(|(name, _)| *name == command.get_name()), "{}", command.get_name());
        }
    }

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
        for (commands, ids) in LEFT_OUT {
            for (name, id) in commands.iter().flat_map(|name| ids.iter().map(move |id| (name, id))) {
                assert!(has(name, id), "{name} has no {id}");
            }
        }
    }
}
