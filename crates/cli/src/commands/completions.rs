//! `mcprove completions`: a script that lets a shell complete our commands, options, and names that a server lists.

use std::fmt::Write as _;
use std::time::Duration;

use clap::{Args as _, FromArgMatches as _};
use clap_complete::{Shell, generate};
use mcprove_engine::{discover, open_session, tool_name};
use mcprove_model::ExitStatus;
use serde_json::Value;
use tokio::time::Instant;

use crate::context::Context;
use crate::explore::TargetServer;
use crate::failure::Failure;
use crate::help::command_line;
use crate::server_offer::{info_options, until_stopped};
use crate::stdout::{print, print_exactly};

/// Print a completion script for a shell.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "mcprove completions <SHELL>",
    after_help = "In bash, zsh and fish, names of tools and prompts come from the server that the command line names: it \
                  is started or asked when a name is completed, and has 3 seconds to answer. The folder of the script must exist.\n\nExamples:\n  \
                  mcprove completions bash > ~/.local/share/bash-completion/completions/mcprove\n  \
                        mcprove completions zsh > ~/.zfunc/_mcprove\n  \
                        mcprove completions fish > ~/.config/fish/completions/mcprove.fish"
)]
pub(crate) struct Args {
    /// The shell.
    #[arg(value_enum, required_unless_present = "names", value_name = "SHELL")]
    shell: Option<Shell>,
    /// Print the names that the server of a command line lists; for the scripts.
    #[arg(long, value_enum, hide = true, requires = "line", conflicts_with = "shell")]
    names: Option<Names>,
    /// The command line that is completed.
    #[arg(long, hide = true, requires = "names", allow_hyphen_values = true)]
    line: Option<String>,
}

/// A kind of name that a server lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Names {
    Tools,
    Prompts,
}

/// The time a server has to list its names. The user waits for the key they pressed.
const PATIENCE: Duration = Duration::from_secs(3);

/// The options that name a server, each with a value.
const SERVER_OPTIONS: &[&str] = &[
    "--client-config",
    "--cwd",
    "--env",
    "--header",
    "--name",
    "--protocol",
    "--server",
    "--suite",
    "--suite-server",
    "--transport",
    "--url",
];

/// Names of servers are never expanded by the shell: they are compared and inserted as they are.
const BASH: &str = r#"
_mcprove_names() {
    local kind name
    case "$3" in
        --tool|--schema|call) kind=tools ;;
        prompt) kind=prompts ;;
    esac
    if [[ -n "$kind" && "$2" != -* ]]; then
        COMPREPLY=()
        while IFS= read -r name; do
            [[ "$name" == "$2"* ]] && COMPREPLY+=("$name")
        done < <("$1" completions --names "$kind" --line "$COMP_LINE" 2>/dev/null)
        [[ ${#COMPREPLY[@]} -gt 0 ]] && return 0
    fi
    _mcprove "$@"
}
"#;

const ZSH: &str = r#"
_mcprove_names() {
    local -a names
    names=(${(f)"$(mcprove completions --names $1 --line "$BUFFER" 2>/dev/null)"})
    compadd -a names
}
_mcprove_tools() { _mcprove_names tools }
_mcprove_prompts() { _mcprove_names prompts }

"#;

const FISH: &str = r"
function __mcprove_names
    mcprove completions --names $argv[1] --line (commandline -p | string collect) 2>/dev/null
end
";

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    if let (Some(kind), Some(line)) = (args.names, &args.line) {
        // A shell has no use for a reason why there are none.
        for name in names(kind, line, context).unwrap_or_default() {
            print(&format!("{name}\n"))?;
        }
    } else if let Some(shell) = args.shell {
        print_exactly(&script(shell))?;
    }
    Ok(ExitStatus::Good)
}

/// The script of a shell.
fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    generate(shell, &mut command_line(), "mcprove", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Bash => {
            let end = script.rfind("\nif [[").unwrap_or(script.len());
            let registered = script[end..].replace("-F _mcprove ", "-F _mcprove_names ");
            format!("{}{BASH}{registered}", &script[..end])
        }
        Shell::Zsh => {
            let named = script.lines().map(|line| {
                let asks_for = |mark: &str| line.contains(mark);
                let function = if asks_for("--tool=[") || asks_for("--schema=[") || asks_for("':tool -- ") {
                    ":_mcprove_tools'"
                } else if asks_for("':prompt -- ") {
                    ":_mcprove_prompts'"
                } else {
                    return format!("{line}\n");
                };
                format!("{}\n", line.replace(":_default'", function))
            });
            let script: String = named.collect();
            let end = script.rfind("if [ \"$funcstack[1]\"").unwrap_or(script.len());
            format!("{}{ZSH}{}", &script[..end], &script[end..])
        }
        Shell::Fish => format!("{script}{FISH}{}", fish_rules()),
        _ => script,
    }
}

