//! The commands by what they are for, as `mcprove --help` lists them.

use std::ffi::OsString;
use std::fmt::Write as _;

use crate::arguments::program;
use crate::commands::{CommandOutline, OUTLINES, PURPOSES};
use crate::help_texts;

/// Options that `-h` leaves out where it would not fit a screen; `--help` has them all. One of a single command is written
/// with it. What most people need on their first day is not here.
const RARE: &[&str] = &[
    "audit cwd",
    "audit dry_run",
    "audit env",
    "audit fail_fast",
    "audit filter",
    "audit given",
    "audit strict",
    "answers",
    "badge",
    "bench timeout",
    "balance",
    "bench check_every",
    "bench compare",
    "bench cwd",
    "bench env",
    "bench export_k6",
    "bench fixture",
    "bench i_may_load",
    "bench in_flight",
    "bench openmetrics",
    "bench otlp",
    "bench pid",
    "bench session_per",
    "bench start_at",
    "bench warm_up",
    "ci command",
    "conformance cwd",
    "conformance dry_run",
    "conformance env",
    "conformance fail_fast",
    "conformance filter",
    "conformance strict",
    "conformance test_issuer",
    "ci cwd",
    "ci dry_run",
    "ci env",
    "ci fix",
    "ci write",
    "client_config",
    "debounce",
    "docker",
    "env_file",
    "events",
    "fail_on_regression",
    "fuzz corpus",
    "fuzz cwd",
    "fuzz dry_run",
    "fuzz env",
    "fuzz fail_fast",
    "fuzz filter",
    "fuzz fixture",
    "fuzz given",
    "fuzz propose",
    "fuzz replay",
    "fuzz strict",
    "fuzz strict_input",
    "github",
    "host cwd",
    "host dry_run",
    "host env",
    "host fail_fast",
    "host strict",
    "headers",
    "include_writes",
    "init baseline",
    "init cwd",
    "init dry_run",
    "init env",
    "init fail_fast",
    "init filter",
    "init given",
    "init html",
    "init jobs",
    "init junit",
    "init strict",
    "isolation",
    "last_failed",
    "log_level",
    "markdown",
    "media",
    "name",
    "negative cwd",
    "negative dry_run",
    "negative env",
    "negative fail_fast",
    "negative filter",
    "negative given",
    "negative strict",
    "no_fail",
    "oversized",
    "overwrite",
    "prestart",
    "probe_timeout",
    "protocol",
    "read_only",
    "record",
    "report",
    "sandbox",
    "conformance cwd",
    "conformance dry_run",
    "conformance fail_fast",
    "conformance env",
    "conformance test_issuer",
    "run cwd",
    "run env",
    "run fix",
    "run write",
    "sarif",
    "save_baseline",
    "seed",
    "shard",
    "skip_tags",
    "suite",
    "suite_server",
    "tags",
    "junit_lines",
    "no_model",
    "tap",
    "timing",
    "transport",
    "trials",
    "update_snapshots",
    "reporter",
];

/// Options that are rare elsewhere but shown by `-h` of a command: those for CI.
const SHOWN: &[&str] = &[
    "ci fail_on_regression",
    "conformance protocol",
    "fuzz seed",
    "matrix protocol",
    "run events",
    "run github",
    "run markdown",
    "run shard",
    "run tags",
];

/// Maximum number of lines of a command's `--help` that count as one screen.
const SCREEN: usize = 50;

/// Text of clap for the command it adds.
const HELP: (&str, &str) = ("help", "Print this message or the help of the given subcommand(s)");

