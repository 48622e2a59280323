//! Facts about the process that commands run in.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use mcprove_model::shorten;
use mcprove_report::{Style, Verbosity};
use mcprove_wire::{Caches, Limits, SandboxSetup};

use crate::Arguments;
use crate::arguments::Color;
use crate::limits;
use crate::logins::without_tokens;
use crate::stdout::{guarded, set_colored};

/// The process a command runs in. Commands read nothing of it but through this.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    /// True if results are coloured.
    pub(crate) color: bool,
    /// True if the person at the other end sees standard error.
    pub(crate) live: bool,
    /// Level of detail.
    pub(crate) verbosity: Verbosity,
    /// Columns of the terminal, when there is one.
    pub(crate) width: Option<usize>,
    /// This program.
    pub(crate) own_program: PathBuf,
    /// Number of cases the machine can run concurrently.
    pub(crate) cores: usize,
    /// Bounds on what a server can cost.
    pub(crate) limits: Limits,
}

impl Context {
    pub(crate) fn of_this_process(arguments: &Arguments) -> Self {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let dumb = variable("TERM").is_some_and(|term| term == "dumb");
        let plain = variable("NO_COLOR").is_some() || dumb;
        let color = match arguments.everywhere.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => io::stdout().is_terminal() && !plain,
        };
        set_colored(color);
        let verbosity = match (arguments.everywhere.quiet, arguments.everywhere.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, true) => Verbosity::Verbose,
            (false, false) => Verbosity::Normal,
        };
        Self {
            color,
            live: io::stderr().is_terminal() && !dumb && variable("CI").is_none(),
            verbosity,
            width: terminal_width(),
            own_program: std::env::current_exe().unwrap_or_else(|_| PathBuf::from("mcprove")),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            limits: limits::with(&arguments.everywhere.limit),
        }
    }

    /// Paths for the sandbox of servers.
    pub(crate) fn sandbox_setup(&self) -> SandboxSetup {
        SandboxSetup {
            program: self.own_program.clone(),
            caches: Caches::find(&Self::variable),
            pretend_unsupported: Self::variable("MCPROVE_PRETEND_NO_SANDBOX").is_some(),
        }
    }

    /// A variable of the environment; values that are not UTF-8 count as unset.
    pub(crate) fn variable(name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    /// True if a person is at the terminal and can be asked.
    pub(crate) fn can_ask() -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal() && !Self::in_ci()
    }

    /// Asks the person at the terminal for a line; `None` without a terminal.
    pub(crate) fn ask(question: &str) -> Option<String> {
        if !Self::can_ask() {
            return None;
        }
        let _ = anstream::stderr().write_all(question.as_bytes());
        let _ = io::stderr().flush();
        let mut line = String::new();
        io::stdin().read_line(&mut line).ok()?;
        Some(line.trim().to_owned())
    }

    /// True in CI, where no person watches.
    pub(crate) fn in_ci() -> bool {
        Self::variable("CI").is_some_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
    }

    /// The file that GitHub shows as the summary of a step, where there is one.
    pub(crate) fn step_summary() -> Option<PathBuf> {
        Self::variable("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()).map(PathBuf::from)
    }

    /// The names of all variables, for "did you mean".
    pub(crate) fn variable_names() -> Vec<String> {
        std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect()
    }

    /// The values of variables that are named like secrets: what no reply should hold.
    pub(crate) fn secret_values() -> Vec<String> {
        std::env::vars_os()
            .filter(|(name, _)| name.to_str().is_some_and(is_secret_name))
            .filter_map(|(_, value)| value.into_string().ok())
            .filter(|value| !value.is_empty())
            .collect()
    }

    /// Milliseconds since the Unix epoch.
    pub(crate) fn unix_ms() -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    /// Style of findings.
    pub(crate) fn style(&self) -> Style {
        Style { color: self.color, width: self.width }
    }

    /// Writes to standard error, with everything escaped that a terminal or a CI system would obey; nothing can be done when
    /// it is gone.
    pub(crate) fn write_stderr(&self, text: &str) {
        self.write_stderr_raw(&guarded(&without_tokens(&with_short_lines(text))));
    }

    /// Prints a notice that no result contains, with everything escaped that a terminal would obey.
    pub(crate) fn print_notice(text: &str) {
        let _ = anstream::stderr().write_all(guarded(text).as_bytes());
    }

    /// Writes workflow commands to standard error, which nothing may change.
    #[expect(clippy::unused_self, reason = "what is printed goes through the context")]
    pub(crate) fn write_stderr_raw(&self, text: &str) {
        let _ = anstream::stderr().write_all(text.as_bytes());
    }
}

#[cfg(unix)]
fn terminal_width() -> Option<usize> {
    rustix::termios::tcgetwinsize(io::stdout())
        .or_else(|_| rustix::termios::tcgetwinsize(io::stderr()))
        .ok()
        .map(|size| usize::from(size.ws_col))
        .filter(|columns| *columns > 0)
}

/// Elsewhere nothing is asked: lines are as long as they are.
#[cfg(not(unix))]
fn terminal_width() -> Option<usize> {
    None
}
/// The most characters of a line on standard error: names come from servers.
const LONGEST_LINE: usize = 16 << 10;

/// The text with the rest of long lines counted.
fn with_short_lines(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST_LINE || text.split('\n').all(|line| line.len() <= LONGEST_LINE) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.split('\n').map(|line| shorten(line, LONGEST_LINE)).collect::<Vec<_>>().join("\n"))
}

/// True for the name of a variable that holds a secret, such as `API_TOKEN` or `DATABASE_URL`.
fn is_secret_name(name: &str) -> bool {
    const WORDS: &[&str] = &[
        "TOKEN",
        "KEY",
        "SECRET",
        "PASS",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "CREDENTIAL",
        "CREDENTIALS",
        "AUTH",
        "COOKIE",
        "PAT",
        "JWT",
        "DSN",
        "PRIVATE",
        "APIKEY",
        "BEARER",
        "SIGNATURE",
        "CONNECTION",
    ];
    let upper = name.to_ascii_uppercase();
    upper.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| WORDS.contains(&word))
        || ["TOKEN", "SECRET", "PASSWORD", "_URL", "_URI"].iter().any(|ending| upper.ends_with(ending))
}
