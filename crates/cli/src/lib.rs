//! mcprove tests MCP servers and the agents that use them.
//!
//! This crate is the program's thin outside: arguments become options, the engine runs, reporters print, and an
//! exit code comes out. It is the only room that prints, reads the environment and exits.

mod arguments;
mod atomic_write;
mod baselines;
mod browser;
mod cassettes;
mod catalog_report;
mod catalogs;
mod changes;
mod client_config;
mod client_variables;
mod commands;
mod completing_parser;
mod confinement;
mod conformance_logs;
mod context;
mod env_files;
mod execution;
mod explanations;
mod explore;
mod expression_process;
mod failure;
mod finding_report;
mod finish;
mod fixes;
mod help;
mod help_texts;
mod inputs;
mod interception_log;
mod json_outputs;
mod k6_export;
mod limits;
mod load_baseline;
mod load_permission;
mod login_walk;
mod logins;
mod logs;
mod outputs;
mod run_context;
mod run_flags;
mod run_sink;
mod saved_tests;
mod scan;
mod seed_arguments;
mod selection;
mod server_offer;
mod snapshots;
mod spinner;
mod starter_files;
mod status_changes;
mod stdout;
mod stop_signals;
mod subject;
mod suites;
mod terminal_mode;
mod ui;
mod verified_suite;

/// Scores for the recovery of an agent from a tool that does not answer: pure functions of time marks.
///
/// You time a call against a faulty server and hand over the millisecond marks; the numbers come back.
///
/// ```
/// use mcprove::recovery::{RecoveryObservation, meets_recovery_budget, score_recovery};
///
/// let report = score_recovery(&RecoveryObservation {
///     call_start_ms: 0,
///     detected_ms: Some(3_000),
///     recovered_ms: Some(3_200),
///     timeout_budget_ms: 3_000,
/// });
/// assert!(report.clean_timeout);
/// assert!(meets_recovery_budget(&report, 5_000));
/// ```
pub mod recovery {
    pub use mcprove_judge::recovery::{RecoveryObservation, RecoveryReport, meets_recovery_budget, score_recovery};
}

use std::borrow::Cow;
use std::io::Write as _;
use std::process::ExitCode;

use clap::FromArgMatches as _;
use clap::error::{ContextKind, ContextValue};
use mcprove_model::ExitStatus;
use mcprove_report::escape_plain_output;

pub use arguments::Arguments;
pub use commands::PURPOSES;
pub use explanations::Topic;
pub use help::command_line;
pub use json_outputs::{JSON_OUTPUTS, JsonOutput};

use context::Context;
use failure::Failure;

/// Runs the program with the arguments and environment of this process.
pub fn main() -> ExitCode {
    match std::env::args_os().nth(1) {
        Some(word) if word == mcprove_wire::WATCHDOG => {
            mcprove_wire::watch_over(std::io::stdin().lock());
            return ExitCode::SUCCESS;
        }
        Some(word) if word == mcprove_wire::CONFINED => {
            let failure = mcprove_wire::run_confined(std::env::args_os().skip(2));
            let _ = std::io::stderr().write_all(failure.as_bytes());
            return ExitCode::from(127);
        }
        Some(word) if word == mcprove_engine::HOST_PIPE => return commands::host_pipe(std::env::args().skip(2)),
        Some(word) if word == expression_process::EVALUATE => return expression_process::serve(),
        Some(_) | None => {}
    }
    end_at_panic();
    mcprove_judge::expressions::set_apart(expression_process::apart);
    ExitCode::from(match parsed() {
        Ok(arguments) => run(arguments),
        Err(error) => usage(&error).code(),
    })
}

/// Ends the program at the first panic of any thread, with its exit code and whose fault it is. Nothing unwinds, in no build: the
/// watchdog ends processes and removes folders, as when the program is killed.
#[expect(clippy::exit, reason = "a panic ends the program, with an exit code of its own")]
fn end_at_panic() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        terminal_mode::restore();
        print(panic);
        let _ = writeln!(anstream::stderr(), "error: this is a bug of mcprove; please report it with the lines above");
        std::process::exit(i32::from(ExitStatus::Bug.code()));
    }));
}

/// The arguments of this process.
fn parsed() -> Result<Arguments, clap::Error> {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let mut line = help::command_line_for(&words);
    let mut matches = line.try_get_matches_from_mut(std::env::args_os()).map_err(without_secret)?;
    help_texts::refuse_without_effect(&mut line, &matches)?;
    Arguments::from_arg_matches_mut(&mut matches)
}

/// Options whose values may be secrets, which an error must not repeat.
const SECRET_OPTIONS: &[&str] = &["--add-server", "--env", "--header", "--server"];

/// An error about the arguments, without a value that may be a secret.
fn without_secret(mut error: clap::Error) -> clap::Error {
    let is_secret = matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::String(option))
        if SECRET_OPTIONS.iter().any(|secret| option.split(' ').next() == Some(secret)));
    if is_secret {
        error.insert(ContextKind::InvalidValue, ContextValue::String("***".to_owned()));
    }
    error
}

/// The fewest open files that the program, its runtime and one server need.
#[cfg(unix)]
const OPEN_FILES: u64 = 20;

/// Why nothing can be done: the system lets this process open too few files.
#[cfg(unix)]
fn too_few_files() -> Option<Failure> {
    let allowed = rustix::process::getrlimit(rustix::process::Resource::Nofile).current?;
    (allowed < OPEN_FILES).then(|| {
        Failure::new(
            format!("only {allowed} files may be open at a time, and at least {OPEN_FILES} are needed"),
            "raise the limit, for example with `ulimit -n 256`",
        )
    })
}