/// The lines that let fish complete names, by command.
fn fish_rules() -> String {
    let mut rules = String::new();
    for command in command_line().get_subcommands() {
        let name = command.get_name();
        let mut rule = |option: &str, kind: &str| {
            let using = format!("complete -c mcprove -n \"__fish_mcprove_using_subcommand {name}\"");
            let _ = writeln!(rules, "{using} {option} -a \"(__mcprove_names {kind})\"");
        };
        for option in command.get_arguments().filter_map(clap::Arg::get_long) {
            if matches!((name, option), (_, "tool") | ("list", "schema")) {
                rule(&format!("-l {option} -x"), "tools");
            }
        }
        match name {
            "call" => rule("-f", "tools"),
            "prompt" => rule("-f", "prompts"),
            _ => {}
        }
    }
    rules
}

/// The names that the server of a command line lists.
fn names(kind: Names, line: &str, context: &Context) -> Option<Vec<String>> {
    let words = server_words(&shell_words::split(line).ok()?);
    let command = TargetServer::augment_args(clap::Command::new("names").no_binary_name(true));
    let reach = TargetServer::from_arg_matches(&command.try_get_matches_from(words).ok()?).ok()?;
    let mut server = reach.server().ok()?;
    // Some servers list a tool only for clients that can answer it; nothing is called here, so nothing is asked.
    server.client.by_hand = true;
    let catalog = until_stopped(async {
        let listed = async {
            let mut session = open_session(&server, &info_options(PATIENCE, context)).await.ok()?;
            let catalog = discover(&mut session, Instant::now() + PATIENCE).await;
            session.close().await;
            Some(catalog)
        };
        tokio::time::timeout(PATIENCE, listed).await.ok().flatten()
    });
    let catalog = catalog.ok()??;
    let names: Vec<String> = match kind {
        Names::Tools => catalog.tools.iter().map(|tool| tool_name(tool).to_owned()).collect(),
        Names::Prompts => catalog
            .prompts
            .iter()
            .filter_map(|prompt| prompt.get("name").and_then(Value::as_str))
            .map(str::to_owned)
            .collect(),
    };
    Some(names.into_iter().filter(|name| is_plain(name)).collect())
}

/// True for a name that needs no quoting in any shell. Names that a server lists end up on the user's command line.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('-')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':'))
}

/// The arguments of a command line that name a server.
fn server_words(words: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            kept.push(word.clone());
            kept.extend(words.cloned());
            break;
        }
        let option = word.split_once('=').map_or(word.as_str(), |(option, _)| option);
        if SERVER_OPTIONS.contains(&option) {
            kept.push(word.clone());
            if option == word {
                kept.extend(words.next().cloned());
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_names_the_server_is_kept_of_a_line() {
        let line = "mcprove audit --tool ec --server 'python server.py --tool x' --jobs 2 --env=A=b";
        let words = shell_words::split(line).expect("words");
        assert_eq!(server_words(&words), ["--server", "python server.py --tool x", "--env=A=b"]);
        let words = shell_words::split("mcprove call ec -- npx -y my-server --url x").expect("words");
        assert_eq!(server_words(&words), ["--", "npx", "-y", "my-server", "--url", "x"]);
    }

    #[test]
    fn a_name_that_a_shell_would_read_as_more_is_not_offered() {
        assert!(is_plain("git_log") && is_plain("ns/tool.v2-x"));
        for name in ["", "-rf", "a b", "$(id)", "a;b", "a`id`", "a\nb", "ü"] {
            assert!(!is_plain(name), "{name}");
        }
    }
}
