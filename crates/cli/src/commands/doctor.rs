//! `mcprove doctor`: what is here, what is missing and how to install it, and whether a server can be reached.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use mcprove_engine::{ServerInfo, server_info};
use mcprove_model::{ExitStatus, ServerSpec, Severity, Target, cause_line, escape_line, shorten};
use mcprove_report::{escape_terminal_line, to_safe_json};
use mcprove_suite::duration;
use mcprove_wire::{OpenFailure, Stage, command_output};
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::Failure;
use crate::login_walk::LoginWalk;
use crate::logins::redactor;
use crate::server_offer::{info_options, until_stopped};
use crate::stdout::print;
use crate::subject::Subject;
use crate::suites::DEFAULT_SUITES;

/// Time a program may take to print its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// Maximum number of stderr lines shown.
const STDERR_LINES: usize = 12;

/// Check what is installed, and whether a server can be reached.
#[derive(Debug, clap::Args)]
#[command(after_help = "Without a server only the machine is looked at.\n\nExamples:\n  mcprove doctor\n  \
                        mcprove doctor --server 'npx -y my-server'\n  mcprove doctor --url http://localhost:3000/mcp")]
pub(crate) struct Args {
    #[command(flatten)]
    subject: Subject,
    /// Time limit for the server to start and to list what it has.
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = duration::parse)]
    timeout: Duration,
    /// Print what was found as JSON, and nothing else, on standard output.
    #[arg(long)]
    json: bool,
}

/// A program that servers are started with.
struct Known {
    name: &'static str,
    /// Its purpose.
    needed: &'static str,
    /// Installation advice.
    install: &'static str,
}

/// Every program that is looked for, in the order they are shown.
const PROGRAMS: &[Known] = &[
    Known {
        name: "node",
        needed: "servers written for Node.js",
        install: "https://nodejs.org, or your package manager",
    },
    Known { name: "npx", needed: "servers from npm", install: "it comes with Node.js: https://nodejs.org" },
    Known { name: "python3", needed: "servers written in Python", install: "https://www.python.org/downloads" },
    Known { name: "uvx", needed: "servers from PyPI", install: "https://docs.astral.sh/uv, or `pipx install uv`" },
    Known { name: "docker", needed: "`--docker IMAGE`", install: "https://docs.docker.com/engine/install" },
];

/// A program, and its version when it is here.
struct Looked {
    known: &'static Known,
    version: Option<String>,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let server = if args.subject.is_named() { Some(args.subject.spec()?) } else { None };
    if context.live && !args.json {
        let what = server.as_ref().map_or("this machine", |server| server.name.as_str());
        context.write_stderr(&format!("looking at {} …\n", escape_line(what)));
    }
    let (programs, met, login) = until_stopped(async {
        let mut programs = Vec::new();
        for known in PROGRAMS {
            let words = [known.name.to_owned(), "--version".to_owned()];
            let said = command_output(&words, PATIENCE).await;
            programs.push(Looked { known, version: said.ok().map(|text| version(&text)) });
        }
        let met = match &server {
            Some(server) => Some(server_info(server, &info_options(args.timeout, context)).await),
            None => None,
        };
        let login = match (&server, &met) {
            (Some(server), Some(met)) => {
                let status = met.as_ref().err().and_then(|failure| failure.status);
                Box::pin(LoginWalk::of(server, status, met.is_ok())).await
            }
            _ => None,
        };
        (programs, met, login)
    })?;
    let suite = DEFAULT_SUITES.iter().copied().find(|path| Path::new(path).exists());
    // The reason a server was not reached contains its URL.
    let redactor = redactor(server.iter().flat_map(|server| &server.secrets).map(String::as_str));
    if args.json {
        let server = server.as_ref().zip(met.as_ref()).map(|(server, met)| server_json(server, met));
        let mut found = machine_json(&programs, suite, server.as_ref());
        found["login"] = login.as_ref().map(LoginWalk::json).unwrap_or_default();
        print(&redactor.text(&to_safe_json(&found)))?;
    } else {
        let mut text = machine_text(&programs, suite);
        if let (Some(server), Some(met)) = (&server, &met) {
            text.push_str(&server_text(server, met, &programs));
        }
        text.push_str(&login.as_ref().map(LoginWalk::text).unwrap_or_default());
        print(&redactor.text(&text))?;
    }
    let fails = |met: &ServerInfo| met.catalog.findings.iter().any(|finding| finding.severity >= Severity::Error);
    Ok(match &met {
        Some(Err(_)) => ExitStatus::NotDone,
        // It was reached, and then died or did not answer.
        Some(Ok(met)) if fails(met) => ExitStatus::Wrong,
        Some(Ok(_)) | None => ExitStatus::Good,
    })
}