#[cfg(not(unix))]
fn too_few_files() -> Option<Failure> {
    None
}

/// Makes a write beyond a limit on the size of files (`ulimit -f`) an error. By default the system ends the program, without a
/// word. Servers and hooks are started with the default.
#[cfg(unix)]
fn survive_file_limits() {
    use rustix::process::{Resource, Signal, getrlimit};
    use tokio::signal::unix::{SignalKind, signal};
    if getrlimit(Resource::Fsize).current.is_none() {
        return;
    }
    // A handler stays for as long as the process lives.
    if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() {
        let _ = runtime.block_on(async { signal(SignalKind::from_raw(Signal::XFSZ.as_raw())) });
    }
}

#[cfg(not(unix))]
fn survive_file_limits() {}

fn run(arguments: Arguments) -> u8 {
    survive_file_limits();
    let context = Context::of_this_process(&arguments);
    if let Some(failure) = too_few_files() {
        failure.print(&context);
        return failure.status().code();
    }
    mcprove_wire::arm(&context.own_program);
    #[cfg(windows)]
    mcprove_wire::search_programs(Context::variable("PATH").unwrap_or_default(), Context::variable("PATHEXT"));
    mcprove_wire::prepare_sandbox(context.sandbox_setup());
    match commands::run(arguments.command, &context) {
        Ok(code) => code,
        Err(failure) => {
            failure.print(&context);
            failure.status().code()
        }
    }
}

/// The command that was meant, where clap has no idea: it knows no letters that changed places.
fn near_command(error: &clap::Error) -> Option<String> {
    use clap::error::{ContextKind, ContextValue};
    if error.get(ContextKind::SuggestedSubcommand).is_some() {
        return None;
    }
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let line = command_line();
    let names = line.get_subcommands().filter(|command| !command.is_hide_set()).map(clap::Command::get_name);
    mcprove_model::nearest(typed, names).map(str::to_owned)
}

/// A hint at `--` where a server's command was written without it.
fn command_after_dashes(error: &clap::Error) -> Option<String> {
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    server_after_dashes(error, &words)
}

fn server_after_dashes(error: &clap::Error, words: &[String]) -> Option<String> {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else { return None };
    if error.kind() != ErrorKind::UnknownArgument || words.iter().any(|word| word == "--") {
        return None;
    }
    let line = command_line();
    let command = line.find_subcommand(words.first()?)?;
    command.get_arguments().find(|argument| argument.is_last_set())?;
    // Everything from the first argument that the command does not know belongs to the server.
    let at = words.iter().position(|word| word == unknown).filter(|at| !words[*at].starts_with('-'))?;
    let (own, server) = words.split_at(at);
    let server = shell_words::join(server);
    Some(format!("\n  the server's command goes after `--`: mcprove {} -- {server}\n", own.join(" ")))
}

fn usage(error: &clap::Error) -> ExitStatus {
    let text = error.render();
    let plain = text.to_string();
    // It quotes arguments, which may hold what a terminal obeys or hides.
    let text = match escape_plain_output(&plain) {
        Cow::Owned(safe) => safe,
        Cow::Borrowed(_) => text.ansi().to_string(),
    };
    let wanted = !error.use_stderr();
    let tip = near_command(error).map(|name| format!("\n  did you mean `mcprove {name}`?\n"));
    let tip = tip.or_else(|| command_after_dashes(error)).unwrap_or_default();
    let tip = escape_plain_output(&tip);
    // Nothing can be done when the terminal is gone.
    let _ = if wanted { write!(anstream::stdout(), "{text}") } else { write!(anstream::stderr(), "{text}{tip}") };
    if wanted { ExitStatus::Good } else { ExitStatus::NotDone }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_may_be_a_secret_is_not_repeated() {
        let said = |option: &str| {
            let line = command_line().try_get_matches_from(["mcprove", "list", option, "sk1234567890 '"]);
            without_secret(line.expect_err("an error")).to_string()
        };
        for option in ["--env", "--header"] {
            let text = said(option);
            assert!(text.contains(option) && !text.contains("sk1234567890"), "{text}");
        }
        assert!(said("--timeout").contains("sk1234567890"));
    }

    #[test]
    fn a_server_without_dashes_is_shown_with_them() {
        let tip = |text: &str| {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            let line = command_line().try_get_matches_from(std::iter::once("mcprove".to_owned()).chain(words.clone()));
            server_after_dashes(&line.expect_err("an error"), &words)
        };
        let expected = "\n  the server's command goes after `--`: mcprove audit -- python server.py\n";
        assert_eq!(tip("audit python server.py").as_deref(), Some(expected));
        let expected = "\n  the server's command goes after `--`: mcprove audit --json -- node x.js --port 3\n";
        assert_eq!(tip("audit --json node x.js --port 3").as_deref(), Some(expected));
        assert_eq!(tip("audit --jsn"), None);
    }

    /// Names the test that panics, in the process that the other one starts.
    const PANICS: &str = "MCPROVE_TEST_PANICS";

    #[test]
    fn panics_where_it_is_asked_to() {
        if std::env::var_os(PANICS).is_some() {
            end_at_panic();
            let _ = std::thread::spawn(|| panic!("on purpose")).join();
            unreachable!("the panic of a thread ends the process");
        }
    }

    #[test]
    fn a_panic_of_any_thread_has_an_exit_code_of_its_own() {
        let ended = std::process::Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "tests::panics_where_it_is_asked_to", "--nocapture"])
            .env(PANICS, "1")
            .output()
            .expect("started");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(70), "{said}");
        assert!(said.contains("on purpose") && said.contains("a bug of mcprove"), "{said}");
    }
}
