//! The commands, one file each.

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
mod init;
mod intercept;
mod lint;
mod list;
mod lock;
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

use clap::Subcommand;
use mcprove_model::ExitStatus;

use crate::context::Context;
use crate::failure::Failure;

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Call each tool that does not write, once, with valid input.
    Audit(audit::Args),
    /// Measure the load that a server can take.
    Bench(Box<bench::Args>),
    /// Call a tool of a server.
    Call(call::Args),
    /// Complete an argument of a prompt or a resource template.
    Complete(complete::Args),
    /// Run suites in CI: a threshold, JUnit XML, GitHub summary.
    Ci(ci::Args),
    /// Check a server against the protocol, in every revision.
    Conformance(conformance::Args),
    /// Compare a suite with what a server lists; no case is run.
    Coverage(coverage::Args),
    /// Turn assertion files into one suite file with the same verdicts.
    Convert(convert::Args),
    /// Find mistakes in suites, such as checks that cannot fail.
    Lint(lint::Args),
    /// List the tools, resources, templates and prompts of a server.
    List(list::Args),
    /// Store what a server offers in a lockfile, or check it.
    Lock(lock::Args),
    /// Run a suite on several servers and protocol revisions.
    Matrix(matrix::Args),
    /// Ask two servers the same and compare their answers.
    Diff(diff::Args),
    /// Explain a rule, a check, a matcher, a finding, or the exit codes.
    Explain(explain::Args),
    /// Call each tool that does not write, with odd and broken inputs.
    Fuzz(fuzz::Args),
    /// Write an assertion file per tool, resource and prompt.
    Generate(generate::Args),
    /// Create a suite: a template, or tests made by calling a server.
    Init(init::Args),
    /// Pass on the traffic of a client and a server, and record it.
    Intercept(intercept::Args),
    /// Simulate a server from a manifest.
    Mock(mock::Args),
    /// Send bad requests to each tool that does not write.
    Negative(negative::Args),
    /// Get a prompt of a server.
    Prompt(prompt::Args),
    /// Read a resource of a server.
    Read(read::Args),
    /// Render event logs; the logs of shards become one report.
    Report(report::Args),
    /// Run suites against servers.
    Run(run::Args),
    /// Lint the input schemas that a server lists.
    SchemaLint(schema_lint::Args),
    /// Compare the replies of cases, or a catalog, with stored ones.
    Snapshot(snapshot::Args),
    /// Check logs for data flows between servers and for capabilities.
    Trust(trust::Args),
    /// Try and test servers on a page in the browser.
    Ui(ui::Args),
    /// Print the JSON Schema of a kind of file, for editors.
    Schema(schema::Args),
    /// Check suites for mistakes, without starting a server.
    Validate(validate::Args),
    /// Run suites again whenever something they depend on changes.
    Watch(watch::Args),
    /// Check what is installed, and whether a server can be reached.
    Doctor(doctor::Args),
    /// Run suites and call servers from another program (JSON lines).
    Drive(drive::Args),
    /// Run mcprove as an MCP server that tests servers for agents.
    Mcp(mcp::Args),
    /// Print a completion script for a shell.
    Completions(completions::Args),
    /// Print the manual page, or write those of all commands.
    Man(man::Args),
}

/// Runs a command; the exit code is one of ours, or that of a server whose place we took.
pub(crate) fn run(command: Command, context: &Context) -> Result<u8, Failure> {
    let status = match command {
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
        Command::Matrix(args) => matrix::run(&args, context),
        Command::Diff(args) => diff::run(&args, context),
        Command::Explain(args) => explain::run(&args, context),
        Command::Fuzz(args) => fuzz::run(&args, context),
        Command::Generate(args) => generate::run(&args, context),
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
