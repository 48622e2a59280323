//! `mcprove matrix`: the same suite on several servers and in several protocol revisions.

use std::collections::BTreeSet;
use std::str::FromStr;
use std::sync::Arc;

use mcprove_model::{ColumnServer, ExitStatus, Matrix, Override, Revision, nearest, without_password};
use mcprove_suite::load::ServerOverride;

use crate::context::Context;
use crate::execution::{RunMode, redactor_of};
use crate::failure::Failure;
use crate::finish::{Gates, Stdout, or_list_mistakes};
use crate::run_flags::{Ending, RunFlags};
use crate::selection::show;
use crate::subject::words;
use crate::suites::{Suites, Watched, in_columns, usable};

/// The program that `--languages` starts, as it always was.
const LANGUAGE_PROGRAM: &str = "agent-lsp";
/// Gates of a matrix.
const GATES: Gates = Gates { threshold: None, regressions: true };

/// Run a suite on several servers and protocol revisions.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mcprove matrix evals/ --server py='python a.py' --server ts='node b.js'\n  \
                  mcprove matrix evals/ --protocol all\n  \
                  mcprove matrix evals/ --protocol 2025-06-18,2025-11-25 --server v1=./v1 --server v2=./v2")]
pub(crate) struct Args {
    #[command(flatten)]
    suites: Suites,
    /// A variant, NAME=COMMAND or NAME=URL, in place of the suite's server; may be repeated.
    #[arg(long, value_name = "NAME=CMD ARGS|URL")]
    server: Vec<NamedServer>,
    /// A variant for each language: `agent-lsp LANGUAGE:SERVER` in place of the suite's server.
    #[arg(long, value_name = "LANGUAGE:SERVER,…", value_delimiter = ',')]
    languages: Vec<Language>,
    /// A variant for each protocol revision, or for `all`; with several servers, for each combination.
    #[arg(long, value_name = "all|REVISION,…", value_delimiter = ',')]
    protocol: Vec<Revisions>,
    #[command(flatten)]
    flags: RunFlags,
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
    let flags = &args.flags;
    flags.check()?;
    let matrix = matrix(args)?;
    let mut loaded = args.suites.load(any_command(&matrix.servers), Watched::Perhaps)?;
    in_columns(&mut loaded, &matrix);
    if !loaded.cases.is_empty() && loaded.cases.iter().all(|case| case.matrix.is_none()) {
        return Err(Failure::new(
            "a matrix needs columns",
            "give `--server NAME=CMD` twice or more, `--languages` or `--protocol all`, or write `matrix:` in the suite",
        ));
    }
    let stdout = Stdout::of(flags.json, &flags.outputs);
    let findings = or_list_mistakes(usable(&loaded, flags.execution.strict), stdout, &loaded.secrets)?;
    let server = flags.execution.in_container(Override::default());
    let plan = or_list_mistakes(flags.selection.plan(&loaded.cases, server), stdout, &loaded.secrets)?;
    let redactor = redactor_of(&plan, &loaded.secrets);
    if flags.selection.dry_run {
        return show(&plan, &redactor, flags.json);
    }
    let baseline = flags.baseline()?;
    let mode = RunMode {
        is_whole: !flags.selection.is_partial(),
        shown: flags.are_for_people(),
        shows: flags.shows(stdout, GATES),
        again: args.rerun_arguments(),
        ..RunMode::new(findings, redactor)
    };
    let outcome = flags.run(&plan, mode, context)?;
    let known = loaded.cases.iter().map(|case| case.name.as_str()).collect();
    flags.finish(outcome, Ending { stdout, baseline, known, gates: GATES }, context)
}

/// A command for the loader, so that cases which name no server are sound; the columns take its place.
fn any_command(servers: &[(String, ColumnServer)]) -> Option<ServerOverride> {
    servers.iter().find_map(|(_, server)| match server {
        ColumnServer::Command { command, args } => {
            Some(ServerOverride { command: command.clone(), args: args.clone() })
        }
        ColumnServer::Url(url) => Some(ServerOverride { command: url.clone(), args: Vec::new() }),
        ColumnServer::Described(_) => None,
    })
}

impl Args {
    /// The arguments that start such a run again.
    fn rerun_arguments(&self) -> Vec<String> {
        let mut words = vec!["matrix".to_owned()];
        words.extend(self.suites.words());
        for NamedServer { name, command } in &self.server {
            words.extend(["--server".to_owned(), format!("{name}={}", without_password(command))]);
        }
        let languages: Vec<&str> = self.languages.iter().map(|language| language.argument.as_str()).collect();
        let revision = |wanted: &Revisions| match wanted {
            Revisions::All => "all",
            Revisions::One(revision) => revision.as_str(),
        };
        let revisions: Vec<&str> = self.protocol.iter().map(revision).collect();
        for (name, values) in [("--languages", languages), ("--protocol", revisions)] {
            if !values.is_empty() {
                words.extend([name.to_owned(), values.join(",")]);
            }
        }
        words
    }
}

/// Every server and every revision that the command line names.
fn matrix(args: &Args) -> Result<Matrix, Failure> {
    let mut matrix = Matrix::default();
    for named in &args.server {
        matrix.servers.push((named.name.clone(), column_server(&named.command)?));
    }
    for language in &args.languages {
        let (command, args) = (LANGUAGE_PROGRAM.to_owned(), vec![language.argument.clone()]);
        matrix.servers.push((language.name.clone(), ColumnServer::Command { command, args }));
    }
    for wanted in &args.protocol {
        match wanted {
            Revisions::All => matrix.revisions.extend(Revision::ALL),
            Revisions::One(revision) => matrix.revisions.push(*revision),
        }
    }
    let mut names = BTreeSet::new();
    for column in matrix.columns() {
        if !names.insert(Arc::clone(&column.name)) {
            return Err(Failure::new(
                format!("two columns are called `{}`", column.name),
                "give each server and each revision once",
            ));
        }
    }
    Ok(matrix)
}

fn column_server(text: &str) -> Result<ColumnServer, Failure> {
    let words = words("--server", text)?;
    ColumnServer::of_words(words).ok_or_else(|| Failure::new("`--server` is empty", "give a command"))
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
        matrix(&line.args).map(|matrix| matrix.columns().iter().map(|column| column.name.to_string()).collect())
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
    fn a_matrix_with_the_same_column_twice_is_refused() {
        assert_eq!(named(&[]).expect("none"), Vec::<String>::new());
        assert!(named(&["--server", "a=x", "--server", "a=y"]).is_err());
        assert!(named(&["--protocol", "all,2025-06-18"]).is_err());
        for wrong in ["--server=x", "--server= =x", "--languages=go", "--protocol=2025"] {
            assert!(Line::try_parse_from(["matrix", wrong]).is_err(), "{wrong}");
        }
    }
}
