//! Playing a scenario to a client: what it did is the evidence.

use std::path::Path;
use std::time::Duration;

use mcprove_judge::host::{ClientEnd, HostEvidence};
use mcprove_model::Finding;
use mcprove_suite::scenario_file::{ConfigFormat, Scenario};
use mcprove_wire::{Program, TemporaryFolder, watch_program};
use serde_json::json;
use tokio::runtime::Builder;

use super::config::{ClientServer, Place, client_config};
use super::scripted::ScriptedClient;
use super::servers::HostServers;

/// Time for the last frames to be observed.
const REST: Duration = Duration::from_millis(150);

/// The client of a scenario.
#[derive(Clone, Debug)]
pub enum Player {
    /// A program.
    Program(Program),
    /// mcprove's own good client, in virtual time.
    Good,
    /// mcprove's own bad client, in virtual time.
    Bad,
    /// mcprove's own client with one rule of the protocol broken, in virtual time.
    Mutant(&'static str),
}

/// Options of a client that is a program.
#[derive(Clone, Debug)]
pub struct HostOptions {
    /// The command that a client starts as a server over pipes: this program, in another role.
    pub pipe: Vec<String>,
    /// The format of its configuration, if it is not that of the scenario.
    pub config: Option<ConfigFormat>,
    /// The secret that the pipe shows to the observer.
    pub key: String,
}

/// Reason why a scenario could not be played.
#[derive(Debug)]
pub enum ScenarioFault {
    /// The file has mistakes.
    Scenario(Vec<Finding>),
    /// The client could not be started.
    Client(String, &'static str),
    /// Something of this machine is missing.
    Machine(String),
}

/// Plays a scenario; returns what was observed, and what the client wrote to its standard error.
pub async fn play(
    scenario: &Scenario,
    player: &Player,
    options: &HostOptions,
) -> Result<(HostEvidence, String), ScenarioFault> {
    match player {
        Player::Program(program) => play_program(scenario, program, options).await,
        Player::Good | Player::Bad | Player::Mutant(_) => {
            let (scenario, player) = (scenario.clone(), player.clone());
            let played = tokio::task::spawn_blocking(move || play_scripted(&scenario, &player));
            match played.await {
                Ok(played) => played.map(|evidence| (evidence, String::new())),
                Err(error) => std::panic::resume_unwind(error.into_panic()),
            }
        }
    }
}

async fn play_program(
    scenario: &Scenario,
    program: &Program,
    options: &HostOptions,
) -> Result<(HostEvidence, String), ScenarioFault> {
    let machine = |error: std::io::Error| ScenarioFault::Machine(error.to_string());
    let mut servers = HostServers::new(scenario).map_err(ScenarioFault::Scenario)?;
    let places = servers.listen(&options.pipe, &options.key).await.map_err(machine)?;
    let folder = TemporaryFolder::new("host").map_err(machine)?;
    let format = options.config.unwrap_or(scenario.config);
    if let Some(server) = unreadable(format, &places) {
        let text = format!("Claude Desktop reads only commands from its file, and the server `{server}` is at a URL");
        let help = "write `transport: stdio` for it, or use another `--config-format`";
        return Err(ScenarioFault::Scenario(vec![Finding::error("bad-value", text).help(help)]));
    }
    let config = client_config(format, &places);
    let path = folder.path().join(config.path);
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(machine)?;
    }
    std::fs::write(&path, &config.text).map_err(machine)?;
    let program = filled(program, &path, folder.path(), &places);
    let started_us = servers.now_us();
    let watched = watch_program(&program, scenario.timeout, 64 << 10).await;
    let watched = watched.map_err(|error| ScenarioFault::Client(error.to_string(), error.help()))?;
    let end = match watched.end {
        Some(end) => ClientEnd::Exited { at_us: servers.now_us(), code: end.code, signal: end.signal },
        None => ClientEnd::StillRunning,
    };
    tokio::time::sleep(REST).await;
    let (described, strikes, observed) = (servers.described(), servers.strikes(), servers.end());
    let mut frames = observed.frames;
    if end == ClientEnd::StillRunning {
        // What a client that was ended sends or closes is not its own doing.
        let time_us = u64::try_from(scenario.timeout.as_micros()).unwrap_or(u64::MAX);
        frames.retain(|frame| frame.at_us < started_us.saturating_add(time_us));
    }
    let evidence = HostEvidence { servers: described, strikes, frames, left_out: observed.left_out, end };
    let mut output = watched.stderr;
    if !watched.stdout.trim().is_empty() {
        output.push_str("\n(standard output)\n");
        output.push_str(&watched.stdout);
    }
    Ok((evidence, output))
}

/// The first server that a client does not find in a file of its own format.
fn unreadable(format: ConfigFormat, places: &[ClientServer]) -> Option<&str> {
    let is_url = |server: &&ClientServer| matches!(server.place, Place::Url(_));
    let first = places.iter().find(is_url)?;
    (format == ConfigFormat::ClaudeDesktop).then_some(first.name.as_str())
}

/// The program with the placeholders of its arguments, variables and folder filled, and variables with the same values.
fn filled(program: &Program, config: &Path, folder: &Path, places: &[ClientServer]) -> Program {
    let first = places.first();
    let url = |server: &ClientServer| match &server.place {
        Place::Url(url) => url.clone(),
        Place::Command(_) => String::new(),
    };
    let command = |server: &ClientServer| match &server.place {
        Place::Command(words) => words.clone(),
        Place::Url(_) => Vec::new(),
    };
    let list = places.iter().map(|server| {
        json!({"name": server.name, "url": Some(url(server)).filter(|url| !url.is_empty()), "command": command(server), "token": server.token})
    });
    let list = json!(list.collect::<Vec<_>>()).to_string();
    let values = [
        ("{config}", config.display().to_string()),
        ("{folder}", folder.display().to_string()),
        ("{url}", first.map(url).unwrap_or_default()),
        ("{command}", shell_words::join(first.map(command).unwrap_or_default())),
        ("{servers}", list.clone()),
    ];
    let fill = |word: &String| values.iter().fold(word.clone(), |word, (name, value)| word.replace(name, value));
    let mut env: Vec<(String, String)> = program.env.iter().map(|(name, value)| (name.clone(), fill(value))).collect();
    for (name, value) in [
        ("MCPROVE_CONFIG", &values[0].1),
        ("MCPROVE_FOLDER", &values[1].1),
        ("MCPROVE_URL", &values[2].1),
        ("MCPROVE_COMMAND", &values[3].1),
        ("MCPROVE_SERVERS", &list),
    ] {
        env.push((name.to_owned(), value.clone()));
    }
    // `{command}` as a word of its own is several.
    let mut args = Vec::new();
    for word in &program.args {
        if word == "{command...}" {
            args.extend(first.map(command).unwrap_or_default());
        } else {
            args.push(fill(word));
        }
    }
    Program { command: fill(&program.command), args, env, cwd: program.cwd.as_ref().map(fill), ..program.clone() }
}

/// Plays a scenario to mcprove's own client, in a time of its own.
fn play_scripted(scenario: &Scenario, player: &Player) -> Result<HostEvidence, ScenarioFault> {
    let runtime = Builder::new_current_thread().enable_all().start_paused(true).build();
    let runtime = runtime.map_err(|error| ScenarioFault::Machine(error.to_string()))?;
    runtime.block_on(async {
        let mut servers = HostServers::new(scenario).map_err(ScenarioFault::Scenario)?;
        let client = ScriptedClient::new(scenario, player);
        let ended = tokio::time::timeout(scenario.timeout, client.run(&mut servers)).await;
        let end = match ended {
            Ok(signal) => {
                let code = signal.is_none().then_some(0);
                ClientEnd::Exited { at_us: servers.now_us(), code, signal }
            }
            Err(_) => ClientEnd::StillRunning,
        };
        let ended_us = servers.now_us();
        tokio::time::sleep(REST).await;
        let (described, strikes, observed) = (servers.described(), servers.strikes(), servers.end());
        let mut frames = observed.frames;
        if end == ClientEnd::StillRunning {
            // A client that was ended did not close its connections itself.
            frames.retain(|frame| frame.at_us < ended_us);
        }
        Ok(HostEvidence { servers: described, strikes, frames, left_out: observed.left_out, end })
    })
}