/// The version in what a program prints, which may have words around it.
fn version(printed: &str) -> String {
    let line = printed.lines().next().unwrap_or_default();
    let numbered = |word: &&str| word.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit());
    let word = line.split([' ', ',']).find(numbered).unwrap_or(line);
    shorten(&escape_line(word), 40).into_owned()
}

fn machine_text(programs: &[Looked], suite: Option<&str>) -> String {
    let mut text = format!("mcprove {} on {}\n\n", env!("CARGO_PKG_VERSION"), platform());
    for Looked { known, version } in programs {
        let _ = match version {
            Some(version) => writeln!(text, "  {:8} {version:12}  for {}", known.name, known.needed),
            None => writeln!(
                text,
                "  {:8} {:12}  for {}; to install it: {}",
                known.name, "not here", known.needed, known.install
            ),
        };
    }
    let _ = match suite {
        Some(path) => writeln!(text, "\n  suite    {path} in this folder: `mcprove run` runs it"),
        None => writeln!(text, "\n  suite    none in this folder: `mcprove init` writes a first one"),
    };
    text
}

fn server_text(server: &ServerSpec, met: &Result<ServerInfo, Box<OpenFailure>>, programs: &[Looked]) -> String {
    let mut text = format!("\nthe server `{}`\n", escape_terminal_line(&server.name));
    match met {
        Ok(met) => {
            let said = &met.negotiated;
            let (name, version) = (shorten(&said.server_name, 80), shorten(&said.server_version, 40));
            let name = escape_terminal_line(&format!("{name} {version}")).into_owned();
            let _ = writeln!(text, "  answers  after {} ms over {}, as {name}", met.opened.as_millis(), met.transport);
            let _ = writeln!(text, "  speaks   {}", said.revision.as_str());
            let _ = writeln!(text, "  offers   {}", offer(met));
            for finding in met.catalog.findings.iter().chain(&met.findings) {
                let _ = writeln!(text, "  {:8} {}", finding.severity.word(), escape_terminal_line(&finding.message));
                for line in finding.actual.iter().flat_map(|actual| actual.lines()).take(3) {
                    let _ = writeln!(text, "           │ {}", escape_terminal_line(line));
                }
                if let Some(help) = &finding.help {
                    let _ = writeln!(text, "           {}", escape_terminal_line(help));
                }
            }
            let sound = !met.catalog.findings.iter().chain(&met.findings).any(|f| f.severity >= Severity::Warning);
            if sound && !met.catalog.tools.is_empty() {
                let _ = writeln!(
                    text,
                    "\nnext: `mcprove audit` with the same server calls each of its tools that does not write"
                );
            }
        }
        Err(failure) => {
            let stage = match failure.stage {
                Stage::Start => "does not start, or cannot be reached",
                Stage::Handshake => "started, but did not complete the handshake",
            };
            let _ = writeln!(text, "  fails    it {stage}: {}", escape_terminal_line(&failure.message));
            for help in advice(server, failure, programs) {
                let _ = writeln!(text, "  help     {}", escape_terminal_line(&help));
            }
            if let Some(sent) = Failure::unreachable(failure, server).evidence() {
                let _ = writeln!(text, "  it sent  {}", shorten(&escape_terminal_line(sent.trim_end()), 500));
            }
            let lines: Vec<&str> = failure.closing.stderr.lines().collect();
            let hidden = lines.len().saturating_sub(STDERR_LINES);
            if !lines.is_empty() {
                let _ = writeln!(text, "  its standard error:");
            }
            let mut line = |line: &str| {
                let _ = writeln!(text, "    {}", shorten(&escape_terminal_line(line), 200));
            };
            // The first line, and the one that says why, where the end does not have it.
            if hidden > 0 {
                line(lines[0]);
                if let Some(at) = cause_line(&lines).filter(|at| (1..hidden).contains(at)) {
                    line(lines[at]);
                }
                line(&format!("… {} lines in all; the last {STDERR_LINES}:", lines.len()));
            }
            lines[hidden..].iter().for_each(|text| line(text));
        }
    }
    text
}

