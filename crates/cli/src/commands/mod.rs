//! The commands, one file each.

mod agents;
mod audit;
mod bench;
mod call;
mod ci;
mod complete;
mod completions;
mod conformance;
mod convert;
mod coverage;
mod diff;
mod doctor;
mod drive;
pub(crate) mod explain;
mod fuzz;
mod generate;
mod host;
mod init;
mod intercept;
mod lint;
mod list;
mod lock;
mod login;
mod logout;
mod man;
mod matrix;
mod mcp;
mod mock;
mod negative;
mod prompt;
mod read;
mod report;
mod run;
mod schema;
mod schema_lint;
mod snapshot;
mod trust;
mod ui;
mod validate;
mod watch;

pub(crate) use host::host_pipe;

use clap::Subcommand;
use mcprove_model::ExitStatus;

use crate::context::Context;
use crate::failure::Failure;

/// A command before its options are known: most runs of the program need the options of one command.
#[derive(Debug)]
pub(crate) struct CommandOutline {
    pub(crate) name: &'static str,
    /// Its line in the list of commands.
    pub(crate) about: &'static str,
    /// Its exit codes; 130 for an interrupt holds for all that do not say otherwise.
    pub(crate) exits: &'static str,
    /// Adds its options.
    pub(crate) augment: fn(clap::Command) -> clap::Command,
}

/// The commands as a type and as a list.
macro_rules! commands {
    ($(#[doc = $about:literal] $variant:ident($args:ty) $name:literal exits $exits:literal,)+) => {
        /// The subcommands.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $(#[doc = $about] #[command(name = $name)] $variant($args),)+
        }

        /// The outlines of the subcommands, in the same order.
        pub(crate) const OUTLINES: &[CommandOutline] = &[
            $(CommandOutline {
                name: $name,
                about: $about,
                exits: $exits,
                augment: <$args as clap::Args>::augment_args,
            },)+
        ];
    };
}

