//! `mcprove matrix`: the same suite on several servers and in several protocol revisions.

use std::collections::BTreeSet;
use std::str::FromStr;

use mcprove_engine::{Column, ColumnServer};
use mcprove_model::{ExitStatus, Revision, nearest};
use mcprove_suite::load::ServerOverride;

use crate::baselines::Baselines;
use crate::conclusion::{Gates, Stdout, Wishes, conclude};
use crate::context::Context;
use crate::execution::{Execution, Manner, redactor_of};
use crate::failure::Failure;
use crate::outputs::Outputs;
use crate::selection::{Selection, show};
use crate::suites::{Suites, server_command, usable};

/// The program that `--languages` starts, as it always was.
const LANGUAGE_PROGRAM: &str = "agent-lsp";

/// Run the same suite on several servers and in several protocol revisions.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mcprove matrix evals/ --server py='python server.py' --server ts='node server.js'\n  \
                  mcprove matrix evals/ --protocol all\n  mcprove matrix evals/ --protocol 2025-06-18,2025-11-25 \
                  --server v1='./server-v1' --server v2='./server-v2'"
)]
pub(crate) struct Args {
    #[command(flatten)]
    suites: Suites,
    /// A column: a server command or address in place of the suite's.
    #[arg(long, value_name = "NAME=CMD ARGS|URL")]
    server: Vec<NamedServer>,
    /// A column for each language: `agent-lsp LANGUAGE:SERVER` in place of the suite's server.
    #[arg(long, value_name = "LANGUAGE:SERVER,…", value_delimiter = ',')]
    languages: Vec<Language>,
    /// A column for each protocol revision, or for `all`; with several servers, for each of both.
    #[arg(long, value_name = "all|REVISION,…", value_delimiter = ',')]
    protocol: Vec<Revisions>,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    execution: Execution,
    /// Print the results as JSON, and nothing else, on standard output.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    outputs: Outputs,
    #[command(flatten)]
    baselines: Baselines,
}

#[derive(Clone, Debug)]
struct NamedServer {
    name: String,
    command: String,
}

impl FromStr for NamedServer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, command)) if !name.trim().is_empty() && !command.trim().is_empty() => {
                Ok(Self { name: name.trim().to_owned(), command: command.trim().to_owned() })
            }
            Some(_) | None => Err("give a name and a command, such as py='python server.py'".to_owned()),
        }
    }
}

#[derive(Clone, Debug)]
struct Language {
    name: String,
    argument: String,
}