/// The command line that these arguments need: commands that they do not name are in it without their options.
pub(crate) fn command_line_for(words: &[OsString]) -> clap::Command {
    // The version names no command.
    if matches!(words, [word] if word == "--version" || word == "-V") {
        return program();
    }
    let named = OUTLINES.iter().find(|outline| words.first().is_some_and(|word| word == outline.name));
    let is_about_program = words.iter().all(|word| ["--help", "-h", "--version", "-V"].iter().any(|flag| word == flag));
    if named.is_none() && !is_about_program {
        return command_line();
    }
    // The short help of a command; that of the program itself fits a screen.
    let asks_for_short_help = words.iter().skip(1).take_while(|word| *word != "--").any(|word| word == "-h");
    let is_named = |outline: &CommandOutline| named.is_some_and(|named| named.name == outline.name);
    let line = line_with(|outline| is_named(outline).then(|| complete(outline)));
    if asks_for_short_help { shortened(line) } else { line }
}

/// The command line for `-h`: like [`command_line`], without what is needed rarely.
fn shortened(line: clap::Command) -> clap::Command {
    // Global options are shown by the help of the program.
    let whole = line.mut_args(|argument| {
        let is_everywhere = argument.is_global_set();
        argument.hide(is_everywhere)
    });
    whole.mut_subcommands(|command| {
        if command.clone().term_width(100).render_help().to_string().lines().count() <= SCREEN {
            return command;
        }
        let name = command.get_name().to_owned();
        let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let command = command.mut_args(|argument| {
            let id = argument.get_id().as_str();
            let of_command = format!("{name} {id}");
            let is_in = |list: &[&str]| list.contains(&of_command.as_str());
            let is_rare = (RARE.contains(&id) || is_in(RARE)) && !is_in(SHOWN);
            argument.hide(is_rare)
        });
        command.after_help(format!("{after}\n\nMore options: mcprove {name} --help"))
    })
}

/// The command line with its commands grouped by purpose.
pub fn command_line() -> clap::Command {
    line_with(|outline| Some(complete(outline)))
}

/// The command line with some of its commands; the others have no options.
fn line_with(command: impl Fn(&CommandOutline) -> Option<clap::Command>) -> clap::Command {
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}{}Options:{}\n{{options}}{{after-help}}",
        purposes(),
        HEADING,
        HEADING.render_reset()
    );
    let commands = OUTLINES.iter().map(|outline| command(outline).unwrap_or_else(|| stub(outline)));
    compact(program()).subcommands(commands).help_template(template)
}

/// A command without its options.
fn stub(outline: &CommandOutline) -> clap::Command {
    clap::Command::new(outline.name).about(about(outline))
}

/// A command with all that its help says.
fn complete(outline: &CommandOutline) -> clap::Command {
    let command = (outline.augment)(clap::Command::new(outline.name)).about(about(outline));
    compact(help_texts::adapted(command, outline.exits))
}

fn about(outline: &CommandOutline) -> &'static str {
    outline.about.trim().trim_end_matches('.')
}

/// The same with one line an option: a second, longer text, or help for single values of an
/// option, would make clap set every option of the command on lines of its own, and no command would fit a screen.
fn compact(command: clap::Command) -> clap::Command {
    let one_line = |argument: clap::Arg| {
        let values = argument.get_possible_values();
        if !values.iter().any(|value| value.get_help().is_some()) {
            return argument.long_help(None);
        }
        let names: Vec<&str> = values.iter().map(clap::builder::PossibleValue::get_name).collect();
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let help = format!("{help} [possible values: {}]", names.join(", "));
        argument.long_help(None).help(help).hide_possible_values(true)
    };
    command.long_about(None).mut_args(one_line).mut_subcommands(compact)
}

/// Style of section names; the same as clap's own.
const HEADING: anstyle::Style = anstyle::Style::new().bold().underline();
const NAME: anstyle::Style = anstyle::Style::new().bold();

fn purposes() -> String {
    let shown: Vec<(&str, &str)> =
        OUTLINES.iter().map(|outline| (outline.name, about(outline))).chain([HELP]).collect();
    let width = shown.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (purpose, names) in PURPOSES {
        let ours = names.iter().filter_map(|name| shown.iter().find(|(shown, _)| shown == name));
        section(&mut text, purpose, ours, width);
    }
    let known = |name: &str| PURPOSES.iter().any(|(_, names)| names.contains(&name));
    section(&mut text, "Other", shown.iter().filter(|(name, _)| !known(name)), width);
    text
}

