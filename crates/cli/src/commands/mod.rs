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
    /// Adds its options.
    pub(crate) augment: fn(clap::Command) -> clap::Command,
}

/// The commands as a type and as a list.
macro_rules! commands {
    ($(#[doc = $about:literal] $variant:ident($args:ty) $name:literal,)+) => {
        /// The subcommands.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $(#[doc = $about] #[command(name = $name)] $variant($args),)+
        }

        /// The outlines of the subcommands, in the same order.
        pub(crate) const OUTLINES: &[CommandOutline] = &[
            $(CommandOutline { name: $name, about: $about, augment: <$args as clap::Args>::augment_args },)+
        ];
    };
}

commands! {
    /// Compare the runs of agents in two logs.
    Agents(agents::Args) "agents",
    /// Call each tool that does not write, once, with valid input.
    Audit(audit::Args) "audit",
    /// Measure the load that a server can take.
    Bench(Box<bench::Args>) "bench",
    /// Call a tool of a server.
    Call(call::Args) "call",
    /// Complete an argument of a prompt or a resource template.
    Complete(complete::Args) "complete",
    /// Run suites in CI: a threshold, JUnit XML, GitHub summary.
    Ci(ci::Args) "ci",
    /// Check a server against the protocol, in every revision.
    Conformance(conformance::Args) "conformance",
    /// Compare a suite with what a server lists; no case is run.
    Coverage(coverage::Args) "coverage",
    /// Turn assertion files into one suite file with the same verdicts.
    Convert(convert::Args) "convert",
    /// Find mistakes in suites, such as checks that cannot fail.
    Lint(lint::Args) "lint",
    /// List the tools, resources, templates and prompts of a server.
    List(list::Args) "list",
    /// Store what a server offers in a lockfile, or check it.
    Lock(lock::Args) "lock",
    /// Log in to a server, and keep the login for other commands.
    Login(login::Args) "login",
    /// Forget a login, and revoke its tokens.
    Logout(logout::Args) "logout",
    /// Run a suite on several servers and protocol revisions.
    Matrix(matrix::Args) "matrix",
    /// Ask two servers the same and compare their answers.
    Diff(diff::Args) "diff",
    /// Explain a rule, a check, a matcher, a finding, or the exit codes.
    Explain(explain::Args) "explain",
    /// Call each tool that does not write, with odd and broken inputs.
    Fuzz(fuzz::Args) "fuzz",
    /// Write an assertion file per tool, resource and prompt.
    Generate(generate::Args) "generate",
    /// Play bad servers to a client, and judge what it does.
    Host(Box<host::Args>) "host",
    /// Create a suite: a template, or tests made by calling a server.
    Init(init::Args) "init",
    /// Pass on the traffic of a client and a server, and record it.
    Intercept(intercept::Args) "intercept",
    /// Simulate a server from a manifest.
    Mock(mock::Args) "mock",
    /// Send bad requests to each tool that does not write.
    Negative(negative::Args) "negative",
    /// Get a prompt of a server.
    Prompt(prompt::Args) "prompt",
    /// Read a resource of a server.
    Read(read::Args) "read",
    /// Render event logs; the logs of shards become one report.
    Report(report::Args) "report",
    /// Run suites against servers.
    Run(run::Args) "run",
    /// Lint the input schemas that a server lists.
    SchemaLint(schema_lint::Args) "schema-lint",
    /// Compare the replies of cases, or a catalog, with stored ones.
    Snapshot(snapshot::Args) "snapshot",
    /// Check logs for data flows between servers and for capabilities.
    Trust(trust::Args) "trust",
    /// Try and test servers on a page in the browser.
    Ui(ui::Args) "ui",
    /// Print the JSON Schema of a kind of file, for editors.
    Schema(schema::Args) "schema",
    /// Check suites for mistakes, without starting a server.
    Validate(validate::Args) "validate",
    /// Run suites again whenever something they depend on changes.
    Watch(watch::Args) "watch",
    /// Check what is installed, and whether a server can be reached.
    Doctor(doctor::Args) "doctor",
    /// Run suites and call servers from another program (JSON lines).
    Drive(drive::Args) "drive",
    /// Run mcprove as an MCP server that tests servers for agents.
    Mcp(mcp::Args) "mcp",
    /// Print a completion script for a shell.
    Completions(completions::Args) "completions",
    /// Print the manual page, or write those of all commands.
    Man(man::Args) "man",
}

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