commands! {
    /// Compare the runs of agents in two logs.
    Agents(agents::Args) "agents"
        exits "0 no measure became worse beyond chance, 1 one did, 2 a log cannot be read or has no agents.",
    /// Call each tool that does not write, once, with valid input.
    Audit(audit::Args) "audit"
        exits "0 nothing crashed (a tool that answers with an error lowers the score only), 1 something crashed or timed out, 2 the server could not be reached, 4 no tool could be called.",
    /// Measure the load that a server can take.
    Bench(Box<bench::Args>) "bench"
        exits "0 all gates are kept, 1 the server fails under load, 2 no load could be made.",
    /// Call a tool of a server.
    Call(call::Args) "call"
        exits "0 a result, 1 an error of the tool or the server, 2 the server could not be reached, or has no such tool.",
    /// Complete an argument of a prompt or a resource template.
    Complete(complete::Args) "complete"
        exits "0 a result, 1 an error of the server, 2 it could not be reached.",
    /// Run suites in CI: a threshold, JUnit XML, GitHub summary.
    Ci(ci::Args) "ci"
        exits "0 at least `--threshold` percent passed, 1 fewer (or a regression, with `--fail-on-regression`), 2 and 4 as `run`.",
    /// Check a server against the protocol, in every revision.
    Conformance(conformance::Args) "conformance"
        exits "0 no rule is broken (warnings are shown), 1 a rule is broken, 2 the server could not be reached.",
    /// Compare a suite with what a server lists; no case is run.
    Coverage(coverage::Args) "coverage"
        exits "0 enough is covered, 1 less than a minimum that was given, 2 the server could not be reached.",
    /// Turn assertion files into one suite file with the same verdicts.
    Convert(convert::Args) "convert"
        exits "0 converted, 2 a file cannot be read or converted.",
    /// Find mistakes in suites, such as checks that cannot fail.
    Lint(lint::Args) "lint"
        exits "0 no findings, 1 findings, 2 a file cannot be read.",
    /// List the tools, resources, templates and prompts of a server.
    List(list::Args) "list"
        exits "0 listed, 1 a list was refused, 2 the server could not be reached, or has no such name.",
    /// Store what a server offers in a lockfile, or check it.
    Lock(lock::Args) "lock"
        exits "0 stored, or with `--check` unchanged; 1 something changed, 2 the server or the lockfile could not be read.",
    /// Log in to a server, and keep the login for other commands.
    Login(login::Args) "login"
        exits "0 logged in, or listed, 2 the login failed; the message names the step.",
    /// Forget a login, and revoke its tokens.
    Logout(logout::Args) "logout"
        exits "0 the login is forgotten, 2 there is none.",
    /// Run a suite on several servers and protocol revisions.
    Matrix(matrix::Args) "matrix"
        exits "as `run`; 2 without a variant: `--server`, `--protocol`, `--languages`, or `matrix:` in the suite.",
    /// Ask two servers the same and compare their answers.
    Diff(diff::Args) "diff"
        exits "0 both offer and answer the same (additive changes are warnings), 1 a breaking change or a reply that differs, 2 a server could not be reached, 4 nothing to call.",
    /// Explain a rule, a check, a matcher, a finding, or the exit codes.
    Explain(explain::Args) "explain"
        exits "0, or 2 for a name that does not exist.",
    /// Call each tool that does not write, with odd and broken inputs.
    Fuzz(fuzz::Args) "fuzz"
        exits "0 nothing found (slow answers are warnings), 1 a crash, a hang, a broken reply or a leak, 2 the server could not be reached, 4 no tool could be called.",
    /// Write an assertion file per tool, resource and prompt.
    Generate(generate::Args) "generate"
        exits "0 files were written, or are there already and were kept, 2 the server could not be reached.",
    /// Play bad servers to a client, and judge what it does.
    Host(Box<host::Args>) "host"
        exits "0 the client is as the scenarios expect, 1 it is not, 2 it could not be started or a scenario has mistakes, 4 no scenario was selected.",
    /// Create a suite: a template, or tests made by calling a server.
    Init(init::Args) "init"
        exits "0 files were written, 2 the server could not be reached, or files are there already, 4 no tool could be called.",
    /// Pass on the traffic of a client and a server, and record it.
    Intercept(intercept::Args) "intercept"
        exits "that of the server; 1 when the calls are not as `--trajectory` wants them, 0 after Ctrl-C.",
    /// Simulate a server from a manifest.
    Mock(mock::Args) "mock"
        exits "0 at the end of its input or after Ctrl-C, 2 the file cannot be simulated.",
    /// Send bad requests to each tool that does not write.
    Negative(negative::Args) "negative"
        exits "0 all requests were rejected as they should be, 1 one was accepted or broke the server, 2 the server could not be reached, 4 no tool could be called.",
    /// Get a prompt of a server.
    Prompt(prompt::Args) "prompt"
        exits "0 a result, 1 an error of the server, 2 it could not be reached, or has no such prompt.",
    /// Read a resource of a server.
    Read(read::Args) "read"
        exits "0 a result, 1 an error of the server, 2 it could not be reached.",
    /// Render event logs; the logs of shards become one report.
    Report(report::Args) "report"
        exits "that of the run: 0, or 1 when a case failed (not one that failed in the `--baseline`, too), 2 when a shard is missing or a log breaks off.",
    /// Run suites against servers.
    Run(run::Args) "run"
        exits "0 all passed, 1 a case failed, 2 something could not be done, 4 no case was selected.",
    /// Lint the input schemas that a server lists.
    SchemaLint(schema_lint::Args) "schema-lint"
        exits "0 no findings, 1 findings (from warnings on), 2 there is nothing to read.",
    /// Compare the replies of cases, or a catalog, with stored ones.
    Snapshot(snapshot::Args) "snapshot"
        exits "0 the same, or new outside CI; 1 different, or new in CI; 2 something could not be done, 4 no case was selected.",
    /// Check logs for data flows between servers and for capabilities.
    Trust(trust::Args) "trust"
        exits "0 no undeclared flow, 1 one was found, 2 a log cannot be read.",
    /// Try and test servers on a page in the browser.
    Ui(ui::Args) "ui"
        exits "0 after Ctrl-C.",
    /// Print the JSON Schema of a kind of file, for editors.
    Schema(schema::Args) "schema"
        exits "0.",
    /// Check suites for mistakes, without starting a server.
    Validate(validate::Args) "validate"
        exits "0 they can be run, 2 they cannot.",
    /// Run suites again whenever something they depend on changes.
    Watch(watch::Args) "watch"
        exits "0 after `q`, whatever the cases did, 130 after Ctrl-C.",
    /// Check what is installed, and whether a server can be reached.
    Doctor(doctor::Args) "doctor"
        exits "0 good, 1 the server cannot list what it has, 2 it could not be reached. A program that is missing is no failure.",
    /// Run suites and call servers from another program (JSON lines).
    Drive(drive::Args) "drive"
        exits "0 at the end of its input; a request that fails has an `error` in its reply.",
    /// Run mcprove as an MCP server that tests servers for agents.
    Mcp(mcp::Args) "mcp"
        exits "0 at the end of its input or after Ctrl-C.",
    /// Print a completion script for a shell.
    Completions(completions::Args) "completions"
        exits "0.",
    /// Print the manual page, or write those of all commands.
    Man(man::Args) "man"
        exits "0, or 2 when the folder cannot be written.",
}