fn offer(met: &ServerInfo) -> String {
    let count = |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    let catalog = &met.catalog;
    [
        count(catalog.tools.len(), "tool"),
        count(catalog.resources.len(), "resource"),
        count(catalog.templates.len(), "resource template"),
        count(catalog.prompts.len(), "prompt"),
    ]
    .join(", ")
}

/// Advice for a server that cannot be reached: the help of the failure, and the installation of the program it needs.
fn advice(server: &ServerSpec, failure: &OpenFailure, programs: &[Looked]) -> Vec<String> {
    let mut advice: Vec<String> = failure.help.iter().cloned().collect();
    if let Target::Stdio { command, .. } = &server.target {
        let missing = programs.iter().find(|looked| looked.known.name == command && looked.version.is_none());
        if missing.is_some() {
            advice.clear();
        }
        advice
            .extend(missing.map(|looked| format!("`{command}` is not here; to install it: {}", looked.known.install)));
    }
    if failure.status == Some(401) {
        advice.push(
            "it wants credentials: `mcprove login URL`, or `--header \"Authorization: Bearer TOKEN\"`".to_owned(),
        );
    }
    advice
}

fn platform() -> String {
    format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)
}

fn machine_json(programs: &[Looked], suite: Option<&str>, server: Option<&Value>) -> Value {
    let programs: Vec<Value> = programs
        .iter()
        .map(|looked| {
            json!({"name": looked.known.name, "version": looked.version, "for": looked.known.needed,
                   "install": looked.known.install})
        })
        .collect();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "platform": platform(),
        "programs": programs,
        "suite": suite,
        "server": server,
    })
}

fn server_json(server: &ServerSpec, met: &Result<ServerInfo, Box<OpenFailure>>) -> Value {
    match met {
        Ok(met) => json!({
            "server": server.name,
            "reachable": true,
            "transport": met.transport,
            "protocol": met.negotiated.revision.as_str(),
            "server_name": met.negotiated.server_name,
            "server_version": met.negotiated.server_version,
            "opened_ms": u64::try_from(met.opened.as_millis()).unwrap_or(u64::MAX),
            "tools": met.catalog.tools.len(),
            "resources": met.catalog.resources.len(),
            "resource_templates": met.catalog.templates.len(),
            "prompts": met.catalog.prompts.len(),
            "findings": met.catalog.findings.iter().chain(&met.findings).collect::<Vec<_>>(),
        }),
        Err(failure) => json!({
            "server": server.name,
            "reachable": false,
            "stage": match failure.stage { Stage::Start => "start", Stage::Handshake => "handshake" },
            "message": failure.message,
            "help": failure.help,
            "stderr": failure.closing.stderr,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn versions_are_found_among_words() {
        assert_eq!(version("v22.3.0\n"), "v22.3.0");
        assert_eq!(version("Python 3.12.3\n"), "3.12.3");
        assert_eq!(version("Docker version 27.1, build 1\n"), "27.1");
        assert_eq!(version("uvx 0.5.1 (x 2024)\n"), "0.5.1");
        assert_eq!(version("no number\n"), "no number");
        assert_eq!(version(""), "");
    }
}