impl FromStr for Language {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim().split_once(':') {
            Some((name, server)) if !name.is_empty() && !server.is_empty() => {
                Ok(Self { name: name.to_owned(), argument: text.trim().to_owned() })
            }
            Some(_) | None => Err("give LANGUAGE:SERVER, such as go:gopls,python:pyright".to_owned()),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Revisions {
    All,
    One(Revision),
}

impl FromStr for Revisions {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text == "all" {
            return Ok(Self::All);
        }
        let known = Revision::ALL.map(Revision::as_str);
        Revision::parse(text).map(Self::One).ok_or_else(|| match nearest(text, known) {
            Some(near) => format!("no such revision; did you mean {near}?"),
            None => format!("give `all` or some of {}", known.join(", ")),
        })
    }
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let columns = columns(args)?;
    let loaded = args.suites.load(any_command(&columns))?;
    let warnings = usable(&loaded, args.execution.strict)?;
    let plan = args.selection.plan(&loaded.cases, columns)?;
    if args.selection.dry_run {
        return show(&plan, &redactor_of(&plan), args.json);
    }
    let baseline = args.baselines.read()?;
    let manner = Manner {
        warnings,
        shown: !args.json,
        protocol: None,
        fix: false,
        record: false,
        keep_frames: args.outputs.show_frames(),
        strict_reports: args.outputs.strict_reports,
    };
    let over = args.execution.run(&plan, manner, context)?;
    let wishes = Wishes {
        stdout: Stdout::of(args.json),
        outputs: &args.outputs,
        baselines: &args.baselines,
        baseline,
        known: loaded.cases.iter().map(|case| case.name.as_str()).collect(),
        gates: Gates { threshold: None, regressions: true },
    };
    conclude(over, &wishes, context)
}

/// A command for the loader, so that cases which name no server are sound; the columns take its place.
fn any_command(columns: &[Column]) -> Option<ServerOverride> {
    columns.iter().find_map(|column| match &column.server {
        Some(ColumnServer::Command { command, args }) => {
            Some(ServerOverride { command: command.clone(), args: args.clone() })
        }
        Some(ColumnServer::Url(url)) => Some(ServerOverride { command: url.clone(), args: Vec::new() }),
        None => None,
    })
}

/// Every server in every revision, servers first.
fn columns(args: &Args) -> Result<Vec<Column>, Failure> {
    let mut servers: Vec<(Option<String>, Option<ColumnServer>)> = Vec::new();
    for named in &args.server {
        servers.push((Some(named.name.clone()), Some(column_server(&named.command)?)));
    }
    for language in &args.languages {
        let (command, args) = (LANGUAGE_PROGRAM.to_owned(), vec![language.argument.clone()]);
        servers.push((Some(language.name.clone()), Some(ColumnServer::Command { command, args })));
    }
    let mut revisions: Vec<Option<Revision>> = Vec::new();
    for wanted in &args.protocol {
        match wanted {
            Revisions::All => revisions.extend(Revision::ALL.map(Some)),
            Revisions::One(revision) => revisions.push(Some(*revision)),
        }
    }
    if servers.is_empty() && revisions.is_empty() {
        return Err(Failure::new(
            "a matrix needs columns",
            "give `--server NAME=CMD` twice or more, `--languages`, or `--protocol all`",
        ));
    }
    if servers.is_empty() {
        servers.push((None, None));
    }
    if revisions.is_empty() {
        revisions.push(None);
    }
    let mut columns = Vec::new();
    let mut names = BTreeSet::new();
    for (server_name, server) in &servers {
        for protocol in &revisions {
            let revision = protocol.map(Revision::as_str);
            let name = [server_name.as_deref(), revision].into_iter().flatten().collect::<Vec<_>>().join(" ");
            if !names.insert(name.clone()) {
                return Err(Failure::new(
                    format!("two columns are called `{name}`"),
                    "give each server and each revision once",
                ));
            }
            columns.push(Column { name: name.into(), server: server.clone(), protocol: *protocol });
        }
    }
    Ok(columns)
}

fn column_server(text: &str) -> Result<ColumnServer, Failure> {
    let lower = text.to_ascii_lowercase();
    if lower.starts_with("http://") || lower.starts_with("https://") {
        return Ok(ColumnServer::Url(text.to_owned()));
    }
    let ServerOverride { command, args } = server_command(text)?;
    Ok(ColumnServer::Command { command, args })
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(Debug, clap::Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn named(line: &[&str]) -> Result<Vec<String>, Failure> {
        let line = Line::try_parse_from(["matrix"].iter().chain(line)).expect("sound arguments");
        columns(&line.args).map(|columns| columns.iter().map(|column| column.name.to_string()).collect())
    }

    #[test]
    fn columns_are_servers_by_revisions() {
        let two = ["--server", "py=python 's p.py'", "--server", "ts=http://localhost/mcp"];
        assert_eq!(named(&two).expect("columns"), ["py", "ts"]);
        let both = [&two[..], &["--protocol", "2025-06-18,2025-11-25"]].concat();
        assert_eq!(
            named(&both).expect("columns"),
            ["py 2025-06-18", "py 2025-11-25", "ts 2025-06-18", "ts 2025-11-25"]
        );
        assert_eq!(named(&["--protocol", "all"]).expect("columns"), Revision::ALL.map(Revision::as_str));
        assert_eq!(named(&["--languages", "go:gopls,python:pyright"]).expect("columns"), ["go", "python"]);
    }

    #[test]
    fn a_matrix_without_columns_or_with_the_same_twice_is_refused() {
        assert!(named(&[]).is_err());
        assert!(named(&["--server", "a=x", "--server", "a=y"]).is_err());
        assert!(named(&["--protocol", "all,2025-06-18"]).is_err());
        for wrong in ["--server=x", "--server= =x", "--languages=go", "--protocol=2025"] {
            assert!(Line::try_parse_from(["matrix", wrong]).is_err(), "{wrong}");
        }
    }
}