/// Tasks of users and the commands for them, in the order they are likely to be needed.
pub const PURPOSES: &[(&str, &[&str])] = &[
    ("Test", &["run", "watch", "ci", "matrix", "fuzz", "diff", "bench", "host"]),
    ("Try a server", &["ui", "list", "call", "read", "prompt", "complete", "login", "logout"]),
    ("Learn about a server", &["doctor", "audit", "conformance", "negative", "schema-lint", "trust"]),
    ("Write tests", &["init", "generate", "validate", "lint", "convert", "schema", "snapshot", "lock", "coverage"]),
    ("Simulate and record", &["mock", "intercept"]),
    ("For other programs", &["drive", "mcp"]),
    ("Report and explain", &["report", "agents", "explain", "completions", "man", "help"]),
];

/// Runs a command; the exit code is one of ours, or that of a server whose place we took.
pub(crate) fn run(command: Command, context: &Context) -> Result<u8, Failure> {
    let status = match command {
        Command::Agents(args) => agents::run(&args, context),
        Command::Audit(args) => audit::run(&args, context),
        Command::Bench(args) => bench::run(&args, context),
        Command::Call(args) => call::run(&args, context),
        Command::Complete(args) => complete::run(&args, context),
        Command::Ci(args) => ci::run(args, context),
        Command::Conformance(args) => conformance::run(&args, context),
        Command::Coverage(args) => coverage::run(&args, context),
        Command::Convert(args) => convert::run(&args, context),
        Command::Lint(args) => lint::run(&args, context),
        Command::List(args) => list::run(&args, context),
        Command::Lock(args) => lock::run(&args, context),
        Command::Login(args) => login::run(&args, context),
        Command::Logout(args) => logout::run(&args, context),
        Command::Matrix(args) => matrix::run(&args, context),
        Command::Diff(args) => diff::run(&args, context),
        Command::Explain(args) => explain::run(&args, context),
        Command::Fuzz(args) => fuzz::run(&args, context),
        Command::Generate(args) => generate::run(&args, context),
        Command::Host(args) => host::run(&args, context),
        Command::Init(args) => init::run(args, context),
        Command::Intercept(args) => return intercept::run(&args, context),
        Command::Mock(args) => mock::run(&args, context),
        Command::Negative(args) => negative::run(&args, context),
        Command::Prompt(args) => prompt::run(&args, context),
        Command::Read(args) => read::run(&args, context),
        Command::Report(args) => report::run(&args, context),
        Command::Run(args) => run::run(&args, context),
        Command::SchemaLint(args) => schema_lint::run(&args, context),
        Command::Snapshot(args) => snapshot::run(&args, context),
        Command::Trust(args) => trust::run(&args, context),
        Command::Ui(args) => ui::run(&args, context),
        Command::Schema(args) => schema::run(&args, context),
        Command::Validate(args) => validate::run(&args, context),
        Command::Watch(args) => watch::run(&args, context),
        Command::Doctor(args) => doctor::run(&args, context),
        Command::Drive(args) => drive::run(&args, context),
        Command::Mcp(args) => mcp::run(&args, context),
        Command::Completions(args) => completions::run(&args, context),
        Command::Man(args) => man::run(&args, context),
    };
    status.map(ExitStatus::code)
}