fn section<'a>(text: &mut String, title: &str, commands: impl Iterator<Item = &'a (&'a str, &'a str)>, width: usize) {
    let mut commands = commands.peekable();
    if commands.peek().is_none() {
        return;
    }
    let _ = writeln!(text, "{HEADING}{title}:{HEADING:#}");
    for (name, about) in commands {
        let _ = writeln!(text, "  {NAME}{name:width$}{NAME:#}  {about}");
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::Arguments;

    #[test]
    fn every_command_has_a_purpose() {
        assert!(!purposes().contains("Other"), "add the new command to PURPOSES");
    }

    #[test]
    fn the_list_of_commands_is_that_of_the_arguments() {
        let (mut derived, mut line) = (Arguments::command(), command_line());
        derived.build();
        line.build();
        let about = |command: &clap::Command| command.get_about().map(ToString::to_string);
        let outlines = |command: &clap::Command| -> Vec<_> {
            command.get_subcommands().map(|sub| (sub.get_name().to_owned(), about(sub))).collect()
        };
        assert_eq!(outlines(&derived), outlines(&line));
        let (name, text) = HELP;
        assert_eq!(outlines(&line).last(), Some(&(name.to_owned(), Some(text.to_owned()))));
        assert_eq!((about(&derived), derived.render_version()), (about(&line), line.render_version()));
        assert_eq!(derived.render_usage().to_string(), line.render_usage().to_string());
        let options = |command: &clap::Command| format!("{:?}", command.get_arguments().collect::<Vec<_>>());
        assert_eq!(options(&derived), options(&line));
    }

    #[test]
    fn what_is_left_out_of_a_line_is_not_missed() {
        let result = |line: clap::Command, words: &[OsString]| {
            let all = std::iter::once(OsString::from("mcprove")).chain(words.iter().cloned());
            match line.try_get_matches_from(all) {
                Ok(matches) => format!("{matches:?}"),
                Err(error) => error.render().ansi().to_string(),
            }
        };
        for words in [
            "",
            "--help",
            "-h",
            "--version",
            "-V",
            "-hV",
            "help",
            "help run",
            "run",
            "run --help",
            "run -h",
            "run -V",
            "run a b --jsn",
            "run --color always -- x",
            "audit -- node x.js",
            "--quiet run a.yaml",
            "run -- -h",
            "runn",
            "--verzion",
            "call --help",
            "schema-lint --help",
            "bench --help",
            "ci -h",
            "man",
            "completions bash",
        ] {
            let words: Vec<OsString> = words.split_whitespace().map(OsString::from).collect();
            let is_short = words.iter().skip(1).take_while(|word| *word != "--").any(|word| word == "-h");
            let whole = if is_short { shortened(command_line()) } else { command_line() };
            assert_eq!(result(command_line_for(&words), &words), result(whole, &words), "{words:?}");
        }
    }

    #[test]
    fn the_list_of_commands_fits_80_columns() {
        let help = command_line().try_get_matches_from(["mcprove", "--help"]).expect_err("help is printed").to_string();
        let (list, _) = help.split_once("Options:").expect("the options come last");
        let long: Vec<&str> = list.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(long.is_empty(), "{}", long.join("\n"));
        for shown in ["  man ", "--limit"] {
            assert!(help.contains(shown), "{shown}: {help}");
        }
    }

    #[test]
    fn completion_scripts_offer_values() {
        let bash = ["compgen -W \"case file run\"", "compgen -W \"legacy modern auto", "stdout-pollution"];
        for (shell, expected) in [
            (clap_complete::Shell::Bash, bash.as_slice()),
            // Its scripts offer nothing for positional arguments.
            (clap_complete::Shell::Fish, &["case\\t", "modern\\t"]),
            (clap_complete::Shell::Zsh, &["(case file run)", "stdout-pollution"]),
        ] {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command_line(), "mcprove", &mut script);
            let script = String::from_utf8(script).expect("text");
            for expected in expected {
                assert!(script.contains(expected), "{shell}: {expected}");
            }
        }
    }

    /// Lines of the longest `--help`: a scan has the flags of a run, of reports, of a baseline and of its server.
    const LONG: usize = 122;

    #[test]
    fn every_help_fits_a_screen() {
        for command in Arguments::command().get_subcommands() {
            let help = |flag| {
                let line = ["mcprove", command.get_name(), flag];
                command_line()
                    .term_width(100)
                    .try_get_matches_from(line)
                    .expect_err("clap returns help as an error")
                    .to_string()
            };
            assert!(help("--help").lines().count() <= LONG, "`mcprove {} --help` is too long", command.get_name());
            let line = ["mcprove", command.get_name(), "-h"];
            let short = shortened(command_line())
                .term_width(100)
                .try_get_matches_from(line)
                .expect_err("clap returns help as an error");
            let short = short.to_string();
            assert!(short.lines().count() <= SCREEN, "`mcprove {} -h` fits no screen:\n{short}", command.get_name());
            assert!(short.contains("Example"), "{short}");
        }
    }

    /// Flags that name another kind of thing in one command, and why.
    const OTHERWISE: &[(&str, &str, &str)] = &[
        ("matrix", "protocol", "several, one a column"),
        ("matrix", "server", "several, one a column"),
        ("audit", "output", "a file for each tool"),
        ("generate", "output", "a file for each tool"),
        ("trust", "suite", "one file, for what it declares"),
        ("fuzz", "suite", "one file, for its `fuzz`"),
        ("bench", "args", "the arguments themselves, for a script of one line"),
        ("fuzz", "save", "a file for each failure"),
    ];

    #[test]
    fn flags_of_one_name_are_written_alike_everywhere() {
        use std::collections::BTreeMap;
        type Spelling = (Option<char>, Vec<String>);
        let mut known: BTreeMap<String, (String, Spelling)> = BTreeMap::new();
        let mut by_letter: BTreeMap<char, String> = BTreeMap::new();
        for command in Arguments::command().get_subcommands() {
            let name = command.get_name();
            for argument in command.get_arguments() {
                let Some(long) = argument.get_long() else { continue };
                if let Some(letter) = argument.get_short() {
                    let first = by_letter.entry(letter).or_insert_with(|| long.to_owned());
                    assert_eq!(first, long, "`-{letter}` of `{name}` means something else elsewhere");
                }
                let values = argument.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect();
                let spelling = (argument.get_short(), values);
                if OTHERWISE.iter().any(|(of, flag, _)| (*of, *flag) == (name, long)) {
                    continue;
                }
                let (first, expected) =
                    known.entry(long.to_owned()).or_insert_with(|| (name.to_owned(), spelling.clone()));
                assert_eq!(*expected, spelling, "`--{long}` of `{name}` is not that of `{first}`");
            }
        }
    }

    #[test]
    fn what_is_rare_exists() {
        let mut command = Arguments::command();
        command.build();
        for rare in RARE.iter().chain(SHOWN) {
            let (of, id) = rare.split_once(' ').map_or((None, *rare), |(of, id)| (Some(of), id));
            let has = |command: &clap::Command| command.get_arguments().any(|argument| argument.get_id() == id);
            let mut commands = command.get_subcommands().filter(|command| of.is_none_or(|of| command.get_name() == of));
            assert!(commands.any(has), "no command has `{rare}`");
        }
    }

    #[test]
    fn every_command_has_examples_and_says_what_its_options_do() {
        for command in Arguments::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let name = command.get_name();
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(after.contains("Example"), "`mcprove {name} --help` has no examples");
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "`{}` of `{name}` has no help", argument.get_id());
            }
        }
    }
}
